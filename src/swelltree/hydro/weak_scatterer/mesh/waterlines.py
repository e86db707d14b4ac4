"""Where the still water cuts a hull, and at which angles lines from keel to top shall meet it."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.mesh.surface import Surface, graded

CORNER = math.cos(math.radians(30.0))  # of the turn of a waterline, beyond which it has a corner
MIN_VERTICES = 8  # vertices around a hull


def waterline_count(placed: Surface) -> int:
    """Number of closed lines in which z = 0 cuts a hull that stands in the world."""
    z = placed.vertices[:, 2]
    tiny = 1e-9 * np.abs(placed.vertices).max()
    cut = crossed_edges(placed.triangles, z, tiny)
    return _pieces(placed.triangles, cut, np.where(z > tiny, 1, -1)) if len(cut) else 0


def crossed_edges(triangles: np.ndarray, z: np.ndarray, tiny: float) -> np.ndarray:
    """Edges that the still water cuts; vertices on it count as under it (k, 2)."""
    side = z > tiny
    edges = np.concatenate([triangles[:, [i, (i + 1) % 3]] for i in range(3)])
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    return edges[side[edges[:, 0]] != side[edges[:, 1]]]


def still_waterline(name: str, placed: Surface) -> np.ndarray:
    """The line in which z = 0 cuts a closed hull, counter-clockwise about its middle (k, 2) [m].

    Args:
        name: of the body.
        placed: its mesh in the world.
    """
    z = placed.vertices[:, 2]
    tiny = 1e-9 * np.abs(placed.vertices).max()
    a, b = crossed_edges(placed.triangles, z, tiny).T
    if not len(a):
        raise SwelltreeError(f"body '{name}' does not pierce the surface. Move the body.")
    part = np.clip(z[a] / (z[a] - z[b]), 0.0, 1.0)[:, None]
    points = (placed.vertices[a] * (1 - part) + placed.vertices[b] * part)[:, :2]
    middle = 0.5 * (points.min(0) + points.max(0))
    order = np.argsort(np.arctan2(*(points - middle).T[::-1]))
    points = points[order]
    apart = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1) > 10 * tiny
    return points[apart]


def _pieces(triangles: np.ndarray, cut: np.ndarray, side: np.ndarray) -> int:
    """Number of closed lines that edges which are cut belong to, each crossed by two triangles."""
    number = {edge: k for k, edge in enumerate(map(tuple, cut.tolist()))}
    pairs = []
    for triangle in triangles[np.ptp(side[triangles], axis=1) > 0].tolist():
        ends = [tuple(sorted((triangle[i], triangle[(i + 1) % 3]))) for i in range(3)]
        pairs.append([number[edge] for edge in ends if edge in number])
    first, second = np.array(pairs).T
    graph = coo_matrix((np.ones(len(first)), (first, second)), shape=(len(cut), len(cut)))
    return int(connected_components(graph, directed=False)[0])


def meeting_angles(line: np.ndarray, middle: np.ndarray, size: float, half: bool) -> np.ndarray:
    """Angles about the middle at which a mesh has vertices: at corners, and finer towards them.

    Args:
        line: closed, counter-clockwise (k, 2) [m].
        middle: inside of it (2,) [m].
        size: of the sides between vertices [m].
        half: from 0 to pi alone.
    """
    here = line - middle
    angle = np.arctan2(here[:, 1], here[:, 0]) % (2.0 * math.pi)
    order = np.argsort(angle)
    here, angle = here[order], angle[order]
    step = np.roll(here, -1, axis=0) - here
    step = step / np.linalg.norm(step, axis=1)[:, None]
    sharp = (step * np.roll(step, 1, axis=0)).sum(1) < CORNER
    end = math.pi if half else 2.0 * math.pi
    needed = [0.0, *angle[sharp & (angle > 1e-6) & (angle < end - 1e-6)].tolist(), end]
    radius = np.linalg.norm(here, axis=1)
    full = np.linspace(0.0, end, 721)
    r = np.interp(full, angle, radius, period=2.0 * math.pi)
    x, y = r * np.cos(full), r * np.sin(full)
    length = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    at = np.interp(needed, full, length).tolist()
    least = max(1, math.ceil((MIN_VERTICES // 2 if half else MIN_VERTICES) / (len(needed) - 1)))
    result = []
    for low, high in itertools.pairwise(at):
        pieces = max(1 if len(needed) > 2 else least, round((high - low) / size))
        part = graded(pieces, start=low > 0.0, end=high < at[-1])[:-1]
        result += np.interp(low + (high - low) * part, length, full).tolist()
    return np.array([*result, end] if half else result)
