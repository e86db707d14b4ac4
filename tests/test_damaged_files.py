"""Damaged files of every format: finite data or a sentence, and nothing else."""

import h5py
import numpy as np
import pytest
import xarray as xr
from scipy.io import netcdf_file

import swelltree as sw
from damaged import READERS, spoiled
from support import refdata
from swelltree.hydro.readers.read import read_hydro
from swelltree.waves.measured import open_netcdf

NAMED = {reader.name: reader for reader in READERS}


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_damaged_file_gives_finite_data_or_a_sentence(reader, tmp_path):
    came = spoiled(reader, tmp_path, range(reader.quick))
    assert {seed: text for seed, text in came.items() if text not in ("data", "sentence")} == {}


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_many_damaged_files_give_finite_data_or_a_sentence(reader, tmp_path):
    came = spoiled(reader, tmp_path, range(1000, 1000 + 30 * reader.quick))
    assert {seed: text for seed, text in came.items() if text not in ("data", "sentence")} == {}


@pytest.mark.parametrize("name", ["Capytaine", "gridded sea", "run file", "BEMIO"])
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda f: _put(f, "x_", h5py.ExternalLink("o.h5", "/a")),
            "points to another file, 'o.h5'",
        ),
        (lambda f: _put(f, "x_", h5py.SoftLink("/x_")), "x_' is a link to '/x_'"),
        (lambda f: _loops(f), "groups deep|more than 20000 objects"),
        (lambda f: f.create_dataset("x_", (400, 10**6), "f8", chunks=True), "far more than it st"),
        (lambda f: f.create_dataset("x_", (10**9, 10**9), "f8", chunks=True), "more than 4 GiB"),
        (lambda f: _virtual(f), "keeps its values in another file"),
        (lambda f: f.create_dataset("x_", (1,), "f8", external="raw.bin"), "in another file"),
    ],
)
def test_hdf5_that_leads_elsewhere_or_nowhere_is_a_sentence(tmp_path, name, change, sentence):
    path = NAMED[name].make(tmp_path)
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(sw.SwelltreeError, match=sentence):
        NAMED[name].read(path)


def _put(file, name, link):
    file[name] = link


def _loops(file):
    """Two ways from a group to itself: 2^32 paths, 32 groups deep."""
    group = file.create_group("x_")
    group["again"] = group
    group["and again"] = group


def _virtual(file):
    layout = h5py.VirtualLayout((3,), "f8")
    layout[:] = h5py.VirtualSource("other.h5", "values", (3,))
    file.create_virtual_dataset("x_", layout)


@pytest.mark.parametrize("name", ["Capytaine", "run file", "BEMIO"])
def test_texts_that_would_halt_the_hdf5_library_are_a_sentence(tmp_path, name):
    # the header of the first object in a heap set to zero: the library never returns from it
    path = NAMED[name].make(tmp_path)
    content = bytearray(path.read_bytes())
    at = content.index(b"GCOL")
    content[at + 16 : at + 32] = bytes(16)
    path.write_bytes(bytes(content))
    with pytest.raises(sw.SwelltreeError, match=f"store of texts at byte {at} is broken"):
        NAMED[name].read(path)


@pytest.mark.parametrize("name", ["Capytaine", "Capytaine netCDF 3", "run file", "gridded sea"])
def test_whole_netcdf_files_are_read_as_xarray_reads_them(tmp_path, name):
    path = NAMED[name].make(tmp_path)
    with xr.open_dataset(path) as full:
        xr.testing.assert_identical(open_netcdf(path, "file"), full.load())


@pytest.mark.parametrize(
    "place",
    [("bem_rm3", "capytaine", "rm3_hydrodynamics.nc"), ("bem_5sa", "5sa_directional_capytaine.nc")],
)
def test_netcdf_files_of_others_are_read_as_xarray_reads_them(place):
    path = refdata(*place)
    with xr.open_dataset(path) as full:
        xr.testing.assert_identical(open_netcdf(path, "file"), full.load())


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
def test_old_netcdf_with_a_dimension_twice_is_a_sentence(tmp_path):
    path = tmp_path / "old.nc"
    with netcdf_file(path, "w") as file:
        file.createDimension("omega", 3)
        file.createVariable("added_mass", "f8", ("omega", "omega"))[:] = 1.0
    with pytest.raises(sw.SwelltreeError, match="'omega', 'omega', of which one is there twice"):
        open_netcdf(path, "hydro data")


def test_names_of_files_stay_on_one_line(tmp_path):
    dofs = ["a\nb\x1b[31m", "c"]
    values = xr.DataArray(np.ones((1, 1, 2)), dims=("omega", "radiating_dof", "influenced_dof"))
    raw = values.assign_coords(omega=[1.0], radiating_dof=["d"], influenced_dof=dofs)
    path = tmp_path / "labels.nc"
    raw.to_dataset(name="added_mass").assign(radiation_damping=values).to_netcdf(path)
    with pytest.raises(
        sw.SwelltreeError, match=r"forces are on 'a\?b\?\[31m', 'c', motions of 'd'"
    ):
        read_hydro(path)


def test_result_that_lost_something_is_told(tmp_path):
    path = NAMED["run file"].make(tmp_path)
    full = sw.load_result(path)
    assert "layout" not in full.attrs
    sw.save(full, path)
    xr.testing.assert_identical(sw.load_result(path), full)
    with h5py.File(path, "r+") as file:
        del file["energy_residual"]
    with pytest.raises(sw.SwelltreeError, match=r"'energy_residual' was saved as .* absent"):
        sw.load_result(path)


@pytest.mark.parametrize(
    ("owner", "attribute", "value"),
    [("/", "drawing", "{"), ("/", "rho", np.nan), ("/", "title", ""), ("time", "ramp", "1e5")],
)
def test_attribute_that_is_not_what_was_saved_is_told(tmp_path, owner, attribute, value):
    path = NAMED["run file"].make(tmp_path)
    with h5py.File(path, "r+") as file:
        assert attribute in file[owner].attrs
        file[owner].attrs["new"] = 7  # one that was added says nothing
        file[owner].attrs[attribute] = value
    with pytest.raises(sw.SwelltreeError, match=rf"its attribute '.*{attribute}' is not what was"):
        sw.load_result(path)
    # what is read by other means can be saved anew
    with xr.open_dataset(path, engine="h5netcdf") as other:
        stored = other.load()
    del stored.attrs["layout"], stored.attrs["attribute_marks"]
    again = sw.load_result(sw.save(stored, tmp_path / "again.nc"))
    assert "attribute_marks" not in again.attrs


def test_time_that_is_no_number_is_told(tmp_path):
    path = NAMED["run file"].make(tmp_path)
    with h5py.File(path, "r+") as file:
        file["time"][2] = np.inf
    with pytest.raises(sw.SwelltreeError, match="sample 2 has the time inf"):
        sw.load_result(path)
