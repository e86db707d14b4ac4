"""Rigid bodies, the world, and points on them."""

from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.system.describe import Description, description, within
from swelltree.system.errors import shown, suggest
from swelltree.system.frames import euler_deg_matrix, nearest_rotation
from swelltree.system.hulls import HullLike
from swelltree.system.values import Inertia, Name, Number, Rotation, Vector

ORIGIN = (0.0, 0.0, 0.0)


def _as_body_name(value: Any) -> str:
    name = getattr(value, "name", value)
    if not isinstance(name, str):
        raise ValueError(f"{shown(value)} is not a body. Give a body, WORLD or a name.")
    return name


@description
class Point(Description):
    """A point fixed on a body, and with a rotation a frame fixed on it.

    Args:
        body: name of the body, or "world".
        position: in the body's frame [m].
        rotation: axes of the frame in body axes: 3x3 matrix (its columns are the
            axes) or quaternion (w, x, y, z).
    """

    kind: ClassVar[str] = "point"
    body: Annotated[str, BeforeValidator(_as_body_name)]
    position: Vector = ORIGIN
    rotation: Rotation | None = None

    @property
    def rotation_matrix(self) -> np.ndarray:
        """Rotation from the frame at this point to body axes, (3, 3)."""
        return np.eye(3) if self.rotation is None else nearest_rotation(np.array(self.rotation))


class _Place:
    """Something that has points: a body or the world."""

    name: str

    def at(self, x: float = 0.0, y: float = 0.0, z: float = 0.0, rotation: Any = None) -> Point:
        """A point given in the frame of this body [m], with its own axes if a rotation is given."""
        return Point(self.name, (x, y, z), rotation)


class _World(_Place):
    """The fixed world: z up, z = 0 on the still water."""

    name = "world"

    def __repr__(self) -> str:
        return "WORLD"


WORLD = _World()


@description
class Body(Description, _Place):
    """A rigid body.

    Args:
        name: unique in the system.
        mass: [kg]; zero for a massless body, which needs zero inertia.
        inertia: about the centre of mass in body axes [kg m^2]: 3 principal values,
            6 matrix entries (Ixx, Iyy, Izz, Ixy, Ixz, Iyz, the products with the sign
            they have in the matrix) or a 3x3 matrix.
        com: centre of mass in the body frame [m].
        position: origin of the body frame in the world, as described [m].
        rotation_deg: attitude as described: roll, pitch, yaw, intrinsic z-y-x [degrees].
        rotation: the same as 3x3 matrix or quaternion (w, x, y, z).
        reference_point: point of velocities and wrenches in the body frame [m]; the centre
            of mass if not given.
        hull: a shape (`Box`, `Cylinder`, `Sphere`).
        displaced_volume: [m^3], instead of a hull.
        center_of_buoyancy: in the body frame [m], with displaced_volume.
    """

    kind: ClassVar[str] = "body"
    name: Name
    mass: Number = 0.0
    inertia: Inertia = ORIGIN
    com: Vector = ORIGIN
    position: Vector = ORIGIN
    rotation_deg: Vector | None = None
    rotation: Rotation | None = None
    reference_point: Vector | None = None
    hull: HullLike = None
    displaced_volume: Number | None = None
    center_of_buoyancy: Vector | None = None

    def __post_init__(self) -> None:
        if self.mass < 0:
            raise self.fail(f"mass {self.mass} kg is negative. Give zero (massless) or more.")
        if self.rotation is not None and self.rotation_deg is not None:
            raise self.fail("rotation and rotation_deg are both given. Give one of them.")
        self._check_inertia()
        self._check_displacement()

    def _check_inertia(self) -> None:
        matrix = self.inertia_matrix
        size = np.abs(matrix).max()
        if self.mass == 0 and size > 0:
            raise self.fail(
                "mass is zero but inertia is not. Give a mass, or zero inertia for a massless body."
            )
        if np.abs(matrix - matrix.T).max() > 1e-9 * size:
            raise self.fail("inertia is not symmetric. Give a matrix equal to its transpose.")
        moments = np.linalg.eigvalsh(matrix)
        if moments[0] < -1e-9 * size:
            raise self.fail(
                f"inertia has the negative principal moment {moments[0]:.6g} kg m^2. "
                "Give zero or more."
            )
        if moments[0] + moments[1] < moments[2] - 1e-9 * size:
            raise self.fail(
                "inertia violates the triangle inequality: the principal moments "
                f"{moments[0]:.6g} + "
                f"{moments[1]:.6g} are less than {moments[2]:.6g} kg m^2, which no body has. "
                "Check the values and that they are about the centre of mass."
            )

    def _check_displacement(self) -> None:
        if self.hull is not None and self.displaced_volume is not None:
            raise self.fail("hull and displaced_volume are both given. Give one of them.")
        if self.displaced_volume is not None and self.displaced_volume < 0:
            raise self.fail(
                f"displaced_volume {self.displaced_volume} m^3 is negative. Give zero or more."
            )
        if self.center_of_buoyancy is not None and self.displaced_volume is None:
            raise self.fail(
                "center_of_buoyancy is given without displaced_volume. Give the volume too."
            )

    @property
    def inertia_matrix(self) -> np.ndarray:
        """Inertia about the centre of mass in body axes [kg m^2], (3, 3)."""
        values = np.array(self.inertia)
        if values.ndim == 2:
            return values
        xx, yy, zz = values[:3]
        xy, xz, yz = values[3:] if len(values) == 6 else ORIGIN
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @property
    def rotation_matrix(self) -> np.ndarray:
        """Attitude as described: rotation from body to world axes, (3, 3)."""
        if self.rotation_deg is not None:
            return euler_deg_matrix(self.rotation_deg)
        return np.eye(3) if self.rotation is None else nearest_rotation(np.array(self.rotation))

    @property
    def reference(self) -> tuple[float, float, float]:
        """The reference point in the body frame [m]: the centre of mass unless one was given."""
        return self.com if self.reference_point is None else self.reference_point

    def moved(self, position: Any = None, rotation_deg: Any = None, rotation: Any = None) -> Self:
        """The same body at another described pose; what is not given stays."""
        changes: dict[str, Any] = {} if position is None else {"position": position}
        if rotation_deg is not None or rotation is not None:
            changes |= {"rotation_deg": rotation_deg, "rotation": rotation}
        return self.replace(**changes)


def as_point(value: Any) -> Any:
    """A point from a Point, a Body, the world, a name or a TOML table."""
    if isinstance(value, Point):
        return value
    if isinstance(value, _Place):
        return value.at()
    if isinstance(value, str):
        return Point(value)
    if isinstance(value, dict):
        unknown = [key for key in value if key not in ("body", "position", "rotation")]
        if unknown:
            hint = (
                suggest(unknown[0], ("body", "position", "rotation"))
                or " It has body, position, rotation."
            )
            raise ValueError(f"has no '{unknown[0]}'.{hint}")
        if "body" not in value:
            raise ValueError('names no body. Write { body = "name", position = [x, y, z] }.')
        return within(Point, value)
    raise ValueError(
        f"{shown(value)} is not a point. Give a body, WORLD, body.at(x, y, z) or a name."
    )


_three = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
POINT_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "body": {"type": "string"},
                "position": _three,
                "rotation": {"type": "array"},
            },
            "required": ["body"],
            "additionalProperties": False,
        },
    ]
}
# a Point when read; a Body, WORLD, Point, name or table when given
PointLike = Annotated[Any, BeforeValidator(as_point), WithJsonSchema(POINT_SCHEMA)]
