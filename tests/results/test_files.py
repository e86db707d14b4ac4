"""Result files are written whole or not at all."""

import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

import swelltree as sw


def small():
    return xr.Dataset({"x": ("time", np.arange(3.0), {"units": "m"})}, {"time": [0.0, 1.0, 2.0]})


FULL = """
import resource, sys
import numpy as np, xarray as xr
import swelltree as sw
from swelltree.hydro.data.write import write_hydro
data = sw.load_result(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
big = xr.Dataset({f"x{i}": ("time", np.ones(3000)) for i in range(3)})
for write, what, name in ((sw.save, big, "run.nc"), (write_hydro, data, "hydro.nc")):
    try:
        write(what, name)
    except sw.SwelltreeError as error:
        print(error)
"""


def test_a_full_disk_ends_with_a_sentence_and_the_old_files(tmp_path):
    # HDF5 under an open file ended the whole process by a segmentation fault
    old = sw.save(small(), tmp_path / "run.nc").read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(sw.gallery.barges().file)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    room = "Free some space or choose a folder on another disk."
    assert said[0] == f"cannot write 'run.nc': File too large. {room}"
    assert said[1] == f"cannot write 'hydro.nc': File too large. {room}"
    assert (tmp_path / "run.nc").read_bytes() == old
    assert [file.name for file in tmp_path.iterdir()] == ["run.nc"]


def test_a_missing_folder_is_told(tmp_path):
    with pytest.raises(sw.SwelltreeError, match=r"nowhere' does not exist. Make it first"):
        sw.save(small(), tmp_path / "nowhere" / "run.nc")


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(sw.SwelltreeError, match=r"it is a folder. Name a file in it"):
        sw.save(small(), tmp_path)


def test_an_unwritable_path_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(sw.SwelltreeError, match=r"file' does not exist. Make it first"):
        sw.save(small(), tmp_path / "file" / "run.nc")


def test_results_are_as_readable_as_other_files(tmp_path):
    (tmp_path / "plain").write_text("")
    path = sw.save(small(), tmp_path / "run.nc")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_missing_result_is_told_with_the_nearest_name(tmp_path):
    sw.save(small(), tmp_path / "swing.nc")
    with pytest.raises(sw.SwelltreeError, match=r"does not exist. Did you mean 'swing.nc'\?"):
        sw.load_result(tmp_path / "swng.nc")


def test_a_damaged_result_is_told(tmp_path):
    path = sw.save(small(), tmp_path / "run.nc")
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(sw.SwelltreeError, match=r"cannot be read: .* Is the file whole"):
        sw.load_result(path)


def test_complex_results_come_back_complex(tmp_path):

    rao = xr.Dataset({"rao": ("omega", np.array([1 + 2j, 3 - 1j]), {"units": "m/m"})})
    back = sw.load_result(sw.save(rao, tmp_path / "rao.nc"))
    assert np.array_equal(back.rao, rao.rao)
    assert back.rao.attrs == {"units": "m/m"}
    assert list(back.data_vars) == ["rao"]
