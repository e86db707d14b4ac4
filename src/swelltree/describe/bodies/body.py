"""Rigid bodies, the world, and points on them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.hulls import HullLike
from swelltree.describe.errors import shown, suggest
from swelltree.describe.matrix6 import Matrix, by_dof, dense
from swelltree.describe.spec import Description, description, within
from swelltree.describe.values import (
    INERTIA_SCHEMA,
    Converted,
    Name,
    NamedValues,
    Number,
    Rotation,
    Vector,
    as_inertia,
    as_number,
    as_vector,
    euler_deg_matrix,
    nearest_rotation,
)

if TYPE_CHECKING:
    from swelltree.describe.environment.water import Water


ORIGIN = (0.0, 0.0, 0.0)
DISPLACEMENT = "displacement"
HOMOGENEOUS = "homogeneous"


def _or_word(word: str, read: Callable[[object], object], what: str = "numbers") -> BeforeValidator:
    """Reader of a value or of a word that leaves it to the hull."""

    def read_either(value: object) -> object:
        if value is None or (isinstance(value, str) and value == word):
            return value
        if isinstance(value, str):
            hint = suggest(value, (word,)) or f" Give {what} or '{word}'."
            raise ValueError(f"{shown(value)} is text.{hint}")
        return read(value)

    return BeforeValidator(read_either)


_number_or_word = {"anyOf": [{"type": "number", "minimum": 0}, {"const": DISPLACEMENT}]}
_vector = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
Mass = Annotated[
    Converted[float],
    _or_word(DISPLACEMENT, as_number, "a number"),
    WithJsonSchema(_number_or_word),
]
InertiaOrWord = Annotated[
    Converted[tuple[float | tuple[float, ...], ...]],
    _or_word(HOMOGENEOUS, as_inertia),
    WithJsonSchema({"anyOf": [*INERTIA_SCHEMA["anyOf"], {"const": HOMOGENEOUS}]}),
]
ComOrWord = Annotated[
    Converted[tuple[float, float, float]],
    _or_word(HOMOGENEOUS, as_vector),
    WithJsonSchema({"anyOf": [_vector, {"const": HOMOGENEOUS}]}),
]


def _as_body_name(value: object) -> str:
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
    """Base of objects that have points: bodies and the world."""

    name: str

    def at(self, x: float = 0.0, y: float = 0.0, z: float = 0.0, rotation: object = None) -> Point:
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

    A body with a hull and no mass floats: its mass is that of the water it displaces, distributed
    uniformly over the hull. Otherwise mass, inertia and com that are not given are zero.

    Args:
        name: unique in the system.
        mass: [kg]; zero for a massless body, which needs zero inertia; "displacement" for the
            mass of the water that the hull displaces as described.
        inertia: about the centre of mass in body axes [kg m^2]: 3 principal values, 6 matrix
            entries (Ixx, Iyy, Izz, Ixy, Ixz, Iyz, products with their sign in the matrix) or a 3x3
            matrix; "homogeneous" for that of the whole hull, above and below the water, as a solid
            of even density about its own centre.
        com: centre of mass in the body frame [m]; "homogeneous" for the centre of the whole hull.
        position: origin of the body frame in the world, as described [m].
        rotation_deg: attitude as described: roll, pitch, yaw, intrinsic z-y-x [degrees].
        rotation: the same as 3x3 matrix or quaternion (w, x, y, z).
        reference_point: point of velocities and wrenches in the body frame [m]; the centre
            of mass if not given.
        hull: a shape (`Box`, `Cylinder`, `Sphere` ...); its frame has the body's axes and its
            origin on the still water above or below the body's origin as described.
        displaced_volume: [m^3], instead of a hull.
        center_of_buoyancy: in the body frame [m], with displaced_volume.
        added_mass: {dof: value} or 6 x 6, constant in body axes, at the reference point, for a body
            that stays well below the surface and has no hydro data [kg, kg m, kg m^2]. In waves and
            currents such a body is also loaded by (rho V + added mass) Du/Dt.
    """

    kind: ClassVar[str] = "body"
    name: Name
    mass: Mass = None
    inertia: InertiaOrWord = None
    com: ComOrWord = None
    position: Vector = ORIGIN
    rotation_deg: Vector | None = None
    rotation: Rotation | None = None
    reference_point: Vector | None = None
    hull: HullLike = None
    displaced_volume: Number | None = None
    center_of_buoyancy: Vector | None = None
    added_mass: Matrix = ()

    def __post_init__(self) -> None:
        self._fill_in()
        if self.mass != DISPLACEMENT and self.mass < 0:
            raise self.fail(f"mass {self.mass} kg is negative. Give zero (massless) or more.")
        if self.rotation is not None and self.rotation_deg is not None:
            raise self.fail("rotation and rotation_deg are both given. Give one of them.")
        if self.inertia != HOMOGENEOUS:
            self._check_inertia()
        self._check_displacement()
        self._check_added_mass()

    def _fill_in(self) -> None:
        """Fill in mass properties: from the hull if the mass is, else zero."""
        if self.mass is None:
            object.__setattr__(self, "mass", 0.0 if self.hull is None else DISPLACEMENT)
        rest = HOMOGENEOUS if self.mass == DISPLACEMENT else ORIGIN
        for name in ("inertia", "com"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, rest)
        for name, word in (("mass", DISPLACEMENT), ("inertia", HOMOGENEOUS), ("com", HOMOGENEOUS)):
            if getattr(self, name) == word and self.hull is None:
                raise self.fail(f"{name} is '{word}' but there is no hull. Give a hull or numbers.")

    def table(self) -> NamedValues:
        """This body as a TOML table; zeros that go without saying are left out."""
        table = super().table()
        by_dof(table, self.added_mass, "added_mass")
        if self.hull is None:
            silent = {"mass": 0.0, "inertia": [0.0] * 3, "com": [0.0] * 3}
        elif self.mass == DISPLACEMENT:
            silent = {"mass": DISPLACEMENT, "inertia": HOMOGENEOUS, "com": HOMOGENEOUS}
        else:
            silent = {"inertia": [0.0] * 3, "com": [0.0] * 3}
        return {key: value for key, value in table.items() if silent.get(key) != value}

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

    def _check_added_mass(self) -> None:
        A = dense(self.added_mass)
        size = np.abs(A).max()
        if np.abs(A - A.T).max() > 1e-6 * size:
            raise self.fail("added_mass is not symmetric. Give a matrix equal to its transpose.")
        lowest = np.linalg.eigvalsh(0.5 * (A + A.T))[0]
        if lowest < -1e-6 * size:
            raise self.fail(
                f"added_mass has the negative eigenvalue {lowest:.4g}. Give a matrix that takes "
                "energy to accelerate in every direction."
            )

    @property
    def inertia_matrix(self) -> np.ndarray:
        """Inertia about the centre of mass in body axes [kg m^2], (3, 3)."""
        if self.inertia == HOMOGENEOUS:
            if self.mass == DISPLACEMENT:
                raise self.fail(
                    "inertia follows from the displacement, which needs the water. Use "
                    "body.resolved(water) or system.resolved."
                )
            from swelltree.describe.bodies.solids import hull_solid

            return self.mass * hull_solid(self.hull).inertia_per_mass
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
        return self.center_of_mass if self.reference_point is None else self.reference_point

    @property
    def center_of_mass(self) -> tuple[float, float, float]:
        """The centre of mass in the body frame [m], also where it follows from the hull."""
        if self.com != HOMOGENEOUS:
            return self.com
        from swelltree.describe.bodies.solids import hull_solid

        x, y, z = (hull_solid(self.hull).centroid + self.hull_origin).tolist()
        return (x, y, z)

    @property
    def hull_origin(self) -> np.ndarray:
        """Origin of the hull's frame in the body frame: on the still water as described [m]."""
        return self.rotation_matrix.T @ np.array([0.0, 0.0, -self.position[2]])

    def resolved(self, water: "Water") -> Self:
        """The same body with mass, inertia and com as numbers.

        Args:
            water: the `Water` it floats in.
        """
        if self.mass != DISPLACEMENT and HOMOGENEOUS not in (self.inertia, self.com):
            return self
        from swelltree.describe.bodies.solids import hull_immersed

        mass = self.mass
        if mass == DISPLACEMENT:
            volume = hull_immersed(self.hull, self.rotation_matrix).volume
            if not volume > 0:
                raise self.fail(
                    "mass is 'displacement' but the hull is above the water. Lower it or give a "
                    "mass."
                )
            mass = water.rho * volume
        numbers = self.replace(mass=mass, com=self.center_of_mass)
        return numbers.replace(inertia=numbers.inertia_matrix)

    def moved(
        self, position: object = None, rotation_deg: object = None, rotation: object = None
    ) -> Self:
        """The same body at another described pose; what is not given stays."""
        changes: NamedValues = {} if position is None else {"position": position}
        if rotation_deg is not None or rotation is not None:
            changes |= {"rotation_deg": rotation_deg, "rotation": rotation}
        return self.replace(**changes)


def as_point(value: object) -> Point:
    """Point from a Point, a Body, the world, a name or a TOML table."""
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
POINT_SCHEMA: NamedValues = {
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
PointLike = Annotated[Converted[Point], BeforeValidator(as_point), WithJsonSchema(POINT_SCHEMA)]
