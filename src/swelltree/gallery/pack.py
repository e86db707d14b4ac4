"""Hydrodynamic data as small files of the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.hydro.relations import RESIDUAL
from swelltree.hydro.report import RESIDUALS

if TYPE_CHECKING:
    import xarray as xr

KEPT = (
    "added_mass",
    "radiation_damping",
    "excitation_force",
    "haskind_residual",
    "far_field_residual",
    "hydrostatic_stiffness",
    "inertia_matrix",
    "center_of_mass",
    "rotation_center",
    "center_of_buoyancy",
    "displaced_volume",
    "rho",
    "g",
    "water_depth",
)


def sound(data: xr.Dataset) -> xr.Dataset:
    """The frequencies below the first at which the data contradict themselves too much."""
    worst = np.maximum(*(data[name].max("influenced_dof").values for name in RESIDUALS))
    omega = data["omega"].values
    end = omega[worst > RESIDUAL].min(initial=np.inf)
    return data.isel(omega=(omega < end) | np.isinf(omega))


def write(data: xr.Dataset, path: Path) -> None:
    """Write what a run needs, small: single precision, compressed, complex as (re, im)."""
    import xarray as xr

    data = data[list(KEPT)]
    for name in RESIDUALS:
        data[name] = data[name].round(4).astype("float32")
    force = data["excitation_force"]
    parts = xr.concat([force.real, force.imag], dim="complex").astype("float32")
    data = data.assign(excitation_force=parts.assign_attrs(force.attrs))
    data = data.assign_coords(complex=["re", "im"])
    for name in ("added_mass", "radiation_damping"):
        # what symmetry makes zero is zero, and takes no room
        values = data[name]
        size = np.sqrt(np.abs(values.values).max(axis=0).diagonal())
        small = np.abs(values.values) < 1e-7 * size[:, None] * size[None, :]
        data[name] = values.copy(data=np.where(small, 0.0, values.values)).astype("float32")
    packed = {"zlib": True, "complevel": 9, "shuffle": True}
    names = ("added_mass", "radiation_damping", "excitation_force", *RESIDUALS)
    encoding = dict.fromkeys(names, packed)
    data.to_netcdf(path, engine="h5netcdf", encoding=encoding)
