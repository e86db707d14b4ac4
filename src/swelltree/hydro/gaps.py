"""Gaps in hydrodynamic data: found and reported, and filled only on request.

A gap is a value of a frequency that the data should hold and do not (NaN): a row that is absent,
or a frequency at which the solver failed. Limits that are known exactly are not gaps: no force and
no damping at omega = inf, no damping at 0. Nor is the excitation at omega = 0 of data without
stiffness, which is neither given nor used. `gap_mending` applies the requested treatment.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swelltree.hydro.drift_gaps import mean_gaps, pair_gaps
from swelltree.system.errors import SwelltreeError, listed, suggest
from swelltree.system.waters.hydro import GAPS

if TYPE_CHECKING:
    import xarray as xr

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
        """Names of the frequency axes."""
        return AXES[self.name]

    @property
    def rows(self) -> np.ndarray:
        """Frequencies without which nothing is missing, few of them."""
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
    """Reject an unknown treatment of gaps."""
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
    """Frequencies first; of second-order values the DOF last."""
    if name in (*MATRICES, *FORCES):
        return (*axes, ...)
    return (*axes, *(dim for dim in dims if dim not in (*axes, "influenced_dof")), "influenced_dof")


def _bad(name: str, values: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Which values are missing."""
    if len(AXES[name]) == 2:
        return pair_gaps(values)
    if name.startswith("mean_drift"):
        return mean_gaps(values)
    bad = np.isnan(values)
    if name in FORCES:
        bad[omega == 0.0] &= ~bad[omega == 0.0].all()
    return bad


def _first(values: xr.DataArray, bad: np.ndarray, axes: tuple[str, ...]) -> str:
    """The first missing value in words."""
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
