"""Lines as elementary pieces between fixed points, body points and junctions.

A line on which other lines end is cut there, and the cut becomes a junction. What is left are
pieces whose two ends are fixed in the world, on a body, or on a junction: quasi-static and dynamic
lines are built from the same pieces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from swelltree.describe import System
from swelltree.describe.bodies.body import Point
from swelltree.describe.mooring.line import Line, LineEnd, OnJunction, OnLine
from swelltree.describe.mooring.line_types import LineType
from swelltree.multibody.build_layout import local_point
from swelltree.multibody.layout import Layout

SAME_PLACE = 1e-9  # of a line's length: cuts closer than this are one


@dataclass(frozen=True, eq=False)
class End:
    """Where a piece ends.

    Args:
        kind: "fixed", "body" or "junction".
        index: number of the body (N for the world) or of the junction.
        point: fixed: in the world; body: from its reference point in body axes; junction: where it
            is at first [m].
    """

    kind: str
    index: int
    point: np.ndarray


@dataclass(frozen=True, eq=False)
class Part:
    """Stretch of a piece of one type.

    Args:
        type: what it is made of.
        length: unstretched [m].
        segments: into which a dynamic line divides it.
    """

    type: LineType
    length: float
    segments: int


@dataclass(frozen=True, eq=False)
class Piece:
    """A line, or what lies between two cuts of it.

    Args:
        name: of the line; "line [k]" where it is cut.
        line: the description.
        start: unstretched distance of end A from the described end A [m].
        stop: the same of end B [m].
        A: lower end.
        B: upper end.
        parts: from A to B.
    """

    name: str
    line: Line
    start: float
    stop: float
    A: End
    B: End
    parts: tuple[Part, ...]

    @property
    def length(self) -> float:
        """Unstretched length [m]."""
        return self.stop - self.start

    @property
    def is_first(self) -> bool:
        """Whether the piece starts at the described end A."""
        return self.start == 0.0

    @property
    def is_last(self) -> bool:
        """Whether the piece ends at the described end B."""
        return self.stop == self.line.rest_length


def from_end_B(piece: Piece) -> Piece:
    """A whole line, described from its end B on."""
    return replace(
        piece,
        line=piece.line.reversed(),
        A=piece.B,
        B=piece.A,
        parts=piece.parts[::-1],
    )


@dataclass(frozen=True, eq=False)
class Knot:
    """A junction, described or made by cutting a line.

    Args:
        name: of the junction; "line at 12 m" for a cut.
        position: where it is at first [m].
        mass: [kg].
        volume: displaced [m^3].
        drag_area: drag coefficient times area [m^2].
        added_mass: coefficient on the volume.
    """

    name: str
    position: np.ndarray
    mass: float = 0.0
    volume: float = 0.0
    drag_area: float = 0.0
    added_mass: float = 0.0


@dataclass(frozen=True, eq=False)
class Network:
    """Pieces of lines and the junctions between them."""

    pieces: tuple[Piece, ...]
    junctions: tuple[Knot, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(piece.line.name for piece in self.pieces))

    def of_line(self, name: str) -> tuple[int, ...]:
        """Indices of the pieces of a line, from A to B."""
        return tuple(k for k, piece in enumerate(self.pieces) if piece.line.name == name)


def line_network(system: System, layout: Layout, model: str) -> Network:
    """Pieces and junctions of all lines of one model.

    Args:
        system: the description.
        layout: of the compiled bodies.
        model: "quasi_static", "dynamic" or "multibody".
    """
    lines = [line for line in system.lines if line.model == model]
    cuts = {line.name: _cuts(line, lines) for line in lines}
    knots = _described_knots(system, lines)
    for line in lines:
        for at in cuts[line.name]:
            knots[_cut_name(line, at)] = Knot(
                _cut_name(line, at), system.end_point(OnLine(line.name, at))
            )
    numbers = {name: k for k, name in enumerate(knots)}

    def end(value: LineEnd) -> End:
        if isinstance(value, Point):
            world = value.body == "world"
            body = layout.n_bodies if world else layout.bodies.index(value.body)
            return End("fixed" if world else "body", body, local_point(system, value))
        if isinstance(value, OnLine):
            other = next(line for line in lines if line.name == value.line)
            at = min(cuts[other.name], key=lambda cut: abs(cut - value.at))
            return on_knot(_cut_name(other, at))
        return on_knot(value.junction)

    def on_knot(name: str) -> End:
        return End("junction", numbers[name], knots[name].position)

    pieces = []
    for line in lines:
        places = [0.0, *cuts[line.name], line.rest_length]
        middle = [on_knot(_cut_name(line, at)) for at in cuts[line.name]]
        ends = [end(line.A), *middle, end(line.B)]
        for k, (start, stop) in enumerate(pairwise(places)):
            name = line.name if len(places) == 2 else f"{line.name} [{k + 1}]"
            parts = _parts(system, line, start, stop)
            pieces.append(Piece(name, line, start, stop, ends[k], ends[k + 1], parts))
    return Network(tuple(pieces), tuple(knots.values()))


def _cut_name(line: Line, at: float) -> str:
    return f"{line.name} at {at:g} m"


def _cuts(line: Line, lines: list[Line]) -> tuple[float, ...]:
    """Distances from A at which other lines end on this one, ascending."""
    ends = [end for other in lines for end in (other.A, other.B)]
    result = sorted(end.at for end in ends if isinstance(end, OnLine) and end.line == line.name)
    stored: list[float] = []
    for at in result:
        if not stored or at - stored[-1] > SAME_PLACE * line.rest_length:
            stored.append(at)
    return tuple(stored)


def _described_knots(system: System, lines: list[Line]) -> dict[str, Knot]:
    used = {e.junction for x in lines for e in (x.A, x.B) if isinstance(e, OnJunction)}
    return {
        j.name: Knot(j.name, np.array(j.position), j.mass, j.volume, j.drag_area, j.added_mass)
        for j in system.junctions
        if j.name in used
    }


def _parts(system: System, line: Line, start: float, stop: float) -> tuple[Part, ...]:
    """Sections of a line between two distances; segments are distributed by length."""
    result, begin = [], 0.0
    for section, segments in zip(line.parts, line.segment_counts, strict=True):
        end = begin + section.length
        length = min(end, stop) - max(begin, start)
        if length > SAME_PLACE * line.rest_length:
            share = max(1, round(segments * length / section.length))
            result.append(Part(system.line_type(section.type), float(length), share))
        begin = end
    return tuple(result)
