"""Loops and implicit functions for numpy and JAX alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swelltree.spatial.arrays import namespace


def repeat_while(go_on: Callable[[Any], Any], step: Callable[[Any], Any], state: Any) -> Any:
    """Apply `step` to the state, a tuple of arrays, while `go_on` says so."""
    if namespace(*state).__name__ == "numpy":
        while go_on(state):
            state = step(state)
        return state
    from swelltree.spatial.engine import jax

    return jax.lax.while_loop(go_on, step, state)


def held(tree: Any) -> Any:
    """The same values as constants: derivatives do not see how they came about."""
    import sys

    if "jax" not in sys.modules:
        return tree
    from swelltree.spatial.engine import jax

    def hold(x: Any) -> Any:
        return jax.lax.stop_gradient(x) if isinstance(x, jax.Array) else x

    return jax.tree.map(hold, tree)


def settled(iterate: Callable[[Any], Any], step: Callable[[Any, Any], Any], args: Any) -> Any:
    """Solution u of equations that depend on `args`, with exact derivatives of any order.

    The iteration is not differentiated. At the solution, the derivative of one Newton step by the
    arguments alone is that of the solution.

    Args:
        iterate: finds the solution from the arguments, a tree of arrays.
        step: solution after one Newton step from a solution: `step(u, args)`.
        args: what the solution depends on; everything `iterate` and `step` use must come in here.
    """
    import sys

    if "jax" not in sys.modules:
        return iterate(args)
    from swelltree.spatial.engine import jax

    if not any(isinstance(x, jax.Array) for x in jax.tree.leaves(args)):
        return iterate(args)

    @jax.custom_jvp
    def solve(args: Any) -> Any:
        return iterate(args)

    @solve.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        u = solve(*primals)
        _, slope = jax.jvp(lambda own: step(u, own), primals, tangents)
        return u, slope

    return solve(args)
