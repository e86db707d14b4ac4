r"""The equations of motion over one period (Paparella 2015).

Unknowns are the coefficients of displacements x from the equilibrium (in the directions of a
formulation's velocities), of the multipliers of its remaining rows, and of internal states z. At
every node

.. math::
    M \dot s + b - P^\top (w + \mu) - J^\top \lambda = 0, \qquad g(q) = 0, \qquad
    \dot z = f

with q the positions reached from rest by x. The residual is projected on the series. The memory
of the water is exact for a periodic motion: harmonic by harmonic

.. math:: \hat\mu_k = -\left[ B(k\omega) - i k\omega (A(k\omega) - A_\infty) \right] \hat v_k

with exp(-iwt). In joint coordinates this is the ODE form, with absolute coordinates and all
joints as rows the DAE form; joints hold at the level of positions in both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.frame import columns_in_axes, in_axes, mean_yaw
from swelltree.hydro.linear.hydro import excitation_of, linear_hydro, with_excitation, without_table
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.hydro.linear.radiation import check_source, dry
from swelltree.hydro.splash_zone.immersions import with_immersed_mass
from swelltree.integrate.fourier import Basis, basis
from swelltree.jit import Array, Tree, jax, jnp, leaves_of, mapped, pytree
from swelltree.model.capabilities import HasUnknowns, InternalState, having, internal_rate, present
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.model.solved import coupled_effect, total_loads
from swelltree.multibody.formulations import Formulation, State
from swelltree.multibody.formulations.equations import event_count, settled_at
from swelltree.studies.statics.relax import check_no_drums
from swelltree.waves.airy import Components
from swelltree.waves.gridded import GridWaves
from swelltree.waves.sea import RealisedSea


@pytree()
class Period:
    """Arguments of the residual."""

    model: Model  # without radiation memory, its waves given at the nodes
    rest: State  # the start without velocity, from which displacements count
    internal: Tree  # internal states at rest, the radiation memory left out
    basis: Basis | Tree
    memory: Array  # (nodes // 2 + 1, 6N, 6N) complex, exp(+iwt), with FFT's own harmonics
    inverse: Array  # (N + 1, u, u) complex inverse of the linear impedance, or nothing
    pinned: Array  # (p, u) directions whose mean is held
    unbalanced: Array  # (p, u) the equations given up for that

    def bare(self) -> Period:
        """Arguments of the equations at one node, which determine their program."""
        return replace(self, basis=None, memory=None, inverse=None, pinned=None, unbalanced=None)


def flat(internal: InternalState) -> Array:
    """Internal states of elements as one row."""
    parts = [jnp.ravel(internal.elements[kind]) for kind in sorted(internal.elements)]
    return jnp.concatenate(parts) if parts else jnp.zeros(0)


def unflat(like: InternalState, z: Array) -> InternalState:
    elements, first = {}, 0
    for kind in sorted(like.elements):
        size = jnp.size(like.elements[kind])
        elements[kind] = z[first : first + size].reshape(jnp.shape(like.elements[kind]))
        first += size
    return InternalState((), elements)


def sizes(how: Formulation, period: Period) -> tuple[int, int, int]:
    """Numbers of displacements, multipliers and internal states."""
    rows = len(how.rows(period.model)) if how.keeps_rows else 0
    states = sum(jnp.size(x) for x in period.internal.elements.values())
    return period.rest.s.shape[0], rows, states


def state_at(
    how: Formulation, period: Period, x: Array, rate: Array
) -> tuple[State, Float[Array, " n"]]:
    """State reached from rest by x, and its velocities."""
    model, rest = period.model, period.rest
    if how.flat_chart(model):
        return State(how.retract(model, rest, x).q, rate, rest.chart), rate

    def positions(x: Array) -> Array:
        return how.retract(model, rest, x).q

    q, q_rate = jax.jvp(positions, (x,), (rate,))
    s = how.velocity_of(model, State(q, rest.s, rest.chart), q_rate)
    return State(q, s, rest.chart), s


def node(
    how: Formulation, period: Period, t: Array, y: Array, y_rate: Array, y_second: Array
) -> tuple[Array, Array, Array]:
    """Residual at one node without radiation; body velocities and P in the axes of the data."""
    model = period.model
    n, m, _ = sizes(how, period)
    x, x_rate, x_second = y[:n], y_rate[:n], y_second[:n]

    def velocities(x: Array, rate: Array) -> Array:
        return state_at(how, period, x, rate)[1]

    state, _ = state_at(how, period, x, x_rate)
    s_dot = x_second
    if not how.flat_chart(model):
        _, s_dot = jax.jvp(velocities, (x, x_rate), (x_rate, x_second))
    internal = unflat(period.internal, y[n + m :] + flat(period.internal))
    model = present(model, internal)
    kin = how.kinematics(model, t, state)
    wrench = total_loads(model, t, kin.motion, internal).wrench
    internal_rates = internal_rate(model, Instant(t, kin.motion, internal))
    model = with_immersed_mass(model, t, kin.motion)
    tau = how.mass(model, kin) @ s_dot + how.bias(model, kin) - how.project(model, kin, wrench)
    rows = jnp.zeros(0)
    if m:
        rows, J, _, _ = how.constraint(kin)
        tau = tau - J.T @ y[n : n + m]
    rates = flat(internal_rates)
    return (
        jnp.concatenate([tau, rows, y_rate[n + m :] - rates]),
        in_axes(mean_yaw(internal), kin.motion.v).reshape(-1),
        columns_in_axes(mean_yaw(internal), kin.P),
    )


def preconditioned(period: Period, R: np.ndarray) -> np.ndarray:
    """Residuals multiplied by the inverse of the linear impedance, harmonic by harmonic."""
    n = period.basis.harmonics
    # a cos + b sin = Re[(a - i b) exp(+iwt)]
    hat = np.concatenate([R[:1] + 0j, R[1 : n + 1] - 1j * R[n + 1 :]])
    out = (period.inverse @ hat[:, :, None])[:, :, 0]
    return np.concatenate([out[:1].real, out[1:].real, -out[1:].imag])


def scaled(period: Period, fraction: float) -> Period:
    """The period with waves scaled by a fraction."""
    model = period.model
    waves = model.sea.waves
    if isinstance(waves, Components):
        lower = replace(waves, amplitude=fraction * waves.amplitude)
        model = model.replace(sea=replace(model.sea, waves=lower))
    loads = excitation_of(model)
    if loads is not None:
        model = with_excitation(model, loads.scaled(fraction))
    return replace(period, model=model)


# --- From a model and a sea to the problem of one period


def to_integer_number(study: str, name: str, value: object, least: int) -> int:
    """Validate an integer count."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise SwelltreeError(f"{study}: {name} {value!r} is not a whole number. Give e.g. 15.")
    if value < least:
        raise SwelltreeError(f"{study}: {name} {value} is too few. Give {least} or more.")
    return int(value)


def highest_harmonic(waves: RealisedSea | None, length: float) -> int:
    """Highest component of a sea in harmonics of the period."""
    if waves is None or isinstance(waves, GridWaves):
        return 0
    omega = np.atleast_1d(np.asarray(waves.omega, float))
    size = np.broadcast_to(np.asarray(getattr(waves, "amplitude", 1.0), float), omega.shape)
    return int(np.round(np.max(omega[size != 0.0], initial=0.0) * length / (2 * np.pi)))


def harmonics_for(
    study: str, waves: RealisedSea | None, length: float, specified: object, least: int, factor: int
) -> int:
    """Harmonics of a series: as given, or so many times the highest component of the sea.

    Args:
        study: name in messages.
        waves: the sea, realised.
        length: of the period [s].
        specified: by the user; None: to be chosen.
        least: chosen at least.
        factor: harmonics for each component of the sea.
    """
    highest = highest_harmonic(waves, length)
    if specified is None:
        return max(least, factor * highest)
    count = to_integer_number(study, "harmonics", specified, 1)
    if count < highest:
        raise SwelltreeError(
            f"{study}: the sea has a component at harmonic {highest} of its period but harmonics "
            f"is {count}. Give harmonics={highest} or more, or none to have them chosen."
        )
    return count


def check_periodic(model: Model, harmonics: int, nodes: int | None, radiation: str) -> None:
    """Reject systems that a series cannot represent, with the reason."""
    check_no_drums(model, "steady_state")
    check_source(radiation)
    in_time = coupled_effect(model)
    if in_time is not None:
        raise SwelltreeError(
            "steady_state needs forces that are known at every instant of the period, and "
            f"{in_time.word} solve for their water step by step. Use simulate until the motion "
            "repeats, or hydro data (run_bem) for these bodies."
        )
    if (
        nodes is not None
        and to_integer_number("steady_state", "nodes", nodes, 1) < 2 * harmonics + 1
    ):
        raise SwelltreeError(
            f"nodes {nodes} cannot resolve {2 * harmonics + 1} coefficients: at "
            f"{2 * harmonics} equidistant nodes the sine of the highest harmonic is zero "
            f"everywhere. Give at least {2 * harmonics + 1}."
        )
    if having(model, HasUnknowns):
        raise SwelltreeError(
            "steady_state needs smooth forces, and dynamic lines and contacts are not. Give lines "
            "model='quasi_static', or use simulate until it repeats."
        )
    if event_count(model):
        raise SwelltreeError(
            "steady_state needs smooth forces, and this model switches at events (latching, "
            "declutching). Use simulate until it repeats."
        )


def period_of(study: str, waves: RealisedSea | None, period: float | None) -> float:
    """Length of one period, which must be a period of the sea."""
    if waves is None:
        if period is None:
            raise SwelltreeError(f"{study}: give a wave, or the period of the motion.")
        return float(period)
    if isinstance(waves, GridWaves):
        raise SwelltreeError(
            f"{study}: a sea on a grid has a limited length and does not repeat. "
            "Use simulate, or a sea of components."
        )
    repeats = float(getattr(waves, "repeat_period", np.inf))
    omega = np.atleast_1d(np.asarray(waves.omega, float))
    if len(omega) == 1:
        repeats = 2 * np.pi / float(omega[0])
    length = repeats if period is None else float(period)
    if not np.isfinite(length):
        raise SwelltreeError(
            f"{study}: this sea does not repeat. Use IrregularSea(..., spacing='equal', "
            "jitter=False), whose frequencies are multiples of one."
        )
    number = omega * length / (2 * np.pi)
    if np.abs(number - np.round(number)).max() > 1e-6:
        raise SwelltreeError(
            f"{study}: the sea does not repeat after {length:.6g} s. Give a period that all "
            "its components fit, or IrregularSea(..., spacing='equal', jitter=False)."
        )
    return length


@dataclass(frozen=True)
class PeriodRequest:
    """A sea, the period and its series."""

    waves: RealisedSea | None
    length: float  # s
    harmonics: int
    nodes: int | None  # equidistant, per period; None: chosen
    radiation: str  # "data" or "state_space"


def set_up(model: Model, how: Formulation, requested: PeriodRequest) -> Period:
    """The problem of one period of a length: series, start, radiation, waves at the nodes."""
    waves, length = requested.waves, requested.length
    series = basis(length, requested.harmonics, requested.nodes)
    count = len(series.time)
    radiation, still = dry(6 * model.layout.n_bodies), model
    hydro = linear_hydro(model)
    if hydro is not None:
        radiation = hydro.radiation_sources(model).chosen(requested.radiation, "steady_state")
        hydro = replace(hydro, memory=None, waves=None, damping=radiation.damping)
        still = model.with_effect(hydro)
    begin = how.start(still)
    rest = mapped(np.asarray, State(begin.q, 0.0 * begin.s, begin.chart))
    internal = InternalState((), settled_at(still, how, rest).elements)
    memory = radiation.transfer(float(series.omega) * np.arange(count // 2 + 1))
    wavy = still
    if waves is not None:
        wavy = apply_sea(still, replace(waves, ramp=0.0), length, step=length / count)
    none = np.zeros((0, sum(x.size for x in leaves_of(rest.s))))
    period = Period(without_table(wavy), rest, internal, series, memory, none, none, none)
    u = sum(sizes(how, period))
    return replace(period, pinned=np.zeros((0, u)), unbalanced=np.zeros((0, u)))
