"""Which equations of the loops say what others say already."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swelltree.compiler.closure import Closure
from swelltree.model.checks.rank import RANK, independent, null_space, rank_of, singular_values
from swelltree.model.layout import Row
from swelltree.model.model import Model
from swelltree.model.rows import Coupled
from swelltree.model.tree import moved_positions
from swelltree.system.errors import SwelltreeError

SINGULAR = 1e-5  # min singular value of equations divided by their sizes
WANDER = 0.05  # m, rad: how far from the start the rank is looked at


class Redundancy(NamedTuple):
    """What the rows of loops and drives are worth."""

    kept: tuple[Row, ...]  # rows that say something somewhere
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
    kept = tuple(row for row, says in zip(rows, speaks, strict=True) if says)
    needed = independent(here)
    dropped = [row for i, row in enumerate(rows) if i not in needed]
    return Redundancy(kept, len(kept) - rank, _name_redundant(model, dropped, loops))


def _nearby(model: Model, closure: Closure, q: np.ndarray, here: np.ndarray) -> list[np.ndarray]:
    """Closed positions around q, where the rank there is uncertain."""
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
    """Which loop has fewer independent equations here than around."""
    rank = max(rank_of(J) for J in jacobians)
    weak = np.linalg.svd(here)[0][:, rank - 1]
    row = closure.rows[int(np.abs(weak).argmax())]
    name = model.layout.joints[row.joint]
    what = row.owner(model.layout) if isinstance(row, Coupled) else loop_text(name, loops)
    return (
        f"{what} starts in a singular position: here its joints hold less than "
        "anywhere near, and which way it goes is not determined. Give a position a little beside."
    )


def loop_text(name: str, loops: dict) -> str:
    """A loop by the joint that closes it and those it goes through."""
    through = ", ".join(f"'{joint}'" for joint in loops.get(name, ()))
    return f"joint '{name}': its loop through {through}" if through else f"joint '{name}'"


def _name_redundant(model: Model, dropped: list[Row], loops: dict) -> list[str]:
    out = []
    layout = model.layout
    for row in dropped:
        if isinstance(row, Coupled):
            out.append(
                f"{row.owner(layout)} adds nothing that the other constraints do not: its force is "
                "not unique (least-norm forces are reported)."
            )
    for j in sorted({row.joint for row in dropped if not isinstance(row, Coupled)}):
        count = sum(row.joint == j and not isinstance(row, Coupled) for row in dropped)
        total = sum(row.joint == j and not isinstance(row, Coupled) for row in layout.cut_rows)
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
