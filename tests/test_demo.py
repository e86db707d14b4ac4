"""The demo, its pictures and its page."""

import json
import re
import warnings

import numpy as np
import pytest

import swelltree as sw
from swelltree.cli import run_demo
from swelltree.describe.drawing import unpack_shape
from swelltree.results.sea import sea_of
from swelltree.waves.sea import elevation


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    with warnings.catch_warnings():
        warnings.simplefilter("error", sw.SwelltreeWarning)
        result, files = run_demo(folder, duration=4.0)
    return folder, result, files


def test_the_demo_writes_all_its_files(short):
    folder, result, files = short
    pictures = ["energy.png", "motion.png", "rao.png", "sea.png"]
    names = sorted(
        ["barges.nc", "demo.nc", "demo.toml", "modes.nc", "rao.nc", "report.html", *pictures]
    )
    assert sorted(p.name for p in folder.iterdir()) == names
    assert files[-1] == folder / "report.html"
    assert sw.load_result(folder / "demo.nc").identical(result)
    for name in pictures:
        assert (folder / name).read_bytes().startswith(b"\x89PNG")


def test_the_case_beside_the_result_describes_the_same_run(short):
    case = sw.load(short[0] / "demo.toml")
    assert case.system == sw.gallery.barges().system
    assert case.studies[0].sea == sw.gallery.barges().sea
    assert case.hydro.file == str(short[0] / "barges.nc")


def test_the_page_shows_run_responses_and_modes(short):
    text = (short[0] / "report.html").read_text()
    assert re.findall(r'(?:src|href)="(?!#|data:)', text) == []
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    data = json.loads(found[1])
    assert [body["name"] for body in data["runs"][0]["scene"]["bodies"]] == [
        "barge1",
        "barge2",
        "barge3",
    ]
    assert data["runs"][0]["scene"]["waves"]["count"] == 144
    assert len(data["raos"]) == len(data["modes"]) == 1
    assert data["raos"][0]["bodies"] == data["modes"][0]["bodies"]
    assert "MBS4WEC" in text


def test_the_drawn_barges_have_their_sides(short):
    shape = unpack_shape(json.loads(short[1].attrs["drawing"])["shapes"][0])
    assert np.ptp(shape.vertices, axis=0) == pytest.approx([75.0, 25.0, 12.5], abs=2e-3)


def test_the_sea_kept_in_the_result_is_the_one_simulated(short):
    result = short[1]
    sea, time = sea_of(result), result["time"].values
    drawn = np.asarray(elevation(sea, time, 0.0, 0.0))
    assert drawn == pytest.approx(result["elevation"].values, abs=1e-6)


def test_the_packaged_data_belong_to_the_demo():
    assert sw.gallery.barges().file.stat().st_size < 400_000
    data = sw.read_hydro(sw.gallery.barges().file, check=False)
    system = sw.gallery.barges().system.resolved
    assert [str(name) for name in data["body"].values] == [body.name for body in system.bodies]
    for body in system.bodies:
        volume = float(data["displaced_volume"].sel(body=body.name))
        assert system.water.rho * volume == pytest.approx(body.mass, rel=1e-6)
        assert data["rotation_center"].sel(body=body.name).values == pytest.approx(body.position)


def test_the_barges_float_and_the_energy_is_accounted_for(short):
    _, result, _ = short
    assert np.abs(result["position"].sel(dof="Heave") + 1.25).max() < 2.0
    passed = float(np.abs(result["work"]).max())
    assert float(np.abs(result["energy_residual"]).max()) < 1e-4 * passed
