"""Products with large matrices that choose their kernel by size; numpy or JAX alike.

Small products are sums of elementwise products, so that a whole time loop compiles into one
kernel; large ones are dots.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from jaxtyping import Float

from swelltree.engine.arrays import Array

WRITTEN_OUT = 16  # most terms of a sum along a path or over a branch
SMALL_PRODUCT = 20_000  # multiplications above which a dot pays
_compact: ContextVar[bool] = ContextVar("compact", default=False)


@contextmanager
def compact() -> Iterator[None]:
    """Trace with library calls throughout: quicker to compile, slower to run.

    For programs that run once per sample and not in the time loop.
    """
    token = _compact.set(True)
    try:
        yield
    finally:
        _compact.reset(token)


def is_compact() -> bool:
    """Is a program traced that runs only once per sample?"""
    return _compact.get()


def gram(P: Float[Array, "b n"], MP: Float[Array, "b n"]) -> Float[Array, "n n"]:
    """P^T (M P)."""
    if P.shape[0] * P.shape[1] ** 2 <= SMALL_PRODUCT:
        return (P[:, :, None] * MP[:, None, :]).sum(0)
    return P.T @ MP


def transpose_apply(P: Float[Array, "b n"], x: Float[Array, " b"]) -> Float[Array, " n"]:
    """P^T x."""
    return (P * x[:, None]).sum(0) if P.size <= SMALL_PRODUCT else P.T @ x


def apply(A: Float[Array, "m n"], x: Float[Array, " n"]) -> Float[Array, " m"]:
    """A x."""
    return (A * x[None, :]).sum(1) if A.size <= SMALL_PRODUCT else A @ x


def product(A: Float[Array, "m k"], B: Float[Array, "k n"]) -> Float[Array, "m n"]:
    """A B."""
    if A.shape[0] * A.shape[1] * B.shape[1] > SMALL_PRODUCT or _compact.get():
        return A @ B
    return (A[:, :, None] * B[None, :, :]).sum(1)


def masked_sum(mask: np.ndarray, x: Float[Array, "m k"]) -> Float[Array, "n k"]:
    """Sums of rows of x chosen by a constant 0/1 mask (n, m)."""
    if mask.shape[1] <= WRITTEN_OUT and not _compact.get():
        # written out: a reduction would wait for every addition, this vectorises over columns
        terms = [mask[:, j, None] * x[j] for j in range(mask.shape[1])]
        return sum(terms[1:], terms[0]) if terms else np.zeros((mask.shape[0], x.shape[1]))
    return mask @ x
