"""What is wrong with a control law, in one message: its name, its line, and what to do.

Laws that were made for one sea: they say so where they run in another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.jit import Array, Numbers
from swelltree.model.effect import TRACED, innermost, untraceable, where_of
from swelltree.waves.airy import Components
from swelltree.waves.sea import RealisedSea

if TYPE_CHECKING:
    pass


SAME = 1e-6  # of the largest value: by so much may waves of one sea differ, read from a file too


@dataclass(frozen=True)
class ExpectedSea:
    """Plane waves that a law or a force knows by heart.

    Args:
        who: what was made for them, in words.
        rows: frequency, real and imaginary part of the amplitude, and direction of every wave.
    """

    who: str
    rows: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, who: str, waves: Components) -> ExpectedSea:
        """The waves of a realised sea; their ramp may differ."""
        return cls(who, tuple(tuple(map(float, row)) for row in _rows(waves)))

    def check(self, waves: RealisedSea) -> None:
        """Warn where a run has another sea."""
        if not self.is_same(waves):
            warn_user(
                f"{self.who} was made for another sea than that of this run, and its forces do "
                "not fit these waves. Make a new one for this sea, or use with_mpc, which takes "
                "the sea of the run."
            )

    def is_same(self, waves: RealisedSea) -> bool:
        """Are these the waves that it was made for?"""
        if not isinstance(waves, Components) or not waves.is_known:
            return False
        own, its = np.array(self.rows), _rows(waves)
        if own.shape != its.shape:
            return False
        scale = np.abs(own).max(axis=1, keepdims=True, initial=1e-12)
        return bool((np.abs(own - its) <= SAME * scale).all())


def _rows(waves: Components) -> np.ndarray:
    a = np.asarray(waves.complex_amplitude, complex)
    return np.stack([np.asarray(waves.omega), np.real(a), np.imag(a), np.asarray(waves.beta)])


PLAIN = f"{TRACED}, or give the controller plain=True."


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

# found to have a memory: they may answer alike ever after, as one that waits for a later time
WITH_MEMORY: dict[Callable[..., object], str] = {}


class LawQuery:
    """Questions to a plain law and its answers, spread over a run, to be asked again after it."""

    MANY = 32
    without_content = True  # for fingerprints (`engine.contents`)

    def __init__(self) -> None:
        self.faults: list[str] = []  # what went wrong in a call from a program
        self.forget()

    def forget(self) -> None:
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
                WITH_MEMORY[innermost(law)] = (
                    f"{where_of(law)} gave {before.tolist()} at t = {t:.6g} s with y = "
                    f"{np.round(y, 6).tolist()}, and {again.tolist()} when asked the same again. "
                    f"{MEMORY}."
                )
                break
        if memory := WITH_MEMORY.get(innermost(law)):
            raise SwelltreeError(f"controller '{name}': {memory}")


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
