"""Rotors in the wind: the thrust of a turbine on what carries it."""

from typing import ClassVar

from swelltree.system.bodies.body import Point, PointLike
from swelltree.system.describe import Description, description
from swelltree.system.forces.elements import Force
from swelltree.system.values import Name, Number, Numbers, Vector


@description
class Rotor(Force):
    """Thrust of a wind turbine from its thrust curve: T = half rho Ct(U) A U |U| along the axis.

    U is the wind at the hub relative to the hub, along the axis; beyond the ends of the table its
    last values hold. Motion of the hub changes U, which is the aerodynamic damping of the turbine.

    Args:
        name: unique in the system.
        hub: point of the body that carries the rotor.
        diameter: of the rotor [m].
        wind_speed: rows of the table [m/s].
        Ct: thrust coefficient at each wind speed.
        Cp: power coefficient at each wind speed; no power is reported without it.
        axis: of the rotor in the body's frame, downwind.
    """

    type: ClassVar[str] = "rotor"
    name: Name
    hub: PointLike
    diameter: Number
    wind_speed: Numbers
    Ct: Numbers
    Cp: Numbers = ()
    axis: Vector = (1.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if self.hub.body == "world":
            raise self.fail("is on the world, which does not move. Name a body.")
        if not self.diameter > 0:
            raise self.fail(f"diameter {self.diameter} m is not positive. Give the rotor's.")
        count = len(self.wind_speed)
        if count < 2 or len(self.Ct) != count or len(self.Cp) not in (0, count):
            raise self.fail("wind_speed, Ct and Cp differ in length. Give one of each per row.")
        if any(not b > a for a, b in zip(self.wind_speed, self.wind_speed[1:], strict=False)):
            raise self.fail("wind_speed does not increase. Sort the rows by wind speed.")
        if not any(self.axis):
            raise self.fail("axis has no length. Give a direction such as (1, 0, 0).")

    @property
    def points(self) -> dict[str, Point]:
        """The points by field name."""
        return {"hub": self.hub}


ROTOR_TYPES: dict[str, type[Description]] = {Rotor.type: Rotor}
