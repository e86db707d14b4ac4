r"""Dense convex quadratic programs, by the interior-point method of PIQP.

.. math:: \min_x \tfrac12 x^\top H x + g^\top x, \qquad l \le G x \le h

Plain numpy in and out: nothing here is compiled by JAX.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swelltree.integrate.solution import lapack

# --- Quadratic programs whose active rows are nearly known, as from the step before

EXACT = 1e-11  # largest violation of a row, rows of about unit size
TRIES = 12
FLAT = 1e-10  # of the largest curvature
REFINED = 2
ACTIVE = 1e-9  # multiplier of a row that is held to begin with


def factored(H: np.ndarray) -> np.ndarray | None:
    """Lower Cholesky factor, None if H is not positive definite."""
    L, info = lapack().dpotrf(H, lower=1)
    return L if info == 0 else None


def is_positive(H: np.ndarray, least: float) -> bool:
    """Whether all eigenvalues exceed a limit."""
    return factored(H - least * np.eye(len(H))) is not None


def largest(H: np.ndarray) -> float:
    """Lower bound of the spectral radius of a symmetric matrix, close to it."""
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
            off: np.ndarray, excess: np.ndarray, A: np.ndarray = A, S: np.ndarray = S
        ) -> tuple[np.ndarray, np.ndarray]:
            """x and multipliers with x = off but for the rows, which take away `excess`."""
            mu = dpotrs(S, excess, lower=1)[0] if len(excess) else excess
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
    """Local minima of x below a limit; successive rows are successive times."""
    ring = np.concatenate([x[-1:], x, x[:1]])
    return (x < below) & (x <= ring[:-2]) & (x <= ring[2:])


LOOSE = 1e-6  # enough to decide which rows are active
TOLERANCE = 1e-11  # of residuals and of the duality gap; rows and cost are scaled to about one


@dataclass(frozen=True)
class Quadratic:
    """Solution of a quadratic program."""

    x: np.ndarray
    multiplier: np.ndarray  # (rows,) positive at the upper, negative at the lower side
    solved: bool
    iterations: int


def solve_quadratic(
    H: np.ndarray,
    g: np.ndarray,
    G: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    guess: np.ndarray | None = None,
) -> Quadratic:
    """Minimum of a convex quadratic under two-sided rows; infinite sides are open.

    Args:
        H: (n, n), symmetric and not negative.
        g: (n,).
        G: (rows, n), rows of about unit size.
        low: (rows,).
        high: (rows,).
        guess: (rows,) multipliers of a program nearby.
    """
    used = np.isfinite(low) | np.isfinite(high)
    if not used.all():
        nearby = None if guess is None else guess[used]
        inner = solve_quadratic(H, g, G[used], low[used], high[used], nearby)
        multiplier = np.zeros(len(G))
        multiplier[used] = inner.multiplier
        return Quadratic(inner.x, multiplier, inner.solved, inner.iterations)
    if not len(G):
        x = np.linalg.lstsq(H, -g, rcond=1e-13)[0]
        size = max(float(np.abs(g).max(initial=0.0)), 1e-300)
        return Quadratic(x, np.zeros(0), bool(np.abs(H @ x + g).max() < 1e-8 * size), 1)
    if guess is not None and guess.any():
        known = with_active_rows(H, g, G, low, high, guess)
        if known is not None:
            return Quadratic(*known[:2], True, known[2])
    near = _interior(H, g, G, low, high, LOOSE)
    if near.solved:
        # far inside the rows there is nothing to learn from small multipliers
        Gx = G @ near.x
        room = np.minimum(np.maximum(high - Gx, 0.0), np.maximum(Gx - low, 0.0))
        likely = np.where(np.abs(near.multiplier) > room, near.multiplier, 0.0)
        known = with_active_rows(H, g, G, low, high, likely)
        if known is not None:
            return Quadratic(*known[:2], True, near.iterations + known[2])
    return _interior(H, g, G, low, high, TOLERANCE)


def _interior(
    H: np.ndarray, g: np.ndarray, G: np.ndarray, low: np.ndarray, high: np.ndarray, tolerance: float
) -> Quadratic:
    import piqp

    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_duality_gap_abs = tolerance
    solver.settings.eps_rel = solver.settings.eps_duality_gap_rel = tolerance
    solver.setup(np.asfortranarray(H), g, None, None, np.asfortranarray(G), low, high)
    status = solver.solve()
    result = solver.result
    # beyond the last digits PIQP may stop at its limit of iterations: its residuals decide
    close = max(result.info.primal_res, result.info.dual_res, abs(result.info.duality_gap)) < max(
        1e-8, tolerance
    )
    solved = status == piqp.PIQP_SOLVED or (status == piqp.PIQP_MAX_ITER_REACHED and close)
    x, multiplier = np.array(result.x), np.array(result.z_u) - np.array(result.z_l)
    return Quadratic(x, multiplier, bool(solved and np.isfinite(x).all()), int(result.info.iter))


def smallest_excess(
    G: np.ndarray, low: np.ndarray, high: np.ndarray, soft: np.ndarray
) -> tuple[float, np.ndarray]:
    """Min t with which soft rows hold at (1 + t) times their limits, hard rows as they are.

    Args:
        G: (rows, n).
        low: (rows,).
        high: (rows,).
        soft: (rows,) bool; soft rows are scaled so that their limits are about one.

    Returns:
        t, zero when all can be held, and the x that reaches it; infinite when even that fails.
    """
    n = G.shape[1]
    both = np.concatenate([G, G])
    slack = np.concatenate([soft, soft]).astype(float)
    upper = np.concatenate([np.ones(len(G), bool), np.zeros(len(G), bool)])
    rows = np.concatenate([both, np.where(upper, -slack, slack)[:, None]], axis=1)
    rows = np.concatenate([rows, np.eye(n + 1)[-1:]])
    inf = np.full(len(G), np.inf)
    lows = np.concatenate([-inf, low, [0.0]])
    highs = np.concatenate([high, inf, [np.inf]])
    H = 1e-9 * np.eye(n + 1)
    g = np.zeros(n + 1)
    g[-1] = 1.0
    result = solve_quadratic(H, g, rows, lows, highs)
    excess = float(result.x[-1]) if result.solved else np.inf
    return excess, result.x[:-1]
