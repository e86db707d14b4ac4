"""From described dynamic lines, junctions and contacts to arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import System
from swelltree.describe.values import NamedValues
from swelltree.jit import Array
from swelltree.mooring.catenary.equilibrium_shapes import static_network
from swelltree.mooring.dynamic.arrays import (
    HISTORY,
    LineArrays,
    contact_points,
    originals_of,
    seabed_of,
    stack_lines,
    tables_of,
)
from swelltree.mooring.dynamic.lines import WAITS, DynamicLines, static_lines, with_ties
from swelltree.mooring.network import End, Network, Piece, from_end_B, line_network
from swelltree.mooring.winches import Winches, build_winches
from swelltree.multibody.layout import Layout

if TYPE_CHECKING:
    from swelltree.describe.mooring.line import LineEnd
    from swelltree.describe.mooring.line_types import LineType


HIGH = 0.01  # m above the water and the described place: a junction that catenaries let rise
CLAMP_LENGTH = 1.0  # m, from an end to the point that holds a clamped direction


def build_dynamic_lines(system: System, layout: Layout) -> DynamicLines | None:
    network = line_network(system, layout, "dynamic")
    at_B = {winch.line for winch in system.winches if winch.end == "B"}
    turned = tuple(piece.line.name in at_B for piece in network.pieces)
    pieces = zip(network.pieces, turned, strict=True)
    # segments come and go at the first end
    network = replace(
        network, pieces=tuple(from_end_B(piece) if flip else piece for piece, flip in pieces)
    )
    if not network.pieces and not system.contacts:
        return None
    bed = seabed_of(system)
    if bed is None and system.contacts:
        raise system.contacts[0].fail("the water has no depth. Give Water(depth=...) or a Seabed.")
    winches = build_winches(system, layout, [piece.line.name for piece in network.pieces])
    arrays = _stacked(network, winches) if network.pieces else None
    if arrays is not None and arrays.slow:
        _check_slow(system, network)
    bending = arrays is not None and arrays.bending
    rest = _at_rest(system, network, arrays.n) if arrays is not None else None
    network, ties, more = with_ties(system, layout, network)
    knots = network.junctions
    world, none = layout.n_bodies, len(knots)
    ends = [end for piece in network.pieces for end in _ends(piece, bending, world, none)]
    points, areas, bodies, on_junction = contact_points(system, layout, network, bed)

    def column(name: str) -> np.ndarray:
        return np.array([getattr(knot, name) for knot in knots], float)

    def of_ties(name: str) -> np.ndarray:
        values = [getattr(tie, name) for tie in ties]
        return np.array([-np.inf if x is None else x for x in values], float)

    return DynamicLines(
        arrays=arrays,
        bed=bed,
        end_point=np.array([point for _, _, point in ends], float).reshape(-1, 3),
        junction_position=_first_positions(rest, more),
        junction_mass=column("mass"),
        junction_volume=column("volume"),
        junction_drag=column("drag_area"),
        junction_added=column("added_mass"),
        contact_point=points,
        contact_area=areas,
        pieces=tuple(piece.name for piece in network.pieces),
        lines=tuple(piece.line.name for piece in network.pieces),
        end_body=tuple(body for body, _, _ in ends),
        end_junction=tuple(junction for _, junction, _ in ends),
        junctions=tuple(knot.name for knot in knots),
        contact_body=bodies,
        contact_junction=on_junction,
        touches=any(body < world for body in bodies),
        tie_point=np.array([tie.end.point for tie in ties], float).reshape(-1, 3),
        tie_begin=of_ties("begin"),
        tie_end=of_ties("stop"),
        tie_tension=of_ties("tension"),
        tie_reach=of_ties("reach"),
        tie_body=tuple(tie.end.index for tie in ties),
        tie_junction=tuple(tie.junction for tie in ties),
        tie_line=tuple(tie.piece for tie in ties),
        tie_at_A=tuple(tie.at_A for tie in ties),
        tie_waits=tuple(0.0 if tie.begin is None else WAITS for tie in ties),
        winches=winches,
        breaking_load=None if arrays is None else _breaking_loads(network, arrays.n),
        shape=None if rest is None else rest[0],
        tension=None if rest is None else rest[2],
        static=static_lines(system, layout),
        turned=turned,
    )


def _check_slow(system: System, network: Network) -> None:
    """Reject features that the slow spring of fibre ropes does not support."""
    on_drums = {winch.line for winch in system.winches}
    for piece in network.pieces:
        kinds = [part.type for part in piece.parts if part.type.dynamic_EA is not None]
        if kinds and piece.line.name in on_drums:
            raise piece.line.fail(
                f"type '{kinds[0].name}' has a dynamic_EA, whose slow spring winches do not "
                "support. Give the line of the winch a type with EA alone."
            )
        if kinds and any(part.type.EI > 0.0 for part in piece.parts):
            raise piece.line.fail(
                f"type '{kinds[0].name}' has a dynamic_EA, which cannot be combined with EI. "
                "Leave it out."
            )


def _held(piece: Piece) -> Piece:
    """The piece with its junctions fixed at their described positions."""
    fixed = [replace(x, kind="fixed") if x.kind == "junction" else x for x in (piece.A, piece.B)]
    return replace(piece, A=fixed[0], B=fixed[1])


def _at_rest(system: System, network: Network, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Equilibrium nodes of all pieces (line, node, 3), junctions, tensions; idle nodes are at A."""

    def place(end: End, value: LineEnd) -> np.ndarray:
        return np.asarray(end.point) if end.kind == "junction" else system.end_point(value)

    a = np.array([place(p.A, p.line.A) for p in network.pieces])
    b = np.array([place(p.B, p.line.B) for p in network.pieces])
    with np.errstate(all="ignore"):
        result = static_network(system, network, a, b)
        y = np.asarray(result.junctions, float).reshape(-1, 3)
        described = np.array([knot.position for knot in network.junctions]).reshape(-1, 3)
        # catenaries keep their weight in water: what floats rises above it
        if (y[:, 2] > np.maximum(described[:, 2], 0.0) + HIGH).any():
            y, pieces = described, [_held(piece) for piece in network.pieces]
            result = static_network(system, Network(tuple(pieces), ()), a, b)
    shapes, tensions = [], []
    for piece, shape in zip(network.pieces, result.shapes, strict=True):
        nodes, pull = np.asarray(shape.position, float), np.asarray(shape.tension, float)
        if not (np.isfinite(nodes).all() and np.isfinite(pull).all()):
            length = sum(part.length for part in piece.parts)
            raise piece.line.fail(
                f"no equilibrium shape is found for its {length:.4g} m between the described ends. "
                "Check its length, weight and EA, and those of the lines it is joined to."
            )
        tensions.append(np.concatenate([np.zeros(n - len(pull)), pull]))
        shapes.append(np.concatenate([np.repeat(nodes[:1], n + 1 - len(nodes), axis=0), nodes]))
    return np.array(shapes), y, np.array(tensions)


def _line(piece: Piece) -> NamedValues:
    """Parameters of one piece by segment."""
    fields = ("mass_per_length", "diameter", "Cdn", "Cdt", "Can", "Cat", "lift", "EI")
    springs = ("EA", "kappa", "dynamic_EA", "dynamic_EA_slope", "slow_BA", *HISTORY)
    rows: dict[str, list[float]] = {name: [] for name in (*fields, "rest_length", *springs)}
    kinds: list[LineType] = []
    inextensible = piece.line.axial == "inextensible"
    for part in piece.parts:
        kind, length = part.type, part.length / part.segments
        EA = np.inf if inextensible else float(kind.initial_EA or np.inf)
        # fraction of the critical damping of one segment between its two halves of mass
        ratio, BA = kind.damping_ratio, kind.BA or 0.0
        if ratio is not None and not inextensible:
            stiffness = float(kind.dynamic_EA or EA)
            BA = ratio * length * np.sqrt(stiffness * kind.mass_per_length)
        for _ in range(part.segments):
            for name in fields:
                rows[name].append(getattr(kind, name))
            rows["rest_length"].append(length)
            rows["EA"].append(EA)
            rows["kappa"].append(0.0 if inextensible else BA / EA)
            for name in (*springs[2:5], "max_mean_tension"):
                rows[name].append(0.0 if inextensible else getattr(kind, name) or 0.0)
            worked = kind.original_curve is not None and not inextensible
            rows["working_EA"].append(float(kind.EA or 0.0) if worked else 0.0)
            kinds.append(kind)
    out: NamedValues = {name: np.array(values, float) for name, values in rows.items()}
    out["segments"] = len(kinds)
    clamps = (
        piece.is_first and piece.line.clamp_A is not None,
        piece.is_last and piece.line.clamp_B is not None,
    )
    out["clamped"] = np.array(clamps, float)
    if not inextensible:
        out["stretch"], out["original"] = tables_of(kinds, out["EA"]), originals_of(kinds)
    return out


def _breaking_loads(network: Network, n: int) -> np.ndarray | None:
    """Breaking loads of the segments (line, segment), infinite where unknown; None: no data."""
    out = np.full((len(network.pieces), n), np.inf)
    for row, piece in zip(out, network.pieces, strict=True):
        loads = [[part.type.breaking_load or np.inf] * part.segments for part in piece.parts]
        own = np.concatenate(loads)
        row[:] = own[0]
        row[n - len(own) :] = own
    return out if np.isfinite(out).any() else None


def _stacked(network: Network, winches: Winches | None) -> LineArrays:
    """Arrays of all pieces, padded for segments that winches pay out."""
    rows = [_line(piece) for piece in network.pieces]
    n = max(row["segments"] for row in rows)
    if winches is not None:
        for k, piece in enumerate(winches.line):
            more = (winches.drum[k] - winches.length[k]) / winches.segment[k]
            n = max(n, rows[piece]["segments"] + int(np.ceil(more - 1e-9)))
    return stack_lines(rows, n)


def _first_positions(rest: Array, ties: int) -> np.ndarray:
    """Junctions in equilibrium; those of ties at their line ends."""
    positions = np.zeros((0, 3)) if rest is None else rest[1]
    return np.concatenate([positions, np.zeros((ties, 3))])


def _ends(piece: Piece, bending: bool, world: int, none: int) -> list[tuple[int, int, np.ndarray]]:
    """Body (N: none), junction (J: none) and point of every attachment of a line."""
    result = []
    for end in (piece.A, piece.B):
        if end.kind == "junction":
            result.append((world, end.index, np.zeros(3)))
        else:
            result.append((end.index, none, np.asarray(end.point)))
    if bending:
        clamps = (piece.line.clamp_A, piece.line.clamp_B)
        sides = zip(list(result), clamps, (-1.0, 1.0), strict=True)
        for (body, junction, point), clamp, sign in sides:
            away = np.zeros(3) if clamp is None else _direction(clamp)
            result.append((body, junction, point + sign * CLAMP_LENGTH * away))
    return result


def _direction(axis: str | tuple[float, ...]) -> np.ndarray:
    vector = np.eye(3)["xyz".index(axis)] if isinstance(axis, str) else np.array(axis, float)
    return vector / np.linalg.norm(vector)
