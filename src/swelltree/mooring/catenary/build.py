"""From described quasi-static lines to arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from swelltree.describe import System
from swelltree.describe.mooring.line_types import LineType
from swelltree.describe.mooring.operations import HeaveCompensation
from swelltree.describe.mooring.seabed import ON_BED
from swelltree.mooring.catenary.catenary import Sections
from swelltree.mooring.catenary.catenary_ends import Bed, Pieces
from swelltree.mooring.catenary.junctions import Junctions
from swelltree.mooring.catenary.lines import NODES, QuasiStaticLines
from swelltree.mooring.network import End, Knot, Network, Part, Piece, line_network
from swelltree.mooring.winches import Winches, build_winches
from swelltree.multibody.layout import Layout

INEXTENSIBLE = 1e9  # EA of an inextensible line, of its weight
NO_KNEE = 1e15  # N: a tension that no line has
NOWHERE = -1e9  # level of the bed where there is none, m


@dataclass(frozen=True, eq=False)
class Laid:
    """Pieces of a network, lower end first.

    Args:
        pieces: as arrays.
        junctions: as arrays.
        lower: lower end of each.
        upper: upper end of each.
        turned: is the lower end the described end B?
    """

    pieces: Pieces
    junctions: Junctions
    lower: list[End]
    upper: list[End]
    turned: list[bool]


def lay(system: System, network: Network) -> Laid:
    bed = bed_of(system)
    laid = [_laid(system, bed, piece) for piece in network.pieces]
    turned = [flip for flip, _ in laid]
    anchored = tuple(on_bed for _, on_bed in laid)
    both = list(zip(network.pieces, turned, strict=True))
    lower = [p.B if flip else p.A for p, flip in both]
    upper = [p.A if flip else p.B for p, flip in both]
    parts = [list(p.parts)[:: -1 if flip else 1] for p, flip in both]
    EA = [
        [_stiffness_of(system, piece, part) for part in row]
        for (piece, _), row in zip(both, parts, strict=True)
    ]
    tables = [
        [table_of(piece, part) for part in row] for (piece, _), row in zip(both, parts, strict=True)
    ]
    rests = [_resting(system, p, on_bed) for p, on_bed in zip(parts, anchored, strict=True)]
    may_touch = tuple(
        not on_bed and all(row) and system_has_bed(system)
        for row, on_bed in zip(rests, anchored, strict=True)
    )
    sections = sections_of(system, parts, rests, EA, tables)
    plain = not bed.slope.any() and not float(bed.friction) > 0.0
    pieces = Pieces(sections, bed, anchored, may_touch, bool(plain))
    return Laid(pieces, _junctions(system, network, lower, upper), lower, upper, turned)


def build_lines(
    system: System, layout: Layout, model: str = "quasi_static"
) -> QuasiStaticLines | None:
    """The group of all lines of a model as quasi-static ones, None if there are none.

    Dynamic lines are built so for linear studies: releases are left out, and a seabed grid has its
    depth at the origin.
    """
    network = line_network(system, layout, model)
    if not network.pieces:
        return None
    if model == "quasi_static":
        for piece in network.pieces:
            _check(system, piece)
    laid = lay(system, network)
    turned = laid.turned
    winches = None
    if model == "quasi_static":
        winches = build_winches(system, layout, network.lines, model)
        _check_tips(system, winches)
    nodes = [node for name in network.lines for node in _nodes(network, name, turned)]
    knots = tuple(knot.name for knot in network.junctions)
    end_A = tuple((k[0], not turned[k[0]]) for k in map(network.of_line, network.lines))
    end_B = tuple((k[-1], turned[k[-1]]) for k in map(network.of_line, network.lines))
    reels = ()
    if winches is not None:
        at = zip(winches.line, winches.ends, strict=True)
        places = [(end_A if end == "A" else end_B)[k] for k, end in at]
        reels = tuple((k, 0 if low else len(network.pieces[k].parts) - 1) for k, low in places)
    drums = () if winches is None else tuple(f"winch {name}" for name in winches.names)
    return QuasiStaticLines(
        pieces=laid.pieces,
        junctions=laid.junctions,
        point_A=_points(laid.lower),
        point_B=_points(laid.upper),
        start=np.array(
            [p.stop if flip else p.start for p, flip in zip(network.pieces, turned, strict=True)]
        ),
        node_share=np.array([share for _, share in nodes]),
        way=np.where(turned, -1.0, 1.0),
        names=(*network.lines, *knots, *drums),
        lines=network.lines,
        junction_names=knots,
        body_A=_bodies(layout, laid.lower),
        body_B=_bodies(layout, laid.upper),
        line=tuple(network.lines.index(piece.line.name) for piece in network.pieces),
        end_A=end_A,
        end_B=end_B,
        node_piece=tuple(k for k, _ in nodes),
        reels=reels,
        keeps_energy=laid.pieces.plain,
        lift=system.water.rho
        * system.water.g
        * _mean(network, lambda x: 0.25 * np.pi * x.diameter**2),
        across=_mean(network, lambda x: x.diameter * x.Cdn),
        breaking_load=_breaking_loads(network),
        winches=winches,
    )


def _check_tips(system: System, winches: Winches | None) -> None:
    """Reject heave compensation that measures a junction."""
    if winches is None:
        return
    described = {winch.name: winch for winch in system.winches}
    for name, junction in zip(winches.names, winches.tip_junction, strict=True):
        winch = described[name]
        if junction and isinstance(winch.control, HeaveCompensation):
            raise winch.fail(
                f"its line ends on junction '{junction}', whose velocity is not known on "
                "quasi-static lines. Give HeaveCompensation(at=...), or model='dynamic'."
            )


def _mean(network: Network, value: Callable[[LineType], float]) -> np.ndarray:
    """Mean of a number of the line types along each line (line,)."""
    rows = []
    for name in network.lines:
        parts = [part for k in network.of_line(name) for part in network.pieces[k].parts]
        rows.append(np.average([value(p.type) for p in parts], weights=[p.length for p in parts]))
    return np.array(rows)


def _breaking_loads(network: Network) -> np.ndarray | None:
    """Breaking loads at the output points of lines (line, node), infinite where unknown."""
    rows = []
    for name in network.lines:
        parts = [part for k in network.of_line(name) for part in network.pieces[k].parts]
        stops = np.cumsum([part.length for part in parts])
        at = np.searchsorted(stops, np.linspace(0.0, stops[-1], NODES))
        loads = np.array([part.type.breaking_load or np.inf for part in parts])
        rows.append(loads[np.minimum(at, len(parts) - 1)])
    return np.array(rows) if np.isfinite(rows).any() else None


def _stiffness_of(system: System, piece: Piece, part: Part) -> float:
    """EA of a part; for an inextensible one very large."""
    w = abs(part.type.weight_per_length(system.water.rho, system.water.g))
    large = INEXTENSIBLE * max(piece.length * w, 1e-3)
    return large if piece.line.axial == "inextensible" else float(part.type.initial_EA or large)


def _nodes(network: Network, name: str, turned: list[bool]) -> list[tuple[int, float]]:
    """Piece of every output point of a line, and its position along the piece, upwards."""
    pieces = network.of_line(name)
    stops = np.array([network.pieces[k].stop for k in pieces])
    result = []
    for s in np.linspace(0.0, stops[-1], NODES):
        k = pieces[min(int(np.searchsorted(stops, s)), len(pieces) - 1)]
        piece = network.pieces[k]
        share = min(max((s - piece.start) / piece.length, 0.0), 1.0)
        result.append((k, 1.0 - share if turned[k] else share))
    return result


def system_has_bed(system: System) -> bool:
    return system.seabed.depth is not None or bool(np.isfinite(system.water.depth))


def bed_of(system: System) -> Bed:
    ground = system.seabed
    if not system_has_bed(system):
        return Bed(np.array(NOWHERE), np.zeros(2), np.array(0.0))
    depth = system.water.depth if ground.depth is None else ground.depth
    return Bed(np.array(-float(depth)), np.array(ground.slope), np.array(ground.friction))


def sections_of(
    system: System,
    parts: list[list[Part]],
    rests: list[list[bool]],
    EA: list[list[float]],
    tables: list[list[np.ndarray | None]],
) -> Sections:
    """Arrays of the sections, padded with empty ones at the upper end."""
    most = max(len(row) for row in parts)

    def padded(rows: list[list[float]], empty: bool = False) -> np.ndarray:
        # an empty section is like the one below it
        return np.array(
            [row + [0.0 if empty else row[-1]] * (most - len(row)) for row in rows], dtype=float
        )

    water = system.water
    weight = [[part.type.weight_per_length(water.rho, water.g) for part in row] for row in parts]
    return Sections(
        padded([[part.length for part in row] for row in parts], empty=True),
        padded(weight),
        1.0 / padded(EA),
        padded([[float(rest) for rest in row] for row in rests]),
        *_knees(tables, most),
    )


def table_of(piece: Piece, part: Part) -> np.ndarray | None:
    """Stretch table (strain, tension) of a part."""
    curve = part.type.static_curve
    return None if curve is None or piece.line.axial == "inextensible" else np.array(curve)


def _knees(
    tables: list[list[np.ndarray | None]], most: int
) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
    """Tensions at the breakpoints of tables, and the change of 1/EA there (e, m, k)."""
    count = max((len(table) - 2 for row in tables for table in row if table is not None), default=0)
    if count <= 0:
        return None, None
    knee = np.full((len(tables), most, count), NO_KNEE)
    softer = np.zeros(knee.shape)
    for i, row in enumerate(tables):
        for j, table in enumerate(row):
            if table is not None:
                soft = np.diff(table[:, 0]) / np.diff(table[:, 1])
                knee[i, j, : len(soft) - 1] = table[1:-1, 1]
                softer[i, j, : len(soft) - 1] = np.diff(soft)
    return knee, softer


def _check(system: System, piece: Piece) -> None:
    """Reject features that catenaries do not support."""
    line = piece.line
    if line.release_time is not None or line.release_tension is not None:
        raise line.fail("a quasi-static line is not released. Give model='dynamic'.")
    fibre = next((part.type for part in piece.parts if part.type.dynamic_EA is not None), None)
    if fibre is not None:
        raise line.fail(
            f"type '{fibre.name}' has a dynamic_EA, and a quasi-static line has no memory. Give "
            "model='dynamic', or a type with the one EA that holds for the study."
        )
    if system.seabed.grid is not None:
        raise line.fail(
            "a quasi-static line takes a plane seabed, not a grid. Give Seabed(depth=, slope=), "
            "or model='dynamic'."
        )


def _laid(system: System, bed: Bed, piece: Piece) -> tuple[bool, bool]:
    """Whether a piece is reversed, and whether its lower end lies on the bed."""
    heights = [_height(system, bed, end) for end in (piece.A, piece.B)]
    lies = [height is not None and bool(height <= 0.0) for height in heights]
    return lies[1] and not lies[0], lies[0] or lies[1]


def _height(system: System, bed: Bed, end: End) -> float | None:
    """Height of a fixed end above the tolerance of the bed, None for other ends."""
    if end.kind != "fixed" or not system_has_bed(system):
        return None
    x, y, z = end.point
    level = float(bed.level + bed.slope[0] * x + bed.slope[1] * y)
    near = ON_BED * max(abs(level), 1e-3)
    return float(z - level - near)


def _resting(system: System, parts: list[Part], on_bed: bool) -> list[bool]:
    """Sections that may lie on the bed: heavy ones from the anchor, or all if all are heavy."""
    if not system_has_bed(system):
        return [False] * len(parts)
    heavy = [p.type.weight_per_length(system.water.rho, system.water.g) > 0.0 for p in parts]
    first = heavy.index(False) if False in heavy else len(heavy)
    if on_bed:
        return [k < first for k in range(len(parts))]
    return [first == len(heavy)] * len(parts)


def _points(result: list[End]) -> np.ndarray:
    return np.array(
        [np.zeros(3) if end.kind == "junction" else end.point for end in result], dtype=float
    )


def _bodies(layout: Layout, result: list[End]) -> tuple[int, ...]:
    return tuple(end.index if end.kind == "body" else layout.n_bodies for end in result)


def _junctions(system: System, network: Network, lower: list[End], upper: list[End]) -> Junctions:
    def number(end: End) -> int:
        return end.index if end.kind == "junction" else -1

    def weight(knot: Knot) -> float:
        return (knot.mass - system.water.rho * knot.volume) * system.water.g

    return Junctions(
        np.array([knot.position for knot in network.junctions], dtype=float).reshape(-1, 3),
        np.array([weight(knot) for knot in network.junctions], dtype=float),
        tuple(number(end) for end in lower),
        tuple(number(end) for end in upper),
    )
