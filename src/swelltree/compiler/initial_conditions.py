"""Joints as their bodies are described: coordinates to start from, before loops are closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.describe.errors import warn_user
from swelltree.model.model import Model
from swelltree.multibody.layout import Layout, Row
from swelltree.multibody.rows import Spin, driven_row
from swelltree.spatial.rotations import euler_to_matrix, matrix_to_euler, matrix_to_quat

if TYPE_CHECKING:
    from swelltree.describe.joints.joint import Joint

FAR = 0.01  # m: bodies that are described so far from their joints are a mistake


def initial_conditions(model: Model, joints: list, pose: list) -> tuple[np.ndarray, np.ndarray]:
    """Tree coordinates as described, with the user's values; and the angles of all joints."""
    layout = model.layout
    q = np.zeros(layout.n_positions)
    angles = np.zeros(len(layout.angle_dofs))
    for j, joint in enumerate(joints):
        specified = joint.initial_position()
        frames = _described_frames(model, joint, j, pose)
        gap, R_rel = frames
        turn = _described_angles(layout, j, R_rel) | specified
        for k, dof in enumerate(layout.dofs):
            if dof.joint != j:
                continue
            value = turn.get(dof.label, gap[dof.axis] if not dof.turns else 0.0)
            if k in layout.angle_dofs:
                angles[layout.angle_dofs.index(k)] = value
            if k < layout.n_tree and not dof.free_turn:
                q[layout.dof_position[k]] = value
        for tree_joint, first in layout.quaternions:
            if tree_joint == j:
                q[first : first + 4] = matrix_to_quat(_requested_attitude(joint, R_rel))
    return q, angles


def _requested_attitude(joint: Joint, R_rel: np.ndarray) -> np.ndarray:
    """Attitude of a ball or free joint; angles that are not given stay as described."""
    specified, labels = joint.initial_position(), ("Roll", "Pitch", "Yaw")
    if not specified.keys() & set(labels):
        return R_rel
    euler = zip(labels, matrix_to_euler(R_rel), strict=True)
    return euler_to_matrix(np.array([specified.get(label, angle) for label, angle in euler]))


def requested_attitudes(model: Model, joints: list, pose: list) -> dict[int, np.ndarray]:
    """Requested attitudes of all cut joints with free rotation."""
    layout = model.layout
    return {
        j: _requested_attitude(joints[j], _described_frames(model, joints[j], j, pose)[1])
        for j in {d.joint for d in layout.dofs[layout.n_tree :] if d.free_turn}
    }


def _described_frames(model: Model, joint, j: int, pose: list) -> tuple[np.ndarray, np.ndarray]:
    """Joint gap in base axes and relative rotation in the described pose."""
    (p_b, R_b), (p_f, R_f) = pose[j]
    arrays = model.joints
    R_base = R_b @ arrays.base_rotation[j]
    gap = p_f + R_f @ arrays.follower_point[j] - p_b - R_b @ arrays.base_point[j]
    return R_base.T @ gap, R_base.T @ R_f @ arrays.follower_rotation[j]


def _described_angles(layout, j: int, R: np.ndarray) -> dict[str, float]:
    """Angles of the joint's single-axis rotations for a relative rotation."""
    turns = [d for d in layout.dofs if d.joint == j and d.turns and not d.free_turn]
    if not turns:
        return {}
    i = turns[0].axis
    k = turns[1].axis if len(turns) == 2 else (i + 1) % 3
    ei, ej = np.eye(3)[i], np.eye(3)[k]
    ek = np.cross(ei, ej)
    result = {turns[0].label: float(np.arctan2(ek @ R @ ej, ej @ R @ ej))}
    if len(turns) == 2:
        result[turns[1].label] = float(np.arctan2(ek @ R.T @ ei, ei @ R.T @ ei))
    return result


def joined(model: Model, joints: list, pose: list, placed: frozenset[str]) -> list[str]:
    """Messages about tree joints whose points are described apart: the joint moves its body.

    Args:
        model: compiled so far.
        joints: in their order.
        pose: of base and follower of each, as described.
        placed: bodies that were given a position, which is then not kept: a warning.
    """
    layout = model.layout
    out = []
    for j, joint in enumerate(joints[: layout.n_bodies]):
        gap, R_rel = _described_frames(model, joint, j, pose)
        shape = joint.layout()
        if shape.screw:
            (label,), (axis,) = shape.dofs, shape.rotations
            angle = (_described_angles(layout, j, R_rel) | joint.initial_position())[label]
            gap[axis] -= float(model.joints.lead[j]) * angle
        apart = float(np.linalg.norm(np.delete(gap, shape.translations)))
        if apart > 1e-6:
            out.append(
                f"joint '{joint.name}': its points are described {apart:.6g} m apart; "
                f"body '{layout.bodies[j]}' was moved to bring them together."
            )
        if apart > FAR and layout.bodies[j] in placed:
            warn_user(f"{out[-1]} Check the points of the joint and the position of the body.")
    return out


# --- Initial values that the user gave, wherever they stand: in the tree, or where a loop is cut


class InitialValue(NamedTuple):
    """Values of one kind, positions or velocities.

    Args:
        held: (n_tree,) which tree coordinates are given.
        rows: equations of the coordinates of cut joints; `Row.j` counts behind the drives.
        values: of these.
        names: of all that is given: tree coordinates first, then the rows.
    """

    is_specified: np.ndarray
    rows: tuple[Row, ...]
    values: np.ndarray
    names: tuple[str, ...]


def specified(model: Model, joints: list[Joint], field: str) -> InitialValue:
    """User's values of "position" or "velocity"."""
    layout = model.layout
    is_specified = np.zeros(layout.n_tree, dtype=bool)
    rows: list[Row] = []
    values: list[float] = []
    in_tree, cut = [], []
    for k, dof in enumerate(layout.dofs):
        values_of_joint = dict(getattr(joints[dof.joint], field))
        if dof.label not in values_of_joint:
            continue
        value = values_of_joint[dof.label]
        name = f"'{layout.joints[dof.joint]}' ({dof.label} {value:g})"
        if k < layout.n_tree:
            is_specified[k] = True
            in_tree.append(name)
            continue
        number = len(layout.drives) + len(rows)
        rows.append(_row(layout, k, number))
        values.append(value)
        cut.append(name)
    return InitialValue(is_specified, tuple(rows), np.array(values), (*in_tree, *cut))


def _row(layout: Layout, k: int, number: int) -> Row:
    """Equation that prescribes one coordinate; a ball joint is prescribed about its base."""
    dof = layout.dofs[k]
    if dof.free_turn:
        return Spin(dof.joint, dof.axis, number)
    return driven_row(dof.turns, dof.joint, k, number)


def at_odds(A: np.ndarray, b: np.ndarray, tolerance: float) -> list[int]:
    """Rows of A x = b that contradict each other."""
    x = np.linalg.lstsq(A, b, rcond=1e-8)[0] if 0 not in A.shape else np.zeros(A.shape[1])
    return [int(i) for i in np.flatnonzero(np.abs(A @ x - b) > tolerance)]
