"""The demo, its pictures and its page."""

import json
import re

import numpy as np
import pytest

import swelltree as sw
from swelltree.data.make_barges import barges_file
from swelltree.demo import demo_sea, demo_system, run_demo
from swelltree.views.scene import box, scene, sides_from_inertia, waves


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    result, files = run_demo(folder, duration=4.0)
    return folder, result, files


def test_the_demo_writes_all_its_files(short):
    folder, result, files = short
    pictures = ["energy.png", "motion.png", "rao.png", "sea.png"]
    names = sorted(["barges.nc", "demo.nc", "demo.toml", "report.html", *pictures])
    assert sorted(p.name for p in folder.iterdir()) == names
    assert files[-1] == folder / "report.html"
    assert sw.load_result(folder / "demo.nc").identical(result)
    for name in pictures:
        assert (folder / name).read_bytes().startswith(b"\x89PNG")


def test_the_case_beside_the_result_describes_the_same_run(short):
    case = sw.load(short[0] / "demo.toml")
    assert case.system == demo_system()
    assert case.studies[0].wave == demo_sea()
    assert case.hydro.file == str(short[0] / "barges.nc")


def test_the_page_loads_nothing_from_anywhere(short):
    text = (short[0] / "report.html").read_text()
    assert "http://" not in text
    assert "https://" not in text
    assert re.findall(r'(?:src|href)="(?!data:)', text) == []
    assert "{{" not in text.replace("}}", "")
    assert "barge3" in text


def test_the_scene_places_shapes_where_the_run_says(short):
    _, result, _ = short
    data = json.loads(json.dumps(scene(demo_system(), result, demo_sea())))
    assert len(data["bodies"]) == 3
    assert len(data["time"]) == len(data["position"]) == len(result["time"])
    sides = np.ptp(np.array(data["bodies"][0]["vertices"]), axis=0)
    assert sides == pytest.approx([75.0, 25.0, 12.5])


def test_the_drawn_surface_is_the_elevation_of_the_run(short):
    _, result, _ = short
    sea = waves(demo_sea(), demo_system())
    time = result["time"].values
    a, w, phase = (np.array(sea[name]) for name in ("amplitude", "omega", "phase"))
    drawn = (a * np.cos(phase - np.outer(time, w))).sum(1)
    drawn *= 0.5 * (1 - np.cos(np.pi * np.minimum(time, sea["ramp"]) / sea["ramp"]))
    assert drawn == pytest.approx(result["elevation"].values, abs=2e-3)
    assert waves(sw.StillWater(), demo_system()) is None


def test_the_packaged_data_belong_to_the_demo():
    assert barges_file().stat().st_size < 400_000
    data = sw.read_hydro(barges_file(), check=False)
    system = demo_system().resolved
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


def test_a_box_has_the_inertia_it_is_drawn_from():
    body = sw.Body("b", 12.0, (3.0**2 + 2.0**2, 1.0**2 + 2.0**2, 1.0**2 + 3.0**2))
    sides, _ = sides_from_inertia(body)
    assert sides == pytest.approx([1.0, 3.0, 2.0])


def test_faces_of_a_box_look_outwards():
    vertices, faces = box(1.0, 2.0, 3.0)
    for face in faces:
        a, b, c, _ = vertices[face]
        assert np.cross(b - a, c - b) @ a > 0
