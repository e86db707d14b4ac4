"""Gaps in hydrodynamic data: found and named, and mended only where the user asks for it.

A gap is a value of a frequency that the data should hold and do not (NaN): a row that is absent,
or a frequency at which the solver failed. Limits that are known exactly are no gaps: no force and
no damping at omega = inf, no damping at 0. Nor is the excitation at omega = 0 of data without
stiffness, which nothing tells and nothing uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.hydro.dataset import split_label, wavenumber
from swelltree.system.errors import SwelltreeError, listed, suggest
from swelltree.system.hydro import GAPS

if TYPE_CHECKING:
    import xarray as xr

MATRICES = ("added_mass", "radiation_damping")
FORCES = ("excitation_force", "Froude_Krylov_force", "diffraction_force")
WAYS = (*GAPS, "keep")


@dataclass(frozen=True)
class Gap:
    """Values of one variable that are missing.

    Args:
        name: of the variable.
        bad: which values (omega, ...).
        where: the first of them, in words.
    """

    name: str
    bad: np.ndarray
    where: str

    @property
    def rows(self) -> np.ndarray:
        """Which frequencies."""
        return np.asarray(self.bad.reshape(len(self.bad), -1).any(axis=1))


def check_way(gaps: str) -> None:
    """Refuse a word that is none of the ways to treat gaps."""
    if gaps not in WAYS:
        raise SwelltreeError(
            f"gaps '{gaps}' is not known.{suggest(gaps, WAYS)} Choose one of {listed(WAYS)}."
        )


def gaps_of(data: xr.Dataset) -> list[Gap]:
    """What is missing in the data, one entry per variable.

    Args:
        data: hydrodynamic data.
    """
    omega = np.asarray(data["omega"].values, dtype=float)
    found = []
    for name in (*MATRICES, *FORCES, "mean_drift"):
        if name not in data or "omega" not in data[name].dims:
            continue
        values = data[name].transpose("omega", ...)
        bad = np.isnan(np.asarray(values.values))
        if name in FORCES:
            bad[omega == 0.0] &= ~bad[omega == 0.0].all()
        elif name == "mean_drift":
            bad &= _between(bad)
        if bad.any():
            found.append(Gap(name, bad, _first(values, bad)))
    return found


def _between(bad: np.ndarray) -> np.ndarray:
    """Rows between the first and the last that hold a value: drift may cover part of the band."""
    good = ~bad
    return np.maximum.accumulate(good, axis=0) & np.maximum.accumulate(good[::-1], axis=0)[::-1]


def _first(values: Any, bad: np.ndarray) -> str:
    """The first missing value in words."""
    place = np.unravel_index(int(np.argmax(bad)), bad.shape)
    at = {str(dim): values[dim].values[k] for dim, k in zip(values.dims, place, strict=True)}
    text = f"of {at['influenced_dof']}"
    if "radiating_dof" in at:
        text += f" from {at['radiating_dof']}"
    text += f" at omega = {at['omega']:.6g} rad/s"
    if 0 < at["omega"] < np.inf:
        text += f" (period {2 * np.pi / at['omega']:.6g} s)"
    if "wave_direction" in at:
        text += f", heading {np.rad2deg(at['wave_direction']):g} deg"
    return text


def check_gaps(data: xr.Dataset, where: str = "hydro data", sources: Any = None) -> None:
    """Refuse data with gaps, naming the first.

    Args:
        data: hydrodynamic data.
        where: the data come from.
        sources: files of the variables, where they are known.
    """
    for gap in gaps_of(data):
        file = (sources or {}).get(gap.name)
        place = where if file is None else f"'{file}'"
        raise SwelltreeError(
            f"{place}: {gap.name} {gap.where} is missing, one of "
            f"{int(gap.bad.sum())} values at {int(gap.rows.sum())} of {len(gap.rows)} frequencies. "
            "Recompute them, or give gaps='interpolate' or gaps='drop' where the data are read."
        )


def check_usable(data: xr.Dataset) -> None:
    """Refuse data that a model cannot take as they are: gaps, and numbers that are none.

    Args:
        data: hydrodynamic data from anywhere.
    """
    omega = np.asarray(data["omega"].values, dtype=float)
    if not (omega >= 0).all():
        raise SwelltreeError(
            f"hydro data: omega {omega[~(omega >= 0)][0]:g} rad/s is no frequency. Leave it out."
        )
    if np.unique(omega).size < omega.size:
        raise SwelltreeError("hydro data: a frequency comes twice. Keep one of the rows.")
    if "wave_direction" in data.coords:
        beta = np.asarray(data["wave_direction"].values, dtype=float)
        if not np.isfinite(beta).all():
            k = int(np.argmin(np.isfinite(beta)))
            raise SwelltreeError(f"hydro data: heading {k + 1} is {beta[k]:g} rad. Mend it.")
    check_gaps(data)
    for name in (*MATRICES, *FORCES, "hydrostatic_stiffness"):
        if name in data:
            values = np.asarray(data[name].values)
            bad = np.isinf(values) if "omega" in data[name].dims else ~np.isfinite(values)
            if bad.any() and not np.isnan(values).all():
                at = ", ".join(str(k) for k in np.argwhere(bad)[0])
                raise SwelltreeError(
                    f"hydro data: {name} is {values[bad][0]:g} at index ({at}). Mend the data."
                )


def mend_gaps(
    data: xr.Dataset, gaps: str, where: str = "hydro data", sources: Any = None
) -> xr.Dataset:
    """Data treated as the user asks: without gaps, unless they are kept.

    Args:
        data: hydrodynamic data.
        gaps: "error" refuses them; "interpolate" takes missing values from the frequencies to
            either side, and drops frequencies at the ends of the band that have no neighbour;
            "drop" leaves every frequency out at which something is missing; "keep" leaves NaN,
            which `compile` refuses. What was done stands in the notes of the data.
        where: the data come from.
        sources: files of the variables, where they are known.
    """
    check_way(gaps)
    found = gaps_of(data)
    if not found or gaps == "keep":
        return data
    if gaps == "error":
        check_gaps(data, where, sources)
    if gaps == "interpolate":
        data = _interpolated(data, found)
        found = gaps_of(data)
    rows = np.zeros(data.sizes["omega"], dtype=bool)
    for gap in found:
        if gap.name != "mean_drift" or gaps == "interpolate":
            rows |= gap.rows
    omega = data["omega"].values
    if ((omega > 0) & np.isfinite(omega) & ~rows).sum() < 2:
        first = found[0]
        raise SwelltreeError(
            f"{where}: {first.name} {first.where} and so many others are missing that fewer "
            "than two frequencies are left. Recompute the data."
        )
    if rows.any():
        data = _noted(
            data.isel(omega=np.flatnonzero(~rows)),
            f"{int(rows.sum())} frequencies are left out, at which values are missing: "
            f"{_few(omega[rows])} rad/s.",
        )
    return data


def _interpolated(data: xr.Dataset, found: list[Gap]) -> xr.Dataset:
    """Missing values between two frequencies that have them, linear in omega."""
    omega = np.asarray(data["omega"].values, dtype=float)
    for gap in found:
        values = data[gap.name].transpose("omega", ...)
        turn = _phase_at_bodies(data, values) if gap.name in FORCES else 1.0
        table = (values.values / turn).reshape(omega.size, -1)
        bad = gap.bad.reshape(omega.size, -1)
        for column in np.flatnonzero(bad.any(axis=0)):
            good = np.isfinite(table[:, column]) & np.isfinite(omega)
            if good.sum() < 2:
                continue
            lost = bad[:, column] & (omega > omega[good][0]) & (omega < omega[good][-1])
            table[lost, column] = np.interp(omega[lost], omega[good], table[good, column])
        mended = values.copy(data=table.reshape(values.shape) * turn)
        rows = gap.rows & ~np.isnan(mended.values).reshape(omega.size, -1).any(axis=1)
        data = data.assign({gap.name: mended.transpose(*data[gap.name].dims)})
        if rows.any():
            data = _noted(
                data,
                f"{gap.name} is interpolated at {int(rows.sum())} frequencies, where values are "
                f"missing: {_few(omega[rows])} rad/s.",
            )
    return data


def _phase_at_bodies(data: xr.Dataset, values: Any) -> np.ndarray:
    """exp(i k.x) of each freedom: at the body the phase of a force turns slowly with omega."""
    centers = dict(zip(map(str, data["body"].values), data["rotation_center"].values, strict=True))
    places = [centers.get(split_label(x)[0]) for x in data["influenced_dof"].values]
    xy = np.array([[0.0, 0.0] if p is None or np.isnan(p).any() else p[:2] for p in places])
    k = wavenumber(data["omega"].values, float(data["water_depth"]), float(data["g"]))
    beta = data["wave_direction"].values
    along = np.stack([np.cos(beta), np.sin(beta)], axis=1) @ xy.T
    order = ("omega", "wave_direction", "influenced_dof")
    turn = np.exp(1j * k[:, None, None] * along)
    return np.moveaxis(turn, range(3), [list(values.dims).index(dim) for dim in order])


def _noted(data: xr.Dataset, sentence: str) -> xr.Dataset:
    notes = str(data.attrs.get("notes", ""))
    return data.assign_attrs(notes="\n".join(text for text in (notes, sentence) if text))


def _few(values: np.ndarray) -> str:
    shown = [f"{x:.4g}" for x in values[:4]]
    return ", ".join(shown) + (f" ... {values[-1]:.4g}" if values.size > 4 else "")
