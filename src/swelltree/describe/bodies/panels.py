"""Panels: quadrilaterals and triangles, normals out of the body, made with numpy alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Panels:
    """A surface.

    Args:
        vertices: (n, 3) [m].
        faces: (m, 4) numbers of vertices, counter-clockwise seen from outside; a triangle has its
            last vertex twice.
    """

    vertices: np.ndarray
    faces: np.ndarray

    def moved(
        self,
        offset: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0),
        rotation: np.ndarray | None = None,
    ) -> Panels:
        """Panels rotated, then translated."""
        turned = self.vertices if rotation is None else self.vertices @ np.asarray(rotation).T
        return Panels(turned + np.asarray(offset, float), self.faces)

    @property
    def triangles(self) -> np.ndarray:
        """Corners of triangles that cover the surface, (k, 3, 3)."""
        corners = self.vertices[self.faces]
        both = np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
        return both[areas(both) > 0.0]

    @property
    def areas(self) -> np.ndarray:
        """Area of each panel [m^2]."""
        corners = self.vertices[self.faces]
        return areas(corners[:, [0, 1, 2]]) + areas(corners[:, [0, 2, 3]])

    def lists(self) -> list[list[int]]:
        """Faces as lists of three or four different vertices."""
        return [[int(v) for i, v in enumerate(face) if v != face[i - 1]] for face in self.faces]

    def immersed(self) -> Panels:
        """The part below z = 0; panels that cross it are cut."""
        z = self.vertices[:, 2]
        size = np.ptp(self.vertices, axis=0).max() if len(z) else 0.0
        tiny = 1e-9 * size
        z = np.where(np.abs(z) < tiny, 0.0, z)
        deep = z[self.faces]
        below = (deep <= 0.0).all(1) & (deep < 0.0).any(1)
        crossing = (deep < 0.0).any(1) & (deep > 0.0).any(1)
        level = np.column_stack([self.vertices[:, :2], z])
        pieces = [Panels(level, self.faces[below])]
        for face in self.faces[crossing]:
            ring = _cut(level[[v for i, v in enumerate(face) if v != face[i - 1]]])
            fan = [[0, i, i + 1, i + 1] for i in range(1, len(ring) - 1)]
            if len(ring) == 4:
                fan = [[0, 1, 2, 3]]
            pieces.append(Panels(ring, np.array(fan, int).reshape(-1, 4)))
        return join(pieces)

    def divided(self) -> Panels:
        """Each panel divided into four."""
        corners = self.vertices[self.faces]
        following = np.roll(corners, -1, axis=1)
        mid = 0.5 * (corners + following)
        # a triangle (last side without length) is cut through the middles of its sides
        flat = self.faces[:, 2] == self.faces[:, 3]
        centre = corners.mean(1)
        a, b, c, d = (corners[:, i] for i in range(4))
        ab, bc, cd, da = (mid[:, i] for i in range(4))
        quads = [(a, ab, centre, da), (ab, b, bc, centre), (centre, bc, c, cd), (da, centre, cd, d)]
        thirds = [(a, ab, da, da), (ab, b, bc, bc), (da, bc, c, c), (ab, bc, da, da)]
        result = []
        for rows, chosen in ((quads, ~flat), (thirds, flat)):
            for row in rows:
                result.append(np.stack([corner[chosen] for corner in row], axis=1))
        points = np.concatenate(result)
        return merged(Panels(points.reshape(-1, 3), np.arange(4 * len(points)).reshape(-1, 4)))


def areas(triangles: np.ndarray) -> np.ndarray:
    """Areas of triangles (k, 3, 3)."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def join(pieces: Iterable[Panels]) -> Panels:
    """One surface from several."""
    vertices, faces, first = [], [], 0
    for piece in pieces:
        vertices.append(piece.vertices)
        faces.append(piece.faces + first)
        first += len(piece.vertices)
    return merged(Panels(np.concatenate(vertices), np.concatenate(faces).astype(int)))


def merged(panels: Panels) -> Panels:
    """Panels with equal vertices merged, without degenerate panels and unused vertices."""
    if not len(panels.faces):
        return Panels(np.zeros((0, 3)), np.zeros((0, 4), int))
    size = np.ptp(panels.vertices, axis=0).max() or 1.0
    key = np.round(panels.vertices / (1e-9 * size)).astype(np.int64)
    _, first, same = np.unique(key, axis=0, return_index=True, return_inverse=True)
    faces = same.reshape(-1)[panels.faces]
    vertices = panels.vertices[first]
    # a corner that comes twice makes a triangle: its last vertex is repeated
    rows = []
    for face in faces:
        ring = [v for i, v in enumerate(face) if v != face[i - 1]]
        if len(set(ring)) >= 3:
            rows.append(ring if len(ring) == 4 else [*ring[:3], ring[2]])
    faces = np.array(rows, int).reshape(-1, 4)
    result = Panels(vertices, faces)
    faces = faces[result.areas > 1e-12 * size**2]
    used, numbers = np.unique(faces, return_inverse=True)
    return Panels(vertices[used], numbers.reshape(-1, 4))


def _cut(ring: np.ndarray) -> np.ndarray:
    """The part of a polygon below z = 0."""
    stored = []
    for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        if a[2] <= 0.0:
            stored.append(a)
        if a[2] * b[2] < 0.0:
            point = a + (b - a) * a[2] / (a[2] - b[2])
            stored.append(np.array([point[0], point[1], 0.0]))
    return np.array(stored)
