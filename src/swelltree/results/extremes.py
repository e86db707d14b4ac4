r"""Extremes: the largest value to expect in some hours, from peaks of runs that are shorter.

Three ways, which should agree where the data suffice:

- `weibull_tail`: a three-parameter Weibull distribution through the peaks, by moments of their
  logarithms' order (least squares on the plotting positions of the upper part);
- `peaks_over_threshold`: the excesses above a threshold are generalised Pareto (Pickands 1975), by
  probability-weighted moments (Hosking and Wallis 1987);
- `most_probable_maximum`: the largest values of several runs (seeds) are Gumbel distributed; by
  moments, with a confidence interval by the parametric bootstrap.

For N peaks in the time asked for, the most probable maximum of an exponential-like tail is the
level that one of N peaks exceeds, :math:`1 - F(x) = 1/N`.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array, Numbers

HOURS_3 = 10800.0  # s
EULER = 0.5772156649015329
DRAWS = 20_000  # of the bootstrap


class Extreme(NamedTuple):
    """An expected maximum.

    Args:
        value: most probable largest value.
        low: lower end of the interval of confidence.
        high: upper end.
        confidence: of the interval.
    """

    value: float
    low: float
    high: float
    confidence: float


def largest_peaks(values: np.ndarray, count: int) -> np.ndarray:
    """The largest crests between upward crossings of the mean, falling (..., count).

    Args:
        values: samples (..., time).
        count: how many; where there are fewer the rest is NaN. A record with gaps has none: its
            largest may lie there.
    """
    x = np.asarray(values, float)
    out = np.full((*x.shape[:-1], count), np.nan)
    for place in np.ndindex(x.shape[:-1]):
        if np.isfinite(x[place]).all():
            largest = np.sort(crests(x[place]))[::-1][:count]
            out[(*place, slice(0, len(largest)))] = largest
    return out


def crests(values: np.ndarray) -> np.ndarray:
    """Maximum between successive mean upcrossings of a record without gaps."""
    x = np.asarray(values, float)
    if x.size < 2:
        return x[:0]
    above = x > x.mean()
    rises = np.flatnonzero(above[1:] & ~above[:-1]) + 1
    # a crest that is cut off by the end counts too: it may be the largest
    return np.maximum.reduceat(x, rises) if rises.size else x[:0]


def weibull_tail(
    peaks: Numbers, duration: float, within: float = HOURS_3, part: float = 0.5
) -> float:
    """Most probable largest value in a time by a Weibull distribution through the peaks.

    Args:
        peaks: all crests of one or several runs; rows of runs may end with gaps.
        duration: of these runs together [s].
        within: time for which the maximum is estimated [s].
        part: of the peaks, from the top, that the distribution is laid through.
    """
    from scipy.optimize import minimize_scalar

    x = _peaks(peaks, "weibull_tail", 10)
    n = len(x)
    _positive("weibull_tail", duration=duration, within=within)
    if not 0.0 < part <= 1.0:
        raise SwelltreeError(f"weibull_tail: part {part} is not between 0 and 1. Give e.g. 0.5.")
    # survival of the sorted peaks, Gringorten's plotting positions
    survival = 1.0 - (np.arange(1, n + 1) - 0.44) / (n + 0.12)
    upper = slice(int((1.0 - part) * n), n)
    y = np.log(-np.log(survival[upper]))
    if x[upper][0] == x[-1]:
        raise SwelltreeError(
            f"weibull_tail: the largest {n - upper.start} peaks are all {x[-1]:g}, and no "
            "distribution can be fitted. Give peaks of irregular waves, or a larger part."
        )

    def misfit(gap: float) -> tuple[float, float, float]:
        """Of the line y = k log(x - location) + c, in the value x."""
        u = np.log(x[upper] - (x[0] - gap))
        shape, offset = np.polyfit(u, y, 1)
        away = (shape * u + offset - y) / shape * np.exp(u)
        return float(np.mean(away**2)), shape, offset

    spread = float(x[-1] - x[0]) or 1.0
    best: Any = minimize_scalar(
        lambda e: misfit(spread * 10.0**e)[0], bounds=(-3.0, 1.5), method="bounded"
    )
    gap = spread * 10.0 ** float(best.x)
    _, shape, offset = misfit(gap)
    level = np.log(np.log(max(n * within / duration, np.e)))
    return float(x[0] - gap + np.exp((level - offset) / shape))


def peaks_over_threshold(
    peaks: Numbers, duration: float, within: float = HOURS_3, threshold: float | None = None
) -> float:
    """Most probable largest value in a time by the excesses above a threshold.

    Args:
        peaks: crests of one or several runs; all that exceed the threshold suffice. Rows of runs
            may end with gaps.
        duration: of these runs together [s].
        within: time for which the maximum is estimated [s].
        threshold: excesses above it count; a tenth of the peaks, at least 20, if not given. Lower
            ones hold peaks that do not belong to the tail: at the median Rayleigh peaks are
            under-estimated by a tenth.
    """
    x = _peaks(peaks, "peaks_over_threshold", 10)
    _positive("peaks_over_threshold", duration=duration, within=within)
    low = _tail(x) if threshold is None else float(threshold)
    excess = np.sort(x[x > low] - low)
    if len(excess) < 5:
        raise SwelltreeError(
            f"peaks_over_threshold: {len(excess)} peaks exceed the threshold {low:g}. Give a "
            "lower one, so that at least 5 do."
        )
    # probability-weighted moments, Hosking and Wallis (1987), eq. 6
    n = len(excess)
    a0 = excess.mean()
    a1 = (excess * (1.0 - (np.arange(1, n + 1) - 0.35) / n)).mean()
    shape, scale = a0 / (a0 - 2.0 * a1) - 2.0, 2.0 * a0 * a1 / (a0 - 2.0 * a1)
    often = max(n * within / duration, 1.0)
    if abs(shape) < 1e-6:
        return float(low + scale * np.log(often))
    return float(low + scale / shape * (1.0 - often ** (-shape)))


def most_probable_maximum(
    maxima: Numbers,
    duration: float,
    within: float = HOURS_3,
    confidence: float = 0.9,
    seed: int = 0,
) -> Extreme:
    """Most probable largest value in a time from the largest values of several runs.

    A Gumbel distribution by moments; the largest of r runs is Gumbel again, moved by its scale
    times log(r).

    Args:
        maxima: largest value of each run (seed).
        duration: of each run [s].
        within: time for which the maximum is estimated [s].
        confidence: of the interval, by the parametric bootstrap: the error of the estimate over
            the estimated scale has one distribution for all Gumbel distributions.
        seed: of the bootstrap.
    """
    x = _peaks(np.asarray(maxima, float).ravel(), "most_probable_maximum", 3)
    _positive("most_probable_maximum", duration=duration, within=within)
    if not 0.0 < confidence < 1.0:
        raise SwelltreeError(
            f"most_probable_maximum: confidence {confidence} is not between 0 and 1. Give e.g. 0.9."
        )
    value, scale = _mode(x, within / duration)
    tail = 0.5 * (1.0 - confidence)
    errors = _errors_of_mode(len(x), within / duration, seed)
    low, high = value - scale * np.quantile(errors, [1.0 - tail, tail])
    return Extreme(float(value), float(low), float(high), confidence)


@functools.lru_cache(maxsize=32)
def _errors_of_mode(count: int, times: float, seed: int) -> np.ndarray:
    """Errors of `_mode` over the estimated scale, for samples of the standard Gumbel distribution.

    Location and scale drop out, so that the true value lies within quantiles of them as often as
    they say, however few runs there are.
    """
    x = np.random.default_rng(seed).gumbel(size=(DRAWS, count))
    value, scale = _mode(x, times)
    return (value - np.log(times)) / scale


def _tail(x: np.ndarray) -> float:
    """Threshold exceeded by a tenth of the sorted peaks, at least 20."""
    above = min(max(len(x) // 10, 20), len(x) - 1)
    return float(x[-above - 1])


def _mode(x: np.ndarray, times: float) -> tuple[Array, Array]:
    """Mode of the maximum of this number of runs, and scale, by moments of the runs (..., run)."""
    scale = x.std(-1, ddof=1) * np.sqrt(6.0) / np.pi
    return x.mean(-1) - EULER * scale + scale * np.log(times), scale


def _peaks(values: Numbers, study: str, least: int) -> np.ndarray:
    """Sorted values; gaps after the last peak of a run are ignored."""
    specified = np.asarray(values, float)
    runs = specified if specified.ndim > 1 else specified.reshape(-1, 1)
    there = np.isfinite(runs)
    behind = np.isnan(runs) & np.logical_or.accumulate(there, axis=-1)
    behind &= ~np.logical_or.accumulate(there[..., ::-1], axis=-1)[..., ::-1]
    missing = int((~there & ~behind).sum())
    if missing:
        raise SwelltreeError(
            f"{study}: {missing} of {specified.size} values are not finite. Runs that failed "
            "may be those with the largest values: run them again, or give the others alone."
        )
    x = np.sort(runs[there])
    if len(x) < least:
        raise SwelltreeError(
            f"{study}: there are {len(x)} values. Give at least {least}, of longer runs or more "
            "seeds."
        )
    return x


def _positive(study: str, **times: float) -> None:
    for word, value in times.items():
        if not value > 0:
            raise SwelltreeError(f"{study}: {word} {value} s is not positive. Give seconds.")
