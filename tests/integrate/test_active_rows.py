"""Active rows from a guess end at the optimum, or say that they do not."""

import numpy as np

from swelltree.integrate.programming import largest, solve_quadratic, with_active_rows


def problem(seed=0):
    """A smooth series pressed against its limits."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 2 * np.pi, 60, endpoint=False)
    k = np.arange(1, 8)
    G = np.concatenate([np.cos(np.outer(t, k)), np.sin(np.outer(t, k))], axis=1)
    H = np.diag(np.tile(1.0 / k, 2))
    return H, -rng.standard_normal(14), G, -np.ones(60), np.ones(60)


def test_a_near_guess_gives_the_optimum_of_the_interior_point_method():
    H, g, G, low, high = problem()
    exact = solve_quadratic(H, g, G, low, high)
    assert exact.solved
    assert (exact.multiplier != 0).sum() >= 3
    moved = solve_quadratic(H, 1.02 * g, G, low, high)
    found = with_active_rows(H, g, G, low, high, moved.multiplier)
    assert found is not None
    x, mu, _ = found
    np.testing.assert_allclose(x, exact.x, atol=1e-9)
    assert np.abs(H @ x + g + G.T @ mu).max() < 1e-10
    assert (G @ x).max() < 1.0 + 1e-10
    assert (mu * np.sign(G @ x) >= -1e-10).all()


def test_a_direction_without_curvature_is_held_by_rows():
    H, g, G, low, high = problem()
    H = np.pad(H, (1, 0))
    g, G = np.append(0.0, g), np.concatenate([np.ones((60, 1)), G], axis=1)
    exact = solve_quadratic(H, g, G, low, high)
    found = with_active_rows(H, g, G, low, high, exact.multiplier)
    assert found is not None
    x, mu, _ = found
    assert np.abs(H @ x + g + G.T @ mu).max() < 1e-10


def test_rows_that_depend_on_one_another_are_refused():
    H, g, G, low, high = problem()
    guess = np.ones(60)
    assert with_active_rows(H, g, G, low, high, guess) is None


def test_the_largest_eigenvalue_is_found():
    rng = np.random.default_rng(2)
    A = rng.standard_normal((30, 30))
    A = A + A.T
    exact = np.abs(np.linalg.eigvalsh(A)).max()
    assert 0.7 * exact < largest(A) <= exact * (1 + 1e-12)
