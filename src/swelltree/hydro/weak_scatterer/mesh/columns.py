"""Hulls that the surface cuts in several waterlines: catamarans, semi-submersibles.

Around its waterline every hull or column is a tube. Triangles below the tubes keep their places on
the body; from each vertex of their open edge a line goes up along the tube, in the half plane
through its axis, and is divided like the meridians of a hull with one waterline. A tube may have
any shape below, and a deck above that joins it to others; it is star-shaped about its own axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.mesh.meridians import Meridians, lengths
from swelltree.hydro.weak_scatterer.mesh.surface import Surface
from swelltree.hydro.weak_scatterer.mesh.waterlines import crossed_edges, waterline_count

MAX_LEVELS = 24  # heights at which tubes may begin or end that are tried
MIN_EDGE, MAX_EDGE = 0.5, 2.0  # length of the lower edge of a tube, over that of its waterline


@dataclass(frozen=True)
class Column:
    """A tube of hull around a waterline.

    Args:
        edge: vertices of the triangles below, counter-clockwise, where its lines begin.
        lines: along it, from the edge to its top, in body axes [m].
    """

    edge: np.ndarray
    lines: Meridians


def columns(
    name: str, surface: Surface, position: np.ndarray, rotation: np.ndarray
) -> tuple[Surface, list[Column]]:
    """The triangles below all tubes, and the tubes; what lies above them stays dry.

    Tubes are as long as the hull allows, so that waterlines may move far.

    Args:
        name: of the body.
        surface: closed, in body axes about the reference point.
        position: of the reference point [m].
        rotation: from body to world axes.
    """
    placed = surface.moved(position, rotation)
    z = placed.vertices[:, 2]
    height, tiny = surface.vertices[:, 2], 1e-9 * np.abs(surface.vertices).max()
    a, b = crossed_edges(surface.triangles, z, tiny).T
    part = z[a] / (z[a] - z[b])
    water = height[a] * (1.0 - part) + height[b] * part
    levels = np.unique(np.round(height / tiny)) * tiny
    below = _some(levels[levels < water.min() - tiny])
    above = _some(levels[levels > water.max() + tiny])[::-1]
    for low in below:
        for high in above:
            found = _tubes(surface, z, low + tiny, high + tiny)
            if found is not None and len(found[1]) == waterline_count(placed):
                return found
    raise SwelltreeError(
        f"body '{name}': the still water cuts its hull in several waterlines, and the hull around "
        "one of them is no tube that is star-shaped about a vertical axis. Describe each hull or "
        "column as a body of its own and join them with Weld, or use hydro data (run_bem)."
    )


def _some(levels: np.ndarray) -> np.ndarray:
    """Not more than a few of many, the first and the last among them."""
    if len(levels) <= MAX_LEVELS:
        return levels
    return levels[np.linspace(0, len(levels) - 1, MAX_LEVELS).round().astype(int)]


def _tubes(
    surface: Surface, z: np.ndarray, low: float, high: float
) -> tuple[Surface, list[Column]] | None:
    """Hull and tubes between two heights in body axes; None: they are no tubes there."""
    tri = surface.triangles
    h = surface.vertices[tri, 2]
    under = (h <= low).all(1)
    sides = np.flatnonzero(~under & (h <= high).all(1))
    pieces = _connected(tri[sides])
    tubes = []
    for number in range(pieces.max(initial=-1) + 1):
        piece = sides[pieces == number]
        lowest, highest = z[tri[piece]].min(), z[tri[piece]].max()
        if lowest < 0.0 < highest:
            tubes.append(piece)
        elif lowest < 0.0:
            under[piece] = True
    # nothing above the tubes may reach into the water
    rest = ~under
    rest[np.concatenate([*tubes, np.zeros(0, int)])] = False
    if (z[tri[rest]] <= 0.0).any() or (z[tri[under]] >= 0.0).any():
        return None
    used, numbers = np.unique(tri[under], return_inverse=True)
    lower = Surface(surface.vertices[used], numbers.reshape(-1, 3))
    result = []
    for piece in tubes:
        edge = _lower_edge(tri[piece], tri[under])
        lines = None if edge is None else _lines(surface, z, tri[piece], edge)
        if edge is None or lines is None:
            return None
        result.append(Column(np.searchsorted(used, edge), lines))
    return (lower, result) if result else None


def _sides(triangles: np.ndarray) -> np.ndarray:
    """Directed edges, those of a triangle a third of the rows apart (3 n, 2)."""
    return np.concatenate([triangles[:, [i, (i + 1) % 3]] for i in range(3)])


def _connected(triangles: np.ndarray) -> np.ndarray:
    """Number of the piece that each triangle belongs to."""
    n = len(triangles)
    if not n:
        return np.zeros(0, int)
    edges = np.sort(_sides(triangles), axis=1)
    _, number = np.unique(edges, axis=0, return_inverse=True)
    owner = np.tile(np.arange(n), 3)
    both = coo_matrix((np.ones(3 * n), (owner, n + number.reshape(-1))), shape=(4 * n, 4 * n))
    _, pieces = np.unique(connected_components(both, directed=False)[1][:n], return_inverse=True)
    return pieces.reshape(-1)


def _lower_edge(tube: np.ndarray, under: np.ndarray) -> np.ndarray | None:
    """Vertices between a tube and what lies below, one closed line; None: it is not one."""
    known = {(b, a) for a, b in _sides(under).tolist()}
    following = {a: b for a, b in _sides(tube).tolist() if (a, b) in known}
    if len(following) < 3:
        return None
    first = min(following)
    edge, at = [first], following[first]
    while at != first:
        edge.append(at)
        if at not in following or len(edge) > len(following):
            return None
        at = following[at]
    return np.array(edge) if len(edge) == len(following) else None


def _lines(surface: Surface, z: np.ndarray, tube: np.ndarray, edge: np.ndarray) -> Meridians | None:
    """Lines from the vertices of the lower edge to the top; None: the tube is not star-shaped."""
    ring = surface.vertices[edge]
    middle = 0.5 * (ring.min(0) + ring.max(0))[:2]
    away = ring[:, :2] - middle
    turn = np.arctan2(away[:, 1], away[:, 0])
    steps = (np.roll(turn, -1) - turn + np.pi) % (2.0 * np.pi) - np.pi
    round_once = abs(steps.sum() - 2.0 * np.pi) < 1e-6 and steps.min() > 0.0
    around = np.linalg.norm(ring - np.roll(ring, 1, axis=0), axis=1).sum()
    water = _waterline_length(surface, z, tube)
    if not (round_once and MIN_EDGE * water < around < MAX_EDGE * water):
        return None
    sides = np.unique(np.sort(_sides(tube), axis=1), axis=0)
    lines = [
        _line(surface, sides, middle, angle, v)
        for angle, v in zip(turn.tolist(), edge.tolist(), strict=True)
    ]
    if any(line is None for line in lines):
        return None
    width = max(len(line) for line in lines if line is not None)
    points = np.array(
        [np.concatenate([x, np.repeat(x[-1:], width - len(x), 0)]) for x in lines if x is not None]
    )
    return Meridians(points, lengths(points), np.zeros(len(points)))


def _waterline_length(surface: Surface, z: np.ndarray, tube: np.ndarray) -> float:
    """Of the line in which the still water cuts a tube [m]."""
    cut = tube[np.ptp(np.where(z[tube] > 0.0, 1, -1), axis=1) > 0]
    ends = []
    for i in range(3):
        a, b = cut[:, i], cut[:, (i + 1) % 3]
        crosses = (z[a] > 0.0) != (z[b] > 0.0)
        part = np.where(crosses, z[a] / np.where(crosses, z[a] - z[b], 1.0), np.nan)[:, None]
        ends.append(surface.vertices[a] * (1.0 - part) + surface.vertices[b] * part)
    points = np.stack(ends, 1)
    lines = np.array([row[np.isfinite(row[:, 0])][:2] for row in points])
    return float(np.linalg.norm(lines[:, 0] - lines[:, 1], axis=1).sum())


def _line(
    surface: Surface, sides: np.ndarray, middle: np.ndarray, angle: float, start: int
) -> np.ndarray | None:
    """Where a half plane through the axis of a tube cuts it, from a vertex upwards."""
    vertices = surface.vertices
    size = np.abs(vertices).max()
    ahead, across = (np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))
    there = np.unique(sides)
    offset = np.zeros(len(vertices))
    offset[there] = (vertices[there, :2] - middle) @ across
    offset[np.abs(offset) < 1e-9 * size] = 0.0
    a, b = sides[offset[sides[:, 0]] * offset[sides[:, 1]] < 0.0].T
    part = (offset[a] / (offset[a] - offset[b]))[:, None]
    points = np.concatenate(
        [vertices[a] * (1 - part) + vertices[b] * part, vertices[there[offset[there] == 0.0]]]
    )
    here = vertices[start]
    out = (points[:, :2] - middle) @ ahead
    points = points[(out > 0.0) & (points[:, 2] > here[2] + 1e-9 * size)]
    line = np.concatenate([here[None], points[np.argsort(points[:, 2], kind="stable")]])
    step = np.diff(line, axis=0)
    level = step[:, 2] <= 1e-9 * size
    if (np.linalg.norm(step[level], axis=1) > 1e-6 * size).any():
        return None  # two places at one height
    line = line[np.concatenate([[True], ~level])]
    return line if len(line) > 1 else None
