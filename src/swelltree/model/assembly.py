"""Initial assembly: coordinates and velocities made consistent with loops and drives.

Plain numpy. Coordinates that the user gave are kept if the rest can close the
loops; what had to move is reported. A loop that cannot close is an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.model.constraints import Drives, Rows, evaluate_rows
from swelltree.model.given_values import Given, at_odds, given
from swelltree.model.inertia import dense_inertia, world_inertia
from swelltree.model.kinematics import dof_coordinates, forward, joint_frames
from swelltree.model.layout import Row
from swelltree.model.model import Model
from swelltree.model.rank import RANK, null_space, smallest_step, term_size
from swelltree.model.tree import moved_positions, tree_blocks, turn_dofs, velocity_matrix
from swelltree.spatial.rotations import (
    euler_to_matrix,
    euler_velocity,
    matrix_to_euler,
    matrix_to_quat,
    quat_to_matrix,
    rotation_vector,
)
from swelltree.system.errors import SwelltreeError

CLOSED = 1e-12  # residual of an assembled loop, m or rad
KEPT = 1e-6  # m, rad: a given value that moves by less was given with that many digits


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
                q[first : first + 4] = matrix_to_quat(_asked_attitude(joint, R_rel))
    return q, angles


def _asked_attitude(joint: Any, R_rel: np.ndarray) -> np.ndarray:
    """Attitude of a ball or free joint; angles that are not given stay as described."""
    told, labels = joint.initial_position(), ("Roll", "Pitch", "Yaw")
    if not told.keys() & set(labels):
        return R_rel
    euler = zip(labels, matrix_to_euler(R_rel), strict=True)
    return euler_to_matrix(np.array([told.get(label, angle) for label, angle in euler]))


def asked_attitudes(model: Model, joints: list, pose: list) -> dict[int, np.ndarray]:
    """The same of all cut joints that turn freely."""
    layout = model.layout
    return {
        j: _asked_attitude(joints[j], _described_frames(model, joints[j], j, pose)[1])
        for j in {d.joint for d in layout.dofs[layout.n_tree :] if d.free_turn}
    }


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
    return out


class Closure:
    """The loop and drive equations of a model at its start.

    Args:
        model: compiled.
        drives: prescribed motions now, followed by the values of `extra`.
        angles: nearby values of the single-axis angles.
        extra: further equations of the start: coordinates of cut joints that were given.
        attitudes: attitude asked of ball and free joints among these.
    """

    def __init__(
        self,
        model: Model,
        drives: Drives,
        angles: np.ndarray,
        extra: tuple[Row, ...] = (),
        attitudes: dict[int, np.ndarray] | None = None,
    ) -> None:
        self.model, self.drives, self.angles = model, drives, angles
        self.rows: tuple[Row, ...] = (*model.layout.cut_rows, *extra)
        self.attitudes = attitudes or {}

    def at(self, q: np.ndarray) -> tuple[Rows, np.ndarray, np.ndarray]:
        """Rows, their sizes, and their Jacobian in the tree velocities divided by these."""
        pose = forward(self.model, q)
        frames = joint_frames(self.model, pose)
        P = velocity_matrix(*tree_blocks(self.model, pose, frames))
        still = np.zeros((self.model.layout.n_bodies, 6))
        rows = evaluate_rows(self.model, self.rows, pose, frames, still, self.angles, self.drives)
        for i in range(len(self.model.layout.cut_rows), len(self.rows)):
            row = self.rows[i]
            if row.kind == "spin":
                rows.drift[i] = self.drives.rate[row.j]
                R = frames.base_R[row.joint].T @ frames.follower_R[row.joint]
                asked: np.ndarray = self.attitudes.get(row.joint, np.asarray(R))
                rows.residual[i] = rotation_vector(R @ asked.T)[row.i]
        size = term_size(rows.jacobian, P)
        return rows, size, rows.jacobian @ P / size[:, None]

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """The last of these, for questions of rank."""
        return self.at(q)[2]

    def close(self, q: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, float]:
        """Newton on the free tree velocities' directions; returns q and the residual left."""
        for _ in range(60):
            rows, size, J = self.at(q)
            worst = float(np.abs(rows.residual).max(initial=0.0))
            if worst < CLOSED or not free.any():
                break
            step = np.zeros(J.shape[1])
            step[free] = smallest_step(J[:, free], -rows.residual / size)
            # large first steps are cut so that Newton stays in the described branch
            q = moved_positions(self.model.layout, q, step / max(1.0, np.abs(step).max() / 0.3))
        rows, _, _ = self.at(q)
        return q, float(np.abs(rows.residual).max(initial=0.0))


def assemble(
    model: Model,
    joints: list,
    q: np.ndarray,
    angles: np.ndarray,
    drives: Drives,
    attitudes: dict[int, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Consistent q, s and angles, and sentences about what was moved."""
    layout = model.layout
    places, rates = given(model, joints, "position"), given(model, joints, "velocity")
    s = np.zeros(layout.n_tree)
    for k in np.flatnonzero(rates.held):
        s[k] = joints[layout.dofs[k].joint].initial_velocity()[layout.dofs[k].label]
    report: list[str] = []
    if layout.cut_rows:
        for row in (r for r in layout.cut_rows if r.kind in ("slide", "turn")):
            if row.i < layout.n_tree:
                q[layout.dof_position[row.i]] = drives.value[row.j]
                if row.i in layout.angle_dofs:
                    angles[layout.angle_dofs.index(row.i)] = drives.value[row.j]
        start = q.copy()
        q = _closed(model, places, attitudes, q, angles, drives)
        report += _moved(model, start, q)
    s = spinning(model, q, s)
    if layout.cut_rows:
        nothing = np.zeros(len(rates.rows))
        moving = _with(drives, nothing, _spins(model, q, rates))
        s = _consistent_velocity(model, Closure(model, moving, angles, rates.rows), q, s, rates)
    frames = joint_frames(model, forward(model, q))
    found = dof_coordinates(model, frames, angles)
    tree = [k for k in layout.angle_dofs if k < layout.n_tree]
    angles = np.array(
        [q[layout.dof_position[k]] if k in tree else found[k] for k in layout.angle_dofs]
    )
    return q, s, angles, report


def _with(drives: Drives, value: np.ndarray, rate: np.ndarray) -> Drives:
    """Drives followed by given values."""
    more = ((drives.value, value), (drives.rate, rate), (drives.acceleration, 0.0 * rate))
    return Drives(*(np.concatenate(pair) for pair in more))


def _closed(
    model: Model,
    places: Given,
    attitudes: dict[int, np.ndarray],
    start: np.ndarray,
    angles: np.ndarray,
    drives: Drives,
) -> np.ndarray:
    """Closed position that keeps all that was given."""
    layout = model.layout
    asked = _with(drives, places.values, 0.0 * places.values)
    closure = Closure(model, asked, angles, places.rows, attitudes)
    driven = [r.i for r in layout.cut_rows if r.kind in ("slide", "turn") and r.i < layout.n_tree]
    held = places.held.copy()
    held[driven] = True
    q, left = closure.close(start.copy(), ~held)
    if left < 1e-9:
        return q
    # without what was given: does the loop close at all, and how far from it?
    bare = Closure(model, drives, angles)
    q, left = bare.close(start.copy(), np.ones_like(held))
    if left > 1e-9:
        raise SwelltreeError(_cannot_close(model, bare, start, q, left))
    rows, size, J = closure.at(q)
    gap = -rows.residual / size
    where = np.flatnonzero(places.held & (layout.dof_position >= 0))
    apart = (start - q)[layout.dof_position[where]]
    first = len(layout.cut_rows)
    if max(np.abs(apart).max(initial=0.0), np.abs(gap[first:]).max(initial=0.0)) < KEPT:
        return q
    A = np.concatenate([J, np.eye(layout.n_tree)[where]])
    number = {i: n for n, i in enumerate(np.flatnonzero(places.held))}
    names = [places.names[number[k]] for k in where]
    names = [*places.names[len(number) :], *names]
    found = at_odds(A, np.concatenate([gap, apart]), 0.1 * KEPT)
    wrong = [names[i - first] for i in found if i >= first]
    raise SwelltreeError(
        f"the initial positions of joints {', '.join(wrong or names)} do not fit together: the "
        "loops cannot close with them. Leave some of them out, or give values that fit."
    )


def spinning(model: Model, q: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Velocities with the rates of Roll, Pitch, Yaw of free rotations as angular velocities."""
    layout = model.layout
    s = s.copy()
    for (_, first), own in zip(layout.quaternions, turn_dofs(layout), strict=True):
        if (own < layout.n_tree).all():
            euler = matrix_to_euler(quat_to_matrix(q[first : first + 4]))
            s[own] = euler_velocity(euler, s[own])
    return s


def _spins(model: Model, q: np.ndarray, rates: Given) -> np.ndarray:
    """Given rates of cut joints, those of free rotations as angular velocities in base axes."""
    found = rates.values.copy()
    frames = joint_frames(model, forward(model, q))
    for j in {row.joint for row in rates.rows if row.kind == "spin"}:
        own = [i for i, row in enumerate(rates.rows) if row.kind == "spin" and row.joint == j]
        axes = [rates.rows[i].i for i in own]
        euler = matrix_to_euler(frames.base_R[j].T @ frames.follower_R[j])
        if len(own) < 3 and np.abs(euler).max() > KEPT:
            raise SwelltreeError(
                f"joint '{model.layout.joints[j]}': the rates of some of Roll, Pitch, Yaw are "
                "given where it is turned. Give all three, or none."
            )
        asked = np.zeros(3)
        asked[axes] = rates.values[own]
        found[own] = euler_velocity(euler, asked)[axes]
    return found


def _cannot_close(
    model: Model, closure: Closure, start: np.ndarray, q: np.ndarray, left: float
) -> str:
    layout = model.layout
    drives = [row for row in closure.rows if row.kind in ("slide", "turn")]
    if drives:
        loops = Closure(model, closure.drives, closure.angles)
        loops.rows = tuple(row for row in closure.rows if row not in drives)
        if not loops.rows or loops.close(start.copy(), np.ones(layout.n_tree, bool))[1] < 1e-9:
            names = ", ".join(f"'{layout.joints[row.joint]}'" for row in drives)
            return (
                f"the prescribed motions of joints {names} do not fit together at t = 0: "
                f"{left:.3g} m or rad remain open in their loop. Prescribe fewer, or what fits."
            )
    rows, _, _ = closure.at(q)
    worst = closure.rows[int(np.abs(rows.residual).argmax())]
    unit = "rad" if worst.kind in ("align", "turn") else "m"
    return (
        f"joint '{layout.joints[worst.joint]}': its loop cannot close: {left:.3g} {unit} "
        "remain open wherever the other joints move. "
        "Check points, axes and lengths of the joints in the loop."
    )


def _moved(model: Model, before: np.ndarray, after: np.ndarray) -> list[str]:
    """Sentences about coordinates that assembly changed."""
    layout = model.layout
    out = []
    for k, dof in enumerate(layout.dofs[: layout.n_tree]):
        i = layout.dof_position[k]
        if i >= 0 and abs(after[i] - before[i]) > KEPT:
            unit = "rad" if dof.turns else "m"
            out.append(
                f"joint '{layout.joints[dof.joint]}': {dof.label} was moved from {before[i]:.6g} "
                f"to {after[i]:.6g} {unit} to close the loops."
            )
    return out


def _consistent_velocity(
    model: Model, closure: Closure, q: np.ndarray, s: np.ndarray, rates: Given
) -> np.ndarray:
    """Velocities that satisfy the rows, the user's kept; the others are as small as may be."""
    layout = model.layout
    rows, size, J = closure.at(q)
    asked = rows.drift / size
    free = ~rates.held
    wanted = s.copy()
    s[free] += smallest_step(J[:, free], asked - J @ s)
    if np.abs(J @ s - asked).max(initial=0.0) < 1e-9 * max(1.0, np.abs(s).max(initial=0.0)):
        return s
    held = np.flatnonzero(rates.held)
    A = np.concatenate([J, np.eye(layout.n_tree)[held]])
    found = at_odds(A, np.concatenate([asked, wanted[held]]), 1e-9)
    first = len(layout.cut_rows)
    names = [*rates.names[len(held) :], *rates.names[: len(held)]]
    wrong = [names[i - first] for i in found if i >= first]
    driven = [r for r in layout.cut_rows if r.kind in ("slide", "turn")]
    wrong += [f"'{layout.joints[row.joint]}' (prescribed)" for row in driven]
    raise SwelltreeError(
        f"the initial velocities of joints {', '.join(dict.fromkeys(wrong or names))} do not fit "
        "together in their loops. Leave some of them out, or give values that fit."
    )


def check_mass(model: Model, q: np.ndarray, closure: Closure) -> None:
    """Every free motion must move some mass."""
    layout = model.layout
    pose = forward(model, q)
    lin, rot = tree_blocks(model, pose, joint_frames(model, pose))
    P = velocity_matrix(lin, rot)
    M = P.T @ dense_inertia(model, world_inertia(model, pose)) @ P
    free = null_space(closure.jacobian(q)) if layout.cut_rows else np.eye(layout.n_tree)
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
