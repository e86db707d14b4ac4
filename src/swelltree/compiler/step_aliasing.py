"""What steps of given length do not see of a user's function: their rule against samples between.

A step of the classical Runge-Kutta method asks for a load at its ends and in its middle, and takes
Simpson's rule for the mean. Where samples within the step give another one, the step is divided at
these samples and where the function jumps. Pulses between the samples are looked for as smooth
solvers do.
"""

from __future__ import annotations

import numpy as np

from swelltree.compiler.breakpoints import functions_of_time, jumps, pulses, sampled
from swelltree.model.model import Model

WITHIN = 16  # parts of a step
MISSED = 0.02  # of the range of a function: what a step may leave out of its mean
MAX_DIVIDED_STEPS = 200  # steps that are divided; beyond this the step itself is wrong


def aliased_times(model: Model, times: np.ndarray, step: float) -> tuple[np.ndarray, int]:
    """Times at which steps have to end besides their own [s], and in how many steps.

    Args:
        model: compiled; not traced.
        times: samples of the run [s].
        step: longest step between them [s].
    """
    functions = functions_of_time(model)
    ends = step_ends(times, step)
    if not functions or len(ends) < 2:
        return np.zeros(0), 0
    share = np.arange(WITHIN + 1) / WITHIN
    at = ends[:-1, None] + np.diff(ends)[:, None] * share
    result, divided = [np.zeros(0)], np.zeros(len(at), dtype=bool)
    for function in functions:
        values = sampled(function, at.ravel())
        for k in np.flatnonzero(np.isfinite(values).all(0) & (np.ptp(values, axis=0) > 0.0)):
            rows = values[:, k].reshape(at.shape)
            simpson = (rows[:, 0] + 4.0 * rows[:, WITHIN // 2] + rows[:, -1]) / 6.0
            trapezoidal = rows[:, :-1].mean(1) + 0.5 * (rows[:, -1] - rows[:, 0]) / WITHIN
            off = np.abs(simpson - trapezoidal) > MISSED * np.ptp(rows)
            divided |= off
            if divided.sum() > MAX_DIVIDED_STEPS:
                return np.zeros(0), int(divided.sum())
            if off.any():
                one = lambda t, k=k, f=function: sampled(f, t)[:, k]  # noqa: E731
                result += [at[off, 1:-1].ravel(), jumps(one, at[off].ravel(), rows[off].ravel())]
        result.append(pulses(function, at.ravel(), values))
    return np.unique(np.concatenate(result)), int(divided.sum())


def step_ends(times: np.ndarray, step: float) -> np.ndarray:
    """Ends of equal steps between samples, none longer than the step."""
    gaps = np.diff(times)
    counts = np.maximum(np.ceil(gaps / step * (1.0 - 1e-9)).astype(int), 1)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    number = np.arange(counts.sum()) - first  # of a step between two samples
    of = np.repeat(np.arange(len(gaps)), counts)
    return np.append(times[of] + gaps[of] * number / counts[of], times[-1:])
