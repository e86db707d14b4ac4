"""Steady covariances of filters."""

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

from swelltree.studies.control.excitation_observer import _doubled, filter_covariance


def balance(P, Phi, C, Q):
    gain = np.linalg.solve(C @ P @ C.T + np.eye(len(C)), C @ P).T
    return Phi @ (P - gain @ C @ P) @ Phi.T + Q


@pytest.mark.parametrize("seed", range(5))
def test_doubling_is_the_solution_of_scipy(seed):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(6, 6))
    Phi *= rng.uniform(0.7, 1.3) / np.abs(np.linalg.eigvals(Phi)).max()
    C, noise = rng.normal(size=(2, 6)), rng.normal(size=(6, 6))
    Q = noise @ noise.T
    P = _doubled(Phi, C, Q)
    assert pytest.approx(solve_discrete_are(Phi.T, C.T, Q, np.eye(2)), rel=1e-8, abs=1e-10) == P
    assert balance(P, Phi, C, Q) == pytest.approx(P, rel=1e-8, abs=1e-9)


def test_what_is_never_measured_grows_without_end():
    Phi, C = np.diag([1.2, 0.5]), np.array([[0.0, 1.0]])
    with pytest.raises(np.linalg.LinAlgError):
        filter_covariance(Phi, C, np.eye(2))
