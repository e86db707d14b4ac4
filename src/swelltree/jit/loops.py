"""One body for every row of some arrays: `jax.vmap` where XLA runs, a loop in native code."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swelltree.jit.arrays import Array, Tree
from swelltree.jit.backend import jax

FEW_DIRECTIONS = 8  # whose derivatives are written out, without what is zero in each


def each(function: Callable[..., Tree], *rows: Tree, axis: int = 0) -> Tree:
    """Results of a function for every row of some arrays, stacked along their first axis.

    As `jax.vmap`, with its derivatives; in native code it is a loop, so that an axis of a
    thousand rows is no thousand equations.

    Args:
        function: of one row of each argument; gives a tree of arrays. What else it uses is the
            same for all rows.
        rows: trees of arrays, all of one length along the axis.
        axis: of the rows, counted from the end where it is negative. Numbers of the last axis are
            contiguous in memory, which native code reads fastest.
    """
    return _over_rows(function, rows, axis, summed=False)


def each_sum(function: Callable[..., Tree], *rows: Tree, axis: int = 0) -> Tree:
    """Sums of the results of a function over all rows of some arrays.

    As `each` with a sum over its first axis, of which no row is ever kept.

    Args:
        function: as of `each`.
        rows: as of `each`.
        axis: as of `each`.
    """
    return _over_rows(function, rows, axis, summed=True)


def derivatives_along(function: Callable[..., tuple[Tree, Tree]], x: Array) -> tuple[Tree, Tree]:
    """Derivatives of a function in every number of a vector, and what else it gives.

    As `jax.jacfwd`; in native code the directions are the rows of a loop, so that as many of them
    as numbers are no more equations than one.
    """
    if len(x) <= FEW_DIRECTIONS:
        return jax.jacfwd(function, has_aux=True)(x)
    _, tangent, rest = jax.linearize(function, x, has_aux=True)
    rows = each(tangent, np.eye(len(x)))
    return jax.tree.map(lambda a: jax.numpy.moveaxis(a, 0, -1), rows), rest


def _over_rows(function: Callable[..., Tree], rows: Tree, axis: int, summed: bool) -> Tree:
    from swelltree.jit.each_primitive import bind_each

    leaves, kind = jax.tree.flatten(rows)
    results = None

    def flat(*row: Array) -> list[Array]:
        nonlocal results
        found, results = jax.tree.flatten(function(*jax.tree.unflatten(kind, row)))
        return found

    outs = bind_each(flat, leaves, axis, summed)
    return jax.tree.unflatten(results, outs)
