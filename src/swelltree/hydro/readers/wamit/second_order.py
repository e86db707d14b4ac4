"""WAMIT's second-order files: mean drift (.7, .8, .9), quadratic transfer functions (.12d, .12s).

Normalised by rho g L^k with k = 1 for forces and 2 for moments, per square of amplitude. Sum and
difference functions follow F(t) = Re[a1 a2* Q- exp(-i(w1-w2)t)] and Re[a1 a2 Q+ exp(-i(w1+w2)t)].
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from swelltree.describe.files.numbers import check_size
from swelltree.hydro.data.dataset import DOFS, FORCE, HydroParts, merged_omega, rows_of, split_label
from swelltree.hydro.readers.textfile import Rows, TextFile
from swelltree.hydro.readers.wamit.numeric import to_omega
from swelltree.hydro.readers.wamit.setup import WamitSetup


def _power(dofs: list[str], index: np.ndarray) -> np.ndarray:
    powers = np.array([2 if split_label(dof)[1] in DOFS[3:] else 1 for dof in dofs])
    return powers[index]


def _total(file: TextFile, modes: list[int]) -> bool:
    """Momentum gives the sum over all bodies."""
    return file.path.suffix.lower() == ".8" and len(modes) > 1


def _check(rows: Rows, periods: tuple[int, ...], keys: tuple[int, ...]) -> None:
    """Periods are positive and entries unique."""
    for column in periods:
        first = rows.values[:, column]
        if not (first > 0).all():
            row = int(np.argmax(first <= 0))
            raise rows.fail(row, f"period or frequency {first[row]:g} is not positive. Fix it.")
    rows.unrepeated(*rows.values[:, keys].T, what="this mode, period and heading")


def _about_bodies(table: Rows, column: int, parts: HydroParts) -> Rows:
    """The rows with positive modes; where moments are given twice, those about the body axes.

    Moments about the axes of the body have a negative index, those about the global axes a
    positive one; our data are about the body.
    """
    modes = table.values[:, column]
    body = set(-modes[modes < 0])
    twice = np.isin(modes, sorted(body))
    if twice.any():
        names = ", ".join(f"{-mode:g}" for mode in sorted(body))
        parts.notes.append(
            f"'{table.file.path.name}' gives moments about the global and about the body axes; "
            f"those about the body axes (modes {names}) are used."
        )
    table = table.picked(~twice)
    table.values[:, column] = np.abs(table.values[:, column])
    return table


def read_drift(
    parts: HydroParts,
    file: TextFile,
    unit: float,
    length: float,
    modes: list[int],
    setup: WamitSetup,
) -> None:
    """Mean drift of a .7 (control surface), .8 (momentum) or .9 (pressure) file.

    Waves of one heading only.
    """
    table = _about_bodies(file.table((8,), "PER BETA1 BETA2 I Mod Pha Re Im")[8], 3, parts)
    _check(table, (0,), (0, 1, 2, 3))
    dof = table.indices(3, "mode I", 6 if _total(file, modes) else len(parts.dofs))
    rows = table.values
    crossing = rows[:, 1] != rows[:, 2]
    if crossing.any():
        parts.notes.append(
            f"'{file.path.name}' holds drift of crossing waves ({int(crossing.sum())} rows), "
            "which is left out."
        )
        rows, dof = rows[~crossing], dof[~crossing]
    if not len(rows):
        return
    omega = to_omega(rows[:, 0], setup.period_kind, setup)
    values = unit * length ** _power(parts.dofs, dof) * rows[:, 6]
    parts.files.append(file.path)
    parts.sources.update(mean_drift=file.path, mean_drift_own_headings=file.path)
    total = _total(file, modes)
    headings = np.unique(np.deg2rad(rows[:, 1]))
    same = parts.directions is not None and (
        parts.directions.size == headings.size
        and np.allclose(np.sort(parts.directions), headings, atol=1e-9)
    )
    if total or not same:
        # momentum gives the sum over all bodies; other headings get dimensions of their own
        n = 6 if total else len(parts.dofs)
        grid = np.unique(omega)
        table = np.full((grid.size, headings.size, n), np.nan)
        where = np.searchsorted(headings, np.deg2rad(rows[:, 1]) - 1e-9)
        table[rows_of(omega, grid), where, dof] = values
        last = "dof" if total else "influenced_dof"
        parts.extra["mean_drift_total" if total else "mean_drift_own_headings"] = (
            ("drift_omega", "drift_direction", last),
            table,
        )
        parts.coords.update(drift_omega=grid, drift_direction=headings)
        if total:
            parts.coords["dof"] = np.array(DOFS, dtype=object)
        return
    grid = merged_omega(parts.omega, parts.force_omega)
    table = np.full((grid.size, headings.size, len(parts.dofs)), np.nan)
    where = np.searchsorted(headings, np.deg2rad(rows[:, 1]) - 1e-9)
    table[rows_of(omega, grid), where, dof] = values
    parts.extra["mean_drift"] = (FORCE, table)


def read_qtf(
    parts: HydroParts, file: TextFile, name: str, unit: float, length: float, setup: WamitSetup
) -> None:
    """Quadratic transfer function; the half that WAMIT omits follows from symmetry."""
    table = file.table((9,), "PER1 PER2 BETA1 BETA2 I Mod Pha Re Im")[9]
    table = _about_bodies(table, 4, parts)
    _check(table, (0, 1), (0, 1, 2, 3, 4))
    dof = table.indices(4, "mode I", len(parts.dofs))
    rows = table.values
    first = to_omega(rows[:, 0], setup.period_kind, setup)
    second = to_omega(rows[:, 1], setup.period_kind, setup)
    omega = merged_omega(first, second)
    pairs, pair = np.unique(rows[:, 2:4], axis=0, return_inverse=True)
    pair = pair.reshape(-1)
    values = unit * length ** _power(parts.dofs, dof) * (rows[:, 7] - 1j * rows[:, 8])
    i, j = rows_of(first, omega), rows_of(second, omega)
    shape = (omega.size, omega.size, len(pairs), len(parts.dofs))
    check_size(shape, name, lambda text: table.fail(0, text), 16)
    transfer = np.full(shape, np.nan + 0j)
    transfer[i, j, pair, dof] = values
    # Q-(w2, w1; b2, b1) = conj Q-(w1, w2; b1, b2); Q+ is symmetric
    mirror = {tuple(row): k for k, row in enumerate(pairs.tolist())}
    for k, (b1, b2) in enumerate(pairs.tolist()):
        other = mirror.get((b2, b1))
        if other is None:
            continue
        image = np.swapaxes(transfer[:, :, k], 0, 1)
        image = image.conj() if name == "qtf_difference" else image
        gap = np.isnan(transfer[:, :, other])
        transfer[:, :, other] = np.where(gap, image, transfer[:, :, other])
    short = "difference" if name == "qtf_difference" else "sum"
    axes = (f"{short}_omega_1", f"{short}_omega_2")
    parts.extra[name] = ((*axes, f"{short}_headings", "influenced_dof"), transfer)
    parts.coords.update(dict.fromkeys(axes, omega))
    parts.coords[f"{short}_heading_1"] = (f"{short}_headings", np.deg2rad(pairs[:, 0]))
    parts.coords[f"{short}_heading_2"] = (f"{short}_headings", np.deg2rad(pairs[:, 1]))
    parts.files.append(file.path)
    parts.sources[name] = file.path


def read_second_order(
    parts: HydroParts, family: dict[str, Path], setup: WamitSetup, modes: list[int]
) -> None:
    """Mean drift and transfer functions of a family of files.

    Of drift files the first counts: control surface (.7), pressure (.9), momentum (.8).
    """
    unit = parts.rho * parts.g
    there = [ending for ending in (".7", ".9", ".8") if ending in family]
    known = ("mean_drift", "mean_drift_own_headings")
    for ending in there:
        if not any(name in parts.extra for name in known):
            read_drift(parts, TextFile(family[ending]), unit, setup.length, modes, setup)
        else:
            parts.notes.append(
                f"mean drift was taken from '{parts.sources['mean_drift'].name}'; "
                f"'{family[ending].name}' is not used."
            )
    for ending, name in ((".12d", "qtf_difference"), (".12s", "qtf_sum")):
        if ending in family:
            read_qtf(parts, TextFile(family[ending]), name, unit, setup.length, setup)
