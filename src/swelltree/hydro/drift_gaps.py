"""Which second-order values are missing: holes inside what the data hold.

Mean drift and quadratic transfer functions may cover part of the band, some DOFs, or pairs of
near frequencies only; what lies outside is not there and no gap. A gap lies inside: a DOF has
no value where another of the same waves has one, or values stand on either side of it.
"""

from __future__ import annotations

import numpy as np


def mean_gaps(values: np.ndarray) -> np.ndarray:
    """Gaps of mean drift (omega, heading, dof)."""
    good = ~np.isnan(values)
    rows = np.asarray(good.any(axis=(1, 2)))
    return _given(good) & _reached(rows)[:, None, None] & ~good


def pair_gaps(values: np.ndarray) -> np.ndarray:
    """Gaps of a transfer function (omega, omega, headings, dof)."""
    good = ~np.isnan(values)
    whole = np.asarray(good.any(axis=-1))
    inside = whole | _reached(whole) | np.swapaxes(_reached(np.swapaxes(whole, 0, 1)), 0, 1)
    # equal frequencies are the edge of a half; the other edge may be ragged where rounding cuts it
    equal = np.arange(len(values))
    inside[equal, equal] |= _reached(whole[equal, equal])
    return _given(good) & inside[..., None] & ~good


def diagonal(n: int, offset: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the pairs whose second frequency is so many places after the first."""
    i = np.arange(max(0, -offset), min(n, n - offset))
    return i, i + offset


def _given(good: np.ndarray) -> np.ndarray:
    """DOFs that the data speak of (dof,)."""
    return np.asarray(good.reshape(-1, good.shape[-1]).any(axis=0))


def _reached(good: np.ndarray) -> np.ndarray:
    """Places between the first and the last that hold a value, along the first axis."""
    return np.maximum.accumulate(good, axis=0) & np.maximum.accumulate(good[::-1], axis=0)[::-1]
