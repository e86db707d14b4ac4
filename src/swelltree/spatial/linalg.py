"""Linear algebra that chooses its kernel by size.

Small systems are solved by unrolled elimination without library calls, so that
a whole time loop compiles into one kernel; large ones by LAPACK.
"""

from __future__ import annotations

import functools
import importlib
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from threadpoolctl import ThreadpoolController

from swelltree.jit import Array, Tree, jax, jnp, known, namespace
from swelltree.spatial.rotations import is_compact

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

UNROLLED = 16  # largest matrix solved by straight-line code


def solve_spd(A: Float[Array, "n n"], b: Float[Array, " n"]) -> Float[Array, " n"]:
    """Solve A x = b for a symmetric positive definite A."""
    n = A.shape[0]
    if n == 0:
        return b
    if n <= UNROLLED and not is_compact():
        return _solve_unrolled(A, b)
    return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(A, lower=True), b)


def solve_blocks(
    A: Float[Array, "n n"], b: Float[Array, " n"], blocks: tuple[tuple[int, ...], ...]
) -> Float[Array, " n"]:
    """Solve a block-diagonal system; blocks of equal size in parallel."""
    if len(blocks) <= 1:
        return solve_spd(A, b)
    parts, order = [], []
    for size in sorted({len(block) for block in blocks}):
        rows = np.array([block for block in blocks if len(block) == size])
        diagonal = A[rows[:, :, None], rows[:, None, :]]
        parts.append(jax.vmap(solve_spd)(diagonal, b[rows]).reshape(-1))
        order.append(rows.reshape(-1))
    return jnp.concatenate(parts)[np.argsort(np.concatenate(order))]


def _solve_unrolled(A: Array, b: Array) -> Array:
    """L D L^T in scalar operations, without library calls."""
    n = A.shape[0]
    L: list[list[Array]] = [[None] * n for _ in range(n)]
    D: list[Array] = [None] * n
    for j in range(n):
        work = [L[j][k] * D[k] for k in range(j)]
        D[j] = A[j, j] - sum(L[j][k] * work[k] for k in range(j))
        for i in range(j + 1, n):
            L[i][j] = (A[i, j] - sum(L[i][k] * work[k] for k in range(j))) / D[j]
    y: list[Array] = [None] * n
    for i in range(n):
        y[i] = b[i] - sum(L[i][k] * y[k] for k in range(i))
    x: list[Array] = [None] * n
    for i in reversed(range(n)):
        x[i] = y[i] / D[i] - sum(L[k][i] * x[k] for k in range(i + 1, n))
    return jnp.stack(x)


def constrained_solve(
    M: Float[Array, "n n"],
    f: Float[Array, " n"],
    J: Float[Array, "m n"],
    gamma: Float[Array, " m"],
    surplus: int = 0,
) -> tuple[Float[Array, " n"], Float[Array, " m"]]:
    r"""Acceleration and multipliers of a constrained system.

    .. math:: M a = f + J^\top \lambda, \qquad J a = \gamma

    By the null space of J (orthogonal, so only the condition number of J
    enters, not its square); M need be definite only on that null space, which
    admits massless links. Derivatives are those of the equations, not of the
    factorisation.

    Args:
        surplus: number of rows of J that follow from the others. Of the
            multipliers, which are then not unique, those of least norm are given.
    """
    m, n = J.shape
    if m == 0:
        return solve_spd(M, f), jnp.zeros(0)
    rank = m - surplus
    # custom_linear_solve takes no derivative along f alone: let gamma depend on it by nothing
    gamma = gamma + 0.0 * f[0]
    M_, J_ = jax.lax.stop_gradient(M), jax.lax.stop_gradient(J)
    Q2, least_motion, least_force = _factored(J_, rank)

    def matvec(x):
        a, mu = x
        return M @ a + J.T @ mu, J @ a

    def solve(_, right):
        force, rate = right
        particular = least_motion(rate)
        free = jnp.zeros(n)
        if n > rank:
            factor = jax.scipy.linalg.cho_factor(Q2.T @ M_ @ Q2, lower=True)
            free = Q2 @ jax.scipy.linalg.cho_solve(factor, Q2.T @ (force - M_ @ particular))
        a = particular + free
        return a, least_force(force - M_ @ a)

    a, mu = jax.lax.custom_linear_solve(matvec, (f, gamma), solve, symmetric=True)
    return a, -mu


def _factored(J: Float[Array, "m n"], rank: int) -> tuple[Array, Tree, Tree]:
    """Null space (n, n - rank), and minimum-norm solutions x of J x = b and y of J^T y = c."""
    m = J.shape[0]
    if rank == m:
        Q, R = jnp.linalg.qr(J.T, mode="complete")
        Q1, Q2, R = Q[:, :m], Q[:, m:], R[:m]
        triangular = jax.scipy.linalg.solve_triangular
        return (
            Q2,
            lambda b: Q1 @ triangular(R, b, trans=1),
            lambda c: triangular(R, Q1.T @ c),
        )
    U, size, Vt = jnp.linalg.svd(J, full_matrices=True)
    U, size, V = U[:, :rank], size[:rank], Vt[:rank].T
    return Vt[rank:].T, lambda b: V @ ((U.T @ b) / size), lambda c: U @ ((V.T @ c) / size)


ROUNDING = 1e-24  # of the sum of squares: what is left below is rounding


def column_order(A: Float[Array, "m n"]) -> Float[Array, " n"]:
    """Order of columns by orthogonalisation with pivoting, independent ones first; as floats.

    The column of which most is left after those before comes next; where nothing is left but
    rounding (rows that follow from others) columns stay where they are.
    """
    m, n = A.shape
    xp, place = namespace(A), np.arange(n)
    least = ROUNDING * (A * A).sum()

    def exchanged(row: Array, k: Array, p: Array) -> Array:
        """Columns k and p of an array (..., n) exchanged."""
        here, there = xp.take(row, k, -1), xp.take(row, p, -1)
        row = xp.where(place == p, here[..., None], row)
        return xp.where(place == k, there[..., None], row)

    def next_column(k: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        left, order = carry
        size = xp.where(place < k, -1.0, (left * left).sum(0))
        largest = size.max()
        p = xp.where(largest > least, xp.argmax(size), k)
        left, order = exchanged(left, k, p), exchanged(order, k, p)
        q = left[:, k] / xp.sqrt(xp.where(largest > least, largest, 1.0))
        less = left - q[:, None] * (q @ left)[None, :]
        return xp.where((place > k) & (largest > least), less, left), order

    if known(A):
        carry = A, np.arange(float(n))
        for k in range(min(m, n)):
            carry = next_column(np.asarray(k), carry)
        return carry[1]
    start = jax.lax.stop_gradient(A), jnp.arange(float(n))
    return jax.lax.fori_loop(0, min(m, n), next_column, start)[1]


def least_squares(A: Float[Array, "m n"], b: Float[Array, " m"], rank: int) -> Array:
    """Least-squares solution of least norm of A x = b, where A has the given rank."""
    # A = C F: C its most independent columns, F of full rank with no large entry
    C = A[:, column_order(A)[:rank].astype(int)]
    factor = jax.scipy.linalg.cho_factor(C.T @ C, lower=True)
    both = jax.scipy.linalg.cho_solve(factor, C.T @ jnp.concatenate([A, b[:, None]], 1))
    F, y = both[:, :-1], both[:, -1]
    return F.T @ solve_spd(F @ F.T, y)


def left_inverse(A: Float[Array, "m r"]) -> Float[Array, "r m"]:
    """Inverse of a matrix with independent columns, by least squares if it is tall."""
    if A.shape[0] == A.shape[1]:
        return jnp.linalg.inv(A)
    Q, R = jnp.linalg.qr(A)
    return jax.scipy.linalg.solve_triangular(R, Q.T)


# --- Threads of the linear algebra: for matrices of some hundred rows they would only wait


@functools.lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """Libraries with thread pools; looking for them takes milliseconds."""
    # scipy brings a library of its own, which must be there by now
    importlib.import_module("scipy.linalg")

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Context that limits NumPy and SciPy to one thread."""
    return _libraries().limit(limits=1)


# --- Routines of LAPACK, imported when they are first needed


@functools.lru_cache(maxsize=1)
def lapack() -> ModuleType:
    """The module with them."""
    import scipy.linalg.lapack as routines

    return routines


# --- A square matrix factored once, to solve with it many times


class Factor:
    """LU factors of a matrix; a singular matrix gives results that are not finite."""

    def __init__(self, A: np.ndarray) -> None:
        self.lu, self.pivots, info = lapack().dgetrf(A)
        self.good = info == 0 and bool(np.isfinite(self.lu).all())

    def solve(self, b: np.ndarray, transposed: bool = False) -> np.ndarray:
        """x of A x = b, or of the transpose of A."""
        if not self.good:
            return np.full(b.shape, np.nan)
        return lapack().dgetrs(self.lu, self.pivots, b, trans=int(transposed))[0]
