"""A free surface with holes where hulls pierce it: points spread by a wanted spacing, triangulated.

Boundary points come first and stay: waterlines, plane of symmetry, rim. Others are rings around the
waterlines and around the middle of the tank, of which those are left out that crowd; a few rounds
of smoothing make the triangles even.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from scipy.spatial import Delaunay

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.mesh.surface import Surface, graded_radii, ring_counts
from swelltree.hydro.weak_scatterer.mesh.tank import Tank

Requested = Callable[[np.ndarray], np.ndarray]  # spacing at places

CROWDED = 0.72  # of the wanted spacing: nearer points are left out
ROUNDS = 12  # of smoothing
LEAST_GROWTH, MOST_GROWTH = 0.12, 0.3  # of the spacing, per metre away from hulls
FLAT = 0.01  # area over square of the longest side, below which a triangle is none


def pierced_surface(
    tank: Tank, waterlines: Sequence[np.ndarray], over: Sequence[np.ndarray] = ()
) -> Surface:
    """Mesh of the still surface: vertices of the waterlines first, in their order, the rim last.

    Args:
        tank: its size and spacings.
        waterlines: (k, 2) counter-clockwise; of a half tank from positive to negative x [m].
        over: closed lines around places that are to be fine too, without a hole [m].
    """
    half, center = tank.symmetric, np.array(tank.center)
    lines = [np.asarray(line, float) - center for line in waterlines]
    rings = [_full(line, half) for line in lines]
    _check_apart(tank, rings)
    edges = np.concatenate([np.zeros((0, 2)), *lines])
    fine = [np.asarray(line, float) - center for line in over]
    requested = _spacing(tank, rings + fine)
    rim = _rim(tank)
    fixed = np.concatenate([edges, rim])
    plane = _along_plane(tank, rings, requested) if half else np.zeros((0, 2))
    candidates = np.concatenate([_patches(tank, fine, rings), _candidates(tank, lines, requested)])
    stored = _thinned(np.concatenate([fixed, plane]), candidates, requested, half)
    inner = stored[len(fixed) :]
    movable = inner[:, 1] > 1e-12 if half else np.ones(len(inner), bool)
    points = np.concatenate([edges, inner, rim])
    free = np.concatenate([np.zeros(len(edges), bool), movable, np.zeros(len(rim), bool)])
    for _ in range(ROUNDS):
        triangles = _triangles(points, rings)
        points = _smoothed(points, triangles, free, requested)
    triangles = _triangles(points, rings)
    _check_edges(triangles, [len(line) for line in lines], half)
    flat = np.column_stack([points + center, np.zeros(len(points))])
    return Surface(flat, triangles)


def _full(line: np.ndarray, half: bool) -> np.ndarray:
    return np.concatenate([line, (line[1:-1] * [1.0, -1.0])[::-1]]) if half else line


def _check_apart(tank: Tank, rings: list[np.ndarray]) -> None:
    for number, ring in enumerate(rings):
        if np.hypot(*ring.T).max() > tank.radius - 2.0 * tank.near:
            raise SwelltreeError("tank: a waterline reaches its rim. Give a wider tank.")
        for other in rings[:number]:
            if _inside(ring, other).any() or _inside(other, ring).any():
                raise SwelltreeError(
                    "tank: the waterlines of two hulls overlap. Move the bodies apart."
                )


def _spacing(tank: Tank, rings: list[np.ndarray]) -> Requested:
    """Wanted distance of points at places: near at the hulls, growing to that at the rim."""
    growth = (tank.far - tank.near) / max(tank.radius - tank.fine, tank.near)
    steep = min(max(growth, LEAST_GROWTH), MOST_GROWTH)

    def requested(places: np.ndarray) -> np.ndarray:
        away = np.min([_distance(places, ring) for ring in rings], axis=0)
        return np.minimum(tank.near + steep * np.maximum(0.0, away - tank.fine), tank.far)

    return requested


def _distance(places: np.ndarray, ring: np.ndarray) -> np.ndarray:
    """From a closed line (n,)."""
    a, b = ring, np.roll(ring, -1, axis=0)
    along = b - a
    part = np.einsum("nkx,kx->nk", places[:, None] - a, along) / (along**2).sum(1)
    nearest = a + np.clip(part, 0.0, 1.0)[..., None] * along
    return np.linalg.norm(places[:, None] - nearest, axis=2).min(1)


def _inside(places: np.ndarray, ring: np.ndarray) -> np.ndarray:
    """Whether places lie inside a closed line, by crossings of a ray along x."""
    x, y = places[:, 0, None], places[:, 1, None]
    (x0, y0), (x1, y1) = ring.T, np.roll(ring, -1, axis=0).T
    crosses = (y0 > y) != (y1 > y)
    at = x0 + (y - y0) * (x1 - x0) / np.where(y1 == y0, 1.0, y1 - y0)
    return (crosses & (x < at)).sum(1) % 2 == 1


def _rim(tank: Tank) -> np.ndarray:
    full = 2 * max(6, round(np.pi * tank.radius / tank.far))
    count = full // 2 + 1 if tank.symmetric else full
    angle = 2.0 * np.pi * np.arange(count) / full
    rim = tank.radius * np.stack([np.cos(angle), np.sin(angle)], -1)
    if tank.symmetric:
        rim[[0, -1], 1] = 0.0
    return rim


def _along_plane(tank: Tank, rings: list[np.ndarray], requested: Requested) -> np.ndarray:
    """Points on y = 0 between hulls and rim."""
    stops = [-tank.radius, *sorted(x for r in rings for x in (r[:, 0].min(), r[:, 0].max()))]
    stops.append(tank.radius)
    result = []
    for low, high in zip(stops[::2], stops[1::2], strict=True):
        fine = np.linspace(low, high, 400)
        density = 1.0 / requested(np.stack([fine, 0.0 * fine], -1))
        count = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
        count *= fine[1] - fine[0]
        pieces = max(1, round(count[-1]))
        x = np.interp(count[-1] * np.arange(1, pieces) / pieces, count, fine)
        result.append(np.stack([x, 0.0 * x], -1))
    return np.concatenate(result)


def _candidates(tank: Tank, lines: list[np.ndarray], requested: Requested) -> np.ndarray:
    """Rings around every hull, then rings around the middle."""
    half, result = tank.symmetric, []
    for line in lines:
        middle = 0.5 * (line.min(0) + line.max(0))
        middle = middle * [1.0, 0.0] if half else middle
        closed = line if half else np.concatenate([line, line[:1]])
        out = closed - middle
        out = out / np.linalg.norm(out, axis=1)[:, None]
        away = 0.0
        while away < tank.radius:
            h = float(np.median(requested(closed + away * out)))
            away += 0.87 * h  # rows of even triangles
            ring = closed + away * out
            length = np.concatenate(
                [[0.0], np.cumsum(np.linalg.norm(np.diff(ring, axis=0), axis=1))]
            )
            pieces = max(6, round(length[-1] / h))
            at = length[-1] * (np.arange(pieces) + 0.5) / pieces
            points = np.stack([np.interp(at, length, ring[:, c]) for c in range(2)], -1)
            result.append(points)
    radii = graded_radii(tank.near, tank.fine, tank.far, tank.radius)
    for r, count in zip(radii, ring_counts(radii, half), strict=True):
        angle = (np.arange(count) + 0.5) * (np.pi if half else 2 * np.pi) / count
        result.append(r * np.stack([np.cos(angle), np.sin(angle)], -1))
    points = np.concatenate(result)
    rings = [_full(line, half) for line in lines]
    dry = np.any([_inside(points, ring) for ring in rings], axis=0)
    outside = np.hypot(*points.T) > tank.radius
    return points[np.broadcast_to(~(dry | outside), len(points))]


def _patches(tank: Tank, fine: list[np.ndarray], rings: list[np.ndarray]) -> np.ndarray:
    """Rows of even triangles over places that are to be fine."""
    result = [np.zeros((0, 2))]
    for line in fine:
        low, high = line.min(0) - tank.near, line.max(0) + tank.near
        y = np.arange(low[1], high[1], 0.87 * tank.near)
        x = np.arange(low[0], high[0], tank.near)
        shift = 0.5 * tank.near * (np.arange(len(y)) % 2)
        grid = np.stack([x[None] + shift[:, None], np.broadcast_to(y[:, None], (len(y), len(x)))])
        result.append(grid.reshape(2, -1).T)
    points = np.concatenate(result)
    dry = np.any([_inside(points, ring) for ring in rings], axis=0)
    outside = np.hypot(*points.T) > tank.radius - tank.near
    return points[np.broadcast_to(~(dry | outside), len(points))]


def _thinned(points: np.ndarray, more: np.ndarray, requested: Requested, half: bool) -> np.ndarray:
    """Points, and those others that do not crowd, nor lie near to a plane of symmetry."""
    stored = np.empty((len(points) + len(more), 2))
    stored[: len(points)], count = points, len(points)
    for point, h in zip(more, CROWDED * requested(more), strict=True):
        apart = ((stored[:count] - point) ** 2).sum(1)
        if apart.min() >= h**2 and (not half or point[1] > 0.6 * h):
            stored[count] = point
            count += 1
    return stored[:count]


def _triangles(points: np.ndarray, rings: list[np.ndarray]) -> np.ndarray:
    """Triangles of points outside of the hulls, counter-clockwise."""
    triangles = Delaunay(points).simplices
    corners = points[triangles]
    a, b, c = (corners[:, i] for i in range(3))
    area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(1)
    middle = corners.mean(1)
    dry = np.any([_inside(middle, ring) for ring in rings], axis=0)
    # slivers between points of the rim, or of the plane of symmetry
    keep = ~dry & (np.abs(area) > FLAT * longest**2)
    triangles = np.where((area > 0.0)[:, None], triangles, triangles[:, ::-1])
    return triangles[keep]


def _smoothed(
    points: np.ndarray, triangles: np.ndarray, free: np.ndarray, requested: Requested
) -> np.ndarray:
    """Free points moved to the weighted mean of their neighbours."""
    edges = np.concatenate([triangles[:, [i, (i + 1) % 3]] for i in range(3)])
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    weight = 1.0 / requested(0.5 * (points[edges[:, 0]] + points[edges[:, 1]]))
    total, sums = np.zeros(len(points)), np.zeros_like(points)
    for i, j in ((0, 1), (1, 0)):
        np.add.at(total, edges[:, i], weight)
        np.add.at(sums, edges[:, i], weight[:, None] * points[edges[:, j]])
    mean = sums / np.maximum(total, 1e-300)[:, None]
    return np.where(free[:, None], 0.4 * points + 0.6 * mean, points)


def _check_edges(triangles: np.ndarray, counts: list[int], half: bool) -> None:
    """Every side of a waterline must be a side of a triangle."""
    known = {tuple(e) for i in range(3) for e in triangles[:, [i, (i + 1) % 3]].tolist()}
    first = 0
    for count in counts:
        ring = [first + k for k in range(count)]
        pairs = list(itertools.pairwise(ring)) + ([] if half else [(ring[-1], ring[0])])
        if any((b, a) not in known and (a, b) not in known for a, b in pairs):
            raise SwelltreeError(
                "tank: the free surface could not be meshed around a waterline. Give a smaller "
                "spacing, or move the bodies apart."
            )
        first += count
