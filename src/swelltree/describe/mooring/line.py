"""Lines, the junctions where they meet, and their ends.

A line runs from end A (the anchor, low) to end B (the fairlead). Ends are on bodies, fixed in the
world, on junctions that are free to move, or at a distance along another line.
"""

import dataclasses
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import POINT_SCHEMA, Point, PointLike, as_point
from swelltree.describe.errors import shown
from swelltree.describe.forces.elements import Force
from swelltree.describe.matrix6 import Matrix, Six, by_dof, dense, six
from swelltree.describe.mooring.line_types import LineType
from swelltree.describe.spec import Description, description, differs, parts_of, plain, within
from swelltree.describe.values import (
    Converted,
    Count,
    Flag,
    Name,
    NamedValues,
    Number,
    Vector,
    as_axis,
    as_number,
    one_of,
    row_of,
)

MaybeNumber = Annotated[
    Converted[float],
    BeforeValidator(lambda value: None if value is None else as_number(value)),
    WithJsonSchema({"type": "number"}),
]
MODELS = ("dynamic", "quasi_static", "multibody", "lumped")
CABLES = ("multibody", "lumped")  # models of which every node is a body
DEFAULT_SEGMENTS = 20
END_SCHEMA = one_of(("A", "B"), "end of a line")


@description
class Junction(Description):
    """A point, free to move, where lines meet; with mass or volume a clump weight or float.

    Args:
        name: unique in the system.
        position: initial position [m]; `equilibrium` finds the final one.
        mass: in air [kg].
        volume: displaced [m^3].
        drag_area: drag coefficient times area [m^2].
        added_mass: added mass coefficient on the volume.
    """

    kind: ClassVar[str] = "junction"
    name: Name
    position: Vector
    mass: Number = 0.0
    volume: Number = 0.0
    drag_area: Number = 0.0
    added_mass: Number = 0.5

    def __post_init__(self) -> None:
        for field in ("mass", "volume", "drag_area", "added_mass"):
            if getattr(self, field) < 0:
                raise self.fail(f"{field} {getattr(self, field)} is negative. Give zero or more.")


@description
class OnJunction(Description):
    """A line end on a junction.

    Args:
        junction: its name.
    """

    kind: ClassVar[str] = "line end"
    junction: Name


@description
class OnLine(Description):
    """A line end at a distance along another line.

    Args:
        line: its name.
        at: unstretched distance from that line's end A [m].
    """

    kind: ClassVar[str] = "line end"
    line: Name
    at: Number


LineEnd = Point | OnJunction | OnLine


def as_end(value: object) -> LineEnd:
    """Line end from a point, a body, a junction, a position on a line, or a TOML table."""
    if isinstance(value, OnJunction | OnLine):
        return value
    if isinstance(value, Junction):
        return OnJunction(value.name)
    if isinstance(value, dict) and "junction" in value:
        return within(OnJunction, value)
    if isinstance(value, dict) and "line" in value:
        return within(OnLine, value)
    if isinstance(value, dict) and "body" not in value:
        return as_point({"body": "world", **value})
    if not isinstance(value, str) and row_of(value) is not None and not isinstance(value, Point):
        return as_point({"body": "world", "position": value})
    return as_point(value)


EndLike = Annotated[
    Converted[Point | OnJunction | OnLine],
    BeforeValidator(as_end),
    WithJsonSchema({"anyOf": [*POINT_SCHEMA["anyOf"], {"type": "object"}, {"type": "array"}]}),
]


def as_line_type(value: object) -> object:
    """A line type, its table, or its name in `System(line_types=...)`."""
    if isinstance(value, dict):
        return within(LineType, value)
    if value is not None and not isinstance(value, LineType | str):
        raise ValueError(f"{shown(value)} is not a line type. Give a LineType or its name.")
    return value


TypeLike = Annotated[
    Converted[LineType | str],
    BeforeValidator(as_line_type),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]}),
]


@description
class Section(Description):
    """Part of a line of one type.

    Args:
        type: a LineType or its name.
        length: unstretched [m].
        segments: number of segments; shared out by length if not given.
    """

    kind: ClassVar[str] = "section"
    type: TypeLike = dataclasses.field()  # pyright: ignore[reportIncompatibleVariableOverride]
    length: Number
    segments: Count | None = None

    def __post_init__(self) -> None:
        if not self.length > 0:
            raise self.fail(f"length {self.length} m is not positive.")
        if self.segments is not None and self.segments < 1:
            raise self.fail("segments 0 is too few. Give one or more.")

    def table(self) -> NamedValues:
        table = {"type": plain(self.type), "length": self.length}
        return table if self.segments is None else table | {"segments": self.segments}


def _as_clamp(value: object) -> object:
    return None if value is None else as_axis(value)


def _opposite(axis: str | tuple[float, ...] | None) -> tuple[float, ...] | None:
    if axis is None:
        return None
    vector = np.eye(3)["xyz".index(axis)] if isinstance(axis, str) else np.array(axis)
    return tuple((-vector).tolist())


Clamp = Annotated[
    Converted[str | tuple[float, ...] | None], BeforeValidator(_as_clamp), WithJsonSchema({})
]


@description
class Line(Description):
    """A line that pulls, goes slack and lies on the seabed.

    Args:
        name: unique in the system.
        A: the end at the anchor: WORLD.at(...), a body point, a junction, `OnLine`.
        B: the end at the fairlead.
        rest_length: unstretched [m]; the sum of the sections if these are given.
        type: a LineType or its name.
        model: "dynamic" (nodes with mass, drag and contact), "quasi_static" (the elastic catenary),
            "multibody" (a chain of bars in the tree of the system, which may carry the body at B)
            or "lumped" (the same masses as free points).
        segments: number of segments of a dynamic line or elements of a cable, 20 if not given.
        axial: "elastic" with the stiffness of the type, or "inextensible".
        sections: several types one after the other from A to B, instead of `type`.
        clamp_A: direction of the line at A in the axes of what it is fixed to, for lines with
            bending stiffness; pinned if not given.
        clamp_B: direction of the line at B, from A towards B.
        release_time: the line releases its end at this time [s].
        release_tension: the line breaks at its end at this tension [N].
        release_end: the end that is released, "B" or "A".
        slack: law of a slack element of a multibody or lumped cable: "pulls_only" (no force;
            damping never pushes) or "damped" (the damper still acts, as printed in Wuillaume et al.
            2017, eq. 7).
        form: of a multibody cable: "block" (three DOFs of an element at a time), or "plain"
            (one joint at a time, hinge, hinge and slider with two massless bodies).
        dry: no hydrodynamic loads on a multibody or lumped cable.
    """

    kind: ClassVar[str] = "line"
    name: Name
    A: EndLike
    B: EndLike
    rest_length: MaybeNumber = None
    type: TypeLike = None  # pyright: ignore[reportIncompatibleVariableOverride]
    model: Annotated[str, *one_of(MODELS, "line model")] = "dynamic"
    segments: Count | None = None
    axial: Annotated[str, *one_of(("elastic", "inextensible"), "axial law")] = "elastic"
    sections: Annotated[
        Converted[tuple[Section, ...]],
        parts_of(Section, "Section(type, length)"),
        WithJsonSchema({"type": "array"}),
    ] = ()
    clamp_A: Clamp = None
    clamp_B: Clamp = None
    release_time: Number | None = None
    release_tension: Number | None = None
    release_end: Annotated[str, END_SCHEMA[0], END_SCHEMA[1]] = "B"
    slack: Annotated[str, *one_of(("pulls_only", "damped"), "behaviour of slack elements")] = (
        "pulls_only"
    )
    form: Annotated[str, *one_of(("block", "plain"), "form of the chain")] = "block"
    dry: Flag = False

    def __post_init__(self) -> None:
        if bool(self.sections) == (self.type is not None):
            raise self.fail("needs either a type or sections. Give one of them.")
        total = sum(section.length for section in self.sections)
        if self.sections and self.rest_length is None:
            object.__setattr__(self, "rest_length", total)
        if self.rest_length is None:
            raise self.fail("'rest_length' is missing. Give the unstretched length.")
        if not self.rest_length > 0:
            raise self.fail(f"rest_length {self.rest_length} m is not positive.")
        if self.sections and abs(self.rest_length - total) > 1e-9 * total:
            raise self.fail(
                f"rest_length {self.rest_length} m is not the {total} m of its sections. "
                "Leave it out."
            )
        if self.segments is not None and self.segments < 1:
            raise self.fail("segments 0 is too few. Give one or more.")
        if self.A == self.B:
            raise self.fail("both ends are at the same place. Give two different ends.")
        if self.release_tension is not None and not self.release_tension > 0:
            raise self.fail(f"release_tension {self.release_tension} N is not positive.")
        if self.model in CABLES:
            self._check_cable()
        elif self.dry or self.slack != "pulls_only" or self.form != "block":
            raise self.fail(
                f"slack, form and dry are of cables, but its model is '{self.model}'. "
                "Leave them out, or give model='multibody'."
            )

    def _check_cable(self) -> None:
        if self.axial == "inextensible":
            raise self.fail(f"a {self.model} cable stretches. Give a type with EA, or 'dynamic'.")
        if self.clamp_A is not None or self.clamp_B is not None:
            raise self.fail(f"a {self.model} cable is not clamped. Give model='dynamic'.")
        if self.release_time is not None or self.release_tension is not None:
            raise self.fail(f"a {self.model} cable is not released. Give model='dynamic'.")
        if self.form == "plain" and self.model != "multibody":
            raise self.fail("form 'plain' is of multibody cables. Leave it out.")

    def reversed(self) -> Self:
        """The same line described from B to A."""
        return self.replace(
            A=self.B,
            B=self.A,
            sections=self.sections[::-1],
            clamp_A=_opposite(self.clamp_B),
            clamp_B=_opposite(self.clamp_A),
            release_end="A" if self.release_end == "B" else "B",
        )

    @property
    def points(self) -> dict[str, Point]:
        """Ends on bodies or the world, by field name."""
        ends = {"A": self.A, "B": self.B}
        return {field: end for field, end in ends.items() if isinstance(end, Point)}

    @property
    def parts(self) -> tuple[Section, ...]:
        """The sections; a line of one type is one section."""
        return self.sections or (Section(self.type, self.rest_length),)

    @property
    def segment_counts(self) -> tuple[int, ...]:
        """Segments of each section, shared out by length."""
        parts = self.parts
        requested = self.segments or DEFAULT_SEGMENTS
        free = [part for part in parts if part.segments is None]
        left = max(requested - sum(part.segments or 0 for part in parts), len(free))
        length = sum(part.length for part in free) or 1.0
        return tuple(
            part.segments or max(1, int(np.round(left * part.length / length))) for part in parts
        )

    def table(self) -> NamedValues:
        fields = {field.name: field.default for field in dataclasses.fields(self)}
        table = {
            name: plain(getattr(self, name))
            for name, default in fields.items()
            if differs(getattr(self, name), default)
        }
        if self.sections:
            table.pop("rest_length")
        return table


# --- Linear moorings and linear damping: 6 x 6 matrices on a body (MBS4WEC, eq. 11)


class LinearLoad(Force):
    """Base of linear moorings and dampings."""

    row: ClassVar[str] = "moorings"
    body: PointLike
    damping: Matrix

    def table(self) -> NamedValues:
        """This item as a TOML table; diagonals as {dof: value}."""
        table = super().table()
        for name in ("stiffness", "damping", "pretension"):
            by_dof(table, getattr(self, name, ()), name)
        return table

    @property
    def points(self) -> dict[str, Point]:
        return {"body": self.body}

    def _check_body(self) -> None:
        if any(self.body.position) or self.body.rotation is not None:
            raise self.fail("acts at the body's reference point. Give the body, not a point on it.")
        if self.body.body == "world":
            raise self.fail("is on the world, where it does nothing. Name a body.")


@description
class LinearMooring(LinearLoad):
    """Stiffness, damping and pretension at a body's reference point, world axes.

    wrench = pretension - stiffness (displacement from the described pose) - damping (velocity)

    Args:
        name: unique in the system.
        body: the body.
        stiffness: {dof: value} or 6 x 6 [N/m, N, N m].
        damping: {dof: value} or 6 x 6 [N s/m, N s, N m s].
        pretension: {dof: value} or six numbers [N, N m].
    """

    kind: ClassVar[str] = "mooring"
    type: ClassVar[str] = "linear"
    name: Name
    body: PointLike
    stiffness: Matrix = ()
    damping: Matrix = ()
    pretension: Six = ()

    def __post_init__(self) -> None:
        self._check_body()

    @property
    def pushes_at_rest(self) -> bool:
        """With stiffness or pretension in heave."""
        return bool(dense(self.stiffness)[2].any() or six(self.pretension)[2])


@description
class LinearDamping(LinearLoad):
    """Linear damping at a body's reference point, for example viscous losses.

    Args:
        name: unique in the system.
        body: the body.
        damping: {dof: value} or 6 x 6 [N s/m, N s, N m s].
    """

    kind: ClassVar[str] = "mooring"
    type: ClassVar[str] = "damping"
    name: Name
    body: PointLike
    damping: Matrix = ()

    def __post_init__(self) -> None:
        self._check_body()

    @property
    def pushes_at_rest(self) -> bool:
        """Damping does not."""
        return False


MOORING_TYPES: dict[str, type[Description]] = {
    cls.type: cls for cls in (LinearMooring, LinearDamping)
}
