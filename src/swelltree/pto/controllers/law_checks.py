"""What is wrong with a control law, in one message: its name, its line, and what to do."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array, Numbers, Tree

TRACED = "Use jax.numpy and where in place of numpy and if: jnp.where(condition, a, b)"
PLAIN = f"{TRACED}, or give the controller plain=True."


def where_of(law: Callable[..., Array], error: BaseException | None = None) -> str:
    """Name, file and line of a law; the line of an error where it is inside of the law."""
    wrapped: Tree = law
    while hasattr(wrapped, "function"):
        wrapped = wrapped.function
    function = inspect.unwrap(wrapped)
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


def check_law(name: str, law: Callable[..., Array], measures: int, drives: int) -> None:
    """Trace a law once, with as many channels as it measures, and reject what it cannot be.

    Args:
        name: of the controller.
        law: u(t, y).
        measures: length of y.
        drives: number of elements driven.
    """
    from swelltree.jit import jax, jnp

    def once(t: Array, y: Array) -> Array | None:
        value = law(t, y)
        if value is None:
            raise SwelltreeError(
                f"controller '{name}': {where_of(law)} gives None. Return one value for each of "
                f"the {drives} driven elements."
            )
        return jnp.asarray(value, dtype=float)

    like = jax.ShapeDtypeStruct((), float), jax.ShapeDtypeStruct((measures,), float)
    try:
        value = jax.eval_shape(once, *like)
    except SwelltreeError:
        raise
    except untraceable() as error:
        raise SwelltreeError(
            f"controller '{name}': {where_of(law, error)} asks for numbers while it is compiled. "
            f"{PLAIN}"
        ) from None
    except Exception as error:
        raise SwelltreeError(
            f"controller '{name}': {where_of(law, error)} fails with {type(error).__name__}: "
            f"{_short(error)}. {PLAIN}"
        ) from None
    if value.size != drives:
        raise SwelltreeError(wrong_size(name, law, value.size, drives))


def count_surfaces(name: str, surfaces: Callable[..., Array], requested: int) -> int:
    """Trace the surfaces of a law once: how many there are.

    Args:
        name: of the controller.
        surfaces: function of t and what the law is asked with.
        requested: length of the latter.
    """
    from swelltree.jit import jax, jnp

    like = jax.ShapeDtypeStruct((), float), jax.ShapeDtypeStruct((requested,), float)
    try:
        found = jax.eval_shape(lambda t, y: jnp.ravel(jnp.asarray(surfaces(t, y), float)), *like)
    except Exception as error:
        raise SwelltreeError(
            f"controller '{name}': surfaces, {where_of(surfaces, error)}, fails with "
            f"{type(error).__name__}: {_short(error)}. Write it with jax.numpy."
        ) from None
    if found.size == 0:
        raise SwelltreeError(f"controller '{name}': surfaces gives no value. Return one or more.")
    return int(found.size)


def wrong_size(name: str, law: Callable[..., Array], size: int, drives: int) -> str:
    """A law with too many or too few values."""
    return (
        f"controller '{name}': the law gives {size} values but drives {drives} elements "
        f"({where_of(law)}). Return one value for each."
    )


MEMORY = (
    "It remembers something that time stepping does not know of, while steps are tried, rejected "
    "and observed again. Give what it remembers as states=[...] of the Controller, with "
    "sample_time=... for a sampled law or surfaces=... for a law that jumps"
)


class LawQuery:
    """Questions to a plain law and its answers, spread over a run, to be asked again after it."""

    MANY = 32
    without_content = True  # for fingerprints (`engine.contents`)

    def __init__(self) -> None:
        self.faults: list[str] = []  # what went wrong in a call from a program
        self.memory = ""  # how the law was found to have a memory, which may say nothing later
        self.forget()

    def forget(self) -> None:
        """No question yet."""
        self.stored: list[tuple[float, np.ndarray, np.ndarray]] = []
        self.stride, self.number = 1, 0

    def keep(self, t: float, y: np.ndarray, u: np.ndarray) -> None:
        """One question; when there are many, every second one is given up."""
        if self.number % self.stride == 0:
            self.stored.append((t, y, u))
            if len(self.stored) > self.MANY:
                self.stored, self.stride = self.stored[::2], 2 * self.stride
        self.number += 1

    def check(self, name: str, law: Callable[[float, np.ndarray], Numbers], count: int) -> None:
        """Ask all again, the last first, and reject other answers; then forget them.

        A law that was found to have a memory stays rejected: it may never change again, as one
        that waits for a later time, and then its answers repeat.

        Args:
            name: of the controller.
            law: u(t, y).
            count: of its values.
        """
        stored = self.stored[::-1]
        self.forget()
        for t, y, before in stored:
            again = plain_values(name, law, count, np.asarray(t), y)
            if not np.allclose(again, before, rtol=1e-9, atol=1e-12):
                self.memory = (
                    f"controller '{name}': {where_of(law)} gave {before.tolist()} at t = {t:.6g} s "
                    f"with y = {np.round(y, 6).tolist()}, and {again.tolist()} when asked the same "
                    f"again. {MEMORY}."
                )
                break
        if self.memory:
            raise SwelltreeError(self.memory)


def _short(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else "no message").rstrip(".")


def plain_values(
    name: str, law: Callable[[float, np.ndarray], Numbers], count: int, t: Array, y: Array
) -> np.ndarray:
    """Values of a law in plain Python; every fault as a message."""
    try:
        value = law(float(t), np.array(y))
    except SwelltreeError:
        raise
    except Exception as error:
        raise SwelltreeError(
            f"controller '{name}': {where_of(law, error)} fails at t = {float(t):.6g} s with "
            f"{type(error).__name__}: {_short(error)}. Fix the law."
        ) from None
    try:
        u = np.asarray(value, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        raise SwelltreeError(
            f"controller '{name}': {where_of(law)} gives {value!r} at t = {float(t):.6g} s. "
            "Return one number for each driven element."
        ) from None
    if value is None or u.size != count:
        size = 0 if value is None else u.size
        raise SwelltreeError(wrong_size(name, law, size, count))
    if not np.isfinite(u).all():
        raise SwelltreeError(
            f"controller '{name}': {where_of(law)} gives {u.tolist()} at t = {float(t):.6g} s with "
            f"y = {np.asarray(y).tolist()}. Return finite numbers."
        )
    return u
