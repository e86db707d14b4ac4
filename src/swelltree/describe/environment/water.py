"""The water: density, gravity and depth, currents by depth or as any field, and wind.

Directions are those the water flows towards, counter-clockwise from +x. A current is added to the
motion of the waves; how the current changes the waves (Doppler shift, steepening) is not modelled.
"""

import itertools
import math
from typing import Annotated, ClassVar

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.casefile.toml import SchemaOf, choice_schema, class_schema
from swelltree.describe.errors import listed, shown, suggest
from swelltree.describe.forces.signals import Function
from swelltree.describe.spec import Description, description, within
from swelltree.describe.values import (
    Converted,
    Extended,
    Number,
    Numbers,
    as_number,
    as_numbers,
    row_of,
)


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


class Current(Description):
    kind: ClassVar[str] = "current"


@description
class UniformCurrent(Current):
    """The same current at all depths.

    Args:
        speed: [m/s].
        beta: direction towards which it flows, counter-clockwise from +x [rad].
    """

    type: ClassVar[str] = "uniform"
    speed: Number
    beta: Number = 0.0


@description
class PowerLawCurrent(Current):
    """U(z) = speed (1 + z / depth)^exponent: fastest at the surface, zero at `depth`.

    Args:
        speed: at the still water [m/s].
        beta: direction towards which it flows, counter-clockwise from +x [rad].
        exponent: 1/7 for tidal currents.
        depth: where it ends [m]; the depth of the water if not given.
    """

    type: ClassVar[str] = "power_law"
    speed: Number
    beta: Number = 0.0
    exponent: Number = 1.0 / 7.0
    depth: Number | None = None

    def __post_init__(self) -> None:
        if not self.exponent > 0:
            raise self.fail(f"exponent {self.exponent} is not positive. Give e.g. 1/7.")
        if self.depth is not None and not self.depth > 0:
            raise self.fail(f"depth {self.depth} m is not positive. Give metres below the surface.")


@description
class CurrentTable(Current):
    """Speed and direction at several depths, linear between them and held beyond.

    Directions turn the shorter way from one depth to the next.

    Args:
        depth: below the still water, increasing [m].
        speed: one for each depth [m/s].
        beta: direction towards which it flows: one angle, or one for each depth [rad].
    """

    type: ClassVar[str] = "table"
    depth: Numbers
    speed: Numbers
    beta: Annotated[
        Converted[float | tuple[float, ...]],
        BeforeValidator(lambda x: as_number(x) if row_of(x) is None else as_numbers(x)),
        WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "array"}]}),
    ] = 0.0

    def __post_init__(self) -> None:
        if len(self.depth) != len(self.speed) or len(self.depth) < 2:
            raise self.fail(
                f"{len(self.depth)} depths but {len(self.speed)} speeds. Give at least two of each."
            )
        for above, below in zip(self.depth, self.depth[1:], strict=False):
            if not below > above:
                raise self.fail(f"depth {below} m follows {above} m. Give increasing depths.")
        if isinstance(self.beta, tuple) and len(self.beta) != len(self.depth):
            raise self.fail(
                f"{len(self.beta)} directions for {len(self.depth)} depths. Give one or as many."
            )


@description
class FlowField(Current):
    """Any velocity of the water in space and time.

    Args:
        function: f(t, x, y, z) -> (u, v, w) [m/s] of one point, written with jax.numpy; or the
            text "module:name". Accelerations Du/Dt follow by differentiation.
    """

    type: ClassVar[str] = "field"
    function: Function


@description
class CurrentGrid(Current):
    """Velocity on a grid in time and space, linear between its points and held beyond them.

    Args:
        u: velocity along x [m/s] at every point, ordered by time, x, y, z (z varies fastest).
        v: velocity along y, likewise; zero if not given.
        w: velocity along z, likewise; zero if not given.
        time: increasing times [s]; the flow is steady if not given.
        x: increasing coordinates [m]; the flow is the same everywhere along x if not given.
        y: likewise.
        z: likewise, with zero at the still water.
    """

    type: ClassVar[str] = "grid"
    u: Numbers
    v: Numbers | None = None
    w: Numbers | None = None
    time: Numbers = (0.0,)
    x: Numbers = (0.0,)
    y: Numbers = (0.0,)
    z: Numbers = (0.0,)

    def __post_init__(self) -> None:
        count = 1
        for name in ("time", "x", "y", "z"):
            axis = getattr(self, name)
            count *= len(axis)
            for before, after in itertools.pairwise(axis):
                if not after > before:
                    raise self.fail(f"{name} {after} follows {before}. Give increasing values.")
        for name in ("u", "v", "w"):
            values = getattr(self, name)
            if values is not None and len(values) != count:
                raise self.fail(
                    f"{name} has {len(values)} values for {count} points of the grid. Give one for "
                    "each point, ordered by time, x, y, z."
                )

    @property
    def velocity(self) -> np.ndarray:
        """(time, x, y, z, 3) [m/s]."""
        shape = len(self.time), len(self.x), len(self.y), len(self.z)
        parts = (np.zeros(shape) if row is None else row for row in (self.u, self.v, self.w))
        return np.stack([np.reshape(part, shape) for part in parts], axis=-1)


CURRENT_TYPES: dict[str, type[Description]] = {
    cls.type: cls for cls in (UniformCurrent, PowerLawCurrent, CurrentTable, CurrentGrid, FlowField)
}


def as_current(value: object) -> object:
    if value is None or isinstance(value, Current):
        return value
    if not isinstance(value, dict):
        raise ValueError(
            f"{shown(value)} is not a current. Give UniformCurrent(speed=...) or another."
        )
    kind = value.get("type", UniformCurrent.type)
    if not isinstance(kind, str) or kind not in CURRENT_TYPES:
        raise ValueError(
            f"has type {shown(kind)}.{suggest(kind, CURRENT_TYPES)} "
            f"The types are {listed(CURRENT_TYPES)}."
        )
    return within(CURRENT_TYPES[kind], {key: x for key, x in value.items() if key != "type"})


CurrentLike = Annotated[
    Converted[Current | None],
    BeforeValidator(as_current),
    SchemaOf(lambda: choice_schema(CURRENT_TYPES)),
]


@description
class Wind(Description):
    """Steady wind with a power-law profile: U(z) = speed (z / reference_height)^exponent.

    Args:
        speed: at the reference height [m/s].
        beta: direction towards which it blows, counter-clockwise from +x [rad].
        reference_height: above the still water [m].
        exponent: of the profile; 0 for the same wind at all heights.
        rho: density of the air [kg/m^3].
    """

    kind: ClassVar[str] = "wind"
    speed: Number
    beta: Number = 0.0
    reference_height: Number = 10.0
    exponent: Number = 0.12
    rho: Number = 1.225

    def __post_init__(self) -> None:
        if not self.reference_height > 0:
            raise self.fail(
                f"reference_height {self.reference_height} m is not positive. Give e.g. 10."
            )
        if not 0 <= self.exponent < 1:
            raise self.fail(f"exponent {self.exponent} is not between 0 and 1. Give e.g. 0.12.")
        if not self.rho > 0:
            raise self.fail(f"rho {self.rho} kg/m^3 is not positive. Give e.g. 1.225.")
        if abs(self.beta) > 2 * math.pi:
            raise self.fail(f"beta {self.beta} rad is more than a turn. Give radians.")


def as_wind(value: object) -> object:
    if isinstance(value, dict):
        return within(Wind, value)
    if value is not None and not isinstance(value, Wind):
        raise ValueError(f"{shown(value)} is not wind. Give Wind(speed=...).")
    return value


WindLike = Annotated[
    Converted[Wind | None], BeforeValidator(as_wind), SchemaOf(lambda: class_schema(Wind))
]
