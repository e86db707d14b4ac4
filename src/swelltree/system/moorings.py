"""Linear moorings and linear damping: 6 x 6 matrices on a body (MBS4WEC, eq. 11)."""

import reprlib
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.system.bodies import PointLike
from swelltree.system.describe import description
from swelltree.system.errors import listed, suggest
from swelltree.system.forces import Force
from swelltree.system.values import DOFS, Name, as_number


def _pairs(value: Mapping[Any, Any]) -> tuple[tuple[str, float], ...]:
    """Values by DoF, in the order of the DoFs."""
    for dof in value:
        if dof not in DOFS:
            raise ValueError(f"names '{dof}'.{suggest(dof, DOFS)} The DoFs are {listed(DOFS)}.")
    return tuple((dof, as_number(value[dof])) for dof in DOFS if dof in value)


def as_matrix(value: Any) -> Any:
    """A diagonal {dof: value} as pairs, or 6 x 6 numbers as rows."""
    rows = _entries(value, "6 x 6 numbers")
    if isinstance(rows, dict):
        return _pairs(rows)
    if rows and (len(rows) != 6 or any(len(_entries(row, "six")) != 6 for row in rows)):
        raise ValueError("is not a 6 x 6 matrix. Give {dof: value} or 6 x 6 numbers.")
    return tuple(tuple(as_number(x) for x in row) for row in rows)


def as_vector(value: Any) -> Any:
    """{dof: value} as pairs, or six numbers."""
    rows = _entries(value, "six numbers")
    if isinstance(rows, dict):
        return _pairs(rows)
    if rows and len(rows) != 6:
        raise ValueError(f"has {len(rows)} numbers. Give {{dof: value}} or six.")
    return tuple(as_number(x) for x in rows)


def _entries(value: Any, wanted: str) -> Any:
    """A mapping as a dict (pairs too), rows as a tuple."""
    if value is None:
        return ()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str | bytes) or not hasattr(value, "__len__"):
        raise ValueError(f"{reprlib.repr(value)} is no list. Give {{dof: value}} or {wanted}.")
    if getattr(value, "ndim", 1) == 0:
        raise ValueError(f"{value!r} is one number. Give {{dof: value}} or {wanted}.")
    rows = tuple(value)
    pairs = [r for r in rows if isinstance(r, tuple) and len(r) == 2 and isinstance(r[0], str)]
    return dict(pairs) if rows and len(pairs) == len(rows) else rows


_table = {"type": "object", "propertyNames": {"enum": list(DOFS)}}
Matrix = Annotated[
    Any, BeforeValidator(as_matrix), WithJsonSchema({"anyOf": [_table, {"type": "array"}]})
]
Six = Annotated[
    Any, BeforeValidator(as_vector), WithJsonSchema({"anyOf": [_table, {"type": "array"}]})
]


def dense(value: tuple[Any, ...]) -> np.ndarray:
    """6 x 6 array of a stored matrix."""
    if not value:
        return np.zeros((6, 6))
    if isinstance(value[0][0], str):
        out = np.zeros((6, 6))
        for dof, entry in value:
            out[DOFS.index(dof), DOFS.index(dof)] = entry
        return out
    return np.array(value, dtype=float)


def six(value: tuple[Any, ...]) -> np.ndarray:
    """Six numbers of a stored vector."""
    if value and isinstance(value[0], tuple):
        out = np.zeros(6)
        for dof, entry in value:
            out[DOFS.index(dof)] = entry
        return out
    return np.array(value, dtype=float) if value else np.zeros(6)


class _Linear(Force):
    """What linear moorings and dampings share."""

    def table(self) -> dict[str, Any]:
        """This item as a TOML table; diagonals as {dof: value}."""
        table = super().table()
        for name in ("stiffness", "damping", "pretension"):
            value = getattr(self, name, ())
            if value and isinstance(value[0], tuple) and isinstance(value[0][0], str):
                table[name] = dict(value)
        return table

    @property
    def points(self) -> dict[str, Any]:
        """The points by field name."""
        return {"body": self.body}  # type: ignore[attr-defined]

    def _check_body(self) -> None:
        if any(self.body.position) or self.body.rotation is not None:  # type: ignore[attr-defined]
            raise self.fail("acts at the body's reference point. Give the body, not a point on it.")
        if self.body.body == "world":  # type: ignore[attr-defined]
            raise self.fail("is on the world, where it does nothing. Name a body.")


@description
class LinearMooring(_Linear):
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


@description
class LinearDamping(_Linear):
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


MOORING_TYPES: dict[str, Any] = {cls.type: cls for cls in (LinearMooring, LinearDamping)}
