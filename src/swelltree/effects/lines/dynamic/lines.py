"""Dynamic lines, junctions and seabed contacts of a compiled system, as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.effects.lines.dynamic.arrays import LineArrays, stack_lines
from swelltree.effects.lines.dynamic.ties import WAITS, with_ties
from swelltree.effects.lines.network import Network, Piece, line_network
from swelltree.effects.lines.quasi_static.build import build_lines
from swelltree.effects.lines.quasi_static.rest_shapes import static_network
from swelltree.effects.lines.seabed import Bed, make_bed
from swelltree.effects.lines.winches import Winches, build_winches
from swelltree.engine.arrays import Array, pytree
from swelltree.model.build_layout import local_point
from swelltree.model.layout import Layout
from swelltree.system import System
from swelltree.system.bodies.body import Point

BEYOND = 1.0  # m, from an end to the point that holds a clamped direction


@pytree(
    "tie_body",
    "tie_junction",
    "tie_line",
    "tie_waits",
    "names",
    "lines",
    "end_body",
    "end_junction",
    "junctions",
    "contact_body",
    "contact_junction",
)
class LineSystem:
    """Dynamic lines, the junctions they meet at, and points that may touch the seabed.

    A line has two points, its ends A and B; lines that bend have two more, beyond the ends.
    """

    arrays: LineArrays | None
    bed: Bed | None
    end_point: Array  # (line * points, 3) in body axes, in the world, or zero on junctions
    junction_position: Array  # (junction, 3) at first, m
    junction_mass: Array  # (junction,) kg
    junction_volume: Array  # (junction,) m^3
    junction_drag: Array  # (junction,) m^2
    junction_added: Array  # (junction,) coefficient on the volume
    contact_point: Array  # (contact, 3)
    contact_area: Array  # (contact,) m^2
    names: tuple[str, ...]  # of the pieces
    lines: tuple[str, ...]  # described line of each piece
    end_body: tuple[int, ...]  # (line * points,), N: world or junction
    end_junction: tuple[int, ...]  # (line * points,), J: none
    junctions: tuple[str, ...]
    contact_body: tuple[int, ...]  # (contact,), N: a junction
    contact_junction: tuple[int, ...]  # (contact,), J: none
    tie_point: Array  # (tie, 3) in body axes, or in the world
    tie_begin: Array  # (tie,) s, when an end that waits is caught
    tie_end: Array  # (tie,) s, when it is let go
    tie_tension: Array  # (tie,) N, at which it is let go
    tie_reach: Array  # (tie,) m, from which it is caught
    tie_body: tuple[int, ...] = ()  # of ends that can be caught or released, N: world
    tie_junction: tuple[int, ...] = ()
    tie_line: tuple[int, ...] = ()
    tie_waits: tuple[float, ...] = ()  # line_ties.WAITS where it waits to be caught, else 0
    winches: Any = None  # winches.Winches, or None
    shape: Any = None  # (line, node, 3) at rest between the described ends, m
    tension: Any = None  # (line, segment) at rest, N
    static: Any = None  # the same lines as quasi_static_lines.QuasiStaticLines, for linear studies

    @property
    def n_points(self) -> int:
        """Points of a line that hang on something."""
        return 0 if self.arrays is None else self.arrays.n_ends

    @property
    def n_contacts(self) -> int:
        """Points that may touch the seabed, nodes of lines apart."""
        return len(self.contact_body)


def build_dynamic_lines(system: System, layout: Layout) -> LineSystem | None:
    """Arrays of the dynamic lines and contacts; None where there are none."""
    _check_models(system)
    network = line_network(system, layout, "dynamic")
    if not network.pieces and not system.contacts:
        return None
    bed = _bed(system)
    if bed is None and system.contacts:
        raise system.contacts[0].fail("the water has no depth. Give Water(depth=...) or a Seabed.")
    winches = build_winches(system, layout, [piece.line.name for piece in network.pieces])
    arrays = _stacked(network, winches) if network.pieces else None
    bending = arrays is not None and arrays.bending
    rest = _at_rest(system, network, arrays.n) if arrays is not None else None
    network, ties, more = with_ties(system, layout, network)
    knots = network.junctions
    world, none = layout.n_bodies, len(knots)
    ends = [end for piece in network.pieces for end in _ends(piece, bending, world, none)]
    points, areas, bodies, on_junction = _contacts(system, layout, network, bed)

    def column(name: str) -> np.ndarray:
        return np.array([getattr(knot, name) for knot in knots], float)

    def of_ties(name: str) -> np.ndarray:
        values = [getattr(tie, name) for tie in ties]
        return np.array([-np.inf if x is None else x for x in values], float)

    return LineSystem(
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
        names=tuple(piece.name for piece in network.pieces),
        lines=tuple(piece.line.name for piece in network.pieces),
        end_body=tuple(body for body, _, _ in ends),
        end_junction=tuple(junction for _, junction, _ in ends),
        junctions=tuple(knot.name for knot in knots),
        contact_body=bodies,
        contact_junction=on_junction,
        tie_point=np.array([tie.end.point for tie in ties], float).reshape(-1, 3),
        tie_begin=of_ties("begin"),
        tie_end=of_ties("stop"),
        tie_tension=of_ties("tension"),
        tie_reach=of_ties("reach"),
        tie_body=tuple(tie.end.index for tie in ties),
        tie_junction=tuple(tie.junction for tie in ties),
        tie_line=tuple(tie.piece for tie in ties),
        tie_waits=tuple(0.0 if tie.begin is None else WAITS for tie in ties),
        winches=winches,
        shape=None if rest is None else rest[0],
        tension=None if rest is None else rest[2],
        static=build_lines(system, layout, "dynamic"),
    )


STATIC_LINES = (
    "Dynamic lines count as static catenaries here, without their inertia and drag; contact of "
    "bodies with the seabed is left out."
)


def with_static_lines(model: Any) -> Any:
    """The model with its dynamic lines as catenaries, which every smooth study can take.

    Contact of bodies with the seabed is left out.
    """
    if model.lines is None:
        return model
    static = model.lines.static
    model = model.replace(lines=None).noted(STATIC_LINES)
    return model if static is None else model.with_effect(static)


def _check_models(system: System) -> None:
    """Lines of several models in one system are not stepped together."""
    models = {line.model: line for line in system.lines}
    if {"dynamic", "quasi_static"} <= models.keys():
        a, b = models["dynamic"], models["quasi_static"]
        raise b.fail(f"its model is 'quasi_static', that of '{a.name}' 'dynamic'. Use one of them.")


def _at_rest(system: System, network: Network, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes of all pieces (line, node, 3), junctions and tensions at rest; idle nodes are at A."""

    def place(end: Any, value: Any) -> np.ndarray:
        return np.asarray(end.point) if end.kind == "junction" else system.end_point(value)

    a = np.array([place(p.A, p.line.A) for p in network.pieces])
    b = np.array([place(p.B, p.line.B) for p in network.pieces])
    with np.errstate(all="ignore"):
        found = static_network(system, network, a, b)
    y = np.asarray(found.junctions, float).reshape(-1, 3)
    shapes, tensions = [], []
    for piece, shape in zip(network.pieces, found.shapes, strict=True):
        nodes, pull = np.asarray(shape.position, float), np.asarray(shape.tension, float)
        if not (np.isfinite(nodes).all() and np.isfinite(pull).all()):
            length = sum(part.length for part in piece.parts)
            raise piece.line.fail(
                f"no shape at rest is found for its {length:.4g} m between the described ends. "
                "Check its length, weight and EA, and those of the lines it is joined to."
            )
        tensions.append(np.concatenate([np.zeros(n - len(pull)), pull]))
        shapes.append(np.concatenate([np.repeat(nodes[:1], n + 1 - len(nodes), axis=0), nodes]))
    return np.array(shapes), y, np.array(tensions)


def _line(piece: Piece) -> dict[str, Any]:
    """Numbers of one piece, segment by segment."""
    fields = ("mass_per_length", "diameter", "Cdn", "Cdt", "Can", "Cat", "lift", "EI")
    rows: dict[str, list[Any]] = {name: [] for name in (*fields, "rest_length", "EA", "kappa")}
    tables = []
    inextensible = piece.line.axial == "inextensible"
    for part in piece.parts:
        kind, length = part.type, part.length / part.segments
        EA = np.inf if inextensible else float(kind.initial_EA or np.inf)
        # fraction of the critical damping of one segment between its two halves of mass
        ratio, BA = kind.damping_ratio, kind.BA or 0.0
        if ratio is not None and not inextensible:
            BA = ratio * length * np.sqrt(EA * kind.mass_per_length)
        for _ in range(part.segments):
            for name in fields:
                rows[name].append(getattr(kind, name))
            rows["rest_length"].append(length)
            rows["EA"].append(EA)
            rows["kappa"].append(0.0 if inextensible else BA / EA)
            tables.append(kind.stretch)
    out: dict[str, Any] = {name: np.array(values, float) for name, values in rows.items()}
    out["segments"] = len(tables)
    clamps = (
        piece.is_first and piece.line.clamp_A is not None,
        piece.is_last and piece.line.clamp_B is not None,
    )
    out["clamped"] = np.array(clamps, float)
    own = [table for table in tables if table is not None]
    if own and not inextensible:
        if len(own) < len(tables) or any(table != own[0] for table in own):
            raise piece.line.fail(
                "its sections have different stretch tables. Give one type, or EA for the others."
            )
        out["stretch"] = np.array(own[0])
    return out


def _stacked(network: Network, winches: Winches | None) -> LineArrays:
    """Arrays of all pieces, with room for the segments that winches pay out."""
    rows = [_line(piece) for piece in network.pieces]
    n = max(row["segments"] for row in rows)
    if winches is not None:
        for k, piece in enumerate(winches.line):
            if np.any(rows[piece]["EI"] > 0.0):
                raise network.pieces[piece].line.fail(
                    "a line on a winch cannot have bending stiffness. Give EI=0."
                )
            more = (winches.drum[k] - winches.length[k]) / winches.segment[k]
            n = max(n, rows[piece]["segments"] + int(np.ceil(more - 1e-9)))
    return stack_lines(rows, n)


def _first_positions(rest: Any, ties: int) -> np.ndarray:
    """Junctions at rest; those of ties come where their ends are."""
    own = np.zeros((0, 3)) if rest is None else rest[1]
    return np.concatenate([own, np.zeros((ties, 3))])


def _ends(piece: Piece, bending: bool, world: int, none: int) -> list[tuple[int, int, np.ndarray]]:
    """Body (N: none), junction (J: none) and point of every point of a line."""
    found = []
    for end in (piece.A, piece.B):
        if end.kind == "junction":
            found.append((world, end.index, np.zeros(3)))
        else:
            found.append((end.index, none, np.asarray(end.point)))
    if bending:
        clamps = (piece.line.clamp_A, piece.line.clamp_B)
        sides = zip(list(found), clamps, (-1.0, 1.0), strict=True)
        for (body, junction, point), clamp, sign in sides:
            away = np.zeros(3) if clamp is None else _direction(clamp)
            found.append((body, junction, point + sign * BEYOND * away))
    return found


def _direction(axis: Any) -> np.ndarray:
    """Unit vector of an axis."""
    vector = np.eye(3)["xyz".index(axis)] if isinstance(axis, str) else np.array(axis, float)
    return vector / np.linalg.norm(vector)


def _bed(system: System) -> Bed | None:
    """The seabed, None in infinitely deep water."""
    seabed = system.seabed
    depth = system.water.depth if seabed.depth is None else seabed.depth
    if np.isinf(depth) and seabed.grid is None:
        return None
    grid = None
    if seabed.grid is not None:
        grid = seabed.grid.x, seabed.grid.y, -np.array(seabed.grid.depth)
        for name in ("x", "y"):
            steps = np.diff(getattr(seabed.grid, name))
            if np.ptp(steps) > 1e-6 * steps[0]:
                raise seabed.grid.fail(f"{name} is not evenly spaced. Give an even grid.")
    return make_bed(
        depth,
        seabed.slope,
        seabed.stiffness,
        seabed.damping,
        seabed.friction,
        seabed.friction_velocity,
        grid,
    )


def _contacts(
    system: System, layout: Layout, network: Network, bed: Bed | None
) -> tuple[np.ndarray, np.ndarray, tuple[int, ...], tuple[int, ...]]:
    """Points of bodies and junctions that may touch the seabed."""
    N, J = layout.n_bodies, len(network.junctions)
    points, areas, bodies, junctions = [], [], [], []
    for contact in system.contacts:
        body = system.body(contact.body.body)
        for at in contact.at or _lowest(contact, body):
            points.append(local_point(system, Point(body.name, at)))
            areas.append(contact.area)
            bodies.append(layout.bodies.index(body.name))
            junctions.append(J)
    if bed is not None:
        for k in range(J):
            points.append(np.zeros(3))
            areas.append(1.0)
            bodies.append(N)
            junctions.append(k)
    return (
        np.array(points, float).reshape(-1, 3),
        np.array(areas, float),
        tuple(bodies),
        tuple(junctions),
    )


def _lowest(contact: Any, body: Any) -> list[tuple[float, float, float]]:
    """The lowest corners of a hull."""
    if body.hull is None:
        raise contact.fail(f"body '{body.name}' has no hull. Give the points in `at`.")
    from swelltree.system.bodies.panels import hull_panels

    vertices = np.asarray(hull_panels(body.hull).vertices).reshape(-1, 3)
    vertices = vertices + body.hull_origin
    low = vertices[:, 2].min()
    near = vertices[vertices[:, 2] < low + 1e-3 * max(1.0, np.ptp(vertices[:, 2]))]
    corners = {
        tuple(np.round(near[index], 9).tolist())
        for index in (
            (near[:, 0] + near[:, 1]).argmax(),
            (near[:, 0] + near[:, 1]).argmin(),
            (near[:, 0] - near[:, 1]).argmax(),
            (near[:, 0] - near[:, 1]).argmin(),
        )
    }
    return sorted(corners)


def bodies_touch(model: Any) -> bool:
    """Whether bodies may touch the seabed, whose contact then has a term in the energy budget."""
    lines = model.lines
    return lines is not None and any(body < model.layout.n_bodies for body in lines.contact_body)
