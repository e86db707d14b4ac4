"""Hydrostatics of a body about its reference point.

The stiffness is that of wrench = -G xi: displacement of the reference point and rotation vector,
world axes, moments about the moving point. The *weight* of the body is part of it, as in WAMIT,
NEMOH and Capytaine: the pitch entry is rho g (I_yy + V z_b) - m g z_g. Where gravity is applied
as a force of its own, take `weight=False`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swelltree.describe.bodies.body import Body
from swelltree.describe.bodies.solids import Immersed, hull_immersed, immersed_of_panels
from swelltree.describe.environment.water import Water


@dataclass(frozen=True)
class Hydrostatics:
    """Hydrostatics as described.

    Args:
        volume: displaced [m^3].
        center_of_buoyancy: in the world (3,) [m].
        waterplane_area: [m^2].
        reference: the point the stiffness is about, in the world (3,) [m].
        stiffness: (6, 6) [N/m, N, N m].
        weight_stiffness: the part of it that comes from the weight (6, 6); zero without weight.
    """

    volume: float
    center_of_buoyancy: np.ndarray
    waterplane_area: float
    reference: np.ndarray
    stiffness: np.ndarray
    weight_stiffness: np.ndarray


def hydrostatics(
    body: Body, water: Water, *, weight: bool = True, from_panels: bool = False
) -> Hydrostatics:
    """Displacement and hydrostatic stiffness of a body with a hull.

    Args:
        body: with a hull.
        water: it floats in.
        weight: include the weight of the body in the stiffness.
        from_panels: integrate over the panels of a BEM run also where a closed form exists.
    """
    from swelltree.hydro.bem.meshes import wetted_panels

    body = body.resolved(water)
    R = body.rotation_matrix
    place = np.array([body.position[0], body.position[1], 0.0])
    origin = np.array(body.position)
    if from_panels:
        wet, place = immersed_of_panels(wetted_panels(body)), np.zeros(3)
    else:
        wet = hull_immersed(body.hull, R)
    reference = origin + R @ np.array(body.reference)
    com = origin + R @ np.array(body.center_of_mass)
    G = buoyancy_stiffness(wet, reference - place, water)
    W = load_stiffness(-body.mass * water.g, com - reference) if weight else np.zeros((6, 6))
    return Hydrostatics(wet.volume, wet.center + place, wet.area, reference, G + W, W)


def buoyancy_stiffness(wet: Immersed, about: np.ndarray, water: Water) -> np.ndarray:
    """Stiffness from the water alone.

    Args:
        wet: displaced volume and waterplane.
        about: the reference point in the frame of `wet` (3,) [m].
        water: density and gravity.
    """
    x, y = about[:2]
    area, (sx, sy) = wet.area, wet.first - wet.area * about[:2]
    shift = np.outer(about[:2], wet.first)
    second = wet.second - shift - shift.T + area * np.outer((x, y), (x, y))
    G = np.zeros((6, 6))
    G[2, 2] = area
    G[2, 3] = G[3, 2] = sy
    G[2, 4] = G[4, 2] = -sx
    G[3, 3], G[4, 4] = second[1, 1], second[0, 0]
    G[3, 4] = G[4, 3] = -second[0, 1]
    lift = load_stiffness(water.rho * water.g * wet.volume, wet.center - about)
    return water.rho * water.g * G + lift


def load_stiffness(force: float, arm: np.ndarray) -> np.ndarray:
    """Stiffness of a constant vertical force at a point fixed in the body.

    Args:
        force: upwards [N].
        arm: from the reference point to that point (3,) [m].
    """
    K = np.zeros((6, 6))
    K[3, 3] = K[4, 4] = force * arm[2]
    K[3, 5], K[4, 5] = -force * arm[0], -force * arm[1]
    return K
