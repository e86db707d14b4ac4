r"""Fatigue: cycles of a load counted by rainflow, and the constant range that does equal damage.

Cycles are counted as in ASTM E1049-85 (2017), 5.4.4: ranges that are enclosed by larger ones are
whole cycles, what is left over are half cycles. With Wöhler exponent m the damage-equivalent range
of :math:`N_{eq}` cycles is

.. math:: S_{eq} = \left( \frac{\sum_i n_i S_i^m}{N_{eq}} \right)^{1/m}
"""

from __future__ import annotations

import itertools

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array, Numbers

EXPONENTS = (3.0, 5.0, 10.0)  # chain and welds, wire ropes, composites and fibre ropes
FREQUENCY = 1.0  # Hz: cycles of the equivalent range


def turning_points(values: np.ndarray) -> np.ndarray:
    """First and last sample and all local extremes between them, of a record without gaps."""
    x = np.asarray(values, float)
    if x.size < 2:
        return x
    x = x[np.concatenate([[True], np.diff(x) != 0])]
    if x.size < 3:
        return x
    rising = np.diff(x) > 0
    turns = np.concatenate([[True], rising[1:] != rising[:-1], [True]])
    return x[turns]


def rainflow(values: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ranges of the cycles of a load, their means, and how often each occurs (0.5 or 1).

    Args:
        values: samples in time.
    """
    x = np.asarray(values, float)
    gaps = np.flatnonzero(~np.isfinite(x))
    if gaps.size:
        raise SwelltreeError(
            f"rainflow: {gaps.size} of {x.size} samples are not finite numbers, the first is "
            f"sample {gaps[0]}. Cycles across a gap are not known: give a record without gaps."
        )
    ranges, means, counts = [], [], []
    stack: list[float] = []

    def count(a: float, b: float, often: float) -> None:
        ranges.append(abs(a - b))
        means.append(0.5 * (a + b))
        counts.append(often)

    for point in turning_points(x):
        stack.append(float(point))
        while len(stack) >= 3:
            last, before = abs(stack[-1] - stack[-2]), abs(stack[-2] - stack[-3])
            if last < before:
                break
            if len(stack) == 3:  # the range holds the first point: half a cycle
                count(stack[0], stack[1], 0.5)
                stack.pop(0)
            else:
                count(stack[-2], stack[-3], 1.0)
                del stack[-3:-1]
    for a, b in itertools.pairwise(stack):
        count(a, b, 0.5)
    return np.array(ranges), np.array(means), np.array(counts)


def damage_equivalent(
    values: Array, exponent: Numbers, duration: float, frequency: float = FREQUENCY
) -> np.ndarray:
    """Range whose cycles of one frequency do the damage of a load, along the last axis.

    Records with gaps have none: not a number.

    Args:
        values: samples (..., time).
        exponent: of the Wöhler curve, m; a row of them gives a last axis.
        duration: of the samples [s].
        frequency: of the equivalent cycles [Hz].
    """
    m = np.asarray(exponent, float)
    if not (m > 0).all() or not duration > 0 or not frequency > 0:
        raise SwelltreeError(
            f"damage_equivalent: exponent {exponent}, duration {duration} s and frequency "
            f"{frequency} Hz must be positive. Give e.g. 5, 3600 and 1."
        )
    x = np.asarray(values, float)
    out = np.full((*x.shape[:-1], *m.shape), np.nan)
    for place in np.ndindex(x.shape[:-1]):
        if np.isfinite(x[place]).all():
            ranges, _, counts = rainflow(x[place])
            # the largest range taken out, so that no power overflows
            top = ranges.max(initial=0.0) or 1.0
            powers = (ranges / top) ** m[..., None]
            share = (counts * powers).sum(-1) / (frequency * duration)
            out[place] = top * share ** (1.0 / m)
    return out


def equivalent_of_damage(
    damage: np.ndarray, exponent: Numbers, duration: float, frequency: float = FREQUENCY
) -> np.ndarray:
    """The same from sums of cycles (..., exponent).

    Args:
        damage: (..., 1 + exponent) the largest range, and for each exponent the sum of cycles times
            the power of their ranges, of the largest.
        exponent: of the Wöhler curve, a row of them.
        duration: of the samples [s].
        frequency: of the equivalent cycles [Hz].
    """
    share = damage[..., 1:] / (frequency * duration)
    return damage[..., :1] * share ** (1.0 / np.asarray(exponent, float))
