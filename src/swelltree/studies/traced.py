"""Studies that cannot be differentiated, and what to use in their place."""

from __future__ import annotations

from typing import Any

from swelltree.engine.backend import Tracer, jax
from swelltree.system.errors import SwelltreeError


def check_traced(study: str, *things: Any) -> None:
    """Refuse to run inside grad, jit or vmap.

    Args:
        study: name in the message.
        things: what it depends on.
    """
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(things)):
        raise SwelltreeError(
            f"{study} cannot be differentiated, compiled or batched by JAX yet (grad, jit, vmap). "
            "Use simulate, equilibrium or modes inside of them, or differences of whole studies."
        )
