r"""Locked strokes as constraints, in any formulation.

Accelerations are linear in the force f of a latch. With W its unit wrench pair, a_0 the
acceleration without it and a_1 the response to W, the rate of the stroke W . v changes by

.. math:: \frac{d}{dt}(W \cdot v) = W \cdot (a_0 + f a_1) + \dot W \cdot v = 0

which gives f. What rounding and the search for the event leave of the rate is taken away after
every step, by the impulse along W (`stilled`). Several latches are one small system; those that
hold the same motion (on both bearings of a flap) share the force equally. An open latch has f = 0,
and no equation is written where there is no latch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, jax, jnp, pytree
from swelltree.model.capabilities import InternalState
from swelltree.model.effect import Instant, Loads
from swelltree.model.model import Model
from swelltree.multibody.formulations.base import Acceleration, Formulation, Kinematics, State
from swelltree.multibody.inertia import dense_inertia
from swelltree.multibody.kinematics import Motion, Pose, joint_frames
from swelltree.pto.actuators.actuators import of_ptos, pair_wrench
from swelltree.pto.actuators.forces import latching_forces, stroke_forces
from swelltree.spatial.linalg import solve_spd
from swelltree.spatial.rotations import cross

if TYPE_CHECKING:
    from swelltree.pto.actuators.forces import StrokeForces

MIN_MOBILITY = 1e-30  # 1/kg: acceleration of a stroke by a unit force
DEAD = 1e-6  # fraction of a mobility or motion: a force cannot hold what it does not move
SHARES = 1e-10  # give of a latch, of what it holds


@pytree()
class Hold:
    """Forces of all latches of a group, (e,) each; zero for PTOs without."""

    force: Array  # that each latch exerts now
    needed: Array  # that would hold each, by itself where it is open


def unit_pairs(model: Model, group: StrokeForces, motion: Motion) -> Float[Array, "k n 6"]:
    """Wrench pairs of a unit force in each latch."""
    units = jnp.eye(len(group.names))[group.can_hold()]
    return jax.vmap(lambda unit: pair_wrench(model, group.strokes, motion, unit))(units)


def convective(model: Model, group: StrokeForces, motion: Motion) -> Float[Array, " k"]:
    """Change of each rate by rotation of its wrench pair, at constant body velocities."""
    pose, v = motion.pose, motion.v

    def rates(p: Array, R: Array) -> Array:
        moved = Pose(p, R)
        there = Motion(moved, v, joint_frames(model, moved), motion.coordinate, motion.rate)
        return (unit_pairs(model, group, there) * v).sum((1, 2))

    R_rate = jnp.swapaxes(cross(v[:, None, 3:], jnp.swapaxes(pose.R, 1, 2)), 1, 2)
    return jax.jvp(rates, (pose.p, pose.R), (v[:, :3], R_rate))[1]


def latched_motion(
    model: Model, formulation: Formulation, kin: Kinematics, loads: Loads, now: Instant
) -> tuple[Loads, Acceleration, Hold]:
    """Loads and accelerations with locked strokes, and the forces in the latches."""
    group = stroke_forces(model)
    motion = kin.motion
    W = unit_pairs(model, group, motion)

    def respond(unit: Array) -> tuple[Acceleration, Acceleration]:
        solve = lambda wrench: formulation.acceleration(model, kin, wrench)  # noqa: E731
        return jax.jvp(solve, (loads.wrench,), (unit,))

    free, each = jax.vmap(respond, out_axes=(None, 0))(W)
    G = (W[:, None] * each.v_dot[None]).sum((2, 3))
    G = _floored(G)
    missing = -convective(model, group, motion) - (W * free.v_dot).sum((1, 2))

    which = group.can_hold()
    locked = jnp.where(group.latched(now)[which] > 0.5, 1.0, 0.0)
    matrix = _of_locked(G, locked)
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


def stilled(
    model: Model, formulation: Formulation, t: Array, state: State, internal: InternalState
) -> tuple[State, Float[Array, " e"]]:
    """State with locked strokes stopped, and the work of the impulses of each latch [J]."""
    group = stroke_forces(model)
    kin = formulation.kinematics(model, t, state)
    W = unit_pairs(model, group, kin.motion)
    rest = jnp.zeros_like(kin.motion.v)

    def respond(unit: Array) -> Acceleration:
        solve = lambda wrench: formulation.acceleration(model, kin, wrench)  # noqa: E731
        return jax.jvp(solve, (rest,), (unit,))[1]

    each = jax.vmap(respond)(W)
    G = _floored((W[:, None] * each.v_dot[None]).sum((2, 3)))
    rate = (W * kin.motion.v).sum((1, 2))
    now = Instant(t, kin.motion, internal)
    locked = jnp.where(group.latched(now)[group.can_hold()] > 0.5, 1.0, 0.0)
    impulse = _refined(_of_locked(G, locked), -locked * rate)
    # at a dead centre all moves but the stroke: the impulse would stop the whole loop in place of
    # what rounding left of the rate; without it the run ends with a message
    moved = jnp.sqrt((each.v_dot**2).sum((1, 2)) * (W**2).sum((1, 2)))
    impulse = jnp.where(jnp.diag(G) > DEAD * moved, impulse, 0.0)
    # an impulse works with the mean of the rates before and after it, and these are zero after
    work = (0.5 * impulse * rate) @ np.eye(len(group.names))[group.can_hold()]
    s = state.s + (impulse[:, None] * each.s_dot).sum(0)
    return State(state.q, s, state.chart), work


def _floored(G: Array) -> Array:
    """Symmetric matrix without zero divisors where no force moves a stroke (dead centre)."""
    G = 0.5 * (G + G.T)
    return G + jnp.diag(jnp.maximum(MIN_MOBILITY - jnp.diag(G), 0.0))


def _of_locked(G: Array, locked: Array) -> Array:
    return locked[:, None] * locked[None, :] * G + jnp.diag(1.0 - locked)


def dead_latches(
    model: Model, formulation: Formulation, kin: Kinematics, internal: InternalState, t: Array
) -> list[str]:
    """Message about locked strokes at a dead centre of their loop."""
    group = latching_forces(model)
    if group is None:
        return []
    motion = kin.motion
    W = unit_pairs(model, group, motion)
    rest = jnp.zeros_like(motion.v)

    def respond(unit: Array) -> Array:
        solve = lambda wrench: formulation.acceleration(model, kin, wrench).v_dot  # noqa: E731
        return jax.jvp(solve, (rest,), (unit,))[1]

    held = np.asarray((W * jax.vmap(respond)(W)).sum((1, 2)))
    M = np.asarray(dense_inertia(model, kin.inertia))
    flat = np.asarray(W).reshape(len(W), -1)
    alone = (flat * np.linalg.lstsq(M, flat.T, rcond=None)[0].T).sum(1)
    locked = np.asarray(group.latched(Instant(t, motion, internal)))[group.can_hold()] > 0.5
    return [
        group.words(int(i))
        for i, a, b, on in zip(group.can_hold(), held, alone, locked, strict=True)
        if on and not a > DEAD * b
    ]


def _refined(matrix: Array, missing: Array) -> Array:
    """Forces of latches; those that hold one and the same motion share it.

    The small give that makes the shares unique would let every latch creep: two corrections take it
    away from what is determined.
    """
    specified = matrix + SHARES * jnp.diag(jnp.diag(matrix))
    f = solve_spd(specified, missing)
    for _ in range(2):
        f = f + solve_spd(specified, missing - matrix @ f)
    return f


def _needed(G: Array, locked: Array, missing: Array) -> Array:
    """Force that would hold each open latch, with the locked ones holding too (k,)."""

    def with_one(unit: Array) -> Array:
        those = jnp.maximum(locked, unit)
        return (unit * _refined(_of_locked(G, those), those * missing)).sum()

    return jax.vmap(with_one)(jnp.eye(len(locked)))


def held_channels(
    group: StrokeForces, force: Array, channels: dict[str, Array]
) -> dict[str, Array]:
    """Channels of latches; stick friction is part of the force of the element."""
    stuck = group.can_stick() * force
    out = {}
    joints = np.array(group.with_role("joint_force"), dtype=int)
    if joints.size:
        out["joint_force_force"] = channels["joint_force_force"] + stuck[joints]
    if group.ptos:
        out["pto_latch_force"] = of_ptos(group, force)
        out["pto_force"] = channels["pto_force"] + of_ptos(group, stuck)
    return out
