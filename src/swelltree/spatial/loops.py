"""Loops for numpy and JAX alike, and values that derivatives pass by."""

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
