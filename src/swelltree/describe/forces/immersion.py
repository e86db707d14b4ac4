"""Bodies that go through the water surface: what is wet of them, by depth."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import Point, PointLike
from swelltree.describe.errors import shown
from swelltree.describe.forces.elements import Force
from swelltree.describe.spec import Description, description
from swelltree.describe.values import (
    Converted,
    Flag,
    Name,
    Numbers,
    as_number,
    as_numbers,
    as_vector,
    is_nested,
    one_of,
    row_of,
)

EXITS = ("left", "returned")


def _as_rows(value: object) -> tuple[float | tuple[float, ...], ...]:
    rows = row_of(value)
    if rows is None:
        raise ValueError(f"{shown(value)} is not a table. Give one row for each depth.")
    return tuple(as_vector(row) for row in rows) if is_nested(rows) else as_numbers(rows)


def _as_three(value: object) -> tuple[float, ...]:
    """Three numbers, or one number for all three."""
    if row_of(value) is None:
        return (as_number(value),) * 3
    return as_vector(value)


_number = {"type": "number"}
_three = {"type": "array", "items": _number, "minItems": 3, "maxItems": 3}
Rows = Annotated[
    Converted[tuple[float | tuple[float, ...], ...]],
    BeforeValidator(_as_rows),
    WithJsonSchema({"type": "array", "items": {"anyOf": [_number, _three]}}),
]
PoseStencil = Annotated[
    Converted[tuple[float, ...]],
    BeforeValidator(_as_three),
    WithJsonSchema({"anyOf": [_number, _three]}),
]


@description
class Immersion(Force):
    r"""Forces of the water on a body that crosses the surface.

    Depth is that of one point of the body under the wave surface above it. Tables over this depth
    give the volume V, its centre, the added mass A and the drag areas of what is wet:

    .. math::
        f = \rho g V \hat z + \rho V \frac{Du}{Dt} + A \left(\frac{Du}{Dt} - \dot v\right)
            + \tfrac12 \rho C_d S\, |w| w + \dot A_+\, w, \qquad w = u - v

    The last term is slamming: water that is set in motion takes momentum from the body. Half of the
    energy it requires is lost in spray. Tables are interpolated smoothly without overshoot and are
    constant beyond their ends.

    Without a volume the tables follow from the hull of the body as described, upright or not, with
    Ca and Cd on what is wet of it.

    Args:
        name: unique in the system.
        point: point of the body whose depth counts.
        depth: rows of the tables, increasing; above the water it is negative [m].
        volume: displaced by what is wet, zero in the first row [m^3].
        center: of buoyancy in the body frame, rows of (x, y, z) [m]; if not given, over the point,
            at the height that belongs to the volumes.
        added_mass: for each depth along z of the body, or along its (x, y, z) [kg].
        drag_area: Cd times area, for each depth along z of the body, or along its (x, y, z)
            [m^2].
        Ca: with a hull: added mass of the wet volume, along x, y and z of the body.
        Cd: with a hull: drag of the wet area seen along x, y and z of the body.
        slamming: with the force on entry.
        exit: the water's momentum when the body leaves it: "left" behind, with a loss of its
            energy, or "returned", so that its energy is given back to the body.
        buoyancy: with buoyancy and the pressure of the waves. False where the hull has both
            (compile(..., nonlinear=...)).
    """

    type: ClassVar[str] = "immersion"
    name: Name
    point: PointLike
    depth: Numbers = ()
    volume: Numbers = ()
    center: Rows = ()
    added_mass: Rows = ()
    drag_area: Rows = ()
    Ca: PoseStencil = (0.0, 0.0, 0.0)
    Cd: PoseStencil = (0.0, 0.0, 0.0)
    slamming: Flag = True
    exit: Annotated[str, *one_of(EXITS, "way of leaving the water")] = "left"
    buoyancy: Flag = True

    def __post_init__(self) -> None:
        if self.point.body == "world":
            raise self.fail("is on the world, which stays where it is. Name a body.")
        self._check_depth()
        for field, unit in (("volume", "m^3"), ("added_mass", "kg"), ("drag_area", "m^2")):
            self._check_table(field, unit)
        volumes = np.array(self.volume)
        if (np.diff(volumes) < 0).any():
            k = int(np.argmax(np.diff(volumes) < 0))
            raise self.fail(
                f"volume falls from {volumes[k]:g} to {volumes[k + 1]:g} m^3 where the depth grows "
                f"to {self.depth[k + 1]:g} m. The wet volume cannot decrease."
            )
        if self.center and (not is_nested(self.center) or len(self.center) != len(self.depth)):
            raise self.fail(
                f"center has {len(self.center)} rows of numbers for {len(self.depth)} depths. "
                "Give one row (x, y, z) for each."
            )
        if min(*self.Ca, *self.Cd) < 0:
            raise self.fail("Ca or Cd is negative. Give zero or more.")
        if self.volume and (any(self.Ca) or any(self.Cd)):
            raise self.fail(
                "Ca and Cd are for volumes from the hull, but volume is given. Give added_mass and "
                "drag_area."
            )
        for coefficient, table in (("Ca", "added_mass"), ("Cd", "drag_area")):
            if any(getattr(self, coefficient)) and getattr(self, table):
                raise self.fail(f"{coefficient} and {table} are both given. Give one of them.")

    def _check_depth(self) -> None:
        tables = [f for f in ("volume", "center", "added_mass", "drag_area") if getattr(self, f)]
        if not self.depth:
            if tables:
                raise self.fail(f"{tables[0]} is given without depth. Give the depth of each row.")
            return
        if len(self.depth) < 2:
            raise self.fail("depth has one row. Give two or more.")
        steps = np.array(self.depth[1:]) - np.array(self.depth[:-1])
        if not (steps > 0).all():
            k = int(np.argmax(steps <= 0))
            raise self.fail(
                f"depth goes from {self.depth[k]:g} to {self.depth[k + 1]:g} m. Sort the rows so "
                "that it grows."
            )

    def _check_table(self, field: str, unit: str) -> None:
        rows = getattr(self, field)
        if not rows:
            return
        if len(rows) != len(self.depth):
            raise self.fail(
                f"{field} has {len(rows)} rows for {len(self.depth)} depths. Give one for each."
            )
        values = np.array(rows)
        if values.min() < 0:
            raise self.fail(f"{field} {values.min():g} {unit} is negative. Give zero or more.")
        if values[0].any():
            raise self.fail(
                f"{field} begins with {np.max(values[0]):g} {unit} at depth {self.depth[0]:g} m, "
                "which would also act in the air. Start with a row of zeros."
            )

    @property
    def carries(self) -> str:
        """The body that goes through the surface."""
        return self.point.body

    @property
    def points(self) -> dict[str, Point]:
        return {"point": self.point}


IMMERSION_TYPES: dict[str, type[Description]] = {Immersion.type: Immersion}
