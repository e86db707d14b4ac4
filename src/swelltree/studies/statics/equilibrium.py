"""`equilibrium`: the equilibrium, and what was out of balance before."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack, cast

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, warn_user
from swelltree.describe.options import EquilibriumOptions, EquilibriumTracedOptions, with_options
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.hydro import linear_hydro, without_table
from swelltree.integrate.complementarity.state import form_of
from swelltree.integrate.newton import (
    NewtonResult,
    newton,
    newton_traced,
    program_of,
    residual_and_jacobian,
)
from swelltree.integrate.problem import Code
from swelltree.jit import Array, Points, Tree, is_traced, jnp, namespace, pytree
from swelltree.model.capabilities import (
    HasUnknowns,
    having,
    internal_at_rest,
    internal_settled,
    present,
)
from swelltree.model.model import Model
from swelltree.model.solved import prepared, total_loads
from swelltree.mooring.cable.cables import with_drums_stopped
from swelltree.mooring.catenary.left_out import warnings_of_lines
from swelltree.multibody.formulations import Formulation, State
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.multibody.formulations.equations import Phase, observe, settled_at, start_phase
from swelltree.multibody.kinematics import Pose, attitudes
from swelltree.pto.actuators.forces import stroke_forces
from swelltree.results.sea import finished_now
from swelltree.spatial.rotations import matrix_to_euler
from swelltree.studies.options import study_of_model
from swelltree.studies.statics.relax import as_described, relaxed, slack_at_start
from swelltree.studies.time.complementarity.start import channels_of, in_words, to_rest, unbalanced

if TYPE_CHECKING:
    import xarray as xr


def moored_equilibrium(
    model: Model, formulation: str, provenance: NamedValues | None = None
) -> xr.Dataset:
    """Equilibrium of bodies, lines and junctions, and the initial imbalance."""
    from swelltree.results.dataset import to_dataset

    form = form_of(model, "lagrange" if formulation != "path_matrix" else formulation)
    described, model = model, prepared(without_table(model))
    # lines at rest between the bodies as described: what they then pull with is out of balance
    sample = channels_of(model, form, to_rest(model, form, hold=True).sample)
    rest = to_rest(model, form)
    channels = channels_of(model, form, rest.sample)
    before, names = unbalanced(model, sample)
    attrs = {
        "study": "equilibrium",
        "formulation": "path_matrix" if form.joint_coordinates else "lagrange",
        "iterations": int(rest.steps),
        "largest_motion": float(rest.moved),
        "message": in_words(before, names),
    }
    result = to_dataset(described, np.zeros(1), channels, attrs | (provenance or {})).isel(time=0)
    result["imbalance_before"] = (
        "direction",
        before,
        {"units": "N, N m", "long_name": "generalised force out of balance as described"},
    )
    return result.assign_coords(direction=list(names))


# --- Directions that nothing holds: an equilibrium keeps there what is described

NEUTRAL = 1e-9  # singular values below this fraction of the largest are zero
ROUNDS = 60
BALANCED = 1e-10  # scaled residual
STEP = 1e-6  # m, rad: of the difference that gives C N
FARTHEST = 0.3  # m, rad: of one step along N
NEAR = 1e-9  # m, rad

Balance = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # x to scaled residual, Jacobian


@functools.lru_cache(maxsize=32)
def _coordinates(how: Formulation) -> Callable[[Model, State, Array], tuple[Array, Pose]]:
    """Program for the joint coordinates of results and the poses a step away from a state."""

    def coordinates(model: Model, state: State, x: Array) -> tuple[Array, Pose]:
        moved = how.retract(model, State(state.q, 0.0 * state.s, state.chart), x)
        motion = how.kinematics(model, jnp.zeros(()), moved).motion
        found = attitudes(model, motion.frames, motion.coordinate, motion.rate)[0]
        return found, motion.pose

    return Points(coordinates)


def coordinates_at(model: Model, how: Formulation, state: State, x: np.ndarray) -> np.ndarray:
    """Joint coordinates of results (d,) a step away from a state.

    Those of bodies that hang on the world by a ball or free joint are the position of the body: its
    place, and its heading.
    """
    layout = model.layout
    coordinate, pose = _coordinates(how)(model, state, x)
    found, place = np.array(coordinate), np.asarray(pose.p)
    euler = matrix_to_euler(np.asarray(pose.R))
    turns = [dof.joint for dof in layout.dofs if dof.free_turn]
    for k, dof in enumerate(layout.dofs):
        afloat = layout.base[dof.joint] in (-1, layout.n_bodies) and turns.count(dof.joint) == 3
        if afloat and layout.follower[dof.joint] in range(layout.n_bodies):
            found[k] = (euler if dof.turns else place)[layout.follower[dof.joint], dof.axis]
    return found


def _neutral(jacobian: np.ndarray, n: int) -> tuple[np.ndarray, int]:
    """Directions without stiffness (n, k), and the number of zero singular values."""
    _, size, Vt = np.linalg.svd(jacobian)
    small = int((size <= NEUTRAL * size.max(initial=0.0)).sum()) + max(0, len(Vt) - len(size))
    # multipliers of redundant joints are free too: they move nothing
    _, moved, directions = np.linalg.svd(Vt[len(Vt) - small :, :n])
    return directions[: int((moved > 1e-6).sum())].T, small


def _step_back(jacobian: np.ndarray, residual: np.ndarray, small: int) -> np.ndarray:
    """Newton step without the neutral directions."""
    U, size, Vt = np.linalg.svd(jacobian)
    stored = min(len(size), len(Vt) - small)
    return -Vt[:stored].T @ ((U[:, :stored].T @ residual) / size[:stored])


def with_neutral_fixed(
    model: Model, how: Formulation, state: State, x: np.ndarray, balance: Balance
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The equilibrium with what nothing holds as it was at the start, and the names of that.

    Args:
        model: whose equilibrium was found.
        how: the formulation.
        state: start from which steps count.
        x: unknowns at the equilibrium found: step and multipliers.
        balance: residual and Jacobian, both scaled.
    """
    n = state.s.shape[0]
    residual, jacobian = balance(x)
    N, small = _neutral(jacobian, n) if x.size else (np.zeros((n, 0)), 0)
    if not N.shape[1] or not model.layout.dof_labels:
        return x, ()
    turns = np.array([dof.turns for dof in model.layout.dofs])

    def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        gap = coordinates_at(model, how, state, b) - coordinates_at(model, how, state, a)
        return np.where(turns, (gap + np.pi) % (2.0 * np.pi) - np.pi, gap)

    def per_neutral(x: np.ndarray, N: np.ndarray) -> np.ndarray:
        pairs = [(x[:n] - STEP * d, x[:n] + STEP * d) for d in N.T]
        return np.array([between(*pair) for pair in pairs]).T / (2.0 * STEP)

    rows = _independent(per_neutral(x, N))
    names = tuple(model.layout.dof_labels[k] for k in rows)
    allowed = max(float(np.abs(residual).max(initial=0.0)), BALANCED)
    found = x.copy()
    for _ in range(ROUNDS):
        away = between(found[:n], np.zeros(n))[rows]
        settled = float(np.abs(residual).max(initial=0.0)) <= allowed
        if settled and np.abs(away).max(initial=0.0) < NEAR:
            return found, names
        if settled:
            N = _neutral(jacobian, n)[0]
            if N.shape[1] != len(rows):
                break  # only here does nothing hold it
            step = N @ np.linalg.lstsq(per_neutral(found, N)[rows], away, rcond=None)[0]
            found[:n] += step * min(1.0, FARTHEST / max(float(np.abs(step).max()), 1e-300))
        else:
            found = found + _step_back(jacobian, residual, small)
        residual, jacobian = balance(found)
        if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
            break
    return x, ()


def _independent(columns: np.ndarray) -> np.ndarray:
    """The most independent rows of (d, k), as many as columns."""
    from scipy.linalg import qr

    pivots = np.asarray(qr(columns.T, mode="r", pivoting=True)[-1])
    return np.sort(pivots[: columns.shape[1]])


TOLERANCE = 1e-10  # of the largest weight or load
LARGEST_STEP = 0.5  # m, rad: damping of Newton's steps


@pytree()
class Statics:
    """Arguments of the balance."""

    model: Model
    state: State
    force_scale: Array
    internal: Tree  # internal states at rest
    taken_off: Array  # part of the first imbalance that continuation still carries


@functools.lru_cache(maxsize=32)
def _balance(formulation: Formulation) -> Tree:
    """Residual of statics: generalised forces with multipliers, and the joint equations.

    Unknowns are a step in the directions of the velocities and the multipliers.
    """

    def residual(args: Statics, x: Array) -> Array:
        model, state = args.model, args.state
        n = state.s.shape[0]
        model = present(model, args.internal)
        here = formulation.retract(model, State(state.q, 0.0 * state.s, state.chart), x[:n])
        t = jnp.zeros(())
        kin = formulation.kinematics(model, t, here)
        internal = internal_settled(model, args.internal, kin.motion.pose)
        tau = formulation.project(model, kin, total_loads(model, t, kin.motion, internal).wrench)
        if model.locked is not None:
            tau = jnp.where(model.locked > 0.5, args.force_scale * x[:n], tau)
        if kin.rows is None or not formulation.keeps_rows:
            return tau - args.taken_off
        g, J, _, _ = formulation.constraint(kin)
        tau = tau + J.T @ (args.force_scale * x[n:])
        return jnp.concatenate([tau, args.force_scale * g]) - args.taken_off

    return residual


def _force_scale(model: Model) -> Array:
    """Size of the loads: weights and spring preloads, at least a newton."""
    forces = stroke_forces(model)
    rest = forces.strokes.rest - forces.neutral
    xp = namespace(model.bodies.mass, model.gravity, forces.stiffness, rest)
    weight = xp.sum(model.bodies.mass) * xp.abs(model.gravity).max()
    preload = xp.sum(xp.abs(forces.stiffness * rest))
    return xp.maximum(xp.maximum(weight, preload), 1.0)


def equilibrium_state(model: Model, formulation: Formulation, start: State | None = None) -> Tree:
    """Equilibrium and result code, all in one graph: for `jit`, `vmap` and `grad`."""
    state = formulation.start(model) if start is None else start
    residual, args, x0 = set_up(model, formulation, state)
    x, code = newton_traced(
        residual, args, x0, tol=TOLERANCE, scale=args.force_scale, max_step=LARGEST_STEP
    )
    still = State(state.q, jnp.zeros_like(state.s), state.chart)
    return formulation.retract(model, still, x[: state.s.shape[0]]), code


def set_up(model: Model, formulation: Formulation, state: State) -> tuple[Tree, Statics, Array]:
    """Residual of statics about a state, its arguments, and initial unknowns."""
    residual = _balance(formulation)
    rows = len(formulation.rows(model)) if formulation.keeps_rows else 0
    n = state.s.shape[0]
    internal = start_phase(model, formulation).internal
    args = Statics(model, state, _force_scale(model), internal, np.zeros(n + rows))
    return residual, args, np.zeros(n + rows)


@study_of_model
@with_options(EquilibriumOptions)
def equilibrium(model: Model, **options: Unpack[EquilibriumOptions]) -> xr.Dataset:
    """Find the equilibrium near the start (damped Newton; continuation when that fails).

    Directions that nothing holds, such as surge, sway and yaw of a body without mooring, keep the
    values of the start; the attribute `neutral` names their coordinates.

    A body with hydrodynamic data that starts far from equilibrium, such as in the air, is moved to
    the equilibrium near its described pose.

    Systems with dynamic lines, contacts or brakes that stick reach equilibrium by the steps of the
    two-step scheme.

    Returns a dataset of the equilibrium, with the imbalance of the initial state. Inside `jit`,
    `grad` or `vmap` it gives what `equilibrium_traced` gives. Prescribed motions are held as at t =
    0.

    Args:
        model: from `compile`.
    """
    chosen: NamedValues = {**options}
    formulation, provenance = chosen["formulation"], chosen["provenance"]
    how, start = chosen_formulation(formulation), specified_state(chosen["start"], "equilibrium")
    # what sticks by friction is found by the same steps
    sticks = stroke_forces(model).sticks and start is None and not is_traced(model)
    if having(model, HasUnknowns) or sticks:
        return moored_equilibrium(model, how.name, provenance)
    if is_traced((model, start)):
        return cast("xr.Dataset", equilibrium_traced(model, formulation=how, start=start))
    model = with_drums_stopped(model)
    state, _, before, solution = find_rest(model, how, start)
    begin = start_phase(model, how)
    phase = Phase(state, begin.work, settled_at(model, how, state))
    return _to_dataset(model, how, phase, before, solution, provenance)


@with_options(EquilibriumTracedOptions)
def equilibrium_traced(model: Model, **options: Unpack[EquilibriumTracedOptions]) -> NamedValues:
    """Equilibrium inside `jit`, `grad` or `vmap`: arrays under the names of `equilibrium`.

    Besides the channels there are `code` (`solvers.solution.Code`) and `phase`, the state itself.

    Args:
        model: from `compile`.
    """
    chosen: NamedValues = {**options}
    how = chosen_formulation(chosen["formulation"])
    state, code = equilibrium_state(model, how, chosen["start"])
    begin = start_phase(model, how)
    phase = Phase(state, begin.work, settled_at(model, how, state))
    channels = observe(model, how, jnp.zeros(()), phase)
    return finished_now(model, channels) | {"code": code, "phase": phase}


def specified_state(start: State | str | None, study: str) -> State | None:
    """The state to begin from, None for the described one.

    Args:
        start: a state, "described", or None.
        study: that asks.
    """
    if isinstance(start, str) and start != "described":
        raise SwelltreeError(
            f"{study}: start '{start}' is not known. Give 'described', a state, or leave it out."
        )
    return None if isinstance(start, str) else start


@functools.lru_cache(maxsize=32)
def settled_by(how: Formulation) -> Tree:
    """Program for the state after a step, with its joints closed."""

    def settled(model: Model, state: State, x: Array) -> State:
        model = present(model, internal_at_rest(model))
        still = State(state.q, jnp.zeros_like(state.s), state.chart)
        return how.settle(model, jnp.zeros(()), how.retract(model, still, x))

    return Points(settled, fixed=2)


def find_rest(
    model: Model, how: Formulation, start: State | None = None
) -> tuple[State, np.ndarray, np.ndarray, NewtonResult]:
    """Equilibrium, multipliers, the forces out of balance before, and how Newton went.

    Where Newton's method does not find it from the start, it tries from where the bodies are
    described, and then from where a damped motion ends: a slack rope has no stiffness.
    """
    model = with_drums_stopped(model)
    state = how.start(model) if start is None else start
    if start is None and slack_at_start(model, how, state):
        state = relaxed(model, how, state)

    def search(state: State) -> tuple[Tree, Statics, np.ndarray, NewtonResult]:
        residual, args, x0 = set_up(model, how, state)
        before = np.asarray(residual_and_jacobian(residual)(args, x0)[0])

        def path(fraction: float) -> Statics:
            # carry the first imbalance along and take it off little by little
            return Statics(model, state, args.force_scale, args.internal, (1.0 - fraction) * before)

        solution = newton(
            residual,
            args,
            x0,
            tol=TOLERANCE,
            scale=float(args.force_scale),
            max_step=LARGEST_STEP,
            path=path,
        )
        return residual, args, before, solution

    first, hydro = state, linear_hydro(model)
    residual, args, before, solution = search(state)
    if solution.code is not Code.SUCCESS and start is None and hydro is not None:
        state = as_described(model, how, first, hydro.mean, settled_by(how))
        residual, args, before, solution = search(state)
    if solution.code is not Code.SUCCESS:
        state = relaxed(model, how, first)
        residual, args, before, solution = search(state)
    n = state.s.shape[0]
    if solution.code is not Code.SUCCESS:
        raise SwelltreeError(
            "equilibrium: no equilibrium was found. "
            f"{_imbalance(model, how, solution.residual[:n])} remains. "
            " Check buoyancy and weight, springs, and directions that nothing holds."
        )
    scale = float(args.force_scale)

    def balance(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r, J = residual_and_jacobian(residual)(args, x)
        return np.asarray(r) / scale, np.asarray(J) / scale

    x, neutral = with_neutral_fixed(model, how, state, solution.x, balance)
    solution = replace(solution, x=x, residual=scale * balance(x)[0], neutral=neutral)
    return settled_by(how)(model, state, x[:n]), scale * x[n:], before[:n], solution


def _imbalance(model: Model, how: Formulation, tau: np.ndarray) -> str:
    """Text of the largest unbalanced force."""
    k = int(np.abs(tau).argmax())
    names = how.velocity_names(model)
    unit = "N m" if names[k].rsplit("__", 1)[-1] in ("Roll", "Pitch", "Yaw") else "N"
    return f"{names[k].replace('__', ' ')}: {tau[k]:.4g} {unit} out of balance"


@functools.lru_cache(maxsize=32)
def _observed(how: Formulation) -> Tree:
    """Program for the channels at equilibrium, one per layout."""
    return Points(lambda model, phase: observe(model, how, jnp.zeros(()), phase))


def _to_dataset(
    model: Model,
    how: Formulation,
    phase: Phase,
    before: np.ndarray,
    solution: Tree,
    provenance: NamedValues | None,
) -> Tree:
    from swelltree.results.dataset import to_dataset

    at_rest = _observed(how)(model, phase)
    channels = {name: np.asarray(x)[None] for name, x in at_rest.items()}
    attrs: NamedValues = {
        "study": "equilibrium",
        "formulation": how.name,
        "iterations": len(solution.history) - 1,
        "engine": program_of(_balance(how)).engine,
        "largest_imbalance": float(np.abs(solution.residual).max(initial=0.0)),
        "message": f"Before: {_imbalance(model, how, before)}." if before.size else "",
        "neutral": ", ".join(solution.neutral),
    }
    if solution.neutral:
        words = listed([name.replace("__", ".") for name in solution.neutral])
        attrs["message"] += f" Nothing holds {words}: kept as described."
    rest = to_dataset(model, np.zeros(1), channels, attrs | (provenance or {})).isel(time=0)
    rest["imbalance_before"] = (
        "direction",
        before,
        {"units": "N, N m", "long_name": "generalised force out of balance at the start"},
    )
    for text in warnings_of_lines(model, rest):
        warn_user(text)
    return rest.assign_coords(direction=list(how.velocity_names(model)))
