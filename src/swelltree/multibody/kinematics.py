"""Where bodies are and how they move, from joint coordinates or from poses.

World axes throughout; positions and velocities at the reference points. The
same functions run in numpy (assembly, checks) and under JAX.

Tree velocities: how joint velocities move bodies, and how coordinates follow velocities.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, known, namespace, pytree
from swelltree.model.model import Model, Pose
from swelltree.multibody.layout import Layout
from swelltree.spatial.rotations import (
    about_axis,
    cross,
    dot,
    euler_rates,
    matmul,
    matrix_to_euler,
    matvec,
    quat_rate,
    quat_to_matrix,
    quat_velocity,
    rotation_vector,
    transpose,
    turn_quat,
)


@pytree()
class Frames:
    """World frames of every joint and the axes of every dof."""

    base_R: Array  # (J, 3, 3)
    follower_R: Array  # (J, 3, 3)
    base_o: Array  # (J, 3) joint point on the base
    follower_o: Array  # (J, 3) joint point on the follower
    turn: Array  # (n, 3) angular velocity per unit dof velocity
    slide: Array  # (n, 3) velocity per unit dof velocity


@pytree()
class Motion:
    """Arguments of forces: poses, velocities, joint coordinates and rates."""

    pose: Pose
    v: Array  # (N, 6) linear first
    frames: Frames
    coordinate: Array  # (n,) of every dof of every joint
    rate: Array  # (n,)


def relative_poses(model: Model, q: Float[Array, " nq"]) -> tuple[Array, Array]:
    """Rotation and translation of each tree joint's follower frame in its base frame."""
    layout = model.layout
    xp = namespace(q)
    padded = xp.concatenate([q, xp.zeros(1)])
    d = padded[layout.slide_index]
    R = None
    for index, axes in layout.turn_slots:
        angle = padded[index]
        d = d + axes * (model.joints.lead[: layout.n_bodies] * angle)[:, None]
        turn = about_axis(axes, angle)
        R = turn if R is None else matmul(R, turn)
    if R is None:
        R = xp.broadcast_to(xp.eye(3), (layout.n_bodies, 3, 3))
    if layout.quaternions:
        joints = np.array([j for j, _ in layout.quaternions])
        first = np.array([i for _, i in layout.quaternions])
        turned = quat_to_matrix(q[first[:, None] + np.arange(4)])
        # put the quaternion joints back in their places
        place = np.arange(layout.n_bodies)
        place[joints] = layout.n_bodies + np.arange(len(joints))
        R = xp.concatenate([R, turned])[place]
    return R, d


def forward(model: Model, q: Float[Array, " nq"]) -> Pose:
    """Poses of all bodies from the tree coordinates.

    Transforms along each path are composed by pointer jumping: after k rounds
    every body knows its pose relative to the ancestor 2^k links below, so a
    chain of 100 bodies takes seven rounds of batched 3x3 products.
    """
    layout, joints = model.layout, model.joints
    N = layout.n_bodies
    R_BF, d = relative_poses(model, q)
    xp = namespace(R_BF, joints.base_point)
    base_R, base_p = joints.base_rotation[:N], joints.base_point[:N]
    R = matmul(matmul(base_R, R_BF), transpose(joints.follower_rotation[:N]))
    p = base_p + matvec(base_R, d) - matvec(R, joints.follower_point[:N])
    backwards = np.array(layout.follower[:N]) != np.arange(N)
    if backwards.any():
        back = transpose(R)
        p = xp.where(backwards[:, None], -matvec(back, p), p)
        R = xp.where(backwards[:, None, None], back, R)
    for ancestor in layout.jumps:
        R_up = xp.concatenate([R, xp.eye(3)[None]])[ancestor]
        p_up = xp.concatenate([p, xp.zeros((1, 3))])[ancestor]
        p = p_up + matvec(R_up, p)
        R = matmul(R_up, R)
    return Pose(p, R)


def with_world(x: Float[Array, "n *rest"], world: Float[Array, "*rest"]) -> Array:
    """Body array with the world appended as the last entry."""
    return namespace(x).concatenate([x, namespace(x).asarray(world)[None]])


def body_index(layout: Layout, side: tuple[int, ...]) -> np.ndarray:
    """Body numbers of one side of the joints, N standing for the world."""
    return np.array([b if b >= 0 else layout.n_bodies for b in side], dtype=int)


def joint_frames(model: Model, pose: Pose) -> Frames:
    """World frames of all joints and the axes of all dofs."""
    layout, joints = model.layout, model.joints
    base, follower = body_index(layout, layout.base), body_index(layout, layout.follower)
    R, p = with_world(pose.R, np.eye(3)), with_world(pose.p, np.zeros(3))
    base_R = matmul(R[base], joints.base_rotation)
    follower_R = matmul(R[follower], joints.follower_rotation)
    base_o = p[base] + matvec(R[base], joints.base_point)
    follower_o = p[follower] + matvec(R[follower], joints.follower_point)
    xp = namespace(base_R)
    joint = np.array([d.joint for d in layout.dofs], dtype=int)
    axis = np.array([d.axis for d in layout.dofs], dtype=int)
    on_follower = np.array([d.on_follower for d in layout.dofs], dtype=bool)
    turns = np.array([d.turns for d in layout.dofs], dtype=bool)[:, None]
    # columns of the joint frames are the dof axes
    direction = base_R[joint, :, axis]
    if on_follower.any():
        direction = xp.where(on_follower[:, None], follower_R[joint, :, axis], direction)
    turn = turns * direction
    slide = xp.where(turns, joints.lead[joint][:, None] * direction, direction)
    return Frames(base_R, follower_R, base_o, follower_o, turn, slide)


def dof_joint(layout: Layout) -> np.ndarray:
    return np.array([d.joint for d in layout.dofs], dtype=int)


def relative_velocity(
    model: Model, pose: Pose, frames: Frames, v: Float[Array, "n 6"]
) -> tuple[Array, Array]:
    """Velocity of the follower's joint point in the base, and relative angular velocity.

    (J, 3) each, world axes.
    """
    layout = model.layout
    base, follower = body_index(layout, layout.base), body_index(layout, layout.follower)
    p, v = with_world(pose.p, np.zeros(3)), with_world(v, np.zeros(6))
    w_base, w_follower = v[base, 3:], v[follower, 3:]
    at_base = v[base, :3] + cross(w_base, frames.follower_o - p[base])
    at_follower = v[follower, :3] + cross(w_follower, frames.follower_o - p[follower])
    return at_follower - at_base, w_follower - w_base


def dof_rates(model: Model, pose: Pose, frames: Frames, v: Float[Array, "n 6"]) -> Array:
    """Rate of every dof of every joint from the body velocities."""
    layout = model.layout
    slip, spin = relative_velocity(model, pose, frames, v)
    joint = dof_joint(layout)
    turns = np.array([d.turns for d in layout.dofs], dtype=bool)
    xp = namespace(spin, slip, frames.turn)
    return xp.where(turns, dot(frames.turn, spin[joint]), dot(frames.slide, slip[joint]))


def wrapped(angle: Array) -> Array:
    xp = namespace(angle)
    return angle - 2.0 * np.pi * xp.round(angle / (2.0 * np.pi))


def dof_coordinates(model: Model, frames: Frames, angles: Float[Array, " a"]) -> Array:
    """Coordinate of every dof from the joint frames.

    `angles` are nearby values of the single-axis angles (layout.angle_dofs);
    they choose the turn. Rotations of ball and free joints have no coordinate here: forces
    cannot depend on one, and results have `attitudes`.
    """
    layout = model.layout
    if not layout.dofs:
        return namespace(frames.base_R).zeros(0)
    joint = dof_joint(layout)
    axis = np.array([d.axis for d in layout.dofs], dtype=int)
    xp = namespace(frames.base_R)
    R_rel = matmul(transpose(frames.base_R), frames.follower_R)
    gap = frames.follower_o - frames.base_o
    value = dot(frames.base_R[joint, :, axis], gap[joint])
    if layout.angle_dofs:
        i, j, second = _angle_axes(layout)
        k = np.array(layout.angle_dofs)
        ei, ej = np.eye(3)[i], np.eye(3)[j]
        ek = np.cross(ei, ej)
        R = R_rel[joint[k]]
        image = xp.where(second[:, None], matvec(transpose(R), ei), matvec(R, ej))
        start = np.where(second[:, None], ei, ej)
        raw = xp.arctan2(dot(ek, image), dot(start, image))
        angle = angles + wrapped(raw - angles)
        value = xp.concatenate([value, angle])[_placed(len(layout.dofs), k)]
    bound = np.array([not d.free_turn for d in layout.dofs], dtype=float)
    return bound * value


def attitudes(
    model: Model, frames: Frames, coordinate: Float[Array, " n"], rate: Float[Array, " n"]
) -> tuple[Array, Array]:
    """Coordinates and rates with those of ball and free joints as results have them.

    Three free rotations are Roll, Pitch, Yaw (intrinsic z-y-x) of the follower in the base, and
    their rates. The two of a cable element are components of the rotation vector, and of the
    angular velocity, in base axes.
    """
    layout = model.layout
    free = np.array([n for n, d in enumerate(layout.dofs) if d.free_turn], dtype=int)
    if not free.size:
        return coordinate, rate
    xp = namespace(coordinate, rate, frames.base_R)
    joint = dof_joint(layout)[free]
    axis = np.array([layout.dofs[n].axis for n in free], dtype=int)
    R_rel = matmul(transpose(frames.base_R[joint]), frames.follower_R[joint])
    of_joint = [[m for m, k in enumerate(joint) if k == j] for j in joint]
    full = np.array([len(rows) == 3 for rows in of_joint])
    spin = rate[free]
    if full.any():
        three = np.array(
            [
                sorted(rows, key=lambda m: axis[m]) if len(rows) == 3 else [0] * 3
                for rows in of_joint
            ]
        )
        euler = matrix_to_euler(R_rel)
        angle = dot(np.eye(3)[axis], euler)
        turning = dot(np.eye(3)[axis], euler_rates(euler, spin[three]))
        vector = dot(np.eye(3)[axis], rotation_vector(R_rel))
        angle, turning = xp.where(full, angle, vector), xp.where(full, turning, spin)
    else:
        angle, turning = dot(np.eye(3)[axis], rotation_vector(R_rel)), spin
    place = _placed(len(layout.dofs), free)
    return xp.concatenate([coordinate, angle])[place], xp.concatenate([rate, turning])[place]


def _placed(n: int, where: np.ndarray) -> np.ndarray:
    """Index that replaces entries `where` of n values by appended values."""
    index = np.arange(n)
    index[where] = n + np.arange(len(where))
    return index


def _angle_axes(layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First and second axis of the rotation sequence of each angle dof; is it the second?"""
    i, j, second = [], [], []
    for k in layout.angle_dofs:
        turns = [d for d in layout.dofs if d.joint == layout.dofs[k].joint and d.turns]
        first = turns[0].axis
        other = turns[1].axis if len(turns) == 2 else (first + 1) % 3
        i.append(first)
        j.append(other)
        second.append(layout.dofs[k].on_follower)
    return np.array(i), np.array(j), np.array(second)


# --- Motion from a datum, as linear studies, results and controllers have it


def heading(R: Array) -> Array:
    """Yaw of bodies with rotations (..., 3, 3) [rad]."""
    return matrix_to_euler(R)[..., 2]


def heading_axes(R: Array) -> Array:
    """World axes turned about z by the yaw of bodies with rotations (..., 3, 3)."""
    yaw = heading(R)
    axis = np.array([0.0, 0.0, 1.0]) * namespace(yaw).ones_like(yaw)[..., None]
    return about_axis(axis, yaw)


def displacement(datum: Pose, p: Array, R: Array) -> Array:
    r"""Motion from a datum (..., N, 6), in the axes of the heading there.

    With p_0, R_0 the pose of a body at the datum and H the turn about z by its yaw there,

    .. math:: x = H^\top (p - p_0), \qquad
              R_z(\psi) R_y(\theta) R_x(\varphi) = H^\top R\, R_0^\top H

    so that surge and sway are along and across the heading, and roll and pitch are about axes that
    go with the vessel's own yaw. At a datum without trim these angles are the Euler angles less
    those at the datum. To first order they are the rotations of the linear studies, whatever the
    datum is.

    Args:
        datum: pose of all bodies (N).
        p: positions (..., N, 3) [m].
        R: rotations (..., N, 3, 3).
    """
    xp = namespace(p, R, datum.R)
    H = heading_axes(datum.R)
    product = np.matmul if xp is np else matmul  # samples of a whole run are many
    moved = product(transpose(H), (p - datum.p)[..., None])[..., 0]
    turned = product(product(transpose(H), R), matmul(transpose(datum.R), H))
    return xp.concatenate([moved, matrix_to_euler(turned)], axis=-1)


def tree_blocks(model: Model, pose: Pose, frames: Frames) -> tuple[Array, Array]:
    """Linear and angular velocity of every body per unit tree velocity, (N, n, 3) each."""
    n = model.layout.n_tree
    joint = dof_joint(model.layout)[:n]
    moves = model.layout.moves[:, :, None]
    arm = pose.p[:, None, :] - frames.follower_o[joint][None]
    turn, slide = frames.turn[:n], frames.slide[:n]
    return moves * (slide + cross(turn[None], arm)), moves * turn


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
