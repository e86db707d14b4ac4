"""Tables inside WAMIT's listing, for runs without the numeric files."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from swelltree.hydro.textfile import TextFile, leading_numbers


@dataclass
class ListingTables:
    """Added mass, damping and excitation of a .out file, normalised as WAMIT writes them.

    Args:
        periods: of the radiation tables, -1 for omega = 0 and 0 for inf.
        radiation: (period, i, j, [A, B]).
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
    """All tables of a listing; diffraction forces are preferred to Haskind's."""
    radiation: dict[float, np.ndarray] = {}
    forces: dict[str, dict[tuple[float, float], np.ndarray]] = {"DIFFRACTION": {}, "HASKIND": {}}
    period, kind, index = None, "", 0
    while index < len(file.lines):
        line = file.lines[index]
        if "Wave period" in line:
            period = _period(file, index)
        elif "ADDED-MASS" in line and "COEFFICIENTS" in line:
            if period is None:
                raise file.fail(index, "a line 'Wave period' before the table")
            rows, index = _rows(file, index + 1)
            radiation[period] = _matrix(file, rows)
            continue
        elif "EXCITING FORCES" in line:
            kind = "HASKIND" if "HASKIND" in line.upper() else "DIFFRACTION"
        elif line.strip().isupper() and len(line.split()) > 1:
            kind = ""  # another table, such as RESPONSE AMPLITUDE OPERATORS, with headings too
        elif "Wave Heading" in line and kind and period is not None:
            heading = leading_numbers(line.split(":")[1])[0]
            rows, index = _rows(file, index + 1)
            values = {int(row[0]): row[1] * np.exp(1j * np.deg2rad(row[2])) for row in rows}
            forces[kind][period, heading] = np.array([values[k] for k in sorted(values)])
            continue
        index += 1
    if not radiation:
        raise file.fail(len(file.lines), "tables of added mass (IOPTN(1) = 1)")
    n = max(values.shape[0] for values in radiation.values())
    periods = np.array(sorted(radiation))
    table = np.stack([radiation[p] for p in periods])
    found = forces["DIFFRACTION"] or forces["HASKIND"]
    if not found:
        return ListingTables(periods, table, np.zeros(0), np.zeros(0), None)
    force_periods = np.array(sorted({key[0] for key in found}))
    headings = np.array(sorted({key[1] for key in found}))
    force = np.full((force_periods.size, headings.size, n), np.nan + 0j)
    for (p, h), values in found.items():
        force[np.searchsorted(force_periods, p), np.searchsorted(headings, h), : values.size] = (
            values
        )
    return ListingTables(periods, table, force_periods, headings, force)


def _period(file: TextFile, index: int) -> float:
    line = file.lines[index]
    if "infinite" in line.split("Wavenumber")[0]:
        return -1.0
    if re.search(r"period\s*(\(sec\))?\s*=\s*zero", line):
        return 0.0
    found = re.search(r"=\s*([\d.+\-EeDd]+)", line)
    if not found:
        raise file.fail(index, "'Wave period (sec) = ...'")
    return float(found[1].replace("D", "E"))


def _rows(file: TextFile, index: int) -> tuple[list[list[float]], int]:
    """Rows of numbers after a heading, up to the first line without."""
    rows: list[list[float]] = []
    while index < len(file.lines):
        found = leading_numbers(file.lines[index])
        if len(found) >= 3:
            rows.append(found)
        elif rows or file.lines[index].strip().startswith("***"):
            break
        index += 1
    return rows, index


def _matrix(file: TextFile, rows: list[list[float]]) -> np.ndarray:
    if not rows:
        raise file.fail(len(file.lines), "rows 'I J A(I,J) B(I,J)'")
    n = int(max(max(row[0], row[1]) for row in rows))
    values = np.zeros((n, n, 2))
    for row in rows:
        values[int(row[0]) - 1, int(row[1]) - 1, : len(row) - 2] = row[2:4]
    return values
