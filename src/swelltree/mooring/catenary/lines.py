"""Quasi-static lines: elastic catenaries on the bed, and the junctions they meet at.

At every instant the lines are in balance with the positions of their ends. Without friction on a
flat bed they store energy, elastic and by weight. Friction acts as if every line were pulled
towards B, and depends on the path in nature: with friction, or on a sloped bed, all that lines do
is counted as work.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from swelltree.jit import Array, namespace, pytree
from swelltree.model.capabilities import HasParameters, Moors, ReportsLines, StartsFromEquilibrium
from swelltree.model.effect import Coordinate, Instant, Loads
from swelltree.model.model import Model
from swelltree.mooring.catenary.catenary_ends import Ends, Pieces, ends, rows_of
from swelltree.mooring.catenary.catenary_shape import points_along
from swelltree.mooring.catenary.catenary_stiffness import inside
from swelltree.mooring.catenary.junctions import Junctions, joined, rest_of_junctions
from swelltree.mooring.channels import end_channels
from swelltree.multibody.layout import Layout, Place
from swelltree.multibody.tree import point_motion, spread
from swelltree.spatial.rotations import dot, masked_sum

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
