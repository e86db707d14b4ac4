"""Rules of reductions, cumulative operations and products of matrices."""

from __future__ import annotations

import numpy as np

from swelltree.jit.blocks import combined, dense_product, times_columns
from swelltree.jit.graph import Graph, UnsupportedOperationError, kind_of
from swelltree.jit.lowering import Lowering, rule
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
    graph = flat.graph
    name, empty = REDUCED[eqn.primitive.name]
    axes = [int(d) for d in eqn.params["axes"]]
    if isinstance(x, Product) and name == "add" and axes == [x.axis]:
        return combined(graph, x)
    x = value_ids(graph, x)
    stored = [d for d in range(x.ndim) if d not in axes]
    shape = tuple(x.shape[d] for d in stored)
    if not x.size:
        dtype = np.dtype(eqn.outvars[0].aval.dtype)
        if empty is None:
            empty = extreme(dtype, lowest=name == "max")
        return np.full(shape, graph.constant(empty, kind_of(dtype)))
    rows = x.transpose([*stored, *axes]).reshape(int(np.prod(shape, dtype=int)), -1).tolist()
    return np.array([joined(graph, name, row) for row in rows], dtype=int).reshape(shape)


def extreme(dtype: DType, lowest: bool) -> float:
    """Neutral element of a maximum or minimum."""
    if dtype.kind == "b":
        return not lowest
    if dtype.kind == "f":
        return -np.inf if lowest else np.inf
    return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max


@rule(*RUNNING)
def _running(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    graph, name = flat.graph, RUNNING[eqn.primitive.name]
    axis, back = int(eqn.params["axis"]), bool(eqn.params["reverse"])
    rows = list(np.moveaxis(value_ids(graph, x), axis, 0))
    rows = rows[::-1] if back else rows
    out = [np.asarray(row) for row in rows[:1]]
    for row in rows[1:]:
        out.append(each(graph, name, out[-1], np.asarray(row)))
    return np.moveaxis(
        np.array(out[::-1] if back else out, dtype=int).reshape(
            len(rows), *np.moveaxis(np.empty(x.shape, dtype=bool), axis, 0).shape[1:]
        ),
        0,
        axis,
    )


@rule("dot_general")
def _dot(flat: Lowering, eqn: Equation, x: Value, y: Value) -> np.ndarray:
    graph = flat.graph
    (cx, cy), (bx, by) = eqn.params["dimension_numbers"]
    if len(cx) == 1 and not bx:
        complete = times_columns(graph, x, y, cx[0], cy[0])
        if complete is not None:
            return complete
    x, y = value_ids(graph, x), value_ids(graph, y)
    fx = [d for d in range(x.ndim) if d not in (*cx, *bx)]
    fy = [d for d in range(y.ndim) if d not in (*cy, *by)]
    batch = [x.shape[d] for d in bx]
    shape = (*batch, *(x.shape[d] for d in fx), *(y.shape[d] for d in fy))
    kind = kind_of(eqn.outvars[0].aval.dtype)
    if kind not in ("f8", "i4", "i8", "u4") or kind != kind_of(eqn.invars[0].aval.dtype):
        raise UnsupportedOperationError(f"products of matrices of {eqn.outvars[0].aval.dtype}")
    if not x.size or not y.size:
        return np.full(shape, graph.constant(0, kind))
    if kind == "f8" and not bx and x.ndim == y.ndim == 2 and len(cx) == 1:
        complete = dense_product(graph, np.moveaxis(x, cx[0], 1), np.moveaxis(y, cy[0], 0))
        if complete is not None:
            return complete
    inner = int(np.prod([x.shape[d] for d in cx], dtype=int))
    count = int(np.prod(batch, dtype=int))
    left = x.transpose([*bx, *fx, *cx]).reshape(count, -1, inner)
    right = y.transpose([*by, *fy, *cy]).reshape(count, -1, inner)
    zero = graph.constant(0, kind)
    out = [
        _dotted(graph, p, q, zero)
        for P, Q in zip(left.tolist(), right.tolist(), strict=True)
        for p in P
        for q in Q
    ]
    return np.array(out, dtype=int).reshape(shape)


def _dotted(graph: Graph, p: list[int], q: list[int], zero: int) -> int:
    total = zero
    for a, b in zip(p, q, strict=True):
        if a != zero and b != zero:
            total = graph.op("add", total, graph.op("mul", a, b))
    return total
