"""The numbers of all lines of a system, stacked and padded to one number of segments.

A line runs from end A (node 0) to end B (node n); segment s lies between the nodes s and s + 1.
Shorter lines have idle segments at end A: their nodes sit on A and carry nothing. So the sizes of a
program do not depend on how many segments each line has, and a winch can pay out segments at A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from swelltree.engine.arrays import Array, namespace, pytree
from swelltree.system.named_values import NamedValues


@pytree("bending", "elastic", "inextensible", "lifted")
class LineArrays:
    """All lines: (line, segment) unless said otherwise.

    Args:
        rest_length: unstretched length [m].
        EA: axial stiffness [N]; infinite where the segment cannot stretch.
        kappa: axial damping over axial stiffness, BA/EA [s].
        mass_per_length: in air [kg/m].
        diameter: of the displaced volume and of the drag [m].
        Cdn: drag across the line, on the area d l.
        Cdt: drag along the line, on the area pi d l.
        Can: added mass across the line.
        Cat: added mass along the line.
        lift: coefficient of the force across line and flow, on the area d l.
        EI: bending stiffness [N m^2].
        clamped: whether the ends A and B keep their direction (line, 2), 1 or 0.
        point_mass: mass of clumps and floats (line, node) [kg].
        point_volume: their volume (line, node) [m^3].
        point_drag: their drag coefficient times area (line, node) [m^2].
        first: the first segment that is in use (line,).
        stretch: points (strain, tension) of a rope's own law (line, segment, point, 2), with no
            points where all segments follow EA.
        bending: whether any line has a bending stiffness.
        elastic: whether any segment can stretch.
        inextensible: whether any segment cannot.
        lifted: whether any segment has lift or any node a drag of its own.
    """

    rest_length: Array
    EA: Array
    kappa: Array
    mass_per_length: Array
    diameter: Array
    Cdn: Array
    Cdt: Array
    Can: Array
    Cat: Array
    lift: Array
    EI: Array
    clamped: Array
    point_mass: Array
    point_volume: Array
    point_drag: Array
    first: Array
    stretch: Array
    bending: bool
    elastic: bool
    inextensible: bool
    lifted: bool

    @property
    def n(self) -> int:
        """Number of segments of every line, idle ones included."""
        return self.rest_length.shape[-1]

    @property
    def pushes(self) -> Array:
        """Which segments carry compression too: those with bending stiffness."""
        return self.EI > 0.0

    @property
    def n_lines(self) -> int:
        """Number of lines."""
        return self.rest_length.shape[0]

    @property
    def n_ends(self) -> int:
        """Points by which a line hangs on its surroundings: its two ends, and the two beyond."""
        return 4 if self.bending else 2


_PER_SEGMENT: dict[str, float] = {
    "rest_length": np.nan,
    "EA": np.inf,
    "kappa": 0.0,
    "mass_per_length": np.nan,
    "diameter": 0.0,
    "Cdn": 0.0,
    "Cdt": 0.0,
    "Can": 0.0,
    "Cat": 0.0,
    "lift": 0.0,
    "EI": 0.0,
}
_PER_NODE = ("point_mass", "point_volume", "point_drag")


def stack_lines(lines: Sequence[NamedValues], n: int | None = None) -> LineArrays:
    """Stack individual lines into arrays; plain numpy.

    Args:
        lines: for each line its `segments` and, by the names of `LineArrays`, numbers or one value
            per segment (per node for `point_...`); `clamped` two flags; `stretch` a table of
            (strain, tension) beginning with (0, 0), or one table per segment.
        n: segments of the padded arrays; those of the longest line if not given.
    """
    counts = [int(line["segments"]) for line in lines]
    n = max(counts) if n is None else n
    tables = [line.get("stretch") for line in lines]
    points = max((np.shape(t)[-2] for t in tables if t is not None), default=0)
    columns: dict[str, list[np.ndarray]] = {}

    def put(name: str, value: np.ndarray) -> None:
        columns.setdefault(name, []).append(value)

    for line, count, table in zip(lines, counts, tables, strict=True):
        idle = n - count
        for name, usual in _PER_SEGMENT.items():
            value = np.broadcast_to(np.asarray(line.get(name, usual), float), (count,))
            put(name, np.concatenate([np.full(idle, value[0]), value]))
        for name in _PER_NODE:
            value = np.broadcast_to(np.asarray(line.get(name, 0.0), float), (count + 1,))
            put(name, np.concatenate([np.zeros(idle), value]))
        put("clamped", np.asarray(line.get("clamped", (0.0, 0.0)), float))
        put("first", np.asarray(idle))
        put("stretch", _tables(columns, table, count, n, points))
    stacked = {name: np.stack(value) for name, value in columns.items()}
    soft = np.isfinite(stacked["EA"])
    return LineArrays(
        **stacked,
        bending=bool(np.any(stacked["EI"] > 0.0)),
        elastic=bool(np.any(soft)),
        inextensible=bool(np.any(~soft)),
        lifted=bool(np.any(stacked["lift"]) or np.any(stacked["point_drag"])),
    )


def _tables(
    columns: dict[str, list[np.ndarray]], table: Array | None, count: int, n: int, points: int
) -> np.ndarray:
    """Law of every segment as a table; EA becomes the steepest slope of one that is given."""
    EA = columns["EA"][-1]
    out = np.zeros((n, points, 2))
    if points == 0:
        return out
    if table is None:  # a straight law, as a table
        rows = np.linspace(0.0, 1.0, points)
        out[..., 0] = rows
        out[..., 1] = rows * np.where(np.isfinite(EA), EA, 0.0)[:, None]
        return out
    given = np.broadcast_to(np.asarray(table, float), (count, *np.shape(table)[-2:]))
    last, before = given[:, -1], given[:, -2]
    more = np.arange(1, points - given.shape[1] + 1)[None, :, None]
    given = np.concatenate([given, last[:, None] + more * (last - before)[:, None]], axis=1)
    out[n - count :] = given
    out[: n - count] = given[0]
    slope = np.diff(out[..., 1], axis=1) / np.diff(out[..., 0], axis=1)
    columns["EA"][-1] = slope.max(axis=1)
    return out


def with_first(arrays: LineArrays, first: Array, rest: Array) -> LineArrays:
    """Lines with so many idle segments and that first segment."""
    return replace(arrays, first=first, rest_length=rest_lengths(arrays, first, rest))


def rest_lengths(arrays: LineArrays, first: Array, rest: Array) -> Array:
    """Unstretched lengths of all segments, with that of the first in use (line, segment) [m]."""
    xp = namespace(first, rest, arrays.rest_length)
    at_first = np.arange(arrays.n) == xp.asarray(first)[:, None]
    return xp.where(at_first, xp.asarray(rest)[:, None], arrays.rest_length)
