r"""Tables over the depth of bodies at the surface.

Cubics without overshoot (Fritsch and Carlson 1980) between the rows, constant outside of them.
The rows of a table pick themselves: the interval of a depth is the number of rows above it.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
from jaxtyping import Float

from swelltree.engine.arrays import Array, namespace, pytree

COLUMNS = {"volume": 0, "center": slice(1, 4), "added": slice(4, 7), "drag": slice(7, 10)}
WIDTH = 10


@pytree()
class DepthTables:
    """Tables of e bodies, padded to one number of intervals i by intervals that are never met."""

    start: Array  # (e, i) depth at which each interval begins, m
    last: Array  # (e,) where the last one ends, m
    cubic: Array  # (e, i, 4, WIDTH) powers of the depth from the start of the interval
    below: Array  # (e, i) integral of the volume over all intervals before, m^4


@pytree()
class Wet:
    """What is wet of each body at its depth."""

    volume: Array  # (e,) m^3
    center: Array  # (e, 3) body axes, from the reference point, m
    added: Array  # (e, 3) along the body axes, kg
    added_slope: Array  # (e, 3) by depth, kg/m
    drag: Array  # (e, 3) Cd times area, m^2
    head: Array  # (e,) integral of the volume over depth, m^4


def depth_tables(tables: list[tuple[np.ndarray, np.ndarray]]) -> DepthTables:
    """From rows of depth (k,) and columns (k, WIDTH) of every body."""
    from scipy.interpolate import PchipInterpolator

    most = max(len(depth) for depth, _ in tables) - 1
    start, cubic, below = [], [], []
    for depth, columns in tables:
        fit = PchipInterpolator(depth, columns)
        powers = np.moveaxis(fit.c[::-1], 0, 1)  # (i, 4, WIDTH), constants first
        gaps = np.diff(depth)
        volume = powers[:, :, 0] * gaps[:, None] ** np.arange(1, 5) / np.arange(1, 5)
        sums = np.concatenate([[0.0], np.cumsum(volume.sum(1))])[:-1]
        spare = most - len(gaps)
        start.append(np.pad(depth[:-1], (0, spare), constant_values=np.inf))
        cubic.append(np.pad(powers, ((0, spare), (0, 0), (0, 0))))
        below.append(np.pad(sums, (0, spare)))
    last = np.array([depth[-1] for depth, _ in tables])
    return DepthTables(np.array(start), last, np.array(cubic), np.array(below))


def wet_at(tables: DepthTables, depth: Float[Array, " e"]) -> Wet:
    """Everything the tables say at a depth of each body."""
    xp = namespace(depth, tables.cubic)
    first = tables.start[:, 0]
    inside = xp.clip(depth, first, tables.last)
    count = (inside[:, None] >= tables.start).sum(1) - 1
    hit = (np.arange(tables.start.shape[1])[None] == count[:, None]) * 1.0
    start = (hit * _finite(tables.start, xp)).sum(1)
    c = (hit[:, :, None, None] * tables.cubic).sum(1)
    s = (inside - start)[:, None]
    value = c[:, 0] + s * (c[:, 1] + s * (c[:, 2] + s * c[:, 3]))
    slope = c[:, 1] + s * (2.0 * c[:, 2] + 3.0 * s * c[:, 3])
    slope = xp.where(((depth > first) & (depth < tables.last))[:, None], slope, 0.0)
    v, x = c[:, :, 0], s[:, 0]
    head = x * (v[:, 0] + x * (v[:, 1] / 2.0 + x * (v[:, 2] / 3.0 + x * v[:, 3] / 4.0)))
    head = head + (hit * tables.below).sum(1)
    volume = value[:, COLUMNS["volume"]]
    return Wet(
        volume=volume,
        center=value[:, COLUMNS["center"]],
        added=value[:, COLUMNS["added"]],
        added_slope=slope[:, COLUMNS["added"]],
        drag=value[:, COLUMNS["drag"]],
        head=head + volume * xp.maximum(depth - tables.last, 0.0),
    )


def _finite(start: Array, xp: ModuleType) -> Array:
    return xp.where(xp.isfinite(start), start, 0.0)
