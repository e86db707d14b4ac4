"""Meshes of the hulls that users describe, about the reference points of their bodies."""

from __future__ import annotations

import itertools
import math

import numpy as np

from swelltree.describe.bodies import hulls
from swelltree.describe.bodies.body import Body
from swelltree.describe.bodies.hull_panels import hull_panels, sphere_centre
from swelltree.describe.bodies.hulls import Hull
from swelltree.describe.bodies.meshes import merged
from swelltree.describe.bodies.solids import hull_solid
from swelltree.hydro.weak_scatterer.mesh.surface import Surface, disc, used_only

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
    around = max(8, 4 * round(0.5 * math.pi * radius / size))
    steps = max(2, round(radius / size))
    radii = radius * np.arange(1, steps + 1) / steps
    counts = [max(4, round(around * r / radius)) for r in radii[:-1]] + [around]
    cap = disc(radii, counts, half=False)
    levels = np.linspace(-0.5 * height, 0.5 * height, max(2, round(height / size)) + 1)
    angle = 2.0 * math.pi * np.arange(around) / around
    ring = radius * np.stack([np.cos(angle), np.sin(angle)], -1)
    points = [np.column_stack([ring, np.full(around, z)]) for z in levels]
    index = np.arange(len(levels) * around).reshape(len(levels), around)
    ahead = np.roll(index, -1, axis=1)
    low = np.stack([index[:-1], ahead[:-1], ahead[1:]], -1).reshape(-1, 3)
    high = np.stack([index[:-1], ahead[1:], index[1:]], -1).reshape(-1, 3)
    side = Surface(np.concatenate(points), np.concatenate([low, high]))
    top = cap.moved((0.0, 0.0, 0.5 * height))
    bottom = Surface(cap.vertices - [0.0, 0.0, 0.5 * height], cap.triangles[:, ::-1])
    built = joined([side, top, bottom])
    wide = math.sqrt(math.pi * radius**2 * height / built.volume)
    return built.scaled((wide, wide, 1.0))


def joined(pieces: list[Surface]) -> Surface:
    """Several surfaces as one; vertices at the same place become one."""
    first = np.cumsum([0, *(len(p.vertices) for p in pieces[:-1])])
    vertices = np.concatenate([p.vertices for p in pieces])
    triangles = np.concatenate([p.triangles + n for p, n in zip(pieces, first, strict=True)])
    key = np.round(vertices / (1e-9 * np.abs(vertices).max())).astype(np.int64)
    _, once, same = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return used_only(Surface(vertices[once], same.reshape(-1)[triangles]))


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
    built = hull_surface(_with_size(hull, size))
    solid = hull_solid(hull)
    center = np.asarray(solid.centroid)
    return built.moved(-center).with_volume(solid.volume).moved(center + shift)


def _with_size(hull: hulls.Hull, size: float) -> hulls.Hull:
    """The hull with panels of a size; meshes keep theirs."""
    if isinstance(hull, hulls.Union):
        return hull.replace(hulls=tuple(_with_size(part, size) for part in hull.hulls))
    return hull if isinstance(hull, hulls.PanelHull) else hull.replace(panel_size=size)
