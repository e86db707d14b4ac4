"""Loops and implicit functions for numpy and JAX alike."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np

from swelltree.jit import (
    Array,
    Tree,
    each,
    each_sum,
    is_imported,
    is_jax,
    jax,
    leaves_of,
    namespace,
)


def repeat_while(go_on: Callable[[Tree], Array], step: Callable[[Tree], Tree], state: Tree) -> Tree:
    """Apply `step` to the state, a tuple of arrays, while `go_on` is true."""
    if namespace(*state).__name__ == "numpy":
        while go_on(state):
            state = step(state)
        return state
    return jax.lax.while_loop(go_on, step, state)


def rows_of(xp: ModuleType, function: Callable[..., Tree], *rows: Tree) -> Tree:
    """`each` of JAX along the first axis; for numpy one row after the other.

    Args:
        xp: array library of all that the function uses.
        function: of one row of each array; gives a tuple of arrays.
        rows: tuples of arrays, or arrays.
    """
    if xp.__name__ != "numpy":
        return each(function, *rows)
    count = len(rows[-1])
    found = [function(*(_row_of(x, i) for x in rows)) for i in range(count)]
    return tuple(np.stack(parts) for parts in zip(*found, strict=True))


def in_rows(xp: ModuleType, function: Callable[..., Tree], *rows: Tree) -> Tree:
    """`each` of JAX along the first axis, of which every row keeps one; for numpy all at once.

    So a function that is written for several rows serves as the body of one.

    Args:
        xp: array library of all that the function uses.
        function: of arrays with that axis; gives a tuple of arrays with it.
        rows: trees of arrays.
    """
    if xp.__name__ == "numpy":
        return function(*rows)

    def one(*row: Tree) -> Tree:
        found = function(*jax.tree.map(lambda x: x[None], row))
        return jax.tree.map(lambda x: x[0], found)

    return each(one, *rows)


def _row_of(x: Array, i: int) -> Tree:
    return tuple(a[i] for a in x) if isinstance(x, tuple) else x[i]


def along(xp: ModuleType, function: Callable[..., Tree], *rows: Array) -> Tree:
    """`each` of JAX along the last axis; for numpy all of it at once.

    Args:
        xp: array library of all that the function uses.
        function: of arrays without that axis or with it; gives a tuple of numbers.
        rows: arrays.
    """
    return function(*rows) if xp.__name__ == "numpy" else each(function, *rows, axis=-1)


def sum_along(xp: ModuleType, function: Callable[..., Tree], *rows: Array) -> Tree:
    """Sums of what `along` gives, which may be arrays here.

    Args:
        xp: as of `along`.
        function: as of `along`.
        rows: as of `along`.
    """
    if xp.__name__ == "numpy":
        return tuple(x.sum(-1) for x in function(*rows))
    return each_sum(function, *rows, axis=-1)


def stop_gradient(tree: Tree) -> Tree:
    """Values without derivatives."""
    if not is_imported("jax"):
        return tree

    def hold(x: Array) -> Array:
        return jax.lax.stop_gradient(x) if is_jax(x) else x

    return jax.tree.map(hold, tree)


def settled(
    iterate: Callable[[Tree], Tree],
    residual: Callable[[Tree, Tree], Tree],
    correct: Callable[[Tree, Tree, Tree], Tree],
    args: Tree,
) -> Tree:
    """Solution u of residual(u, args) = 0, with exact derivatives of any order.

    The iteration is not differentiated: derivatives are those of the equations.

    Args:
        iterate: finds the solution from the arguments, a tree of arrays.
        residual: of the equations, a tree.
        correct: change of u that makes up for a change of the residual: `correct(u, args, r)` is
            -J^-1 r with the Jacobian J of the residual by u.
        args: what the solution depends on; everything the functions use must come in here.
    """
    if not any(map(is_jax, leaves_of(args))):
        return iterate(args)
    leaves, kind = jax.tree.flatten(args)

    @jax.custom_jvp
    def solve(*leaves: Array) -> Tree:
        return iterate(jax.tree.unflatten(kind, leaves))

    def rule(primals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Tree, Tree]:
        u = solve(*primals)
        # only what moves is differentiated
        zero = jax.custom_derivatives.SymbolicZero
        moves = [k for k, slope in enumerate(tangents) if not isinstance(slope, zero)]

        def moved(*varied: Array) -> Tree:
            there = list(primals)
            for k, x in zip(moves, varied, strict=True):
                there[k] = x
            return residual(u, jax.tree.unflatten(kind, there))

        if not moves:
            return u, jax.tree.map(lambda x: 0.0 * x, u)
        varied = tuple(primals[k] for k in moves)
        _, change = jax.jvp(moved, varied, tuple(tangents[k] for k in moves))
        return u, correct(u, jax.tree.unflatten(kind, primals), change)

    solve.defjvp(rule, symbolic_zeros=True)
    return solve(*leaves)
