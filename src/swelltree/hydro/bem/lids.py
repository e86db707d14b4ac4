"""Lids: panels inside a hull against irregular frequencies, only where the hull is there.

A lid below the surface made from the outline of the whole hull reaches into the water where the
hull is narrower than elsewhere (a foot, heave plates, flare), and spoils every frequency: a cone on
the seabed lost 30 % of its damping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.system.bodies.panels import Panels

if TYPE_CHECKING:
    import capytaine as cpt

PULLED = 0.05  # of the way to the middle of a panel, its corners are looked at
APART = 0.25  # of a panel: distance of a lid from the hull
BELOW = 1e-4  # of the draft: where the section of a lid on the surface itself is taken


def lid_inside(hull: Panels, mesh: cpt.Mesh, z: float) -> cpt.Mesh | None:
    """The lid of a hull at a height, None where no panel of it lies inside.

    Args:
        hull: panels of the wetted hull.
        mesh: the same for Capytaine.
        z: height [m], not above zero.
    """
    draft = -float(hull.vertices[:, 2].min())
    a, b = section(hull, min(z, -BELOW * draft))
    cells = _cells(a, b, float(np.sqrt(mesh.faces_areas.mean())))
    cells = cells[_all_inside(cells, a, b)]
    if not len(cells):
        return None
    corners = np.pad(cells.reshape(-1, 2), ((0, 0), (0, 1)), constant_values=z)
    return type(mesh)(vertices=corners, faces=np.arange(len(corners)).reshape(-1, 4))


def _all_inside(corners: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which panels (n, 4, 2) lie inside as a whole."""
    middle = corners.mean(axis=1, keepdims=True)
    probes = np.concatenate([corners + PULLED * (middle - corners), middle], axis=1)
    result = inside(probes.reshape(-1, 2), a, b).reshape(probes.shape[:2])
    return np.asarray(result.all(axis=1))


def _cells(a: np.ndarray, b: np.ndarray, size: float) -> np.ndarray:
    """Squares of about that size around a section (n, 4, 2), counter-clockwise from above.

    Their numbers are even, so that the lid of a symmetric hull has its symmetry.
    """
    ends = np.concatenate([a, b])
    if not len(ends):
        return np.zeros((0, 4, 2))
    # a lid that meets the hull in an edge makes its equations singular
    low, high = ends.min(axis=0) + APART * size, ends.max(axis=0) - APART * size
    nx, ny = (2 * max(int(np.ceil(0.5 * x / size)), 1) for x in high - low)
    x, y = np.linspace(low[0], high[0], nx + 1), np.linspace(low[1], high[1], ny + 1)
    X, Y = np.meshgrid(x, y, indexing="ij")
    grid = np.stack([X, Y], -1)
    around = [grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]]
    return np.stack(around, 2).reshape(-1, 4, 2)


def section(hull: Panels, z: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the straight pieces in which the panels of a hull meet a level (s, 2) each."""
    corners = hull.vertices[hull.faces]
    triangles = np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
    above = triangles[:, :, 2] > z
    alone = np.where(above.sum(axis=1) == 1, above.argmax(axis=1), (~above).argmax(axis=1))
    cut = triangles[above.any(axis=1) & ~above.all(axis=1)]
    alone = alone[above.any(axis=1) & ~above.all(axis=1)]
    tip = cut[np.arange(len(cut)), alone]

    def met(step: int) -> np.ndarray:
        other = cut[np.arange(len(cut)), (alone + step) % 3]
        part = (z - tip[:, 2]) / (other[:, 2] - tip[:, 2])
        return tip[:, :2] + part[:, None] * (other - tip)[:, :2]

    return met(1), met(2)


def inside(points: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which points (n, 2) lie within closed lines of pieces a to b: crossings ahead are odd."""
    x, y = points[:, :1], points[:, 1:]
    spans = (a[None, :, 1] > y) != (b[None, :, 1] > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = (y - a[None, :, 1]) / (b[:, 1] - a[:, 1])[None]
        ahead = a[None, :, 0] + part * (b[:, 0] - a[:, 0])[None] > x
    return (spans & ahead).sum(axis=1) % 2 == 1
