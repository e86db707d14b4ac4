"""Loads of a model differentiated at a point: the programs behind a linear model."""

from __future__ import annotations

import functools

import numpy as np

from swelltree.effects.immersion.immersions import with_immersed_mass
from swelltree.effects.strokes.stroke_forces import element_forces
from swelltree.engine.arrays import Array, Tree, pytree
from swelltree.engine.backend import jnp
from swelltree.engine.machine.points import Points, point_program
from swelltree.formulations import Formulation, State
from swelltree.formulations.base import Kinematics
from swelltree.formulations.equations import settled_at, solve_motion
from swelltree.model.effect import Now
from swelltree.model.kinematics import attitudes
from swelltree.model.model import Model
from swelltree.model.present import present
from swelltree.model.total import total_loads


@pytree()
class Point:
    """Where loads are differentiated."""

    model: Model
    state: State  # velocities zero
    multipliers: Array  # (m,) of the constraint rows there
    acceleration: Tree  # (n,) where it is not an equilibrium, else None


@pytree()
class Balance:
    """What changes with a small step and velocity."""

    force: Array  # (n,) generalised forces, with those of the constraint rows
    closing: Array  # (m,) acceleration that the rows lack; none at rest
    coordinate: Array  # (d,) joint coordinates
    elements: Array  # (e,) forces of the elements on strokes


@pytree()
class Still:
    """What is taken as it is at the point."""

    mass: Array  # (n, n) without the added mass of hydro data
    P: Array  # (6N, n)
    rows: Array  # (m, n)
    locked: Array  # (k, n) rows of locked DOFs


def _kept_rows(formulation: Formulation, kin: Kinematics) -> bool:
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
        if _kept_rows(formulation, kin):
            _, J, _, gamma = formulation.constraint(kin)
            tau = tau + J.T @ point.multipliers
            closing = closing if a is None else J @ a - gamma
        # ball and free joints keep no angles of their own: those of results
        motion = kin.motion
        coordinate, _ = attitudes(model, motion.frames, motion.coordinate, motion.rate)
        return Balance(tau, closing, coordinate, element_forces(model, Now(t, motion, internal)))

    return Points(balance)


def still_at(formulation: Formulation, point: Point) -> Still:
    """What is taken as it is at a point."""
    t = jnp.zeros(())
    internal = settled_at(point.model, formulation, point.state)
    model = present(point.model, internal)
    kin = formulation.kinematics(model, t, point.state)
    # without the added mass of the data, which depends on frequency
    light = with_immersed_mass(model.replace(added_mass=None), t, kin.motion)
    n = point.state.s.shape[0]
    rows = formulation.constraint(kin)[1] if _kept_rows(formulation, kin) else jnp.zeros((0, n))
    locked = jnp.zeros((0, n)) if model.locked is None else jnp.diag(model.locked)
    return Still(formulation.mass(light, kin), kin.P, rows, locked)


def jacobian_at(formulation: Formulation, point: Point, zero: Array) -> Balance:
    """Derivatives of `Balance` at the point, (..., 2n) each."""
    return _balance(formulation).jacobians(point, zero)[1]


@functools.lru_cache(maxsize=32)
def _still(formulation: Formulation) -> Tree:
    """Program of `Still`."""
    return point_program(functools.partial(still_at, formulation))


@functools.lru_cache(maxsize=32)
def motion_at(formulation: Formulation) -> tuple[Tree, Tree]:
    """Accelerations and multipliers at a state: as a function, and as a program."""

    def motion(model: Model, state: State) -> tuple[Array, Array]:
        internal = settled_at(model, formulation, state)
        acceleration = solve_motion(model, formulation, jnp.zeros(()), state, internal)[2]
        return acceleration.s_dot, acceleration.multipliers

    return motion, point_program(motion)


def derivatives_at(formulation: Formulation, point: Point) -> tuple[Balance, Still]:
    """Jacobian and values outside of any trace."""
    zero = np.zeros(2 * point.state.s.shape[0])
    return jacobian_at(formulation, point, zero), _still(formulation)(point)
