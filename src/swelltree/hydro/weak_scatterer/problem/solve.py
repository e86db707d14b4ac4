"""Solutions of the dense system: one factorisation for many right sides, or an old one again.

Both boundary value problems of a stage, and all columns of the added mass, have the same matrix.
While the geometry moves a little, the factors of an earlier matrix precondition GMRES for the
present one, so that a solution costs a few products instead of a factorisation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Float

from swelltree.jit import Array, jax, jnp, pytree

TOLERANCE = 1e-12  # of residuals of GMRES in time steps
TOO_MANY = 15  # iterations of GMRES, beyond which a matrix gets its own factors


@pytree()
class Factors:
    """Triangular factors of a matrix with rows exchanged."""

    lu: Array
    order: Array

    def solve(self, right: Array) -> Array:
        """x of A x = b, in the precision of b; columns of b are right sides."""
        b = right.astype(self.lu.dtype)[self.order]
        b = b[:, None] if right.ndim == 1 else b
        solve = jax.lax.linalg.triangular_solve
        y = solve(self.lu, b, left_side=True, lower=True, unit_diagonal=True)
        x = solve(self.lu, y, left_side=True, lower=False)
        return (x[:, 0] if right.ndim == 1 else x).astype(right.dtype)


def factored(matrix: Float[Array, "n n"], single: bool = False) -> Factors:
    """Factors of a matrix.

    Args:
        matrix: A.
        single: in float32, good as a preconditioner only.
    """
    lu, _, order = jax.lax.linalg.lu(matrix.astype(jnp.float32) if single else matrix)
    return Factors(lu, order)


class Iterated(NamedTuple):
    """What GMRES found.

    Args:
        x: solution.
        iterations: products with the matrix.
        residual: norm of b - A x over that of b.
    """

    x: Array
    iterations: Array
    residual: Array


def gmres(
    product: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    right: Float[Array, " n"],
    tolerance: float = 1e-12,
    most: int = 40,
) -> Iterated:
    """Flexible generalised minimal residuals (Saad 1993), the preconditioner on the right.

    What was preconditioned is kept, so that one in float32 limits the speed and not the solution.

    Args:
        product: v -> A v.
        precondition: v -> about A^-1 v.
        right: b.
        tolerance: of the residual over b.
        most: iterations.
    """
    size = jnp.linalg.norm(right)
    scale = jnp.where(size > 0.0, size, 1.0)
    n = len(right)
    basis = jnp.zeros((most + 1, n), right.dtype).at[0].set(right / scale)
    # R of the least squares problem, its rotated right side and the rotations
    start = (
        0,
        basis,
        jnp.zeros((most, most), right.dtype) + jnp.eye(most, dtype=right.dtype),
        jnp.zeros(most + 1, right.dtype).at[0].set(size / scale),
        jnp.zeros((most, 2), right.dtype).at[:, 0].set(1.0),
        jnp.zeros((most, n), right.dtype),
    )

    def go_on(state: tuple) -> Array:
        k, _, _, g, *_ = state
        return (k < most) & (jnp.abs(g[k]) > tolerance)

    def step(state: tuple) -> tuple:
        k, V, R, g, turns, Z = state
        Z = Z.at[k].set(precondition(V[k]))
        w = product(Z[k])
        # twice, so that the basis stays orthogonal to rounding
        h = V @ w
        w = w - h @ V
        again = V @ w
        w, h = w - again @ V, h + again
        long = jnp.linalg.norm(w)
        V = V.at[k + 1].set(w / jnp.where(long > 0.0, long, 1.0))
        column, _ = jax.lax.scan(_rotate, (h, 0), turns)[0]
        length = jnp.hypot(column[k], long)
        cos, sin = column[k] / length, long / length
        row = jnp.where(jnp.arange(most) < k, column[:most], 0.0).at[k].set(length)
        g = g.at[k + 1].set(-sin * g[k]).at[k].set(cos * g[k])
        turns = turns.at[k].set(jnp.stack([cos, sin]))
        return k + 1, V, R.at[:, k].set(row), g, turns, Z

    k, _, R, g, _, Z = jax.lax.while_loop(go_on, step, start)
    y = jax.scipy.linalg.solve_triangular(R, jnp.where(jnp.arange(most) < k, g[:most], 0.0))
    x = scale * (y @ Z)
    residual = jnp.linalg.norm(right - product(x)) / scale
    return Iterated(x, jnp.asarray(k), residual)


def _rotate(state: tuple, turn: Array) -> tuple[tuple, None]:
    """One of the earlier rotations; those not made yet turn by nothing."""
    column, i = state
    a, b = column[i], column[i + 1]
    column = column.at[i].set(turn[0] * a + turn[1] * b)
    return (column.at[i + 1].set(turn[0] * b - turn[1] * a), i + 1), None


def solve_again(
    old: Factors,
    matrix: Float[Array, "n n"],
    right: Array,
    tolerance: float = 1e-12,
    most: int = 40,
) -> Iterated:
    """Solutions for the present matrix from the factors of an earlier one.

    Args:
        old: factors of a matrix nearby.
        matrix: the present one.
        right: (n,) or (n, columns).
        tolerance: of the residual over the right side.
        most: iterations.
    """

    def one(b: Array) -> Iterated:
        return gmres(lambda v: matrix @ v, old.solve, b, tolerance, most)

    if right.ndim == 1:
        return one(right)
    return jax.vmap(one, in_axes=1, out_axes=Iterated(1, 0, 0))(right)


@pytree()
class Reused:
    """A matrix that is solved with by GMRES, preconditioned by factors of an earlier one."""

    factors: Factors
    matrix: Float[Array, "n n"]

    def solve(self, right: Array) -> Array:
        """x of A x = b; columns of b are right sides."""
        return solve_again(self.factors, self.matrix, right, TOLERANCE).x


def reused(old: Factors, matrix: Float[Array, "n n"]) -> Reused:
    """The matrix with the old factors, or with its own where those are too far from it.

    One right side is tried: where it takes more than `TOO_MANY` iterations, new factors are made.

    Args:
        old: factors of a matrix nearby, of any precision.
        matrix: the present one.
    """
    right = jnp.cos(jnp.arange(len(matrix), dtype=matrix.dtype))
    tried = solve_again(old, matrix, right, TOLERANCE, TOO_MANY)
    single = old.lu.dtype == jnp.float32
    fits = tried.residual < 10.0 * TOLERANCE
    return Reused(jax.lax.cond(fits, lambda: old, lambda: factored(matrix, single)), matrix)
