"""Numbers that sum up a difference between two time series."""

from __future__ import annotations

import numpy as np


def rms_error(ours: np.ndarray, target: np.ndarray) -> float:
    """Rms of the difference over the standard deviation of the target."""
    return float(np.sqrt(np.mean((ours - target) ** 2)) / target.std())


def largest_error(ours: np.ndarray, target: np.ndarray) -> float:
    """Largest difference over the range of the target."""
    return float(np.abs(ours - target).max() / np.ptp(target))


def harmonic(time: np.ndarray, values: np.ndarray, omega: float) -> complex:
    """Complex amplitude X of values = mean + Re[X exp(-i omega t)], by least squares."""
    basis = np.stack([np.ones_like(time), np.cos(omega * time), np.sin(omega * time)], axis=1)
    _, re, im = np.linalg.lstsq(basis, values, rcond=None)[0]
    return complex(re, im)


def peaks(time: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times and heights of the maxima, by parabolas through three samples."""
    y = values
    i = np.flatnonzero((y[1:-1] > y[:-2]) & (y[1:-1] >= y[2:])) + 1
    left, mid, right = y[i - 1], y[i], y[i + 1]
    off = 0.5 * (left - right) / (left - 2 * mid + right)
    step = time[1] - time[0]
    return time[i] + off * step, mid - 0.25 * (left - right) * off
