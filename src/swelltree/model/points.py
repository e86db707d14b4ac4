"""Motion of body points, and wrenches of forces that act at them."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.engine.arrays import Array, known, namespace, pytree
from swelltree.model.kinematics import Motion, body_index, with_world
from swelltree.model.layout import Layout
from swelltree.spatial.vectors import cross, matvec


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
