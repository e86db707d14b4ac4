"""Smaller linear systems: what is cut off, what must stay."""

import numpy as np
import pytest

from swelltree.hydro.radiation.reduction import response
from swelltree.integrate.linear_reduction import (
    minimal,
    reached,
    reduced,
    scaled_channels,
    split_unrestrained,
    zero_order_hold,
)

OMEGA = np.geomspace(0.01, 100.0, 300)


def oscillators(count=8, inputs=2, outputs=3, seed=0):
    """Damped oscillators with mixed units of the states."""
    rng = np.random.default_rng(seed)
    w, n = np.geomspace(0.3, 12.0, count), 2 * count
    A = np.zeros((n, n))
    k = np.arange(0, n, 2)
    A[k, k + 1], A[k + 1, k], A[k + 1, k + 1] = 1.0, -(w**2), -0.1 * w
    B, C = rng.standard_normal((n, inputs)), rng.standard_normal((outputs, n))
    B[k] = 0.0
    units = 10.0 ** rng.integers(-4, 5, n)
    return A * units / units[:, None], B / units[:, None], C * units


def with_drift():
    """The same beside a free mass (pushed, its place seen) and a growing mode, all mixed."""
    A, B, C = oscillators()
    n = A.shape[0]
    big = np.zeros((n + 3, n + 3))
    big[:n, :n] = A
    big[n, n + 1], big[n + 2, n + 2] = 1.0, 0.05
    B = np.vstack([B, [[0.0, 0.0], [1.0, 0.5], [0.2, 0.1]]])
    C = np.hstack([C, [[1.0, 0.0, 0.3], [0.0, 0.0, 0.1], [0.5, 0.2, 0.0]]])
    T = np.eye(n + 3) + 0.1 * np.random.default_rng(1).standard_normal((n + 3, n + 3))
    return np.linalg.solve(T, big @ T), np.linalg.solve(T, B), C @ T


def scaled_gap(system, smaller):
    """Largest singular value of the difference, channels scaled to one, on a fine grid."""
    omega = np.geomspace(0.01, 100.0, 4000)
    full, small = response(*system, omega), response(*smaller, omega)
    out, into = scaled_channels(*system)
    gap = (full - small) * out[:, None] * into
    return np.linalg.norm(gap, 2, axis=(1, 2)).max()


def test_drifting_and_decaying_parts_sum_to_the_whole():
    system = with_drift()
    parts = split_unrestrained(*system)
    both = response(*parts.unrestrained, OMEGA) + response(*parts.decaying, OMEGA)
    complete = response(*system, OMEGA)
    # rounding of a Schur form is some 1e-16 of the matrix, here 4e4 when balanced; the free mass,
    # whose response is 1 / omega^2, shows it 1e4 times larger at the lowest frequency: some 1e-7
    assert np.abs(both - complete).max() < 1e-6 * np.abs(complete).max()
    assert parts.poles.size == 3
    assert np.sort(parts.poles.real)[-1] == pytest.approx(0.05, rel=1e-6)
    assert np.linalg.eigvals(parts.decaying[0]).real.max() < -0.01


@pytest.mark.parametrize("error", [0.5, 0.2, 0.1])
def test_reduction_keeps_the_error_asked_for_and_its_own_bound(error):
    system = oscillators()
    small = reduced(*system, None, error)
    assert scaled_gap(system, small.system) <= error * (1 + 1e-6)
    assert small.error <= min(error, small.bound)
    order = small.system[0].shape[0]
    assert order < 16
    fewer = reduced(*system, order - 1, None)
    assert fewer.error > error


def test_reduction_keeps_the_drift_exactly():
    system = with_drift()
    small = reduced(*system, None, 0.05)
    assert small.n_unrestrained == 3
    low = np.array([1e-3])  # where the drift is all there is
    full, found = response(*system, low), response(*small.system, low)
    assert np.abs(found - full).max() < 1e-5 * np.abs(full).max()


def test_order_is_met():
    assert reduced(*oscillators(), 6, None).system[0].shape == (6, 6)
    assert reduced(*with_drift(), 7, None).system[0].shape == (7, 7)


def test_minimal_realisation_drops_what_is_not_moved_or_not_seen():
    A, B, C = oscillators()
    B[2:4], C[:, 6:8] = 0.0, 0.0  # one oscillator not moved, another not seen
    small = minimal(A, B, C)
    assert small[0].shape == (12, 12)
    full = response(A, B, C, OMEGA)
    assert np.abs(response(*small, OMEGA) - full).max() < 1e-9 * np.abs(full).max()
    assert reached(A, np.zeros((16, 1))).shape == (16, 0)


def test_equal_modes_need_an_input_each():
    A = np.diag([-1.0, -1.0, -2.0])
    one, two = np.ones((3, 1)), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert reached(A, one).shape == (3, 2)
    assert reached(A, two).shape == (3, 3)


def test_free_mass_is_moved_by_a_force_and_not_by_nothing():
    A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    assert reached(A, np.array([[0.0], [1.0], [1.0]])).shape == (3, 3)
    basis = reached(A, np.array([[1.0], [0.0], [1.0]]))  # moved, but not set going
    np.testing.assert_allclose(np.abs(basis[1]), 0.0, atol=1e-12)
    assert basis.shape == (3, 2)


def test_held_inputs_are_exact():
    # a mass and a decaying mode
    A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, -2.0]])
    B = np.array([[0.0], [1.0], [1.0]])
    Phi, Gamma = zero_order_hold(A, B, 0.3)
    np.testing.assert_allclose(Gamma[:, 0], [0.045, 0.3, (1 - np.exp(-0.6)) / 2], rtol=1e-13)
    np.testing.assert_allclose(Phi[0], [1.0, 0.3, 0.0], rtol=1e-13)
