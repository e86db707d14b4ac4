"""(1 - c A)^-1 of matrices of blocks of two and of full ones."""

import jax
import numpy as np
import pytest

from swelltree.spatial.linear_steps import partners_in, resolvent_of


def oscillators(rng: np.random.Generator) -> np.ndarray:
    """Two pairs and a state that is alone, in an order of no kind."""
    A = np.zeros((5, 5))
    for i, j in ((0, 3), (4, 1)):
        A[np.ix_((i, j), (i, j))] = rng.normal(size=(2, 2)) - 2.0 * np.eye(2)
    A[2, 2] = -3.0
    return A


def test_partners_are_those_of_the_blocks():
    A = oscillators(np.random.default_rng(1))
    assert partners_in(A) == (3, 4, 2, 0, 1)
    A[1, 4] = 0.0  # one side of a block is enough
    assert partners_in(A) == (3, 4, 2, 0, 1)
    A[2, 0] = 0.1  # a block of three
    assert partners_in(A) is None
    assert partners_in(np.zeros((0, 0))) == ()


@pytest.mark.parametrize("full", [False, True])
def test_resolvent_solves_with_one_minus_c_times_the_matrix(full):
    rng = np.random.default_rng(2)
    A, x = oscillators(rng), rng.normal(size=(4, 5))
    if full:
        A = A + 0.3 * rng.normal(size=A.shape)
    partner = partners_in(A)
    assert (partner is None) == full
    found = jax.jit(lambda A, c, x: resolvent_of(A, c, partner)(x))(A, 0.7, x)
    assert np.asarray(found) == pytest.approx(
        np.linalg.solve(np.eye(5) - 0.7 * A, x.T).T, rel=1e-12, abs=1e-13
    )
