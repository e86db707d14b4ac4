"""What all joints have: two points, a frame, initial values and prescribed motion.

The joint frame sits at the base point. Its axes are those of the base body unless an
orientation, a rotation of the base point or a skew axis turns them. DoF names (Surge ...
Yaw) are motions of the follower relative to the base along and about the axes of this frame.
"""

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import Point, PointLike
from swelltree.describe.errors import listed, suggest, warn_user
from swelltree.describe.forces.signals import SIGNAL_SCHEMA, SignalForm, Table, as_signal
from swelltree.describe.spec import Description, description, plain
from swelltree.describe.values import (
    AXES,
    DOFS,
    Converted,
    Flag,
    Name,
    NamedValues,
    Rotation,
    Vector,
    as_number,
    euler_deg_matrix,
    nearest_axis,
    nearest_rotation,
    turned_onto,
)


@dataclasses.dataclass(frozen=True)
class JointLayout:
    """Which coordinates a joint has, for the compiler.

    Args:
        translations: numbers of the free axes (0, 1, 2), ascending.
        rotations: numbers of the axes of rotation in their order, at most two.
        quaternion: the attitude is a quaternion; all three rotations are free, or those about the
            axes of the base in `rotations`.
        screw: the one rotation also moves the follower along its axis.
        rows_only: the joint has no coordinates and is always a set of equations.
        n_rows: number of equations the joint stands for when it is cut.
        dofs: names of the velocity coordinates: translations, then rotations in order.
    """

    translations: tuple[int, ...] = ()
    rotations: tuple[int, ...] = ()
    quaternion: bool = False
    screw: bool = False
    rows_only: bool = False
    n_rows: int = 6
    dofs: tuple[str, ...] = ()

    @property
    def n_dof(self) -> int:
        return 6 - self.n_rows


def free_axes(
    translations: tuple[int, ...], rotations: tuple[int, ...], screw: bool = False
) -> JointLayout:
    """Layout of a joint with these free axes, both in their order."""
    dofs = tuple(DOFS[k] for k in translations) + tuple(DOFS[3 + k] for k in rotations)
    quaternion = len(rotations) == 3
    return JointLayout(
        translations,
        () if quaternion else rotations,
        quaternion,
        screw,
        n_rows=6 - len(dofs),
        dofs=dofs,
    )


def _as_pairs(value: object, read: Callable[[object], object]) -> tuple[tuple[str, object], ...]:
    """Values per DOF as pairs; a single value applies to the only DOF, named ""."""
    if value is None:
        return ()
    if isinstance(value, dict) and "type" not in value:
        value = tuple(value.items())
    if isinstance(value, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in value
    ):
        return tuple((str(dof), read(entry)) for dof, entry in value)
    return (("", read(value)),)


def _pairs_schema(entry: NamedValues) -> WithJsonSchema:
    per_dof = {
        "type": "object",
        "propertyNames": {"enum": list(DOFS)},
        "additionalProperties": entry,
    }
    return WithJsonSchema({"anyOf": [entry, per_dof]})


Coordinates = Annotated[
    Converted[tuple[tuple[str, float], ...]],
    BeforeValidator(lambda value: _as_pairs(value, as_number)),
    _pairs_schema({"type": "number"}),
]
Motions = Annotated[
    Converted[tuple[tuple[str, SignalForm], ...]],
    BeforeValidator(lambda value: _as_pairs(value, as_signal)),
    _pairs_schema(SIGNAL_SCHEMA),
]


@description
class Joint(Description):
    """What all joints have.

    Args:
        name: unique in the system.
        base: point on the base body (a body, WORLD, `body.at(...)` or a name).
        follower: point on the follower.
        position: initial coordinates [m, rad]: {dof: value}, or a number when there is one DoF.
            Three free rotations are given as Roll, Pitch, Yaw (intrinsic z-y-x).
        velocity: initial rates of these coordinates [m/s, rad/s], likewise.
        motion: prescribed motion {dof: signal}, or a signal when there is one DoF.
        cut: cut the loop at this joint.
        orientation: joint frame in the base body's axes: 3x3 matrix or quaternion (w, x, y, z).
        orientation_deg: the same as roll, pitch, yaw, intrinsic z-y-x [degrees].
    """

    kind: ClassVar[str] = "joint"
    name: Name
    base: PointLike
    follower: PointLike
    position: Coordinates = dataclasses.field(default=(), kw_only=True)
    velocity: Coordinates = dataclasses.field(default=(), kw_only=True)
    motion: Motions = dataclasses.field(default=(), kw_only=True)
    cut: Flag = dataclasses.field(default=False, kw_only=True)
    orientation: Rotation | None = dataclasses.field(default=None, kw_only=True)
    orientation_deg: Vector | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self._check_ends()
        self._check_frame()
        self.check()
        layout = self.layout()
        for field in ("position", "velocity", "motion"):
            object.__setattr__(self, field, self._named(field, layout))
        self._check_motion(layout)
        self._warn_of_degrees()

    def check(self) -> None:
        """Checks of one kind of joint."""

    def layout(self) -> JointLayout:
        raise self.fail("is not a joint type. Use Hinge, Slider or another of the joints.")

    @property
    def axis_vector(self) -> tuple[float, float, float] | None:
        """The axis if it is a vector, else None."""
        axis = getattr(self, "axis", None)
        return axis if isinstance(axis, tuple) else None

    @property
    def axis_number(self) -> int:
        """Index of the joint frame's axis (0, 1, 2) about or along which the joint moves."""
        axis = getattr(self, "axis", "z")
        return AXES.index(axis) if isinstance(axis, str) else nearest_axis(axis)

    @property
    def points(self) -> dict[str, Point]:
        return {"base": self.base, "follower": self.follower}

    def base_frame(self) -> tuple[np.ndarray, np.ndarray]:
        """Joint point (3,) and joint axes (3, 3), both in the frame of the base body."""
        R = self.base.rotation_matrix
        if self.orientation is not None:
            R = nearest_rotation(np.array(self.orientation))
        if self.orientation_deg is not None:
            R = euler_deg_matrix(self.orientation_deg)
        if self.axis_vector is not None:
            R = turned_onto(self.axis_vector)
        return np.array(self.base.position), R

    def initial_position(self) -> dict[str, float]:
        """Initial coordinates given by the user, by DOF name."""
        return dict(self.position)

    def initial_velocity(self) -> dict[str, float]:
        """Initial rates given by the user, by DOF name."""
        return dict(self.velocity)

    def motions(self) -> NamedValues:
        """Prescribed motions by DOF name."""
        return dict(self.motion)

    def table(self) -> NamedValues:
        pairs = {name: getattr(self, name) for name in ("position", "velocity", "motion")}
        return super().table() | {
            name: {dof: plain(value) for dof, value in entries}
            for name, entries in pairs.items()
            if entries
        }

    def _check_ends(self) -> None:
        if self.base.body == self.follower.body:
            which = (
                "the world to itself"
                if self.base.body == "world"
                else f"body '{self.base.body}' to itself"
            )
            raise self.fail(f"joins {which}. Name two different bodies, or a body and the world.")

    def _check_frame(self) -> None:
        specified = [
            name for name in ("orientation", "orientation_deg") if getattr(self, name) is not None
        ]
        specified += ["a rotated base point"] if self.base.rotation is not None else []
        specified += ["an axis vector"] if self.axis_vector is not None else []
        if len(specified) > 1:
            raise self.fail(
                f"the joint frame is given by {' and by '.join(specified)}. Give one of them."
            )

    def _named(self, field: str, layout: JointLayout) -> tuple[tuple[str, Any], ...]:
        """Pairs of a field with full DOF names, in the order of the layout."""
        pairs = getattr(self, field)
        if pairs and not layout.dofs:
            raise self.fail(
                f"{field} is given, but a {self.type} joint has no coordinates. Remove {field}."
            )
        only = next(iter(layout.dofs), "")
        named: NamedValues = {}
        for dof, value in pairs:
            if dof == "" and len(layout.dofs) > 1:
                raise self.fail(
                    f"{field} is one value, but the joint has {len(layout.dofs)} coordinates. "
                    f"Name them, e.g. {field}={{'{only}': ...}}."
                )
            if dof and dof not in layout.dofs:
                raise self.fail(
                    f"{field} names '{dof}', which this {self.type} joint does not have."
                    f"{suggest(dof, layout.dofs)} It has {listed(layout.dofs)}."
                )
            named[dof or only] = value
        return tuple((dof, named[dof]) for dof in layout.dofs if dof in named)

    def _check_motion(self, layout: JointLayout) -> None:
        for dof, signal in self.motions().items():
            if isinstance(signal, Table) and signal.interpolation == "linear":
                raise self.fail(
                    f"motion of '{dof}' by straight lines jumps in velocity at every row of its "
                    "table. Give interpolation='monotone' or 'spline'."
                )
            if layout.quaternion and dof in DOFS[3:]:
                raise self.fail(
                    f"motion of '{dof}' cannot be prescribed while all three rotations are free. "
                    "Use a universal joint or hinges."
                )
            for field in ("position", "velocity"):
                if dof in dict(getattr(self, field)):
                    raise self.fail(
                        f"'{dof}' has both a prescribed motion and an initial {field}. "
                        f"Remove the {field}."
                    )

    def _warn_of_degrees(self) -> None:
        for dof, value in self.position:
            if dof in DOFS[3:] and abs(value) > 2 * np.pi:
                warn_user(
                    f"{self.label}: position of {dof} {value} rad is more than a turn and "
                    "looks like degrees. "
                    "Angles are in radians."
                )
