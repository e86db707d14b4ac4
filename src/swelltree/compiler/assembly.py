"""Initial assembly: coordinates and velocities made consistent with loops and drives.

Plain numpy. Coordinates that the user gave are kept if the rest can close the
loops; what had to move is reported. A loop that cannot close is an error.

Joints as their bodies are described: coordinates to start from, before loops are closed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.model.checks import smallest_step, term_size
from swelltree.model.model import Model
from swelltree.multibody.build_layout import Rows, evaluate_rows
from swelltree.multibody.kinematics import (
    dof_coordinates,
    forward,
    joint_frames,
    moved_positions,
    tree_blocks,
    turn_dofs,
    velocity_matrix,
)
from swelltree.multibody.layout import Layout, Row
from swelltree.multibody.rows import Drives, Spin, driven_row
from swelltree.spatial.rotations import (
    euler_to_matrix,
    euler_velocity,
    matrix_to_euler,
    matrix_to_quat,
    quat_to_matrix,
    rotation_vector,
)

if TYPE_CHECKING:
    from swelltree.describe.joints.joint import Joint


CLOSED = 1e-12  # residual of an assembled loop, m or rad


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
        """Rows, their scales, and the scaled Jacobian in the tree velocities."""
        pose = forward(self.model, q)
        frames = joint_frames(self.model, pose)
        P = velocity_matrix(*tree_blocks(self.model, pose, frames))
        still = np.zeros((self.model.layout.n_bodies, 6))
        rows = evaluate_rows(self.model, self.rows, pose, frames, still, self.angles, self.drives)
        for i in range(len(self.model.layout.cut_rows), len(self.rows)):
            row = self.rows[i]
            if row.of_rates:
                rows.velocity_rhs[i] = self.drives.rate[row.j]
                R = frames.base_R[row.joint].T @ frames.follower_R[row.joint]
                asked: np.ndarray = self.attitudes.get(row.joint, np.asarray(R))
                rows.residual[i] = rotation_vector(R @ asked.T)[row.i]
        fits = np.isfinite(rows.residual) & np.isfinite(rows.jacobian).all(1)
        if not fits.all():
            row = self.rows[int(np.argmin(fits))]
            raise SwelltreeError(
                f"{row.owner(self.model.layout)} is not finite at the coordinates where the system "
                "is assembled. Give other initial positions, or an equation that is finite there."
            )
        size = term_size(rows.jacobian, P)
        return rows, size, rows.jacobian @ P / size[:, None]

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Scaled Jacobian alone, for rank decisions."""
        return self.at(q)[2]

    def close(self, q: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, float]:
        """Newton iteration in the free tree velocities; returns q and the remaining residual."""
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


ROUNDING = 1e-6  # m, rad: a given value that moves by less was given with that many digits


def assemble(
    model: Model,
    joints: list,
    q: np.ndarray,
    angles: np.ndarray,
    drives: Drives,
    attitudes: dict[int, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Consistent q, s and angles, and messages about changed coordinates."""
    layout = model.layout
    places, rates = specified(model, joints, "position"), specified(model, joints, "velocity")
    s = np.zeros(layout.n_tree)
    for k in np.flatnonzero(rates.is_specified):
        s[k] = joints[layout.dofs[k].joint].initial_velocity()[layout.dofs[k].label]
    report: list[str] = []
    if layout.cut_rows:
        for row in (r for r in layout.cut_rows if r.prescribed):
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
    result = dof_coordinates(model, frames, angles)
    tree = [k for k in layout.angle_dofs if k < layout.n_tree]
    angles = np.array(
        [q[layout.dof_position[k]] if k in tree else result[k] for k in layout.angle_dofs]
    )
    return q, s, angles, report


def with_constants(
    model: Model,
    joints: list,
    q: np.ndarray,
    angles: np.ndarray,
    drives: Drives,
    attitudes: dict[int, np.ndarray],
) -> tuple[Model, np.ndarray, np.ndarray, list[str]]:
    """The model with all constants of couplings known, and the start they were taken from.

    A constant that is not given is that of the start which the other equations lead to.
    """
    couplings = model.couplings
    if couplings is None or not np.isnan(couplings.constant).any():
        return model, q, angles, []
    layout, unknown = model.layout, np.isnan(couplings.constant)
    stored = tuple(r for r in layout.rows if r.coupling is None or not unknown[r.coupling])
    without = model.replace(layout=replace(layout, rows=stored))
    bare = [joint.replace(velocity={}) for joint in joints]
    q, _, angles, report = assemble(without, bare, q, angles, drives, attitudes)
    coordinate = dof_coordinates(model, joint_frames(model, forward(model, q)), angles)
    constant = couplings.constant.copy()
    for row in layout.rows:
        if row.coupling is not None and unknown[row.coupling]:
            dofs = np.array([part.i for part in row.parts()])
            constant[row.coupling] = (
                couplings.coefficient[row.j : row.j + len(dofs)] @ coordinate[dofs]
            )
    return model.replace(couplings=replace(couplings, constant=constant)), q, angles, report


def _with(drives: Drives, value: np.ndarray, rate: np.ndarray) -> Drives:
    more = ((drives.value, value), (drives.rate, rate), (drives.acceleration, 0.0 * rate))
    return Drives(*(np.concatenate(pair) for pair in more))


def _closed(
    model: Model,
    places: InitialValue,
    attitudes: dict[int, np.ndarray],
    start: np.ndarray,
    angles: np.ndarray,
    drives: Drives,
) -> np.ndarray:
    """Closed position that satisfies all prescribed values."""
    layout = model.layout
    asked = _with(drives, places.values, 0.0 * places.values)
    closure = Closure(model, asked, angles, places.rows, attitudes)
    driven = [r.i for r in layout.cut_rows if r.prescribed and r.i < layout.n_tree]
    is_specified = places.is_specified.copy()
    is_specified[driven] = True
    q, left = closure.close(start.copy(), ~is_specified)
    if left < 1e-9:
        return q
    # without what was given: does the loop close at all, and how far from it?
    bare = Closure(model, drives, angles)
    q, left = bare.close(start.copy(), np.ones_like(is_specified))
    if left > 1e-9:
        raise SwelltreeError(_cannot_close(model, bare, start, q, left))
    rows, size, J = closure.at(q)
    gap = -rows.residual / size
    where = np.flatnonzero(places.is_specified & (layout.dof_position >= 0))
    apart = (start - q)[layout.dof_position[where]]
    first = len(layout.cut_rows)
    if max(np.abs(apart).max(initial=0.0), np.abs(gap[first:]).max(initial=0.0)) < ROUNDING:
        return q
    A = np.concatenate([J, np.eye(layout.n_tree)[where]])
    number = {i: n for n, i in enumerate(np.flatnonzero(places.is_specified))}
    names = [places.names[number[k]] for k in where]
    names = [*places.names[len(number) :], *names]
    result = at_odds(A, np.concatenate([gap, apart]), 0.1 * ROUNDING)
    wrong = [names[i - first] for i in result if i >= first]
    raise SwelltreeError(
        f"the initial positions of joints {', '.join(wrong or names)} are incompatible: the loops "
        "cannot close. Leave some of them out, or give values that fit."
    )


def spinning(model: Model, q: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Velocities with the rates of Roll, Pitch, Yaw of free rotations as angular velocities."""
    layout = model.layout
    s = s.copy()
    for (_, first), dofs in zip(layout.quaternions, turn_dofs(layout), strict=True):
        if (dofs < layout.n_tree).all():
            euler = matrix_to_euler(quat_to_matrix(q[first : first + 4]))
            s[dofs] = euler_velocity(euler, s[dofs])
    return s


def _spins(model: Model, q: np.ndarray, rates: InitialValue) -> np.ndarray:
    """Given rates of cut joints, those of free rotations as angular velocities in base axes."""
    result = rates.values.copy()
    frames = joint_frames(model, forward(model, q))
    for j in {row.joint for row in rates.rows if row.of_rates}:
        rows = [i for i, row in enumerate(rates.rows) if row.of_rates and row.joint == j]
        axes = [rates.rows[i].i for i in rows]
        euler = matrix_to_euler(frames.base_R[j].T @ frames.follower_R[j])
        if len(rows) < 3 and np.abs(euler).max() > ROUNDING:
            raise SwelltreeError(
                f"joint '{model.layout.joints[j]}': the rates of some of Roll, Pitch, Yaw are "
                "given where it is turned. Give all three, or none."
            )
        asked = np.zeros(3)
        asked[axes] = rates.values[rows]
        result[rows] = euler_velocity(euler, asked)[axes]
    return result


def _cannot_close(
    model: Model, closure: Closure, start: np.ndarray, q: np.ndarray, left: float
) -> str:
    layout = model.layout
    drives = [row for row in closure.rows if row.prescribed]
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
    unit = worst.unit
    return (
        f"{worst.owner(layout)}: its loop cannot close: {left:.3g} {unit} "
        "remain open wherever the other joints move. "
        "Check points, axes and lengths of the joints in the loop."
    )


def _moved(model: Model, before: np.ndarray, after: np.ndarray) -> list[str]:
    """Messages about coordinates that assembly changed."""
    layout = model.layout
    out = []
    for k, dof in enumerate(layout.dofs[: layout.n_tree]):
        i = layout.dof_position[k]
        if i >= 0 and abs(after[i] - before[i]) > ROUNDING:
            unit = "rad" if dof.turns else "m"
            out.append(
                f"joint '{layout.joints[dof.joint]}': {dof.label} was moved from {before[i]:.6g} "
                f"to {after[i]:.6g} {unit} to close the loops."
            )
    return out


def _consistent_velocity(
    model: Model, closure: Closure, q: np.ndarray, s: np.ndarray, rates: InitialValue
) -> np.ndarray:
    """Velocities that satisfy the rows, the user's kept; the others are as small as may be."""
    layout = model.layout
    rows, size, J = closure.at(q)
    asked = rows.velocity_rhs / size
    free = ~rates.is_specified
    requested = s.copy()
    s[free] += smallest_step(J[:, free], asked - J @ s)
    if np.abs(J @ s - asked).max(initial=0.0) < 1e-9 * max(1.0, np.abs(s).max(initial=0.0)):
        return s
    is_specified = np.flatnonzero(rates.is_specified)
    A = np.concatenate([J, np.eye(layout.n_tree)[is_specified]])
    result = at_odds(A, np.concatenate([asked, requested[is_specified]]), 1e-9)
    first = len(layout.cut_rows)
    names = [*rates.names[len(is_specified) :], *rates.names[: len(is_specified)]]
    wrong = [names[i - first] for i in result if i >= first]
    driven = [r for r in layout.cut_rows if r.prescribed]
    wrong += [f"'{layout.joints[row.joint]}' (prescribed)" for row in driven]
    raise SwelltreeError(
        f"the initial velocities of joints {', '.join(dict.fromkeys(wrong or names))} are "
        "incompatible in their loops. Leave some of them out, or give values that fit."
    )


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
