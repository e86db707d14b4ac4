"""Rods: rigid slender bodies with the forces of the water lumped at their nodes.

A rod is a short way to describe a body, a slender member on it and the joint that holds it. The
system makes these three, so a rod moves, is reported and takes lines as any other body.
"""

import functools
from collections.abc import Sequence
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import POINT_SCHEMA, Body, Point
from swelltree.describe.errors import shown
from swelltree.describe.forces.viscous import MorisonMember
from swelltree.describe.joints.joint import Joint
from swelltree.describe.joints.kinds import Ball, Free, Weld
from swelltree.describe.mooring.line import OnJunction, OnLine, as_end
from swelltree.describe.spec import Description, description
from swelltree.describe.topology import WORLD_NAME
from swelltree.describe.values import (
    Converted,
    Count,
    Name,
    NamedValues,
    Number,
    one_of,
    turned_onto,
)

ATTACHMENTS = ("free", "pinned", "fixed")


def _as_rod_end(value: object) -> Point:
    end = as_end(value)
    if isinstance(end, OnJunction | OnLine):
        raise ValueError(f"{shown(value)} is the end of a line. Give x, y, z or a point of a body.")
    return end


RodEnd = Annotated[
    Converted[Point],
    BeforeValidator(_as_rod_end),
    WithJsonSchema({"anyOf": [*POINT_SCHEMA["anyOf"], {"type": "array"}]}),
]


class RodParts(NamedTuple):
    """Bodies, joints and forces that represent a rod."""

    body: Body
    joint: Joint
    member: MorisonMember


SPIN = 10.0  # kg/m^3: of a rod without mass about its own axis, a hundredth of water


@description
class Rod(Description):
    r"""A rigid slender body with Morison's forces lumped at its nodes.

    Each of the nodes, one more than segments, takes half of the segments on its sides:

    .. math:: \tfrac12 \rho C_{dn} d\, l |w_n| w_n + \rho \tfrac{\pi}{4} d^2 l (1 + C_{an}) \dot u_n
        - \rho \tfrac{\pi}{4} d^2 l C_{an} \dot v_n

    and alike along the rod. The ends have added mass on half a sphere and drag on their area.
    Only what is under water counts. The body of the rod has its origin at A and its z axis
    towards B.

    Args:
        name: unique in the system; also that of its body.
        A: one end: x, y, z in the world [m], or a point of a body that holds it.
        B: the other end, in the same frame.
        diameter: [m].
        mass_per_length: in air [kg/m], spread evenly over the cylinder; zero where what holds it
            has its mass too, or where that of the water it moves is enough.
        Cdn: drag coefficient across the rod.
        Can: added mass coefficient across the rod.
        Cd_end: drag coefficient of each end, on its area.
        Ca_end: added mass coefficient of each end, on half a sphere of the diameter.
        Cdt: drag coefficient along the rod, on its circumference.
        Cat: added mass coefficient along the rod.
        segments: between its nodes.
        attachment: "free"; "pinned": turns about A; "fixed": to the body of A, or to the world.
    """

    kind: ClassVar[str] = "rod"
    name: Name
    A: RodEnd
    B: RodEnd
    diameter: Number
    mass_per_length: Number
    Cdn: Number = 1.2
    Can: Number = 1.0
    Cd_end: Number = 0.6
    Ca_end: Number = 0.6
    Cdt: Number = 0.0
    Cat: Number = 0.0
    segments: Count = 10
    attachment: Annotated[str, *one_of(ATTACHMENTS, "way to hold a rod")] = "free"

    def __post_init__(self) -> None:
        if not self.diameter > 0:
            raise self.fail(f"diameter {self.diameter} is not positive.")
        for field in ("mass_per_length", "Cdn", "Can", "Cd_end", "Ca_end", "Cdt", "Cat"):
            if getattr(self, field) < 0:
                raise self.fail(f"{field} {getattr(self, field)} is negative. Give zero or more.")
        if self.segments < 1:
            raise self.fail("segments 0 is too few. Give one or more.")
        if self.A.body != self.B.body:
            raise self.fail(
                f"end A is on '{self.A.body}' but end B on '{self.B.body}'. Give both in one frame."
            )
        if self.A.body != WORLD_NAME and self.attachment == "free":
            raise self.fail(
                f"its ends are on '{self.A.body}' but it is free. Give attachment='pinned' or "
                "attachment='fixed', or its ends in the world."
            )
        if not self.length > 0:
            raise self.fail("the ends coincide. Give two different points.")

    @functools.cached_property
    def length(self) -> float:
        """From A to B [m]."""
        return float(np.linalg.norm(np.subtract(self.B.position, self.A.position)))

    def at(self, s: float) -> Point:
        """The point of the rod at a distance from A [m]."""
        return Point(self.name, (0.0, 0.0, float(s)))

    @property
    def end_A(self) -> Point:
        """Its end A."""
        return self.at(0.0)

    @property
    def end_B(self) -> Point:
        """Its end B."""
        return self.at(self.length)

    @property
    def points(self) -> dict[str, Point]:
        """The points by field name."""
        return {"A": self.A, "B": self.B}

    def table(self) -> NamedValues:
        """This item as a TOML table; ends in the world as x, y, z."""
        table = super().table()
        if self.A.body == WORLD_NAME:
            table |= {"A": list(self.A.position), "B": list(self.B.position)}
        return table

    def parts(self, position: Sequence[float] | np.ndarray, rotation: np.ndarray) -> RodParts:
        """Its body, joint and member.

        Args:
            position: of what holds it, in the world [m].
            rotation: of what holds it, to world axes.
        """
        a, b = np.array(self.A.position), np.array(self.B.position)
        mass, r = self.mass_per_length * self.length, 0.5 * self.diameter
        across = mass * (self.length**2 / 12.0 + r**2 / 4.0)
        # nothing turns it about its own axis, but its acceleration there must be determined
        spins = not mass and self.attachment != "fixed"
        water = {"Yaw": SPIN * 0.5 * np.pi * r**4 * self.length} if spins else ()
        turned = np.array(rotation) @ turned_onto(tuple((b - a).tolist()), axis=2)
        body = Body(
            self.name,
            mass=mass,
            inertia=(across, across, 0.5 * mass * r**2),
            com=(0.0, 0.0, 0.5 * self.length),
            position=tuple((np.array(position) + np.array(rotation) @ a).tolist()),
            rotation=turned,
            added_mass=water,
        )
        base = Point(self.A.body, self.A.position)
        joint: Joint = {
            "free": Free(f"{self.name}_free", WORLD_NAME, self.name),
            "pinned": Ball(f"{self.name}_pin", base, self.name),
            "fixed": Weld(f"{self.name}_weld", base, self.name),
        }[self.attachment]
        member = MorisonMember(
            f"{self.name}_strips",
            self.end_A,
            self.end_B,
            diameter=self.diameter,
            Cd=self.Cdn,
            Ca=self.Can,
            axial_Cd=self.Cdt,
            axial_Ca=self.Cat,
            end_Cd=self.Cd_end,
            end_Ca=self.Ca_end,
            strips=self.segments,
            lumping="nodes",
            buoyancy=True,
        )
        return RodParts(body, joint, member)
