"""The motion of all bodies at the assembled start, in numpy."""

from __future__ import annotations

import numpy as np

from swelltree.model.model import Model
from swelltree.multibody.kinematics import Motion, dof_coordinates, dof_rates, forward, joint_frames
from swelltree.multibody.tree import tree_blocks, velocity_matrix


def start_motion(model: Model) -> Motion:
    """Motion at the start."""
    pose = forward(model, np.asarray(model.start.q))
    frames = joint_frames(model, pose)
    v = velocity_matrix(*tree_blocks(model, pose, frames)) @ np.asarray(model.start.s)
    v = v.reshape(-1, 6)
    coordinate = dof_coordinates(model, frames, np.asarray(model.start.angles))
    return Motion(pose, v, frames, coordinate, dof_rates(model, pose, frames, v))
