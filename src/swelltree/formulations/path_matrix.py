r"""Joint coordinates with the path matrix (MBS4WEC).

Column k of P is joint velocity k seen by every body further out on its path:

.. math::
    P_{ik} = \Pi_{ik} \begin{pmatrix} t_k + r_k \times (p_i - o_k) \\ r_k \end{pmatrix}

with Pi the path matrix (eq. 9) spread over the joint velocities, r and t the
axis of rotation and translation and o the joint point. P here is the
transpose of the paper's. Its rate is written out below, block by block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.formulations.base import State
from swelltree.formulations.joint_coordinates import JointCoordinates
from swelltree.model.kinematics import Frames, Pose, body_index, dof_joint, with_world
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array
from swelltree.spatial.engine import jnp
from swelltree.spatial.vectors import cross


@dataclass(frozen=True)
class PathMatrix(JointCoordinates):
    """MBS4WEC: P from path matrix and joint blocks, with its rate."""

    name: ClassVar[str] = "path_matrix"

    def velocity_map(
        self, model: Model, state: State, pose: Pose, frames: Frames
    ) -> tuple[Array, Array, Array]:
        layout = model.layout
        n, N = layout.n_tree, layout.n_bodies
        lin, rot = blocks(model, pose, frames)
        v = jnp.concatenate([(lin * state.s[:, None]).sum(1), (rot * state.s[:, None]).sum(1)], -1)
        lin_rate, rot_rate = block_rates(model, pose, frames, v)
        bias = jnp.concatenate(
            [(lin_rate * state.s[:, None]).sum(1), (rot_rate * state.s[:, None]).sum(1)], -1
        )
        P = jnp.swapaxes(jnp.concatenate([lin, rot], -1), 1, 2).reshape(6 * N, n)
        return P, v, bias


def blocks(model: Model, pose: Pose, frames: Frames) -> tuple[Array, Array]:
    """Linear and angular velocity of every body per unit tree velocity, (N, n, 3) each."""
    n = model.layout.n_tree
    joint = dof_joint(model.layout)[:n]
    moves = model.layout.moves[:, :, None]
    arm = pose.p[:, None, :] - frames.follower_o[joint][None]
    turn, slide = frames.turn[:n], frames.slide[:n]
    return moves * (slide + cross(turn[None], arm)), moves * turn


def block_rates(
    model: Model, pose: Pose, frames: Frames, v: Float[Array, "b 6"]
) -> tuple[Array, Array]:
    """Time derivative of the blocks when the bodies move with v."""
    layout = model.layout
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
    carried = jnp.where(on_follower, w_follower, w_base) if on_follower.any() else w_base
    turn_rate, slide_rate = cross(carried, turn), cross(w_base, slide)
    o_rate = vw[follower, :3] + cross(w_follower, o - p[follower])
    arm = pose.p[:, None, :] - o[None]
    arm_rate = v[:, None, :3] - o_rate[None]
    lin = slide_rate + cross(turn_rate[None], arm) + cross(turn[None], arm_rate)
    moves = layout.moves[:, :, None]
    return moves * lin, moves * turn_rate
