"""Lowers a jaxpr to the graph, equation by equation, by rules of primitives.

Derivatives are taken before, by JAX (`Program`) or during lowering (`derivatives`).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from swelltree.jit.arrays import Tree
from swelltree.jit.graph import Graph, UnsupportedOperationError, kind_of
from swelltree.jit.rows.loops import Axes, RowLoops, first_axes
from swelltree.jit.traced_types import (
    ClosedProgram,
    Equation,
    TracedProgram,
    Variable,
    is_known,
)
from swelltree.jit.values import MAX_ARRAY_SIZE, Value, constants, value_ids

NONE: Axes = MappingProxyType({})
RULES: dict[str, Callable[..., Tree]] = {}
ROW_RULES: dict[str, Callable[..., Tree]] = {}  # the same for arrays of rows: see `rules.rows`
CALLS = ("jaxpr", "call_jaxpr", "fun_jaxpr")
BODIES = (*CALLS, "cond_jaxpr", "body_jaxpr")
FREE = {"broadcast_in_dim", "reshape", "slice", "squeeze", "transpose"}  # no number is computed
FREE |= {"concatenate", "split", "copy", "stop_gradient", "iota"}
INLINED = {"jit", "pjit", "closed_call", "core_call", "eval_jaxpr", "custom_jvp_call"}
INLINED |= {"custom_vjp_call", "custom_vjp_call_jaxpr", "remat", "remat2", "checkpoint"}
UNEXPECTED = (LookupError, AttributeError, TypeError, ValueError, ArithmeticError, RecursionError)
FILES = ("elementwise", "shapes", "indices", "sums", "loops", "each", "algebra", "pivots")
FILES += ("rows",)


def rule(*names: str) -> Callable[[Callable[..., Tree]], Callable[..., Tree]]:
    """Register a function as the rule of primitives: rule(lowering, eqn, *values)."""

    def put(function: Callable[..., Tree]) -> Callable[..., Tree]:
        for name in names:
            RULES[name] = function
        return function

    return put


def number_rule(*names: str) -> Callable[[Callable[..., Tree]], Callable[..., Tree]]:
    """The same for rules of arrays of expressions: rule(graph, eqn, *arrays)."""

    def put(function: Callable[..., Tree]) -> Callable[..., Tree]:
        def of_values(flat: Lowering, eqn: Equation, *values: Value) -> Tree:
            return function(flat.graph, eqn, *(value_ids(flat.graph, x) for x in values))

        rule(*names)(of_values)
        return function

    return put


@lru_cache(maxsize=1)
def _read_rules() -> None:
    for name in FILES:
        importlib.import_module(f"swelltree.jit.rules.{name}")


class Lowering:
    """Lowers jaxprs into one graph.

    Args:
        graph: where expressions go.
        table: makes memory of a large constant; None: such a constant is refused.
        named: lengths of the first axes of arrays that are computed in loops (`rows`).
    """

    def __init__(
        self,
        graph: Graph,
        table: Callable[[np.ndarray], Value] | None = None,
        named: Axes = NONE,
    ) -> None:
        _read_rules()
        self.graph, self.table = graph, table
        self.rows = RowLoops(graph, named, table)

    def known(self, value: object) -> Value:
        value = np.asarray(value)
        if value.size > MAX_ARRAY_SIZE // 8 and self.table is not None:
            kind_of(value.dtype)
            return self.table(value)
        return constants(self.graph, value)

    def run(
        self, jaxpr: TracedProgram, consts: Sequence[object], inputs: list[Value]
    ) -> list[Value]:
        env: dict[Variable, Value] = dict(zip(jaxpr.invars, inputs, strict=True))
        for var, value in zip(jaxpr.constvars, consts, strict=True):
            env[var] = self.known(value)

        def read(var: Variable) -> Value:
            return self.known(var.val) if is_known(var) else env[var]

        for eqn in needed(jaxpr):
            outs = self.one(eqn, [read(var) for var in eqn.invars])
            env.update(zip(eqn.outvars, outs, strict=True))
        return [read(var) for var in jaxpr.outvars]

    def closed(self, closed: ClosedProgram, inputs: list[Value]) -> list[Value]:
        return self.run(closed.jaxpr, closed.consts, inputs)

    def one(self, eqn: Equation, values: list[Value]) -> list[Value]:
        name = eqn.primitive.name
        if name in INLINED:
            return self._inner(eqn, values)
        if name not in RULES:
            raise UnsupportedOperationError(f"the operation '{name}'")
        for var in (*eqn.invars, *eqn.outvars):
            kind_of(var.aval.dtype)
        try:
            by_rows = ROW_RULES.get(name) if self.rows.named else None
            outs = None if by_rows is None else by_rows(self, self.rows, eqn, *values)
            if outs is None:
                outs = RULES[name](self, eqn, *values)
        except UNEXPECTED as error:  # another version of JAX describes it by other words
            what = f"{type(error).__name__}: {error}"
            raise UnsupportedOperationError(
                f"the operation '{name}' as it is here ({what})"
            ) from error
        return outs if isinstance(outs, list) else [outs]

    def _inner(self, eqn: Equation, values: list[Value]) -> list[Value]:
        for word in CALLS:
            inner = eqn.params.get(word)
            if inner is not None:
                if hasattr(inner, "consts"):
                    return self.closed(inner, values)
                return self.run(inner, (), values)
        raise UnsupportedOperationError(f"the call '{eqn.primitive.name}'")


def count_numbers(jaxpr: TracedProgram, named: Axes = NONE) -> int:
    """Scalars that a program computes, with loop bodies counted once.

    Operations without a rule are rejected here. Branches are skipped: which one is taken may be
    known at lowering.
    """
    _read_rules()
    count = 0
    for eqn in needed(jaxpr):
        name = eqn.primitive.name
        for var in (*eqn.invars, *eqn.outvars):
            kind_of(var.aval.dtype)
        if name not in RULES and name not in INLINED:
            raise UnsupportedOperationError(f"the operation '{name}'")
        inner = [eqn.params[word] for word in BODIES if eqn.params.get(word) is not None]
        if inner:
            count += sum(count_numbers(getattr(body, "jaxpr", body), named) for body in inner)
        elif name not in FREE:
            # of what is replaced in an array only that is computed
            replaced = name == "dynamic_update_slice"
            for var in eqn.invars[1:2] if replaced else eqn.outvars:
                first = first_axes(tuple(var.aval.shape), named) or 0
                count += int(np.prod(var.aval.shape[first:], dtype=int))
    return count


def needed(jaxpr: TracedProgram) -> list[Equation]:
    requested = {var for var in jaxpr.outvars if not hasattr(var, "val")}
    stored = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects:
            raise UnsupportedOperationError(
                f"the operation '{eqn.primitive.name}', which has side effects"
            )
        if not requested.isdisjoint(eqn.outvars):
            stored.append(eqn)
            requested.update(var for var in eqn.invars if not hasattr(var, "val"))
    return stored[::-1]
