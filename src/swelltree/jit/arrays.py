"""Arrays of numpy or JAX: one code for both, and classes that are trees of arrays.

A function asks its arguments for their library (`namespace`): a system is described and assembled
with numpy, without tracing; the same functions are traced by JAX for time stepping.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any, TypeVar, dataclass_transform

import numpy as np

Array = Any  # of numpy or JAX, or a number
Tree = Any  # arrays in any nesting: what JAX calls a pytree
Numbers = float | Sequence[float] | np.ndarray  # one or several, as users give them
T = TypeVar("T")

_fields: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {}  # of trees: data and static ones
_pending: list[type] = []  # trees that are not registered with JAX yet


def namespace(*arrays: Array) -> ModuleType:
    """The array library of the arguments: jax.numpy if any is a JAX value, else numpy."""
    for x in arrays:
        if not isinstance(x, np.ndarray | float | int):
            return x.__array_namespace__()
    return np


def known(*numbers: Array) -> bool:
    """Are all of them plain numbers or numpy arrays, none a JAX value?"""
    return all(isinstance(x, int | float | np.ndarray | np.generic) for x in numbers)


@dataclass_transform(frozen_default=True)
def pytree(*static: str):
    """Frozen dataclass that JAX sees as a tree; the named fields are static.

    Registration waits until JAX is imported, so describing and checking a
    system needs no JAX.
    """

    def decorate(cls: type[T]) -> type[T]:
        cls = dataclass(frozen=True, eq=False)(cls)
        _fields[cls] = _data_of(cls, static), static
        _pending.append(cls)
        if "jax" in sys.modules:
            register_pytrees()
        return cls

    return decorate


def _data_of(cls: type, static: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls) if f.name not in static)


def register_pytrees() -> None:
    """Register every class made by `pytree` so far with JAX."""
    from jax.tree_util import register_dataclass

    while _pending:
        cls = _pending.pop()
        data, static = _fields[cls]
        register_dataclass(cls, data_fields=list(data), meta_fields=list(static))


def fields_of(cls: type) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Names of data and of static fields of a class made by `pytree`; None of any other."""
    return _fields.get(cls)
