"""The kinds of joints between two bodies or a body and the world.

Chains described by modified Denavit-Hartenberg parameters (Khalil and Kleinfinger).

The frame of link j follows from that of link j - 1 by

    Rot(x, alpha) Trans(x, d) Rot(z, theta) Trans(z, r)

with theta the coordinate of a hinge or r that of a slider, as in Wuillaume et al. (2017).
"""

import dataclasses
from collections.abc import Sequence
from typing import Annotated, ClassVar

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import WORLD, Body, as_point
from swelltree.describe.errors import SwelltreeError, shown
from swelltree.describe.joints.joint import Joint, JointLayout, free_axes
from swelltree.describe.spec import Description, description
from swelltree.describe.values import (
    AXES,
    DOFS,
    Axis,
    Dofs,
    Number,
    euler_matrix,
    nearest_rotation,
    row_of,
)


@description
class Weld(Joint):
    """Fixes the follower to the base (fixed joint)."""

    type: ClassVar[str] = "weld"

    def layout(self) -> JointLayout:
        """No coordinates."""
        return free_axes((), ())


@description
class Hinge(Joint):
    """Turns about one axis (revolute joint).

    Args:
        axis: 'x', 'y', 'z' of the joint frame, or a vector in the base body's axes.
    """

    type: ClassVar[str] = "hinge"
    axis: Axis = "y"

    def layout(self) -> JointLayout:
        """One rotation."""
        return free_axes((), (self.axis_number,))


@description
class Slider(Joint):
    """Slides along one axis (prismatic joint).

    Args:
        axis: 'x', 'y', 'z' of the joint frame, or a vector in the base body's axes.
    """

    type: ClassVar[str] = "slider"
    axis: Axis = "z"

    def layout(self) -> JointLayout:
        """One translation."""
        return free_axes((self.axis_number,), ())


@description
class Cylindrical(Joint):
    """Slides along an axis and turns about it.

    Args:
        axis: 'x', 'y', 'z' of the joint frame, or a vector in the base body's axes.
    """

    type: ClassVar[str] = "cylindrical"
    axis: Axis = "z"

    def layout(self) -> JointLayout:
        """One translation and one rotation."""
        return free_axes((self.axis_number,), (self.axis_number,))


@description
class Screw(Joint):
    """Turns about an axis and moves along it in proportion; the coordinate is the angle.

    Args:
        axis: 'x', 'y', 'z' of the joint frame, or a vector in the base body's axes.
        lead: metres along the axis per turn; negative for a left-handed screw.
    """

    type: ClassVar[str] = "screw"
    axis: Axis = "z"
    lead: Number = dataclasses.field(kw_only=True)

    def check(self) -> None:
        """The screw moves."""
        if self.lead == 0:
            raise self.fail("lead is zero. Give metres per turn, or use a hinge.")

    def layout(self) -> JointLayout:
        """One rotation that also translates."""
        return free_axes((), (self.axis_number,), screw=True)


def _as_axes(value: object) -> tuple[str, ...]:
    specified = tuple(value) if isinstance(value, str) else row_of(value) or ()
    axes = tuple(axis for axis in specified if isinstance(axis, str) and axis in AXES)
    if len(specified) != 2 or len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"{shown(value)} are not two different axes. Give for example ('x', 'y').")
    return axes


_axes_schema = {"type": "array", "items": {"enum": list(AXES)}, "minItems": 2, "maxItems": 2}


@description
class Universal(Joint):
    """Turns about two axes at right angles (Cardan or Hooke joint).

    Args:
        axes: two letters; the first axis is fixed in the base, the second in the follower.
    """

    type: ClassVar[str] = "universal"
    axes: Annotated[tuple[str, str], BeforeValidator(_as_axes), WithJsonSchema(_axes_schema)] = (
        "x",
        "y",
    )

    def layout(self) -> JointLayout:
        """Two rotations, that of the base first."""
        return free_axes((), (AXES.index(self.axes[0]), AXES.index(self.axes[1])))


@description
class Ball(Joint):
    """Turns freely about a point (spherical joint)."""

    type: ClassVar[str] = "ball"

    def layout(self) -> JointLayout:
        """Three rotations, a quaternion."""
        return free_axes((), (0, 1, 2))


@description
class Planar(Joint):
    """Moves in a plane and turns about its normal.

    Args:
        axis: normal: 'x', 'y', 'z' of the joint frame, or a vector in the base body's axes.
    """

    type: ClassVar[str] = "planar"
    axis: Axis = "y"

    def layout(self) -> JointLayout:
        """Two translations and one rotation."""
        normal = self.axis_number
        return free_axes(tuple(k for k in range(3) if k != normal), (normal,))


@description
class Free(Joint):
    """Leaves all six degrees of freedom."""

    type: ClassVar[str] = "free"

    def layout(self) -> JointLayout:
        """Three translations and three rotations (quaternion)."""
        return free_axes((0, 1, 2), (0, 1, 2))


@description
class SubsetJoint(Joint):
    """Leaves any subset of the six degrees of freedom.

    Args:
        dofs: names of the free ones. Two rotations are applied in the order x, y, z; the first axis
            is fixed in the base, the second in the follower.
    """

    type: ClassVar[str] = "subset"
    dofs: Dofs

    def check(self) -> None:
        """At least one DOF."""
        if not self.dofs:
            raise self.fail("dofs is empty. Name at least one, or use a weld.")

    def layout(self) -> JointLayout:
        """The named DOFs."""
        free = [DOFS.index(dof) for dof in self.dofs]
        return free_axes(tuple(k for k in free if k < 3), tuple(k - 3 for k in free if k >= 3))


@description
class CableElement(Joint):
    """A massless bar between two points, whose length may change and which does not twist.

    The base is the node at its far end and carries the frame of the element: z points along the bar
    to the follower's point, about which the element rotates. Heave is the length, Roll and Pitch
    turn about the x and y axes of the node itself. No direction is singular. Put a mass without
    inertia at the node: the frame turns about z in a way that depends on the path.
    """

    type: ClassVar[str] = "cable_element"

    def layout(self) -> JointLayout:
        """One translation and two rotations of a quaternion."""
        dofs = (DOFS[2], DOFS[3], DOFS[4])
        return JointLayout((2,), (0, 1), quaternion=True, n_rows=3, dofs=dofs)


@description
class Distance(Joint):
    """Keeps two points at a fixed distance, like a massless rod with a ball at each end.

    Args:
        length: [m]; the distance as described if not given.
    """

    type: ClassVar[str] = "distance"
    length: Number | None = None

    def check(self) -> None:
        """A rod has a length."""
        if self.length is not None and not self.length > 0:
            raise self.fail(
                f"length {self.length} m is not positive. Give metres, or use a ball joint."
            )

    def layout(self) -> JointLayout:
        """One equation."""
        return JointLayout(rows_only=True, n_rows=1)


@description
class RevoluteSpherical(Joint):
    """A massless rigid link from a hinge at the base point to a ball at the follower point.

    Its length and its offset along the axis are those described.

    Args:
        axis: 'x', 'y', 'z' of the joint frame, or a vector in the base body's axes.
    """

    type: ClassVar[str] = "revolute_spherical"
    axis: Axis = "z"

    def layout(self) -> JointLayout:
        """Two equations."""
        return JointLayout(rows_only=True, n_rows=2)


JOINT_TYPES: dict[str, type[Description]] = {
    cls.type: cls
    for cls in (
        *(Weld, Hinge, Slider, Cylindrical, Screw, Universal, Ball),
        *(Planar, Free, SubsetJoint, CableElement, Distance, RevoluteSpherical),
    )
}


@dataclasses.dataclass(frozen=True)
class DhRow:
    """One row of the table.

    Args:
        alpha: twist about x of the link before [rad].
        d: distance along that x [m].
        theta: angle about z [rad]; the initial coordinate of a hinge.
        r: distance along z [m]; the initial coordinate of a slider.
        kind: "hinge" or "slider".
    """

    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    r: float = 0.0
    kind: str = "hinge"


def dh_chain(
    bodies: Sequence[Body],
    table: Sequence[DhRow],
    base: object = WORLD,
    prefix: str = "joint",
    carrier: Body | None = None,
) -> tuple[tuple[Body, ...], tuple[Joint, ...]]:
    """Bodies placed along the chain and the joints between them.

    Body frames are the link frames of the table. The chain hangs on `base`, whose frame (or
    point with a rotation) is link 0; only a base on the world places the bodies in the world.

    Args:
        bodies: one per row, from the base outwards.
        table: one row per body.
        base: the world, a point on it, or a point on another body.
        prefix: joints are named prefix1, prefix2 ...
        carrier: the body of which base is a point.
    """
    if len(bodies) != len(table):
        raise SwelltreeError(
            f"dh_chain: {len(bodies)} bodies but {len(table)} rows. Give one row per body."
        )
    start = as_point(base)
    carrier = base if isinstance(base, Body) else carrier
    if start.body != (WORLD.name if carrier is None else carrier.name):
        raise SwelltreeError(
            f"dh_chain: base is a point on '{start.body}'. "
            f"Give the body too: dh_chain(..., carrier={start.body})."
        )
    position, R = np.array(start.position), start.rotation_matrix
    if carrier is not None:
        position = np.array(carrier.position) + carrier.rotation_matrix @ position
        R = carrier.rotation_matrix @ R
    before, first = start.body, start
    placed: list[Body] = []
    joints: list[Joint] = []
    for number, (body, row) in enumerate(zip(bodies, table, strict=True), start=1):
        twist, turn = euler_matrix(row.alpha, 0, 0), euler_matrix(0, 0, row.theta)
        if row.kind not in ("hinge", "slider"):
            raise SwelltreeError(
                f"dh_chain: row {number} has kind '{row.kind}'. Choose 'hinge' or 'slider'."
            )
        along = twist @ np.array([row.d, 0.0, row.r if row.kind == "hinge" else 0.0])
        frame = twist if row.kind == "hinge" else twist @ turn
        origin = np.zeros(3)
        if number == 1:
            # a base point with its own axes carries the table with it
            origin, axes = np.array(first.position), first.rotation_matrix
            along, frame = axes @ along, axes @ frame
        end = dataclasses.replace(
            as_point(before), position=tuple(origin + along), rotation=_rows(frame)
        )
        cls, value = (Hinge, row.theta) if row.kind == "hinge" else (Slider, row.r)
        follower = body.at(rotation=_rows(np.eye(3)))
        joints.append(cls(f"{prefix}{number}", end, follower, axis="z", position=value))
        # pose of the link in the world
        position = position + R @ twist @ np.array([row.d, 0.0, row.r])
        R = nearest_rotation(R @ twist @ turn)
        placed.append(body.moved(tuple(position), rotation=_rows(R)))
        before = body.name
    return tuple(placed), tuple(joints)


def _rows(matrix: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(x) for x in row) for row in matrix)
