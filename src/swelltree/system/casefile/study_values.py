"""Values that studies take in several forms, read into one that can be compared and kept."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.system.errors import shown
from swelltree.system.read_as import Converted, ReadAs
from swelltree.system.values import row_of

LARGEST = 1e300


def as_case(value: object) -> int | str:
    """Number or name of a run."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{shown(value)} is not the number or name of a run. Give e.g. 3.")
    return value


def as_names(value: object) -> tuple[str, ...] | str | None:
    """One name, several, or none."""
    if value is None or isinstance(value, str):
        return value
    row = row_of(value)
    names = [name for name in row or () if isinstance(name, str)]
    if row is None or len(names) < len(row):
        raise ValueError(f"{shown(value)} is not a name or a list of names. Give e.g. 'ram'.")
    return tuple(names)


def as_limit(value: object) -> object:
    """None, a number, a pair of numbers, or these by name, kept as (name, value) in a row."""
    if value is None:
        return None
    if isinstance(value, dict):
        if not value:
            raise ValueError("{} names nothing. Leave it out.")
        return tuple((_name(key), _bound(x)) for key, x in value.items())
    row = row_of(value)
    pairs = [row_of(entry) for entry in row or () if _is_named(entry)]
    if row and len(pairs) == len(row):
        return tuple((_name(pair[0]), _bound(pair[1])) for pair in pairs if pair is not None)
    return _bound(value)


def limit_argument(value: object) -> object:
    """A limit as studies in Python take it: names in a dict."""
    if isinstance(value, tuple) and value and all(_is_named(entry) for entry in value):
        return dict(value)
    return value


def _is_named(entry: object) -> bool:
    row = row_of(entry)
    return row is not None and len(row) == 2 and isinstance(row[0], str)


def _name(key: object) -> str:
    if not isinstance(key, str) or not key:
        raise ValueError(f"{shown(key)} is not a name. Give e.g. {{ram = 1e5}}.")
    return key


def _bound(value: object) -> float | tuple[float, float]:
    row = row_of(value)
    if row is not None and len(row) == 2:
        low, high = (_number(x) for x in row)
        return low, high
    return _number(value)


def _number(value: object) -> float:
    # nan is not below the largest either
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= LARGEST:
        raise ValueError(f"{shown(value)} is not a number, a pair or a table by name.")
    return float(value)


Bound = float | tuple[float, float]
CaseName = Annotated[
    ReadAs[int | str], BeforeValidator(as_case), WithJsonSchema({"type": ["integer", "string"]})
]
Names = Annotated[
    Converted[tuple[str, ...] | str | None],
    BeforeValidator(as_names),
    WithJsonSchema({"type": ["string", "array"]}),
]
Limit = Annotated[
    Converted[Bound | tuple[tuple[str, Bound], ...] | None],
    BeforeValidator(as_limit),
    WithJsonSchema({"type": ["number", "array", "object"]}),
]
