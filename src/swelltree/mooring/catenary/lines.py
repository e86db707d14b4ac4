"""Quasi-static lines: elastic catenaries on the bed, and the junctions they meet at.

At every instant the lines are in balance with the positions of their ends. Without friction on a
flat bed they store energy, elastic and by weight. Friction acts as if every line were pulled
towards B, and depends on the path in nature: with friction, or on a sloped bed, all that lines do
is counted as work.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from swelltree.jit import Array, namespace, pytree
from swelltree.model.capabilities import HasParameters, Moors, ReportsLines, StartsFromEquilibrium
from swelltree.model.effect import Coordinate, Instant, Loads
from swelltree.model.model import Model
from swelltree.mooring.catenary.catenary import Sections, span
from swelltree.mooring.catenary.catenary_ends import Bed, Ends, Pieces, ends, rows_of
from swelltree.mooring.catenary.catenary_solve import MIN_HORIZONTAL
from swelltree.mooring.catenary.catenary_stiffness import inside
from swelltree.mooring.catenary.junctions import Junctions, joined, rest_of_junctions
from swelltree.mooring.channels import end_channels
from swelltree.multibody.layout import Layout, Place
from swelltree.multibody.tree import point_motion, spread
from swelltree.spatial.rotations import dot, masked_sum

# Shape of a piece of line whose end forces are known: points and tensions along it.
#
# The part above a point of a catenary is a catenary with the same force at B.


def _above(sections: Sections, s: Array) -> Sections:
    """What lies between the distance s from A and B."""
    xp = namespace(s, sections.length)
    stop = xp.cumsum(sections.length, axis=-1)
    length = xp.minimum(xp.maximum(stop - s[:, None], 0.0), sections.length)
    return replace(sections, length=length)


def points_along(
    sections: Sections,
    bed: Bed,
    result: Ends,
    lying: Array,
    anchored: Array,
    a: Array,
    b: Array,
    s: Array,
) -> tuple[Array, Array]:
    """Positions (e, 3) and tensions (e,) at one point of each piece.

    Args:
        sections: of the pieces.
        bed: the bed.
        result: their end forces.
        lying: where the lying part begins and ends (e, 2) [m].
        anchored: whose end A lies on the bed (e,).
        a: ends A (e, 3) [m].
        b: ends B (e, 3) [m].
        s: unstretched distance from A (e,) [m].
    """
    xp = namespace(a, s, result.H)
    along, L = result.along, sections.total_length
    H = xp.maximum(result.H, MIN_HORIZONTAL * sections.size)
    begin, end = lying[:, 0], lying[:, 1]
    touches = end > begin
    slope = xp.where(touches, bed.slope[0] * along[:, 0] + bed.slope[1] * along[:, 1], 0.0)
    friction = xp.where(anchored, bed.friction, 0.0)
    rests = sections.rests * (touches | anchored)[:, None]
    resting = replace(sections, rests=rests)
    V = result.down_B
    upper = span(_above(resting, s), H, V, slope, friction)
    from_B = ((b - a)[:, :2] * along).sum(-1) - upper.x
    z = b[:, 2] - upper.z
    # the half that hangs from A, where the line lies on the bed between its ends
    at_A = touches & (begin > 0.0) & (s < begin)
    lower = span(_above(resting.reversed(), L - s), H, result.down_A, -slope, 0.0 * friction)
    x = xp.where(at_A, lower.x, from_B)
    z = xp.where(at_A, a[:, 2] - lower.z, z)
    # a heap is spread evenly between the ends of the lying part
    span_x = ((b - a)[:, :2] * along).sum(-1)
    share = (s - begin) / xp.where(touches, end - begin, 1.0)
    heap = result.slack & touches & (s >= begin) & (s <= end)
    x = xp.where(heap, span_x * share, x)
    weight = (_above(sections, s).length * sections.weight).sum(-1)
    V_s = xp.where(at_A, result.down_A - (sections.total_weight - weight), V - weight)
    lies = touches & (s >= begin) & (s <= end)
    hangs = xp.sqrt(result.H**2 + V_s**2)
    cosine = xp.sqrt(1.0 + slope * slope)
    on_bed = xp.where(anchored, upper.pull, result.H * cosine)
    tension = xp.where(lies, xp.where(result.slack, 0.0, on_bed), hangs)
    return xp.concatenate([a[:, :2] + x[:, None] * along, z[:, None]], axis=-1), tension


NODES = 41  # points along each line in results


STATIC_FIELDS = (
    "names",
    "lines",
    "junction_names",
    "body_A",
    "body_B",
    "line",
    "end_A",
    "end_B",
    "node_piece",
    "keeps_energy",
)


@pytree(*STATIC_FIELDS)
class QuasiStaticLines(Moors, StartsFromEquilibrium, HasParameters, ReportsLines):
    """All quasi-static lines of a system, in e pieces.

    Pieces run upwards: where a line was described from its upper end, `end_A` and `end_B` say so.
    """

    kind: ClassVar[str] = "lines"
    prefix: ClassVar[str] = ""  # pyright: ignore[reportIncompatibleMethodOverride]
    pieces: Pieces
    junctions: Junctions
    point_A: Array  # (e, 3) in body axes, or in the world
    point_B: Array  # (e, 3)
    start: Array  # (e,) distance of the lower end from the described end A, m
    node_share: Array  # (line x node,) place in its piece, from the lower end, of its length
    way: Array  # (e,) one where it runs like the line, minus one where it runs against it
    names: tuple[str, ...]  # of the lines, then of junctions
    lines: tuple[str, ...]
    junction_names: tuple[str, ...]
    body_A: tuple[int, ...]  # N: the world, or a junction
    body_B: tuple[int, ...]
    line: tuple[int, ...]  # number of the line of each piece
    end_A: tuple[tuple[int, bool], ...]  # of each line: piece at A, and is it the piece's end A?
    end_B: tuple[tuple[int, bool], ...]
    node_piece: tuple[int, ...]  # piece of every point of every line in results
    keeps_energy: bool
    lift: Array | None = None  # (line,) mean buoyancy of a metre in water, N/m
    breaking_load: Array | None = None  # (line, node) N, infinite where unknown; None: nowhere

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        return {
            "line": ("line", self.lines, "line, from end A to end B"),
            "junction": ("junction", self.junction_names, "free point of lines"),
        }

    @property
    def row_sizes(self) -> dict[str, int]:
        return {"line_node": NODES, "line_segment": NODES - 1}

    def parameters(self) -> dict[str, list[Place]]:
        full = [k for k in self.line if self.line.count(k) == 1]
        rows = {self.lines[k]: self.line.index(k) for k in full}
        return {
            name: [(("pieces", "sections"), row, {}), ((), row, {})] for name, row in rows.items()
        }

    def loads(self, model: Model, now: Instant) -> Loads:
        """Wrenches, stored energy or power, tensions and shapes."""
        body_A, body_B = np.array(self.body_A, dtype=int), np.array(self.body_B, dtype=int)
        at_A = point_motion(now.motion, body_A, self.point_A)
        at_B = point_motion(now.motion, body_B, self.point_B)
        y = rest_of_junctions(self.junctions, self.pieces, at_A.position, at_B.position)
        a, b = joined(self.junctions, y, at_A.position, at_B.position)
        result = ends(self.pieces, a, b)
        force_A, force_B = result.force_A, result.force_B
        none = 0.0 * force_A
        wrench = spread(model.layout, now.motion, body_A, a, force_A, none)
        wrench = wrench + spread(model.layout, now.motion, body_B, b, force_B, none)
        xp = namespace(wrench)
        of_line = (np.arange(len(self.lines))[:, None] == np.array(self.line)).astype(float)
        within = inside(self.pieces, result, a, b)
        stored = masked_sum(of_line, within.energy[:, None])[:, 0]
        work = dot(force_A, at_A.velocity) + dot(force_B, at_B.velocity)
        work = masked_sum(of_line, work[:, None])[:, 0]
        height = self.junctions.weight * y[:, 2]
        stored = xp.concatenate([stored, height])
        work = xp.concatenate([work, 0.0 * height])
        if self.keeps_energy:
            work = 0.0 * work
        else:
            stored = 0.0 * stored
        channels = self._channels(result, within.lying, a, b)
        if self.junctions.count:
            channels["junction_position"] = y
        return Loads(wrench, stored, work, channels)

    def _channels(self, result: Ends, lying: Array, a: Array, b: Array) -> dict[str, Array]:
        xp = namespace(result.H)
        force = xp.stack([result.force_B, result.force_A])

        def at(which: tuple[tuple[int, bool], ...], x: Array) -> Array:
            piece = np.array([k for k, _ in which], dtype=int)
            is_A = np.array([end for _, end in which], dtype=int)
            return x[is_A, piece]

        reach = self.start + self.way * lying[:, 1]
        reach = xp.where(lying[:, 1] > lying[:, 0], reach, 0.0)
        of_line = np.arange(len(self.lines))[:, None] == np.array(self.line)
        position, tension = self.shape(result, lying, a, b)
        out = end_channels(at(self.end_A, force), at(self.end_B, force)) | {
            "touchdown": xp.where(of_line, reach, 0.0).max(-1),
            "line_position": position,
            "line_node_tension": tension,
        }
        if self.breaking_load is not None:
            out["utilisation"] = (tension / self.breaking_load).max(-1)
        return out

    def shape(self, result: Ends, lying: Array, a: Array, b: Array) -> tuple[Array, Array]:
        """Points of every line at equal distances (line, node, 3), and tensions (line, node)."""
        row = np.array(self.node_piece, dtype=int)
        there, sections = rows_of(result, row), rows_of(self.pieces.sections, row)
        anchored = np.array(self.pieces.anchored, dtype=bool)[row]
        s = self.node_share * sections.total_length
        points, tension = points_along(
            sections, self.pieces.bed, there, lying[row], anchored, a[row], b[row], s
        )
        n = len(self.lines)
        return points.reshape(n, -1, 3), tension.reshape(n, -1)
