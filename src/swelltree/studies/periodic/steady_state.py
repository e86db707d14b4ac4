"""`steady_state`: the periodic motion of a model in a periodic sea, without the transient.

One period is solved as a whole by a Fourier series (Paparella 2015). Everything nonlinear that a
run in time has is there: finite rotations, Coriolis terms, drag, nonlinear hulls and power
take-offs. Radiation needs no fitted memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.options import SteadyStateOptions, with_options
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.frame import mean_yaw, out_of_axes
from swelltree.hydro.linear.hydro import linear_hydro
from swelltree.hydro.linear.radiation import KnownRadiation
from swelltree.integrate.fourier import at_nodes as series_at_nodes
from swelltree.integrate.fourier import good_size, to_coefficients, to_complex
from swelltree.integrate.solution import Code, one_thread
from swelltree.jit import Array, Points, Tree, jnp
from swelltree.model.checks.lines_alone import refuse_lines_alone
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.multibody.formulations.equations import Phase, observe, start_phase
from swelltree.multibody.layout import DOFS
from swelltree.spatial.rotations import compact
from swelltree.studies.options import check_traced, study_of_model
from swelltree.studies.periodic.error import enough_nodes, failure, truncation_error
from swelltree.studies.periodic.nodes import Nodes
from swelltree.studies.periodic.problem import (
    Period,
    PeriodRequest,
    check_periodic,
    flat,
    harmonics_for,
    period_of,
    set_up,
    sizes,
    state_at,
    unflat,
)
from swelltree.studies.periodic.solve import (
    PeriodicSolution,
    continued,
    has_clutch,
    newton,
    sharp_forces,
)
from swelltree.studies.seas import realised, with_elevation
from swelltree.waves.sea import AnySea, RealisedSea

if TYPE_CHECKING:
    import xarray as xr

HARMONICS = 9  # of a regular wave, when nothing is said
HIGHER = 2  # times the highest component of a sea
COARSE = 0.01  # of the largest coefficient: a truncation that is reported


@study_of_model
@with_options(SteadyStateOptions)
def steady_state(
    model: Model,
    sea: AnySea | None = None,
    harmonics: int | None = None,
    **options: Unpack[SteadyStateOptions],
) -> xr.Dataset:
    """Periodic steady state of a model in a periodic sea, as a dataset over one period.

    The dataset has what `simulate` gives, at the nodes, and `position_harmonics`,
    `coordinate_harmonics` (harmonic, ...) complex, x = Re sum X_k exp(-i k omega t).

    Args:
        model: from `compile`.
        sea: one that repeats: RegularWave, or a spectrum with spacing="equal".
        harmonics: N of the series; nine, or twice the number of the highest component of the
            sea, if not given. `truncation_error` is the size of what is left out.
    """
    chosen: NamedValues = {**options}
    radiation, nodes, stability = chosen["radiation"], chosen["nodes"], chosen["stability"]
    tol, max_iterations, start = chosen["tol"], chosen["max_iterations"], chosen["start"]
    check_traced("steady_state", model, sea)
    refuse_lines_alone(model, "steady_state")
    how = chosen_formulation(chosen["formulation"])
    if stability and linear_hydro(model) is not None and radiation != "state_space":
        raise SwelltreeError(
            "steady_state: stability needs the radiation memory as states. Give "
            "radiation='state_space' and compile the model so."
        )
    waves = None if sea is None else realised(model, sea, chosen["case"])
    length = period_of("steady_state", waves, chosen["period"])
    harmonics = harmonics_for("steady_state", waves, length, harmonics, HARMONICS, HIGHER)
    check_periodic(model, harmonics, nodes, radiation)

    def problem(model: Model, nodes: int | None = nodes) -> Period:
        return set_up(model, how, PeriodRequest(waves, length, harmonics, nodes, radiation))

    periodic = problem(model)
    n, m, k = sizes(how, periodic)
    if n + m + k == 0:
        raise SwelltreeError(
            "steady_state: nothing moves, the model has no degree of freedom. Use "
            "equilibrium(...), or formulation='lagrange' for the loads in the joints."
        )
    shape = (2 * harmonics + 1, n + m + k)
    if isinstance(start, str):
        raise SwelltreeError(
            f"steady_state: start '{start}' is not known. Give the coefficients {shape} of an "
            "earlier result, or leave it out to begin from the equilibrium."
        )
    Y = np.zeros(shape) if start is None else np.asarray(start, float)
    if Y.shape != shape:
        raise SwelltreeError(
            f"steady_state: start has shape {Y.shape}. Give the coefficients {shape} of an earlier "
            "result with as many harmonics."
        )
    with one_thread():
        solution = newton(how, periodic, Y, tol, max_iterations)
        if solution.code is not Code.SUCCESS and (sharp_forces(model) or has_clutch(model)):

            def search(model: Model, Y: np.ndarray, keep_states: bool) -> PeriodicSolution:
                return newton(how, problem(model), Y, tol, max_iterations, keep_states)

            # from smoother forces to those of the model
            solution = continued(search, model, Y)
    periodic = solution.period
    if solution.code is not Code.SUCCESS:
        raise SwelltreeError(failure(solution, model, how))
    fine = _fine(periodic, lambda count: problem(model, count))
    result = _to_dataset(model, how, periodic, solution, fine, radiation, chosen["provenance"])
    if stability:
        result = _with_stability(result, model, how, solution, waves)
    time = result["time"].assign_attrs(period=length)
    result = result.assign_coords(time=time)
    return (
        result
        if sea is None or waves is None
        else with_elevation(result, sea, replace(waves, ramp=0.0))
    )


def _fine(periodic: Period, built: Callable[[int], Period]) -> Period:
    """The problem at nodes that resolve the truncation error."""
    count = enough_nodes(periodic.basis.harmonics)
    if len(periodic.basis.time) >= count:
        return periodic
    return replace(built(good_size(count)), pinned=periodic.pinned, unbalanced=periodic.unbalanced)


def _with_stability(
    result: xr.Dataset,
    model: Model,
    how: Formulation,
    solution: PeriodicSolution,
    waves: RealisedSea | None,
) -> xr.Dataset:
    from swelltree.studies.periodic.error import multipliers

    values = multipliers(model, how, solution.period, solution.Y, waves)
    # directions that nothing holds have the multiplier one, once or twice each
    free = np.abs(values - 1.0) < 1e-4
    largest = float(np.abs(values[~free]).max(initial=0.0))
    about = {"long_name": "Floquet multiplier", "stable": int(largest < 1.0)}
    return result.assign(floquet_multiplier=("multiplier", values, about)).assign_attrs(
        stable=int(largest < 1.0), largest_multiplier=largest
    )


@functools.lru_cache(maxsize=32)
def _observer(how: Formulation) -> Tree:
    """Program that observes a periodic motion at all nodes."""

    def observed(period: Period, t: Array, y: Tree, y_rate: Tree, mu: Array) -> Tree:
        n, m, _ = sizes(how, period)
        N = period.model.layout.n_bodies
        internal = unflat(period.internal, y[n + m :] + flat(period.internal))
        known = KnownRadiation(out_of_axes(mean_yaw(internal), mu.reshape(N, 6)))
        model = period.model.with_effect(known)
        work = jnp.asarray(start_phase(model, how).work)
        state, _ = state_at(how, period, y[:n], y_rate[:n])
        with compact():
            return observe(model, how, t, Phase(state, work, internal))

    return Points(observed, many=True)


@functools.lru_cache(maxsize=32)
def _rest(how: Formulation) -> Tree:
    """Program for the equilibrium poses of all bodies."""

    def pose(period: Period) -> Tree:
        with compact():
            still = how.kinematics(period.model, jnp.zeros(()), period.rest).motion.pose
        return still.p, still.R

    return Points(pose)


def _to_dataset(
    model: Model,
    how: Formulation,
    periodic: Period,
    solution: PeriodicSolution,
    fine: Period,
    radiation: str,
    provenance: NamedValues | None,
) -> xr.Dataset:
    from swelltree.multibody.kinematics import Pose, displacement
    from swelltree.results.dataset import to_dataset
    from swelltree.results.sea import body_order
    from swelltree.studies.linear.frequency_modes import HEADING

    nodes = Nodes(how, periodic)
    values, mu = nodes.at(nodes.inputs(solution.Y))
    off = nodes.imbalance(values, mu)
    y, y_rate, _ = series_at_nodes(periodic.basis, solution.Y)
    channels = _observer(how)(nodes.bare, nodes.time, y, y_rate, mu)
    labelled = periodic.model.with_effect(KnownRadiation(np.zeros((model.layout.n_bodies, 6))))
    left_out = truncation_error(nodes if fine is periodic else Nodes(how, fine), solution.Y)
    pinned = np.asarray(periodic.pinned)
    # sums of internal states that are conserved are held by themselves
    moves = np.abs(pinned[:, : nodes.n]).max(axis=1, initial=0.0) > 0.0
    names = [_pin_name(how, model, d) for d in pinned[moves]]
    attrs = {
        "study": "steady_state",
        "formulation": how.name,
        "form": "DAE" if how.name == "lagrange" else "ODE",
        "radiation": radiation,
        "harmonics": periodic.basis.harmonics,
        "nodes": len(periodic.basis.time),
        "omega": float(periodic.basis.omega),
        "period": float(2 * np.pi / periodic.basis.omega),
        "newton_iterations": len(solution.history) - 1,
        "newton_error": solution.history[-1],
        "truncation_error": left_out,
        "estimated_error": max(solution.history[-1], left_out),
        "engine": nodes.points.engine,
        "pinned": "; ".join(
            f"{name} held at its start, mean force {force:.4g} N left"
            for name, force in zip(names, off[moves], strict=True)
        ),
    }
    for name in ("work",):
        channels.pop(name)  # there is no start to count from
    result = to_dataset(labelled, periodic.basis.time, channels, attrs | (provenance or {}))
    notes = [str(result.attrs.get("report", "")), nodes.slower()]
    if left_out > COARSE * float(np.abs(solution.Y[:, : nodes.n]).max(initial=0.0)):
        notes.append(
            f"{periodic.basis.harmonics} harmonics leave out about {left_out:.2g} m or rad of the "
            "motion; give more harmonics."
        )
    result.attrs["report"] = " ".join(note for note in notes if note)
    if "radiation_force" in result:
        order = body_order(model)
        result["radiation_force"].values[:] = channels["periodic_radiation"][:, order]
    order = body_order(model)
    mean = Pose(*(np.asarray(x) for x in _rest(how)(nodes.bare)))
    xi = displacement(mean, channels["position"], channels["rotation"])[:, order]
    count = periodic.basis.harmonics + 1
    bodies = to_complex(to_coefficients(periodic.basis, xi.reshape(len(xi), -1))).reshape(
        count, -1, 6
    )
    joints = to_complex(to_coefficients(periodic.basis, channels["coordinate"]))
    about = {"time_convention": "exp(-iwt)", "units": "m, rad"}
    return result.assign(
        position_harmonics=(
            ("harmonic", "body", "dof"),
            bodies,
            about
            | {
                "long_name": "displacement from equilibrium, amplitude of each harmonic",
                "frame": HEADING,
            },
        ),
        coordinate_harmonics=(
            ("harmonic", "coordinate"),
            joints,
            about
            | {
                "long_name": "joint coordinate, amplitude of each harmonic",
                "frame": "joint axes",
            },
        ),
        coefficients=(("coefficient", "unknown"), solution.Y, {"long_name": "to start from again"}),
    ).assign_coords(harmonic=np.arange(count), dof=list(DOFS))


def _pin_name(how: Formulation, model: Model, direction: np.ndarray) -> str:
    names = how.velocity_names(model)
    k = int(np.abs(direction[: len(names)]).argmax())
    return names[k].replace("__", " ")
