"""Rules of LU with partial pivoting as in LAPACK: unrolled if small, else in loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from swelltree.jit.arrays import Array, Tree
from swelltree.jit.backend import jax, jnp, traced
from swelltree.jit.graph import FLOAT, LONG, SHORT, Graph, UnsupportedOperationError
from swelltree.jit.lowering import Lowering, rule
from swelltree.jit.rules.padded import (
    PaddedMatrix,
    counted_from,
    in_slot,
    looked_up,
    scalar_loop,
    slot,
    vector_loop,
)
from swelltree.jit.statements import Stores
from swelltree.jit.traced_types import Equation, Variable
from swelltree.jit.values import Stored, Value, View, stored, value_ids

WRITTEN_OUT = 14  # rows, each of which may be exchanged with each
LARGEST_MATRIX = 128  # rows: LAPACK is quicker from there on


@rule("lu")
def _factors(flat: Lowering, eqn: Equation, x: Value) -> list[Value]:
    """Both factors in one matrix, the pivots, and the permutation."""
    m, n = x.shape[-2:]
    if m != n or n > LARGEST_MATRIX:
        raise UnsupportedOperationError(f"lower and upper factors of a matrix of {m} x {n}")
    graph = flat.graph
    if n > WRITTEN_OUT and len(x.shape) == 2:
        return list(_factored_in_loops(graph, x))
    x = value_ids(graph, x)
    if n > WRITTEN_OUT:
        parts = [_factored_in_loops(graph, A) for A in x.reshape(-1, n, n)]
        rows = [
            np.stack([value_ids(graph, one) for one in part]) for part in zip(*parts, strict=True)
        ]
        return [row.reshape(*x.shape[:-2], *row.shape[1:]) for row in rows]
    found = [_factored(graph, A, n) for A in x.reshape(-1, n, n).tolist()]
    shapes = (x.shape, x.shape[:-1], x.shape[:-1])
    return [
        np.array([one[k] for one in found], dtype=int).reshape(shape)
        for k, shape in enumerate(shapes)
    ]


def _factored(
    graph: Graph, A: list[list[int]], n: int
) -> tuple[list[list[int]], list[int], list[int]]:
    op = graph.op
    rows, pivots = [list(row) for row in A], []
    order = [graph.constant(i, SHORT) for i in range(n)]
    for k in range(n):
        # the first of the largest below the diagonal
        best, pivot = op("abs", rows[k][k]), graph.constant(k, SHORT)
        for i in range(k + 1, n):
            size = op("abs", rows[i][k])
            larger = op("gt", size, best)
            best = op("where", larger, size, best)
            pivot = op("where", larger, graph.constant(i, SHORT), pivot)
        pivots.append(pivot)
        for i in range(k + 1, n):
            hit = op("eq", pivot, graph.constant(i, SHORT))
            rows[k], rows[i] = _exchanged(graph, hit, rows[k], rows[i])
            (order[k],), (order[i],) = _exchanged(graph, hit, [order[k]], [order[i]])
        none = op("eq", rows[k][k], graph.zero)  # a singular matrix stays as it is there
        for i in range(k + 1, n):
            share = op("where", none, rows[i][k], op("div", rows[i][k], rows[k][k]))
            rows[i][k] = share
            for j in range(k + 1, n):
                rows[i][j] = op("sub", rows[i][j], op("mul", share, rows[k][j]))
    return rows, pivots, order


def _exchanged(graph: Graph, hit: int, a: list[int], b: list[int]) -> tuple[list[int], list[int]]:
    op = graph.op
    first = [op("where", hit, y, x) for x, y in zip(a, b, strict=True)]
    return first, [op("where", hit, x, y) for x, y in zip(a, b, strict=True)]


@rule("lu_pivots_to_permutation")
def _order(flat: Lowering, eqn: Equation, pivots: Value) -> list[Value]:
    size = int(eqn.params["permutation_size"])
    return _by_loops(flat, lambda x: [order_of(x, size)], eqn.invars, pivots)


def _by_loops(
    flat: Lowering, function: Callable[..., Tree], of: Sequence[Variable], *values: Value
) -> list[Value]:
    shapes = [jax.ShapeDtypeStruct(var.aval.shape, var.aval.dtype) for var in of]
    return flat.closed(traced(function, *shapes), list(values))


def order_of(pivots: Array, size: int) -> Array:
    """The permutation (..., size) of a sequence of exchanges (..., k)."""
    if pivots.ndim > 1:
        return jnp.stack([order_of(row, size) for row in pivots])

    def exchanged(k: Array, order: Array) -> Array:
        own, other = order[k], order[pivots[k]]
        place = np.arange(size)
        order = jnp.where(place == pivots[k], own, order)
        return jnp.where(place == k, other, order)

    return jax.lax.fori_loop(0, len(pivots), exchanged, jnp.arange(size, dtype=pivots.dtype))


def _factored_in_loops(graph: Graph, A: Value) -> tuple[View, Stored, Stored]:
    """Factors of one matrix, pivots and permutation, column by column in place."""
    n, op = A.shape[-1], graph.op
    padded, pivots, order = PaddedMatrix(graph, n, n), graph.room(n, SHORT), graph.room(n, SHORT)
    padded.fill(A)
    graph.state(Stores([(order, i, graph.constant(i, SHORT), None) for i in range(n)]))
    with scalar_loop(graph, n) as k:
        pivot = _largest_below(graph, padded, k)
        here, there = looked_up(graph, order, k), looked_up(graph, order, pivot)
        new = (pivots, 0, graph.typed("convert", SHORT, pivot), k)
        graph.state(Stores([new, (order, 0, there, k), (order, 0, here, pivot)]))
        with vector_loop(graph, n) as j:
            here, there = padded.at(k, j), padded.at(pivot, j)
            graph.state(Stores([padded.into(k, j, there), padded.into(pivot, j, here)]))
        first = padded.at(k, k)
        none = op("eq", first, graph.zero)  # a singular matrix stays as it is there
        with counted_from(graph, op("add", k, graph.constant(1, LONG)), n) as i:
            own = padded.at(i, k)
            share = op("where", none, own, op("div", own, first))
            with vector_loop(graph, n) as j:
                old = padded.at(i, j)
                less = op("sub", old, op("mul", share, padded.at(k, j)))
                new = op("where", op("eq", j, k), share, old)
                new = op("where", op("gt", j, k), less, new)
                graph.state(Stores([padded.into(i, j, new)]))
    here = graph.here
    return padded.view(), stored(pivots, 0, (n,), here), stored(order, 0, (n,), here)


def _largest_below(graph: Graph, padded: PaddedMatrix, k: int) -> int:
    """Row of the first largest element of a column from its diagonal on."""
    size, where = slot(graph, FLOAT, graph.constant(-1.0)), slot(graph, LONG, k)
    with counted_from(graph, k, padded.shape[0]) as i:
        own, most = graph.op("abs", padded.at(i, k)), in_slot(graph, size)
        larger = graph.op("gt", own, most)
        own = graph.op("where", larger, own, most)
        at = graph.op("where", larger, i, in_slot(graph, where))
        graph.state(Stores([(size, 0, own, None), (where, 0, at, None)]))
    return in_slot(graph, where)
