r"""`steady_state`: the periodic motion of a model in a periodic sea, without the transient.

One period is solved as a whole by a Fourier series (Paparella 2015). Everything nonlinear that a
run in time has is there: finite rotations, Coriolis terms, drag, nonlinear hulls and power
take-offs. Radiation needs no fitted memory.

What a series leaves out: the motion that its residual at the nodes would still make.

The equations are satisfied after projection on N harmonics. At the nodes, more than twice as many,
something is left: harmonics N + 1 and above. Divided by the impedance they are the motion that is
missing,

.. math:: \delta_k = -Z_k^{-1} \hat r_k, \qquad k > N

with the slopes of the equations averaged over the period in Z. The change that it makes in the
harmonics up to N comes from the residual of the motion with it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.options import SteadyStateOptions, with_options
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.frame import in_axes, mean_yaw, out_of_axes
from swelltree.hydro.linear.hydro import linear_hydro, without_table
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.hydro.linear.radiation import KnownRadiation, fitted_memory
from swelltree.integrate.fourier import at_nodes, good_size, to_coefficients, to_complex
from swelltree.integrate.fourier import at_nodes as series_at_nodes
from swelltree.integrate.problem import Code
from swelltree.integrate.runge_kutta.smooth import Options, Problem, integrate
from swelltree.integrate.runge_kutta.smooth import start as start_carry
from swelltree.jit import Array, Points, Tree, jax, jnp
from swelltree.model.capabilities import InternalState
from swelltree.model.checks import refuse_lines_alone
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation, State
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.multibody.formulations.equations import Phase, observe, rates, start_phase
from swelltree.multibody.layout import DOFS
from swelltree.pto.controllers.controllers import not_finite
from swelltree.spatial.linalg import one_thread
from swelltree.spatial.rotations import compact
from swelltree.studies.options import check_traced, realised, study_of_model, with_elevation
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
    advice,
    continued,
    has_clutch,
    newton,
    sharp_forces,
    with_pins,
)
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


FINE = 64  # nodes that show what a short series leaves out


def truncation_error(nodes: Nodes, Y: np.ndarray) -> float:
    """Estimate of the largest displacement that the harmonics left out would add [m, rad].

    Args:
        nodes: the equations at `enough_nodes`.
        Y: coefficients of the motion found.
    """
    count, N = nodes.count, nodes.basis.harmonics
    known = at_nodes(nodes.basis, Y)
    values, jacobians, mu = nodes.with_jacobians(np.concatenate(known, axis=1))
    Z = _impedance(nodes, values[2].mean(axis=0), nodes.node_jacobians(jacobians, mu).mean(axis=0))
    left = np.fft.rfft(nodes.unprojected(values, mu), axis=0)
    left[: N + 1] = 0.0
    missing = -_solved(Z, left)
    s = 1j * nodes.omega * np.arange(count // 2 + 1)[:, None]
    wide = [np.fft.irfft(x * missing, n=count, axis=0) for x in (1.0, s, s * s)]
    # with the missing part, what is left in the harmonics below
    values, mu = nodes.at(np.concatenate([a + b for a, b in zip(known, wide, strict=True)], axis=1))
    below = np.fft.rfft(nodes.unprojected(values, mu), axis=0)
    below[N + 1 :] = 0.0
    missing[: N + 1] -= _solved(Z, below)[: N + 1]
    change = np.fft.irfft(missing, n=count, axis=0)[:, : nodes.n]
    return float(np.abs(change).max(initial=0.0))


def enough_nodes(harmonics: int) -> int:
    """Number of nodes that resolves the truncation error of a series."""
    return max(2 * (2 * harmonics + 1), FINE)


def _impedance(nodes: Nodes, P: np.ndarray, jacobians: np.ndarray) -> np.ndarray:
    """Impedance at all harmonics of the transform, (count // 2 + 1, u, u)."""
    u, n = nodes.u, nodes.n
    R0, R1, R2 = (jacobians[:, k * u : (k + 1) * u] for k in range(3))
    s = 1j * nodes.omega * np.arange(nodes.count // 2 + 1)[:, None, None]
    Z = R0 + s * R1 + s * s * R2
    Z[:, :n, :n] += s * (P.T @ nodes.memory @ P)
    Z[0] = with_pins(Z[0], nodes.pinned, nodes.unbalanced)
    return Z


def _solved(Z: np.ndarray, r: Array) -> np.ndarray:
    try:
        return np.linalg.solve(Z, r[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return (np.linalg.pinv(Z) @ r[..., None])[..., 0]


# --- Why no periodic motion was found, as a message; it names a law that returns NaN

TIMES_FARTHER = (0.0, 0.5, 1.0, 1.5, 2.0, 4.0)  # than the last motion: a step led beyond it
PROBES = 16  # instants of a period


def failure(solution: PeriodicSolution, model: Model, how: Formulation) -> str:
    """Message of a failed search."""
    why = {
        Code.NOT_FINITE: "the forces became infinite or not a number on the way",
        Code.TOO_MANY_STEPS: "Newton came no nearer within max_iterations",
    }.get(solution.code, "Newton came no nearer")
    advised = (
        "The motion may have another period or none: look at simulate, lower the "
        f"wave{advice(model)} or give more harmonics."
    )
    return (
        f"steady_state: no periodic motion was found: {why} (estimated error "
        f"{solution.history[-1]:.2g}, {100 * solution.fraction:.0f} % of the wave height "
        f"reached). {not_finite(model, _moments(solution, how)) or advised}"
    )


def _moments(solution: PeriodicSolution, how: Formulation) -> Iterator[Instant]:
    """Instants of the last motion of the search, and of scaled motions."""
    period = solution.period
    n = sizes(how, period)[0]
    Y = np.asarray(solution.Y)
    if not np.isfinite(Y).all() or not Y.any():
        Y = np.zeros(Y.shape)
        Y[1:3] = 0.3  # m, rad: nothing is known of the motion
    y, y_rate, _ = at_nodes(period.basis, Y)
    time = np.asarray(period.basis.time)

    @jax.jit
    def at(t: Array, x: Array, rate: Array) -> Instant:
        state, _ = state_at(how, period, x, rate)
        return Instant(t, how.kinematics(period.model, t, state).motion, period.internal)

    for factor in TIMES_FARTHER:
        for k in np.linspace(0, len(time) - 1, PROBES).astype(int):
            yield at(time[k], factor * y[k, :n], factor * y_rate[k, :n])


# --- Stability of a periodic motion: Floquet multipliers

STEPS = 400  # of the time stepping, per period and at least twenty per harmonic


def multipliers(
    model: Model, how: Formulation, period: Period, Y: np.ndarray, waves: RealisedSea | None
) -> np.ndarray:
    """Floquet multipliers of a periodic motion, the largest first.

    Args:
        model: with its fitted radiation memory.
        how: formulation of the periodic motion.
        period: what was solved.
        Y: its coefficients.
        waves: realised sea, or None.
    """
    if sizes(how, period)[1]:
        raise SwelltreeError(
            f"stability: formulation '{how.name}' keeps joints as equations, which disturbances "
            "must satisfy. Use formulation='partition', or 'path_matrix' where there is no loop."
        )
    length = float(2 * np.pi / period.basis.omega)
    steps = max(STEPS, 20 * period.basis.harmonics)
    running = model
    if waves is not None:
        running = apply_sea(model, replace(waves, ramp=0.0), length, step=0.5 * length / steps)
    phase = _at_start(model, how, period, Y)
    M = np.asarray(_map(how, steps)(without_table(running), period, phase, length))
    values = np.linalg.eigvals(M)
    return values[np.argsort(-np.abs(values))]


def _at_start(model: Model, how: Formulation, period: Period, Y: np.ndarray) -> Phase:
    """The periodic motion at t = 0 as a phase, its radiation memory included."""
    n, m, _ = sizes(how, period)
    value, rate = np.asarray(period.basis.value) @ Y, np.asarray(period.basis.rate) @ Y
    begin = start_phase(model, how)

    @jax.jit
    def motion(y: Tree, y_rate: Tree) -> Tree:
        with compact():
            state, _ = state_at(how, period, y[:n], y_rate[:n])
            internal = unflat(period.internal, y[n + m :] + flat(period.internal))
            v = how.kinematics(period.model, jnp.zeros(()), state).motion.v
            return state, internal.elements, in_axes(mean_yaw(internal), v).reshape(-1)

    states, elements, v = jax.vmap(motion)(value, rate)
    chi: Tree = ()
    memory = fitted_memory(model)
    if memory is not None:
        hat = np.fft.rfft(np.asarray(v), axis=0) / len(v)
        harmonics = float(period.basis.omega) * np.arange(len(hat))
        parts = np.real(memory.swinging(harmonics, hat))
        chi = parts[0] + 2.0 * parts[1:].sum(axis=0)
    first = jax.tree.map(lambda x: np.asarray(x)[0], (states, elements))
    return Phase(first[0], np.asarray(begin.work), InternalState(chi, first[1]))


@functools.lru_cache(maxsize=8)
def _map(how: Formulation, steps: int) -> Tree:
    """Compiled map of disturbances over one period."""

    def carried(model: Model, period: Period, phase: Phase, length: Array) -> Tree:
        n = phase.state.s.shape[0]
        chi = phase.internal.radiation
        k = 0 if isinstance(chi, tuple) else chi.shape[0]
        z = flat(InternalState((), phase.internal.elements))

        def disturbed(d: Array) -> Phase:
            moved = how.retract(model, phase.state, d[:n])
            state = State(moved.q, phase.state.s + d[n : 2 * n], phase.state.chart)
            memory = chi + d[2 * n : 2 * n + k] if k else chi
            elements = unflat(phase.internal, z + d[2 * n + k :]).elements
            return Phase(state, phase.work, InternalState(memory, elements))

        def end(d: Array) -> Tree:
            task = Problem(rate=lambda m, t, y: rates(m, how, t, y))
            options = Options(step=length / steps)
            carry, _ = integrate(
                task, model, start_carry(0.0, disturbed(d)), length[None], options, method="rk4"
            )
            y = carry.y
            x = how.velocity_of(model, phase.state, y.state.q - phase.state.q)
            parts = [x, y.state.s - phase.state.s]
            parts += [y.internal.radiation - chi] if k else []
            return jnp.concatenate([*parts, flat(InternalState((), y.internal.elements)) - z])

        with compact():
            return jax.jacfwd(end)(jnp.zeros(2 * n + k + z.shape[0]))

    return jax.jit(
        lambda model, period, phase, length: carried(
            model, period, phase, jnp.asarray(length, float)
        )
    )
