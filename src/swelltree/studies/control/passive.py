"""The best plain damper under the same limits: what control is compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from swelltree.studies.control.goal import Goal, electrical, fine_values
from swelltree.studies.control.series import Response, sampled

SPAN = np.logspace(-3, 3, 49)  # of the size of the impedance
ZOOM = 4  # rounds of refinement


class Passive(NamedTuple):
    """The best dampers; not numbers where there are none."""

    power: float  # absorbed, mean [W]
    electrical: float  # what losses leave of it [W]
    damping: np.ndarray  # (p,)


def no_damper(count: int) -> Passive:
    """What is known where none was found or sought."""
    return Passive(np.nan, np.nan, np.full(count, np.nan))


def powers_of(goal: Goal, response: Response) -> tuple[float, float]:
    """Mean absorbed and electrical power of a response."""
    count = 16 * ((len(response.force) - 1) // 2)
    F, v = sampled(response.force, count), sampled(response.rate, count)
    absorbed = -F * v
    return (
        float(absorbed.sum(axis=1).mean()),
        float(electrical(goal, absorbed, F).sum(axis=1).mean()),
    )


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
) -> Passive:
    """The dampers of most electrical power within the limits; NaN when none is.

    Args:
        respond: dampings (p,) -> Response.
        goal: losses and limits.
        omega: of the period [rad/s].
        size: (p,) typical impedance of each element.
        span: factors tried first, the same for all elements.
    """

    def powers(c: np.ndarray) -> tuple[float, float]:
        response = respond(c)
        if response is None or not within(goal, omega, response):
            return -np.inf, -np.inf
        return powers_of(goal, response)

    tried = [(powers(factor * size), factor * size) for factor in span]
    best, c = max(tried, key=lambda pair: pair[0][1])
    if not np.isfinite(best[1]):
        return no_damper(len(size))
    ratio = span[1] / span[0]
    for _ in range(ZOOM):
        for i in range(len(size)):
            for factor in ratio ** np.linspace(-1.0, 1.0, 9):
                new = c.copy()
                new[i] *= factor
                value = powers(new)
                if value[1] > best[1]:
                    best, c = value, new
        ratio = ratio**0.25
    return Passive(*best, c)
