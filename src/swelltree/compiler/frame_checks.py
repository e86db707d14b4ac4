"""Frames of cut joints that satisfy their equations in a way nobody meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.model.kinematics import forward, joint_frames
from swelltree.model.model import Model
from swelltree.model.rows import Distance, Screw
from swelltree.system.errors import SwelltreeError

if TYPE_CHECKING:
    from swelltree.system.joints.joint import Joint


def refuse_turned_over(model: Model, joints: list[Joint], q: np.ndarray) -> None:
    """Equations of perpendicular axes hold for a follower that is turned over, too."""
    frames = joint_frames(model, forward(model, q))
    for j in range(model.layout.n_bodies, model.layout.n_joints):
        shape = joints[j].layout()
        if shape.rows_only or shape.quaternion or len(shape.rotations) > 1:
            continue
        R = frames.base_R[j].T @ frames.follower_R[j]
        if shape.rotations:
            (axis,) = shape.rotations
            cosine, what = R[axis, axis], "axis"
        else:
            cosine, what = 0.5 * (np.trace(R) - 1.0), "frame"
        # the equations leave no angle between: it is nothing, or 120 degrees and more
        if cosine < 0.0:
            angle = np.rad2deg(np.arccos(np.clip(cosine, -1.0, 1.0)))
            raise joints[j].fail(
                f"its follower is turned over by {angle:.0f} degrees against its base, and moving "
                f"cannot bring it back. Turn the follower's {what}, or leave its rotation out."
            )


def refuse_pointless_rods(model: Model, joints: list[Joint], q: np.ndarray) -> None:
    """A rod between two points at one place has no direction."""
    frames = joint_frames(model, forward(model, q))
    for row in model.layout.rows:
        if not isinstance(row, Distance):
            continue
        j, length = row.joint, float(np.asarray(model.joints.length)[row.joint])
        gap = float(np.linalg.norm(frames.follower_o[j] - frames.base_o[j]))
        if gap <= 1e-6 * length or length == 0.0:
            words = f"a length of {length:g} m" if length > 0.0 else "the rod"
            raise SwelltreeError(
                f"joint '{joints[j].name}': its points are described at one place, so {words} has "
                "no direction. Describe the bodies apart, or use a ball joint."
            )


def whole_turns(model: Model, q: np.ndarray, angles: np.ndarray) -> list[str]:
    """Messages about cut threads whose nuts are whole turns from where their angles say."""
    layout = model.layout
    frames = joint_frames(model, forward(model, q))
    out = []
    for row in layout.rows:
        j = row.joint
        if not isinstance(row, Screw) or j < layout.n_bodies:
            continue
        k = next(k for k, dof in enumerate(layout.dofs) if dof.joint == j)
        angle = float(angles[layout.angle_dofs.index(k)])
        gap = frames.follower_o[j] - frames.base_o[j]
        advance = float(frames.base_R[j][:, row.i] @ gap)
        turns = (advance / float(model.joints.lead[j]) - angle) / (2.0 * np.pi)
        if abs(turns) > 0.5:
            out.append(
                f"joint '{layout.joints[j]}': its points are {advance:.6g} m apart along its axis, "
                f"{turns:.0f} whole turns from where its angle of {angle:.6g} rad would bring "
                "them. The thread is entered there, and its angle counts from there."
            )
    return out
