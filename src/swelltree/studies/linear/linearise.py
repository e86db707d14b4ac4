"""From a model to its `LinearModel`: equilibrium is found, all loads are differentiated there.

Stiffness and damping are the derivatives of all generalised forces, so joints, springs, moorings
and PTOs need no second model; what else an effect has is given by `Effect.linear`.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from swelltree.effects.drag.drag import DragPieces
from swelltree.effects.linear_hydro.frame import columns_in_axes, mean_yaw
from swelltree.effects.linear_hydro.radiation import Radiation, dry
from swelltree.effects.lines.dynamic.static_lines import with_static_lines
from swelltree.engine.arrays import Array, Tree, namespace
from swelltree.engine.backend import is_jax, jax, jnp
from swelltree.engine.machine.points import point_program
from swelltree.formulations import Formulation, State
from swelltree.formulations.equations import settled_at
from swelltree.model.effect import LinearElements, LinearForm, Now
from swelltree.model.internal_state import InternalState
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.model.present import present
from swelltree.results.displacement import heading
from swelltree.studies.linear.derivatives import (
    Balance,
    Point,
    Still,
    derivatives_at,
    jacobian_at,
    motion_at,
    still_at,
)
from swelltree.studies.linear.excitation import Excitation
from swelltree.studies.linear.linear_model import LinearModel, OperatingPoint
from swelltree.studies.rest.equilibrium import equilibrium_state, find_rest


def free_directions(rows: np.ndarray) -> np.ndarray:
    """Orthonormal directions Z (n, f) that constraint rows (m, n) leave free."""
    n = rows.shape[1]
    if not rows.size or not rows.any():
        return np.eye(n)
    _, size, Vt = np.linalg.svd(rows)
    return Vt[int((size > 1e-10 * size.max()).sum()) :].T


def _directions(still: Still) -> np.ndarray:
    return free_directions(np.concatenate([still.rows, still.locked[still.locked.any(axis=1)]]))


def _traced_directions(rows: Array, free: int) -> Array:
    """The same inside a trace, for a known number of them; they follow the joints."""
    n = rows.shape[1]
    if not rows.shape[0]:
        return jnp.eye(n)
    Z = jnp.linalg.svd(jax.lax.stop_gradient(rows))[2][n - free :].T
    # same directions, but following the joints when a parameter moves them
    return Z - jnp.linalg.pinv(rows) @ (rows @ Z)


def still_model(model: Model) -> Model:
    """The model with lines static, without waves, radiation and hydro data."""
    model = with_static_lines(model)
    return model.replace(effects=tuple(effect.still() for effect in model.effects))


def linear_model(
    model: Model,
    how: Formulation,
    radiation: str = "data",
    *,
    start: State | None = None,
    at_equilibrium: bool = True,
    drag_apart: bool = False,
    study: str = "rao",
) -> LinearModel:
    """Linearise a model about its equilibrium.

    Args:
        model: compiled; dynamic lines count as static ones.
        how: the formulation.
        radiation: "data", "state_space" or "infinite" (`RadiationSources.chosen`).
        start: state from which the equilibrium is sought.
        at_equilibrium: find the equilibrium; otherwise linearise at the start, with velocities
            zero.
        drag_apart: leave drag out of the damping and give its pieces.
        study: name in messages.
    """
    model = with_static_lines(model)
    point = _resting_point(still_model(model), how, start, at_equilibrium)
    jacobian, still = derivatives_at(how, point)
    now = _now(point.model, how, point.state)
    pieces: tuple[DragPieces, ...] = ()
    if drag_apart:
        # drag keeps what depends on the pose; what depends on velocity comes from its pieces
        effects = point.model.effects
        pieces = tuple(p for effect in effects for p in effect.drag(point.model, now.motion))
        smooth = point.model.replace(effects=tuple(effect.without_drag() for effect in effects))
        n = point.state.s.shape[0]
        damping = derivatives_at(how, replace(point, model=smooth))[0].force[:, n:]
        force = np.concatenate([jacobian.force[:, :n], damping], axis=1)
        jacobian = replace(jacobian, force=force)
    Z = _directions(still)
    forms = [effect.linear(model, now) for effect in model.effects]
    block = _radiation(model, forms, radiation, study)
    at = _operating_point(point, how, Z, now)
    return _assembled(jacobian, still, at, block, forms, pieces)


def traced_model(
    model: Model, how: Formulation, radiation: str, start: State | None, at_equilibrium: bool
) -> LinearModel:
    """The matrices and radiation inside `jit`, `grad` and `vmap`."""
    still_water = still_model(model)
    state = how.start(still_water) if start is None else start
    if at_equilibrium:
        state, _ = equilibrium_state(still_water, how, state)
    state = State(state.q, 0.0 * state.s, state.chart)
    acceleration, multipliers = motion_at(how)[0](still_water, state)
    point = Point(still_water, state, multipliers, None if at_equilibrium else acceleration)
    still = still_at(how, point)
    Z = _traced_directions(still.rows, model.freedoms)
    jacobian = jacobian_at(how, point, jnp.zeros(2 * state.s.shape[0]))
    return _matrices(model, point, how, radiation, jacobian, still, Z)


def matrices_at_start(model: Model, how: Formulation) -> LinearModel:
    """The matrices where runs begin, without radiation memory; for a first look at a model."""
    point = _resting_point(still_model(model), how, None, at_equilibrium=False)
    jacobian, still = derivatives_at(how, point)
    return _matrices(model, point, how, "infinite", jacobian, still, _directions(still))


def _matrices(
    model: Model,
    point: Point,
    how: Formulation,
    radiation: str,
    jacobian: Balance,
    still: Still,
    Z: Array,
) -> LinearModel:
    """A linear model without excitation, elements, inputs and notes."""
    now = _now(point.model, how, point.state)
    hydro = [effect.linear(model, now) for effect in model.effects if effect.is_linear_hydro]
    at = _operating_point(point, how, Z, now)
    return _assembled(jacobian, still, at, _radiation(model, hydro, radiation, "modes"), [], ())


def _resting_point(
    model: Model, how: Formulation, start: State | None, at_equilibrium: bool
) -> Point:
    if at_equilibrium:
        state, multipliers, _, _ = find_rest(model, how, start)
        return Point(model, State(state.q, 0.0 * state.s, state.chart), multipliers, None)
    state = how.start(model) if start is None else start
    state = State(state.q, np.zeros_like(state.s), state.chart)
    acceleration, multipliers = motion_at(how)[1](model, state)
    return Point(model, state, multipliers, acceleration)


def _operating_point(point: Point, how: Formulation, Z: Array, now: Now) -> OperatingPoint:
    R = now.motion.pose.R
    return OperatingPoint(point.model, how, point.state, Z, mean_yaw(now.internal), heading(R))


def _now(model: Model, how: Formulation, state: State) -> Now:
    return Now(np.zeros(()), *resting_motion(how)(model, state))


@functools.lru_cache(maxsize=32)
def resting_motion(how: Formulation) -> Tree:
    """Program of the motion and the internal state at a state."""

    def motion(model: Model, state: State) -> tuple[Motion, InternalState]:
        internal = settled_at(model, how, state)
        return how.kinematics(present(model, internal), jnp.zeros(()), state).motion, internal

    return point_program(motion)


def _radiation(model: Model, forms: list[LinearForm], source: str, study: str) -> Radiation:
    """The block of the effect that radiates, or that of a dry model."""
    sources = next((form.radiation for form in forms if form.radiation is not None), None)
    if sources is None:
        return dry(6 * model.layout.n_bodies, model.added_mass)
    return sources.chosen(source, study)


def _assembled(
    jacobian: Balance,
    still: Still,
    at: OperatingPoint,
    radiation: Radiation,
    forms: list[LinearForm],
    pieces: tuple[Tree, ...],
) -> LinearModel:
    """Everything in the free directions."""
    Z, n = at.directions, at.directions.shape[0]
    force, slopes = jacobian.force, jacobian.elements
    xp = namespace(Z, slopes)
    if jacobian.closing.shape[0]:
        # not at rest the rows ask for accelerations across the free directions
        P = columns_in_axes(at.yaw, still.P)
        M = still.mass + P.T @ radiation.added_mass @ P
        pinv = jnp.linalg.pinv if is_jax(M) else np.linalg.pinv
        force = force + M @ pinv(still.rows) @ jacobian.closing
    to_bodies = still.P @ Z
    elements = [form.elements for form in forms if form.elements is not None]
    nothing = LinearElements(wrench=np.zeros((0, to_bodies.shape[0])))
    by_data = [form.excitation for form in forms if form.excitation is not None]
    return LinearModel(
        Z.T @ still.mass @ Z,
        -(Z.T @ force[:, n:] @ Z),
        -(Z.T @ force[:, :n] @ Z),
        radiation,
        Excitation(at, by_data[0] if by_data else None, pieces),
        to_bodies,
        columns_in_axes(at.yaw, to_bodies),
        jacobian.coordinate[:, :n] @ Z,
        elements[0] if elements else nothing,
        xp.concatenate([slopes[:, :n] @ Z, slopes[:, n:] @ Z], axis=1),
        {name: rows for form in forms for name, rows in form.inputs.items()},
        pieces,
        at,
        tuple(note for form in forms for note in form.notes),
    )
