"""(1 - c A)^-1 for the matrices of linear systems, which are often made of blocks of two."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jnp


def partners_in(A: np.ndarray) -> tuple[int, ...] | None:
    """The other state of the block of each, itself where it is alone.

    None where blocks are larger than two.
    """
    A = np.asarray(A)
    near = (A != 0.0) | (A.T != 0.0)
    np.fill_diagonal(near, False)
    if (near.sum(1) > 1).any():
        return None
    alone = np.arange(len(A))
    return tuple(np.where(near.any(1), near.argmax(1), alone).tolist()) if len(A) else ()


def resolvent_of(
    A: Float[Array, "k k"], c: Array, partner: tuple[int, ...] | None
) -> Callable[[Array], Array]:
    """Function that gives (1 - c A)^-1 times vectors along the last axis.

    Args:
        A: the matrix.
        c: a number.
        partner: from `partners_in`; None: A is full.
    """
    if partner is None:
        inverse = jnp.linalg.inv(np.eye(A.shape[0]) - c * A)
        return lambda x: x @ inverse.T
    own, other = np.arange(len(partner)), np.array(partner, dtype=int)
    # blocks of two by Cramer's rule; a state that is alone has no entry beside its diagonal
    paired = np.where(own == other, 0.0, 1.0)
    diagonal, beside = 1.0 - c * A[own, own], -c * paired * A[own, other]
    inverse = 1.0 / (diagonal * diagonal[other] - beside * beside[other])
    return lambda x: inverse * (diagonal[other] * x - beside * x[..., other])
