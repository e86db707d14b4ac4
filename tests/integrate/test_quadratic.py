"""Quadratic programs and the search built on them, on problems with known answers."""

import numpy as np
import pytest

from swelltree.integrate.programming import (
    Point,
    Program,
    minimise,
    smallest_excess,
    solve_quadratic,
)

INF = np.inf


def test_projection_on_a_half_space_and_its_multiplier():
    found = solve_quadratic(
        np.eye(2), np.array([-1.0, 0.0]), np.ones((1, 2)), np.array([-INF]), np.array([0.5])
    )
    assert found.solved
    assert found.x == pytest.approx([0.75, -0.25], abs=1e-9)
    assert found.multiplier == pytest.approx([0.25], abs=1e-9)


def test_contradicting_rows_are_not_solved_and_their_excess_is_found():
    G = np.array([[1.0], [1.0]])
    low, high = np.array([1.0, -INF]), np.array([INF, 0.5])
    assert not solve_quadratic(np.eye(1), np.zeros(1), G, low, high).solved
    excess, x = smallest_excess(G, low, high, np.array([False, True]))
    assert excess == pytest.approx(0.5, abs=1e-6)
    assert x == pytest.approx([1.0], abs=1e-5)


class Rosenbrock(Program):
    """Rosenbrock's valley within a disc: optimum on the edge, not convex."""

    convex = False
    low, high = np.array([-INF]), np.array([1.5])

    def at(self, z):
        return RosenbrockPoint(z)


class RosenbrockPoint(Point):
    def __init__(self, z):
        x, y = z
        self.cost = (1 - x) ** 2 + 100 * (y - x * x) ** 2
        self.gradient = np.array([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)])
        self.rows = np.array([x * x + y * y])
        self.jacobian = np.array([[2 * x, 2 * y]])
        self.curved = np.array([[2 - 400 * y + 1200 * x * x, -400 * x], [-400 * x, 200.0]])

    def hessian(self, multiplier):
        return self.curved + 2 * multiplier[0] * np.eye(2)


def test_a_curved_valley_in_a_disc_ends_on_its_edge():
    from scipy.optimize import minimize

    found = minimise(Rosenbrock(), np.array([-1.0, 0.5]))
    disc = {"type": "ineq", "fun": lambda z: 1.5 - z @ z}
    other = minimize(lambda z: RosenbrockPoint(z).cost, [0.5, 0.5], constraints=[disc], tol=1e-14)
    assert found.converged
    assert found.kkt < 1e-9
    assert found.z == pytest.approx(other.x, abs=1e-5)
    assert found.point.cost <= other.fun + 1e-10
