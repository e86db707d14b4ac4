"""What is used here of the programs that JAX traces, whatever its version calls their classes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np

from swelltree.jit.arrays import Array, Tree

DType = np.dtype[Any]  # of numbers of any kind


@runtime_checkable
class Shaped(Protocol):
    """Shape and type of an array that is not known yet."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of its axes."""
        ...

    @property
    def dtype(self) -> DType:
        """Of its numbers."""
        ...


@runtime_checkable
class Variable(Protocol):
    """A name in a program, or a number in its place (then it has a `val`)."""

    @property
    def aval(self) -> Shaped:
        """What it stands for."""
        ...


class Known(Variable, Protocol):
    """A number in the place of a name."""

    @property
    def val(self) -> Array:
        """The number."""
        ...


def is_known(var: Variable) -> TypeGuard[Known]:
    """Is it a number in the place of a name?"""
    return hasattr(var, "val")


@runtime_checkable
class Operation(Protocol):
    """What an equation does."""

    @property
    def name(self) -> str:
        """By which its rule is found."""
        ...

    @property
    def multiple_results(self) -> bool:
        """Does it give a list of arrays?"""
        ...

    def bind(self, *args: Tree, **params: Tree) -> Tree:
        """Carry it out, or trace it."""
        ...

    def get_bind_params(self, params: dict[str, Tree]) -> Tree:
        """Programs and parameters for `bind`, from those of an equation."""
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
    def effects(self) -> Collection[object]:
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
    def consts(self) -> Sequence[Array]:
        """Arrays."""
        ...
