"""The water of a compiled model: density, gravity and depth, the one place of each."""

from __future__ import annotations

import math

import numpy as np

from swelltree.engine.arrays import Array, namespace, pytree
from swelltree.system.waters.water import Water


@pytree()
class WaterNumbers:
    """Numbers of the water; whether it is deep or has a bottom belongs to the layout."""

    rho: Array  # kg/m^3
    g: Array  # m/s^2, downwards
    bottom: Array = None  # depth [m], None: deep

    @property
    def depth(self) -> Array:
        """Depth, infinite in deep water [m]."""
        return math.inf if self.bottom is None else self.bottom

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity in world axes (3,) [m/s^2]."""
        xp = namespace(self.g)
        return xp.asarray(self.g) * np.array([0.0, 0.0, -1.0])


def compile_water(water: Water) -> WaterNumbers:
    """Described water as leaves."""
    bottom = None if math.isinf(water.depth) else np.float64(water.depth)
    return WaterNumbers(np.float64(water.rho), np.float64(water.g), bottom)


AnyWater = Water | WaterNumbers  # described or compiled
