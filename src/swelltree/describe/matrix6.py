"""Six numbers or a 6 x 6 matrix over the degrees of freedom of a body, as users give them."""

import reprlib
from collections.abc import Mapping
from typing import Annotated

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.errors import listed, suggest
from swelltree.describe.values import DOFS, Converted, NamedValues, as_number, as_numbers, row_of

Rows = tuple[tuple[float, ...], ...]
Pairs = tuple[tuple[str, float], ...]  # values by DoF


def _pairs(value: Mapping[object, object]) -> tuple[tuple[str, float], ...]:
    for dof in value:
        if dof not in DOFS:
            raise ValueError(f"names '{dof}'.{suggest(dof, DOFS)} The DoFs are {listed(DOFS)}.")
    return tuple((dof, as_number(value[dof])) for dof in DOFS if dof in value)


def as_matrix(value: object) -> object:
    """A diagonal {dof: value} as pairs, or 6 x 6 numbers as rows."""
    rows = _entries(value, "6 x 6 numbers")
    if isinstance(rows, dict):
        return _pairs(rows)
    if rows and (len(rows) != 6 or any(len(_entries(row, "six")) != 6 for row in rows)):
        raise ValueError("is not a 6 x 6 matrix. Give {dof: value} or 6 x 6 numbers.")
    return tuple(as_numbers(row) for row in rows)


def as_vector(value: object) -> object:
    rows = _entries(value, "six numbers")
    if isinstance(rows, dict):
        return _pairs(rows)
    if rows and len(rows) != 6:
        raise ValueError(f"has {len(rows)} numbers. Give {{dof: value}} or six.")
    return tuple(as_number(x) for x in rows)


def _entries(value: object, requested: str) -> dict[object, object] | tuple[object, ...]:
    """A mapping or its pairs as a dict, rows as a tuple."""
    if value is None:
        return ()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str | bytes) or not hasattr(value, "__len__"):
        raise ValueError(
            f"{reprlib.repr(value)} is not a list. Give {{dof: value}} or {requested}."
        )
    if getattr(value, "ndim", 1) == 0:
        raise ValueError(f"{value!r} is one number. Give {{dof: value}} or {requested}.")
    rows = row_of(value) or ()
    pairs = [r for r in rows if isinstance(r, tuple) and len(r) == 2 and isinstance(r[0], str)]
    return dict(pairs) if rows and len(pairs) == len(rows) else rows


_table = {"type": "object", "propertyNames": {"enum": list(DOFS)}}
Matrix = Annotated[
    Converted[Rows | Pairs],
    BeforeValidator(as_matrix),
    WithJsonSchema({"anyOf": [_table, {"type": "array"}]}),
]
Six = Annotated[
    Converted[tuple[float, ...] | Pairs],
    BeforeValidator(as_vector),
    WithJsonSchema({"anyOf": [_table, {"type": "array"}]}),
]


def dense(value: Rows | Pairs) -> np.ndarray:
    """6 x 6 array of a stored matrix."""
    if not value:
        return np.zeros((6, 6))
    out = np.zeros((6, 6))
    for i, row in enumerate(value):
        if isinstance(row[0], str):
            out[DOFS.index(row[0]), DOFS.index(row[0])] = row[1]
        else:
            out[i] = row
    return out


def six(value: tuple[float, ...] | Pairs) -> np.ndarray:
    """Six numbers of a stored vector."""
    out = np.zeros(6)
    for i, entry in enumerate(value):
        if isinstance(entry, tuple):
            out[DOFS.index(entry[0])] = entry[1]
        else:
            out[i] = entry
    return out


def by_dof(table: NamedValues, value: Rows | Pairs | tuple[float, ...], name: str) -> None:
    """Write a stored diagonal as {dof: value} into the table of its item."""
    pairs = [x for x in value if isinstance(x, tuple) and isinstance(x[0], str)]
    if pairs:
        table[name] = {pair[0]: pair[1] for pair in pairs}
