"""Covariance of a steady filter: the discrete Riccati equation, also where it is hard to solve."""

from __future__ import annotations

import numpy as np

DOUBLINGS = 60  # each looks twice as far ahead
DONE = 1e-13  # relative change of the covariance


def filter_covariance(Phi: np.ndarray, C: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """P of :math:`P = \\Phi (P^{-1} + C^\\top C)^{-1} \\Phi^\\top + Q`, noise of the outputs one.

    Where the eigenvalues that SciPy sorts lie too near the circle, doubling (Chu et al. 2004) goes
    on from Q, which needs no sorting.

    Args:
        Phi: (n, n) step of the states.
        C: (m, n) outputs.
        Q: (n, n) noise that a step gathers.
    """
    from scipy.linalg import LinAlgError, solve_discrete_are

    try:
        return solve_discrete_are(Phi.T, C.T, Q, np.eye(len(C)))
    except (LinAlgError, ValueError):
        return _doubled(Phi, C, Q)


def _doubled(Phi: np.ndarray, C: np.ndarray, Q: np.ndarray) -> np.ndarray:
    A, G, H = Phi.T, C.T @ C, Q
    for _ in range(DOUBLINGS):
        W = np.linalg.solve(np.eye(len(A)) + G @ H, np.concatenate([A, G], axis=1))
        A_next, G_next = W[:, : len(A)], W[:, len(A) :]
        with np.errstate(over="ignore", invalid="ignore"):
            H_next = H + A.T @ H @ A_next
        G = G + A @ G_next @ A.T
        A = A @ A_next
        change = np.abs(H_next - H).max()
        H = 0.5 * (H_next + H_next.T)
        if not np.isfinite(H).all():
            break
        if change <= DONE * np.abs(H).max():
            return H
    raise np.linalg.LinAlgError("the covariance grows without end")
