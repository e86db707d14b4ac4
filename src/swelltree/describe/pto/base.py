"""What all power take-offs share: where they act, spring, end stops and limits.

The stroke x is the distance between two points or a joint coordinate, less `rest`; v is its rate.
The force F acts to increase the stroke; the absorbed power -F v is positive when it is taken from
the sea.
"""

from dataclasses import field
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import POINT_SCHEMA, Point, as_point
from swelltree.describe.forces.elements import (
    Force,
    JointForce,
    MaybeDof,
    SpringDamper,
    as_joint_name,
)
from swelltree.describe.read_as import Converted
from swelltree.describe.spec import Description, description
from swelltree.describe.values import Name, Number

MaybePoint = Annotated[
    Converted[Point],
    BeforeValidator(lambda value: None if value is None else as_point(value)),
    WithJsonSchema(POINT_SCHEMA),
]
MaybeJoint = Annotated[
    Converted[str],
    BeforeValidator(lambda value: None if value is None else as_joint_name(value)),
    WithJsonSchema({"type": "string"}),
]

PTO_TYPES: dict[str, type[Description]] = {}  # every class of Pto, by its type


@description
class Pto(Force):
    """A power take-off between two points, or on a joint coordinate.

    Args:
        name: unique in the system.
        a: one end.
        b: the other end.
        joint: the joint or its name, instead of two ends.
        dof: its coordinate; may be left out when the joint has one.
        stiffness: of a spring in parallel with the PTO [N/m, N m/rad]; less than zero in reactive
            control, where it works against the stiffness of the water.
        rest: length or coordinate of stroke zero [m, rad]; between points the described distance
            if not given, on a joint zero.
        lower: lower end stop of the stroke [m, rad].
        upper: upper end stop of the stroke [m, rad].
        stop_stiffness: of the stops [N/m, N m/rad].
        stop_damping: of the stops while touched [N s/m, N m s/rad].
        stop_ramp: overrun over which the damping of the stops sets in [m, rad].
        force_limit: largest force of the PTO, that is of spring, damper, friction, generator and
            control together [N, N m]. The end stops are not limited. An actuator works against its
            spring where that alone is beyond the limit; a cylinder or a clutch cannot, it only
            reduces its own force.
        power_limit: largest mechanical power of the same force [W].
    """

    kind: ClassVar[str] = "pto"
    row: ClassVar[str] = "ptos"
    type: ClassVar[str] = ""
    name: Name
    a: MaybePoint = None
    b: MaybePoint = None
    joint: MaybeJoint = None
    dof: MaybeDof = None
    stiffness: Number = field(default=0.0, kw_only=True)
    rest: Number | None = field(default=None, kw_only=True)
    lower: Number | None = field(default=None, kw_only=True)
    upper: Number | None = field(default=None, kw_only=True)
    stop_stiffness: Number | None = field(default=None, kw_only=True)
    stop_damping: Number = field(default=0.0, kw_only=True)
    stop_ramp: Number = field(default=0.01, kw_only=True)
    force_limit: Number | None = field(default=None, kw_only=True)
    power_limit: Number | None = field(default=None, kw_only=True)

    def __init_subclass__(cls) -> None:
        PTO_TYPES[cls.type] = cls

    def __post_init__(self) -> None:
        between = self.a is not None and self.b is not None
        if between == (self.joint is not None) or (self.a is None) != (self.b is None):
            raise self.fail("give either two ends a and b, or a joint.")
        # the checks of ends, joint and stops are those of the elements
        if between:
            SpringDamper(self.name, self.a, self.b, rest_length=self.rest)
        JointForce(
            self.name,
            self.joint or "",
            self.dof,
            lower=self.lower,
            upper=self.upper,
            stop_stiffness=self.stop_stiffness,
            stop_damping=self.stop_damping,
            stop_ramp=self.stop_ramp,
        )
        self.check_positive("force_limit", "power_limit")
        self.check()

    def check(self) -> None:
        """Checks of one kind of PTO."""

    def check_positive(self, *fields: str) -> None:
        for name in fields:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise self.fail(f"{name} {value} is not positive. Give more than zero.")

    def check_share(self, name: str = "efficiency") -> None:
        value = getattr(self, name)
        if not 0.0 <= value <= 1.0:
            raise self.fail(f"{name} {value} is not a fraction. Give a number from 0 to 1.")

    @property
    def points(self) -> dict[str, Point]:
        return {} if self.a is None else {"a": self.a, "b": self.b}
