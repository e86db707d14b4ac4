"""Discs of triangles between rings, each ring with as many points as its length asks for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from swelltree.effects.weak_scatterer.mesh.surface import Surface


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
