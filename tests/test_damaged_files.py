"""Damaged files of every text format: finite data or a sentence, and nothing else."""

import pytest

from damaged import READERS, spoiled
from mutants import damage_hdf5

# the HDF5 library itself halts on some files with damaged references: not among the quick tests
TEXT = [reader for reader in READERS if reader.damage is not damage_hdf5]


@pytest.mark.parametrize("reader", TEXT, ids=lambda reader: reader.name)
def test_damaged_file_gives_finite_data_or_a_sentence(reader, tmp_path):
    came = spoiled(reader, tmp_path, range(100))
    assert {seed: text for seed, text in came.items() if text not in ("data", "sentence")} == {}


@pytest.mark.slow
@pytest.mark.parametrize("reader", TEXT, ids=lambda reader: reader.name)
def test_many_damaged_files_give_finite_data_or_a_sentence(reader, tmp_path):
    came = spoiled(reader, tmp_path, range(1000, 4000))
    assert {seed: text for seed, text in came.items() if text not in ("data", "sentence")} == {}


def test_links_to_other_files_are_not_followed(tmp_path):
    import h5py

    import swelltree as sw
    from damaged import READERS

    bemio = next(reader for reader in READERS if reader.name == "BEMIO")
    path = bemio.make(tmp_path)
    with h5py.File(path, "r+") as file:
        file.copy("simulation_parameters", h5py.File(tmp_path / "other.h5", "w"))
        del file["simulation_parameters/rho"]
        file["simulation_parameters/rho"] = h5py.ExternalLink(
            "other.h5", "/simulation_parameters/rho"
        )
    with pytest.raises(sw.SwelltreeError, match=r"rho' points to another file, 'other.h5'"):
        sw.read_hydro(path)
