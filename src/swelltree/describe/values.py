"""Reading the values a user gives: numbers, vectors, rotations, names.

Each reader returns the value in its one stored form (floats, nested tuples) or raises
`ValueError` with the end of a message whose beginning names the item and the field.

Fields that these functions read have the types `ReadAs` and `Converted`: type checkers see what a
field contains when it is read; pydantic sees no type, since the function before it has checked
and converted the value, and says what is wrong with it in our words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.errors import listed, shown, suggest, warn_user

T = TypeVar("T")

if TYPE_CHECKING:
    ReadAs = Annotated[T, "read"]
    Row = Sequence
    Converted = T | Any
else:

    class ReadAs:
        """ReadAs[float]: a number to type checkers, anything to pydantic."""

        def __class_getitem__(cls, item: object) -> object:
            return Any

    class Row(ReadAs):
        """Row[Body]: bodies in brackets, kept as a tuple."""

    class Converted(ReadAs):
        """Converted[Point]: a point when read; a body, a name or a table too when given.

        A field has one type to type checkers. What is read is checked against that of the
        converted value, what is given is left to the reader.
        """


# --- Rotation matrices of described frames; the solvers have their own in `spatial`


def euler_matrix(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Rotation matrix of intrinsic z-y-x angles, R = Rz(yaw) Ry(pitch) Rx(roll).

    Args:
        roll: angle about x [rad].
        pitch: angle about y [rad].
        yaw: angle about z [rad].
    """
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def euler_deg_matrix(angles: tuple[float, float, float]) -> np.ndarray:
    """Rotation matrix of (roll, pitch, yaw) in degrees."""
    roll, pitch, yaw = np.deg2rad(angles)
    return euler_matrix(roll, pitch, yaw)


def quaternion_matrix(quaternion: tuple[float, ...]) -> np.ndarray:
    """Rotation matrix of a quaternion (w, x, y, z); its length does not matter."""
    w, x, y, z = np.asarray(quaternion) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    """The rotation nearest to a matrix typed with a limited number of digits."""
    R = np.array(matrix, dtype=float)
    if np.abs(R.T @ R - np.eye(3)).max() < 1e-14:
        return R
    U, _, Vt = np.linalg.svd(R)
    return U @ Vt


def nearest_axis(direction: tuple[float, ...]) -> int:
    """Number of the principal axis nearest to a direction, sign ignored; x before y before z."""
    size = np.abs(np.asarray(direction)) / np.linalg.norm(direction)
    return int(np.argmax(size > size.max() - 1e-9))


def turned_onto(direction: tuple[float, ...], axis: int | None = None) -> np.ndarray:
    """The smallest rotation that brings a principal axis onto a direction.

    When the direction is the negative of that axis e_k, the turn is by pi about e_(k+1).

    Args:
        direction: of any length.
        axis: number of the axis; the nearest one if not given.
    """
    k = nearest_axis(direction) if axis is None else axis
    start, goal = np.eye(3)[k], np.asarray(direction, dtype=float) / np.linalg.norm(direction)
    # the direction half way; its part along e_k without the cancellation of 1 + goal[k]
    half = goal + start
    if goal[k] < 0:
        half[k] = np.sum(np.delete(goal, k) ** 2) / (1 - goal[k])
    # scaled first: squares of parts below 1e-154 would not be numbers any more
    size = np.abs(half).max()
    half = half / size if size > 0 else np.eye(3)[(k + 2) % 3]
    half = half / np.linalg.norm(half)
    # a half turn about the axis, then one about the direction half way
    return (2 * np.outer(half, half) - np.eye(3)) @ (2 * np.outer(start, start) - np.eye(3))


# --- Values by name, as a case file, a page of JSON and keyword arguments have them

# what stands behind a name is known to whoever reads it: numbers, texts, lists, further names
NamedValues = dict[str, Any]

DOFS = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")
AXES = ("x", "y", "z")


def as_extended(value: object) -> float:
    if isinstance(value, str):
        raise ValueError(f"{shown(value)} is text. Give a number.")
    # scalar arrays of numpy and its relatives
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{shown(value)} is not a number. Give one real number.")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError("has too many digits. Give a finite number.") from None
    if math.isnan(number):
        raise ValueError("nan is not a number. Give a finite number.")
    return number


def as_number(value: object) -> float:
    number = as_extended(value)
    if math.isinf(number):
        raise ValueError(f"{number} is not finite. Give a finite number.")
    return number


@runtime_checkable
class Traced(Protocol):
    """Interface of traced JAX numbers."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype: ...


def is_traced(value: object) -> bool:
    """Whether JAX is tracing this number (`jit`, `grad`, `vmap`); does not import JAX."""
    return any(cls.__name__ == "Tracer" for cls in type(value).__mro__)


def as_sea_number(value: object) -> object:
    """A finite or traced number: seas are also realised under JAX transformations."""
    if not (is_traced(value) and isinstance(value, Traced)):
        return as_number(value)
    if value.shape != ():
        raise ValueError(f"has shape {value.shape}. Give one number; `vmap` makes many of it.")
    return value


def as_seed(value: object) -> object:
    """A non-negative integer, or a traced one."""
    if not (is_traced(value) and isinstance(value, Traced)):
        return as_count(value)
    if value.shape != () or value.dtype.kind not in "iu":
        raise ValueError(f"is {value.dtype} of shape {value.shape}. Give one whole number.")
    return value


def row_of(value: object) -> tuple[object, ...] | None:
    """Entries of a list, tuple or array; None for anything else."""
    if isinstance(value, str | bytes | dict | set):
        return None
    try:
        return tuple(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        return None


def as_numbers(value: object) -> tuple[float, ...]:
    row = row_of(value)
    if row is None:
        raise ValueError(f"{shown(value)} is not a row of numbers. Give numbers in brackets.")
    return tuple(as_number(entry) for entry in row)


def as_vector(value: object) -> tuple[float, ...]:
    numbers = as_numbers(value)
    if len(numbers) != 3:
        raise ValueError(f"{list(numbers)} has {len(numbers)} numbers. Give three: x, y, z.")
    return numbers


def as_matrix(value: object) -> tuple[tuple[float, ...], ...]:
    specified = row_of(value)
    if specified is None:
        raise ValueError(f"{shown(value)} is not a matrix. Give three rows of three numbers.")
    rows = tuple(as_numbers(row) for row in specified)
    if len(rows) != 3 or any(len(row) != 3 for row in rows):
        raise ValueError(
            f"has rows of {[len(row) for row in rows]} numbers. Give three rows of three."
        )
    return rows


def is_nested(value: object) -> bool:
    return any(row_of(row) is not None for row in row_of(value) or ())


def as_rotation(value: object) -> tuple[tuple[float, ...], ...]:
    """Rotation matrix, or a quaternion (w, x, y, z) converted to one."""
    if not is_nested(value):
        quaternion = as_numbers(value)
        if len(quaternion) != 4:
            raise ValueError(
                f"{list(quaternion)} is neither a 3x3 matrix nor a quaternion (w, x, y, z). "
                "Angles in degrees go into the key that ends in '_deg'."
            )
        if not np.linalg.norm(quaternion) > 1e-12:
            raise ValueError("is a quaternion of length zero. Give (1, 0, 0, 0) for no rotation.")
        return tuple(tuple(row) for row in quaternion_matrix(quaternion).tolist())
    rows = as_matrix(value)
    R = np.array(rows)
    error = np.abs(R.T @ R - np.eye(3)).max()
    if error > 1e-6:
        raise ValueError(
            "is not a rotation matrix: its columns miss being orthogonal unit vectors by "
            f"{error:.2g}. "
            "Give a matrix with R^T R = 1."
        )
    if np.linalg.det(R) < 0:
        raise ValueError("is a reflection (its determinant is -1). Turn one axis around.")
    return rows


def as_inertia(value: object) -> tuple[float | tuple[float, ...], ...]:
    """Inertia as 3 principal values, 6 matrix entries (xx, yy, zz, xy, xz, yz) or a 3x3 matrix."""
    if is_nested(value):
        return as_matrix(value)
    numbers = as_numbers(value)
    if len(numbers) not in (3, 6):
        raise ValueError(
            f"{list(numbers)} has {len(numbers)} numbers. Give 3 (principal), "
            "6 (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) or a 3x3 matrix."
        )
    return numbers


def as_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is not text. Give a name such as 'float'.")
    if not value or value != value.strip():
        raise ValueError(
            f"{shown(value)} is empty or has blanks around it. Give a name such as 'float'."
        )
    return value


def as_name(value: object) -> str:
    """A name that is valid in "item.quantity" and in "body__Heave"."""
    value = as_text(value)
    if not value.isprintable():
        raise ValueError(f"{shown(value)} holds a sign that cannot be printed. Use letters.")
    if "." in value or "__" in value or ":" in value:
        raise ValueError(
            f"{shown(value)} holds '.', ':' or '__', which have a meaning in labels. "
            "Use '_' or '-'."
        )
    return value


def as_axis(value: object) -> object:
    """Axis: 'x', 'y', 'z' or a nonzero direction."""
    if isinstance(value, str):
        if value not in AXES:
            raise ValueError(f"{shown(value)} is not an axis. Give 'x', 'y', 'z' or a vector.")
        return value
    vector = as_vector(value)
    if not np.linalg.norm(vector) > 1e-12:
        raise ValueError(
            "(0, 0, 0) has no direction. Give 'x', 'y', 'z' or a vector that is not zero."
        )
    return vector


def as_dof(value: object) -> str:
    if not isinstance(value, str) or value not in DOFS:
        raise ValueError(
            f"{shown(value)} is not a degree of freedom.{suggest(value, DOFS)} They are "
            f"{', '.join(DOFS)}."
        )
    return value


def as_dofs(value: object) -> tuple[str, ...]:
    """Distinct DOF names in the order Surge ... Yaw."""
    names = (value,) if isinstance(value, str) else row_of(value)
    if names is None:
        raise ValueError(
            f"{shown(value)} is not a row of names. Give for example ('Surge', 'Pitch')."
        )
    dofs = [as_dof(name) for name in names]
    if len(set(dofs)) != len(dofs):
        raise ValueError(f"{dofs} names a degree of freedom twice. Name each once.")
    return tuple(dof for dof in DOFS if dof in dofs)


def as_bool(value: object) -> bool:
    """True or false; other types are rejected."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{shown(value)} is not true or false. Give one of these.")
    return bool(value)


def as_names(value: object) -> tuple[str, ...]:
    """Tuple of texts; a single text becomes a tuple of one."""
    names = (value,) if isinstance(value, str) else row_of(value)
    if names is None:
        raise ValueError(f"{shown(value)} is not a row of names. Give names in brackets.")
    result = []
    for entry in names:
        name = getattr(entry, "name", entry)
        if not isinstance(name, str):
            raise ValueError(f"holds {shown(name)}, which is not text. Give names in brackets.")
        result.append(name)
    return tuple(result)


def as_count(value: object) -> int:
    number = as_number(value)
    if number != int(number) or number < 0:
        raise ValueError(f"{shown(value)} is not a whole number. Give 0, 1, 2 ...")
    return int(value) if isinstance(value, int) else int(number)


def one_of(known: tuple[str, ...], word: str) -> tuple[BeforeValidator | WithJsonSchema, ...]:
    """Reader and schema of a choice by name."""

    def read(value: object) -> object:
        if not isinstance(value, str) or value not in known:
            raise ValueError(
                f"{shown(value)} is not a {word}.{suggest(value, known)} The choices "
                f"are {listed(known)}."
            )
        return value

    return BeforeValidator(read), WithJsonSchema({"enum": list(known)})


_three = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
_rows = {"type": "array", "items": _three, "minItems": 3, "maxItems": 3}
_four = {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}
_six = {"type": "array", "items": {"type": "number"}, "minItems": 6, "maxItems": 6}

Number = Annotated[float, BeforeValidator(as_number)]
Extended = Annotated[float, BeforeValidator(as_extended)]
Count = Annotated[int, BeforeValidator(as_count)]
SeaNumber = Annotated[
    ReadAs[float], BeforeValidator(as_sea_number), WithJsonSchema({"type": "number"})
]
Seed = Annotated[ReadAs[int], BeforeValidator(as_seed), WithJsonSchema({"type": "integer"})]
Flag = Annotated[bool, BeforeValidator(as_bool)]
Name = Annotated[str, BeforeValidator(as_name)]
Names = Annotated[Sequence[str], BeforeValidator(as_names)]
Numbers = Annotated[
    Converted[tuple[float, ...]],  # lists and arrays are taken, tuples are kept
    BeforeValidator(as_numbers),
    WithJsonSchema({"type": "array", "items": {"type": "number"}}),
]
Vector = Annotated[tuple[float, float, float], BeforeValidator(as_vector)]
Rotation = Annotated[
    Converted[tuple[tuple[float, ...], ...]],
    BeforeValidator(as_rotation),
    WithJsonSchema({"anyOf": [_rows, _four]}),
]
INERTIA_SCHEMA: NamedValues = {"anyOf": [_three, _six, _rows]}
Axis = Annotated[
    Converted[str | tuple[float, ...]],
    BeforeValidator(as_axis),
    WithJsonSchema({"anyOf": [{"enum": list(AXES)}, _three]}),
]
Dofs = Annotated[
    tuple[str, ...],
    BeforeValidator(as_dofs),
    WithJsonSchema({"type": "array", "items": {"enum": list(DOFS)}, "minItems": 1}),
]


# --- Numbers that look as if they had another unit

LARGEST_ANGLE = 2.0 * math.pi + 1e-6  # rad: nobody gives a heading beyond a turn
LIGHTEST = 100.0  # kg/m^3: no liquid is lighter


def warn_suspicious_units(heading: float, rho: float, who: str) -> None:
    """Warn of headings that look like degrees and of a density that looks like t/m^3.

    Args:
        heading: the largest one given [rad].
        rho: density [kg/m^3].
        who: where they were given, to begin the message.
    """
    if abs(heading) > LARGEST_ANGLE:
        warn_user(
            f"{who}: a heading of {heading:.4g} rad is more than a turn and looks like degrees. "
            f"Give {math.radians(heading):.4g} rad for {heading:.4g} degrees."
        )
    if 0.0 < rho < LIGHTEST:
        warn_user(f"{who}: a density of {rho:.4g} kg/m^3 looks like t/m^3. Give Water(rho=1025.0).")
