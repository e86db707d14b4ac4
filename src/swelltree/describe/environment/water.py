"""The water: the one place of density, gravity and depth."""

import math
from typing import ClassVar

from swelltree.describe.errors import shown
from swelltree.describe.spec import Description, description, within
from swelltree.describe.values import Extended, Number


@description
class Water(Description):
    """Water and gravity.

    Args:
        rho: density [kg/m^3].
        g: acceleration of gravity, downwards [m/s^2]; zero for no gravity.
        depth: [m]; infinite by default.
    """

    kind: ClassVar[str] = "water"
    rho: Number = 1025.0
    g: Number = 9.81
    depth: Extended = math.inf

    def __post_init__(self) -> None:
        if not self.rho > 0:
            raise self.fail(f"rho {self.rho} kg/m^3 is not positive. Give a density such as 1025.")
        if self.g < 0:
            raise self.fail(
                f"g {self.g} m/s^2 is negative. z is up: give a positive g, or zero for no gravity."
            )
        if not self.depth > 0:
            raise self.fail(f"depth {self.depth} m is not positive. Give metres or inf.")


def as_water(value: object) -> object:
    if isinstance(value, dict):
        return within(Water, value)
    if not isinstance(value, Water):
        raise ValueError(f"{shown(value)} is not water. Give Water(rho=..., g=..., depth=...).")
    return value
