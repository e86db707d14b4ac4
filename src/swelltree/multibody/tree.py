"""Tree velocities: how joint velocities move bodies, and how coordinates follow velocities."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, known, namespace, pytree
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Frames, Motion, Pose, body_index, dof_joint, with_world
from swelltree.multibody.layout import Layout
from swelltree.spatial.rotations import cross, matvec, quat_rate, quat_velocity, turn_quat


def tree_blocks(model: Model, pose: Pose, frames: Frames) -> tuple[Array, Array]:
    """Linear and angular velocity of every body per unit tree velocity, (N, n, 3) each."""
    n = model.layout.n_tree
    joint = dof_joint(model.layout)[:n]
    moves = model.layout.moves[:, :, None]
    arm = pose.p[:, None, :] - frames.follower_o[joint][None]
    turn, slide = frames.turn[:n], frames.slide[:n]
    return moves * (slide + cross(turn[None], arm)), moves * turn


def tree_block_rates(
    model: Model, pose: Pose, frames: Frames, v: Float[Array, "b 6"]
) -> tuple[Array, Array]:
    """Time derivative of the blocks when the bodies move with v."""
    layout = model.layout
    xp = namespace(v, pose.p)
    n = layout.n_tree
    joint = dof_joint(layout)[:n]
    base = body_index(layout, layout.base)[joint]
    follower = body_index(layout, layout.follower)[joint]
    p, vw = with_world(pose.p, np.zeros(3)), with_world(v, np.zeros(6))
    w_base, w_follower = vw[base, 3:], vw[follower, 3:]
    o = frames.follower_o[joint]
    turn, slide = frames.turn[:n], frames.slide[:n]
    # axes turn with the body they are fixed in
    on_follower = np.array([d.on_follower for d in layout.dofs[:n]], dtype=bool)[:, None]
    carried = xp.where(on_follower, w_follower, w_base) if on_follower.any() else w_base
    turn_rate, slide_rate = cross(carried, turn), cross(w_base, slide)
    o_rate = vw[follower, :3] + cross(w_follower, o - p[follower])
    arm = pose.p[:, None, :] - o[None]
    arm_rate = v[:, None, :3] - o_rate[None]
    lin = slide_rate + cross(turn_rate[None], arm) + cross(turn[None], arm_rate)
    moves = layout.moves[:, :, None]
    return moves * lin, moves * turn_rate


def velocity_matrix(lin: Float[Array, "b n 3"], rot: Float[Array, "b n 3"]) -> Array:
    """P (6N, n) from its blocks."""
    xp = namespace(lin)
    bodies, n, _ = lin.shape
    return xp.swapaxes(xp.concatenate([lin, rot], axis=-1), 1, 2).reshape(6 * bodies, n)


def turn_dofs(layout: Layout) -> np.ndarray:
    """(k, 3) tree DOFs of the rotations of each quaternion joint; n_tree where one is locked."""
    place = {j: row for row, (j, _) in enumerate(layout.quaternions)}
    result = np.full((len(place), 3), layout.n_tree, dtype=int)
    for k, dof in enumerate(layout.dofs[: layout.n_tree]):
        if dof.free_turn:
            result[place[dof.joint], dof.axis] = k
    return result


def _turning(layout: Layout, s: Float[Array, " n"]) -> Float[Array, "k 3"]:
    """Angular velocity of each quaternion joint in base axes."""
    xp = namespace(s)
    return xp.concatenate([s, xp.zeros(1)])[turn_dofs(layout)]


def _quat_place(layout: Layout) -> np.ndarray:
    """(k, 4) indices in q of the quaternions."""
    first = np.array([i for _, i in layout.quaternions], dtype=int)
    return first[:, None] + np.arange(4)


def _overwrite(layout: Layout, q: Array, quats: Array) -> Array:
    """q with the quaternion entries replaced."""
    place = _quat_place(layout)
    where = np.arange(q.shape[0])
    where[place.ravel()] = q.shape[0] + np.arange(place.size)
    return namespace(q).concatenate([q, quats.reshape(-1)])[where]


def position_rates(layout: Layout, q: Float[Array, " nq"], s: Float[Array, " n"]) -> Array:
    """Rate of q for tree velocities s; other entries of q are constant."""
    xp = namespace(q, s)
    index = np.full(q.shape[0], layout.n_tree, dtype=int)
    for k, position in enumerate(layout.dof_position):
        if position >= 0:
            index[position] = k
    rate = xp.concatenate([s, xp.zeros(1)])[index]
    if not layout.quaternions:
        return rate
    return _overwrite(layout, rate, quat_rate(q[_quat_place(layout)], _turning(layout, s)))


def tree_velocities(layout: Layout, q: Float[Array, " nq"], rate: Float[Array, " nq"]) -> Array:
    """Tree velocities of a rate of q: inverse of `position_rates`."""
    xp = namespace(q, rate)
    s = xp.concatenate([rate, xp.zeros(1)])[layout.dof_position]
    if not layout.quaternions:
        return s
    place = _quat_place(layout)
    turns = quat_velocity(q[place], rate[place]).reshape(-1)
    where = np.arange(layout.n_tree + 1)
    where[turn_dofs(layout).ravel()] = layout.n_tree + np.arange(turns.shape[0])
    return xp.concatenate([s, turns])[where[: layout.n_tree]]


def moved_positions(layout: Layout, q: Float[Array, " nq"], step: Float[Array, " n"]) -> Array:
    """q after a small step along the tree velocities; quaternions stay normalised."""
    moved = q + position_rates(layout, q, step)
    if not layout.quaternions:
        return moved
    return _overwrite(layout, moved, turn_quat(q[_quat_place(layout)], _turning(layout, step)))


# --- Motion of body points, and wrenches of forces that act at them


@pytree()
class PointMotion:
    """Motion of one or several body points in world axes."""

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array


def point_motion(motion: Motion, body: Array, point: Float[Array, "k 3"]) -> PointMotion:
    """Motion of points fixed in bodies (index N: the world), which may be a loop variable."""

    def of_body(x: Array, world: np.ndarray) -> Array:
        rows = with_world(x, world)
        return (
            rows[body]
            if known(body)
            else rows.at[body].get(mode="clip", wrap_negative_indices=False)
        )

    R, v = of_body(motion.pose.R, np.eye(3)), of_body(motion.v, np.zeros(6))
    arm = matvec(R, point)
    position = of_body(motion.pose.p, np.zeros(3)) + arm
    return PointMotion(position, R, v[:, :3] + cross(v[:, 3:], arm), v[:, 3:])


def spread(
    layout: Layout,
    motion: Motion,
    body: np.ndarray,
    at: Float[Array, "k 3"],
    force: Float[Array, "k 3"],
    moment: Float[Array, "k 3"],
) -> Float[Array, "n 6"]:
    """Body wrenches of forces and moments acting at world points on the given bodies."""
    xp = namespace(force, motion.pose.p)
    arm = at - with_world(motion.pose.p, np.zeros(3))[body]
    wrench = xp.concatenate([force, moment + cross(arm, force)], axis=-1)
    hits = (np.arange(layout.n_bodies)[:, None] == body[None, :]).astype(float)
    return (hits[:, :, None] * wrench[None]).sum(1)


def joint_pair(
    layout: Layout,
    motion: Motion,
    joint: np.ndarray,
    force: Float[Array, "k 3"],
    moment: Float[Array, "k 3"],
) -> Float[Array, "n 6"]:
    """Equal and opposite wrenches on follower and base, at the follower's joint point."""
    at = motion.frames.follower_o[joint]
    follower = body_index(layout, layout.follower)[joint]
    base = body_index(layout, layout.base)[joint]
    on_follower = spread(layout, motion, follower, at, force, moment)
    return on_follower + spread(layout, motion, base, at, -force, -moment)
