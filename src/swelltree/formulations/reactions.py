r"""Joint reactions: the wrench the base exerts on the follower at the joint point.

From the net wrench of each body, w_c = M vdot + b - w, the reaction at a tree
joint is what the subtree beyond it needs; cut joints follow from their
multipliers. Where constraints are redundant the reactions are not unique: the
least-norm set (sum of squares of all multipliers, N and N m alike) is given.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jnp
from swelltree.formulations.base import Acceleration, Kinematics
from swelltree.model.constraints import Rows, evaluate_rows
from swelltree.model.inertia import inertia_force
from swelltree.model.kinematics import Motion
from swelltree.model.layout import Layout, Row
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.spatial.linalg import least_squares
from swelltree.spatial.vectors import cross, matvec, transpose


def net_wrench(
    model: Model, kin: Kinematics, acceleration: Acceleration, wrench: Float[Array, "b 6"]
) -> Float[Array, "b 6"]:
    """Wrench that all joints together exert on each body."""
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
    """Wrench on each tree joint's follower: what the bodies beyond it need."""
    layout = model.layout
    N = layout.n_bodies
    unbalanced = net - cut
    o = motion.frames.follower_o[:N]
    arm = motion.pose.p[None] - o[:, None]
    beyond = jnp.asarray(layout.path.T)[:, :, None]
    force = (beyond * unbalanced[None, :, :3]).sum(1)
    moment = (beyond * (unbalanced[None, :, 3:] + cross(arm, unbalanced[None, :, :3]))).sum(1)
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
    """Smallest multipliers of all rows, redundant ones included, that give the net wrenches."""
    layout, motion = model.layout, kin.motion
    angles = motion.coordinate[np.array(layout.angle_dofs, dtype=int)]
    values = evaluate_rows(
        model, layout.rows, motion.pose, motion.frames, motion.v, angles, drives_at(model.drives, t)
    )
    # tree joints and loops: how many rows are independent is known
    rank = len(model.all_rows) - model.surplus
    lam = least_squares(values.jacobian.T, net.reshape(-1), rank)
    return row_wrenches(layout, layout.rows, values, lam)
