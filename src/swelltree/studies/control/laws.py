"""Ready-made control laws for runs in time.

A law is a function u(t, y) of the time and of stroke and rate of the PTO, y = (x, v). `controlled`
puts it on a compiled model; the same functions serve as the `law` of a described `Controller`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array, namespace
from swelltree.model.model import Model
from swelltree.model.signals import Sinusoids
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.pto.controllers.controllers import (
    CompiledController,
    PlainLaw,
    with_controller,
    with_expected_sea,
)
from swelltree.pto.controllers.law_checks import ExpectedSea, check_law
from swelltree.results.sea import sea_of
from swelltree.studies.control.actuators import Ports, find_ports, freed, with_signals
from swelltree.studies.control.linear import look_in, wave_rates
from swelltree.studies.linear.linearise import linear_model
from swelltree.studies.options import linear_waves
from swelltree.waves.sea import AnySea

if TYPE_CHECKING:
    import xarray as xr

Law = Callable[[Array, Array], Array]


def controlled(model: Model, pto: str, law: Law, *, plain: bool = False) -> Model:
    """The model with a control law on one PTO.

    Args:
        model: from `compile`.
        pto: name of a PTO; this law replaces that of the PTO, its spring and stops stay.
        law: u(t, y) with y = (stroke, rate of the stroke), strokes counted from their zero.
        plain: the law is plain Python that JAX cannot trace, as of a described `Controller`.
    """
    ports = find_ports(model, pto)
    if not plain:
        check_law(pto, law, 2 * len(ports.place), len(ports.place))
    return _with_law(freed(model, ports.place), ports, law, plain=plain)


def _with_law(model: Model, ports: Ports, law: Law, *, plain: bool = False) -> Model:
    """Controller that measures every stroke and rate and drives every port."""
    measures = tuple(("stroke", i, is_rate) for is_rate in (False, True) for i in ports.place)
    zero = np.concatenate([ports.zero, 0.0 * ports.zero])

    @functools.wraps(law)  # whose name and line messages give
    def from_zero(t: Array, y: Array) -> Array:
        return law(t, y - zero)

    driven = from_zero
    if plain:
        driven = PlainLaw(from_zero, len(ports.place), ports.names[0]).rehearsed(len(measures))
    model = with_controller(model, CompiledController(driven, measures, ports.place))
    expected = getattr(law, "expected", None)
    return model if expected is None else with_expected_sea(model, expected)


def damping_law(damping: float) -> Law:
    """Linear damper: u = -c v.

    Args:
        damping: c [N s/m, N m s/rad].
    """

    def law(t: Array, y: Array) -> Array:
        return -damping * y[1:2]

    return law


def reactive_law(damping: float, stiffness: float, force_max: float = np.inf) -> Law:
    """Damper and spring, u = -c v - k x; PI control of the velocity.

    Args:
        damping: c [N s/m, N m s/rad].
        stiffness: k [N/m, N m/rad]; may be negative.
        force_max: limit of |u| [N, N m].
    """

    def law(t: Array, y: Array) -> Array:
        xp = namespace(y)
        return xp.clip(-damping * y[1:2] - stiffness * y[:1], -force_max, force_max)

    return law


def tracking_law(
    model: Model,
    sea: AnySea,
    pto: str,
    *,
    gain: float | None = None,
    force_max: float = np.inf,
    stroke_max: float = np.inf,
    case: int | str = 0,
    radiation: str = "state_space",
) -> Law:
    """Velocity tracking towards v = F_e / (2 R), R the damping at the spectral peak.

    The excitation of the sea is taken as known. The reference is made smaller where its stroke
    would leave stroke_max; a force that would follow it in the linear model is fed forward, and
    the rest is left to the gain.

    Args:
        model: compiled with hydro data.
        sea: the sea of the run.
        pto: name of the PTO.
        gain: of the velocity error [N s/m]; twice R if not given.
        force_max: force at which the law is cut off.
        stroke_max: largest stroke of the reference.
        case: number or name of the run.
        radiation: "state_space" or "data".
    """
    how = chosen_formulation("path_matrix")
    ports = find_ports(model, pto)
    model = freed(model, ports.place)
    waves = linear_waves("tracking_law", model, sea, case)
    linear = linear_model(model, how, radiation, study="tracking_law")
    if linear.excitation.by_data is None:
        raise SwelltreeError("tracking_law: the model has no hydro data. Compile with hydro=...")
    inside = linear.excitation.by_data.in_band(waves)
    w = np.asarray(waves.omega)[inside]
    port = look_in(model, how, ports, 1.0, 1, linear, frequencies=w)
    force = linear.excitation(w, np.asarray(waves.beta)[inside])
    force = force * np.asarray(waves.complex_amplitude)[inside][:, None]
    alone = wave_rates(port, force)[:, 0]
    Z = 1.0 / port.mobility[:, 0, 0]
    felt = Z * alone
    R = float(Z[np.abs(felt).argmax()].real)
    v = felt / (2.0 * R)
    t = np.linspace(0.0, 1000.0, 20_000)
    largest = np.abs(np.real(np.exp(-1j * np.outer(t, w)) @ (v / (-1j * w)))).max()
    v = v * min(1.0, stroke_max / largest)
    ahead = Z * v - felt
    ramp = np.array(float(waves.ramp))

    def signal(a: np.ndarray) -> Sinusoids:
        return Sinusoids(w, np.real(a), np.imag(a), np.zeros(()), ramp)

    target, forward = signal(v), signal(ahead)
    gain = 2.0 * R if gain is None else gain
    c, k = float(ports.damping[0]), float(ports.stiffness[0])

    def law(t: Array, y: Array) -> Array:
        xp = namespace(y, t)
        F = xp.clip(forward(t) - gain * (y[1] - target(t)), -force_max, force_max)
        return (F + c * y[1] + k * y[0])[None]

    law.expected = ExpectedSea.of(f"tracking_law of pto '{pto}'", waves)  # type: ignore[attr-defined]
    return law


def replayed(model: Model, result: xr.Dataset, ramp: float = 0.0) -> Model:
    """The model with its PTOs driven by the forces that `optimal_control` found.

    Args:
        model: as given to `optimal_control`.
        result: of one case.
        ramp: time over which the force grows [s]; that of the sea.
    """
    ports = find_ports(model, [str(name) for name in result.pto.values])
    signals = []
    k = np.arange(1, len(result.harmonic)) * float(result.attrs["omega"])
    for name in ports.names:
        u = result.control_harmonics.sel(pto=name).values
        signals.append(
            Sinusoids(k, u[1:].real, u[1:].imag, np.array(u[0].real), np.array(float(ramp)))
        )
    driven = with_signals(freed(model, ports.place), ports, signals)
    waves = sea_of(result)
    if waves is None:
        return driven
    who = f"the force of optimal_control on pto '{ports.names[0]}'"
    return with_expected_sea(driven, ExpectedSea.of(who, waves))
