"""A surface of triangles, and whether it encloses a body."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array, Tree

FLAT = 1e-10  # area over square of the longest side, below which a triangle is a line


@dataclass(frozen=True)
class Surface:
    """Triangles.

    Args:
        vertices: (n, 3) [m].
        triangles: (m, 3) numbers of vertices, counter-clockwise seen from outside the body.
    """

    vertices: np.ndarray
    triangles: np.ndarray

    @property
    def area_vectors(self) -> np.ndarray:
        """Area times normal of each triangle (m, 3) [m^2]."""
        a, b, c = (self.vertices[self.triangles[:, i]] for i in range(3))
        return 0.5 * np.cross(b - a, c - a)

    @property
    def volume(self) -> float:
        """Enclosed by a closed surface with normals outwards [m^3]."""
        middle = self.vertices[self.triangles].mean(1)
        return float((middle * self.area_vectors).sum() / 3.0)

    def moved(self, offset: Array = (0.0, 0.0, 0.0), rotation: Array = None) -> Surface:
        """Panels rotated, then translated."""
        turned = self.vertices if rotation is None else self.vertices @ np.asarray(rotation).T
        return Surface(turned + np.asarray(offset, float), self.triangles)

    def scaled(self, factors: Tree) -> Surface:
        """Stretched from the origin by one positive factor, or by one for each axis."""
        return Surface(self.vertices * np.asarray(factors, float), self.triangles)

    def with_volume(self, volume: float) -> Surface:
        """Scaled so that flat triangles enclose the volume of the curved body [m^3]."""
        return self.scaled((volume / self.volume) ** (1.0 / 3.0))

    def half(self) -> Surface:
        """The part with y >= 0 of a mesh whose edges follow the plane y = 0."""
        y = self.vertices[:, 1]
        tiny = 1e-9 * np.abs(self.vertices).max()
        keep = (y[self.triangles] >= -tiny).all(1)
        result = Surface(np.where(np.abs(self.vertices) < tiny, 0.0, self.vertices), self.triangles)
        return used_only(Surface(result.vertices, self.triangles[keep]))


def used_only(surface: Surface) -> Surface:
    """Without vertices that no triangle has."""
    used, numbers = np.unique(surface.triangles, return_inverse=True)
    return Surface(surface.vertices[used], numbers.reshape(-1, 3))


def open_edges(surface: Surface) -> np.ndarray:
    """Edges (k, 2) of one triangle only, as that triangle runs through them."""
    tri = surface.triangles
    edges = [tuple(map(int, e)) for i in range(3) for e in tri[:, [i, (i + 1) % 3]]]
    known = set(edges)
    return np.array([e for e in edges if (e[1], e[0]) not in known], int).reshape(-1, 2)


def checked_watertight(name: str, surface: Surface, symmetric: bool = False) -> Surface:
    """The surface, if it encloses a body with normals outwards; otherwise an error.

    Args:
        name: of the body.
        surface: its mesh.
        symmetric: it is the half y >= 0, open on the plane y = 0 alone.
    """
    item, tri = f"body '{name}'", surface.triangles
    if not len(tri):
        raise SwelltreeError(f"{item}: its mesh has no triangles. Give a closed surface.")
    if not np.isfinite(surface.vertices).all():
        raise SwelltreeError(f"{item}: its mesh has a vertex that is not a number. Fix the mesh.")
    area = np.linalg.norm(surface.area_vectors, axis=1)
    corners = surface.vertices[tri]
    longest = np.linalg.norm(corners - np.roll(corners, 1, 1), axis=2).max(1)
    if (area <= FLAT * longest**2).any():
        bad = int(np.argmin(area / np.maximum(longest, 1e-300) ** 2))
        raise SwelltreeError(
            f"{item}: triangle {bad} at {_at(corners[bad].mean(0))} has no area. Leave it out."
        )
    edges = Counter(tuple(map(int, e)) for i in range(3) for e in tri[:, [i, (i + 1) % 3]])
    (a, b), times = edges.most_common(1)[0]
    if times > 1:
        raise SwelltreeError(
            f"{item}: two triangles run the same way along the edge from "
            f"{_at(surface.vertices[a])} to {_at(surface.vertices[b])}. Turn one, so that all "
            "normals point into the water, or leave out the one that comes twice."
        )
    for a, b in open_edges(surface):
        ends = surface.vertices[[a, b]]
        if not (symmetric and (ends[:, 1] == 0.0).all()):
            raise SwelltreeError(
                f"{item}: its hull is not watertight: the edge from {_at(ends[0])} to "
                f"{_at(ends[1])} belongs to one triangle only. Close the mesh there."
            )
    if surface.volume <= 0.0:
        raise SwelltreeError(
            f"{item}: its normals point into the body. Turn all triangles of the mesh."
        )
    return surface


def _at(point: np.ndarray) -> str:
    return f"({', '.join(f'{x:.4g}' for x in point)}) m"


# --- Discs of triangles between rings, each ring with as many points as its length asks for


def graded_radii(near: float, fine: float, far: float, radius: float) -> np.ndarray:
    """Radii of rings, first ring first: steps of `near` up to `fine`, growing to `far`.

    Args:
        near: spacing over the body [m].
        fine: radius of the part with that spacing [m].
        far: spacing at the rim [m].
        radius: of the rim [m].
    """
    growth = max(0.0, (far - near) / max(radius - fine, 1e-9))
    radii = [near]
    while radii[-1] < radius:
        radii.append(radii[-1] + near + growth * max(0.0, radii[-1] - fine))
    if len(radii) > 1 and radii[-1] - radius > 0.5 * (radii[-1] - radii[-2]):
        radii.pop()  # the last step is stretched rather than halved
    return np.array(radii) * radius / radii[-1]


def ring_counts(radii: np.ndarray, half: bool) -> list[int]:
    """Points on rings, about as far apart as the rings; of a half ring one more than its edges."""
    step = np.diff(radii, prepend=0.0)
    turns = np.pi if half else 2.0 * np.pi
    return [
        max(3 if half else 6, round(turns * r / h)) + half for r, h in zip(radii, step, strict=True)
    ]


def angles(count: int, half: bool) -> np.ndarray:
    """Where the points of a ring lie [rad]."""
    return np.linspace(0.0, math.pi if half else 2.0 * math.pi, count, endpoint=half)


def disc(radii: np.ndarray, counts: Sequence[int], half: bool) -> Surface:
    """Flat disc at z = 0, normal up, about the origin; the centre is vertex 0, the rim is last.

    Args:
        radii: of the rings [m].
        counts: points on each.
        half: only y >= 0, with edges along y = 0.
    """
    return _ringed([np.zeros((1, 3))], radii, counts, half)


def _ring(radius: float, count: int, half: bool) -> np.ndarray:
    at = angles(count, half)
    ring = np.stack([radius * np.cos(at), radius * np.sin(at), 0.0 * at], -1)
    if half:
        ring[[0, -1], 1] = 0.0
    return ring


def _ringed(
    points: list[np.ndarray], radii: np.ndarray, counts: Sequence[int], half: bool
) -> Surface:
    """Rings added around what is there."""
    inner, triangles = np.arange(len(points[0])), []
    first = len(inner)
    for r, count in zip(radii, counts, strict=True):
        points.append(_ring(r, count, half))
        outer = first + np.arange(count)
        triangles += stitched(inner, outer, half)
        inner, first = outer, first + count
    return Surface(np.concatenate(points), np.array(triangles))


def stitched(inner: np.ndarray, outer: np.ndarray, half: bool) -> list[tuple[int, int, int]]:
    """Triangles between two rings of evenly spread vertices, normal up."""
    if len(inner) == 1:
        fan = [(int(inner[0]), int(a), int(b)) for a, b in itertools.pairwise(outer)]
        return fan if half else [*fan, (int(inner[0]), int(outer[-1]), int(outer[0]))]
    # number of edges of either ring; a closed ring comes back to its first vertex
    n, m = (len(ring) - half for ring in (inner, outer))
    i = j = 0
    result = []
    while i < n or j < m:
        a, b = int(inner[i % len(inner)]), int(outer[j % len(outer)])
        # advance on the ring whose next vertex comes first
        if i == n or (j < m and (j + 1) * n <= (i + 1) * m):
            result.append((a, b, int(outer[(j + 1) % len(outer)])))
            j += 1
        else:
            result.append((a, b, int(inner[(i + 1) % len(inner)])))
            i += 1
    return result


# --- Divisions of a line that are finer at its ends, where edges and waterlines are

FINER = 0.6  # how much shorter than the mean a piece at such an end is


def graded(pieces: int, start: bool, end: bool, edge: bool = False) -> np.ndarray:
    """Where the pieces of a line of length one begin and end (pieces + 1,).

    Args:
        pieces: their number, at least one.
        start: they are finer at zero.
        end: they are finer at one.
        edge: the water runs around an edge there, where the potential is not a smooth function of
            the distance: places go with its square. (A box of 4 m x 2.5 m, 1 m deep, on 76
            vertices: 3 % too little added mass in pitch in place of 7 %.)
    """
    part = np.arange(pieces + 1) / pieces
    if edge and start and end:
        return np.where(part < 0.5, 2.0 * part**2, 1.0 - 2.0 * (1.0 - part) ** 2)
    if edge and (start or end):
        return part**2 if start else 1.0 - (1.0 - part) ** 2
    if start and end:
        return part - FINER / (2.0 * np.pi) * np.sin(2.0 * np.pi * part)
    bend = FINER * part * (1.0 - part)
    return part + (bend if end else -bend if start else 0.0)
