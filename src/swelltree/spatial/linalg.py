"""Linear algebra that chooses its kernel by size.

Small systems are solved by unrolled elimination without library calls, so that
a whole time loop compiles into one kernel; large ones by LAPACK.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from jaxtyping import Float

from swelltree.spatial.arrays import Array
from swelltree.spatial.engine import jax, jnp

UNROLLED = 16  # largest matrix solved by straight-line code
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


def masked_sum(mask: np.ndarray, x: Float[Array, "m k"]) -> Float[Array, "n k"]:
    """Sums of rows of x chosen by a constant 0/1 mask (n, m)."""
    if mask.shape[1] <= WRITTEN_OUT and not _compact.get():
        # written out: a reduction would wait for every addition, this vectorises over columns
        terms = [mask[:, j, None] * x[j] for j in range(mask.shape[1])]
        return sum(terms[1:], terms[0]) if terms else x[:0] + np.zeros((mask.shape[0], 1))
    return mask @ x


def solve_spd(A: Float[Array, "n n"], b: Float[Array, " n"]) -> Float[Array, " n"]:
    """Solve A x = b for a symmetric positive definite A."""
    n = A.shape[0]
    if n == 0:
        return b
    if n <= UNROLLED and not _compact.get():
        return _solve_unrolled(A, b)
    return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(A, lower=True), b)


def _solve_unrolled(A: Array, b: Array) -> Array:
    """L D L^T by scalars: no dots, no library call."""
    n = A.shape[0]
    L: list[list[Any]] = [[None] * n for _ in range(n)]
    D: list[Any] = [None] * n
    for j in range(n):
        work = [L[j][k] * D[k] for k in range(j)]
        D[j] = A[j, j] - sum(L[j][k] * work[k] for k in range(j))
        for i in range(j + 1, n):
            L[i][j] = (A[i, j] - sum(L[i][k] * work[k] for k in range(j))) / D[j]
    y: list[Any] = [None] * n
    for i in range(n):
        y[i] = b[i] - sum(L[i][k] * y[k] for k in range(i))
    x: list[Any] = [None] * n
    for i in reversed(range(n)):
        x[i] = y[i] / D[i] - sum(L[k][i] * x[k] for k in range(i + 1, n))
    return jnp.stack(x)


def constrained_solve(
    M: Float[Array, "n n"],
    f: Float[Array, " n"],
    J: Float[Array, "m n"],
    gamma: Float[Array, " m"],
) -> tuple[Float[Array, " n"], Float[Array, " m"]]:
    r"""Acceleration and multipliers of a constrained system.

    .. math:: M a = f + J^\top \lambda, \qquad J a = \gamma

    By the null space of J (orthogonal, so only the condition number of J
    enters, not its square); M need be definite only on that null space, which
    admits massless links. J must have full row rank. Derivatives are those of
    the equations, not of the factorisation.
    """
    m, n = J.shape
    if m == 0:
        return solve_spd(M, f), jnp.zeros(0)
    M_, J_ = jax.lax.stop_gradient(M), jax.lax.stop_gradient(J)
    Q, R = jnp.linalg.qr(J_.T, mode="complete")
    Q1, Q2, R = Q[:, :m], Q[:, m:], R[:m]
    triangular = jax.scipy.linalg.solve_triangular

    def matvec(x):
        a, mu = x
        return M @ a + J.T @ mu, J @ a

    def solve(_, right):
        force, rate = right
        particular = Q1 @ triangular(R, rate, trans=1)
        free = jnp.zeros(n)
        if n > m:
            factor = jax.scipy.linalg.cho_factor(Q2.T @ M_ @ Q2, lower=True)
            free = Q2 @ jax.scipy.linalg.cho_solve(factor, Q2.T @ (force - M_ @ particular))
        a = particular + free
        return a, triangular(R, Q1.T @ (force - M_ @ a))

    a, mu = jax.lax.custom_linear_solve(matvec, (f, gamma), solve, symmetric=True)
    return a, -mu
