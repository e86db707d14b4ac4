"""Meshes of the hulls that users describe, about the reference points of their bodies."""

from __future__ import annotations

import math

import numpy as np

from swelltree.effects.weak_scatterer.mesh.shapes import hull_surface, sphere
from swelltree.effects.weak_scatterer.mesh.surface import Surface
from swelltree.system.bodies import hulls
from swelltree.system.bodies.body import Body
from swelltree.system.bodies.hull_panels import sphere_centre
from swelltree.system.bodies.solids import hull_solid


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
    made = hull_surface(_with_size(hull, size))
    solid = hull_solid(hull)
    center = np.asarray(solid.centroid)
    return made.moved(-center).with_volume(solid.volume).moved(center + shift)


def _with_size(hull: hulls.Hull, size: float) -> hulls.Hull:
    """The hull with panels of a size; meshes keep theirs."""
    if isinstance(hull, hulls.Union):
        return hull.replace(hulls=tuple(_with_size(part, size) for part in hull.hulls))
    return hull if isinstance(hull, hulls.PanelHull) else hull.replace(panel_size=size)
