r"""Quadratic programs whose active rows are nearly known, as from the step before.

Rows A at their sides b are held, the others left alone:

.. math:: H x + A^\top \mu = -g, \qquad A x = b

Rows that pull the wrong way are let go and rows that are broken are taken in, of neighbours the
worst, until nothing changes; then all conditions of the optimum hold. Where that does not come
soon, the caller has an interior-point method.
"""

from __future__ import annotations

import numpy as np

from swelltree.solvers.lapack import lapack

EXACT = 1e-11  # largest violation of a row, rows of about unit size
TRIES = 12
FLAT = 1e-10  # of the largest curvature
REFINED = 2
ACTIVE = 1e-9  # multiplier of a row that is held to begin with


def factored(H: np.ndarray) -> np.ndarray | None:
    """Cholesky factor (lower), None where H is not positive."""
    L, info = lapack().dpotrf(H, lower=1)
    return L if info == 0 else None


def is_positive(H: np.ndarray, least: float) -> bool:
    """Are all eigenvalues above so much?"""
    return factored(H - least * np.eye(len(H))) is not None


def largest(H: np.ndarray) -> float:
    """About the largest eigenvalue, by size, of a symmetric matrix; never more than it is."""
    x, size = np.ones(len(H)) + 0.1 * np.cos(np.arange(len(H))), 0.0
    for _ in range(8):
        x = H @ (x / max(float(np.linalg.norm(x)), 1e-300))
        size = float(np.linalg.norm(x))
    return max(size, float(np.abs(np.diag(H)).max(initial=0.0)), 1e-300)


def with_active_rows(
    H: np.ndarray,
    g: np.ndarray,
    G: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    guess: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, int] | None:
    """x, multipliers and number of tries, or None.

    Args:
        H: (n, n), symmetric and positive.
        g: (n,).
        G: (rows, n).
        low: (rows,).
        high: (rows,).
        guess: (rows,) multipliers whose signs give the sides at first.
    """
    dpotrs, dtrtrs = lapack().dpotrs, lapack().dtrtrs
    size = float(np.abs(H).max(initial=0.0))
    # directions without curvature, which rows hold, are put right by refinement
    L = factored(H + FLAT * size * np.eye(len(H)))
    if L is None:
        return None
    free = -dpotrs(L, g, lower=1)[0]
    values = G @ free
    side = np.where(np.abs(guess) > ACTIVE, np.sign(guess), 0.0)
    place = np.full(len(G), -1)  # in the rows of G L^-T, which are made as they are needed
    solved = np.zeros((0, len(g)))
    for k in range(TRIES):
        at = np.flatnonzero(side)
        if len(at) > len(g):
            return None
        new = at[place[at] < 0]
        if len(new):
            place[new] = len(solved) + np.arange(len(new))
            more = dtrtrs(L, G[new].T, lower=1)[0].T
            solved = np.concatenate([solved, more]) if len(solved) else more
        A, rows = solved[place[at]], G[at]
        sides = np.where(side[at] > 0, high[at], low[at])
        S = factored(A @ A.T)
        if S is None or np.diag(S).min(initial=1.0) < 1e-7 * np.diag(S).max(initial=1.0):
            return None

        def with_rows_fixed(
            off: np.ndarray, beyond: np.ndarray, A: np.ndarray = A, S: np.ndarray = S
        ) -> tuple[np.ndarray, np.ndarray]:
            """x and multipliers with x = off but for the rows, which take away `beyond`."""
            mu = dpotrs(S, beyond, lower=1)[0] if len(beyond) else beyond
            return off - dtrtrs(L, A.T @ mu, lower=1, trans=1)[0], mu

        x, mu = with_rows_fixed(free, values[at] - sides)
        Gx = G @ x
        pull = np.ones(len(G))
        pull[at] = side[at] * mu
        broken = np.maximum(Gx - high, low - Gx)
        broken[at] = 0.0
        let_go, taken = _lowest(pull, 0.0), _lowest(-broken, -EXACT)
        if not (let_go.any() or taken.any()):
            for _ in range(REFINED):
                off = -dpotrs(L, H @ x + g + rows.T @ mu, lower=1)[0]
                dx, dmu = with_rows_fixed(off, rows @ (x + off) - sides)
                x, mu = x + dx, mu + dmu
            off = np.abs(H @ x + g + rows.T @ mu).max()
            close = off < EXACT * max(1.0, float(np.abs(g).max()))
            broken = np.maximum(G @ x - high, low - G @ x).max() > 2.0 * EXACT
            if not close or broken or (side[at] * mu < -EXACT).any():
                return None
            multiplier = np.zeros(len(G))
            multiplier[at] = mu
            return x, multiplier, k + 1
        side[taken] = np.where(Gx > high, 1.0, -1.0)[taken]
        side[let_go] = 0.0
    return None


def _lowest(x: np.ndarray, below: float) -> np.ndarray:
    """Where x is below a number and not above its neighbours; rows in turn are times in turn."""
    ring = np.concatenate([x[-1:], x, x[:1]])
    return (x < below) & (x <= ring[:-2]) & (x <= ring[2:])
