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
