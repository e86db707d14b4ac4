"""Every channel of a run at one instant, whichever scheme stepped there.

Who steps hands over an `Instant`: motion, loads, accelerations with their multipliers, and the
work of each term so far. From here on all runs look the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from swelltree.hydro.splash_zone.immersions import with_immersed_mass
from swelltree.jit import Array, jnp
from swelltree.model.capabilities import InternalState, present
from swelltree.model.effect import Loads
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.model.solved import with_solved_mass
from swelltree.multibody.build_layout import Rows, evaluate_rows
from swelltree.multibody.formulations.base import Acceleration, Kinematics
from swelltree.multibody.inertia import inertia_force, kinetic_energy
from swelltree.multibody.kinematics import Motion, attitudes, point_motion
from swelltree.multibody.layout import Layout, Row
from swelltree.spatial.linalg import least_squares
from swelltree.spatial.rotations import cross, dot, matvec, transpose

# --- Joint reactions: the wrench the base exerts on the follower at the joint point


def net_wrench(
    model: Model, kin: Kinematics, acceleration: Acceleration, wrench: Float[Array, "b 6"]
) -> Float[Array, "b 6"]:
    """Total wrench of all joints on each body."""
    needed = inertia_force(model, kin.inertia, acceleration.v_dot, kin.motion.v)
    return needed - wrench


def row_wrenches(
    layout: Layout, rows: tuple[Row, ...], values: Rows, lam: Float[Array, " m"]
) -> Float[Array, "j 6"]:
    """Wrench on each joint's follower at the joint point, from multipliers."""
    parts = [part for row in rows for part in row.parts()]
    lam = values.part_multipliers(lam)
    return _joint_wrenches(layout, parts, values, lam)


def _joint_wrenches(layout: Layout, parts: list[Row], values: Rows, lam: Array) -> Array:
    each = jnp.concatenate([values.force, values.moment], -1) * lam[:, None]
    joint = np.array([r.joint for r in parts], dtype=int)
    hits = (np.arange(layout.n_joints)[:, None] == joint[None, :]).astype(float)
    return (hits[:, :, None] * each[None]).sum(1)


def tree_wrenches(
    model: Model, motion: Motion, net: Float[Array, "b 6"], cut: Float[Array, "b 6"]
) -> Float[Array, "b 6"]:
    """Wrench on each tree joint's follower, from the net wrenches of the bodies beyond it."""
    layout = model.layout
    N = layout.n_bodies
    unbalanced = net - cut
    o = motion.frames.follower_o[:N]
    arm = motion.pose.p[None] - o[:, None]
    excess = jnp.asarray(layout.path.T)[:, :, None]
    force = (excess * unbalanced[None, :, :3]).sum(1)
    moment = (excess * (unbalanced[None, :, 3:] + cross(arm, unbalanced[None, :, :3]))).sum(1)
    outward = np.where(np.array(layout.follower[:N]) == np.arange(N), 1.0, -1.0)
    return outward[:, None] * jnp.concatenate([force, moment], -1)


def joint_reactions(
    model: Model,
    t: Array,
    kin: Kinematics,
    acceleration: Acceleration,
    wrench: Float[Array, "b 6"],
    rows: tuple[Row, ...],
) -> tuple[Array, Array]:
    """Reactions of all joints at the follower's joint point: world axes and joint axes, (J, 6).

    Args:
        rows: the rows whose multipliers the acceleration holds.
    """
    layout = model.layout
    net = net_wrench(model, kin, acceleration, wrench)
    if model.redundant:
        world = _least_norm(model, t, kin, net)
    elif rows and len(rows) == len(model.all_rows) and kin.rows is not None:
        world = row_wrenches(layout, rows, kin.rows, acceleration.multipliers)
    else:
        cut = jnp.zeros_like(net)
        closing = jnp.zeros((layout.n_joints, 6))
        if kin.rows is not None:
            # what acts in tree joints (drives, couplings) is part of their reactions
            parts = [part for row in rows for part in row.parts()]
            at_cut = np.array([part.joint >= layout.n_bodies for part in parts], dtype=float)
            lam = kin.rows.part_multipliers(acceleration.multipliers) * at_cut
            cut = (kin.rows.part_jacobian.T @ lam).reshape(-1, 6)
            closing = _joint_wrenches(layout, parts, kin.rows, lam)
        tree = tree_wrenches(model, kin.motion, net, cut)
        world = jnp.concatenate([tree, closing[layout.n_bodies :]])
    back = transpose(kin.motion.frames.base_R)
    joint_axes = jnp.concatenate([matvec(back, world[:, :3]), matvec(back, world[:, 3:])], -1)
    return world, joint_axes


def _least_norm(model: Model, t: Array, kin: Kinematics, net: Float[Array, "b 6"]) -> Array:
    """Minimum-norm multipliers of all rows, redundant ones included, for the net wrenches."""
    layout, motion = model.layout, kin.motion
    angles = motion.coordinate[np.array(layout.angle_dofs, dtype=int)]
    values = evaluate_rows(
        model, layout.rows, motion.pose, motion.frames, motion.v, angles, drives_at(model.drives, t)
    )
    # tree joints and loops: how many rows are independent is known
    rank = len(model.all_rows) - model.surplus
    lam = least_squares(values.jacobian.T, net.reshape(-1), rank)
    return row_wrenches(layout, layout.rows, values, lam)


class StepInstant(NamedTuple):
    """State, motion and solution at an instant."""

    t: Array  # s
    kin: Kinematics
    loads: Loads
    acceleration: Acceleration
    internal: InternalState
    work: Array  # (terms,) J
    rows: tuple[Row, ...]  # joint equations of the multipliers
    open_rows: tuple[Row, ...]  # joint equations whose violation is watched


def channels_at(model: Model, now: StepInstant) -> dict[str, Array]:
    """Everything a run reports, at one instant.

    Positions, velocities and accelerations of the reference points; rotation matrices; joint
    coordinates, rates and reactions; channels and energy terms of effects; energies and works;
    sensors; the largest violation of any joint.
    """
    motion, loads, v_dot = now.kin.motion, now.loads, now.acceleration.v_dot
    angles = motion.coordinate[np.array(model.layout.angle_dofs, dtype=int)]
    heavy = with_immersed_mass(present(model, now.internal), now.t, motion)
    world, joint_axes = joint_reactions(
        with_solved_mass(heavy), now.t, now.kin, now.acceleration, loads.wrench, now.rows
    )
    couplings: dict[str, Array] = {}
    if model.layout.couplings:
        couplings["coupling_force"] = coupling_forces(model, now)
    coordinate, rate = attitudes(model, motion.frames, motion.coordinate, motion.rate)
    return {
        "position": motion.pose.p,
        "rotation": motion.pose.R,
        "velocity": motion.v,
        "acceleration": v_dot,
        "coordinate": coordinate,
        "rate": rate,
        "reaction": world,
        "reaction_joint_axes": joint_axes,
        "joint_point": motion.frames.follower_o,
        "wrench": loads.wrench,
        "kinetic_energy": kinetic_energy(heavy, now.kin.inertia, motion.v),
        "potential_energy": loads.potential,
        "work": now.work,
        "closure": closure(model, now.open_rows, now.t, motion, angles),
        **couplings,
        **loads.channels,
        **sensor_channels(model, motion, v_dot),
    }


def coupling_forces(model: Model, now: StepInstant) -> Array:
    """Force of each coupling on each of its coordinates, concatenated."""
    assert now.kin.rows is not None
    parts = [(row, n) for row in now.rows for n in range(len(row.parts()))]
    number = {part: k for k, part in enumerate(parts)}
    # a coupling that says nothing anywhere has no row, and no force
    place = [
        number.get((row, n), -1)
        for row in model.layout.rows
        if row.coupling is not None
        for n in range(len(row.parts()))
    ]
    force = now.kin.rows.part_multipliers(now.acceleration.multipliers)
    return jnp.concatenate([force, jnp.zeros(1)])[np.array(place)]


def closure(model: Model, rows: tuple[Row, ...], t: Array, motion: Motion, angles: Array) -> Array:
    """Maximum violation of all joint equations, including redundant ones [m, rad]."""
    if not rows:
        return jnp.zeros(())
    drives = drives_at(model.drives, t)
    values = evaluate_rows(model, rows, motion.pose, motion.frames, motion.v, angles, drives)
    return jnp.abs(values.residual).max()


def sensor_channels(model: Model, motion: Motion, v_dot: Array) -> dict[str, Array]:
    """Motion of named points, and distances between named pairs."""
    sensors = model.sensors
    out: dict[str, Array] = {}
    if sensors.body:
        body = np.array(sensors.body)
        at = point_motion(motion, body, sensors.point)
        a = jnp.concatenate([v_dot, jnp.zeros((1, 6))])[body]
        arm = matvec(at.rotation, sensors.point)
        w = at.angular_velocity
        out["point_position"] = at.position
        out["point_velocity"] = at.velocity
        out["point_acceleration"] = a[:, :3] + cross(a[:, 3:], arm) + cross(w, cross(w, arm))
    if sensors.body_a:
        a = point_motion(motion, np.array(sensors.body_a), sensors.point_a)
        b = point_motion(motion, np.array(sensors.body_b), sensors.point_b)
        d = b.position - a.position
        length = jnp.sqrt(dot(d, d))
        out["distance"] = length
        rate = dot(d, b.velocity - a.velocity)
        out["distance_rate"] = rate / jnp.where(length > 0.0, length, 1.0)
    return out
