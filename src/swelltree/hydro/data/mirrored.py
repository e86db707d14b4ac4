"""`mirror_headings`: data of headings on one side of a hull that is the same on port and starboard.

A wave from the other side is the mirror image: surge, heave and pitch are the same, sway, roll and
yaw have the other sign, with phases at the origin on the plane of symmetry y = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.hydro.data.dataset import FORCE, RADIATION, split_label

if TYPE_CHECKING:
    import xarray as xr

ACROSS = ("Sway", "Roll", "Yaw")
SAME = 1e-6  # rad: headings so near are one
UNEQUAL = 0.02  # of the diagonal: coupling between motions along and across a symmetric hull
# dimensions of headings, with the coordinates that hold them
HEADINGS = {
    "wave_direction": ("wave_direction",),
    "drift_direction": ("drift_direction",),
    "difference_headings": ("difference_heading_1", "difference_heading_2"),
    "sum_headings": ("sum_heading_1", "sum_heading_2"),
}


def mirror_headings(data: xr.Dataset) -> xr.Dataset:
    """The data with the headings -beta of all their headings beta, for hulls symmetric about y = 0.

    Forces, mean drift and quadratic transfer functions are mirrored. Headings that are there
    already stay as they are.

    Args:
        data: as `read_hydro` or `run_bem` give them; rejected where they are not symmetric.
    """
    if "wave_direction" not in data.coords or "excitation_force" not in data:
        raise SwelltreeError("mirror_headings: the data have no excitation forces. Give others.")
    off = asymmetry(data)
    if off is None:
        raise SwelltreeError(
            "mirror_headings: not all reference points lie on the plane y = 0, so the bodies are "
            "not individually symmetric about it. Compute the headings of the other side."
        )
    if off > UNEQUAL:
        raise SwelltreeError(
            f"mirror_headings: the data are not the same on port and starboard (by {off:.1%} of "
            "their diagonal or largest force). Compute the headings of the other side."
        )
    if np.isnan(off):
        warn_user(
            "mirror_headings: whether the hulls are the same on port and starboard cannot be seen, "
            "because the data have no sway, roll and yaw. Mirror them only if the hulls are."
        )
    count = 0
    for dim in HEADINGS:
        if dim in data.dims:
            data, added = _with_images(data, dim)
            count += added
    if not count:
        return data
    notes = [data.attrs.get("notes", ""), f"{count} headings were mirrored (y = 0)."]
    return data.assign_attrs(notes="\n".join(x for x in notes if x))


def _with_images(data: xr.Dataset, dim: str) -> tuple[xr.Dataset, int]:
    """The data with the other side of one dimension of headings, and how many were added."""
    import xarray as xr

    names = HEADINGS[dim]
    beta = np.stack([data[name].values for name in names], axis=1)
    apart = _apart(-beta[:, None], beta[None]).max(axis=2)
    new = np.flatnonzero(apart.min(axis=1) > SAME)
    if not new.size:
        return data, 0
    ours = data[[name for name in data.data_vars if dim in data[name].dims]]
    images = ours.isel({dim: new})
    for name, values in images.items():
        axis = "dof" if "dof" in values.dims else "influenced_dof"
        if not str(name).endswith("_error"):  # those have no sign
            signs = [-1.0 if _is_across(x) else 1.0 for x in values[axis].values]
            images[name] = (values * xr.DataArray(signs, dims=axis)).assign_attrs(values.attrs)
    other = np.arctan2(np.sin(-beta[new]), np.cos(-beta[new]))
    images = images.assign_coords({n: (dim, x) for n, x in zip(names, other.T, strict=True)})
    both = xr.concat([ours, images], dim=dim)
    if len(names) == 1:
        both = both.sortby(dim)
    return data.drop_dims(dim).merge(both, combine_attrs="override"), new.size


def asymmetry(data: xr.Dataset) -> float | None:
    """How far data are from port/starboard symmetry, relative; None where bodies lie to one side.

    Not a number where nothing shows it: no coupling between motions along and across, and no
    headings of both sides.

    Args:
        data: hydrodynamic data.
    """
    points = data["rotation_center"].values
    volume = np.nanmax(np.nan_to_num(data["displaced_volume"].values), initial=0.0)
    if np.isnan(points).any() or np.abs(points[:, 1]).max() > 1e-3 * max(np.cbrt(volume), 1.0):
        return None
    across = np.array([_is_across(x) for x in data["influenced_dof"].values])
    pairs = _pairs(data["wave_direction"].values)
    if (across.all() or not across.any()) and all(i == j for i, j in pairs):
        return np.nan
    worst = 0.0
    finite = np.isfinite(data["omega"].values)
    for name in ("added_mass", "radiation_damping"):
        values = np.nan_to_num(data[name].transpose(*RADIATION).values[finite])
        size = np.sqrt(np.abs(np.diagonal(values, axis1=1, axis2=2)).max(axis=0))
        size = np.maximum(size, 1e-3 * size.max(initial=0.0))
        mixed = np.abs(values) / np.maximum(size[:, None] * size, 1e-300)
        worst = max(worst, float(mixed[:, across][:, :, ~across].max(initial=0.0)))
    return max(worst, _uneven(data, across))


def _uneven(data: xr.Dataset, across: np.ndarray) -> float:
    """Headings of forces whose mirror image is also in the data."""
    beta = data["wave_direction"].values
    X = np.nan_to_num(data["excitation_force"].transpose(*FORCE).values)
    size = np.abs(X).max(axis=(0, 1))
    for kind in (across, ~across):
        size[kind] = np.maximum(size[kind], 1e-2 * size[kind].max(initial=0.0))
    worst = 0.0
    for k, other in _pairs(beta):
        image = np.where(across, -1.0, 1.0) * X[:, other]
        gap = np.abs(X[:, k] - image) / np.maximum(size, 1e-300)
        worst = max(worst, 0.5 * float(gap.max(initial=0.0)))
    return worst


def _pairs(beta: np.ndarray) -> list[tuple[int, int]]:
    """Headings that are mirror images of each other or of themselves."""
    apart = _apart(-beta[:, None], beta[None])
    return [(int(i), int(j)) for i, j in np.argwhere(apart <= SAME)]


def _is_across(label: object) -> bool:
    return split_label(str(label))[1] in ACROSS


def _apart(one: float | np.ndarray, others: np.ndarray) -> np.ndarray:
    """Angles between headings [rad]."""
    return np.abs(np.arctan2(np.sin(others - one), np.cos(others - one)))
