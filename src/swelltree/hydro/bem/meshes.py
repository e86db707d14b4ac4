"""Wetted panels of the bodies of a system, in the world, and their way into Capytaine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.system.bodies.body import Body
from swelltree.system.bodies.hull_panels import hull_panels
from swelltree.system.bodies.panels import Panels
from swelltree.system.errors import SwelltreeError

if TYPE_CHECKING:
    import capytaine as cpt

THIN = 0.1  # thickness over length of a part below which it counts as thin


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
