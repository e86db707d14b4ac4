"""Growing from still water, so that a run starts without a shock."""

from __future__ import annotations

import math

from swelltree.jit import Array, namespace


def ramp(t: Array, duration: Array) -> Array:
    r"""Factor that grows smoothly from 0 to 1.

    .. math:: r(t) = \tfrac12\left(1 + \cos(\pi + \pi t / T)\right), \quad 0 \le t \le T

    Args:
        t: time [s]; zero before t = 0, one after T.
        duration: T [s]; with zero the factor is one at all times.
    """
    xp = namespace(t, duration)
    full = xp.where(duration > 0, duration, 1.0)
    part = xp.clip(t / full, 0.0, 1.0)
    return xp.where(duration > 0, 0.5 * (1 - xp.cos(math.pi * part)), 1.0)


def ramp_and_rate(t: Array, duration: Array) -> tuple[Array, Array]:
    """The factor at times after zero, and its rate [1/s]."""
    xp = namespace(t, duration)
    length = xp.where(duration > 0, duration, 1.0)
    grows = t < duration
    x = math.pi * xp.minimum(t, length) / length
    rate = xp.where(grows, 0.5 * math.pi / length * xp.sin(x), 0.0)
    return xp.where(grows, 0.5 * (1.0 - xp.cos(x)), 1.0), rate


def ramped(
    t: Array, duration: Array, value: Array, rate: Array, power: int = 1
) -> tuple[Array, Array]:
    """Values and their rates (time, m, ...) in a sea that grows from still water.

    Args:
        t: times (time, ...) [s].
        duration: of the ramp [s].
        value: without it.
        rate: of these.
        power: of the amplitude with which the values go.
    """
    r, change = (x[:, None] for x in ramp_and_rate(t, duration))
    if power == 2:
        r, change = r**2, 2.0 * r * change
    return r * value, r * rate + change * value
