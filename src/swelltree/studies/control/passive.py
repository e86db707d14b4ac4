"""The best plain damper under the same limits: what control is compared with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swelltree.studies.control.goal import Goal, electrical, fine_values
from swelltree.studies.control.series import Response, sampled

SPAN = np.logspace(-3, 3, 49)  # of the size of the impedance
ZOOM = 4  # rounds of refinement


def power_of(goal: Goal, response: Response) -> float:
    """Mean electrical power of a response."""
    count = 16 * ((len(response.force) - 1) // 2)
    F, v = sampled(response.force, count), sampled(response.rate, count)
    return float(electrical(goal, -F * v, F).sum(axis=1).mean())


def within(goal: Goal, omega: float, response: Response) -> bool:
    """Are all limits kept?"""
    for limit in goal.limits:
        value = fine_values(omega, response, limit)
        over = max(value.max() - limit.high, limit.low - value.min())
        if over > 1e-9 * limit.scale:
            return False
    return True


def best_damper(
    respond: Callable[[np.ndarray], Response | None],
    goal: Goal,
    omega: float,
    size: np.ndarray,
    span: np.ndarray = SPAN,
) -> tuple[float, np.ndarray]:
    """Mean power and dampings of the best dampers within the limits; NaN when none is.

    Args:
        respond: dampings (p,) -> Response.
        goal: losses and limits.
        omega: of the period [rad/s].
        size: (p,) typical impedance of each element.
        span: factors tried first, the same for all elements.
    """

    def power(c: np.ndarray) -> float:
        response = respond(c)
        if response is None or not within(goal, omega, response):
            return -np.inf
        return power_of(goal, response)

    tried = [(power(factor * size), factor * size) for factor in span]
    best, c = max(tried, key=lambda pair: pair[0])
    if not np.isfinite(best):
        return np.nan, np.full(len(size), np.nan)
    ratio = span[1] / span[0]
    for _ in range(ZOOM):
        for i in range(len(size)):
            for factor in ratio ** np.linspace(-1.0, 1.0, 9):
                new = c.copy()
                new[i] *= factor
                value = power(new)
                if value > best:
                    best, c = value, new
        ratio = ratio**0.25
    return best, c
