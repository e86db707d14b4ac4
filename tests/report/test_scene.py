"""What is drawn is what was computed."""

import json

import numpy as np
import pytest

import swelltree as sw
from made_result import HOSTILE, made_run, made_system, made_water, read_block
from swelltree.describe.bodies.hull_panels import hull_panels
from swelltree.describe.bodies.meshes import Panels
from swelltree.describe.drawing import (
    MOST_FACES,
    box,
    coarser,
    drawing,
    pack_shape,
    shape,
    sides_from_inertia,
    unpack_shape,
)
from swelltree.report.channels import channels
from swelltree.report.html import Blocks
from swelltree.report.scene import scene, stride, waves


def test_bodies_are_drawn_where_the_result_says():
    run, blocks = made_run(), Blocks()
    found = scene(run, blocks)
    motion = read_block(found["motion"], blocks.texts[found["motion"]["block"]])
    motion = motion.reshape(-1, 3, 7)
    place, turn = run["position"].values[:, :, :3], run["quaternion"].values
    assert found["time"]["count"] == len(motion) == run.sizes["time"]
    for i in (0, 17, 300, 600):
        # a hundred-thousandth of the range of each channel
        assert motion[i, :, :3] == pytest.approx(place[i], abs=np.ptp(place, axis=0).max() / 1e5)
        assert motion[i, :, 3:] == pytest.approx(turn[i], abs=1e-5)


def test_a_result_from_its_file_gives_the_same_scene(tmp_path):
    run = made_run()
    sw.save(run, tmp_path / "run.nc")
    again = sw.load_result(tmp_path / "run.nc")
    assert json.dumps(scene(run)) == json.dumps(scene(again))


@pytest.mark.parametrize("half", [True, False])
def test_computed_water_is_drawn_where_the_result_says(half):
    run, blocks = made_water(made_run(duration=8.0), half), Blocks()
    fluid = scene(run, blocks)["fluid"]
    assert fluid["mirrored"] is half
    assert fluid["center"] == pytest.approx([5.0, 0.0], abs=1e-3)
    assert fluid["radius"] == pytest.approx(70.0)
    for part, name in (("surface", "surface"), ("hull", "hull"), ("hull", "pressure")):
        about = fluid[part]["pressure" if name == "pressure" else "position"]
        values = run[f"weak_scatterer_{name}"].values
        drawn = read_block(about, blocks.texts[about["block"]]).reshape(values.shape)
        assert drawn == pytest.approx(values, abs=1e-4 * np.ptp(values, axis=0).max())
    assert fluid["hull"]["highest"] == run["weak_scatterer_pressure"].values.max()
    assert scene(made_run(duration=1.0))["fluid"] is None
    # a mesh that changes is drawn triangle by triangle
    changing = run.copy()
    for name in ("surface", "hull"):
        faces = run[f"weak_scatterer_{name}_triangles"]
        changing[faces.name] = faces.expand_dims(time=run.time).copy()
    again, others = scene(changing, more := Blocks())["fluid"], run["weak_scatterer_surface"].values
    about = again["surface"]["position"]
    drawn = read_block(about, more.texts[about["block"]]).reshape(len(others), -1, 3)
    faces = run["weak_scatterer_surface_triangles"].values.reshape(-1)
    assert drawn == pytest.approx(others[:, faces], abs=1e-4 * np.ptp(others, axis=0).max())
    # a large surface is thinned out in time
    few = scene(run, Blocks(), samples=6_000)["fluid"]
    assert 2 <= few["time"]["count"] < 30 < fluid["time"]["count"]


def test_long_runs_are_thinned_out():
    assert stride(72_001, 35, 3_000_000) == 1
    assert stride(720_001, 35, 3_000_000) == 9
    run = made_run(duration=100.0)
    blocks = Blocks()
    found = scene(run, blocks, samples=2000)
    stored = run.isel(time=slice(None, None, 11))
    assert found["time"]["count"] == stored.sizes["time"]
    assert found["time"]["step"] == pytest.approx(1.1)


def test_uneven_times_are_kept():
    run = made_run().isel(time=[0, 1, 5, 20, 100])
    assert scene(run)["time"]["values"] == pytest.approx([0.0, 0.1, 0.5, 2.0, 10.0])


def test_the_drawn_surface_is_the_elevation_of_the_run():
    run = made_run()
    sea = waves(run)
    assert sea is not None
    time = run["time"].values
    a, w, phase = (np.array(sea[name]) for name in ("amplitude", "omega", "phase"))
    drawn = (a * np.cos(phase - np.outer(time, w))).sum(1)
    drawn *= 0.5 * (1 - np.cos(np.pi * np.minimum(time, sea["ramp"]) / sea["ramp"]))
    assert drawn == pytest.approx(run["elevation"].values, abs=1e-5)
    assert waves(run.assign_attrs(wave_components="")) is None


def test_lines_carry_shape_tension_and_state():
    run, blocks = made_run(lines=3), Blocks()
    found = scene(run, blocks)["lines"]
    assert found["names"] == ["line 0", "line 1", "line 2"]
    place = read_block(found["position"], blocks.texts[found["position"]["block"]])
    place = place.reshape(-1, 3, 12, 3)
    assert place == pytest.approx(run["line_position"].values, abs=5e-3)
    state = read_block(found["state"], blocks.texts[found["state"]["block"]]).round()
    state = state.reshape(-1, 3, 11)
    node = run["line_grounded"].values > 0.5
    lying = node[..., 1:] & node[..., :-1]
    assert ((state == 2) == lying).all()
    assert ((state == 1) == ((run["line_slack"].values > 0.5) & ~lying)).all()
    assert found["highest"] == pytest.approx(float(run["line_tension"].max()))


def test_catenaries_have_tension_at_their_nodes_and_lie_at_the_depth():
    run = made_run(lines=2, duration=10.0)
    nodes = run["line_tension"].pad(line_segment=(1, 0), mode="edge")
    nodes = nodes.rename(line_segment="line_node")
    lying = run.drop_vars(["line_tension", "line_slack", "line_grounded"])
    blocks = Blocks()
    found = scene(lying.assign(line_node_tension=nodes), blocks)["lines"]
    tension = read_block(found["tension"], blocks.texts[found["tension"]["block"]])
    middle = 0.5 * (nodes.values[..., 1:] + nodes.values[..., :-1])
    assert tension.reshape(middle.shape) == pytest.approx(middle, rel=1e-3)
    state = read_block(found["state"], blocks.texts[found["state"]["block"]]).round()
    low = run["line_position"].values[..., 2] <= -49.99
    requested = low[..., 1:] & low[..., :-1]
    assert requested.any()
    assert ((state.reshape(requested.shape) == 2) == requested).all()


def test_catenaries_beside_dynamic_lines_show_their_tension_and_lie_at_the_depth():
    run = made_run(lines=2, duration=10.0)
    nodes = run["line_tension"].pad(line_segment=(1, 0), mode="edge")
    nodes = nodes.rename(line_segment="line_node")
    first = run["line"] == run["line"].values[0]
    flags = ("line_tension", "line_slack", "line_grounded")
    mixed = run.assign({name: run[name].astype(float).where(~first) for name in flags})
    mixed = mixed.assign(line_node_tension=nodes.where(first))
    blocks = Blocks()
    found = scene(mixed, blocks)["lines"]
    state = read_block(found["state"], blocks.texts[found["state"]["block"]]).round()
    low = run["line_position"].values[:, 0, :, 2] <= -49.99
    requested = low[:, 1:] & low[:, :-1]
    assert requested.any()
    assert ((state.reshape(-1, 2, requested.shape[1])[:, 0] == 2) == requested).all()
    page = channels(mixed, Blocks())
    (plot,) = [p for p in page["plots"] if p["title"] == "Maximum tension along the line"]
    assert [series["label"] for series in plot["series"]] == [str(x) for x in run["line"].values]


def test_a_state_of_rest_is_drawn_where_it_is():
    rest = made_run(lines=2, channels=(), duration=2.0).isel(time=3).drop_vars("time")
    turned = np.tile(np.diag([1.0, -1.0, -1.0]), (3, 1, 1))
    rest = rest.assign(rotation=(("body", "axis", "body_axis"), turned))
    found = scene(rest)
    for i, body in enumerate(found["bodies"]):
        assert body["start"] == pytest.approx(rest["position"].values[i, :3])
        assert np.abs(body["quaternion"]) == pytest.approx([0.0, 1.0, 0.0, 0.0], abs=1e-9)
    assert found["lines"]["time"]["count"] == 1


def test_a_result_without_drawing_gets_boxes():
    run = made_run().assign_attrs(drawing="", wave_components="")
    found = scene(run)
    assert [body["name"] for body in found["bodies"]] == ["one", "two", "three"]
    assert found["motion"]["rows"] == run.sizes["time"]


def test_names_of_any_kind_survive():
    run = made_run(HOSTILE)
    assert [body["name"] for body in scene(run)["bodies"]] == list(HOSTILE)


def test_channels_know_their_owner_unit_and_statistics():
    run, blocks = made_run(), Blocks()
    found = channels(run, blocks)
    heave = next(
        row
        for row in found["channels"]
        if row["owner"] == ("body", "two") and row["label"] == "Heave"
    )
    assert heave["unit"] == "m"
    values = run["position"].sel(body="two", dof="Heave").values
    values = values - values[0]
    after = run["time"].values >= 10.0
    time, values = run["time"].values[after], values[after]
    mean = np.trapezoid(values, time) / (time[-1] - time[0])
    assert heave["stats"][0] == pytest.approx(mean, rel=1e-5)
    assert heave["stats"][4] == pytest.approx(values.max(), rel=1e-4)
    pitch = next(row for row in found["channels"] if row["label"] == "Pitch")
    assert pitch["unit"] == "deg"
    force = next(row for row in found["channels"] if row["variable"] == "pto_force")
    assert force["unit"] == "kN m"


def test_bodies_of_one_shape_share_it():
    found = drawing(made_system())
    assert len(found["shapes"]) == 1
    sides = np.ptp(unpack_shape(found["shapes"][0]).vertices, axis=0)
    assert sides == pytest.approx([30.0, 12.0, 6.0], abs=1e-3)


def test_a_packed_shape_comes_back():
    panels = hull_panels(sw.Sphere(5.0))
    back = unpack_shape(pack_shape(panels))
    assert (back.faces == panels.faces).all()
    assert back.vertices == pytest.approx(panels.vertices, abs=1e-4)


def test_a_fine_mesh_is_drawn_coarser():
    panels = hull_panels(sw.Sphere(5.0))
    while len(panels.faces) < 20_000:
        panels = panels.divided()
    few = coarser(panels)
    assert len(few.faces) <= MOST_FACES
    assert np.ptp(few.vertices, axis=0) == pytest.approx(np.ptp(panels.vertices, axis=0), rel=0.05)


def test_a_body_without_hull_is_the_box_of_its_inertia():
    body = sw.Body("b", 12.0, (3.0**2 + 2.0**2, 1.0**2 + 2.0**2, 1.0**2 + 3.0**2))
    sides, _ = sides_from_inertia(body)
    assert sides == pytest.approx([1.0, 3.0, 2.0])
    assert np.ptp(shape(body, 1.0).vertices, axis=0) == pytest.approx([1.0, 3.0, 2.0])


def test_a_missing_mesh_file_does_not_stop_the_drawing(tmp_path):
    hull = sw.MeshFile(str(tmp_path / "gone.stl"))
    body = sw.Body("b", 12.0, (13.0, 5.0, 10.0), hull=hull)
    assert isinstance(shape(body, 1.0), Panels)


def test_faces_of_a_box_look_outwards():
    panels = box(1.0, 2.0, 3.0)
    for face in panels.faces:
        a, b, c, _ = panels.vertices[face]
        assert np.cross(b - a, c - b) @ a > 0
