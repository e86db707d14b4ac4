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

from swelltree.formulations.base import Kinematics, State
from swelltree.formulations.joint_coordinates import JointCoordinates
from swelltree.model.kinematics import Frames, Pose, body_index, dof_joint, with_world
from swelltree.model.layout import Layout
from swelltree.model.model import Model
from swelltree.model.tree import tree_blocks, velocity_matrix
from swelltree.spatial.arrays import Array, pytree
from swelltree.spatial.engine import jnp
from swelltree.spatial.linalg import masked_sum
from swelltree.spatial.vectors import cross, dot, matmul, matvec, transpose


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
        H = path_mass(model, kin.motion.pose, kin.extra)
        if model.added_mass is None:
            return H
        return H + kin.P.T @ (model.added_mass @ kin.P)

    def bias(self, model: Model, kin: Kinematics) -> Array:
        tau = path_bias(model, kin.motion.pose, kin.extra)
        if model.added_mass is None:
            return tau
        return tau + kin.P.T @ (model.added_mass @ kin.bias_acceleration.reshape(-1))

    def project(self, model: Model, kin: Kinematics, wrench: Float[Array, "b 6"]) -> Array:
        screws: Screws = kin.extra
        force = wrench[:, :3]
        moment = wrench[:, 3:] + cross(kin.motion.pose.p - screws.c, force)
        return joint_forces(model.layout, screws, force, moment)


def _signed(layout: Layout) -> np.ndarray:
    """(n, 1) minus for joints described with their base on the leaf side."""
    joint = dof_joint(layout)[: layout.n_tree]
    return layout.moves[joint, np.arange(layout.n_tree)][:, None]


def path_motion(model: Model, s: Float[Array, " n"], pose: Pose, frames: Frames) -> Screws:
    """Axes of all joint velocities at c, and the motion of all bodies by sums along paths."""
    layout = model.layout
    n = layout.n_tree
    joint = dof_joint(layout)[:n]
    along = layout.path[:, joint]
    sign = _signed(layout)
    c = pose.p[0]
    o = frames.follower_o[joint]
    turn, shift = frames.turn[:n], frames.slide[:n]
    slide = sign * (shift + cross(turn, c - o))
    v = masked_sum(along, slide * s[:, None])
    w = masked_sum(along, sign * turn * s[:, None])

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
    rate = sign * s[:, None]
    slide_bias = masked_sum(along, rate * slide_rate)
    turn_bias = masked_sum(along, rate * turn_rate)
    return Screws(c, slide, sign * turn, v, w, slide_bias, turn_bias)


def inertia_at(model: Model, pose: Pose, c: Float[Array, " 3"]) -> tuple[Array, Array, Array]:
    """Mass (N,), mass moment (N, 3) and inertia (N, 3, 3) of every body about c."""
    bodies = model.bodies
    d = pose.p + matvec(pose.R, bodies.com) - c
    turned = matmul(matmul(pose.R, bodies.inertia), transpose(pose.R))
    m = bodies.mass
    shift = dot(d, d)[:, None, None] * np.eye(3) - d[:, :, None] * d[:, None, :]
    return m, m[:, None] * d, turned + m[:, None, None] * shift


def path_mass(model: Model, pose: Pose, screws: Screws) -> Float[Array, "n n"]:
    """P^T M P of the rigid bodies by branch sums."""
    layout = model.layout
    joint = dof_joint(layout)[: layout.n_tree]
    m, moment, inertia = inertia_at(model, pose, screws.c)
    beyond = layout.path.T[joint]
    mass = masked_sum(beyond, m[:, None])
    D = masked_sum(beyond, moment)
    J = masked_sum(beyond, inertia.reshape(-1, 9)).reshape(-1, 3, 3)
    # momentum of the branch beyond joint j when it moves with unit velocity j
    linear = mass * screws.slide + cross(screws.turn, D)
    angular = matvec(J, screws.turn) + cross(D, screws.slide)
    H = dot(screws.slide[None], linear[:, None]) + dot(screws.turn[None], angular[:, None])
    on_path = layout.path[np.ix_(joint, joint)]
    strict = on_path * (joint[:, None] != joint[None, :])
    same = on_path * (joint[:, None] == joint[None, :])
    lower = strict * H
    return lower + lower.T + same * H


def path_bias(model: Model, pose: Pose, screws: Screws) -> Float[Array, " n"]:
    """P^T (M Pdot s + gyroscopic forces) of the rigid bodies by branch sums."""
    m, moment, inertia = inertia_at(model, pose, screws.c)
    m = m[:, None]

    def momentum(v: Array, w: Array) -> tuple[Array, Array]:
        return m * v + cross(w, moment), matvec(inertia, w) + cross(moment, v)

    p, L = momentum(screws.v, screws.w)
    force, torque = momentum(screws.slide_bias, screws.turn_bias)
    force = force + cross(screws.w, p)
    torque = torque + cross(screws.w, L) + cross(screws.v, p)
    return joint_forces(model.layout, screws, force, torque)


def joint_forces(
    layout: Layout, screws: Screws, force: Float[Array, "b 3"], moment: Float[Array, "b 3"]
) -> Float[Array, " n"]:
    """Generalised forces of body forces and moments about c, summed over branches."""
    joint = dof_joint(layout)[: layout.n_tree]
    beyond = layout.path.T[joint]
    return dot(screws.slide, masked_sum(beyond, force)) + dot(
        screws.turn, masked_sum(beyond, moment)
    )
