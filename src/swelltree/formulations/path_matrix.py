r"""Joint coordinates with the path matrix (MBS4WEC).

Column k of P is joint velocity k seen by every body further out on its path:

.. math::
    P_{ik} = \Pi_{ik} \begin{pmatrix} t_k + r_k \times (p_i - o_k) \\ r_k \end{pmatrix}

with Pi the path matrix (eq. 9) spread over the joint velocities, r and t the
axis of rotation and translation and o the joint point. P here is the
transpose of the paper's. Blocks and their rates are written out in `model.tree`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swelltree.formulations.base import State
from swelltree.formulations.joint_coordinates import JointCoordinates
from swelltree.model.kinematics import Frames, Pose
from swelltree.model.model import Model
from swelltree.model.tree import tree_block_rates, tree_blocks, velocity_matrix
from swelltree.spatial.arrays import Array
from swelltree.spatial.engine import jnp


@dataclass(frozen=True)
class PathMatrix(JointCoordinates):
    """MBS4WEC: P from path matrix and joint blocks, with its rate."""

    name: ClassVar[str] = "path_matrix"

    def velocity_map(
        self, model: Model, state: State, pose: Pose, frames: Frames
    ) -> tuple[Array, Array, Array]:
        lin, rot = tree_blocks(model, pose, frames)
        v = jnp.concatenate([(lin * state.s[:, None]).sum(1), (rot * state.s[:, None]).sum(1)], -1)
        lin_rate, rot_rate = tree_block_rates(model, pose, frames, v)
        bias = jnp.concatenate(
            [(lin_rate * state.s[:, None]).sum(1), (rot_rate * state.s[:, None]).sum(1)], -1
        )
        return velocity_matrix(lin, rot), v, bias
