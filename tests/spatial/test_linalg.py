"""Small systems of equations."""

import jax
import numpy as np
import pytest
import scipy.linalg

from swelltree.spatial.linalg import LOOPED, column_order, least_squares, solve_small


@pytest.mark.parametrize("n", [1, 2, 7, LOOPED + 1])
def test_small_systems_are_solved_whatever_their_pivots(n):
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    if n > 1:
        A[0, 0] = A[1, 1] = 0.0  # elimination without pivots would divide by it
    x = jax.jit(solve_small)(A, b)
    np.testing.assert_allclose(A @ x, b, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("m", "n", "rank"), [(3, 5, 3), (9, 14, 7), (6, 6, 6), (12, 4, 3)])
def test_columns_are_ordered_as_by_pivoted_qr(m, n, rank):
    rng = np.random.default_rng(m)
    A = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    order = column_order(A)
    right = scipy.linalg.qr(A, mode="economic", pivoting=True)[2]
    assert order[:rank].tolist() == right[:rank].tolist()
    assert sorted(order.tolist()) == list(range(n))
    assert np.array_equal(jax.jit(column_order)(A), order)


@pytest.mark.parametrize(("m", "n", "rank"), [(5, 3, 2), (14, 9, 7), (6, 6, 6), (4, 9, 3)])
def test_least_squares_are_those_of_the_pseudo_inverse(m, n, rank):
    rng = np.random.default_rng(n)
    A, b = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n)), rng.standard_normal(m)
    right = np.linalg.pinv(A, rcond=1e-10) @ b
    np.testing.assert_allclose(least_squares(A, b, rank), right, rtol=0, atol=1e-10)
