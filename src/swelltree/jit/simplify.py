"""Algebraic simplification with known zeros, ones and equal operands."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swelltree.jit.graph import Graph


def simplified(graph: Graph, name: str, kind: str, args: tuple[int, ...]) -> int | None:
    """A simpler expression, or None."""
    rule = RULES.get(name)
    return None if rule is None else rule(graph, kind, *args)


def _is(graph: Graph, a: int, value: float) -> bool:
    op = graph.ops[a]
    return op[0] == "is" and op[1] == value


def _add(graph: Graph, kind: str, a: int, b: int) -> int | None:
    if _is(graph, a, 0):
        return b
    if _is(graph, b, 0):
        return a
    if graph.ops[b][0] == "neg":
        return graph.op("sub", a, graph.ops[b][1])
    if graph.ops[a][0] == "neg":
        return graph.op("sub", b, graph.ops[a][1])
    return None if a <= b else graph.op("add", b, a)


def _sub(graph: Graph, kind: str, a: int, b: int) -> int | None:
    if _is(graph, b, 0):
        return a
    if a == b:
        return graph.constant(0, kind)
    if _is(graph, a, 0):
        return graph.op("neg", b)
    return graph.op("add", a, graph.ops[b][1]) if graph.ops[b][0] == "neg" else None


def _neg(graph: Graph, kind: str, a: int) -> int | None:
    op = graph.ops[a]
    if op[0] == "neg":
        return op[1]
    return graph.op("sub", op[2], op[1]) if op[0] == "sub" else None


def _mul(graph: Graph, kind: str, a: int, b: int) -> int | None:
    for x, y in ((a, b), (b, a)):
        op = graph.ops[x]
        if op[0] == "is":
            if op[1] == 0:
                return graph.constant(0, kind)
            if op[1] == 1:
                return y
            if op[1] == -1:
                return graph.op("neg", y)
        elif op[0] == "neg":
            return graph.op("neg", graph.op("mul", op[1], y))
    return None if a <= b else graph.op("mul", b, a)


def _div(graph: Graph, kind: str, a: int, b: int) -> int | None:
    if _is(graph, b, 1):
        return a
    if kind != "f8":
        return None
    if _is(graph, a, 0):
        return graph.zero
    value = graph.value(b)
    if value and math.isfinite(value) and abs(math.frexp(value)[0]) == 0.5:
        inverse = 1.0 / value  # a power of two: exact, unless it is out of range
        return graph.op("mul", a, graph.constant(inverse)) if abs(inverse) > 1e-300 else None
    return None


def _pow(graph: Graph, kind: str, a: int, b: int) -> int | None:
    value = graph.value(b)
    if value == 0.0:
        return graph.one
    if value == 1.0:
        return a
    return graph.op("mul", a, a) if value == 2.0 else None


def _where(graph: Graph, kind: str, c: int, a: int, b: int) -> int | None:
    if a == b:
        return a
    value = graph.value(c)
    if value is not None:
        return a if value else b
    if kind == "b1":
        if _is(graph, a, True) and _is(graph, b, False):
            return c
        if _is(graph, a, False) and _is(graph, b, True):
            return graph.op("not", c)
    return None


def _same(graph: Graph, kind: str, a: int, b: int) -> int | None:
    return a if a == b else None


def _and(graph: Graph, kind: str, a: int, b: int) -> int | None:
    if kind != "b1":
        return None
    for x, y in ((a, b), (b, a)):
        value = graph.value(x)
        if value is not None:
            return y if value else graph.false
    return a if a == b else None


def _or(graph: Graph, kind: str, a: int, b: int) -> int | None:
    if kind != "b1":
        return None
    for x, y in ((a, b), (b, a)):
        value = graph.value(x)
        if value is not None:
            return graph.true if value else y
    return a if a == b else None


def _not(graph: Graph, kind: str, a: int) -> int | None:
    return graph.ops[a][1] if kind == "b1" and graph.ops[a][0] == "not" else None


def _convert(graph: Graph, kind: str, a: int) -> int | None:
    return a if graph.kinds[a] == kind else None


RULES: dict[str, Callable[..., int | None]] = {
    "add": _add,
    "sub": _sub,
    "neg": _neg,
    "mul": _mul,
    "div": _div,
    "pow": _pow,
    "where": _where,
    "max": _same,
    "min": _same,
    "and": _and,
    "or": _or,
    "not": _not,
    "convert": _convert,
}
