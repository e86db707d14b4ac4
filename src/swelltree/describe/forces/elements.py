"""Force elements: springs, dampers and actuators between points or on joints, and applied forces.

Gravity needs no element: it acts on every body with the g of `Water`.

Contact of points or small spheres on one body with a simple shape on another.
"""

from typing import Annotated, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import Point, PointLike
from swelltree.describe.errors import SwelltreeError, listed, shown, suggest, warn_user
from swelltree.describe.forces.signals import Function, Signal, Signals
from swelltree.describe.matrix6 import Matrix, by_dof, dense
from swelltree.describe.spec import Description, description
from swelltree.describe.values import (
    DOFS,
    Converted,
    Flag,
    Name,
    NamedValues,
    Number,
    Numbers,
    as_dof,
    as_vector,
    row_of,
)


class Force(Description):
    kind: ClassVar[str] = "force"
    row: ClassVar[str] = "forces"  # field of the system that it stands in
    name: str

    @property
    def points(self) -> dict[str, Point]:
        """The points or frames on bodies by field name."""
        return {}

    @property
    def pushes_at_rest(self) -> bool:
        """Whether it can exert a vertical force at rest; damping and drag cannot."""
        return True

    @property
    def carries(self) -> str:
        """Body whose buoyancy and added mass it defines; empty: none."""
        return ""

    @property
    def adds_inertia_to(self) -> str:
        """Body to which it adds inertia of the water around a part; empty: none."""
        return ""

    @property
    def feels_pressure_on(self) -> str:
        """Body on a part of which it applies wave pressure; empty: none."""
        return ""

    def check_not_negative(self, *fields: str) -> None:
        """Elements that would feed energy in are made with `force` or a controller."""
        units = {
            "stiffness": "N/m or N m/rad",
            "damping": "N s/m or N m s/rad",
            "friction": "N or N m",
        }
        for field in fields:
            value = getattr(self, field)
            if value is not None and value < 0:
                unit = units.get(field.removeprefix("stop_"), "m")
                raise self.fail(
                    f"{field} {value} {unit} is negative. Give zero or more; "
                    "an active element is made with force=... or a controller."
                )

    def check_stick(self, stick: bool, friction: float, static: float | None) -> None:
        """Check that sticking friction has a size and breaks away above it."""
        if stick and not friction > 0:
            raise self.fail("stick is given without friction. Give friction, the sliding force.")
        if static is not None and not stick:
            raise self.fail("static_friction is given without stick=true. Give both, or neither.")
        if static is not None and static < friction:
            raise self.fail(
                f"static_friction {static} is less than friction {friction}. Give at least that."
            )

    def warn_of_degrees(self, dof: str) -> None:
        """Warn of angles larger than a turn, once the DOF is known."""
        for field in ("rest_position", "rest", "lower", "upper"):
            value = getattr(self, field, None)
            if dof in DOFS[3:] and value is not None and abs(value) > 6.283185307179587:
                warn_user(
                    f"{self.label}: {field} {value} rad is more than a turn and looks like "
                    "degrees. "
                    "Angles are in radians."
                )


@runtime_checkable
class OnJoint(Protocol):
    """Base of force elements that can act on a joint coordinate."""

    @property
    def joint(self) -> str:
        """Name of the joint; empty for an element between two points."""
        ...

    @property
    def dof(self) -> str | None:
        """DOF of the joint; empty if it has only one."""
        ...

    def fail(self, text: str) -> SwelltreeError: ...


@description
class SpringDamper(Force):
    """Spring, damper and actuator between two points (MBS4WEC, eqs. 13-16).

    The tension is k (l - l0) + c l' - u; u > 0 pushes the ends apart.

    Args:
        name: unique in the system.
        a: one end.
        b: the other end.
        stiffness: k [N/m].
        damping: c [N s/m].
        rest_length: l0 [m]; the distance as described if not given.
        tension_only: never push: a negative tension of spring and damper counts as zero.
        force: u [N], a signal.
    """

    type: ClassVar[str] = "spring_damper"
    name: Name
    a: PointLike
    b: PointLike
    stiffness: Number = 0.0
    damping: Number = 0.0
    rest_length: Number | None = None
    tension_only: Flag = False
    force: Signal | None = None

    def __post_init__(self) -> None:
        self.check_not_negative("stiffness", "damping")
        if self.rest_length is not None and self.rest_length < 0:
            raise self.fail(f"rest_length {self.rest_length} m is negative. Give zero or more.")
        if self.a.body == self.b.body:
            raise self.fail(
                f"both ends are on '{self.a.body}', where it does nothing. "
                "Name two different bodies."
            )

    @property
    def pushes_at_rest(self) -> bool:
        """With a spring or an actuator."""
        return bool(self.stiffness) or self.force not in (None, 0.0)

    @property
    def points(self) -> dict[str, Point]:
        return {"a": self.a, "b": self.b}


def as_joint_name(value: object) -> str:
    """Name of a joint, from itself or its name."""
    name = getattr(value, "name", value)
    if not isinstance(name, str):
        raise ValueError(f"{shown(value)} is not a joint. Give a joint or its name.")
    return name


MaybeDof = Annotated[
    Converted[str],
    BeforeValidator(lambda value: None if value is None else as_dof(value)),
    WithJsonSchema({"enum": list(DOFS)}),
]


@description
class JointForce(Force):
    """Spring, damper, friction, end stops and actuator on one coordinate of a joint.

    Q = -k (q - q0) - c q' - friction tanh(q' / friction_velocity) + stops + u

    Args:
        name: unique in the system.
        joint: the joint or its name.
        dof: which coordinate; may be left out when the joint has one.
        stiffness: k [N/m, N m/rad].
        rest_position: q0 [m, rad].
        damping: c [N s/m, N m s/rad].
        friction: size of the dry friction [N, N m].
        friction_velocity: velocity over which friction is smoothed [m/s, rad/s].
        stick: true Coulomb friction instead: the joint stands still while less than
            `static_friction` would hold it, and slides against `friction` else; no smoothing.
        static_friction: with `stick`, force at which it breaks away [N, N m]; `friction` if not
            given.
        lower: lower end stop [m, rad].
        upper: upper end stop [m, rad].
        stop_stiffness: of the stops [N/m, N m/rad].
        stop_damping: of the stops while touched [N s/m, N m s/rad].
        stop_ramp: overrun over which that damping sets in [m, rad].
        force: u [N, N m], a signal.
    """

    type: ClassVar[str] = "joint_force"
    name: Name
    joint: Annotated[str, BeforeValidator(as_joint_name)]
    dof: MaybeDof = None
    stiffness: Number = 0.0
    rest_position: Number = 0.0
    damping: Number = 0.0
    friction: Number = 0.0
    friction_velocity: Number = 1e-3
    lower: Number | None = None
    upper: Number | None = None
    stop_stiffness: Number | None = None
    stop_damping: Number = 0.0
    force: Signal | None = None
    stop_ramp: Number = 0.01
    stick: Flag = False
    static_friction: Number | None = None

    def __post_init__(self) -> None:
        self.check_not_negative("stiffness", "damping", "friction", "stop_damping")
        self.check_stick(self.stick, self.friction, self.static_friction)
        if not self.stop_ramp > 0:
            raise self.fail(f"stop_ramp {self.stop_ramp} m is not positive. Give e.g. 0.01.")
        if not self.friction_velocity > 0:
            raise self.fail(
                f"friction_velocity {self.friction_velocity} m/s is not positive. Give e.g. 1e-3."
            )
        if self.lower is not None and self.upper is not None and not self.lower < self.upper:
            raise self.fail(
                f"lower stop {self.lower} is not below upper stop {self.upper}. Exchange them."
            )
        if self.stop_stiffness is not None and not self.stop_stiffness > 0:
            raise self.fail(
                f"stop_stiffness {self.stop_stiffness} is not positive. "
                "Give a stiffness for the stops."
            )
        stops = self.lower is not None or self.upper is not None
        if stops and self.stop_stiffness is None:
            raise self.fail(
                "an end stop is given without stop_stiffness. Give the stiffness of the stop."
            )
        if not stops and (self.stop_stiffness is not None or self.stop_damping):
            raise self.fail(
                "stop_stiffness or stop_damping is given without a stop. Give lower or upper."
            )

    @property
    def pushes_at_rest(self) -> bool:
        """With a spring, stops, friction or an actuator."""
        specified = (self.stiffness, self.friction, self.lower, self.upper, self.force)
        return any(value not in (None, 0.0) for value in specified)


def _as_frame(value: object) -> str:
    if not isinstance(value, str) or value not in ("world", "body"):
        raise ValueError(
            f"{shown(value)} is unknown.{suggest(value, ('world', 'body'))} Give 'world' or 'body'."
        )
    return value


@description
class AppliedForce(Force):
    """Force and torque on a body at a point.

    Args:
        name: unique in the system.
        point: where the force acts.
        force: three signals [N].
        torque: three signals [N m].
        axes: axes of force and torque: "world", or "body" to turn with the body.
        function: instead of these, f(t, motion) -> (force (3,), torque (3,)) in world axes at the
            point; motion has position, rotation, velocity and angular_velocity of the point.
    """

    type: ClassVar[str] = "applied_force"
    name: Name
    point: PointLike
    force: Signals | None = None
    torque: Signals | None = None
    axes: Annotated[Literal["world", "body"], BeforeValidator(_as_frame)] = "world"
    function: Function | None = None

    def __post_init__(self) -> None:
        specified = self.force is not None or self.torque is not None
        if self.function is not None and specified:
            raise self.fail("function is given together with force or torque. Use two elements.")
        if self.function is not None and self.axes != "world":
            raise self.fail("function answers in world axes. Leave axes out.")
        if self.function is None and not specified:
            raise self.fail("has no force, torque or function. Give at least one.")
        if self.point.body == "world":
            raise self.fail("acts on the world, which does not move. Name a body.")

    @property
    def points(self) -> dict[str, Point]:
        return {"point": self.point}


FORCE_TYPES: dict[str, type[Description]] = {
    cls.type: cls for cls in (SpringDamper, JointForce, AppliedForce)
}


# --- Bushings: 6 x 6 stiffness and damping between frames on two bodies


@description
class Bushing(Force):
    """Elastic joint between two bodies: wrench on b = -stiffness x - damping x'.

    x holds the displacement of point b and the rotation vector of b, both relative to a, in the
    axes of a (those of its body, or of the frame given with the point), from the described pose.
    The rotation vector counts the angle about one axis; for small rotations its components are
    roll, pitch and yaw. The spring has the energy x' K x / 2 at rotations of any size below half a
    turn. x' is the relative velocity and angular velocity. The wrench acts on b at its point, the
    opposite one on a at the same place.

    Args:
        name: unique in the system.
        a: frame whose axes are meant.
        b: point on the other body.
        stiffness: {dof: value} or symmetric 6 x 6 [N/m, N, N m].
        damping: {dof: value} or 6 x 6, not negative [N s/m, N s, N m s].
    """

    type: ClassVar[str] = "bushing"
    name: Name
    a: PointLike
    b: PointLike
    stiffness: Matrix = ()
    damping: Matrix = ()

    def __post_init__(self) -> None:
        if self.a.body == self.b.body:
            raise self.fail(
                f"both ends are on '{self.a.body}', where it does nothing. "
                "Name two different bodies."
            )
        K, C = dense(self.stiffness), dense(self.damping)
        if not K.any() and not C.any():
            raise self.fail("has neither stiffness nor damping. Give one of them.")
        if np.abs(K - K.T).max() > 1e-9 * np.abs(K).max():
            raise self.fail(
                "stiffness is not symmetric, so it has no energy. Give a matrix equal to its "
                "transpose, e.g. (K + K.T)/2."
            )
        lowest = float(np.linalg.eigvalsh(0.5 * (C + C.T)).min())
        if lowest < -1e-9 * np.abs(C).max():
            raise self.fail(
                f"damping has the negative eigenvalue {lowest:.3g}, which feeds energy in. Give a "
                "matrix without negative eigenvalues."
            )

    @property
    def points(self) -> dict[str, Point]:
        return {"a": self.a, "b": self.b}

    def table(self) -> NamedValues:
        """This item as a TOML table; diagonals as {dof: value}."""
        table = super().table()
        for name in ("stiffness", "damping"):
            by_dof(table, getattr(self, name), name)
        return table


BUSHING_TYPES: dict[str, type[Description]] = {Bushing.type: Bushing}


SHAPES = {
    "plane": (),
    "sphere": ("radius",),
    "box": ("x", "y", "z"),
    "cylinder": ("radius", "length"),
}


def _as_shape(value: object) -> object:
    if not isinstance(value, str) or value not in SHAPES:
        raise ValueError(f"{shown(value)} does not exist. Give one of {listed(SHAPES)}.")
    return value


def _as_points(value: object) -> tuple[tuple[float, ...], ...]:
    rows = row_of(value)
    if not rows:
        raise ValueError(f"{shown(value)} is not a list of points. Give rows of (x, y, z).")
    return tuple(as_vector(row) for row in rows)


_THREE = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}


@description
class BodyContact(Force):
    """Points or spheres of one body against a plane, sphere, box or cylinder of another.

    Where a point is inside by d, the force along the normal is k d (1 + c d'), never negative
    (Hunt and Crossley, 1975), and friction is mu times that against the slip v, by the factor
    v / sqrt(v^2 + slip_speed^2): a body that holds creeps at less than the slip speed.

    Args:
        name: unique in the system.
        a: frame of the points.
        b: frame of the shape. A plane is its x-y plane, solid below; spheres, boxes and
            cylinders are centred there, cylinders along z.
        shape: plane, sphere, box or cylinder.
        size: sphere (radius), box (lengths along x, y, z), cylinder (radius, length) [m].
        contact_points: on a, in its axes [m]; the frame's own point if not given.
        radius: of spheres about the points [m].
        stiffness: k of each point [N/m].
        dissipation: c [s/m]; bodies that meet with v part with about (1 - 2 c v / 3) v.
        friction: coefficient mu.
        slip_speed: where friction reaches 71 % of its value [m/s].
    """

    type: ClassVar[str] = "body_contact"
    name: Name
    a: PointLike
    b: PointLike
    shape: Annotated[Literal["plane", "sphere", "box", "cylinder"], BeforeValidator(_as_shape)] = (
        "plane"
    )
    size: Numbers = ()
    contact_points: Annotated[
        Converted[tuple[tuple[float, ...], ...]],
        BeforeValidator(_as_points),
        WithJsonSchema({"type": "array", "items": _THREE, "minItems": 1}),
    ] = ((0.0, 0.0, 0.0),)
    radius: Number = 0.0
    stiffness: Number = 1e5
    dissipation: Number = 0.0
    friction: Number = 0.0
    slip_speed: Number = 1e-3

    def __post_init__(self) -> None:
        if self.a.body == self.b.body:
            raise self.fail(
                f"both ends are on '{self.a.body}', where it does nothing. "
                "Name two different bodies."
            )
        requested = SHAPES[self.shape]
        if len(self.size) != len(requested) or any(not x > 0.0 for x in self.size):
            specified = ", ".join(requested) if requested else "none"
            raise self.fail(
                f"size {list(self.size)} does not describe a {self.shape}. "
                f"Give positive lengths: {specified}."
            )
        for field in ("stiffness", "slip_speed"):
            if not getattr(self, field) > 0.0:
                raise self.fail(f"{field} {getattr(self, field)} is not positive.")
        for field in ("radius", "dissipation", "friction"):
            if getattr(self, field) < 0.0:
                raise self.fail(f"{field} {getattr(self, field)} is negative. Give zero or more.")

    @property
    def points(self) -> dict[str, Point]:
        return {"a": self.a, "b": self.b}


CONTACT_TYPES: dict[str, type[Description]] = {BodyContact.type: BodyContact}
