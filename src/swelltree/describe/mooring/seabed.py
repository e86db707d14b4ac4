"""The seabed, and points of bodies that may touch it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import Point, PointLike
from swelltree.describe.errors import shown
from swelltree.describe.mooring.line import OnLine
from swelltree.describe.spec import Description, description, within
from swelltree.describe.values import (
    Converted,
    Name,
    Number,
    Numbers,
    as_numbers,
    as_vector,
    row_of,
)

if TYPE_CHECKING:
    from swelltree.describe.system import System


def _as_slope(value: object) -> object:
    row = row_of(value)
    if row is None or len(row) != 2:
        raise ValueError(f"{shown(value)} is not two numbers. Give (rise along x, rise along y).")
    return as_numbers(row)


def _as_rows(value: object) -> object:
    rows = row_of(value)
    if rows is None:
        raise ValueError(f"{shown(value)} is not a table. Give one row of depths for each x.")
    return tuple(as_numbers(row_of(row) or ()) for row in rows)


@description
class DepthGrid(Description):
    """Bathymetry: water depth at the corners of a grid, linear in between.

    Args:
        x: increasing [m].
        y: increasing [m].
        depth: one row of depths below the still water for each x [m].
    """

    kind: ClassVar[str] = "depth grid"
    x: Numbers
    y: Numbers
    depth: Annotated[
        Converted[tuple[tuple[float, ...], ...]],
        BeforeValidator(_as_rows),
        WithJsonSchema({"type": "array"}),
    ]

    def __post_init__(self) -> None:
        for field in ("x", "y"):
            row = np.array(getattr(self, field))
            if len(row) < 2 or (np.diff(row) <= 0).any():
                raise self.fail(f"{field} must increase and have two or more values.")
        if any(len(row) != len(self.y) for row in self.depth) or len(self.depth) != len(self.x):
            raise self.fail(
                f"depth is not {len(self.x)} rows of {len(self.y)} numbers, one for each x and y."
            )
        if not (np.array(self.depth) > 0).all():
            raise self.fail("a depth is not positive. Depths are metres below the still water.")

    def at(self, x: float, y: float) -> float:
        """Depth at a position [m]; constant beyond the edges of the grid."""
        along_y = [np.interp(y, self.y, row) for row in self.depth]
        return float(np.interp(x, self.x, along_y))


def _as_grid(value: object) -> object:
    if isinstance(value, dict):
        return within(DepthGrid, value)
    if value is not None and not isinstance(value, DepthGrid):
        raise ValueError(f"{shown(value)} is not a grid. Give DepthGrid(x=, y=, depth=).")
    return value


@description
class Seabed(Description):
    """The ground that lines and bodies may touch.

    Args:
        depth: below the still water at the origin [m]; that of `Water` if not given.
        slope: rise of the ground along x and along y.
        grid: bathymetry instead of depth and slope.
        stiffness: of a soft ground, force per area and depth [Pa/m]; rigid if not given. A body's
            contact point takes it on its own area.
        damping: of a soft ground [Pa s/m].
        friction: coefficient of Coulomb friction: below the friction limit there is no sliding.
        friction_velocity: of older files, where friction was smoothed over this velocity [m/s];
            it changes nothing.
    """

    kind: ClassVar[str] = "seabed"
    depth: Number | None = None
    slope: Annotated[
        tuple[float, float],
        BeforeValidator(_as_slope),
        WithJsonSchema({"type": "array", "items": {"type": "number"}}),
    ] = (0.0, 0.0)
    grid: Annotated[
        Converted[DepthGrid | None], BeforeValidator(_as_grid), WithJsonSchema({"type": "object"})
    ] = None
    stiffness: Number | None = None
    damping: Number = 0.0
    friction: Number = 0.0
    friction_velocity: Number = 0.01

    def __post_init__(self) -> None:
        if self.depth is not None and not self.depth > 0:
            raise self.fail(f"depth {self.depth} m is not positive. Give metres below the water.")
        if self.grid is not None and (self.depth is not None or any(self.slope)):
            raise self.fail("grid is given together with depth or slope. Give one description.")
        if self.stiffness is not None and not self.stiffness > 0:
            raise self.fail("stiffness is not positive. Give Pa/m, or leave it out: rigid.")
        for field in ("damping", "friction"):
            if getattr(self, field) < 0:
                raise self.fail(f"{field} {getattr(self, field)} is negative. Give zero or more.")
        if self.damping and self.stiffness is None:
            raise self.fail("damping is given without stiffness. Give both, or neither: rigid.")
        if not self.friction_velocity > 0:
            raise self.fail("friction_velocity is not positive. Give e.g. 0.01 m/s.")

    def level(self, x: float, y: float, water_depth: float) -> float:
        """Height of the ground at a place [m], minus infinity where there is none.

        Args:
            x: [m].
            y: [m].
            water_depth: of `Water` [m], for a seabed without its own.
        """
        if self.grid is not None:
            return -self.grid.at(x, y)
        depth = water_depth if self.depth is None else self.depth
        return -float(depth) + self.slope[0] * x + self.slope[1] * y


ON_BED = 1e-3  # of the depth: what is this close to the ground lies on it


def depth_under(z: float, level: float) -> float:
    """Depth below the ground [m], zero on or above it."""
    return level - z if z < level - ON_BED * max(abs(level), 1e-3) else 0.0


def as_seabed(value: object) -> object:
    if isinstance(value, dict):
        return within(Seabed, value)
    if not isinstance(value, Seabed):
        raise ValueError(f"{shown(value)} is not a seabed. Give Seabed(depth=..., slope=...).")
    return value


def _as_points(value: object) -> object:
    rows = row_of(value)
    if rows is None:
        raise ValueError(f"{shown(value)} is not a list of points. Give rows of x, y, z.")
    return tuple(as_vector(row) for row in rows)


@description
class SeabedContact(Description):
    """Points of a body that may touch the seabed.

    Args:
        name: unique in the system.
        body: the body.
        at: points in the body's frame [m]; the lowest corners of its hull if not given.
        area: of ground that each point presses on where the seabed is soft [m^2].
    """

    kind: ClassVar[str] = "contact"
    name: Name
    body: PointLike
    at: Annotated[
        Converted[tuple[tuple[float, ...], ...]],
        BeforeValidator(_as_points),
        WithJsonSchema({"type": "array", "items": {}}),
    ] = ()
    area: Number = 1.0

    def __post_init__(self) -> None:
        if any(self.body.position) or self.body.rotation is not None:
            raise self.fail("names a point. Give the body, and its points in `at`.")
        if self.body.body == "world":
            raise self.fail("is on the world, which does not move. Name a body.")
        if not self.area > 0:
            raise self.fail(f"area {self.area} m^2 is not positive.")

    @property
    def points(self) -> dict[str, Point]:
        """The points by field name."""
        return {"body": self.body}


# --- What lines hang on is not under the ground: they would hang below their own anchors


def _places(system: "System") -> Iterator[tuple[Description, str, np.ndarray]]:
    """Items, their words for points, and the described positions of these."""
    for line in system.lines:
        ends = (("end A", line.A), ("end B", line.B))
        yield from (
            (line, word, system.end_point(end)) for word, end in ends if not isinstance(end, OnLine)
        )
    for rod in system.rods:
        ends = (("end A", rod.A), ("end B", rod.B))
        yield from ((rod, word, system.world_point(end)) for word, end in ends)
    for junction in system.junctions:
        yield junction, "position", np.array(junction.position)


def check_ground(system: "System") -> None:
    """Reject line ends, rods and junctions described below the seabed."""
    for item, word, (x, y, z) in _places(system):
        level = system.seabed.level(x, y, system.water.depth)
        if depth_under(z, level):
            raise item.fail(
                f"its {word} at z = {z:g} m lies below the seabed, which is at {level:g} m there. "
                "Move it, or give Seabed(depth=...)."
            )
