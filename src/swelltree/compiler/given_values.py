"""Initial values that the user gave, wherever they stand: in the tree, or where a loop is cut.

Values of tree joints are held while the rest moves. Values of a cut joint become equations of the
start, like prescribed motions, for as long as the start is sought.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.model.layout import Layout, Row
from swelltree.model.model import Model
from swelltree.model.rows import Spin, driven_row

if TYPE_CHECKING:
    from swelltree.system.joints.joint import Joint


class Given(NamedTuple):
    """Values of one kind, positions or velocities.

    Args:
        held: (n_tree,) which tree coordinates are given.
        rows: equations of the coordinates of cut joints; `Row.j` counts behind the drives.
        values: of these.
        names: of all that is given: tree coordinates first, then the rows.
    """

    is_given: np.ndarray
    rows: tuple[Row, ...]
    values: np.ndarray
    names: tuple[str, ...]


def given(model: Model, joints: list[Joint], field: str) -> Given:
    """What was given as "position" or "velocity"."""
    layout = model.layout
    is_given = np.zeros(layout.n_tree, dtype=bool)
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
            is_given[k] = True
            in_tree.append(name)
            continue
        number = len(layout.drives) + len(rows)
        rows.append(_row(layout, k, number))
        values.append(value)
        cut.append(name)
    return Given(is_given, tuple(rows), np.array(values), (*in_tree, *cut))


def _row(layout: Layout, k: int, number: int) -> Row:
    """The equation "this coordinate has its value"; turns of a ball are held about its base."""
    dof = layout.dofs[k]
    if dof.free_turn:
        return Spin(dof.joint, dof.axis, number)
    return driven_row(dof.turns, dof.joint, k, number)


def at_odds(A: np.ndarray, b: np.ndarray, tolerance: float) -> list[int]:
    """Rows of A x = b that cannot be met together."""
    x = np.linalg.lstsq(A, b, rcond=1e-8)[0] if 0 not in A.shape else np.zeros(A.shape[1])
    return [int(i) for i in np.flatnonzero(np.abs(A @ x - b) > tolerance)]
