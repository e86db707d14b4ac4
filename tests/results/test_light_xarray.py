"""xarray and dask: nothing is imported for nothing, and all is there when it is asked for."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys
import swelltree as sw
import numpy as np, xarray as xr
row = xr.Dataset({"x": ("t", np.arange(6.0))})
assert float(row.x.max()) == 5.0
assert "dask" not in sys.modules
row.to_netcdf(sys.argv[1], engine="h5netcdf")
assert float(row.x.sum()) == 15.0
assert "dask.array" not in sys.modules
parts = row.chunk(t=2)
import dask.array as da
assert isinstance(parts.x.data, da.Array)
made = xr.Variable(("t",), da.ma.masked_array(da.arange(4.0), mask=[0, 1, 0, 0]))
assert made.isnull().sum().compute() == 1
assert float(parts.x.sum().compute()) == 15.0
print("both")
"""


def test_dask_comes_with_its_first_use(tmp_path):
    pytest.importorskip("dask.array", reason="no dask")
    words = [sys.executable, "-c", SCRIPT, str(tmp_path / "row.nc")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stdout == "both\n", done.stderr
