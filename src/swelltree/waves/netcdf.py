"""netCDF files of any version as a dataset: one way for waves, hydrodynamic data and results."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.system.errors import SwelltreeError, listed
from swelltree.system.files.given_paths import given_path
from swelltree.system.files.hdf5 import broken
from swelltree.system.files.netcdf4 import read_netcdf4

if TYPE_CHECKING:
    import xarray as xr


def open_netcdf(path: Path, what: str) -> xr.Dataset:
    """A netCDF file, version 4 (HDF5) or 3, in memory.

    Args:
        path: of the file.
        what: it is, for messages: "hydro data", "result file".
    """
    import xarray as xr

    path = given_path(path, what)
    try:
        # numpy's warnings about damaged files add nothing to the error below
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)
            whole = _loaded(path, what)
        return xr.Dataset(dict(whole.variables), attrs=whole.attrs).set_coords(whole.coords)
    except SwelltreeError:
        raise
    except Exception as error:  # the libraries answer with many kinds
        raise broken(path, what, error) from None


def _loaded(path: Path, what: str) -> xr.Dataset:
    import xarray as xr

    with path.open("rb") as file:
        old = file.read(3) == b"CDF"
    if old:
        with xr.open_dataset(path, engine="scipy") as result:
            whole = result.load()
        _refuse_repeated_dimensions(whole, path, what)
        return whole
    variables, attrs = read_netcdf4(path, what)
    return xr.decode_cf(xr.Dataset(variables, attrs=attrs)).load()


def _refuse_repeated_dimensions(dataset: xr.Dataset, path: Path, what: str) -> None:
    """Reject variables with a repeated dimension: rows and columns have the same name."""
    for name, variable in dataset.variables.items():
        dims = [str(dim) for dim in variable.dims]
        if len(set(dims)) < len(dims):
            raise SwelltreeError(
                f"{what} '{path}': variable {listed([str(name)])} has the dimensions "
                f"{listed(dims)}, of which one is there twice. Is the file whole?"
            )
