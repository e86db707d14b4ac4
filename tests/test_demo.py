"""The demo, its pictures and its page."""

import json
import re

import numpy as np
import pytest

import swelltree as sw
from swelltree.demo import demo_system, run_demo
from swelltree.views.scene import box, scene, sides_from_inertia


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    result, files = run_demo(folder, duration=1.0)
    return folder, result, files


def test_the_demo_writes_all_its_files(short):
    folder, result, files = short
    names = ["demo.nc", "demo.toml", "energy.png", "motion.png", "report.html"]
    assert sorted(p.name for p in folder.iterdir()) == names
    assert files[-1] == folder / "report.html"
    assert sw.load(folder / "demo.toml").system == demo_system()
    assert sw.load_result(folder / "demo.nc").identical(result)
    for name in ("motion.png", "energy.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")


def test_the_page_loads_nothing_from_anywhere(short):
    text = (short[0] / "report.html").read_text()
    assert "http://" not in text
    assert "https://" not in text
    assert re.findall(r'(?:src|href)="(?!data:)', text) == []
    assert "{{" not in text.replace("}}", "")
    assert "link6" in text


def test_the_scene_places_shapes_where_the_run_says(short):
    _, result, _ = short
    data = json.loads(json.dumps(scene(demo_system(), result)))
    assert len(data["bodies"]) == 6
    assert len(data["springs"]) == 8
    assert len(data["time"]) == len(data["position"]) == len(result["time"])
    sides = np.ptp(np.array(data["bodies"][0]["vertices"]), axis=0)
    assert sides == pytest.approx([4.0, 1.2, 0.8])


def test_a_box_has_the_inertia_it_is_drawn_from():
    body = sw.Body("b", 12.0, (3.0**2 + 2.0**2, 1.0**2 + 2.0**2, 1.0**2 + 3.0**2))
    sides, _ = sides_from_inertia(body)
    assert sides == pytest.approx([1.0, 3.0, 2.0])


def test_faces_of_a_box_look_outwards():
    vertices, faces = box(1.0, 2.0, 3.0)
    for face in faces:
        a, b, c, _ = vertices[face]
        assert np.cross(b - a, c - b) @ a > 0


def test_the_chain_stays_under_water_where_its_buoyancy_is_constant(short):
    _, result, _ = short
    assert float(result["position"].sel(dof="Heave").max()) < -0.6
