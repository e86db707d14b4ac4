"""Between the headings of the data: neighbours and weights on the circle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swelltree.system.errors import SwelltreeError

TURN = 2.0 * np.pi


class Between(NamedTuple):
    """Every wanted heading lies between two of the data: (1 - part) left + part right."""

    left: np.ndarray
    right: np.ndarray
    part: np.ndarray


def between(direction: np.ndarray, beta: np.ndarray, what: str = "hydro data") -> Between:
    """Neighbours of the headings `beta` among those of the data.

    Args:
        direction: headings of the data, in any order [rad].
        beta: wanted headings [rad].
        what: name of the data, for the message when a heading is outside them.
    """
    direction, beta = np.asarray(direction, float), np.asarray(beta, float)
    zero = np.zeros(len(beta), int)
    if len(direction) == 1:
        off = np.abs((beta - direction[0] + np.pi) % TURN - np.pi)
        if off.max(initial=0.0) > 1e-6:
            raise SwelltreeError(
                f"the wave has heading {beta[off.argmax()]:.4g} rad, but the {what} hold only "
                f"{direction[0]:.4g} rad. Compute data for that wave_direction."
            )
        return Between(zero, zero, 0.0 * beta)
    first, known, order = around_the_circle(direction, np.arange(len(direction))[None])
    order = order[0]
    wanted = (beta - first) % TURN
    wanted = np.where(wanted > TURN - 1e-6, 0.0, wanted)
    if (wanted > known[-1] + 1e-9).any():
        raise SwelltreeError(
            f"the wave has heading {beta[wanted.argmax()]:.4g} rad, outside the {what}'s "
            f"{direction.min():.4g} to {direction.max():.4g} rad. Compute data for it."
        )
    i = np.clip(np.searchsorted(known, wanted, side="right") - 1, 0, len(known) - 2)
    return Between(order[i], order[i + 1], (wanted - known[i]) / (known[i + 1] - known[i]))


def around_the_circle(
    direction: np.ndarray, force: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Headings as one increasing range.

    Returns:
        the first heading, all headings counted from it, and the data (..., heading on axis 1)
        in their order; the circle is closed when the data go all around.
    """
    order = np.argsort(direction % TURN)
    known = (direction % TURN)[order]
    gaps = np.diff(np.append(known, known[0] + TURN))
    # begin after the widest gap, so that headings on both sides of zero are one range
    order = np.roll(order, -(int(gaps.argmax()) + 1))
    first = float(direction[order[0]])
    known = (direction[order] - first) % TURN
    force = force[:, order]
    if len(known) > 1 and gaps.max() <= 1.01 * np.sort(gaps)[: max(1, len(gaps) - 1)].max():
        known, force = np.append(known, TURN), np.concatenate([force, force[:, :1]], axis=1)
    return first, known, force


def middle(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The heading half way between two, along the shorter arc [rad]."""
    return first + 0.5 * ((second - first + np.pi) % TURN - np.pi)
