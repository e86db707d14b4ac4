"""The sea around the bodies: what forces on the actual position of a body ask for.

Waves and current are added. How a current changes the waves (Doppler shift, steepening) is not
modelled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.jit import Array, namespace, pytree
from swelltree.waves.airy import Components, Kinematics, surface_and_motion

if TYPE_CHECKING:
    from swelltree.model.currents import Field, Grid, PowerLaw, Profile, Turning, Wind
    from swelltree.model.model import Model
    from swelltree.waves.sea import RealisedSea


@pytree("stretching")
class Sea:
    """Waves, currents and wind."""

    waves: RealisedSea | None = (
        None  # realised sea: components, stream function wave, grid; None: still water
    )
    stretching: str = "wheeler"  # of linear waves above the still water
    current: Profile | Turning | PowerLaw | Grid | Field | None = None
    wind: Wind | None = None  # currents.Wind


def surface_at(model: Model, t: Array, points: Array) -> Array:
    """Height of the free surface above the still water at points (k, 3) [m]."""
    from swelltree.waves.sea import elevation

    if model.sea.waves is None:
        return namespace(points).zeros(points.shape[0])
    return elevation(model.sea.waves, t, points[:, 0], points[:, 1])


def water_at(
    model: Model, t: Array, points: Array, follows: np.ndarray | None = None
) -> Kinematics:
    """Velocity, acceleration and dynamic pressure of the water at points (k, 3).

    Points above the surface get what stretching says there; who asks must know the surface.

    Args:
        model: with its sea.
        t: [s].
        points: [m].
        follows: (k,) whether a point belongs to something that is wet up to the actual surface;
            the others have linear theory up to the still water, without stretching.
    """
    if follows is not None and not follows.any():
        model = _unstretched(model)
    moving = waves_at(model, t, points)
    if follows is not None and follows.any() and not follows.all():
        linear, xp = waves_at(_unstretched(model), t, points), namespace(points)
        pairs = zip(moving, linear, strict=True)
        moving = Kinematics(
            *(xp.where(follows.reshape(-1, *(1,) * (x.ndim - 1)), x, y) for x, y in pairs)
        )
    if model.sea.current is None:
        return moving
    velocity, acceleration = model.sea.current.flow(t, points)
    return Kinematics(
        moving.velocity + velocity, moving.acceleration + acceleration, moving.pressure
    )


def surface_and_water_at(
    model: Model, t: Array, points: Array, follows: np.ndarray | None = None
) -> tuple[Array, Array, Array]:
    """Height of the surface, velocity and acceleration of the water at points (k, 3).

    As of `surface_at` and `water_at`; linear waves are summed once for all three.

    Args:
        model: with its sea.
        t: [s].
        points: [m].
        follows: as of `water_at`.
    """
    waves = model.sea.waves
    mixed = follows is not None and bool(follows.any()) and not bool(follows.all())
    if not isinstance(waves, Components) or mixed:
        flow = water_at(model, t, points, follows)
        return surface_at(model, t, points), flow.velocity, flow.acceleration
    sea = model.sea
    if follows is not None and not follows.any():
        sea = _unstretched(model).sea
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    eta, *flow = surface_and_motion(waves, t, x, y, z, model.water, sea.stretching)
    velocity, acceleration = flow
    if sea.current is not None:
        more = sea.current.flow(t, points)
        velocity, acceleration = velocity + more[0], acceleration + more[1]
    return eta, velocity, acceleration


def _unstretched(model: Model) -> Model:
    """The sea without stretching: linear up to the still water level."""
    return model.replace(sea=replace(model.sea, stretching="constant"))


def current_at(model: Model, t: Array, points: Array) -> Array:
    """Velocity of the current alone at points (k, 3) [m/s]."""
    if model.sea.current is None:
        return 0.0 * points
    return model.sea.current.flow(t, points)[0]


def waves_at(model: Model, t: Array, points: Array) -> Kinematics:
    """Velocity and acceleration of the waves without the current."""
    from swelltree.waves.sea import kinematics

    xp = namespace(points)
    sea = model.sea
    if sea.waves is None:
        still = xp.zeros(points.shape)
        return Kinematics(still, still, still[:, 0])
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    return kinematics(sea.waves, t, x, y, z, model.water, sea.stretching)
