"""Small systems of equations."""

import jax
import numpy as np
import pytest

from swelltree.spatial.linalg import LOOPED, solve_small


@pytest.mark.parametrize("n", [1, 2, 7, LOOPED + 1])
def test_small_systems_are_solved_whatever_their_pivots(n):
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    if n > 1:
        A[0, 0] = A[1, 1] = 0.0  # elimination without pivots would divide by it
    x = jax.jit(solve_small)(A, b)
    np.testing.assert_allclose(A @ x, b, rtol=0, atol=1e-10)
