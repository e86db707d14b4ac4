r"""Quadratic programs, and sequential quadratic programming with exact second derivatives.

.. math:: \min_z f(z), \qquad l \le c(z) \le h

Every step solves a quadratic program with the Hessian of the Lagrangian, its negative
curvature taken away, and is shortened until f plus a penalty on violated rows falls. Rows may
be added on the way: a limit that holds at all times is held at the times that matter.

Dense convex quadratic programs, by the interior-point method of PIQP.

.. math:: \min_x \tfrac12 x^\top H x + g^\top x, \qquad l \le G x \le h

Plain numpy in and out: nothing here is compiled by JAX.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from swelltree.spatial.linalg import lapack

EXACT = 1e-11  # largest violation of a row, rows of about unit size
TRIES = 12
FLAT = 1e-10  # of the largest curvature
REFINED = 2
HELD = 1e-9  # multiplier of a row that is held to begin with


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
    side = np.where(np.abs(guess) > HELD, np.sign(guess), 0.0)
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


SHORTEST = 2.0**-12  # min fraction of a step
NOTHING = 1e-10  # of the largest curvature: directions without any, left to the rows
MIN_CURVATURE = 1e-6  # of the largest curvature: smaller ones are raised to it
STIFFER = (1.0, 1e2)  # stiffness added across the rows that are held
ACTIVE = 1e-7  # multiplier of a row that is held


class Point:
    """A program at some z; cost and rows scaled to about one."""

    @cached_property
    def cost(self) -> float:
        """f."""
        raise NotImplementedError

    @cached_property
    def gradient(self) -> np.ndarray:
        """Of the cost, (n,)."""
        raise NotImplementedError

    @cached_property
    def rows(self) -> np.ndarray:
        """c, (m,)."""
        raise NotImplementedError

    @cached_property
    def jacobian(self) -> np.ndarray:
        """Of the rows, (m, n)."""
        raise NotImplementedError

    def hessian(self, multiplier: np.ndarray) -> np.ndarray:
        """Of f + multiplier . c, (n, n)."""
        raise NotImplementedError


class Program:
    """Nonlinear program."""

    convex: bool  # cost quadratic and convex, rows linear
    low: np.ndarray  # (m,) lower sides of the rows
    high: np.ndarray  # (m,) upper sides

    def at(self, z: np.ndarray) -> Point | None:
        """The program evaluated at z; None where it cannot be."""
        raise NotImplementedError

    def refine(self, point: Point) -> int:
        """Add violated rows between the present ones; returns their number."""
        return 0

    def is_lost(self, z: np.ndarray) -> bool:
        """Whether the search diverges."""
        return False


@dataclass
class Optimum:
    z: np.ndarray
    point: Point
    multiplier: np.ndarray
    kkt: float
    converged: bool
    feasible: bool
    history: list[tuple[float, float]] = field(default_factory=list)  # cost, KKT residual
    quadratic_iterations: int = 0


def _excess(program: Program, c: np.ndarray) -> np.ndarray:
    return np.maximum(np.maximum(program.low - c, c - program.high), 0.0)


def kkt_residual(program: Program, point: Point, multiplier: np.ndarray) -> float:
    """Maximum of stationarity, violation, wrong signs and complementarity."""
    gradient = point.gradient + point.jacobian.T @ multiplier
    c = point.rows
    # an open side has no multiplier
    room_high = np.where(np.isfinite(program.high), program.high - c, 1.0)
    room_low = np.where(np.isfinite(program.low), c - program.low, 1.0)
    pressed = np.maximum(multiplier, 0.0) * np.abs(room_high)
    pulled = np.maximum(-multiplier, 0.0) * np.abs(room_low)
    parts = (np.abs(gradient), _excess(program, c), pressed, pulled)
    return max(float(x.max(initial=0.0)) for x in parts)


def _convex(H: np.ndarray, J: np.ndarray) -> np.ndarray:
    """H without negative curvature.

    Curvature across rows J that are held does not matter, so stiffness is added there first:
    it leaves Newton's step along them as it is. What is still negative is cut off.
    """
    H = 0.5 * (H + H.T)
    size = largest(H)
    lifted = H + 10.0 * NOTHING * size * np.eye(len(H))
    if is_positive(H, -NOTHING * size):
        return lifted
    if len(J):
        across = J.T @ J
        across *= size / max(float(np.abs(across).max()), 1e-300)
        for factor in STIFFER:
            if is_positive(H + factor * across, MIN_CURVATURE * size):
                return H + factor * across
        H = H + STIFFER[-1] * across
    value, vector = np.linalg.eigh(H)
    least = MIN_CURVATURE * max(float(np.abs(value).max(initial=0.0)), 1e-300)
    return (vector * np.where(value > least, value, np.maximum(np.abs(value), least))) @ vector.T


def minimise(
    program: Program,
    z: np.ndarray,
    *,
    tol: float = 1e-9,
    max_iterations: int = 60,
    multiplier: np.ndarray | None = None,
) -> Optimum:
    """Search from z; the answer says whether it converged and whether its rows hold.

    Args:
        program: what is minimised.
        z: where to begin.
        tol: KKT residual at which the search ends.
        max_iterations: most steps.
        multiplier: of the rows at z, where something is known about them.
    """
    point = program.at(z)
    assert point is not None, "the search must start where the program can be evaluated"
    if multiplier is None or len(multiplier) != len(point.rows):
        multiplier = np.zeros(len(point.rows))
    best = Optimum(z, point, multiplier, np.inf, False, False)
    penalty = 1.0
    for _ in range(max_iterations):
        H = point.hessian(multiplier)
        if not program.convex:
            H = _convex(H, point.jacobian[np.abs(multiplier) > ACTIVE])
        step = _step(program, H, point.gradient, point.rows, point.jacobian, penalty, multiplier)
        best.quadratic_iterations += step.iterations
        if step.relaxed and program.convex:
            return best  # the limits contradict one another
        if step.relaxed:
            penalty *= 10.0
        size = float(np.abs(step.multiplier).max(initial=0.0))
        penalty = max(penalty, 1.5 * size) if penalty < 1.5 * size else penalty
        taken, part = _search(program, point, z, H, step, penalty)
        if taken is None:
            # nothing gets better: as far as rounding lets us
            best.kkt = min(best.kkt, kkt_residual(program, point, step.multiplier))
            if best.kkt == kkt_residual(program, point, step.multiplier):
                multiplier = step.multiplier
            best.z, best.point, best.multiplier = z, point, multiplier
            best.feasible = float(_excess(program, point.rows).max(initial=0.0)) < 1e-6
            best.converged = best.kkt < 1e2 * tol and best.feasible
            return best
        z, point = taken
        multiplier = multiplier + part * (step.multiplier - multiplier)
        kkt = kkt_residual(program, point, multiplier)
        best.history.append((point.cost, kkt))
        feasible = float(_excess(program, point.rows).max(initial=0.0)) < 1e-6
        best.z, best.point, best.multiplier, best.kkt = z, point, multiplier, kkt
        best.feasible = feasible
        if program.is_lost(z):
            return best
        near = kkt < (tol if not program.convex else np.inf) or (program.convex and part == 1.0)
        if near or kkt < 1e-3:
            added = program.refine(point)
            if added:
                point = program.at(z)
                assert point is not None
                multiplier = np.concatenate([multiplier, np.zeros(added)])
                continue
        if near and feasible:
            best.converged = kkt < 1e2 * tol
            return best
    return best


@dataclass(frozen=True)
class _Step:
    d: np.ndarray
    multiplier: np.ndarray
    relaxed: bool  # the linearised rows could not all be held
    iterations: int


def _step(
    program: Program,
    H: np.ndarray,
    g: np.ndarray,
    c: np.ndarray,
    J: np.ndarray,
    penalty: float,
    guess: np.ndarray,
) -> _Step:
    """Quadratic program of one step; inconsistent rows are relaxed equally."""
    result = solve_quadratic(H, g, J, program.low - c, program.high - c, guess)
    if result.solved:
        return _Step(result.x, result.multiplier, False, result.iterations)
    n, m = len(g), len(c)
    big = np.zeros((n + 1, n + 1))
    big[:n, :n], big[n, n] = H, 1e-8
    up = np.concatenate([J, -np.ones((m, 1))], axis=1)
    down = np.concatenate([J, np.ones((m, 1))], axis=1)
    rows = np.concatenate([up, down, np.eye(n + 1)[-1:]])
    inf = np.full(m, np.inf)
    low = np.concatenate([-inf, program.low - c, [0.0]])
    high = np.concatenate([program.high - c, inf, [np.inf]])
    again = solve_quadratic(big, np.append(g, 10.0 * penalty * max(m, 1)), rows, low, high)
    both = again.multiplier[:m] + again.multiplier[m : 2 * m]
    total = result.iterations + again.iterations
    return _Step(again.x[:n], both, bool(again.x[n] > 1e-9), total)


def _search(
    program: Program, point: Point, z: np.ndarray, H: np.ndarray, step: _Step, penalty: float
) -> tuple[tuple[np.ndarray, Point] | None, float]:
    """Longest step that lowers the merit function; a second-order correction is tried first."""
    if program.convex:
        there = program.at(z + step.d)
        return (None if there is None else (z + step.d, there)), 1.0
    broken = float(_excess(program, point.rows).sum())
    merit = point.cost + penalty * broken
    linear = float(_excess(program, point.rows + point.jacobian @ step.d).sum())
    fall = float(point.gradient @ step.d) + penalty * (linear - broken)
    fall = min(fall, 0.0)
    slack = 1e-13 * max(abs(merit), 1.0)

    def good(there: Point | None, part: float) -> bool:
        if there is None:
            return False
        new = there.cost + penalty * float(_excess(program, there.rows).sum())
        return bool(np.isfinite(new) and new <= merit + 1e-4 * part * fall + slack)

    there = program.at(z + step.d)
    if good(there, 1.0):
        assert there is not None
        return (z + step.d, there), 1.0
    if there is not None and np.isfinite(there.rows).all():
        # second-order correction: rows as they are at the end of the step
        bent = there.rows - point.jacobian @ step.d
        again = _step(program, H, point.gradient, bent, point.jacobian, penalty, step.multiplier)
        corrected = program.at(z + again.d)
        if good(corrected, 1.0):
            assert corrected is not None
            return (z + again.d, corrected), 1.0
    part = 0.5
    while part >= SHORTEST:
        there = program.at(z + part * step.d)
        if good(there, part):
            assert there is not None
            return (z + part * step.d, there), part
        part *= 0.5
    return None, 0.0
