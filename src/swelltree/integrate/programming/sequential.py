r"""Sequential quadratic programming with exact second derivatives.

.. math:: \min_z f(z), \qquad l \le c(z) \le h

Every step solves a quadratic program with the Hessian of the Lagrangian, its negative
curvature taken away, and is shortened until f plus a penalty on violated rows falls. Rows may
be added on the way: a limit that holds at all times is held at the times that matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from swelltree.integrate.programming.quadratic import is_positive, largest, solve_quadratic

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
