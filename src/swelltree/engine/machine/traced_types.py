"""What is used here of the programs that JAX traces, whatever its version calls their classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Shaped(Protocol):
    """Shape and type of an array that is not known yet."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of its axes."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of its numbers."""
        ...


@runtime_checkable
class Variable(Protocol):
    """A name in a program, or a number in its place (then it has a `val`)."""

    @property
    def aval(self) -> Shaped:
        """What it stands for."""
        ...


@runtime_checkable
class Operation(Protocol):
    """What an equation does."""

    @property
    def name(self) -> str:
        """By which its rule is found."""
        ...


@runtime_checkable
class Equation(Protocol):
    """One step of a program."""

    @property
    def primitive(self) -> Operation:
        """What it does."""
        ...

    @property
    def params(self) -> dict[str, Any]:
        """How: numbers, shapes and programs, by the words of the operation."""
        ...

    @property
    def invars(self) -> Sequence[Variable]:
        """Of what."""
        ...

    @property
    def outvars(self) -> Sequence[Variable]:
        """Its results."""
        ...

    @property
    def effects(self) -> Any:
        """What it does besides; empty for functions."""
        ...


@runtime_checkable
class TracedProgram(Protocol):
    """Equations from arguments to results."""

    @property
    def eqns(self) -> Sequence[Equation]:
        """In an order in which they can be carried out."""
        ...

    @property
    def invars(self) -> Sequence[Variable]:
        """Arguments."""
        ...

    @property
    def outvars(self) -> Sequence[Variable]:
        """Results."""
        ...

    @property
    def constvars(self) -> Sequence[Variable]:
        """Arguments that are given with the program."""
        ...


@runtime_checkable
class ClosedProgram(Protocol):
    """A program with the constants that it needs."""

    @property
    def jaxpr(self) -> TracedProgram:
        """The program."""
        ...

    @property
    def consts(self) -> Sequence[Any]:
        """Arrays."""
        ...
