"""Wetted panels of the bodies of a system, in the world, and their way into Capytaine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from swelltree.system.bodies.body import Body
from swelltree.system.bodies.hull_panels import hull_panels
from swelltree.system.bodies.panels import Panels
from swelltree.system.errors import SwelltreeError

if TYPE_CHECKING:
    import capytaine as cpt

THIN = 0.1  # thickness over length of a part below which it counts as thin
MIRRORS = {"xOz": 1, "yOz": 0}  # planes of symmetry of Capytaine, and the axis across each
SAME = 1e-6  # of the size of a panel: nearer is the same place


def wetted_panels(body: Body, scale: float = 1.0) -> Panels:
    """Panels of a hull below the still water, as the body is described, world axes [m].

    Args:
        body: with a hull.
        scale: factor on the size of the panels.
    """
    panels = hull_panels(body.hull, scale)
    place = np.array([body.position[0], body.position[1], 0.0])
    wet = panels.moved(place, body.rotation_matrix).immersed()
    if not len(wet.faces):
        raise SwelltreeError(
            f"body '{body.name}': its hull lies above the water. Lower it or leave the hull out."
        )
    return wet


def is_thin(body: Body) -> bool:
    """Whether a part of the hull is thin: its loads are small differences of large pressures.

    The thickness is that of a plate with the same volume and surface, 2 V / S.
    """
    from swelltree.system.bodies.solids import immersed_of_panels

    for part in body.hull.parts:
        wet = hull_panels(part).moved(rotation=body.rotation_matrix).immersed()
        surface = float(wet.areas.sum())
        if surface > 0.0:
            thickness = 2.0 * immersed_of_panels(wet).volume / surface
            if thickness < THIN * np.sqrt(0.5 * surface):
                return True
    return False


def to_capytaine(panels: Panels, name: str) -> cpt.Mesh:
    """The same panels as a mesh of Capytaine."""
    import capytaine as cpt

    return cpt.Mesh(panels.vertices, panels.lists(), name=name, auto_clean=False, auto_check=False)


def common_plane(meshes: Sequence[cpt.Mesh]) -> str | None:
    """The plane in which every mesh is its own mirror image, "xOz" or "yOz"; None without one.

    One plane is used where there are two: Capytaine 3.0 keeps the matrices of quarters in memory.

    Args:
        meshes: all hulls and lids that are solved together.
    """
    planes = (p for p, axis in MIRRORS.items() if all(_is_mirrored(mesh, axis) for mesh in meshes))
    return next(planes, None)


def folded(mesh: cpt.Mesh, plane: str | None) -> cpt.Mesh | cpt.ReflectionSymmetricMesh:
    """The same mesh as a half and its image, whose equations are solved apart.

    Args:
        mesh: that is its own image in this plane.
        plane: from `common_plane`.
    """
    import capytaine as cpt

    if plane is None:
        return mesh
    half = mesh.extract_faces(np.flatnonzero(mesh.faces_centers[:, MIRRORS[plane]] > 0.0))
    return cpt.ReflectionSymmetricMesh(half, plane=plane, name=mesh.name)


def _is_mirrored(mesh: cpt.Mesh, axis: int) -> bool:
    """Whether every panel on one side has its image on the other, and none lies on both."""
    from scipy.spatial import KDTree

    size = np.sqrt(mesh.faces_areas)
    rows = np.column_stack([mesh.faces_centers, size[:, None] * mesh.faces_normals])
    right = mesh.faces_centers[:, axis] > 0.0
    corners = mesh.vertices[mesh.faces][..., axis]
    across = (corners.min(axis=1) < -SAME * size) & (corners.max(axis=1) > SAME * size)
    if across.any() or 2 * right.sum() != right.size:
        return False
    image = rows[right] * np.where(np.arange(6) % 3 == axis, -1.0, 1.0)
    apart, which = KDTree(rows[~right]).query(image)
    return bool((apart <= SAME * size[right]).all() and np.unique(which).size == which.size)
