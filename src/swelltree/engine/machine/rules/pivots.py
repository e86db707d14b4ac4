"""Lower and upper factors, rows exchanged as by LAPACK: small ones written out, others in loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jax, jnp, traced
from swelltree.engine.loops import each
from swelltree.engine.machine.flatten import Flattening, rule
from swelltree.engine.machine.graph import SHORT, Graph, NotFlattenedError
from swelltree.engine.machine.traced_types import Equation, Variable
from swelltree.engine.machine.values import Value, places

WRITTEN_OUT = 14  # rows, each of which may be exchanged with each
LARGEST_MATRIX = 48  # rows: LAPACK is much quicker from there on


@rule("lu")
def _factors(flat: Flattening, eqn: Equation, x: Value) -> list[Value]:
    """Both factors in one matrix, the exchanges one by one, and the order of rows they make."""
    m, n = x.shape[-2:]
    if m != n or n > LARGEST_MATRIX:
        raise NotFlattenedError(f"lower and upper factors of a matrix of {m} x {n}")
    if n > WRITTEN_OUT:
        return _by_loops(flat, factors_by_loops, eqn.invars, x)
    graph, x = flat.graph, places(flat.graph, x)
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
    """Two rows, exchanged where a condition holds."""
    op = graph.op
    first = [op("where", hit, y, x) for x, y in zip(a, b, strict=True)]
    return first, [op("where", hit, x, y) for x, y in zip(a, b, strict=True)]


@rule("lu_pivots_to_permutation")
def _order(flat: Flattening, eqn: Equation, pivots: Value) -> list[Value]:
    """The order of rows that exchanges make."""
    size = int(eqn.params["permutation_size"])
    return _by_loops(flat, lambda x: [order_of(x, size)], eqn.invars, pivots)


def _by_loops(
    flat: Flattening, function: Callable[..., Tree], of: Sequence[Variable], *values: Value
) -> list[Value]:
    """What a function of JAX makes of values."""
    shapes = [jax.ShapeDtypeStruct(var.aval.shape, var.aval.dtype) for var in of]
    return flat.closed(traced(function, *shapes), list(values))


def order_of(pivots: Array, size: int) -> Array:
    """The order of rows (..., size) that exchanges (..., k) make, one after the other."""
    if pivots.ndim > 1:
        return jnp.stack([order_of(row, size) for row in pivots])

    def exchanged(k: Array, order: Array) -> Array:
        own, other = order[k], order[pivots[k]]
        place = np.arange(size)
        order = jnp.where(place == pivots[k], own, order)
        return jnp.where(place == k, other, order)

    return jax.lax.fori_loop(0, len(pivots), exchanged, jnp.arange(size, dtype=pivots.dtype))


def factors_by_loops(A: Array) -> list[Array]:
    """Both factors in one matrix, exchanges and the order of rows, column by column.

    Args:
        A: matrices (..., n, n).
    """
    if A.ndim > 2:
        found = [factors_by_loops(one) for one in A]
        return [jnp.stack(parts) for parts in zip(*found, strict=True)]
    n = len(A)
    rows, columns = (np.ravel(x) for x in np.indices((n, n)))
    place = np.arange(n)

    def column(k: Array, state: Tree) -> Tree:
        a, pivots = state

        def at(i: Array, j: Array) -> Array:
            return a.at[i * n + j].get(mode="promise_in_bounds")

        sizes = each(lambda i: jnp.where(i >= k, jnp.abs(at(i, k)), -1.0), place)
        best = jnp.argmax(sizes)
        pivot = at(best, k)

        def before(i: Array) -> Array:
            """Row that stood in a row before the exchange."""
            return jnp.where(i == k, best, jnp.where(i == best, k, i))

        def share(i: Array) -> Array:
            own = at(before(i), k)
            return jnp.where(pivot == 0.0, own, own / pivot)  # a singular one stays as it is

        shares = each(share, place)

        def number(i: Array, j: Array) -> Array:
            own, part = at(before(i), j), shares.at[i].get(mode="promise_in_bounds")
            less = own - part * at(best, j)
            changed = jnp.where(j > k, less, jnp.where(j == k, part, own))
            return jnp.where(i > k, changed, own)

        pivots = jnp.where(place == k, best, pivots)
        return each(number, rows, columns), pivots

    first = jnp.reshape(A, -1), jnp.zeros(n, int)
    a, pivots = jax.lax.fori_loop(0, n, column, first)
    pivots = pivots.astype(np.int32)
    return [a.reshape(n, n), pivots, order_of(pivots, n)]
