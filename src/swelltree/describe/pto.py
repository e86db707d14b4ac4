"""Power take-offs (PTOs): devices that turn motion into useful power.

All share where they act, spring, end stops and limits (`Pto`). The stroke x is the distance between
two points or a joint coordinate, less `rest`; v is its rate. The force F acts to increase the
stroke; the absorbed power -F v is positive when it is taken from the sea.
"""

from dataclasses import field
from itertools import pairwise
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import POINT_SCHEMA, Point, as_point
from swelltree.describe.errors import shown
from swelltree.describe.forces.controllers import Parameters
from swelltree.describe.forces.elements import (
    Force,
    JointForce,
    MaybeDof,
    SpringDamper,
    as_joint_name,
)
from swelltree.describe.forces.signals import Function, Signal
from swelltree.describe.spec import Description, description
from swelltree.describe.values import (
    Converted,
    Flag,
    Name,
    NamedValues,
    Number,
    Numbers,
    as_numbers,
    row_of,
)

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


@description
class LatchingPto(Pto):
    """Damper with a latch that holds the stroke from each standstill until it is released.

    When the rate falls to zero the coordinate is locked, as by a joint. It is released after a
    time, when the force in the latch passes a limit, or when a controller that drives this PTO
    gives more than 0.5, whichever comes first.

    Args:
        damping: of the PTO while it moves [N s/m, N m s/rad].
        release_after: time in the latch [s].
        release_force: force that opens the latch; it cannot hold more [N, N m].
        rearm: shortest time of free motion before the next lock [s].
        efficiency: delivered over absorbed power.
    """

    type: ClassVar[str] = "latching"
    damping: Number = field(default=0.0, kw_only=True)
    release_after: Number | None = field(default=None, kw_only=True)
    release_force: Number | None = field(default=None, kw_only=True)
    rearm: Number = field(default=0.05, kw_only=True)
    efficiency: Number = field(default=1.0, kw_only=True)

    def check(self) -> None:
        self.check_not_negative("damping")
        self.check_positive("release_after", "release_force", "rearm")
        self.check_share()


@description
class DeclutchingPto(Pto):
    """Damper that is off from each standstill for a time, so that the motion gains speed.

    A controller that drives this PTO switches it on by giving more than 0.5.

    Args:
        damping: of the PTO while it is on [N s/m, N m s/rad].
        friction: constant force against the motion while it is on [N, N m].
        friction_velocity: velocity over which its change of sign is smoothed [m/s, rad/s].
        off_for: time without force after each standstill [s].
        rearm: shortest time with force before it is switched off again [s].
        efficiency: delivered over absorbed power.
    """

    type: ClassVar[str] = "declutching"
    damping: Number = field(default=0.0, kw_only=True)
    friction: Number = field(default=0.0, kw_only=True)
    friction_velocity: Number = field(default=0.01, kw_only=True)
    off_for: Number | None = field(default=None, kw_only=True)
    rearm: Number = field(default=0.05, kw_only=True)
    efficiency: Number = field(default=1.0, kw_only=True)

    def check(self) -> None:
        self.check_not_negative("damping", "friction")
        self.check_positive("friction_velocity", "off_for", "rearm")
        self.check_share()


@description
class OwnLaw(Pto):
    """A power take-off with a law of your own: a class made with `swelltree.pto_law`.

    Args:
        law: the class, or "module:name".
        parameters: its fields: numbers.
        force: u [N, N m], a signal that the law sees; a controller may drive it instead.
    """

    type: ClassVar[str] = "own_law"
    law: Function = field(kw_only=True)
    parameters: Parameters = field(default=(), kw_only=True)
    force: Signal | None = field(default=None, kw_only=True)

    def table(self) -> NamedValues:
        table = super().table()
        if self.parameters:
            table["parameters"] = dict(self.parameters)
        return table


@description
class LinearPto(Pto):
    """Damper and spring: F = -c v - k x + u.

    Args:
        damping: c [N s/m, N m s/rad].
        force: u [N, N m], a signal; a controller may drive it instead.
        efficiency: delivered over absorbed power of the damper.
    """

    type: ClassVar[str] = "linear"
    damping: Number = field(default=0.0, kw_only=True)
    force: Signal | None = field(default=None, kw_only=True)
    efficiency: Number = field(default=1.0, kw_only=True)

    def check(self) -> None:
        self.check_not_negative("damping")
        self.check_share()


@description
class CoulombPto(Pto):
    """Constant force against the motion: F = -friction tanh(v / friction_velocity) - c v + u.

    Args:
        friction: size of the force [N, N m].
        friction_velocity: velocity over which its change of sign is smoothed [m/s, rad/s].
        damping: c [N s/m, N m s/rad].
        force: u [N, N m], a signal; a controller may drive it instead.
        efficiency: delivered over absorbed power; zero for plain friction.
        stick: true Coulomb friction, a brake: no motion while less than `static_friction` would
            hold the stroke, a force of exactly `friction` against the motion else; no smoothing.
        static_friction: with `stick`, force at which it breaks away [N, N m]; `friction` if not
            given.
    """

    type: ClassVar[str] = "coulomb"
    friction: Number = field(kw_only=True)
    friction_velocity: Number = field(default=0.01, kw_only=True)
    damping: Number = field(default=0.0, kw_only=True)
    force: Signal | None = field(default=None, kw_only=True)
    efficiency: Number = field(default=1.0, kw_only=True)
    stick: Flag = field(default=False, kw_only=True)
    static_friction: Number | None = field(default=None, kw_only=True)

    def check(self) -> None:
        self.check_not_negative("friction", "damping")
        self.check_stick(self.stick, self.friction, self.static_friction)
        holds = self.static_friction or self.friction
        if self.stick and self.force_limit is not None and self.force_limit < holds:
            raise self.fail(
                f"force_limit {self.force_limit:g} is less than the {holds:g} that it holds where "
                "it sticks. Give a friction, and a static_friction, within the limit."
            )
        self.check_positive("friction_velocity")
        self.check_share()


@description
class EndStops(Pto):
    """End stops alone, between two points or on a joint coordinate."""

    type: ClassVar[str] = "end_stops"

    def check(self) -> None:
        if self.lower is None and self.upper is None:
            raise self.fail("has no stop. Give lower, upper or both.")


def as_rows(value: object) -> tuple[tuple[float, ...], ...]:
    """Rows of numbers of equal length."""
    specified = row_of(value)
    if specified is None:
        raise ValueError(f"{shown(value)} is not a table. Give rows of numbers in brackets.")
    rows = tuple(as_numbers(row) for row in specified)
    if len({len(row) for row in rows}) > 1:
        raise ValueError("has rows of different lengths. Give as many numbers in each.")
    return rows


Rows = Annotated[
    Converted[tuple[tuple[float, ...], ...]],
    BeforeValidator(as_rows),
    WithJsonSchema({"type": "array", "items": {"type": "array", "items": {"type": "number"}}}),
]


@description
class HydraulicPto(Pto):
    """Double-acting cylinder, rectified by check valves, with gas accumulators and a motor.

    The piston pumps oil from the low-pressure to the high-pressure side on both strokes:
    F = -A (p_high - p_low) tanh(v / smoothing_velocity). The gas follows p V^gamma = const. The
    motor takes motor_flow + motor_gain (p_high - p_low) + u; a controller gives u [m^3/s].

    Args:
        piston_area: A [m^2]; on a hinge the volume per radian [m^3/rad].
        precharge: gas pressure of the high-pressure accumulator without oil [Pa].
        gas_volume: its volume then [m^3].
        start_pressure: of the high-pressure side at the start [Pa]; 1.2 times the precharge if
            not given.
        low_pressure: of the low-pressure side at the start [Pa].
        low_gas_volume: of gas in the low-pressure accumulator at the start [m^3]; without it the
            low side is a reservoir of constant pressure.
        gamma: exponent of the gas.
        motor_flow: flow that the motor takes at any pressure, displacement times speed [m^3/s].
        motor_gain: flow of the motor per pressure difference [m^3/(s Pa)].
        efficiency: of motor and generator.
        valve_resistance: pressure drop of the check valves per flow [Pa s/m^3].
        smoothing_velocity: velocity over which the change of valves is smoothed [m/s, rad/s].
    """

    type: ClassVar[str] = "hydraulic"
    piston_area: Number = field(kw_only=True)
    precharge: Number = field(kw_only=True)
    gas_volume: Number = field(kw_only=True)
    start_pressure: Number | None = field(default=None, kw_only=True)
    low_pressure: Number = field(default=1.0e5, kw_only=True)
    low_gas_volume: Number | None = field(default=None, kw_only=True)
    gamma: Number = field(default=1.4, kw_only=True)
    motor_flow: Number = field(default=0.0, kw_only=True)
    motor_gain: Number = field(default=0.0, kw_only=True)
    efficiency: Number = field(default=0.9, kw_only=True)
    valve_resistance: Number = field(default=0.0, kw_only=True)
    smoothing_velocity: Number = field(default=0.02, kw_only=True)

    def check(self) -> None:
        names = ("piston_area", "precharge", "gas_volume", "low_pressure", "low_gas_volume")
        self.check_positive(*names, "smoothing_velocity")
        for name in ("motor_flow", "motor_gain", "valve_resistance"):
            if getattr(self, name) < 0:
                raise self.fail(f"{name} {getattr(self, name)} is negative. Give zero or more.")
        self.check_share()
        if not self.gamma > 1:
            raise self.fail(f"gamma {self.gamma} is not more than one. Give e.g. 1.4.")
        if self.begin < self.precharge:
            raise self.fail(
                f"start_pressure {self.begin:g} Pa is below the precharge of "
                f"{self.precharge:g} Pa, so the accumulator holds no oil. Give more."
            )
        if not self.begin > self.low_pressure:
            raise self.fail(
                f"start_pressure {self.begin:g} Pa is not above low_pressure "
                f"{self.low_pressure:g} Pa. Give more."
            )

    @property
    def begin(self) -> float:
        """Pressure of the high-pressure side at the start [Pa]."""
        return 1.2 * self.precharge if self.start_pressure is None else self.start_pressure


@description
class ConstantPressurePto(Pto):
    """Hydraulics with accumulators so large that the pressure stays: F = -p A tanh(v / v_s).

    Args:
        piston_area: A [m^2]; on a hinge the volume per radian [m^3/rad].
        pressure: p, difference between the high and the low side [Pa].
        efficiency: delivered over absorbed power.
        smoothing_velocity: v_s, velocity over which the force changes its sign [m/s, rad/s].
    """

    type: ClassVar[str] = "constant_pressure"
    piston_area: Number = field(kw_only=True)
    pressure: Number = field(kw_only=True)
    efficiency: Number = field(default=0.9, kw_only=True)
    smoothing_velocity: Number = field(default=0.02, kw_only=True)

    def check(self) -> None:
        self.check_positive("piston_area", "pressure", "smoothing_velocity")
        self.check_share()


@description
class DirectDrivePto(Pto):
    """Linear generator: force F = -c v + u, electrical power by an efficiency map.

    Electrical power is -F v times the efficiency at the size of force and speed, less the copper
    loss R (F / K)^2. The map is bilinear between its entries and held beyond them. Where the
    generator drives the motion, the electrical power taken is -F v over the efficiency.

    Args:
        damping: c [N s/m, N m s/rad].
        force: u [N, N m], a signal; a controller may drive it instead.
        map_force: forces of the map, increasing from zero [N, N m].
        map_speed: speeds of the map, increasing from zero [m/s, rad/s].
        map_efficiency: one row of efficiencies for each force.
        efficiency: in place of a map.
        resistance: R of the winding [ohm].
        force_constant: K, force per current [N/A, N m/A].
    """

    type: ClassVar[str] = "direct_drive"
    damping: Number = field(default=0.0, kw_only=True)
    force: Signal | None = field(default=None, kw_only=True)
    map_force: Numbers = field(default=(), kw_only=True)
    map_speed: Numbers = field(default=(), kw_only=True)
    map_efficiency: Rows = field(default=(), kw_only=True)
    efficiency: Number = field(default=1.0, kw_only=True)
    resistance: Number = field(default=0.0, kw_only=True)
    force_constant: Number | None = field(default=None, kw_only=True)

    def check(self) -> None:
        self.check_not_negative("damping")
        self.check_positive("force_constant")
        self.check_share()
        if self.resistance < 0:
            raise self.fail(f"resistance {self.resistance} ohm is negative. Give zero or more.")
        if self.resistance and self.force_constant is None:
            raise self.fail("resistance is given without force_constant. Give both.")
        self._check_map()

    def _check_map(self) -> None:
        rows, columns = len(self.map_force), len(self.map_speed)
        if not rows and not columns and not self.map_efficiency:
            return
        if rows < 2 or columns < 2:
            raise self.fail("the map is too small. Give at least two forces and two speeds.")
        shape = (len(self.map_efficiency), *{len(row) for row in self.map_efficiency})
        if shape != (rows, columns):
            raise self.fail(
                f"map_efficiency has the shape {shape}. Give {rows} rows, one for each force, of "
                f"{columns} numbers, one for each speed."
            )
        for name in ("map_force", "map_speed"):
            values = getattr(self, name)
            if values[0] < 0 or any(b <= a for a, b in pairwise(values)):
                raise self.fail(f"{name} {list(values)} does not increase from zero. Sort it.")
        if any(not 0.0 < value <= 1.0 for row in self.map_efficiency for value in row):
            raise self.fail(
                "map_efficiency holds values outside 0 to 1. Give fractions above zero."
            )


@description
class MechanicalRectifierPto(Pto):
    """One-way clutches that drive a flywheel with a generator.

    A clutch carries the torque clutch_damping (shaft speed - flywheel speed) while the shaft, at
    ratio times v, is faster than the flywheel, and nothing otherwise. The generator brakes the
    flywheel by generator_damping times its speed plus u; a controller gives u [N m].

    Args:
        ratio: turns of the shaft per stroke [rad/m, rad/rad].
        inertia: of the flywheel [kg m^2].
        generator_damping: torque of the generator per speed [N m s/rad].
        clutch_damping: torque of a clutch per slip [N m s/rad]; a hundred times the generator's
            if not given, which is a slip of one percent in steady running.
        both_ways: two clutches that rectify both strokes; else only the outward one works.
        start_speed: of the flywheel [rad/s].
        friction: loss torque per speed of the flywheel [N m s/rad].
        efficiency: of the generator.
    """

    type: ClassVar[str] = "mechanical_rectifier"
    ratio: Number = field(kw_only=True)
    inertia: Number = field(kw_only=True)
    generator_damping: Number = field(kw_only=True)
    clutch_damping: Number | None = field(default=None, kw_only=True)
    both_ways: Flag = field(default=True, kw_only=True)
    start_speed: Number = field(default=0.0, kw_only=True)
    friction: Number = field(default=0.0, kw_only=True)
    efficiency: Number = field(default=0.9, kw_only=True)

    def check(self) -> None:
        self.check_positive("ratio", "inertia", "generator_damping", "clutch_damping")
        self.check_not_negative("friction")
        self.check_share()
        if self.start_speed < 0:
            raise self.fail(f"start_speed {self.start_speed} rad/s is negative. Give zero or more.")
