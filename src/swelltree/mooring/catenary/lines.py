"""Quasi-static lines: elastic catenaries on the bed, and the junctions they meet at.

At every instant the lines are in balance with the positions of their ends. Without friction on a
flat bed they store energy, elastic and by weight. Friction acts as if every line were pulled
towards B, and depends on the path in nature: with friction, or on a sloped bed, all that lines do
is counted as work.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np

from swelltree.jit import Array, Tree, namespace, pytree
from swelltree.model.capabilities import (
    HasCalmForm,
    HasEquilibriumStates,
    HasParameters,
    HasWinches,
    Moors,
    ReportsLines,
    StartsFromEquilibrium,
)
from swelltree.model.effect import Coordinate, Instant, Loads
from swelltree.model.model import Model
from swelltree.mooring.catenary.catenary import Sections, span
from swelltree.mooring.catenary.catenary_ends import Bed, Ends, Pieces, ends, rows_of
from swelltree.mooring.catenary.catenary_solve import MIN_HORIZONTAL
from swelltree.mooring.catenary.catenary_stiffness import inside
from swelltree.mooring.catenary.junctions import Junctions, joined, rest_of_junctions
from swelltree.mooring.channels import end_channels
from swelltree.mooring.winches import Winches, WinchState, rates, winch_coordinates
from swelltree.multibody.kinematics import PointMotion, Pose, point_motion, spread
from swelltree.multibody.layout import Layout, Place
from swelltree.spatial.rotations import dot, masked_sum

# Shape of a piece of line whose end forces are known: points and tensions along it.
#
# The part above a point of a catenary is a catenary with the same force at B.


def _above(sections: Sections, s: Array) -> Sections:
    """Content between the distance s from A and B."""
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


class _At(NamedTuple):
    lines: QuasiStaticLines  # as long as they are
    at_A: PointMotion
    at_B: PointMotion
    a: Array  # lower and upper ends, junctions found (e, 3) [m]
    b: Array
    y: Array  # junctions (j, 3) [m]
    result: Ends
    lying: Array
    energy: Array  # (e,) [J]


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
    "reels",
    "keeps_energy",
)
# columns of the states of a winch: those of its law, work and energy of the rope that came in
COLUMNS = 7
WORK, BROUGHT = 5, 6


@pytree(*STATIC_FIELDS)
class QuasiStaticLines(
    Moors,
    StartsFromEquilibrium,
    HasParameters,
    HasEquilibriumStates,
    HasCalmForm,
    HasWinches,
    ReportsLines,
):
    r"""All quasi-static lines of a system, in e pieces.

    Pieces run upwards: where a line was described from its upper end, `end_A` and `end_B` say so.
    A winch changes the length of the section at its end. The energy of lines changes with it by

    .. math:: \dot E = -\Big( T + \int_0^T \varepsilon \, dT \Big) v + w z v

    with the strain, the weight w in water and the height z of the rope at the winch.
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
    reels: tuple[tuple[int, int], ...]  # of each winch: piece, and section at its end
    keeps_energy: bool
    lift: Array | None = None  # (line,) mean buoyancy of a metre in water, N/m
    across: Array | None = None  # (line,) mean of diameter times drag coefficient across it, m
    breaking_load: Array | None = None  # (line, node) N, infinite where unknown; None: nowhere
    winches: Tree = None  # Winches, or None

    def with_winches(self, winches: Winches) -> QuasiStaticLines:
        return replace(self, winches=winches)

    def in_still_water(self) -> QuasiStaticLines:
        if self.winches is None:
            return self
        return replace(self, winches=replace(self.winches, max_speed=0.0 * self.winches.max_speed))

    def internal_start(self) -> Array:
        if self.winches is None:
            return np.zeros(0)
        length = self._described_lengths()
        return namespace(length).stack([length, *[0.0 * length] * (COLUMNS - 1)], -1)

    def _described_lengths(self) -> Array:
        """Lengths of the lines on winches before a run, by their sections (winch,) [m]."""
        total = self.pieces.sections.total_length
        of_line = np.array(self.winches.line)[:, None] == np.array(self.line)
        return namespace(total).where(of_line, total, 0.0).sum(-1)

    def equilibrium_states(self, states: Array, pose: Pose) -> Array:
        """Winches stand still there."""
        return states

    def internal_rate(self, model: Model, now: Instant) -> Array:
        at = self._at(now)
        _, tension = at.lines.shape(at.result, at.lying, at.a, at.b)
        rate, speed, power, brought = self._reeled(model, now, at, tension)
        known = (rate.length, rate.speed, rate.heave, rate.stroke, rate.compensated)
        return namespace(speed).stack([*known, power, brought], -1)

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        drums = {} if self.winches is None else winch_coordinates(self.winches)
        return {
            "line": ("line", self.lines, "line, from end A to end B"),
            "junction": ("junction", self.junction_names, "free point of lines"),
        } | drums

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
        at = self._at(now)
        at_A, at_B, a, b, y = at.at_A, at.at_B, at.a, at.b, at.y
        result, force_A, force_B = at.result, at.result.force_A, at.result.force_B
        body_A, body_B = np.array(self.body_A, dtype=int), np.array(self.body_B, dtype=int)
        none = 0.0 * force_A
        wrench = spread(model.layout, now.motion, body_A, a, force_A, none)
        wrench = wrench + spread(model.layout, now.motion, body_B, b, force_B, none)
        xp = namespace(wrench)
        of_line = (np.arange(len(self.lines))[:, None] == np.array(self.line)).astype(float)
        stored = masked_sum(of_line, at.energy[:, None])[:, 0]
        work = dot(force_A, at_A.velocity) + dot(force_B, at_B.velocity)
        work = masked_sum(of_line, work[:, None])[:, 0]
        height = self.junctions.weight * y[:, 2]
        stored = xp.concatenate([stored, height])
        work = xp.concatenate([work, 0.0 * height])
        if self.keeps_energy:
            work = 0.0 * work
        else:
            stored = 0.0 * stored
        channels = at.lines._channels(result, at.lying, a, b)
        if self.junctions.count:
            channels["junction_position"] = y
        if self.winches is not None:
            tension = channels["line_node_tension"]
            _, speed, power, brought = self._reeled(model, now, at, tension)
            kept = 1.0 if self.keeps_energy else 0.0
            stored = xp.concatenate([stored, 0.0 * power])
            work = xp.concatenate([work, kept * (power + brought)])
            x = now.states(self)
            channels |= {
                "winch_length": x[:, 0],
                "winch_speed": speed,
                "winch_tension": self._at_reels(tension),
                "winch_power": power,
                "winch_work": x[:, WORK],
                "winch_rope_energy": x[:, BROUGHT],
            }
        return Loads(wrench, stored, work, channels)

    def _at(self, now: Instant) -> _At:
        """The lines as long as they are now, in balance with the positions of their ends."""
        lines = self
        if self.winches is not None:
            lines = self._paid_out(now.states(self))
        body_A, body_B = np.array(self.body_A, dtype=int), np.array(self.body_B, dtype=int)
        at_A = point_motion(now.motion, body_A, self.point_A)
        at_B = point_motion(now.motion, body_B, self.point_B)
        y = rest_of_junctions(self.junctions, lines.pieces, at_A.position, at_B.position)
        a, b = joined(self.junctions, y, at_A.position, at_B.position)
        result = ends(lines.pieces, a, b)
        within = inside(lines.pieces, result, a, b)
        return _At(lines, at_A, at_B, a, b, y, result, within.lying, within.energy)

    def _paid_out(self, x: Array) -> QuasiStaticLines:
        sections = self.pieces.sections
        more = x[:, 0] - self._described_lengths()
        xp = namespace(more, sections.length, self.start)
        length, start = xp.asarray(sections.length), xp.asarray(self.start)
        rows, columns = (np.arange(size) for size in length.shape)
        for w, (piece, section) in enumerate(self.reels):
            here = rows == piece
            length = length + xp.where(here[:, None] & (columns == section), more[w], 0.0)
            # the lower end of a piece that runs from B to A
            start = start + xp.where(here & (self.way < 0.0), more[w], 0.0)
        pieces = replace(self.pieces, sections=replace(sections, length=length))
        return replace(self, pieces=pieces, start=start)

    def _at_reels(self, along: Array) -> Array:
        """Values at the points of lines that are at winches, from those of all (line, node)."""
        xp = namespace(along)
        ends = zip(self.winches.line, self.winches.ends, strict=True)
        return xp.stack([along[k, 0 if end == "A" else -1] for k, end in ends])

    def _reeled(
        self, model: Model, now: Instant, at: _At, tension: Array
    ) -> tuple[WinchState, Array, Array, Array]:
        """Rates of winches, speed of the rope, power of winches, and that of rope coming in."""
        winches, x = self.winches, now.states(self)
        pull = self._at_reels(tension)
        tip = point_motion(now.motion, np.array(winches.tip_body, dtype=int), winches.tip_point)
        state = WinchState(*(x[:, k] for k in range(5)))
        speed, rate = rates(winches, now.t, state, tip.velocity[:, 2], pull)
        xp = namespace(speed, pull)
        sections = at.lines.pieces.sections
        piece, section = (np.array(k, dtype=int) for k in zip(*self.reels, strict=True))
        strained = 0.5 * sections.compliance[piece, section] * pull**2
        if sections.knee is not None and sections.softer is not None:
            over = xp.maximum(pull[:, None] - sections.knee[piece, section], 0.0)
            strained = strained + 0.5 * (sections.softer[piece, section] * over**2).sum(-1)
        ends = zip(winches.line, winches.ends, strict=True)
        places = [(self.end_A if end == "A" else self.end_B)[k] for k, end in ends]
        height = xp.stack([(at.a if lower else at.b)[k, 2] for k, lower in places])
        brought = sections.weight[piece, section] * height * speed
        return rate, speed, -(pull + strained) * speed, brought

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
