"""xarray without dask until somebody uses dask.

For its first variable xarray imports `dask.array` and `dask.base` wherever they are installed, to
ask whether the data are of that kind; this takes longer than a short run. Before somebody has
imported dask there are none. A version of xarray that does not ask in this way goes on as it does.
"""

from __future__ import annotations

from types import SimpleNamespace

from swelltree.jit import after_import, is_imported


def leave_dask_out() -> None:
    """Make xarray skip its test for dask arrays until `dask.array` is imported."""
    from xarray.namedarray import pycompat, utils

    requested = getattr(utils, "is_dask_collection", None)
    if requested is not None:  # imports `dask.base`, for arrays of numpy too
        utils.is_dask_collection = lambda x: is_imported("dask") and requested(x)
    known = getattr(pycompat, "_cached_duck_array_modules", None)
    if not isinstance(known, dict) or "dask" in known or is_imported("dask.array"):
        return
    version = pycompat.Version("0.0.0")
    known["dask"] = SimpleNamespace(module=None, version=version, type=(), available=False)
    after_import("dask.array", lambda: known.pop("dask", None))
