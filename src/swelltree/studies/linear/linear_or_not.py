"""Is a model linear? First what it contains, then the equations that are left.

What acts in one place and not in another (end stops, slack, limits, laws and functions of users,
signals of time) is looked up in the model (`what_bends`). The rest are analytic functions of
displacements and velocities; an analytic function that is straight at random points is straight
everywhere.
"""

from __future__ import annotations

import functools

import numpy as np

from swelltree.effects.immersion.immersions import with_immersed_mass
from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jax, jnp
from swelltree.engine.machine.points import Points, point_program
from swelltree.formulations import Formulation, State
from swelltree.model.internal_state import internal_at_rest
from swelltree.model.model import Model
from swelltree.model.total import total_loads

SIZE = 0.3  # m, rad, m/s, rad/s: displacements and velocities tried
TOLERANCE = 1e-7  # of the forces there


@functools.lru_cache(maxsize=32)
def _leftover(how: Formulation) -> Tree:
    """Program: change of force and of mass at a displacement and velocity."""

    def leftover(model: Model, rest: State, x: Array, s: Array) -> Tree:
        t, internal = jnp.zeros(()), internal_at_rest(model)

        def force(x: Array, s: Array) -> Array:
            moved = how.retract(model, rest, x)
            kin = how.kinematics(model, t, State(moved.q, s, moved.chart))
            tau = how.project(model, kin, total_loads(model, t, kin.motion, internal).wrench)
            heavy = with_immersed_mass(model, t, kin.motion)
            return tau - how.bias(model, kin), how.mass(heavy, kin), kin.P

        zero = jnp.zeros_like(x)
        there, there_mass, P = force(x, s)
        here, here_mass, P0 = force(zero, zero)
        slope = jax.jvp(lambda a, b: force(a, b)[0], (zero, zero), (x, s))[1]
        bent = jnp.abs(there - here - slope).max() / jnp.abs(slope).max()
        heavier = jnp.abs(there_mass - here_mass).max() / jnp.abs(here_mass).max()
        return jnp.maximum(jnp.maximum(bent, heavier), jnp.abs(P - P0).max())

    return point_program(leftover, fixed=2, many=True)


def what_bends(model: Model, off_stops: frozenset[str] = frozenset()) -> str:
    """The first part of a model by which it is not linear for sure, in words; empty: none.

    Args:
        model: driven elements without their signals.
        off_stops: names of PTOs whose stroke stays off their stops.
    """
    reasons = (effect.bends(off_stops) for effect in model.effects)
    return next((words for words in reasons if words), "")


def may_be_linear(model: Model, how: Formulation) -> bool:
    """Has the model nothing by which it is not linear for sure?"""
    if internal_at_rest(model).elements or any(g.uses_sea for g in model.effects):
        return False
    return not (how.rows(model) and how.keeps_rows)


def is_affine(points: Points, fixed: object, t: np.ndarray, size: int) -> bool:
    """Are all results sums of the unknowns, but for parts that nobody sees?

    Args:
        points: of a function (fixed, t, unknowns).
        fixed: its first argument.
        t: times of some points.
        size: how many unknowns there are.
    """
    w = SIZE * np.random.default_rng(5).standard_normal((len(t), size))
    here, jacobians = points.jacobians(fixed, t, np.zeros_like(w))
    there = points.jacobians(fixed, t, w)[0]
    for a, b, slope in zip(there, here, jacobians, strict=True):
        change = np.einsum("j...w,jw->j...", slope, w)
        most = max(float(np.abs(change).max(initial=0.0)), 1e-3)
        if not np.abs(a - b - change).max(initial=0.0) < TOLERANCE * most:
            return False
    return True


def is_linear(model: Model, how: Formulation, rest: State) -> bool:
    """Are forces, inertia and directions of motion those of the linearised model?

    Args:
        model: without radiation memory and waves.
        how: formulation.
        rest: its equilibrium.
    """
    if not may_be_linear(model, how):
        return False
    n = rest.s.shape[0]
    rng = np.random.default_rng(5)
    x, s = SIZE * rng.standard_normal((2, 4, n))
    worst = float(np.max(np.asarray(_leftover(how)(model, rest, x, s))))
    return bool(worst < TOLERANCE)
