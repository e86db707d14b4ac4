"""Loops and implicit functions for numpy and JAX alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swelltree.engine.arrays import namespace
from swelltree.engine.backend import is_jax, jax
from swelltree.engine.late import is_imported
from swelltree.engine.trees import leaves_of


def repeat_while(go_on: Callable[[Any], Any], step: Callable[[Any], Any], state: Any) -> Any:
    """Apply `step` to the state, a tuple of arrays, while `go_on` says so."""
    if namespace(*state).__name__ == "numpy":
        while go_on(state):
            state = step(state)
        return state
    return jax.lax.while_loop(go_on, step, state)


def stop_gradient(tree: Any) -> Any:
    """The same values as constants: derivatives do not see how they came about."""
    if not is_imported("jax"):
        return tree

    def hold(x: Any) -> Any:
        return jax.lax.stop_gradient(x) if is_jax(x) else x

    return jax.tree.map(hold, tree)


def settled(
    iterate: Callable[[Any], Any],
    residual: Callable[[Any, Any], Any],
    correct: Callable[[Any, Any, Any], Any],
    args: Any,
) -> Any:
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
    def solve(*leaves: Any) -> Any:
        return iterate(jax.tree.unflatten(kind, leaves))

    def rule(primals: Any, tangents: Any) -> Any:
        u = solve(*primals)
        # only what moves is differentiated
        zero = jax.custom_derivatives.SymbolicZero
        moves = [k for k, slope in enumerate(tangents) if not isinstance(slope, zero)]

        def moved(*varied: Any) -> Any:
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
