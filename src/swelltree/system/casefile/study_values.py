"""Values that studies take in several forms, read into one that can be compared and kept."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.system.errors import shown
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
    if row is None or not all(isinstance(name, str) for name in row):
        raise ValueError(f"{shown(value)} is not a name or a list of names. Give e.g. 'ram'.")
    return row


def as_limit(value: object) -> object:
    """None, a number, a pair of numbers, or these by name, kept as (name, value) in a row."""
    if value is None:
        return None
    if isinstance(value, dict):
        if not value:
            raise ValueError("{} names nothing. Leave it out.")
        return tuple((_name(key), _bound(x)) for key, x in value.items())
    row = row_of(value)
    if row and all(_is_named(entry) for entry in row):
        return tuple((_name(entry[0]), _bound(entry[1])) for entry in row)
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


def _number(value: Any) -> float:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if not plain or math.isnan(value if isinstance(value, float) else 0.0) or abs(value) > LARGEST:
        raise ValueError(f"{shown(value)} is not a number, a pair or a table by name.")
    return float(value)


CaseName = Annotated[Any, BeforeValidator(as_case), WithJsonSchema({"type": ["integer", "string"]})]
Names = Annotated[Any, BeforeValidator(as_names), WithJsonSchema({"type": ["string", "array"]})]
Limit = Annotated[
    Any, BeforeValidator(as_limit), WithJsonSchema({"type": ["number", "array", "object"]})
]
