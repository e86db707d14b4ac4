"""The numbers of all lines of a system, stacked and padded to one number of segments.

A line runs from end A (node 0) to end B (node n); segment s lies between the nodes s and s + 1.
Shorter lines have idle segments at end A: their nodes sit on A and carry nothing. So the sizes of a
program do not depend on how many segments each line has, and a winch can pay out segments at A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import System
from swelltree.describe.bodies.body import Body
from swelltree.describe.bodies.hull_panels import hull_panels
from swelltree.describe.values import NamedValues
from swelltree.jit import Array, Tree, namespace, pytree
from swelltree.model.model import Model
from swelltree.mooring.network import Network
from swelltree.mooring.seabed import Bed, make_bed
from swelltree.multibody.build_layout import local_point
from swelltree.multibody.layout import Layout

if TYPE_CHECKING:
    from swelltree.describe.mooring.line_types import LineType
    from swelltree.describe.mooring.seabed import SeabedContact
    from swelltree.mooring.dynamic.lines import DynamicLines, StaticLines


MIN_RATIO = 1.02  # of the stiffness against fast changes to that against slow ones


@pytree("bending", "elastic", "inextensible", "lifted", "slow")
class LineArrays:
    """All lines: (line, segment) unless said otherwise.

    Args:
        rest_length: unstretched length [m].
        EA: axial stiffness [N]; infinite where the segment cannot stretch.
        kappa: axial damping over axial stiffness, BA/EA [s].
        mass_per_length: in air [kg/m].
        diameter: of the displaced volume and of the drag [m].
        dynamic_EA: stiffness against fast changes at no mean tension [N]; 0: EA alone.
        dynamic_EA_slope: its growth per mean tension.
        slow_BA: damping of the slow spring [N s].
        working_EA: slope of the working curves of an original curve [N]; 0: none.
        max_mean_tension: of the past, on an original curve [N].
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
        original: points (strain, tension, strain of the slow spring) of original curves (line,
            segment, point, 3), zeros where a segment has none; no points where all have none.
        bending: whether any line has a bending stiffness.
        elastic: whether any segment can stretch.
        inextensible: whether any segment cannot.
        lifted: whether any segment has lift or any node a drag of its own.
        slow: whether any segment has a slow spring.
    """

    rest_length: Array
    EA: Array
    kappa: Array
    dynamic_EA: Array
    dynamic_EA_slope: Array
    slow_BA: Array
    working_EA: Array
    max_mean_tension: Array
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
    original: Array
    bending: bool
    elastic: bool
    inextensible: bool
    lifted: bool
    slow: bool

    @property
    def n(self) -> int:
        """Number of segments of every line, including idle ones."""
        return self.rest_length.shape[-1]

    @property
    def pushes(self) -> Array:
        """Segments that carry compression: those with bending stiffness."""
        return self.EI > 0.0

    @property
    def n_lines(self) -> int:
        return self.rest_length.shape[0]

    @property
    def n_ends(self) -> int:
        """Number of points by which a line is attached: its two ends and the two beyond."""
        return 4 if self.bending else 2


_PER_SEGMENT: dict[str, float] = {
    "rest_length": np.nan,
    "EA": np.inf,
    "kappa": 0.0,
    "dynamic_EA": 0.0,
    "dynamic_EA_slope": 0.0,
    "slow_BA": 0.0,
    "working_EA": 0.0,
    "max_mean_tension": 0.0,
    "mass_per_length": np.nan,
    "diameter": 0.0,
    "Cdn": 0.0,
    "Cdt": 0.0,
    "Can": 0.0,
    "Cat": 0.0,
    "lift": 0.0,
    "EI": 0.0,
}
HISTORY = ("working_EA", "max_mean_tension")  # of fibre ropes
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
    originals = [line.get("original") for line in lines]
    points, own = (
        max((np.shape(t)[-2] for t in some if t is not None), default=0)
        for some in (tables, originals)
    )
    columns: dict[str, list[np.ndarray]] = {}

    def put(name: str, value: np.ndarray) -> None:
        columns.setdefault(name, []).append(value)

    for line, count, table, original in zip(lines, counts, tables, originals, strict=True):
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
        curves = np.zeros((n, own, 3))
        if original is not None:
            curves[idle:] = original
        put("original", curves)
    stacked = {name: np.stack(value) for name, value in columns.items()}
    soft = np.isfinite(stacked["EA"])
    return LineArrays(
        **stacked,
        bending=bool(np.any(stacked["EI"] > 0.0)),
        elastic=bool(np.any(soft)),
        inextensible=bool(np.any(~soft)),
        lifted=bool(np.any(stacked["lift"]) or np.any(stacked["point_drag"])),
        slow=bool(np.any(stacked["dynamic_EA"])),
    )


def tables_of(kinds: Sequence[LineType], EA: np.ndarray) -> np.ndarray | None:
    """Tables (strain, tension) of segments, with one number of points; None where there are none.

    Args:
        kinds: of the segments.
        EA: stiffness of those without a table [N].
    """
    tables = [kind.static_curve for kind in kinds]
    points = max((len(table) for table in tables if table is not None), default=0)
    if points == 0:
        return None
    out = np.zeros((len(kinds), points, 2))
    for row, table, stiffness in zip(out, tables, EA, strict=True):
        own = np.array(((0.0, 0.0), (1.0, stiffness)) if table is None else table)
        row[: len(own)] = own
        more = np.arange(1, points - len(own) + 1)[:, None]
        row[len(own) :] = own[-1] + more * (own[-1] - own[-2])
    return out


FINER = 8  # points on each piece of an original curve: the fast spring is not straight in it


def originals_of(kinds: Sequence[LineType]) -> np.ndarray | None:
    """Points (strain, tension, strain of the slow spring) of original curves of segments."""
    points = max((FINER * len(k.original_curve or ()) for k in kinds), default=0)
    if points == 0:
        return None
    out = np.zeros((len(kinds), points, 3))
    for row, kind in zip(out, kinds, strict=True):
        if kind.original_curve is None:
            continue
        strain, tension = np.array(kind.original_curve).T
        fine = np.linspace(0.0, len(strain) - 1.0, points)
        strain, tension = (np.interp(fine, np.arange(len(x)), x) for x in (strain, tension))
        fast = (kind.dynamic_EA or 0.0) + (kind.dynamic_EA_slope or 0.0) * tension[1:]
        fast = np.maximum(fast, MIN_RATIO * (kind.EA or 0.0))
        row[1:] = np.stack([strain[1:], tension[1:], strain[1:] - tension[1:] / fast], 1)
    return out


def unstacked(arrays: LineArrays) -> list[LineArrays]:
    """List of single lines, without the axis of lines."""
    names = [field.name for field in fields(arrays)]
    stacked = [name for name in names if np.ndim(getattr(arrays, name))]
    return [
        replace(arrays, **{name: np.asarray(getattr(arrays, name))[k] for name in stacked})
        for k in range(arrays.n_lines)
    ]


def _tables(
    columns: dict[str, list[np.ndarray]], table: Array | None, count: int, n: int, points: int
) -> np.ndarray:
    """Law of every segment as a table; EA becomes the maximum slope of a given one."""
    EA = columns["EA"][-1]
    out = np.zeros((n, points, 2))
    if points == 0:
        return out
    if table is None:  # a straight law, as a table
        rows = np.linspace(0.0, 1.0, points)
        out[..., 0] = rows
        out[..., 1] = rows * np.where(np.isfinite(EA), EA, 0.0)[:, None]
        return out
    specified = np.broadcast_to(np.asarray(table, float), (count, *np.shape(table)[-2:]))
    last, before = specified[:, -1], specified[:, -2]
    more = np.arange(1, points - specified.shape[1] + 1)[None, :, None]
    specified = np.concatenate([specified, last[:, None] + more * (last - before)[:, None]], axis=1)
    out[n - count :] = specified
    out[: n - count] = specified[0]
    slope = np.diff(out[..., 1], axis=1) / np.diff(out[..., 0], axis=1)
    columns["EA"][-1] = slope.max(axis=1)
    # BA is what it was
    columns["kappa"][-1] = columns["kappa"][-1] * np.where(np.isfinite(EA), EA, 0.0) / slope.max(1)
    return out


def with_first(arrays: LineArrays, first: Array, rest: Array) -> LineArrays:
    """Lines with this number of idle segments and this first segment."""
    return replace(arrays, first=first, rest_length=rest_lengths(arrays, first, rest))


def rest_lengths(arrays: LineArrays, first: Array, rest: Array) -> Array:
    """Unstretched lengths of all segments (line, segment) [m]."""
    xp = namespace(first, rest, arrays.rest_length)
    at_first = np.arange(arrays.n) == xp.asarray(first)[:, None]
    return xp.where(at_first, xp.asarray(rest)[:, None], arrays.rest_length)


# --- The seabed under dynamic lines, and points of bodies and junctions that may touch it


def seabed_of(system: System) -> Bed | None:
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
        grid,
    )


def contact_points(
    system: System, layout: Layout, network: Network, bed: Bed | None
) -> tuple[np.ndarray, np.ndarray, tuple[int, ...], tuple[int, ...]]:
    """Points of bodies and junctions that may touch the seabed."""
    N, J = layout.n_bodies, len(network.junctions)
    points, areas, bodies, junctions = [], [], [], []
    for contact in system.contacts:
        body = system.body(contact.body.body)
        for at in contact.at or _lowest(contact, body):
            points.append(local_point(system, body.at(*at)))
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


def _lowest(contact: SeabedContact, body: Body) -> list[tuple[float, float, float]]:
    if body.hull is None:
        raise contact.fail(f"body '{body.name}' has no hull. Give the points in `at`.")
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


# --- Numbers of dynamic lines by name: `<line>.length`, `.EA`, `.mass_per_length`, `.diameter`,

EVEN = ("EA", "mass_per_length", "diameter", "Cdn", "Cdt", "Can", "Cat")


def even_numbers(lines: DynamicLines, name: str) -> list[str]:
    """Names of the numbers of a line; none if there is no such line, or it is cut.

    Args:
        lines: `DynamicLines`.
        name: of the line.
    """
    if lines.arrays is None or lines.lines.count(name) != 1:
        return []
    row = lines.lines.index(name)
    used = _used(lines.arrays, row)
    even = [key for key in EVEN if _is_even(getattr(lines.arrays, key)[row], used)]
    if not _is_straight(lines.arrays, row):
        even = [key for key in even if key != "EA"]
    return ["length", *even]


def _is_straight(arrays: LineArrays, row: int) -> bool:
    """Whether a line has one EA and no table; beside a line with a table it has a straight one."""
    points = np.asarray(arrays.stretch)[row] if isinstance(arrays.stretch, np.ndarray) else None
    if points is None or not points.size:
        return True
    slope = np.diff(points[..., 1], axis=-1) / np.diff(points[..., 0], axis=-1)
    history = np.asarray(arrays.working_EA)[row].any()
    return bool(not history and np.ptp(slope) <= 1e-9 * np.abs(slope).max())


def _used(arrays: LineArrays, row: int) -> np.ndarray:
    return np.arange(arrays.n) >= np.asarray(arrays.first)[row]


def _is_even(values: Array, used: np.ndarray) -> bool:
    """Whether values are uniform along the line; a traced value is, as it was set by name."""
    if not isinstance(values, np.ndarray):
        return True
    in_use = values[used]
    return bool(np.isfinite(in_use).all() and (in_use == in_use[0]).all())


def line_number(lines: DynamicLines, name: str, quantity: str) -> Array:
    assert lines.arrays is not None
    row = lines.lines.index(name)
    if quantity == "length":
        return lines.arrays.rest_length[row][_used(lines.arrays, row)].sum()
    return getattr(lines.arrays, quantity)[row][-1]


def with_line_number(
    lines: DynamicLines, model: Model, name: str, quantity: str, value: Array
) -> DynamicLines:
    """The lines with a changed parameter, in the dynamic and quasi-static form."""
    row, old = lines.lines.index(name), line_number(lines, name, quantity)
    arrays = lines.arrays
    assert arrays is not None
    if quantity == "length":
        arrays = _rows(arrays, row, rest_length=arrays.rest_length[row] * (value / old))
    else:
        arrays = _rows(arrays, row, **{quantity: 0.0 * arrays.rest_length[row] + value})
    if quantity == "EA":
        arrays = _rows(arrays, row, kappa=arrays.kappa[row] * (old / value))
        if arrays.stretch.size:
            times = np.array([1.0, 0.0]) + np.array([0.0, 1.0]) * (value / old)
            arrays = _rows(arrays, row, stretch=arrays.stretch[row] * times)
    longer = value / old if quantity == "length" else 1.0
    static = _static(replace(lines, arrays=arrays), model, name, longer)
    winches = lines.winches
    if winches is not None and quantity == "length":
        # its segments too are longer
        times = np.where(np.array(winches.line) == row, 1.0, 0.0) * (longer - 1.0) + 1.0
        scaled = ("length", "segment", "split", "merge")
        winches = replace(winches, **{name: getattr(winches, name) * times for name in scaled})
    return replace(lines, arrays=arrays, static=static, winches=winches)


def _static(lines: DynamicLines, model: Model, name: str, longer: Array) -> StaticLines:
    """The catenaries with the present parameters of the line."""
    static, arrays, row = lines.static, lines.arrays, lines.lines.index(name)
    assert static is not None
    assert arrays is not None
    at = static.line.index(static.lines.index(name))
    sections = static.pieces.sections
    changes: dict[str, Array] = {"length": sections.length[at] * longer}
    even = even_numbers(lines, name)
    if {"mass_per_length", "diameter"} <= set(even):
        area = 0.25 * np.pi * arrays.diameter[row][-1] ** 2
        weight = (arrays.mass_per_length[row][-1] - model.rho * area) * -model.gravity[2]
        changes["weight"] = 0.0 * sections.weight[at] + weight
    if "EA" in even:
        changes["compliance"] = 0.0 * sections.compliance[at] + 1.0 / arrays.EA[row][-1]
    pieces = replace(static.pieces, sections=_rows(sections, at, **changes))
    return replace(static, pieces=pieces)


def _rows(holder: Tree, row: int, **rows: Array) -> Tree:
    """Arrays with one row replaced."""
    changed = {}
    for name, value in rows.items():
        old = getattr(holder, name)
        xp = namespace(old, value)
        changed[name] = xp.stack(
            [xp.asarray(value if i == row else old[i]) for i in range(len(old))]
        )
    return replace(holder, **changed)
