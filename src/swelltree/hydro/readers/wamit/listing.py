"""Tables inside WAMIT's listing, for runs without the numeric files."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.numbers import check_size, to_integer, to_number, to_positive
from swelltree.hydro.data.dataset import HydroParts
from swelltree.hydro.readers.textfile import TextFile, leading_numbers
from swelltree.hydro.readers.wamit.setup import WamitSetup


@dataclass
class ListingTables:
    """Added mass, damping and excitation of a .out file, normalised as WAMIT writes them.

    Args:
        periods: of the radiation tables, -1 for omega = 0 and 0 for inf.
        radiation: (period, i, j, [A, B]), NaN where the listing has no row.
        force_periods: of the excitation tables.
        headings: [deg].
        force: (period, heading, i), exp(+iwt), or None.
    """

    periods: np.ndarray
    radiation: np.ndarray
    force_periods: np.ndarray
    headings: np.ndarray
    force: np.ndarray | None


def read_listing_tables(file: TextFile) -> ListingTables:
    """All tables of a listing; diffraction forces are preferred to Haskind forces."""
    radiation: dict[float, dict[tuple[int, int], list[float]]] = {}
    forces: dict[str, dict[tuple[float, float], dict[int, tuple[int, complex]]]]
    forces = {"DIFFRACTION": {}, "HASKIND": {}}
    period, kind, index = None, "", 0
    while index < len(file.lines):
        line = file.lines[index]
        if "Wave period" in line:
            period = _period(file, index)
        elif "ADDED-MASS" in line and "COEFFICIENTS" in line:
            if period is None:
                raise file.fail(index, "a line 'Wave period' before the table")
            rows, index = _rows(file, index + 1)
            if period in radiation:
                raise file.wrong(
                    rows[0][0] if rows else index, f"the table of period {period:g} s comes twice."
                )
            radiation[period] = _entries(file, rows, period)
            continue
        elif "EXCITING FORCES" in line:
            kind = "HASKIND" if "HASKIND" in line.upper() else "DIFFRACTION"
        elif line.strip().isupper() and len(line.split()) > 1:
            kind = ""  # another table, such as RESPONSE AMPLITUDE OPERATORS, with headings too
        elif "Wave Heading" in line and kind and period is not None:
            chosen = leading_numbers(line.partition(":")[2], file.at(index))
            if not chosen:
                raise file.fail(index, "a heading 'Wave Heading (deg) : ...'")
            rows, index = _rows(file, index + 1)
            if (period, chosen[0]) in forces[kind]:
                raise file.fail(index - 1, f"heading {chosen[0]:g} deg once in a table")
            forces[kind][period, chosen[0]] = _force(file, rows)
            continue
        index += 1
    if not radiation:
        raise file.fail(len(file.lines), "tables of added mass (IOPTN(1) = 1)")
    n = 1 + max(i for entries in radiation.values() for pair in entries for i in pair)
    periods = np.array(sorted(radiation))
    table = _filled(file, [radiation[p] for p in periods], (n, n), 2)
    chosen = forces["DIFFRACTION"] or forces["HASKIND"]
    if not chosen:
        return ListingTables(periods, table, np.zeros(0), np.zeros(0), None)
    force_periods = np.array(sorted({key[0] for key in chosen}))
    headings = np.array(sorted({key[1] for key in chosen}))
    shape = (force_periods.size, headings.size, n)
    check_size(shape, "forces", lambda text: SwelltreeError(f"'{file.path}': {text}"), 16)
    force = np.full(shape, np.nan + 0j)
    for (p, h), values in chosen.items():
        rows = force[np.searchsorted(force_periods, p), np.searchsorted(headings, h)]
        for i, (line, value) in values.items():
            if i >= n:
                raise file.wrong(line, f"mode {i + 1} has no added mass. Is the file whole?")
            rows[i] = value
    return ListingTables(periods, table, force_periods, headings, force)


def _filled(
    file: TextFile, tables: list[dict[tuple[int, int], list[float]]], shape: tuple[int, int], k: int
) -> np.ndarray:
    """Entries as one array, NaN where absent; every mode needs its own entry."""
    diagonal = {i for entries in tables for i, j in entries if i == j}
    absent = sorted(set(range(shape[0])) - diagonal)
    if absent:
        raise SwelltreeError(
            f"'{file.path}' has {shape[0]} modes but no added mass A({absent[0] + 1},"
            f"{absent[0] + 1}). Is the file whole? Recompute with all modes."
        )
    full = (len(tables), *shape, k)
    check_size(full, "added mass", lambda text: SwelltreeError(f"'{file.path}': {text}"))
    out = np.full(full, np.nan)
    for values, entries in zip(out, tables, strict=True):
        for pair, numbers in entries.items():
            values[pair] = numbers
    return out


def _period(file: TextFile, index: int) -> float:
    line = file.lines[index]
    if "infinite" in line.split("Wavenumber")[0]:
        return -1.0
    if re.search(r"period\s*(\(sec\))?\s*=\s*zero", line):
        return 0.0
    match = re.search(r"=\s*(\S+)", line)
    if not match:
        raise file.fail(index, "'Wave period (sec) = ...'")
    return to_positive(match[1], "wave period", file.at(index))


Row = tuple[int, list[float]]  # index of the line, its numbers


def _rows(file: TextFile, index: int) -> tuple[list[Row], int]:
    """Rows of numbers after a heading, up to the first line without numbers."""
    rows: list[Row] = []
    while index < len(file.lines):
        numbers = leading_numbers(file.lines[index], file.at(index))
        if len(numbers) >= 3:
            rows.append((index, numbers))
        elif rows or file.lines[index].strip().startswith("***"):
            break
        index += 1
    return rows, index


def _entries(file: TextFile, rows: list[Row], period: float) -> dict[tuple[int, int], list[float]]:
    """Added mass and damping by pair of modes; damping is absent at the limits."""
    if not rows:
        raise file.fail(len(file.lines), "rows 'I J A(I,J) B(I,J)'")
    entries: dict[tuple[int, int], list[float]] = {}
    for index, row in rows:
        i, j = (to_integer(x, "mode", file.at(index), 1, 10_000) - 1 for x in row[:2])
        if len(row) != (4 if period > 0 else 3):
            raise file.fail(index, "I J A(I,J)" + (" B(I,J)" if period > 0 else ""))
        if (i, j) in entries:
            raise file.fail(index, f"the pair ({i + 1},{j + 1}) once in a table")
        entries[i, j] = [*row[2:], 0.0][:2]
    return entries


def _force(file: TextFile, rows: list[Row]) -> dict[int, tuple[int, complex]]:
    force: dict[int, tuple[int, complex]] = {}
    for index, row in rows:
        i = to_integer(row[0], "mode", file.at(index), 1, 10_000) - 1
        if i in force or len(row) != 3:
            raise file.fail(index, "'I Mod Pha' with every mode once")
        force[i] = index, row[1] * np.exp(1j * np.deg2rad(row[2]))
    return force


def read_listed_stiffness(
    parts: HydroParts,
    listing: TextFile,
    setup: WamitSetup,
    scale: np.ndarray,
    modes: list[int],
) -> None:
    """Restoring coefficients C(3,3) ... C(5,6) of the listing."""
    rows = [k for k, line in enumerate(listing.lines) if "C(3,3),C(3,4),C(3,5)" in line]
    if not rows:
        return
    if len(rows) != len(modes):
        raise SwelltreeError(
            f"'{listing.path}' has restoring coefficients of {len(rows)} bodies, but "
            f"{len(modes)} bodies. Is the file whole?"
        )
    stiffness = np.zeros(scale.shape)
    starts = np.concatenate([[0], np.cumsum([6 + k for k in modes])])
    for row, start in zip(rows, starts, strict=False):
        for k, count in enumerate((3, 3, 2)):
            for j, value in enumerate(_behind_colon(listing, row + k, count), k + 2):
                stiffness[start + k + 2, start + j] = value
                if j < 5:  # the sixth column has no mirror image
                    stiffness[start + j, start + k + 2] = value
    unit = (setup.rho or 0.0) * (setup.g or 0.0) * setup.length**2
    parts.matrices["hydrostatic_stiffness"] = unit * scale * stiffness


def _behind_colon(file: TextFile, index: int, count: int) -> list[float]:
    """Numbers after the colon of a line."""
    words = file.lines[index].partition(":")[2].split() if index < len(file.lines) else []
    if len(words) != count:
        raise file.fail(index, f"{count} restoring coefficients behind a colon")
    return [to_number(word, "restoring coefficient", file.at(index)) for word in words]
