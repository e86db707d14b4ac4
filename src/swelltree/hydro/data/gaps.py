"""Gaps in hydrodynamic data: found and reported, and filled only on request.

A gap is a value of a frequency that the data should hold and do not (NaN): a row that is absent,
or a frequency at which the solver failed. Limits that are known exactly are not gaps: no force and
no damping at omega = inf, no damping at 0. Nor is the excitation at omega = 0 of data without
stiffness, which is neither given nor used. `gap_mending` applies the requested treatment.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.environment.hydro import GAPS
from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.hydro.data.dataset import split_label, wavenumber
from swelltree.jit import Array

if TYPE_CHECKING:
    import xarray as xr


# --- Which second-order values are missing: holes inside what the data hold


def mean_gaps(values: np.ndarray) -> np.ndarray:
    """Gaps of mean drift (omega, heading, dof)."""
    good = ~np.isnan(values)
    rows = np.asarray(good.any(axis=(1, 2)))
    return _specified(good) & _reached(rows)[:, None, None] & ~good


def pair_gaps(values: np.ndarray) -> np.ndarray:
    """Gaps of a transfer function (omega, omega, headings, dof)."""
    good = ~np.isnan(values)
    full = np.asarray(good.any(axis=-1))
    inside = full | _reached(full) | np.swapaxes(_reached(np.swapaxes(full, 0, 1)), 0, 1)
    # equal frequencies are the edge of a half; the other edge may be ragged where rounding cuts it
    equal = np.arange(len(values))
    inside[equal, equal] |= _reached(full[equal, equal])
    return _specified(good) & inside[..., None] & ~good


def diagonal(n: int, offset: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the pairs whose second frequency is this number of places after the first."""
    i = np.arange(max(0, -offset), min(n, n - offset))
    return i, i + offset


def _specified(good: np.ndarray) -> np.ndarray:
    """DOFs that have values in the data (dof,)."""
    return np.asarray(good.reshape(-1, good.shape[-1]).any(axis=0))


def _reached(good: np.ndarray) -> np.ndarray:
    """Range from the first to the last value along the first axis."""
    return np.maximum.accumulate(good, axis=0) & np.maximum.accumulate(good[::-1], axis=0)[::-1]


MATRICES = ("added_mass", "radiation_damping")
FORCES = ("excitation_force", "Froude_Krylov_force", "diffraction_force")
OMEGA = ("omega",)
# frequency axes of every variable that may have gaps
AXES = {
    **dict.fromkeys((*MATRICES, *FORCES, "mean_drift"), OMEGA),
    "mean_drift_own_headings": ("drift_omega",),
    "qtf_difference": ("difference_omega_1", "difference_omega_2"),
    "qtf_sum": ("sum_omega_1", "sum_omega_2"),
}
WAYS = (*GAPS, "keep")


@dataclass(frozen=True)
class Gap:
    """Values of one variable that are missing.

    Args:
        name: of the variable.
        bad: which values (omega, ...), or (omega, omega, ...) of pairs of waves.
        dims: names of its axes.
        where: the first of them, in words.
    """

    name: str
    bad: np.ndarray
    dims: tuple[str, ...]
    where: str

    @property
    def axes(self) -> tuple[str, ...]:
        return AXES[self.name]

    @property
    def rows(self) -> np.ndarray:
        """The minimal set of frequencies whose removal leaves no gaps."""
        if len(self.axes) == 1:
            return np.asarray(self.bad.reshape(len(self.bad), -1).any(axis=1))
        pairs = np.asarray(self.bad.any(axis=tuple(range(2, self.bad.ndim))))
        pairs, rows = np.asarray(pairs | pairs.T), np.zeros(len(pairs), dtype=bool)
        while pairs.any():
            worst = int(pairs.sum(axis=0).argmax())
            rows[worst] = True
            pairs[worst] = pairs[:, worst] = False
        return rows


def check_way(gaps: str) -> None:
    if gaps not in WAYS:
        raise SwelltreeError(
            f"gaps '{gaps}' is not known.{suggest(gaps, WAYS)} Choose one of {listed(WAYS)}."
        )


def gaps_of(data: xr.Dataset) -> list[Gap]:
    """What is missing in the data, one entry per variable.

    Args:
        data: hydrodynamic data.
    """
    result = []
    for name, axes in AXES.items():
        if name not in data or not set(axes) <= set(data[name].dims):
            continue
        values = data[name].transpose(*_order(name, axes, data[name].dims))
        bad = _bad(name, np.asarray(values.values), np.asarray(data[axes[0]].values, dtype=float))
        if bad.any():
            dims = tuple(map(str, values.dims))
            result.append(Gap(name, bad, dims, _first(values, bad, axes)))
    return result


def _order(name: str, axes: tuple[str, ...], dims: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Frequencies first; for second-order values DOF last."""
    if name in (*MATRICES, *FORCES):
        return (*axes, ...)
    return (*axes, *(dim for dim in dims if dim not in (*axes, "influenced_dof")), "influenced_dof")


def _bad(name: str, values: np.ndarray, omega: np.ndarray) -> np.ndarray:
    if len(AXES[name]) == 2:
        return pair_gaps(values)
    if name.startswith("mean_drift"):
        return mean_gaps(values)
    bad = np.isnan(values)
    if name in FORCES:
        bad[omega == 0.0] &= ~bad[omega == 0.0].all()
    return bad


def _first(values: xr.DataArray, bad: np.ndarray, axes: tuple[str, ...]) -> str:
    """Description of the first missing value."""
    place = np.unravel_index(int(np.argmax(bad)), bad.shape)
    here = values[dict(zip(values.dims, place, strict=True))]
    text = f"of {here['influenced_dof'].item()}"
    if "radiating_dof" in here.coords:
        text += f" from {here['radiating_dof'].item()}"
    omega = [float(here[axis]) for axis in axes]
    text += f" at omega = {' and '.join(f'{w:.6g}' for w in omega)} rad/s"
    if len(omega) == 1 and 0 < omega[0] < np.inf:
        text += f" (period {2 * np.pi / omega[0]:.6g} s)"
    headings = [x for x in here.coords if str(x).endswith(("direction", "heading_1", "heading_2"))]
    beta = dict.fromkeys(f"{np.rad2deg(float(here[x])):g}" for x in sorted(map(str, headings)))
    return text + (f", heading {' and '.join(beta)} deg" if beta else "")


def check_gaps(
    data: xr.Dataset, where: str = "hydro data", sources: Mapping[str, object] | None = None
) -> None:
    """Reject data with gaps, naming the first.

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
    """Reject data that a model cannot use as they are: gaps, and values that are not numbers.

    Args:
        data: hydrodynamic data from anywhere.
    """
    omega = np.asarray(data["omega"].values, dtype=float)
    if not (omega >= 0).all():
        raise SwelltreeError(
            f"hydro data: omega {omega[~(omega >= 0)][0]:g} rad/s is not a frequency. Leave it out."
        )
    if np.unique(omega).size < omega.size:
        raise SwelltreeError("hydro data: a frequency comes twice. Keep one of the rows.")
    if "wave_direction" in data.coords:
        beta = np.asarray(data["wave_direction"].values, dtype=float)
        if not np.isfinite(beta).all():
            k = int(np.argmin(np.isfinite(beta)))
            raise SwelltreeError(f"hydro data: heading {k + 1} is {beta[k]:g} rad. Fix it.")
    check_gaps(data)
    for name in (*MATRICES, *FORCES, "hydrostatic_stiffness"):
        if name in data:
            values = np.asarray(data[name].values)
            bad = np.isinf(values) if "omega" in data[name].dims else ~np.isfinite(values)
            if bad.any() and not np.isnan(values).all():
                at = ", ".join(str(k) for k in np.argwhere(bad)[0])
                raise SwelltreeError(
                    f"hydro data: {name} is {values[bad][0]:g} at index ({at}). Fix the data."
                )


# --- Gaps in hydrodynamic data, handled as requested: interpolated, left out or kept


def fill_gaps(
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
    """The data without the frequencies of one axis with missing values."""
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
        repaired = values.copy(data=np.where(gap.bad, table, values.values))
        data = data.assign({gap.name: repaired.transpose(*data[gap.name].dims)})
        rows = gap.rows & ~replace(gap, bad=gap.bad & np.isnan(table)).rows
        if rows.any():
            data = _noted(
                data,
                f"{gap.name} is interpolated at {int(rows.sum())} frequencies, where values are "
                f"missing: {_few(omega[rows])} rad/s.",
            )
    return data


def _between(omega: np.ndarray, table: np.ndarray, bad: np.ndarray) -> np.ndarray:
    """Table (omega, ...) with missing values interpolated between adjacent frequencies."""
    flat, lost = table.reshape(omega.size, -1), bad.reshape(omega.size, -1)
    for column in np.flatnonzero(lost.any(axis=0)):
        good = np.isfinite(flat[:, column]) & np.isfinite(omega)
        if good.sum() < 2:
            continue
        inside = lost[:, column] & (omega > omega[good][0]) & (omega < omega[good][-1])
        flat[inside, column] = np.interp(omega[inside], omega[good], flat[good, column])
    return flat.reshape(table.shape)


def _along_diagonals(omega: np.ndarray, table: np.ndarray, bad: np.ndarray) -> np.ndarray:
    """Pairs (omega, omega, ...) interpolated along constant difference frequency."""
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
