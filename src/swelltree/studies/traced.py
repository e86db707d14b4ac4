"""Studies that cannot be differentiated, and what to use in their place."""

from __future__ import annotations

from swelltree.engine.arrays import Tree
from swelltree.engine.backend import is_tracer
from swelltree.engine.trees import leaves_of
from swelltree.system.describe import Description
from swelltree.system.errors import SwelltreeError


def _holds_traced(things: Tree) -> bool:
    """Is there a traced number in models, arrays or described seas?"""
    leaves = leaves_of(things)
    if any(map(is_tracer, leaves)):
        return True
    described = [leaf for leaf in leaves if isinstance(leaf, Description)]
    return any(_holds_traced(list(vars(one).values())) for one in described)


def check_traced(study: str, *things: Tree) -> None:
    """Refuse to run inside grad, jit or vmap.

    Args:
        study: name in the message.
        things: what it depends on.
    """
    if _holds_traced(things):
        raise SwelltreeError(
            f"{study} cannot be differentiated, compiled or batched by JAX yet (grad, jit, vmap). "
            "Use simulate, equilibrium or modes inside of them, or differences of whole studies."
        )
