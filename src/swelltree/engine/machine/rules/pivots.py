"""Lower and upper factors of small matrices, rows exchanged as LAPACK does."""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.engine.machine.flatten import Flattening, rule
from swelltree.engine.machine.graph import SHORT, Graph, NotFlattenedError
from swelltree.engine.machine.values import Value, places

LARGEST_MATRIX = 14  # rows written out: each may be exchanged with each


@rule("lu")
def _factors(flat: Flattening, eqn: Any, x: Value) -> list[np.ndarray]:
    """Both factors in one matrix, the exchanges one by one, and the order of rows they make."""
    graph, x = flat.graph, places(flat.graph, x)
    m, n = x.shape[-2:]
    if m != n or n > LARGEST_MATRIX:
        raise NotFlattenedError(f"lower and upper factors of a matrix of {m} x {n}")
    found = [_factored(graph, A, n) for A in x.reshape(-1, n, n).tolist()]
    shapes = (x.shape, x.shape[:-1], x.shape[:-1])
    return [
        np.array([one[k] for one in found], dtype=int).reshape(shape)
        for k, shape in enumerate(shapes)
    ]


def _factored(graph: Graph, A: list[list[int]], n: int) -> tuple[Any, list[int], list[int]]:
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
    """Two rows, exchanged where a condition holds."""
    op = graph.op
    first = [op("where", hit, y, x) for x, y in zip(a, b, strict=True)]
    return first, [op("where", hit, x, y) for x, y in zip(a, b, strict=True)]
