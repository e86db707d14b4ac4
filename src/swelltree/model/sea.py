"""The sea around the bodies: what forces on the actual position of a body ask for."""

from __future__ import annotations

from typing import Any

from swelltree.spatial.arrays import Array, namespace, pytree
from swelltree.waves.airy import Kinematics


@pytree("stretching")
class Sea:
    """Waves and what else moves the water."""

    waves: Any = None  # realised sea: components, stream function wave, grid; None: still water
    stretching: str = "wheeler"  # of linear waves above the still water


def surface_at(model: Any, t: Array, points: Array) -> Array:
    """Height of the free surface above the still water at points (k, 3) [m]."""
    from swelltree.waves.sea import elevation

    if model.sea.waves is None:
        return namespace(points).zeros(points.shape[0])
    return elevation(model.sea.waves, t, points[:, 0], points[:, 1])


def water_at(model: Any, t: Array, points: Array) -> Kinematics:
    """Velocity, acceleration and dynamic pressure of the water at points (k, 3).

    Points above the surface get what stretching says there; who asks must know the surface.
    """
    from swelltree.waves.sea import kinematics

    xp = namespace(points)
    if model.sea.waves is None:
        still = xp.zeros(points.shape)
        return Kinematics(still, still, still[:, 0])
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    sea = model.sea
    return kinematics(sea.waves, t, x, y, z, model.water, sea.stretching)
