"""A surface of triangles, and whether it encloses a body."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from swelltree.engine.arrays import Array, Tree
from swelltree.system.errors import SwelltreeError

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
        """Turned, then shifted."""
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
