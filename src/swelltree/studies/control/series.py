r"""Periodic series of strokes, rates and forces of the driven elements, and their derivatives.

All studies of optimal control see the system through a `Response`: the coefficients of stroke x,
rate v and force F of every element, and how they change with the unknowns z.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Response:
    """Series (c coefficients: mean, cosines, sines) at some z."""

    stroke: np.ndarray  # (c, p)
    rate: np.ndarray  # (c, p)
    force: np.ndarray  # (c, p)
    d_stroke: np.ndarray  # (c, p, z)
    d_rate: np.ndarray  # (c, p, z)
    d_force: np.ndarray  # (c, p, z)
    # second derivatives of sum(w_x x + w_v v + w_F F): (w_x, w_v, w_F) -> (z, z); None: linear
    curvature: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray] | None = None


def harmonics_of(coefficients: np.ndarray) -> int:
    """Number of harmonics of a series."""
    return (len(coefficients) - 1) // 2


def values_at(omega: float, times: np.ndarray, harmonics: int) -> np.ndarray:
    """Read-only rows (times, 2N + 1) that map coefficients to values."""
    return _values_at(omega, times.tobytes(), harmonics)


@functools.lru_cache(maxsize=16)
def _values_at(omega: float, raw: bytes, harmonics: int) -> np.ndarray:
    times = np.frombuffer(raw)
    phase = np.outer(times, omega * np.arange(1, harmonics + 1))
    return np.concatenate([np.ones((len(times), 1)), np.cos(phase), np.sin(phase)], axis=1)


def times_series(x: np.ndarray, change: np.ndarray) -> np.ndarray:
    """x @ change, fast if every unknown is one coefficient."""
    if np.count_nonzero(change) == change.shape[1]:
        place = change.argmax(axis=0)
        if (change[place, np.arange(change.shape[1])] == 1.0).all():
            return x[:, place]
    return x @ change


def rate_of(omega: float, coefficients: np.ndarray) -> np.ndarray:
    n = harmonics_of(coefficients)
    k = omega * np.arange(1, n + 1).reshape(-1, *(1,) * (coefficients.ndim - 1))
    cos, sin = coefficients[1 : n + 1], coefficients[n + 1 :]
    return np.concatenate([0.0 * coefficients[:1], k * sin, -k * cos])


def weights(harmonics: int) -> np.ndarray:
    """Mean of the product of two series = sum of weights times the coefficients."""
    return np.where(np.arange(2 * harmonics + 1) == 0, 1.0, 0.5)


def sampled(coefficients: np.ndarray, count: int) -> np.ndarray:
    """Values at `count` equidistant times, by FFT; count > 2N."""
    n = harmonics_of(coefficients)
    hat = np.zeros((count // 2 + 1, *coefficients.shape[1:]), dtype=complex)
    hat[0] = coefficients[0] * count
    hat[1 : n + 1] = 0.5 * count * (coefficients[1 : n + 1] - 1j * coefficients[n + 1 :])
    return np.fft.irfft(hat, n=count, axis=0)


def projected(values: np.ndarray) -> np.ndarray:
    """Coefficients of values at an odd or even number of equidistant times, Nyquist dropped."""
    count = len(values)
    hat = np.fft.rfft(values, axis=0) / count
    n = (count - 1) // 2
    return np.concatenate([hat[:1].real, 2.0 * hat[1 : n + 1].real, -2.0 * hat[1 : n + 1].imag])
