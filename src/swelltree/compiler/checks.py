"""Checks of a description while it is compiled: joints, masses, loops, tables, current and wind."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.compiler.assembly import Closure
from swelltree.describe import System
from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.describe.forces.signals import Table
from swelltree.describe.spec import Description
from swelltree.model.capabilities import WrittenByUser, feels, having
from swelltree.model.checks import RANK, independent, null_space, rank_of, singular_values
from swelltree.model.model import Model
from swelltree.model.signals import compile_signal
from swelltree.multibody.inertia import dense_inertia, world_inertia
from swelltree.multibody.kinematics import (
    forward,
    joint_frames,
    moved_positions,
    tree_blocks,
    velocity_matrix,
)
from swelltree.multibody.layout import Row

if TYPE_CHECKING:
    from swelltree.describe.joints.joint import Joint


# --- Frames of cut joints that satisfy their equations in a way nobody meant


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


def check_rows(model: Model, q: np.ndarray) -> None:
    """Reject equations that cannot be, where bodies are described."""
    frames = joint_frames(model, forward(model, q))
    for row in model.layout.rows:
        row.check(model, frames)


def row_notes(model: Model, q: np.ndarray, angles: np.ndarray) -> list[str]:
    """Messages about equations at the start of a run."""
    frames = joint_frames(model, forward(model, q))
    notes = (row.note(model, frames, angles) for row in model.layout.rows)
    return [note for note in notes if note]


# --- Motions without mass, whose acceleration nothing determines


def check_mass(model: Model, q: np.ndarray, closure: Closure) -> np.ndarray:
    """Reject free motions without mass; returns the basis of free motions (n, f)."""
    layout = model.layout
    pose = forward(model, q)
    lin, rot = tree_blocks(model, pose, joint_frames(model, pose))
    P = velocity_matrix(lin, rot)
    M = P.T @ dense_inertia(model, world_inertia(model, pose)) @ P
    free = null_space(closure.jacobian(q)) if layout.cut_rows else np.eye(layout.n_tree)
    if model.locked is not None:
        free = _unlocked(free, np.asarray(model.locked))
    if free.shape[1] == 0:
        return free
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
    return free


def _unlocked(free: np.ndarray, locked: np.ndarray) -> np.ndarray:
    """Free motions in which locked DOFs do not move."""
    _, size, Vt = np.linalg.svd(free[locked > 0.5])
    return free @ Vt[int((size > RANK).sum()) :].T


# --- Which equations of the loops say what others say already

SINGULAR = 1e-5  # min singular value of equations divided by their sizes
WANDER = 0.05  # m, rad: how far from the start the rank is looked at


class Redundancy(NamedTuple):
    """Rank of the constraint rows of loops and drives."""

    stored: tuple[Row, ...]  # rows that say something somewhere
    surplus: int  # how many of them follow from the others, which ones depending on the place
    report: list[str]  # names of the joints


def find_redundancy(model: Model, q: np.ndarray, closure: Closure, loops: dict) -> Redundancy:
    """Redundant equations of a model that is assembled at q.

    The rank is taken at the start and at nearby closed positions, the largest counting. Rows that
    are nothing at all these places are left out. Of the others it depends on the place which ones
    follow from the rest (a platform on three parallel cranks), so all are kept and the solvers
    know how many are independent.
    """
    rows = closure.rows
    here = closure.jacobian(q)
    jacobians = [here, *(closure.jacobian(place) for place in _nearby(model, closure, q, here))]
    rank = max(rank_of(J) for J in jacobians)
    # at a singular position closing to 1e-12 leaves the square root of that
    margin = [singular_values(J)[rank - 1] if rank else 1.0 for J in jacobians]
    if margin[0] < SINGULAR and max(margin) > 10.0 * margin[0]:
        raise SwelltreeError(_singular(model, closure, here, jacobians, loops))
    speaks = np.max([np.linalg.norm(J, axis=1) for J in jacobians], axis=0) > RANK
    stored = tuple(row for row, says in zip(rows, speaks, strict=True) if says)
    needed = independent(here)
    dropped = [row for i, row in enumerate(rows) if i not in needed]
    return Redundancy(stored, len(stored) - rank, _name_redundant(model, dropped, loops))


def _nearby(model: Model, closure: Closure, q: np.ndarray, here: np.ndarray) -> list[np.ndarray]:
    """Closed positions near q, where the rank at q is uncertain."""
    free = null_space(here)
    sure = singular_values(here).min(initial=1.0) > SINGULAR and rank_of(here) == min(here.shape)
    if sure or free.shape[1] == 0:
        return []
    rng = np.random.default_rng(0)
    result = []
    for _ in range(3):
        way = free @ rng.normal(size=free.shape[1])
        there = moved_positions(model.layout, q, WANDER * way / np.abs(way).max())
        there, left = closure.close(there, np.ones(model.layout.n_tree, dtype=bool))
        if left < 1e-9:
            result.append(there)
    return result


def _singular(
    model: Model, closure: Closure, here: np.ndarray, jacobians: list[np.ndarray], loops: dict
) -> str:
    """The loop that has fewer independent equations here than nearby."""
    rank = max(rank_of(J) for J in jacobians)
    weak = np.linalg.svd(here)[0][:, rank - 1]
    row = closure.rows[int(np.abs(weak).argmax())]
    name = model.layout.joints[row.joint]
    what = row.owner(model.layout) if row.coupling is not None else loop_text(name, loops)
    return (
        f"{what} starts in a singular position: here its joints hold less than "
        "anywhere near, and which way it goes is not determined. Give a position a little beside."
    )


def loop_text(name: str, loops: dict) -> str:
    """Description of a loop: the joint that closes it and those it passes through."""
    through = ", ".join(f"'{joint}'" for joint in loops.get(name, ()))
    return f"joint '{name}': its loop through {through}" if through else f"joint '{name}'"


def _name_redundant(model: Model, dropped: list[Row], loops: dict) -> list[str]:
    out = []
    layout = model.layout
    for row in dropped:
        if row.coupling is not None:
            out.append(
                f"{row.owner(layout)} adds nothing that the other constraints do not: its force is "
                "not unique (least-norm forces are reported)."
            )
    for j in sorted({row.joint for row in dropped if row.coupling is None}):
        count = sum(row.joint == j and row.coupling is None for row in dropped)
        total = sum(row.joint == j and row.coupling is None for row in layout.cut_rows)
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
    driven = all(row.prescribed for row in model.layout.rows if row.joint == j)
    return "motion of joint" if driven else "joint"


# --- Notes on the tables in a system: their interpolation, and where a spline overshoots

PER_PIECE = 20  # points that a piece is looked at
SWING_FRACTION = 0.1  # of the range of the values: overshoot that gives a warning


def table_notes(system: System) -> list[str]:
    """One note per table; a spline with large overshoot gives a warning."""
    result = []
    for item in (*system.joints, *system.forces, *system.ptos, *system.winches):
        for field, table in _tables(item):
            result.append(_sentence(item.label, field, table))
    return result


def _tables(item: Description) -> Iterator[tuple[str, Table]]:
    for field in dataclasses.fields(item):  # pyright: ignore[reportArgumentType]
        values = [getattr(item, field.name)]
        while values:
            value = values.pop()
            if isinstance(value, tuple):
                values += reversed(value)
            elif isinstance(value, Table):
                yield field.name, value


def _sentence(label: str, field: str, table: Table) -> str:
    join = {"spline": "a cubic spline", "monotone": "monotone cubics", "linear": "straight lines"}
    said = f"{label}: the table of its {field} is joined by {join[table.interpolation]}"
    time, value = np.array(table.time), np.array(table.value)
    part = np.arange(PER_PIECE) / PER_PIECE
    at = (time[:-1, None] + part * np.diff(time)[:, None]).ravel()
    signal = compile_signal(table)
    drawn = np.array([float(signal(t)) for t in at])
    low, high = value.min(), value.max()
    if max(low - drawn.min(), drawn.max() - high) <= SWING_FRACTION * (high - low):
        return f"{said}."
    others = "'monotone'" if field == "motion" else "'monotone' or 'linear'"
    said = (
        f"{said}, which ranges from {drawn.min():.4g} to {drawn.max():.4g}, beyond its values "
        f"{low:.4g} to {high:.4g}. Give interpolation={others}, or more rows."
    )
    warn_user(said)
    return said


CURE = {
    "current": "QuadraticDrag, BodyDrag, MorisonMember or dynamic lines",
    "wind": "WindDrag or a Rotor",
}


def unfelt_notes(system: System, model: Model) -> list[str]:
    """A warning and a note for each that is described but acts on nothing.

    Users' own effects may ask for anything, so that nothing is said beside them.
    """
    if having(model, WrittenByUser):
        return []
    notes = []
    for name, cure in CURE.items():
        specified = getattr(system, name)
        still = specified is None or getattr(specified, "speed", 1.0) == 0.0
        if still or feels(model, name):
            continue
        notes.append(
            f"the system has a {name}, but it acts on no element and has no effect. Describe what "
            f"it acts on ({cure}), or leave the {name} out."
        )
        warn_user(notes[-1])
    return notes
