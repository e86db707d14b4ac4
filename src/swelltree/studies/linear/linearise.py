"""From a model to its `LinearModel`: equilibrium is found, all loads are differentiated there.

Stiffness and damping are the derivatives of all generalised forces, so joints, springs, moorings
and PTOs need no second model; what else an effect has is given by `HasLinearForm`.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from swelltree.hydro.linear.frame import columns_in_axes, mean_yaw
from swelltree.hydro.linear.hydro import without_radiation
from swelltree.hydro.linear.radiation import Radiation, dry
from swelltree.hydro.morison.drag import DragPieces
from swelltree.hydro.splash_zone.immersions import with_immersed_mass
from swelltree.jit import Array, Points, Tree, is_jax, jax, jnp, namespace, pytree
from swelltree.model.capabilities import (
    HasDrag,
    HasLinearForm,
    HasRadiation,
    InternalState,
    having,
    present,
)
from swelltree.model.effect import Instant, LinearElements, LinearForm
from swelltree.model.model import Model
from swelltree.model.solved import total_loads
from swelltree.mooring.dynamic.lines import with_static_lines
from swelltree.multibody.formulations import Formulation, State
from swelltree.multibody.formulations.base import Kinematics
from swelltree.multibody.formulations.equations import settled_at, solve_motion
from swelltree.multibody.kinematics import Motion, attitudes, heading
from swelltree.pto.actuators.forces import element_forces
from swelltree.studies.linear.excitation import Excitation
from swelltree.studies.linear.linear_model import LinearModel, OperatingPoint
from swelltree.studies.statics.equilibrium import (
    equilibrium_state,
    find_rest,
    specified_state,
)

# --- Loads of a model differentiated at a point: the programs behind a linear model


@pytree()
class Point:
    """Where loads are differentiated."""

    model: Model
    state: State  # velocities zero
    multipliers: Array  # (m,) of the constraint rows there
    acceleration: Tree  # (n,) where it is not an equilibrium, else None


@pytree()
class Balance:
    """Quantities that depend on a small step and velocity."""

    force: Array  # (n,) generalised forces, with those of the constraint rows
    closing: Array  # (m,) acceleration that the rows lack; none at rest
    coordinate: Array  # (d,) joint coordinates
    elements: Array  # (e,) forces of the elements on strokes


@pytree()
class Still:
    """Quantities that are constant at the operating point."""

    mass: Array  # (n, n) without the added mass of hydro data
    P: Array  # (6N, n)
    rows: Array  # (m, n)
    locked: Array  # (k, n) rows of locked DOFs


def _selected_rows(formulation: Formulation, kin: Kinematics) -> bool:
    return kin.rows is not None and formulation.keeps_rows


@functools.lru_cache(maxsize=32)
def _balance(formulation: Formulation) -> Points:
    """Program of `Balance` at w = (step, velocities)."""

    def balance(point: Point, w: Array) -> Balance:
        t = jnp.zeros(())
        state, a = point.state, point.acceleration
        n = w.shape[0] // 2
        internal = settled_at(point.model, formulation, state)
        model = present(point.model, internal)
        moved = formulation.retract(model, state, w[:n])
        kin = formulation.kinematics(model, t, State(moved.q, w[n:], moved.chart))
        wrench = total_loads(model, t, kin.motion, internal).wrench
        tau = formulation.project(model, kin, wrench) - formulation.bias(model, kin)
        closing = jnp.zeros(0)
        if a is not None:
            tau = tau - formulation.mass(with_immersed_mass(model, t, kin.motion), kin) @ a
        if _selected_rows(formulation, kin):
            _, J, _, gamma = formulation.constraint(kin)
            tau = tau + J.T @ point.multipliers
            closing = closing if a is None else J @ a - gamma
        # ball and free joints keep no angles of their own: those of results
        motion = kin.motion
        coordinate, _ = attitudes(model, motion.frames, motion.coordinate, motion.rate)
        return Balance(
            tau, closing, coordinate, element_forces(model, Instant(t, motion, internal))
        )

    return Points(balance)


def still_at(formulation: Formulation, point: Point) -> Still:
    """Constant quantities at an operating point."""
    t = jnp.zeros(())
    internal = settled_at(point.model, formulation, point.state)
    model = present(point.model, internal)
    kin = formulation.kinematics(model, t, point.state)
    # without the added mass of the data, which depends on frequency
    light = with_immersed_mass(model.replace(added_mass=None), t, kin.motion)
    n = point.state.s.shape[0]
    rows = formulation.constraint(kin)[1] if _selected_rows(formulation, kin) else jnp.zeros((0, n))
    locked = jnp.zeros((0, n)) if model.locked is None else jnp.diag(model.locked)
    return Still(formulation.mass(light, kin), kin.P, rows, locked)


def jacobian_at(formulation: Formulation, point: Point, zero: Array) -> Balance:
    """Derivatives of `Balance` at the point, (..., 2n) each."""
    return _balance(formulation).jacobians(point, zero)[1]


@functools.lru_cache(maxsize=32)
def _still(formulation: Formulation) -> Tree:
    """Program of `Still`."""
    return Points(functools.partial(still_at, formulation))


@functools.lru_cache(maxsize=32)
def motion_at(formulation: Formulation) -> tuple[Tree, Tree]:
    """Accelerations and multipliers at a state: as a function, and as a program."""

    def motion(model: Model, state: State) -> tuple[Array, Array]:
        internal = settled_at(model, formulation, state)
        acceleration = solve_motion(model, formulation, jnp.zeros(()), state, internal)[2]
        return acceleration.s_dot, acceleration.multipliers

    return motion, Points(motion)


def derivatives_at(formulation: Formulation, point: Point) -> tuple[Balance, Still]:
    """Jacobian and values outside of any trace."""
    zero = np.zeros(2 * point.state.s.shape[0])
    return jacobian_at(formulation, point, zero), _still(formulation)(point)


def free_directions(rows: np.ndarray) -> np.ndarray:
    """Orthonormal basis Z (n, f) of the null space of constraint rows (m, n)."""
    n = rows.shape[1]
    if not rows.size or not rows.any():
        return np.eye(n)
    _, size, Vt = np.linalg.svd(rows)
    return Vt[int((size > 1e-10 * size.max()).sum()) :].T


def _directions(still: Still) -> np.ndarray:
    return free_directions(np.concatenate([still.rows, still.locked[still.locked.any(axis=1)]]))


def _traced_directions(rows: Array, free: int) -> Array:
    """Null space inside a trace, of known dimension."""
    n = rows.shape[1]
    if not rows.shape[0]:
        return jnp.eye(n)
    Z = jnp.linalg.svd(jax.lax.stop_gradient(rows))[2][n - free :].T
    # same directions, but following the joints when a parameter moves them
    return Z - jnp.linalg.pinv(rows) @ (rows @ Z)


def still_model(model: Model) -> Model:
    """The model with static lines, without waves, radiation and hydrodynamic data."""
    model = with_static_lines(model)
    return without_radiation(model)


def linear_model(
    model: Model,
    how: Formulation,
    radiation: str = "data",
    *,
    start: State | str | None = None,
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
    model = with_static_lines(model, study)
    start = specified_state(start, study)
    point = _resting_point(still_model(model), how, start, at_equilibrium)
    jacobian, still = derivatives_at(how, point)
    now = _now(point.model, how, point.state)
    pieces: tuple[DragPieces, ...] = ()
    if drag_apart:
        # drag keeps what depends on the pose; what depends on velocity comes from its pieces
        pieces = tuple(
            piece
            for effect in having(point.model, HasDrag)
            for piece in effect.drag(point.model, now.motion)
        )
        smooth = point.model.replace(
            effects=tuple(
                effect.without_drag() if isinstance(effect, HasDrag) else effect
                for effect in point.model.effects
            )
        )
        n = point.state.s.shape[0]
        damping = derivatives_at(how, replace(point, model=smooth))[0].force[:, n:]
        force = np.concatenate([jacobian.force[:, :n], damping], axis=1)
        jacobian = replace(jacobian, force=force)
    Z = _directions(still)
    forms = [effect.linear_form(model, now) for effect in having(model, HasLinearForm)]
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
    Z = _traced_directions(still.rows, model.dofs)
    jacobian = jacobian_at(how, point, jnp.zeros(2 * state.s.shape[0]))
    return _matrices(model, point, how, radiation, jacobian, still, Z)


def matrices_at_start(model: Model, how: Formulation) -> LinearModel:
    """Matrices at the start of runs, without radiation memory."""
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
    hydro = [effect.linear_form(model, now) for effect in having(model, HasRadiation)]
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


def _operating_point(point: Point, how: Formulation, Z: Array, now: Instant) -> OperatingPoint:
    R = now.motion.pose.R
    return OperatingPoint(point.model, how, point.state, Z, mean_yaw(now.internal), heading(R))


def _now(model: Model, how: Formulation, state: State) -> Instant:
    return Instant(np.zeros(()), *resting_motion(how)(model, state))


@functools.lru_cache(maxsize=32)
def resting_motion(how: Formulation) -> Tree:
    """Program of the motion and the internal state at a state."""

    def motion(model: Model, state: State) -> tuple[Motion, InternalState]:
        internal = settled_at(model, how, state)
        return how.kinematics(present(model, internal), jnp.zeros(()), state).motion, internal

    return Points(motion)


def _radiation(model: Model, forms: list[LinearForm], source: str, study: str) -> Radiation:
    """Radiation of the radiating effect, or zero for a dry model."""
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
    """Linear model in the free directions."""
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
