"""Small systems of equations."""

import jax
import numpy as np
import pytest
import scipy.linalg

from swelltree.spatial.linalg import column_order, least_squares


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
