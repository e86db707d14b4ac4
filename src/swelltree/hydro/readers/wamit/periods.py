"""The first column of numeric files: periods, frequencies or wavenumbers."""

from __future__ import annotations

import numpy as np

from swelltree.hydro.readers.textfile import Rows
from swelltree.hydro.readers.wamit.setup import WamitSetup


def groups(periods: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Periods once, and the number of that of each row."""
    periods_once, which = np.unique(periods, return_inverse=True)
    return periods_once, which.reshape(-1)


def is_limit(first: np.ndarray) -> np.ndarray:
    """Rows of omega = 0 and inf: -1 and 0 in the first column, whatever it holds."""
    return (first == 0.0) | (first == -1.0)


def check_periods(rows: Rows, kind: int, column: int = 0) -> None:
    """The first column holds positive numbers, or -1 and 0 for the limits."""
    first = rows.values[:, column]
    wrong = (first < 0) & (first != -1.0)
    if wrong.any():
        row = int(np.argmax(wrong))
        what = "period" if kind == 1 else "first column"
        raise rows.fail(
            row,
            f"{what} {first[row]:g} is negative; only -1 and 0 stand for limits. Fix the number.",
        )


def to_omega(periods: np.ndarray, kind: int, setup: WamitSetup) -> np.ndarray:
    """Frequencies of the first column.

    Args:
        periods: as written.
        kind: IPEROUT: 1 period, 2 frequency, 3 wavenumber of deep water, 4 of the depth;
            5 wave length (HAMS).
        setup: for g, depth and length scale.
    """
    g, length = float(setup.g or 9.81), setup.length
    depth = float(setup.depth or np.inf)
    if kind == 5:
        with np.errstate(divide="ignore"):
            k = np.where(periods < 0, 0.0, 2 * np.pi / np.where(periods < 0, 1.0, periods))
        return np.sqrt(g * k * np.tanh(np.minimum(k * depth, 700)))
    if kind == 1:  # -1 stands for omega = 0, 0 for inf
        with np.errstate(divide="ignore"):
            return np.where(periods < 0, 0.0, 2 * np.pi / np.where(periods < 0, 1.0, periods))
    k = np.where(periods < 0, 0.0, periods) / (length if kind > 2 else 1.0)
    omega = (
        k
        if kind == 2
        else np.sqrt(g * k * (np.tanh(np.minimum(k * depth, 700)) if kind == 4 else 1))
    )
    return np.where(periods < 0, np.inf, omega)
