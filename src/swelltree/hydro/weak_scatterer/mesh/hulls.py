"""Meshes of the hulls that users describe, about the reference points of their bodies."""

from __future__ import annotations

import itertools
import math

import numpy as np

from swelltree.describe.bodies import hulls
from swelltree.describe.bodies.body import Body
from swelltree.describe.bodies.hull_panels import hull_panels, profile, sphere_centre
from swelltree.describe.bodies.hulls import Hull
from swelltree.describe.bodies.meshes import merged
from swelltree.describe.bodies.solids import hull_solid
from swelltree.hydro.weak_scatterer.mesh.meridians import KNUCKLE
from swelltree.hydro.weak_scatterer.mesh.surface import Surface, graded, stitched, used_only

# --- Meshes of simple bodies, and of the hulls that users describe


def sphere(divisions: int, radius: float = 1.0) -> Surface:
    """Sphere about the origin with 4 n^2 + 2 vertices and its true volume.

    Each face of an octahedron is divided evenly along great circles, so that all three planes
    through its axes are lines of the mesh.

    Args:
        divisions: n of each edge of the octahedron.
        radius: [m].
    """
    keys, faces = _octahedron(divisions)
    points = np.sin(0.5 * math.pi * keys / divisions)
    points /= np.linalg.norm(points, axis=1)[:, None]
    return Surface(points, faces).with_volume(4.0 / 3.0 * math.pi * radius**3)


def _octahedron(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Divided octahedron: places with |x| + |y| + |z| = n in whole numbers, and triangles."""
    rows = [[(i, j), (i + 1, j), (i, j + 1)] for i in range(n) for j in range(n - i)] + [
        [(i + 1, j), (i + 1, j + 1), (i, j + 1)] for i in range(n) for j in range(n - i - 1)
    ]
    face = np.array(rows)
    face = np.concatenate([face, n - face.sum(-1, keepdims=True)], -1)
    corners = []
    for signs in itertools.product((1, -1), repeat=3):
        turned = face * np.array(signs)
        corners.append(turned if math.prod(signs) > 0 else turned[:, ::-1])
    keys, number = np.unique(np.concatenate(corners).reshape(-1, 3), axis=0, return_inverse=True)
    return keys, number.reshape(-1, 3)


def ellipsoid(divisions: int, axes: tuple[float, float, float]) -> Surface:
    """Ellipsoid about the origin with half axes [m] and its true volume."""
    return sphere(divisions).scaled(axes)


def cylinder(radius: float, height: float, size: float) -> Surface:
    """Upright closed cylinder about the origin, with its true volume.

    Args:
        radius: [m].
        height: [m].
        size: of the triangles [m].
    """
    low, high = -0.5 * height, 0.5 * height
    rows = [(0.0, low), (radius, low), (radius, high), (0.0, high)]
    return revolved(rows, size, math.pi * radius**2 * height)


def revolved(rows: list[tuple[float, float]], size: float, volume: float) -> Surface:
    """Closed surface of revolution about z, finer towards convex edges.

    Vertices on a ring follow from its length, so that few are at the axis. (Heave plate of 1 m x
    0.1 m: 0.4 % too little added mass on 306 vertices; as many on each ring, 344 in all, 1.3 %.)

    Args:
        rows: (radius, z) of the profile, from the axis to the axis [m].
        size: of the triangles [m].
        volume: enclosed; radii are scaled to it [m^3].
    """
    line = np.array([rows[0], *(b for a, b in itertools.pairwise(rows) if a != b)])
    step = np.diff(line, axis=0)
    length = np.linalg.norm(step, axis=1)
    arc = np.concatenate([[0.0], np.cumsum(length)])
    along = step / length[:, None]
    turn = along[:-1, 0] * along[1:, 1] - along[:-1, 1] * along[1:, 0]
    corner = [0, *(1 + np.flatnonzero((along[1:] * along[:-1]).sum(1) < KNUCKLE)), len(arc) - 1]
    edge = [False, *(bool(turn[k - 1] > 0.0) for k in corner[1:-1]), False]
    places = [np.zeros(1)]
    for (i, j), sharp in zip(itertools.pairwise(corner), itertools.pairwise(edge), strict=True):
        pieces = max(2, round((arc[j] - arc[i]) / size))
        part = graded(pieces, *sharp, edge=True)[1:]
        places.append(arc[i] + (arc[j] - arc[i]) * part)
    at = np.concatenate(places)
    radii, heights = (np.interp(at, arc, line[:, k]) for k in range(2))
    points, triangles, inner = [np.array([[0.0, 0.0, heights[0]]])], [], np.zeros(1, int)
    first = 1
    for r, z in zip(radii[1:-1], heights[1:-1], strict=True):
        count = max(8, 4 * round(0.5 * math.pi * r / size))
        angle = 2.0 * math.pi * np.arange(count) / count
        points.append(np.stack([r * np.cos(angle), r * np.sin(angle), np.full(count, z)], -1))
        outer = first + np.arange(count)
        triangles += [face[::-1] for face in stitched(inner, outer, half=False)]
        inner, first = outer, first + count
    points.append(np.array([[0.0, 0.0, heights[-1]]]))
    triangles += stitched(np.array([first]), inner, half=False)
    built = Surface(np.concatenate(points), np.array(triangles))
    wide = math.sqrt(volume / built.volume)
    return built.scaled((wide, wide, 1.0))


def hull_surface(hull: Hull, scale: float = 1.0) -> Surface:
    """The whole closed surface of a described hull in its own frame.

    Args:
        hull: the shape.
        scale: factor on the size of the panels.
    """
    panels = merged(hull_panels(hull, scale))
    both = np.concatenate([panels.faces[:, [0, 1, 2]], panels.faces[:, [0, 2, 3]]])
    apart = (both != np.roll(both, 1, axis=1)).all(1)
    return used_only(Surface(panels.vertices, both[apart]))


def hull_mesh(body: Body, size: float) -> Surface:
    """The closed surface of a body's hull in body axes about its reference point.

    Triangles are flat and hulls are round: the mesh is scaled to the volume of the hull.

    Args:
        body: with a hull.
        size: side of triangles [m].
    """
    hull, shift = body.hull, np.array(body.hull_origin) - np.array(body.reference)
    if isinstance(hull, hulls.Sphere):
        divisions = max(2, round(0.5 * math.pi * hull.radius / size))
        z = sphere_centre(hull)[0]
        place = np.array([*hull.offset[:2], z])
        return sphere(divisions, hull.radius).moved(shift + place)
    solid = hull_solid(hull)
    if isinstance(hull, hulls.Cylinder | hulls.Cone | hulls.Axisymmetric):
        rows = profile(hull)
        if rows[-1][0] == 0.0 and rows[-1][1] < 0.0:  # under water, without a bore
            built = revolved(rows, size, solid.volume)
            return built.moved(shift + [*hull.offset[:2], 0.0])
    built = hull_surface(_with_size(hull, size))
    center = np.asarray(solid.centroid)
    return built.moved(-center).with_volume(solid.volume).moved(center + shift)


def _with_size(hull: hulls.Hull, size: float) -> hulls.Hull:
    """The hull with panels of a size; meshes keep theirs."""
    if isinstance(hull, hulls.Union):
        return hull.replace(hulls=tuple(_with_size(part, size) for part in hull.hulls))
    return hull if isinstance(hull, hulls.PanelHull) else hull.replace(panel_size=size)
