"""Stores that something else wrote into: found, told, mended by resuming."""

import json
import shutil
import warnings
from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

import swelltree as sw
from made_campaign import small_campaign
from swelltree.campaigns.store import Store
from swelltree.cli import app


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "store"
    small_campaign().run(folder, workers=0, progress=False)
    return folder


def without(entry, name):
    return {key: value for key, value in entry.items() if key != name}


def with_cases(change):
    def changed(entry):
        return entry | {"cases": [change(entry["cases"][0]), *entry["cases"][1:]]}

    return changed


@pytest.mark.parametrize(
    "change",
    [
        lambda _: [1],
        lambda entry: without(entry, "cases"),
        lambda entry: entry | {"cases": None},
        lambda entry: entry | {"cases": entry["cases"][:2]},
        lambda entry: entry | {"chunks": {}},
        lambda entry: entry | {"chunks": dict.fromkeys(entry["chunks"], 3)},
        lambda entry: entry | {"block": 0},
        with_cases(lambda case: without(case, "id")),
        with_cases(lambda case: without(case, "state")),
        with_cases(lambda case: case | {"state": "begun"}),
    ],
    ids=["list", "no cases", "null", "few", "nothing", "sums", "number", "name", "state", "word"],
)
def test_an_index_that_is_json_but_no_index_makes_its_block_missing(full, tmp_path, change):
    folder = tmp_path / "store"
    shutil.copytree(full, folder)
    file = folder / "index" / "000001.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    assert sorted(Store(folder).entries(3)) == [0, 2]
    with pytest.warns(sw.SwelltreeWarning, match="block 1 is damaged, and its cases count as miss"):
        assert sw.open_campaign(folder).attrs["cases_missing"] == 4


def test_a_block_whose_index_was_changed_is_run_again(full, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(full, folder)
    (folder / "index" / "000001.json").write_text("[1]")
    result = small_campaign().run(folder, resume=True, workers=0, progress=False)
    assert result.attrs["cases_done"] == 12
    assert np.array_equal(result["position"], sw.open_campaign(full)["position"], equal_nan=True)


def test_an_array_that_is_not_ours_changes_nothing(full, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(full, folder)
    arrays = folder / "results.zarr"
    shutil.copytree(arrays / "position", arrays / "mine")
    assert sw.open_campaign(folder).attrs["cases_done"] == 12
    before = (folder / "index" / "000000.json").stat().st_mtime_ns
    assert small_campaign().run(folder, resume=True, workers=0).attrs["cases_done"] == 12
    assert (folder / "index" / "000000.json").stat().st_mtime_ns == before  # nothing was run


@pytest.mark.parametrize("text", ["[]", '{"layout": 1}', "12"])
def test_a_campaign_file_of_a_store_without_its_parts_is_told(full, tmp_path, text):
    (tmp_path / "campaign.json").write_text(text)
    with pytest.raises(sw.SwelltreeError, match=r"campaign.json' cannot be read \(.*another fold"):
        sw.open_campaign(tmp_path)


def test_labels_that_were_cut_off_are_told_and_made_again(full, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(full, folder)
    for file in (folder / "results.zarr" / "statistic" / "c").rglob("*"):
        file.write_bytes(file.read_bytes()[:3])
    with pytest.raises(sw.SwelltreeError, match="--resume, which computes it again"):
        sw.open_campaign(folder)
    (folder / "results.zarr.new").write_text("left behind")
    result = small_campaign().run(folder, resume=True, workers=0)
    assert "std" in result["statistic"].values
    assert result.attrs["cases_done"] == 12


def test_a_file_in_the_place_of_the_numbers_gives_way(full, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(full, folder)
    shutil.rmtree(folder / "results.zarr")
    (folder / "results.zarr").write_text("x")
    result = small_campaign().run(folder, resume=True, workers=0, progress=False)
    assert result.attrs["cases_done"] == 12


def flipped(file, rng):
    """One bit of a file turned over."""
    content = bytearray(file.read_bytes())
    at = int(rng.integers(len(content)))
    content[at] ^= 1 << int(rng.integers(8))
    file.write_bytes(content)
    return content


def files_of(folder):
    """All that a store is read from."""
    parts = [folder / "campaign.json", *(folder / "index").glob("*.json")]
    return sorted(parts + [p for p in (folder / "results.zarr").rglob("*") if p.is_file()])


def fate_of_a_flip(folder, file, rng, right):
    """What reading a store with one flipped bit came to."""
    before = file.read_bytes()
    flipped(file, rng)
    try:
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            result = sw.open_campaign(folder).load()
    except sw.SwelltreeError as error:
        return "message" if str(folder) in str(error) else f"no path in: {error}"
    finally:
        file.write_bytes(before)
    done = (result["state"] == "done").values
    for name, x in right.data_vars.items():
        if x.dtype.kind == "f":
            # a case that counts as done has its numbers; others are gaps
            got, want = result[name].values, x.values
            mask = done.reshape(done.shape + (1,) * (got.ndim - done.ndim))
            if not np.array_equal(
                np.where(mask, got, 0.0), np.where(mask, want, 0.0), equal_nan=True
            ):
                return f"other numbers of '{name}'"
    for name, x in right.coords.items():
        if not np.array_equal(x.values, result[name].values):
            return f"other labels '{name}'"
    return "same" if result.attrs["cases_missing"] == 0 else "missing"


def fates_of_flips(folder, count, seed):
    rng = np.random.default_rng(seed)
    right = sw.open_campaign(folder).load()
    chunks = [file for file in files_of(folder) if "c" in file.parts]
    others = [file for file in files_of(folder) if "c" not in file.parts]
    fates = Counter()
    for k in range(count):
        file = rng.choice(chunks if k % 2 else others)
        fates[fate_of_a_flip(folder, file, rng, right)] += 1
    return fates


def check_fates(fates):
    # a flip in a checksum's own name, or in white space, changes nothing that is read
    assert set(fates) <= {"message", "missing", "same"}, fates
    assert fates["same"] <= 0.02 * fates.total()
    assert fates["message"] > 0.4 * fates.total()


def test_a_flipped_bit_is_never_read_as_a_number(full, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(full, folder)
    check_fates(fates_of_flips(folder, 60, seed=36))


@pytest.mark.slow
def test_a_thousand_flipped_bits_are_never_read_as_numbers(full, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(full, folder)
    check_fates(fates_of_flips(folder, 1000, seed=37))


def test_damage_names_the_block_and_resuming_repairs_it(full, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(full, folder)
    file = next(
        p for p in (folder / "results.zarr" / "position" / "c" / "1").rglob("*") if p.is_file()
    )
    flipped(file, np.random.default_rng(2))
    opened = sw.open_campaign(folder)
    assert opened.attrs["cases_done"] == 12
    rest = opened["position"].isel(seed=0)
    with pytest.raises(
        sw.SwelltreeError, match=r"block 1 of the results is damaged.*sweep .*--resume"
    ):
        rest.load()
    count, found = Store(folder).verify()
    assert (count, found) == (2, ["block 1 is damaged"])
    result = small_campaign().run(folder, resume=True, workers=0, progress=False)
    assert np.array_equal(result["position"], sw.open_campaign(full)["position"], equal_nan=True)
    assert Store(folder).verify() == (3, [])


def test_verify_is_a_command_with_an_exit_code(full, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(full, folder)
    run = CliRunner().invoke(app, ["sweep", str(folder), "--verify"])
    assert run.exit_code == 0
    assert "3 of 3 blocks are whole" in run.output
    (folder / "index" / "000002.json").write_text("{}")
    flipped(
        folder / "results.zarr" / "position" / "c" / "0" / "0" / "0" / "0", np.random.default_rng(1)
    )
    run = CliRunner().invoke(app, ["sweep", "any.toml", "--out", str(folder), "--verify"])
    assert run.exit_code == 1
    assert "block 0 is damaged" in run.output
    assert "block 2 is damaged" in run.output
    assert "--resume" in run.output
    with pytest.warns(sw.SwelltreeWarning, match="block 2 is damaged, and its cases count as miss"):
        sw.open_campaign(folder)


def test_labels_with_a_flipped_bit_are_told_by_verify(full, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(full, folder)
    flipped(folder / "results.zarr" / "statistic" / "zarr.json", np.random.default_rng(5))
    assert Store(folder).verify()[1] == [
        "'results.zarr/statistic/zarr.json', labels of the results, are damaged"
    ]
    with pytest.raises(sw.SwelltreeError, match="--resume, which computes it again"):
        sw.open_campaign(folder)
