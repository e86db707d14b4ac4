"""What is used of JAX's traced programs, for annotations: JAX types its classes in part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np

DType = np.dtype[Any]


@runtime_checkable
class Shaped(Protocol):
    """Anything with a shape and a type: an array, or the abstract value of one."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> DType: ...


class Variable(Protocol):
    """A variable of a program, or a literal in its place."""

    aval: Shaped


class Known(Variable, Protocol):
    val: Any


def is_known(var: Variable) -> TypeGuard[Known]:
    return hasattr(var, "val")


class Equation(Protocol):
    """An equation of a program (`JaxprEqn`)."""

    primitive: Any
    params: dict[str, Any]
    invars: Sequence[Variable]
    outvars: Sequence[Variable]
    effects: Any


class TracedProgram(Protocol):
    """A program (`Jaxpr`)."""

    eqns: Sequence[Equation]
    invars: Sequence[Variable]
    outvars: Sequence[Variable]
    constvars: Sequence[Variable]


class ClosedProgram(Protocol):
    """A program with its constants (`ClosedJaxpr`)."""

    jaxpr: TracedProgram
    consts: Sequence[Any]
