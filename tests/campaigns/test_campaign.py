"""Campaigns in this process: numbers, dimensions, resuming, damage, locks."""

import errno
import json
import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest

import swelltree as sw
from made_campaign import SEA, float_model, small_campaign
from swelltree.campaigns import campaign as campaigns
from swelltree.campaigns import store as lock
from swelltree.campaigns.cases import check_numbers
from swelltree.campaigns.drive import worth_retrying
from swelltree.campaigns.opened import open_cases
from swelltree.campaigns.store import DriverLock, Store


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The store of the small campaign, run at one go."""
    folder = tmp_path_factory.mktemp("whole") / "store"
    small_campaign().run(folder, workers=0)
    return folder


def copied(whole, folder):
    import shutil

    shutil.copytree(whole, folder)
    return folder


def equal(a, b):
    numbers = [n for n in a.data_vars if a[n].dtype.kind == "f" and n != "seconds"]
    return all(np.array_equal(a[n].values, b[n].values, equal_nan=True) for n in numbers)


def test_the_results_have_the_dimensions_of_the_campaign(whole):
    result = sw.open_campaign(whole)
    assert dict(result.sizes)["Hs"] == 2
    assert result["position"].dims[:4] == ("Hs", "Tp", "ptos.pto.damping", "seed")
    assert result["position"].chunks is not None  # not read yet
    states = result["state"].values
    assert (states[1, 0] == "none").all()
    assert (np.delete(states.reshape(4, -1), 2, axis=0) == "done").all()
    assert result.attrs["cases_done"] == 12
    assert np.isnan(result["position"].values[1, 0]).all()


def test_the_table_of_cases_has_its_columns(whole):
    cases = open_cases(whole)
    assert cases["Hs"].values.tolist() == [1.0] * 8 + [2.0] * 4
    assert cases["seed"].values.tolist() == [1, 2] * 6
    assert cases["ptos.pto.damping"].values[:4].tolist() == [1e5, 1e5, 2e5, 2e5]
    assert cases["case_id"].values.tolist() == small_campaign().table.ids(small_campaign().key)


def test_a_case_of_a_campaign_is_the_single_run(whole):
    result = sw.open_campaign(whole)
    sea = SEA.replace(spectrum=sw.Jonswap(Hs=2.0, Tp=8.0), seed=2)
    model = float_model().with_values({"ptos.pto.damping": 2e5})
    run = sw.simulate(
        model, sea, duration=20.0, output_step=0.25, solver="rk4", step=0.25, progress=False
    )
    own = result["absorbed_power"].sel(Hs=2.0, Tp=8.0, seed=2).sel({"ptos.pto.damping": 2e5})
    expected = sw.statistics(run)["absorbed_power"].values
    assert own.values == pytest.approx(expected, rel=1e-10, nan_ok=True)


@pytest.mark.parametrize(
    ("vary", "shape", "count"),
    [
        ([sw.Values("Hs", [1.0])], (1,), 1),
        ([sw.Together({"Hs": [1.0], "Tp": [7.0]})], (1,), 1),
        ([sw.Together({"Hs": [1.0, 1.0, 2.0]}, dim="Fälle 1")], (3,), 3),
        ([sw.Together({"ptos.pto.damping": [1e5, 2e5, 3e5], "seed": [1, 2, 3]})], (3,), 3),
        ([sw.Values("Hs", [2.0, 1.0, 3.0])], (3,), 3),
    ],
    ids=["one case", "one row", "equal rows", "design with seed", "not rising"],
)
def test_odd_tables_run_whole(tmp_path, vary, shape, count):
    campaign = small_campaign(vary=vary, name="Größe & <b>")
    result = campaign.run(tmp_path / "ü 波", workers=0, progress=False)
    assert result["state"].shape == shape
    assert result.attrs["cases_done"] == count
    page = sw.write_campaign_report(result, tmp_path / "page.html").read_text()
    assert "Größe &amp; &lt;b&gt;" in page
    assert campaign.replay(str(result["case_id"].values[-1])).attrs["result"] == "success"


def test_a_store_is_not_run_into_twice_without_resume(whole):
    with pytest.raises(sw.SwelltreeError, match=r"already holds a campaign. Continue it with"):
        small_campaign().run(whole, workers=0)


def test_resume_refuses_another_campaign(whole):
    with pytest.raises(sw.SwelltreeError, match="holds another campaign"):
        small_campaign(duration=21.0).run(whole, resume=True, workers=0)


def test_resume_runs_nothing_where_all_is_there(whole, monkeypatch):
    def fail(*_):
        raise AssertionError("run again")

    monkeypatch.setattr("swelltree.campaigns.pool.run_here", fail)
    small_campaign().run(whole, resume=True, workers=0)


def test_an_interrupted_campaign_runs_only_what_is_missing(whole, tmp_path, monkeypatch):
    from swelltree.campaigns import pool

    blocks = []
    true = pool.run_here

    def once(planned, names, cases, first=0):
        if len(blocks) == 1:
            blocks.append("stopped")
            raise KeyboardInterrupt
        blocks.append(len(cases))
        return true(planned, names, cases, first)

    monkeypatch.setattr(pool, "run_here", once)
    folder = tmp_path / "store"
    with pytest.raises(KeyboardInterrupt):
        small_campaign().run(folder, workers=0)
    part = sw.open_campaign(folder)
    assert part.attrs["cases_done"] == 4
    assert part.attrs["cases_missing"] == 8
    result = small_campaign().run(folder, resume=True, workers=0)
    assert blocks == [4, "stopped", 4, 4]
    assert equal(result, sw.open_campaign(whole))


@pytest.mark.parametrize("damage", ["truncated", "changed", "lost", "index", "half_index"])
def test_damage_is_found_and_mended_by_resume(whole, tmp_path, damage):
    folder = copied(whole, tmp_path / "store")
    chunk = folder / "results.zarr" / "position" / "c" / "1" / "0" / "0" / "0"
    index = folder / "index" / "000001.json"
    content = chunk.read_bytes()
    if damage == "truncated":
        chunk.write_bytes(content[:-5])
    elif damage == "changed":
        chunk.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "lost":
        chunk.unlink()
    elif damage == "index":
        index.unlink()
    else:
        index.write_text(index.read_text()[:40])
    assert sorted(Store(folder).entries(3)) == [0, 2]
    result = small_campaign().run(folder, resume=True, workers=0)
    assert result.attrs["cases_done"] == 12
    assert equal(result, sw.open_campaign(whole))


def test_lost_descriptions_of_arrays_are_made_again(whole, tmp_path):
    folder = copied(whole, tmp_path / "store")
    (folder / "results.zarr" / "zarr.json").unlink()
    (folder / "results.zarr" / "position" / "zarr.json").write_text("{")
    with pytest.raises(sw.SwelltreeError, match="--resume, which computes it again"):
        sw.open_campaign(folder)
    before = (folder / "index" / "000000.json").stat().st_mtime_ns
    result = small_campaign().run(folder, resume=True, workers=0)
    assert equal(result, sw.open_campaign(whole))
    assert (folder / "index" / "000000.json").stat().st_mtime_ns == before  # nothing was run


def test_a_folder_without_a_campaign_is_told(tmp_path):
    with pytest.raises(sw.SwelltreeError, match="holds no campaign"):
        sw.open_campaign(tmp_path)
    (tmp_path / "campaign.json").write_text("{")
    with pytest.raises(sw.SwelltreeError, match="cannot be read"):
        sw.open_campaign(tmp_path)


def test_a_full_disk_is_told_and_loses_nothing(whole, tmp_path, monkeypatch):
    import zarr

    true, count = zarr.Array.__setitem__, [0]

    def full(self, *args):
        count[0] += 1
        if count[0] > 6:
            raise OSError(errno.ENOSPC, "No space left on device")
        return true(self, *args)

    folder = tmp_path / "store"
    with monkeypatch.context() as patch:
        patch.setattr(zarr.Array, "__setitem__", full)
        with pytest.raises(sw.SwelltreeError, match=r"disk of .* is full. Free some space"):
            small_campaign().run(folder, workers=0)
    assert equal(small_campaign().run(folder, resume=True, workers=0), sw.open_campaign(whole))


def test_without_a_terminal_lines_go_to_the_log(tmp_path, capfd):
    small_campaign().run(tmp_path / "store", workers=0)
    out, err = capfd.readouterr()
    assert out == ""
    reported = [text for text in err.splitlines() if "cases" in text]
    assert reported
    line = re.compile(r"^small: \d+/12 cases, 0 failed, \S+/s, (.* left|done in .*)$")
    assert all(line.match(text) for text in reported), reported
    assert reported[-1].startswith("small: 12/12 cases")
    small_campaign().run(tmp_path / "quiet", workers=0, progress=False)
    assert capfd.readouterr().err == ""


def test_two_drivers_on_one_store_are_refused(whole):
    owner = f"is being run by process {os.getpid()} on"
    with DriverLock(whole), pytest.raises(sw.SwelltreeError, match=owner):
        small_campaign().run(whole, resume=True, workers=0)
    small_campaign().run(whole, resume=True, workers=0)


def test_the_lock_of_a_killed_driver_is_no_lock(tmp_path):
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "from swelltree.campaigns.store import DriverLock\n"
        "lock = DriverLock(Path(sys.argv[1])).__enter__()\n"
        "print('held', flush=True)\ntime.sleep(60)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "held\n"
    with pytest.raises(sw.SwelltreeError, match=f"process {child.pid} on"), DriverLock(tmp_path):
        pass
    child.kill()
    child.wait()
    with DriverLock(tmp_path) as lock:
        assert lock.owner()["process"] == os.getpid()


def test_a_lock_is_renewed_however_long_a_block_takes(tmp_path, monkeypatch):
    """Where a file system has no locks its age counts."""
    monkeypatch.setattr(lock, "RENEWED", 0.01)
    with DriverLock(tmp_path) as held:
        os.utime(held.path, (0.0, 0.0))
        for _ in range(1000):
            if not lock._is_stale(held.path):
                break
            time.sleep(0.01)
        assert not lock._is_stale(held.path)


def test_failing_cases_are_recorded_and_do_not_stop_the_rest(tmp_path):
    vary = [sw.Values("Tp", [7.0, 0.9, 8.0]), sw.Seeds(2)]
    sea = SEA.replace(omega_max=30.0)
    with pytest.warns(sw.SwelltreeWarning, match=r"2 of 6 cases failed. The first error is: hydro"):
        result = small_campaign(vary=vary, sea=sea).run(tmp_path / "store", workers=0)
    assert result["state"].values.tolist() == [["done"] * 2, ["failed"] * 2, ["done"] * 2]
    assert np.isnan(result["position"].sel(Tp=0.9).values).all()
    assert np.isfinite(result["position"].sel(Tp=8.0, dof="Heave").values).all()
    index = json.loads((tmp_path / "store" / "index" / "000000.json").read_text())
    assert index["cases"][2]["message"].startswith("hydro data reach")


def test_a_block_of_which_every_case_fails_is_kept_and_the_others_run(tmp_path):
    """Its numbers are gaps throughout, which Zarr would not write."""
    vary = [sw.Values("Tp", [0.9, 8.0]), sw.Seeds(2)]
    campaign = small_campaign(vary=vary, sea=SEA.replace(omega_max=30.0), lanes=2)
    with pytest.warns(sw.SwelltreeWarning, match="2 of 4 cases failed"):
        result = campaign.run(tmp_path / "store", workers=0)
    assert result["state"].values.tolist() == [["failed"] * 2, ["done"] * 2]
    assert "Failed cases" in sw.write_campaign_report(result, tmp_path / "page.html").read_text()


def test_failed_cases_are_run_again_when_asked_and_not_for_ever(tmp_path, monkeypatch, whole):
    from swelltree.campaigns import pool

    true, room, ran = pool.run_here, [False], []

    def sometimes(planned, names, cases, first=0):
        ran.extend((case.sea.seed, case.sea.spectrum.Tp) for case in cases)
        if not room[0] and any(
            case.sea.seed == 2 and case.sea.spectrum.Tp == 6.0 for case in cases
        ):
            raise MemoryError("no room")
        return true(planned, names, cases, first)

    monkeypatch.setattr(pool, "run_here", sometimes)
    campaign, folder = small_campaign(retries=0), tmp_path / "store"
    with pytest.warns(sw.SwelltreeWarning, match="2 of 12 cases failed"):
        campaign.run(folder, workers=0)
    ran.clear()
    with pytest.warns(sw.SwelltreeWarning, match="2 of 12 cases failed"):
        campaign.run(folder, resume=True, workers=0)
    assert not ran  # what failed counts as run
    for _ in range(2):
        with pytest.warns(sw.SwelltreeWarning, match="2 of 12 cases failed"):
            campaign.run(folder, retry_failed=True, workers=0)
    assert set(ran) == {(2, 6.0)}
    ran.clear()
    room[0] = True
    result = campaign.run(folder, retry_failed=True, workers=0)
    assert ran == [(2, 6.0)] * 2
    assert (result["state"].where(result["state"] != "none", "done") == "done").all()
    assert equal(result, sw.open_campaign(whole))
    # three times are enough: a store whose cases fail for good is left as it is
    entry = {"cases": [{"state": "failed", "retried": 3}, {"state": "done"}, {"state": "failed"}]}
    assert worth_retrying(entry) == [2]


def test_blocks_that_raise_are_tried_again_then_case_by_case(tmp_path, monkeypatch, whole):
    from swelltree.campaigns import pool

    tried = []
    true = pool.run_here

    def sometimes(planned, names, cases, first=0):
        tried.append((len(cases), first))
        if any(case.sea.seed == 2 and case.sea.spectrum.Tp == 6.0 for case in cases):
            raise MemoryError("no room")
        return true(planned, names, cases, first)

    monkeypatch.setattr(pool, "run_here", sometimes)
    with pytest.warns(sw.SwelltreeWarning, match="2 of 12 cases failed. .* MemoryError: no room"):
        result = small_campaign(retries=1).run(tmp_path / "store", workers=0)
    failed = result["state"].sel(Hs=1.0, Tp=6.0).values
    assert failed.tolist() == [["done", "failed"], ["done", "failed"]]
    assert tried.count((4, 0)) == 4  # the bad block twice, the others once
    good = result.where(result["state"] == "done")
    expected = sw.open_campaign(whole).where(result["state"] == "done")
    assert equal(good[["position", "absorbed_power"]], expected[["position", "absorbed_power"]])


def test_ten_thousand_cases_are_planned_without_being_made():
    campaign = small_campaign(vary=[sw.Values("Hs", np.linspace(1, 2, 100)), sw.Seeds(100)])
    assert len(campaign.table) == 10_000
    table = campaigns.case_table(campaign.vary)
    assert table.extremes(8) == [0, 9900, 99]
    # a check makes a case of every value, as far as it has room
    tried = table.samples(256)
    assert len(np.unique(table.columns["Hs"][tried])) == 100
    assert len(table.samples(50)) == 50


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"duration": 0.0}, "duration 0.0 s is not positive"),
        ({"output_step": -1.0}, "output_step -1.0 s is not positive"),
        ({"retries": -1}, "retries -1 is not a whole number of at least 0"),
        ({"reduce": ["mean"]}, "there is no reduction 'mean'"),
        ({"sea": None}, "belong to a sea"),
    ],
)
def test_bad_campaigns_are_told_in_a_sentence(changes, sentence):
    specified = {
        "model": float_model(),
        "vary": [sw.Seeds(2)],
        "sea": SEA,
        "duration": 1.0,
    } | changes
    with pytest.raises(sw.SwelltreeError) as error:
        sw.Campaign(**specified)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("specified", "sentence"),
    [
        ({"seconds": {"step": "0.1"}}, "step '0.1' is text. Give a number"),
        ({"counts": {"lanes": (2.5, 1)}}, "lanes 2.5 is not a whole number of at least 1"),
        ({"counts": {"workers": ("two", 0)}}, "workers two is not a whole number of at least 0"),
        ({"counts": {"retries": (True, 0)}}, "retries True is not a whole number"),
    ],
)
def test_values_of_another_kind_are_told_in_a_sentence(specified, sentence):
    with pytest.raises(sw.SwelltreeError) as error:
        check_numbers("small", **({"seconds": {}, "counts": {}} | specified))
    assert sentence in str(error.value)


def test_a_missing_extra_is_told(tmp_path, monkeypatch):
    import importlib.util

    true = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *a: None if name == "zarr" else true(name, *a)
    )
    with pytest.raises(sw.SwelltreeError, match=r"needs zarr. Install the extra: pip install"):
        small_campaign().run(tmp_path / "store", workers=0)
