"""Rules of reductions, cumulative operations and products of matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swelltree.jit.blocks import combined, dense_product, times_columns
from swelltree.jit.graph import Graph, UnsupportedOperationError, kind_of
from swelltree.jit.lowering import Lowering, number_rule, rule
from swelltree.jit.rules.elementwise import each
from swelltree.jit.traced_types import DType, Equation
from swelltree.jit.values import Product, Value, value_ids

REDUCED = {
    "reduce_sum": ("add", 0),
    "reduce_prod": ("mul", 1),
    "reduce_max": ("max", None),
    "reduce_min": ("min", None),
    "reduce_and": ("and", -1),  # all bits, of truths true
    "reduce_or": ("or", 0),
    "reduce_xor": ("xor", 0),
}
RUNNING = {"cumsum": "add", "cumprod": "mul", "cummax": "max", "cummin": "min"}


def joined(graph: Graph, name: str, row: list[int]) -> int:
    total = row[0]
    for a in row[1:]:
        total = graph.op(name, total, a)
    return total


@rule(*REDUCED)
def _reduced(flat: Lowering, eqn: Equation, x: Value) -> Value:
    axes = [int(d) for d in eqn.params["axes"]]
    if isinstance(x, Product) and eqn.primitive.name == "reduce_sum" and axes == [x.axis]:
        return combined(flat.graph, x)
    return reduced(flat.graph, eqn, value_ids(flat.graph, x), axes)


def reduced(graph: Graph, eqn: Equation, x: np.ndarray, axes: list[int]) -> np.ndarray:
    """An array of expressions, reduced along some axes."""
    left = [d for d in range(x.ndim) if d not in axes]
    shape = tuple(x.shape[d] for d in left)
    if not x.size:
        return np.full(shape, graph.constant(neutral(eqn), kind_of(eqn.outvars[0].aval.dtype)))
    rows = x.transpose([*left, *axes]).reshape(int(np.prod(shape, dtype=int)), -1).tolist()
    name, _ = REDUCED[eqn.primitive.name]
    return np.array([joined(graph, name, row) for row in rows], dtype=int).reshape(shape)


def neutral(eqn: Equation) -> float:
    """What a reduction begins with."""
    name, empty = REDUCED[eqn.primitive.name]
    if empty is None:
        return extreme(np.dtype(eqn.outvars[0].aval.dtype), lowest=name == "max")
    return empty


def extreme(dtype: DType, lowest: bool) -> float:
    """Neutral element of a maximum or minimum."""
    if dtype.kind == "b":
        return not lowest
    if dtype.kind == "f":
        return -np.inf if lowest else np.inf
    return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max


@number_rule(*RUNNING)
def _running(graph: Graph, eqn: Equation, x: np.ndarray) -> np.ndarray:
    name, axis = RUNNING[eqn.primitive.name], int(eqn.params["axis"])
    moved, step = np.moveaxis(x, axis, 0), -1 if eqn.params["reverse"] else 1
    rows = [np.asarray(row) for row in moved[::step]]
    for k in range(1, len(rows)):
        rows[k] = each(graph, name, rows[k - 1], rows[k])
    return np.moveaxis(np.array(rows[::step], dtype=int).reshape(moved.shape), 0, axis)


@rule("dot_general")
def _dot(flat: Lowering, eqn: Equation, x: Value, y: Value) -> np.ndarray:
    graph = flat.graph
    (cx, cy), (bx, _) = eqn.params["dimension_numbers"]
    if len(cx) == 1 and not bx:
        complete = times_columns(graph, x, y, cx[0], cy[0])
        if complete is not None:
            return complete
    x, y = value_ids(graph, x), value_ids(graph, y)
    shape = tuple(eqn.outvars[0].aval.shape)
    kind = kind_of(eqn.outvars[0].aval.dtype)
    if kind not in ("f8", "i4", "i8", "u4") or kind != kind_of(eqn.invars[0].aval.dtype):
        raise UnsupportedOperationError(f"products of matrices of {eqn.outvars[0].aval.dtype}")
    if not x.size or not y.size:
        return np.full(shape, graph.constant(0, kind))
    if kind == "f8" and not bx and x.ndim == y.ndim == 2 and len(cx) == 1:
        complete = dense_product(graph, np.moveaxis(x, cx[0], 1), np.moveaxis(y, cy[0], 0))
        if complete is not None:
            return complete
    zero = graph.constant(0, kind)
    out = [_dotted(graph, p, q, zero) for p, q in row_pairs(eqn, x, y)]
    return np.array(out, dtype=int).reshape(shape)


def row_pairs(eqn: Equation, x: np.ndarray, y: np.ndarray) -> Iterator[tuple[list[int], list[int]]]:
    """Rows whose products are summed, for each result."""
    (cx, cy), (bx, by) = eqn.params["dimension_numbers"]
    fx = [d for d in range(x.ndim) if d not in (*cx, *bx)]
    fy = [d for d in range(y.ndim) if d not in (*cy, *by)]
    inner = int(np.prod([x.shape[d] for d in cx], dtype=int))
    count = int(np.prod([x.shape[d] for d in bx], dtype=int))
    left = x.transpose([*bx, *fx, *cx]).reshape(count, -1, inner).tolist()
    right = y.transpose([*by, *fy, *cy]).reshape(count, -1, inner).tolist()
    return ((p, q) for P, Q in zip(left, right, strict=True) for p in P for q in Q)


def _dotted(graph: Graph, p: list[int], q: list[int], zero: int) -> int:
    total = zero
    for a, b in zip(p, q, strict=True):
        if a != zero and b != zero:
            total = graph.op("add", total, graph.op("mul", a, b))
    return total
