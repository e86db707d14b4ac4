"""BEM results as netCDF in the manner of Capytaine: complex values as re and im."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.system.errors import SwelltreeError

if TYPE_CHECKING:
    import xarray as xr


def save_hydro(data: xr.Dataset, path: str | Path) -> Path:
    """Write hydrodynamic data whole or not at all.

    Args:
        data: of `run_bem`.
        path: of the file, usually ending in .nc.
    """
    import xarray as xr

    path = Path(path)
    flat = data.copy()
    for name in data.data_vars:
        if np.iscomplexobj(data[name]):
            parts = xr.concat([data[name].real, data[name].imag], dim="complex")
            flat[name] = parts.assign_coords(complex=["re", "im"]).assign_attrs(data[name].attrs)
    temporary = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        os.close(handle)
        temporary = Path(name)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        flat.to_netcdf(temporary, engine="h5netcdf")
        os.replace(temporary, path)
    except OSError as error:
        raise SwelltreeError(
            f"cannot write '{path}': {error.strerror or error}. Choose a folder you may write to."
        ) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
    return path


def load_hydro(path: str | Path) -> xr.Dataset:
    """Read what `save_hydro` wrote."""
    import xarray as xr

    with xr.open_dataset(path, engine="h5netcdf") as file:
        data = file.load()
    for name in list(data.data_vars):
        if "complex" in data[name].dims:
            attrs = data[name].attrs
            data[name] = data[name].sel(complex="re") + 1j * data[name].sel(complex="im")
            data[name].attrs = attrs
    return data.drop_vars("complex", errors="ignore")
