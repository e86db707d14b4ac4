"""Sensors: body points and distances that a run reports as channels."""

from typing import ClassVar

from swelltree.system.bodies.body import Point, PointLike
from swelltree.system.describe import Description, description
from swelltree.system.values import Name


class Sensor(Description):
    """Base of the sensors."""

    kind: ClassVar[str] = "sensor"
    name: str

    @property
    def points(self) -> dict[str, Point]:
        """The points by field name."""
        return {}


@description
class PointSensor(Sensor):
    """Position, velocity and acceleration of a body point.

    Args:
        name: unique in the system.
        point: the point watched.
    """

    type: ClassVar[str] = "point"
    name: Name
    point: PointLike

    @property
    def points(self) -> dict[str, Point]:
        """The points by field name."""
        return {"point": self.point}


@description
class DistanceSensor(Sensor):
    """Distance between two points and its rate.

    Args:
        name: unique in the system.
        a: one end.
        b: the other end.
    """

    type: ClassVar[str] = "distance"
    name: Name
    a: PointLike
    b: PointLike

    @property
    def points(self) -> dict[str, Point]:
        """The points by field name."""
        return {"a": self.a, "b": self.b}


SENSOR_TYPES: dict[str, type[Description]] = {
    cls.type: cls for cls in (PointSensor, DistanceSensor)
}
