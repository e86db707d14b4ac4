r"""Locked strokes as constraints, in any formulation.

Accelerations are linear in the force f of a latch. With W its unit wrench pair, a_0 the
acceleration without it and a_1 the response to W, the rate of the stroke W . v changes by

.. math:: \frac{d}{dt}(W \cdot v) = W \cdot (a_0 + f a_1) + \dot W \cdot v = -\frac{W \cdot v}{\tau}

which gives f; the right-hand side takes away what rounding leaves of the rate. Several latches
are one small system; those that hold the same motion (on both bearings of a flap) share the force
equally. An open latch has f = 0, and no equation is written where there is no latch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from swelltree.effects.strokes.stroke_channels import of_ptos
from swelltree.effects.strokes.strokes import pair_wrench
from swelltree.engine.arrays import Array, Tree, pytree
from swelltree.engine.backend import jax, jnp
from swelltree.formulations.base import Acceleration, Formulation, Kinematics
from swelltree.model.effect import Loads, Now
from swelltree.model.kinematics import Motion, Pose, joint_frames
from swelltree.model.model import Model
from swelltree.spatial.linalg import solve_spd
from swelltree.spatial.vectors import cross

if TYPE_CHECKING:
    from swelltree.effects.strokes.stroke_forces import StrokeForces

DECAY_TIME = 0.1  # s, tau
SHARES = 1e-10  # give of a latch, of what it holds


@pytree()
class Hold:
    """Forces of all machines of a group with latches, (e,) each; zero for those without."""

    force: Array  # that each latch exerts now
    needed: Array  # that would hold each, by itself where it is open


def latch_group(model: Model) -> Tree:
    """The group that can lock strokes, None if there is none."""
    return next((group for group in model.effects if group.holds), None)


def unit_pairs(model: Model, group: StrokeForces, motion: Motion) -> Float[Array, "k n 6"]:
    """Wrench pairs of a unit force in each latch."""
    units = jnp.eye(len(group.names))[group.can_hold()]
    return jax.vmap(lambda unit: pair_wrench(model, group.strokes, motion, unit))(units)


def convective(model: Model, group: StrokeForces, motion: Motion) -> Float[Array, " k"]:
    """Change of each rate by the turning of its wrench pair, at constant body velocities."""
    pose, v = motion.pose, motion.v

    def rates(p: Array, R: Array) -> Array:
        moved = Pose(p, R)
        there = Motion(moved, v, joint_frames(model, moved), motion.coordinate, motion.rate)
        return (unit_pairs(model, group, there) * v).sum((1, 2))

    R_rate = jnp.swapaxes(cross(v[:, None, 3:], jnp.swapaxes(pose.R, 1, 2)), 1, 2)
    return jax.jvp(rates, (pose.p, pose.R), (v[:, :3], R_rate))[1]


def latched_motion(
    model: Model, formulation: Formulation, kin: Kinematics, loads: Loads, now: Now
) -> tuple[Loads, Acceleration, Hold]:
    """Loads and accelerations with the locked strokes held, and the forces in the latches."""
    group = latch_group(model)
    motion = kin.motion
    W = unit_pairs(model, group, motion)

    def respond(unit: Array) -> tuple[Acceleration, Acceleration]:
        solve = lambda wrench: formulation.acceleration(model, kin, wrench)  # noqa: E731
        return jax.jvp(solve, (loads.wrench,), (unit,))

    free, each = jax.vmap(respond, out_axes=(None, 0))(W)
    G = (W[:, None] * each.v_dot[None]).sum((2, 3))
    G = 0.5 * (G + G.T)
    rate = (W * motion.v).sum((1, 2))
    missing = -rate / DECAY_TIME - convective(model, group, motion) - (W * free.v_dot).sum((1, 2))

    which = group.can_hold()
    locked = jnp.where(group.latched(now)[which] > 0.5, 1.0, 0.0)
    matrix = locked[:, None] * locked[None, :] * G + jnp.diag(1.0 - locked)
    f = _refined(matrix, locked * missing)
    needed = f
    if group.watches_hold:
        needed = jnp.where(locked > 0.5, f, _needed(G, locked, missing))

    def added(a: Array, b: Array) -> Array:
        return a + (f.reshape(-1, *(1,) * a.ndim) * b).sum(0)

    outputs = jax.tree.map(added, free, each)
    place = np.eye(len(group.names))[which]
    hold = Hold((f[:, None] * place).sum(0), (needed[:, None] * place).sum(0))
    wrench = loads.wrench + (f[:, None, None] * W).sum(0)
    channels = loads.channels | held_channels(group, hold.force, loads.channels)
    return Loads(wrench, loads.potential, loads.power, channels), outputs, hold


def _refined(matrix: Array, missing: Array) -> Array:
    """Forces of latches; those that hold one and the same motion share it.

    The small give that makes the shares unique would let every latch creep: two corrections take it
    away from what is determined.
    """
    given = matrix + SHARES * jnp.diag(jnp.diag(matrix))
    f = solve_spd(given, missing)
    for _ in range(2):
        f = f + solve_spd(given, missing - matrix @ f)
    return f


def _needed(G: Array, locked: Array, missing: Array) -> Array:
    """Force that would hold each latch that is open, the locked ones holding too (k,)."""

    def with_one(unit: Array) -> Array:
        those = jnp.maximum(locked, unit)
        matrix = those[:, None] * those[None, :] * G + jnp.diag(1.0 - those)
        return (unit * _refined(matrix, those * missing)).sum()

    return jax.vmap(with_one)(jnp.eye(len(locked)))


def held_channels(
    group: StrokeForces, force: Array, channels: dict[str, Array]
) -> dict[str, Array]:
    """Channels of latches; what sticks by friction is part of the force of the element."""
    stuck = group.can_stick() * force
    out = {}
    joints = np.array(group.with_role("joint_force"), dtype=int)
    if joints.size:
        out["joint_force_force"] = channels["joint_force_force"] + stuck[joints]
    if group.ptos:
        out["pto_latch_force"] = of_ptos(group, force)
        out["pto_force"] = channels["pto_force"] + of_ptos(group, stuck)
    return out
