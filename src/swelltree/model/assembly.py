"""Initial assembly: coordinates and velocities made consistent with loops and drives.

Plain numpy. Coordinates that the user gave are kept if the rest can close the
loops; what had to move is reported. A loop that cannot close is an error.
"""

from __future__ import annotations

import numpy as np

from swelltree.model.constraints import Drives, Rows, evaluate_rows
from swelltree.model.inertia import dense_inertia, world_inertia
from swelltree.model.kinematics import dof_coordinates, forward, joint_frames
from swelltree.model.layout import Row
from swelltree.model.model import Model
from swelltree.model.tree import moved_positions, tree_blocks, turn_dofs, velocity_matrix
from swelltree.spatial.rotations import (
    euler_to_matrix,
    euler_velocity,
    matrix_to_euler,
    matrix_to_quat,
    quat_to_matrix,
)
from swelltree.system.errors import SwelltreeError

CLOSED = 1e-12  # residual of an assembled loop, m or rad
RANK = 1e-8  # relative size below which a row adds nothing


def described_start(model: Model, joints: list, pose: list) -> tuple[np.ndarray, np.ndarray]:
    """Tree coordinates as described, the user's values put in; and the angles of all joints."""
    layout = model.layout
    q = np.zeros(layout.n_positions)
    angles = np.zeros(len(layout.angle_dofs))
    for j, joint in enumerate(joints):
        given = joint.initial_position()
        frames = _described_frames(model, joint, j, pose)
        gap, R_rel = frames
        turn = _described_angles(layout, j, R_rel) | given
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
                # angles that are not given stay as described
                labels = ("Roll", "Pitch", "Yaw")
                euler = zip(labels, matrix_to_euler(R_rel), strict=True)
                asked = np.array([given.get(label, angle) for label, angle in euler])
                R = euler_to_matrix(asked) if given.keys() & set(labels) else R_rel
                q[first : first + 4] = matrix_to_quat(R)
    return q, angles


def _described_frames(model: Model, joint, j: int, pose: list) -> tuple[np.ndarray, np.ndarray]:
    """Joint gap in base axes and relative rotation when the bodies are as described."""
    (p_b, R_b), (p_f, R_f) = pose[j]
    arrays = model.joints
    R_base = R_b @ arrays.base_rotation[j]
    gap = p_f + R_f @ arrays.follower_point[j] - p_b - R_b @ arrays.base_point[j]
    return R_base.T @ gap, R_base.T @ R_f @ arrays.follower_rotation[j]


def _described_angles(layout, j: int, R: np.ndarray) -> dict[str, float]:
    """Angles of the joint's single-axis rotations in a relative rotation."""
    turns = [d for d in layout.dofs if d.joint == j and d.turns and not d.free_turn]
    if not turns:
        return {}
    i = turns[0].axis
    k = turns[1].axis if len(turns) == 2 else (i + 1) % 3
    ei, ej = np.eye(3)[i], np.eye(3)[k]
    ek = np.cross(ei, ej)
    found = {turns[0].label: float(np.arctan2(ek @ R @ ej, ej @ R @ ej))}
    if len(turns) == 2:
        found[turns[1].label] = float(np.arctan2(ek @ R.T @ ei, ei @ R.T @ ei))
    return found


def joined(model: Model, joints: list, pose: list) -> list[str]:
    """Sentences about tree joints whose points are described apart: the joint moves its body."""
    layout = model.layout
    out = []
    for j, joint in enumerate(joints[: layout.n_bodies]):
        gap, _ = _described_frames(model, joint, j, pose)
        shape = joint.layout()
        free = (*shape.translations, *(shape.rotations if shape.screw else ()))
        apart = float(np.linalg.norm(np.delete(gap, free)))
        if apart > 1e-6:
            out.append(
                f"joint '{joint.name}': its points are described {apart:.6g} m apart; "
                f"body '{layout.bodies[j]}' was moved to bring them together."
            )
    return out


class Closure:
    """The loop and drive equations of a model at its start."""

    def __init__(self, model: Model, drives: Drives, angles: np.ndarray) -> None:
        self.model, self.drives, self.angles = model, drives, angles
        self.rows: tuple[Row, ...] = model.layout.cut_rows

    def at(self, q: np.ndarray, s: np.ndarray | None = None) -> tuple[Rows, np.ndarray]:
        """Rows and their Jacobian in the tree velocities."""
        pose = forward(self.model, q)
        frames = joint_frames(self.model, pose)
        lin, rot = tree_blocks(self.model, pose, frames)
        P = velocity_matrix(lin, rot)
        v = np.zeros((self.model.layout.n_bodies, 6)) if s is None else (P @ s).reshape(-1, 6)
        rows = evaluate_rows(self.model, self.rows, pose, frames, v, self.angles, self.drives)
        return rows, rows.jacobian @ P

    def close(self, q: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, float]:
        """Newton on the free tree velocities' directions; returns q and the residual left."""
        for _ in range(60):
            rows, J = self.at(q)
            worst = float(np.abs(rows.residual).max(initial=0.0))
            if worst < CLOSED or not free.any():
                break
            step = np.zeros(J.shape[1])
            step[free] = np.linalg.lstsq(J[:, free], -rows.residual, rcond=1e-10)[0]
            # large first steps are cut so that Newton stays in the described branch
            q = moved_positions(self.model.layout, q, step / max(1.0, np.abs(step).max() / 0.3))
        rows, _ = self.at(q)
        return q, float(np.abs(rows.residual).max(initial=0.0))


def assemble(
    model: Model, joints: list, q: np.ndarray, angles: np.ndarray, drives: Drives
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Consistent q, s and angles, and sentences about what was moved."""
    layout = model.layout
    given_q, given_s, s = _given(model, joints)
    closure = Closure(model, drives, angles)
    report: list[str] = []
    start = q.copy()
    if layout.cut_rows:
        drive = [r for r in layout.cut_rows if r.kind in ("slide", "turn")]
        for row in drive:
            if row.i < layout.n_tree:
                q[layout.dof_position[row.i]] = drives.value[row.j]
                given_q[row.i] = True
                k = layout.angle_dofs.index(row.i) if row.i in layout.angle_dofs else None
                if k is not None:
                    angles[k] = drives.value[row.j]
        start = q.copy()
        q, left = closure.close(q, ~given_q)
        if left > 1e-9:
            q, left = closure.close(start.copy(), np.ones_like(given_q))
        if left > 1e-9:
            raise SwelltreeError(_cannot_close(model, closure, q, left))
        report += _moved(model, start, q)
    s = spinning(model, q, s)
    if layout.cut_rows:
        s, kicked = _consistent_velocity(model, closure, q, s, given_s)
        report += kicked
    frames = joint_frames(model, forward(model, q))
    found = dof_coordinates(model, frames, angles)
    tree = [k for k in layout.angle_dofs if k < layout.n_tree]
    angles = np.array(
        [q[layout.dof_position[k]] if k in tree else found[k] for k in layout.angle_dofs]
    )
    return q, s, angles, report


def _given(model: Model, joints: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which tree coordinates and velocities the user gave, and the velocities."""
    layout = model.layout
    q = np.zeros(layout.n_tree, dtype=bool)
    v = np.zeros(layout.n_tree, dtype=bool)
    s = np.zeros(layout.n_tree)
    for k, dof in enumerate(layout.dofs[: layout.n_tree]):
        joint = joints[dof.joint]
        q[k] = dof.label in joint.initial_position()
        if dof.label in joint.initial_velocity():
            v[k], s[k] = True, joint.initial_velocity()[dof.label]
    return q, v, s


def spinning(model: Model, q: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Velocities with the rates of Roll, Pitch, Yaw of free rotations as angular velocities."""
    layout = model.layout
    s = s.copy()
    for (_, first), own in zip(layout.quaternions, turn_dofs(layout), strict=True):
        if (own < layout.n_tree).all():
            euler = matrix_to_euler(quat_to_matrix(q[first : first + 4]))
            s[own] = euler_velocity(euler, s[own])
    return s


def _cannot_close(model: Model, closure: Closure, q: np.ndarray, left: float) -> str:
    rows, _ = closure.at(q)
    worst = closure.rows[int(np.abs(rows.residual).argmax())]
    unit = "rad" if worst.kind in ("align", "turn") else "m"
    return (
        f"joint '{model.layout.joints[worst.joint]}': its loop cannot close: {left:.3g} {unit} "
        "remain open wherever the other joints move. "
        "Check points, axes and lengths of the joints in the loop."
    )


def _moved(model: Model, before: np.ndarray, after: np.ndarray) -> list[str]:
    """Sentences about coordinates that assembly changed."""
    layout = model.layout
    out = []
    for k, dof in enumerate(layout.dofs[: layout.n_tree]):
        i = layout.dof_position[k]
        if i >= 0 and abs(after[i] - before[i]) > 1e-6:
            unit = "rad" if dof.turns else "m"
            out.append(
                f"joint '{layout.joints[dof.joint]}': {dof.label} was moved from {before[i]:.6g} "
                f"to {after[i]:.6g} {unit} to close the loops."
            )
    return out


def _consistent_velocity(
    model: Model, closure: Closure, q: np.ndarray, s: np.ndarray, given: np.ndarray
) -> tuple[np.ndarray, list[str]]:
    """Velocities that satisfy the rows, the user's kept if possible."""
    layout = model.layout
    rows, J = closure.at(q)
    start = s.copy()
    for free in (~given, np.ones_like(given)):
        s = start.copy()
        if free.any():
            s[free] += np.linalg.lstsq(J[:, free], rows.drift - J @ s, rcond=1e-10)[0]
        if np.abs(J @ s - rows.drift).max(initial=0.0) < 1e-9 * max(1.0, np.abs(s).max()):
            break
    else:
        raise SwelltreeError(
            "the initial velocities contradict the loops and prescribed motions. "
            "Give fewer of them, or values that fit."
        )
    report = [
        f"joint '{layout.joints[layout.dofs[k].joint]}': initial velocity of "
        f"{layout.dofs[k].label} was changed from {start[k]:.6g} to {s[k]:.6g} to fit the loops."
        for k in range(layout.n_tree)
        if given[k] and abs(s[k] - start[k]) > 1e-9
    ]
    return s, report


def independent_rows(
    model: Model, q: np.ndarray, angles: np.ndarray, drives: Drives, loops: dict
) -> tuple[tuple[Row, ...], list[str]]:
    """Cut rows that are independent, and sentences naming the joints with redundant ones.

    The rank is taken at the start and at nearby closed positions, the largest
    counting, so that a start in a special position drops nothing needed later.
    """
    rows = model.layout.cut_rows
    closure = Closure(model, drives, angles)
    places = [q]
    _, J = closure.at(q)
    rng = np.random.default_rng(0)
    _, size, Vt = np.linalg.svd(J) if J.size else (None, np.zeros(0), np.eye(J.shape[1]))
    rank = int((size > RANK * size.max(initial=0.0)).sum())
    for _ in range(3):
        if rank == min(J.shape):
            break
        wander = Vt[rank:].T @ rng.normal(size=J.shape[1] - rank)
        if wander.size and np.abs(wander).max() > 0:
            nearby = moved_positions(model.layout, q, 0.05 * wander / np.abs(wander).max())
            nearby, left = closure.close(nearby, np.ones(model.layout.n_tree, dtype=bool))
            if left < 1e-9:
                places.append(nearby)
    kept: list[int] = []
    for place in places:
        found = _pivoted(closure.at(place)[1])
        if len(found) > len(kept):
            kept = found
    dropped = [rows[i] for i in range(len(rows)) if i not in kept]
    return tuple(rows[i] for i in sorted(kept)), _name_redundant(model, dropped, loops)


def _pivoted(J: np.ndarray) -> list[int]:
    """Independent rows by Gram-Schmidt with pivoting."""
    work = J.copy()
    scale = np.linalg.norm(J, axis=1).max(initial=0.0)
    kept: list[int] = []
    for _ in range(min(J.shape)):
        size = np.linalg.norm(work, axis=1)
        best = int(size.argmax())
        if size[best] <= RANK * scale:
            break
        direction = work[best] / size[best]
        # twice is enough
        for _ in range(2):
            work = work - np.outer(work @ direction, direction)
        work[best] = 0.0
        kept.append(best)
    return kept


def _name_redundant(model: Model, dropped: list[Row], loops: dict) -> list[str]:
    out = []
    layout = model.layout
    for j in sorted({row.joint for row in dropped}):
        count = sum(row.joint == j for row in dropped)
        total = sum(row.joint == j for row in layout.cut_rows)
        name = layout.joints[j]
        others = ", ".join(f"'{n}'" for n in loops.get(name, ())) or "the other joints"
        if count == total:
            out.append(
                f"{_kind(model, j)} '{name}' adds nothing that {others} do not: "
                "its reaction is not unique (least-norm reactions are reported)."
            )
        else:
            out.append(
                f"{_kind(model, j)} '{name}' repeats {count} of its {total} constraints, already "
                f"held by {others}: its reaction is not unique (least-norm reactions are reported)."
            )
    return out


def _kind(model: Model, j: int) -> str:
    kinds = {row.kind for row in model.layout.rows if row.joint == j}
    return "motion of joint" if kinds <= {"slide", "turn"} else "joint"


def check_mass(model: Model, q: np.ndarray, rows: tuple[Row, ...], closure: Closure) -> None:
    """Every free motion must move some mass."""
    layout = model.layout
    pose = forward(model, q)
    lin, rot = tree_blocks(model, pose, joint_frames(model, pose))
    P = velocity_matrix(lin, rot)
    M = P.T @ dense_inertia(model, world_inertia(model, pose)) @ P
    if layout.cut_rows:
        _, J = closure.at(q)
        _, size, Vt = np.linalg.svd(J)
        free = Vt[int((size > RANK * size.max(initial=0.0)).sum()) :].T
    else:
        free = np.eye(layout.n_tree)
    if model.locked is not None:
        free = _unlocked(free, np.asarray(model.locked))
    if free.shape[1] == 0:
        return
    scale = np.sqrt(np.maximum(np.diag(M), 1e-300 + 1e-14 * np.abs(M).max()))
    reduced = free.T @ (M / np.outer(scale, scale)) @ free
    value, vector = np.linalg.eigh(reduced)
    if value[0] < 1e-13 * max(value[-1], 1e-300) or not value[-1] > 0:
        k = int(np.abs(free @ vector[:, 0]).argmax())
        dof = layout.dofs[k]
        raise SwelltreeError(
            f"joint '{layout.joints[dof.joint]}': {dof.label} moves no mass, so its acceleration "
            f"is undetermined. Give body '{layout.bodies[dof.joint]}' mass or inertia, "
            "or hold that motion."
        )


def _unlocked(free: np.ndarray, locked: np.ndarray) -> np.ndarray:
    """Free motions in which locked freedoms rest."""
    _, size, Vt = np.linalg.svd(free[locked > 0.5])
    return free @ Vt[int((size > RANK).sum()) :].T
