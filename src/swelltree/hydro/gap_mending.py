"""Gaps in hydrodynamic data, handled as requested: interpolated, left out or kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.hydro.dataset import split_label, wavenumber
from swelltree.hydro.drift_gaps import diagonal
from swelltree.hydro.gaps import FORCES, OMEGA, Gap, check_gaps, check_way, gaps_of
from swelltree.system.errors import SwelltreeError

if TYPE_CHECKING:
    import xarray as xr


def mend_gaps(
    data: xr.Dataset,
    gaps: str,
    where: str = "hydro data",
    sources: Mapping[str, object] | None = None,
) -> xr.Dataset:
    """Data treated as the user asks: without gaps, unless they are kept.

    Args:
        data: hydrodynamic data.
        gaps: "error" rejects them; "interpolate" takes missing values from the frequencies to
            either side, and drops frequencies that have no such neighbours;
            "drop" leaves every frequency out at which something is missing; "keep" leaves NaN,
            which `compile` rejects. What was done stands in the notes of the data.
        where: the data come from.
        sources: files of the variables, where they are known.
    """
    check_way(gaps)
    result = gaps_of(data)
    if not result or gaps == "keep":
        return data
    if gaps == "error":
        check_gaps(data, where, sources)
    if gaps == "interpolate":
        data = _interpolated(data, result)
        result = gaps_of(data)
    for axes in dict.fromkeys(gap.axes for gap in result):
        data = _dropped(data, axes, [gap for gap in result if gap.axes == axes], where)
    return data


def _dropped(data: xr.Dataset, axes: tuple[str, ...], result: list[Gap], where: str) -> xr.Dataset:
    """The data without the frequencies of one axis at which something is missing."""
    omega = data[axes[0]].values
    rows = np.any([gap.rows for gap in result], axis=0)
    if ((omega > 0) & np.isfinite(omega) & ~rows).sum() < 2:
        first = result[0]
        raise SwelltreeError(
            f"{where}: {first.name} {first.where} and so many others are missing that fewer "
            "than two frequencies are left. Recompute the data."
        )
    what = "" if axes == OMEGA else f" of {result[0].name}"
    return _noted(
        data.isel(dict.fromkeys(axes, np.flatnonzero(~rows))),
        f"{int(rows.sum())} frequencies{what} are left out, at which values are missing: "
        f"{_few(omega[rows])} rad/s.",
    )


def _interpolated(data: xr.Dataset, result: list[Gap]) -> xr.Dataset:
    """Missing values between two frequencies that have them, linear in omega."""
    for gap in result:
        omega = np.asarray(data[gap.axes[0]].values, dtype=float)
        values = data[gap.name].transpose(*gap.dims)
        turn = _phase_at_bodies(data, gap)
        way = _between if len(gap.axes) == 1 else _along_diagonals
        table = way(omega, values.values / turn, gap.bad) * turn
        mended = values.copy(data=np.where(gap.bad, table, values.values))
        data = data.assign({gap.name: mended.transpose(*data[gap.name].dims)})
        rows = gap.rows & ~replace(gap, bad=gap.bad & np.isnan(table)).rows
        if rows.any():
            data = _noted(
                data,
                f"{gap.name} is interpolated at {int(rows.sum())} frequencies, where values are "
                f"missing: {_few(omega[rows])} rad/s.",
            )
    return data


def _between(omega: np.ndarray, table: np.ndarray, bad: np.ndarray) -> np.ndarray:
    """A table (omega, ...) with its missing values from the frequencies to either side."""
    flat, lost = table.reshape(omega.size, -1), bad.reshape(omega.size, -1)
    for column in np.flatnonzero(lost.any(axis=0)):
        good = np.isfinite(flat[:, column]) & np.isfinite(omega)
        if good.sum() < 2:
            continue
        inside = lost[:, column] & (omega > omega[good][0]) & (omega < omega[good][-1])
        flat[inside, column] = np.interp(omega[inside], omega[good], flat[good, column])
    return flat.reshape(table.shape)


def _along_diagonals(omega: np.ndarray, table: np.ndarray, bad: np.ndarray) -> np.ndarray:
    """The same of pairs (omega, omega, ...): the difference of the frequencies changes little."""
    for offset in range(1 - omega.size, omega.size):
        i, j = diagonal(omega.size, offset)
        if bad[i, j].any():
            table[i, j] = _between(omega[i], table[i, j], bad[i, j])
    return table


def _phase_at_bodies(data: xr.Dataset, gap: Gap) -> Array:
    """exp(i k.x) of each DOF: at the body the phase of a force turns slowly with omega."""
    if gap.name in FORCES:
        turn = _wave_at_bodies(data, "omega", "wave_direction")
    elif len(gap.axes) == 2:
        short = gap.name.removeprefix("qtf_")
        first, second = (
            _wave_at_bodies(data, gap.axes[k], f"{short}_heading_{k + 1}") for k in (0, 1)
        )
        turn = first * (second if short == "sum" else second.conj())
    else:
        return 1.0
    return turn.transpose(*gap.dims).values


def _wave_at_bodies(data: xr.Dataset, omega: str, heading: str) -> Array:
    """exp(i k.x) of one wave at the body of each DOF."""
    centers = dict(zip(map(str, data["body"].values), data["rotation_center"].values, strict=True))
    places = [centers.get(split_label(x)[0]) for x in data["influenced_dof"].values]
    xy = np.array([[0.0, 0.0] if p is None or np.isnan(p).any() else p[:2] for p in places])
    beta = data[heading]
    along = sum(
        way * data["influenced_dof"].copy(data=xy[:, k])
        for k, way in enumerate((np.cos(beta), np.sin(beta)))
    )
    k = wavenumber(data[omega].values, float(data["water_depth"]), float(data["g"]))
    return np.exp(1j * data[omega].copy(data=k) * along)


def _noted(data: xr.Dataset, sentence: str) -> xr.Dataset:
    notes = str(data.attrs.get("notes", ""))
    return data.assign_attrs(notes="\n".join(text for text in (notes, sentence) if text))


def _few(values: np.ndarray) -> str:
    shown = [f"{x:.4g}" for x in values[:4]]
    return ", ".join(shown) + (f" ... {values[-1]:.4g}" if values.size > 4 else "")
