"""Solutions of the dense system: one factorisation for many right sides.

Both boundary value problems of a stage, and all columns of the added mass, have the same matrix.
"""

from __future__ import annotations

from jaxtyping import Float

from swelltree.jit import Array, jax, pytree


@pytree()
class Factors:
    """Triangular factors of a matrix with rows exchanged."""

    lu: Array
    order: Array

    def solve(self, right: Array) -> Array:
        """x of A x = b; columns of b are right sides."""
        b = right[self.order]
        b = b[:, None] if right.ndim == 1 else b
        solve = jax.lax.linalg.triangular_solve
        y = solve(self.lu, b, left_side=True, lower=True, unit_diagonal=True)
        x = solve(self.lu, y, left_side=True, lower=False)
        return x[:, 0] if right.ndim == 1 else x


def factored(matrix: Float[Array, "n n"]) -> Factors:
    lu, _, order = jax.lax.linalg.lu(matrix)
    return Factors(lu, order)
