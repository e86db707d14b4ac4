"""Power take-offs: what turns motion into useful power.

The force on the coordinate is F = -c q' - k (q - q0) + u; the absorbed power -F q' is positive
when it is taken from the sea.
"""

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.system.bodies import POINT_SCHEMA, as_point
from swelltree.system.describe import description
from swelltree.system.forces import Force, JointForce, SpringDamper
from swelltree.system.signals import Signal
from swelltree.system.values import Name, Number

MaybePoint = Annotated[
    Any,
    BeforeValidator(lambda value: None if value is None else as_point(value)),
    WithJsonSchema(POINT_SCHEMA),
]
MaybeJoint = Annotated[
    Any,
    BeforeValidator(lambda value: getattr(value, "name", value)),
    WithJsonSchema({"type": "string"}),
]


@description
class LinearPto(Force):
    """Damper and spring between two points, or on a joint coordinate.

    Args:
        name: unique in the system.
        a: one end.
        b: the other end.
        joint: the joint or its name, instead of two ends.
        dof: its coordinate; may be left out when the joint has one.
        damping: c [N s/m, N m s/rad].
        stiffness: k [N/m, N m/rad].
        rest: length or coordinate without spring force [m, rad]; between points the described
            distance if not given, on a joint zero.
        force: u [N, N m], a signal.
    """

    kind: ClassVar[str] = "pto"
    type: ClassVar[str] = "linear"
    name: Name
    a: MaybePoint = None
    b: MaybePoint = None
    joint: MaybeJoint = None
    dof: str | None = None
    damping: Number = 0.0
    stiffness: Number = 0.0
    rest: Number | None = None
    force: Signal | None = None

    def __post_init__(self) -> None:
        between = self.a is not None and self.b is not None
        if between == (self.joint is not None) or (self.a is None) != (self.b is None):
            raise self.fail("give either two ends a and b, or a joint.")
        self.check_not_negative("stiffness", "damping")
        self.element  # noqa: B018 - its own checks, under the name of this PTO

    @property
    def element(self) -> SpringDamper | JointForce:
        """The force element it stands for."""
        common = {"stiffness": self.stiffness, "damping": self.damping, "force": self.force}
        if self.joint is None:
            return SpringDamper(self.name, self.a, self.b, rest_length=self.rest, **common)
        rest = 0.0 if self.rest is None else self.rest
        return JointForce(self.name, self.joint, self.dof, rest_position=rest, **common)

    @property
    def points(self) -> dict[str, Any]:
        """The points by field name."""
        return {} if self.a is None else {"a": self.a, "b": self.b}


PTO_TYPES: dict[str, Any] = {LinearPto.type: LinearPto}
