"""Stores that something else wrote into: found, told, mended by resuming."""

import json
import shutil

import numpy as np
import pytest

import swelltree as sw
from made_campaign import small_campaign
from swelltree.campaigns.store import Store


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
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
def test_an_index_that_is_json_but_no_index_makes_its_block_missing(whole, tmp_path, change):
    folder = tmp_path / "store"
    shutil.copytree(whole, folder)
    file = folder / "index" / "000001.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    assert sorted(Store(folder).entries(3)) == [0, 2]
    assert sw.open_campaign(folder).attrs["cases_missing"] == 4


def test_a_block_whose_index_was_changed_is_run_again(whole, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(whole, folder)
    (folder / "index" / "000001.json").write_text("[1]")
    result = small_campaign().run(folder, resume=True, workers=0, progress=False)
    assert result.attrs["cases_done"] == 12
    assert np.array_equal(result["position"], sw.open_campaign(whole)["position"], equal_nan=True)


def test_an_array_that_is_not_ours_changes_nothing(whole, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(whole, folder)
    arrays = folder / "results.zarr"
    shutil.copytree(arrays / "position", arrays / "mine")
    assert sw.open_campaign(folder).attrs["cases_done"] == 12
    before = (folder / "index" / "000000.json").stat().st_mtime_ns
    assert small_campaign().run(folder, resume=True, workers=0).attrs["cases_done"] == 12
    assert (folder / "index" / "000000.json").stat().st_mtime_ns == before  # nothing was run


@pytest.mark.parametrize("text", ["[]", '{"layout": 1}', "12"])
def test_a_campaign_file_of_a_store_without_its_parts_is_told(whole, tmp_path, text):
    (tmp_path / "campaign.json").write_text(text)
    with pytest.raises(sw.SwelltreeError, match=r"campaign.json' cannot be read \(.*another fold"):
        sw.open_campaign(tmp_path)


def test_labels_that_were_cut_off_are_told_and_made_again(whole, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(whole, folder)
    for file in (folder / "results.zarr" / "statistic" / "c").rglob("*"):
        file.write_bytes(file.read_bytes()[:3])
    with pytest.raises(sw.SwelltreeError, match="--resume, which makes it again"):
        sw.open_campaign(folder)
    (folder / "results.zarr.new").write_text("left behind")
    result = small_campaign().run(folder, resume=True, workers=0)
    assert "std" in result["statistic"].values
    assert result.attrs["cases_done"] == 12


def test_a_file_in_the_place_of_the_numbers_gives_way(whole, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(whole, folder)
    shutil.rmtree(folder / "results.zarr")
    (folder / "results.zarr").write_text("x")
    result = small_campaign().run(folder, resume=True, workers=0, progress=False)
    assert result.attrs["cases_done"] == 12
