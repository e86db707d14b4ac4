"""Campaigns on a graphics processor; this processor stands in for it."""

import json

import numpy as np
import pytest

import swelltree as sw
from device_here import DeviceHere
from made_campaign import SEA, small_campaign
from swelltree.jit import cuda
from swelltree.studies.batch import batch
from swelltree.studies.batch.engines import gpu_program

NONE = "there is no driver of NVIDIA here"
TWELVE = [sw.ScatterDiagram([1.0, 2.0], [6.0, 8.0], [[1, 2], [0, 3]]), sw.Seeds(4)]


def campaign(**changes):
    """Twelve seas of one model."""
    return small_campaign(**({"vary": TWELVE, "lanes": None} | changes))


@pytest.fixture(scope="module")
def stand_in():
    """One for all, so that kernels are compiled once."""
    gpu_program.cache_clear()
    yield DeviceHere()
    gpu_program.cache_clear()


@pytest.fixture
def device(stand_in, monkeypatch):
    monkeypatch.setattr(cuda, "device", lambda: stand_in)
    return stand_in


@pytest.fixture
def no_device(monkeypatch):
    monkeypatch.setattr(cuda, "device", lambda: NONE)


def near(a, b, share):
    for name in ("position", "absorbed_power", "pto_force"):
        one, other = (x[name].sel(statistic=["mean", "std", "min", "max"]) for x in (a, b))
        size = float(np.abs(other).max())
        np.testing.assert_allclose(one, other, rtol=0, atol=share * size)


def test_a_campaign_on_a_graphics_processor_has_the_numbers_of_lanes(device, tmp_path):
    found = campaign(device="gpu").run(tmp_path / "gpu")
    assert found.attrs["engine"] == "gpu"
    assert found.attrs["device"] == "gpu"
    assert found.attrs["cases_done"] == 12
    right = campaign(device="cpu").run(tmp_path / "cpu", workers=0)
    assert right.attrs["engine"] == "lanes"
    near(found, right, 1e-6)
    full = found.attrs["lanes"]
    assert full == 12  # one block


def test_auto_takes_the_graphics_processor_from_some_hundred_cases_on(
    device, tmp_path, monkeypatch
):
    few = campaign().run(tmp_path / "few", workers=0)
    assert few.attrs["device"] == "cpu"
    monkeypatch.setattr(batch, "FILLING", 12)
    many = campaign().run(tmp_path / "many", workers=0)
    assert many.attrs["device"] == "gpu"


def test_auto_without_a_graphics_processor_says_nothing(no_device, tmp_path, monkeypatch, recwarn):
    monkeypatch.setattr(batch, "FILLING", 1)
    assert campaign().run(tmp_path / "store", workers=0).attrs["device"] == "cpu"
    assert not [w for w in recwarn if issubclass(w.category, sw.SwelltreeWarning)]


def test_no_graphics_processor_is_said_once(no_device, tmp_path, recwarn):
    result = campaign(device="gpu", lanes=4).run(tmp_path / "store", workers=0)
    reported = [str(w.message) for w in recwarn if issubclass(w.category, sw.SwelltreeWarning)]
    assert reported == [f"engine of the batch: lanes; not gpu: {NONE}"]
    assert result.attrs["device"] == "cpu"
    assert result.attrs["cases_done"] == 12


def test_a_worker_without_a_graphics_processor_fills_lanes_and_says_so(
    device, tmp_path, monkeypatch, recwarn
):
    """The driver has one, the process that runs some blocks has none."""
    from swelltree.campaigns import pool

    true, blocks = pool.run_here, []

    def elsewhere(planned, names, cases, first=0):
        blocks.append(len(cases))
        with monkeypatch.context() as patch:
            if len(blocks) > 1:
                patch.setattr(cuda, "device", lambda: NONE)
            return true(planned, names, cases, first)

    monkeypatch.setattr(pool, "run_here", elsewhere)
    found = campaign(device="gpu", lanes=4).run(tmp_path / "store", workers=0)
    assert blocks == [4, 4, 4]
    reported = [str(w.message) for w in recwarn if issubclass(w.category, sw.SwelltreeWarning)]
    assert len(reported) == 1
    assert reported[0].startswith(f"some cases are run on the CPU: {NONE}.")
    near(found, campaign(device="cpu").run(tmp_path / "cpu", workers=0), 1e-6)
    index = [
        json.loads((tmp_path / "store" / "index" / f"{k:06d}.json").read_text()) for k in range(3)
    ]
    assert ["warnings" in one["cases"][0] for one in index] == [False, True, True]


def test_a_store_goes_on_with_the_device_it_was_begun_with(device, tmp_path):
    folder = tmp_path / "store"
    full = campaign(device="gpu", lanes=4).run(folder, workers=0)
    (folder / "index" / "000001.json").unlink()
    with pytest.warns(sw.SwelltreeWarning, match="begun with device 'gpu' and continues with it"):
        again = campaign(device="cpu", lanes=4).run(folder, resume=True, workers=0)
    assert again.attrs["device"] == "gpu"
    assert np.array_equal(again["position"], full["position"], equal_nan=True)


def test_a_store_of_a_graphics_processor_goes_on_where_there_is_none(device, tmp_path, monkeypatch):
    folder = tmp_path / "store"
    # in memory: what is read later is compared with the checksums of its time
    full = campaign(device="gpu").run(folder, workers=0).load()
    (folder / "index" / "000000.json").unlink()
    monkeypatch.setattr(cuda, "device", lambda: NONE)
    with pytest.warns(sw.SwelltreeWarning, match="engine of the batch: lanes; not gpu"):
        again = campaign(device="gpu").run(folder, resume=True, workers=0)
    assert again.attrs["cases_done"] == 12
    near(again, full, 1e-6)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"device": "gpus"},
            r"device 'gpus' is not known. Did you mean 'gpu'\? Give 'auto', 'cpu'",
        ),
        ({"precision": "float16"}, "precision 'float16' is not known"),
        ({"precision": "float32"}, "precision 'float32' is for device 'gpu'"),
    ],
)
def test_devices_that_are_not_are_told(changes, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        campaign(**changes)


def test_seas_of_a_campaign_differ():
    """Twelve cases are twelve seas: what the tests above compare is no single number."""
    seas = [campaign().table.case(k, SEA).sea for k in range(12)]
    assert len({(s.spectrum.Hs, s.spectrum.Tp, s.seed) for s in seas}) == 12
