"""Functions that users write: where they stand, and errors where they cannot be traced."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from pathlib import Path

from swelltree.jit import Array, Tree

TRACED = "Use jax.numpy and where in place of numpy and if: jnp.where(condition, a, b)"


def innermost(law: Callable[..., object]) -> Tree:
    while True:
        wrapped: Tree = getattr(law, "function", None) or inspect.unwrap(law)
        if wrapped is law:
            return law
        law = wrapped


def where_of(law: Callable[..., Array], error: BaseException | None = None) -> str:
    """Name, file and line of a law; the line of an error where it is inside of the law."""
    function = innermost(law)
    name = getattr(function, "__qualname__", type(function).__name__)
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    if code is None:
        return f"law '{name}'"
    line = code.co_firstlineno
    for frame in traceback.extract_tb(None if error is None else error.__traceback__):
        if frame.filename == code.co_filename:
            line = frame.lineno or line
    return f"law '{name}' ({Path(code.co_filename).name}, line {line})"


def untraceable() -> tuple[type[Exception], ...]:
    """Errors of code that asks for numbers while it is traced."""
    from swelltree.jit import jax

    return (
        jax.errors.TracerArrayConversionError,
        jax.errors.TracerBoolConversionError,
        jax.errors.ConcretizationTypeError,
        jax.errors.TracerIntegerConversionError,
    )
