"""Contact of points or small spheres on one body with a simple shape on another."""

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import Point, PointLike
from swelltree.describe.errors import listed, shown
from swelltree.describe.forces.elements import Force
from swelltree.describe.read_as import Converted
from swelltree.describe.spec import Description, description
from swelltree.describe.values import Name, Number, Numbers, as_vector, row_of

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
        """The frames by field name."""
        return {"a": self.a, "b": self.b}


CONTACT_TYPES: dict[str, type[Description]] = {BodyContact.type: BodyContact}
