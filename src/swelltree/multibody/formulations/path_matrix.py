r"""Joint coordinates with the path matrix (MBS4WEC).

Column k of P is joint velocity k seen by every body further out on its path:

.. math::
    P_{ik} = \Pi_{ik} \begin{pmatrix} t_k + r_k \times (p_i - o_k) \\ r_k \end{pmatrix}

with Pi the path matrix (eq. 9) spread over the joint velocities, r and t the
axis of rotation and translation and o the joint point. P here is the
transpose of the paper's; blocks and rates are written out in `model.tree`.

For the rigid bodies P need not be multiplied out. With all velocities referred
to one point c, P is the path matrix times one six-vector per joint velocity, so

.. math:: (P^\top M P)_{jk} = \xi_k^\top \Big( \sum_i \Pi_{ij} M_i \Big) \xi_j

and sums along paths are products with Pi, sums over branches products with its
transpose. Added mass, which couples all bodies, takes the full P.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, jnp, pytree
from swelltree.model.model import Model
from swelltree.multibody.formulations.base import JointCoordinates, Kinematics, State
from swelltree.multibody.inertia import kirchhoff
from swelltree.multibody.kinematics import (
    Frames,
    Pose,
    body_index,
    dof_joint,
    tree_blocks,
    velocity_matrix,
    with_world,
)
from swelltree.multibody.layout import Layout
from swelltree.spatial.rotations import cross, dot, masked_sum, matmul, matvec, transpose


@pytree()
class Screws:
    """Joint axes and body motions referred to the common point c."""

    c: Array  # (3,)
    slide: Array  # (n, 3) velocity at c per unit joint velocity
    turn: Array  # (n, 3) angular velocity
    v: Array  # (N, 3) velocity of each body at c
    w: Array  # (N, 3)
    slide_bias: Array  # (N, 3) acceleration at c without joint accelerations
    turn_bias: Array  # (N, 3)
    mass: Array  # (N, 1)
    mass_moment: Array  # (N, 3) mass times arm from c
    inertia: Array  # (N, 6) about c: xx, yy, zz, xy, xz, yz


@dataclass(frozen=True)
class PathMatrix(JointCoordinates):
    """MBS4WEC: P from path matrix and joint blocks, with its rate."""

    name: ClassVar[str] = "path_matrix"

    def velocity_map(
        self, model: Model, state: State, pose: Pose, frames: Frames
    ) -> tuple[Array, Array, Array, Screws]:
        screws = path_motion(model, state.s, pose, frames)
        arm = pose.p - screws.c
        w = screws.w
        at_point = screws.v + cross(w, arm)
        v = jnp.concatenate([at_point, w], -1)
        # the reference points move through c's axes: convective term of the acceleration
        lin = screws.slide_bias + cross(screws.turn_bias, arm) + cross(w, at_point)
        bias = jnp.concatenate([lin, screws.turn_bias], -1)
        return velocity_matrix(*tree_blocks(model, pose, frames)), v, bias, screws

    def mass(self, model: Model, kin: Kinematics) -> Array:
        H = path_mass(model, kin.extra)
        if kin.inertia.added is not None:
            each = kin.P.reshape(model.layout.n_bodies, 6, kin.P.shape[1])
            H = H + kin.P.T @ (kin.inertia.added @ each).reshape(kin.P.shape)
        if model.added_mass is None:
            return H
        return H + kin.P.T @ (model.added_mass @ kin.P)

    def bias(self, model: Model, kin: Kinematics) -> Array:
        tau = joint_forces(model.layout, kin.extra, *inertial_forces(kin.extra))
        A = kin.inertia.added
        if A is not None:
            needed = matvec(A, kin.bias_acceleration) + kirchhoff(A, kin.motion.v)
            tau = tau + self.project(model, kin, needed)
        if model.added_mass is None:
            return tau
        return tau + kin.P.T @ (model.added_mass @ kin.bias_acceleration.reshape(-1))

    def project(self, model: Model, kin: Kinematics, wrench: Float[Array, "b 6"]) -> Array:
        screws: Screws = kin.extra
        force = wrench[:, :3]
        moment = wrench[:, 3:] + cross(kin.motion.pose.p - screws.c, force)
        return joint_forces(model.layout, screws, force, moment)


def _signed(layout: Layout) -> np.ndarray:
    """(n, 1) minus one for joints described with their base on the leaf side."""
    joint = dof_joint(layout)[: layout.n_tree]
    return layout.moves[joint, np.arange(layout.n_tree)][:, None]


def path_motion(model: Model, s: Float[Array, " n"], pose: Pose, frames: Frames) -> Screws:
    """Axes of all joint velocities at c, and the motion of all bodies by path sums."""
    layout = model.layout
    n = layout.n_tree
    joint = dof_joint(layout)[:n]
    along = layout.path[:, joint]
    sign = _signed(layout)
    c = pose.p[0]
    o = frames.follower_o[joint]
    turn, shift = frames.turn[:n], frames.slide[:n]
    slide = sign * (shift + cross(turn, c - o))
    rate = s[:, None]
    motion = masked_sum(along, rate * jnp.concatenate([slide, sign * turn], -1))
    v, w = motion[:, :3], motion[:, 3:]

    # rates of the axes: directions turn with the body they are fixed in, o moves with the follower
    base = body_index(layout, layout.base)[joint]
    follower = body_index(layout, layout.follower)[joint]
    v_all, w_all = with_world(v, np.zeros(3)), with_world(w, np.zeros(3))
    w_base, w_follower = w_all[base], w_all[follower]
    on_follower = np.array([d.on_follower for d in layout.dofs[:n]], dtype=bool)[:, None]
    carried = jnp.where(on_follower, w_follower, w_base) if on_follower.any() else w_base
    turn_rate = cross(carried, turn)
    o_rate = v_all[follower] + cross(w_follower, o - c)
    slide_rate = cross(turn_rate, c - o) - cross(turn, o_rate) + cross(w_base, shift)
    rates = sign * rate * jnp.concatenate([slide_rate, turn_rate], -1)
    bias = masked_sum(along, rates)
    inertia = inertia_at(model, pose, c)
    return Screws(c, slide, sign * turn, v, w, bias[:, :3], bias[:, 3:], *inertia)


def inertia_at(model: Model, pose: Pose, c: Float[Array, " 3"]) -> tuple[Array, Array, Array]:
    """Mass (N, 1), mass moment (N, 3) and inertia (N, 6) of every body about c."""
    bodies = model.bodies
    d = pose.p + matvec(pose.R, bodies.com) - c
    turned = matmul(matmul(pose.R, bodies.inertia), transpose(pose.R))
    m = jnp.asarray(bodies.mass)[:, None]
    row, column = np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 1, 2, 2])
    square = (row == column) * dot(d, d)[:, None]
    return m, m * d, turned[:, row, column] + m * (square - d[:, row] * d[:, column])


def _turned(inertia: Float[Array, "k 6"], w: Float[Array, "k 3"]) -> Float[Array, "k 3"]:
    full = inertia[:, np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])]
    return matvec(full, w)


def path_mass(model: Model, screws: Screws) -> Float[Array, "n n"]:
    """P^T M P of the rigid bodies by branch sums."""
    layout = model.layout
    joint = dof_joint(layout)[: layout.n_tree]
    inertias = jnp.concatenate([screws.mass, screws.mass_moment, screws.inertia], -1)
    branch = masked_sum(layout.path.T, inertias)[joint]
    mass, D, inertia = branch[:, :1], branch[:, 1:4], branch[:, 4:]
    # momentum of the branch beyond joint j when it moves with unit velocity j
    linear = mass * screws.slide + cross(screws.turn, D)
    angular = _turned(inertia, screws.turn) + cross(D, screws.slide)
    momentum = jnp.concatenate([linear, angular], -1)
    axes = jnp.concatenate([screws.slide, screws.turn], -1)
    H = dot(axes[None], momentum[:, None])
    on_path = layout.path[np.ix_(joint, joint)] > 0
    return jnp.where(on_path, H, jnp.where(on_path.T, H.T, 0.0))


def inertial_forces(screws: Screws) -> tuple[Array, Array]:
    """Force and moment about c that each body needs at zero joint accelerations."""

    def momentum(v: Array, w: Array) -> tuple[Array, Array]:
        linear = screws.mass * v + cross(w, screws.mass_moment)
        return linear, _turned(screws.inertia, w) + cross(screws.mass_moment, v)

    p, L = momentum(screws.v, screws.w)
    force, torque = momentum(screws.slide_bias, screws.turn_bias)
    force = force + cross(screws.w, p)
    return force, torque + cross(screws.w, L) + cross(screws.v, p)


def joint_forces(
    layout: Layout, screws: Screws, force: Float[Array, "b 3"], moment: Float[Array, "b 3"]
) -> Float[Array, " n"]:
    """Generalised forces of body forces and moments about c, summed over branches."""
    joint = dof_joint(layout)[: layout.n_tree]
    branch = masked_sum(layout.path.T, jnp.concatenate([force, moment], -1))[joint]
    return dot(jnp.concatenate([screws.slide, screws.turn], -1), branch)
