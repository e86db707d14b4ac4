"""WAMIT's numeric files of first order: .1, .3, .3fk, .3sc and .hst."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.numbers import check_size
from swelltree.hydro.readers.textfile import Rows, TextFile
from swelltree.hydro.readers.wamit.setup import WamitSetup

# --- The first column of numeric files: periods, frequencies or wavenumbers


def groups(periods: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct periods, and the index of that of each row."""
    periods_once, which = np.unique(periods, return_inverse=True)
    return periods_once, which.reshape(-1)


def is_limit(first: np.ndarray) -> np.ndarray:
    """Rows of omega = 0 and inf: -1 and 0 in the first column, whatever it contains."""
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


MOST_MODES = 10_000  # a number beyond is a broken file


def read_radiation(file: TextFile, kind: int) -> tuple[np.ndarray, np.ndarray]:
    """Periods and (period, i, j, [A, B]) of a .1 file; what it leaves out is NaN."""
    table = file.table((4, 5), "PER I J A(I,J) [B(I,J)]")
    parts = [table[n] for n in (4, 5) if n in table]
    values = np.concatenate([np.pad(x.values, ((0, 0), (0, 5 - x.values.shape[1]))) for x in parts])
    rows = Rows(file, values, np.concatenate([x.lines for x in parts]))
    check_periods(rows, kind)
    limit = is_limit(rows.values[:, 0])
    if 4 in table and not limit[: len(table[4])].all():
        row = int(np.argmin(limit[: len(table[4])]))
        raise table[4].fail(row, "expected PER I J A(I,J) B(I,J), found four numbers.")
    rows.values[limit, 4] = 0.0  # no waves are made at either end
    periods, which = groups(rows.values[:, 0])
    i, j = (rows.indices(k, name, MOST_MODES) for k, name in ((1, "mode I"), (2, "mode J")))
    rows.unrepeated(rows.values[:, 0], i, j, what="this pair of modes and period")
    n = int(max(i.max(), j.max())) + 1
    diagonal = np.unique(i[i == j])
    if diagonal.size < n:
        last = int(np.argmax(np.maximum(i, j)))
        absent = np.setdiff1d(np.arange(n), diagonal)[0] + 1
        raise rows.fail(
            last,
            f"mode {n} is there, but mode {absent} has no row I = J = {absent}. Recompute with all "
            "modes, or fix the number.",
        )
    check_size((periods.size, n, n, 2), "added mass and damping", lambda text: rows.fail(0, text))
    full = np.full((periods.size, n, n, 2), np.nan)
    full[which, i, j] = rows.values[:, 3:]
    return periods, full


def zero_by_symmetry(path: Path, radiation: np.ndarray, notes: list[str]) -> None:
    """Pairs that are given at no period are zero; a note lists them."""
    never = np.isnan(radiation).all(axis=(0, 3))
    radiation[:, never] = 0.0
    if never.any():
        pairs = [f"({i + 1},{j + 1})" for i, j in np.argwhere(never)]
        more = f" and {len(pairs) - 4} more" if len(pairs) > 4 else ""
        notes.append(
            f"'{path.name}' has no rows of {len(pairs)} pairs of modes, {', '.join(pairs[:4])}"
            f"{more}: they are zero by symmetry."
        )


def read_forces(file: TextFile, n: int, kind: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Periods, headings [deg] and forces (period, heading, i) of a .3 file; absent is NaN."""
    rows = file.table((7,), "PER BETA I Mod Pha Re Im")[7]
    check_periods(rows, kind)
    i = _modes(rows, 2, n)
    rows.unrepeated(rows.values[:, 0], rows.values[:, 1], i, what="this mode, period and heading")
    periods, which = groups(rows.values[:, 0])
    headings, heading = np.unique(rows.values[:, 1], return_inverse=True)
    shape = (periods.size, headings.size, n)
    check_size(shape, "forces", lambda text: rows.fail(0, text), 16)
    values = np.full(shape, np.nan + 0j)
    values[which, heading.reshape(-1), i] = rows.values[:, 5] + 1j * rows.values[:, 6]
    return periods, headings, values


def read_stiffness(file: TextFile, n: int) -> np.ndarray:
    """(i, j) of a .hst file, which holds every pair."""
    rows = file.table((3,), "I J C(I,J)")[3]
    i, j = _modes(rows, 0, n), _modes(rows, 1, n)
    rows.unrepeated(i, j, what="this pair of modes")
    values = np.full((n, n), np.nan)
    values[i, j] = rows.values[:, 2]
    absent = np.argwhere(np.isnan(values)) + 1
    if len(absent):
        pairs = ", ".join(f"({a},{b})" for a, b in absent[:4].tolist())
        raise SwelltreeError(
            f"'{file.path}' has no C(I,J) of {len(absent)} of {n * n} pairs of modes, such as "
            f"{pairs}. Is the file whole? Write it again."
        )
    return values


def _modes(rows: Rows, column: int, n: int) -> np.ndarray:
    """Indices of modes that are also in the .1 file."""
    i = rows.indices(column, "mode", MOST_MODES)
    if i.max() >= n:
        raise rows.fail(
            int(np.argmax(i >= n)),
            f"mode {i.max() + 1} is beyond the {n} of the .1 file. Keep only files of one run "
            "together.",
        )
    return i
