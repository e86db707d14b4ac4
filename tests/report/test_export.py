"""Results in other formats."""

import csv
import json
import re
import struct

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, heaving_float
from made_result import HOSTILE, made_run
from swelltree.report.film import write_film


def parts_of(path):
    data = path.read_bytes()
    magic, version, total = struct.unpack("<4sII", data[:12])
    assert (magic, version, total) == (b"glTF", 2, len(data))
    length, kind = struct.unpack("<I4s", data[12:20])
    assert kind == b"JSON"
    content = json.loads(data[20 : 20 + length])
    size, kind = struct.unpack("<I4s", data[20 + length : 28 + length])
    assert kind == b"BIN\0"
    return content, data[28 + length : 28 + length + size]


def test_gltf_moves_the_bodies_as_the_run_does(tmp_path):
    run = made_run(HOSTILE, duration=20.0)
    content, data = parts_of(sw.export(run, tmp_path / "run.glb"))
    assert [node["name"] for node in content["nodes"][:-1]] == list(HOSTILE)

    def values(number):
        about = content["accessors"][number]
        view = content["bufferViews"][about["bufferView"]]
        raw = np.frombuffer(data, "<f4", view["byteLength"] // 4, view["byteOffset"])
        return raw.reshape(about["count"], -1)

    film = content["animations"][0]
    for track in film["channels"]:
        sampler = film["samplers"][track["sampler"]]
        assert values(sampler["input"])[:, 0] == pytest.approx(run["time"].values)
        moved = values(sampler["output"])
        body = track["target"]["node"]
        if track["target"]["path"] == "translation":
            assert moved == pytest.approx(run["position"].values[:, body, :3], rel=1e-5, abs=1e-5)
        else:
            turned = run["quaternion"].values[:, body][:, [1, 2, 3, 0]]
            assert moved == pytest.approx(turned, abs=1e-6)


def test_usd_moves_the_bodies_as_the_run_does(tmp_path):
    run = made_run(HOSTILE, duration=20.0)
    path = sw.export(run, tmp_path / "run.usda")
    text = path.read_text()
    assert text.startswith("#usda 1.0")
    assert 'upAxis = "Z"' in text
    titles = re.findall(r'displayName = (".*")', text)
    assert [json.loads(title) for title in titles] == list(HOSTILE)
    names = re.findall(r'    def Xform "(.*)" \(', text)
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) for name in names)
    tracks = re.findall(r"(\w+)\.timeSamples = \{(.*?)\}", text, re.DOTALL)
    assert len(tracks) == 2 * len(HOSTILE)
    for k, (kind, rows) in enumerate(tracks):
        pairs = [row.split(": ") for row in rows.strip().splitlines()]
        codes = [float(code) for code, _ in pairs]
        assert codes == pytest.approx(24 * run["time"].values)
        values = np.array([json.loads(f"[{row.strip('(),')}]") for _, row in pairs])
        body = k // 2
        expected = run["position"].values[:, body, :3]
        if kind == "orient":
            expected = run["quaternion"].values[:, body]
            values *= np.sign((values * expected).sum(1, keepdims=True))
        assert values == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_usd_is_read_by_pixar(tmp_path):
    usd = pytest.importorskip("pxr.Usd", reason="skipped: usd-core is not installed")
    from pxr import UsdGeom

    run = made_run(HOSTILE, duration=20.0)
    stage = usd.Stage.Open(str(sw.export(run, tmp_path / "run.usda")))
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    for body, prim in enumerate(stage.GetDefaultPrim().GetChildren()):
        for k in (0, run.sizes["time"] - 1):
            code = 24 * float(run.time[k])
            matrix = np.array(UsdGeom.Xformable(prim).GetLocalTransformation(code)).T
            np.testing.assert_allclose(matrix[:3, 3], run.position[k, body, :3], atol=1e-6)
            w, x, y, z = run.quaternion.values[k, body]
            column = [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]
            np.testing.assert_allclose(matrix[:3, 0], column, atol=1e-6)
        mesh = UsdGeom.Mesh(prim.GetChild("hull"))
        assert mesh.ValidateTopology(
            mesh.GetFaceVertexIndicesAttr().Get(),
            mesh.GetFaceVertexCountsAttr().Get(),
            len(mesh.GetPointsAttr().Get()),
        )[0]


def test_a_film_has_a_picture_for_every_time(tmp_path):
    from PIL import Image

    path = write_film(
        made_run(duration=20.0), tmp_path / "run.gif", duration=0.5, rate=6, width=160
    )
    with Image.open(path) as film:
        assert film.n_frames == 4
        assert film.size == (160, 90)
        assert len(film.convert("RGB").getcolors(100_000)) > 20


def test_mp4_without_ffmpeg_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        sw.SwelltreeError, match=r"\.mp4 needs ffmpeg. Install it, or write a \.gif"
    ):
        sw.export(made_run(duration=10.0), tmp_path / "run.mp4")


def test_plots_and_unknown_endings(tmp_path):
    run = made_run(duration=10.0)
    assert sw.export(run, tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(sw.SwelltreeError, match=r"the ending '\.xyz' is not known"):
        sw.export(run, tmp_path / "run.xyz")
    with pytest.raises(sw.SwelltreeError, match="an animation needs a time-domain run"):
        sw.export(run.isel(time=0), tmp_path / "run.gif")


@pytest.fixture(scope="module")
def float_runs():
    """A run in time and responses of the heaving float."""
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    system = sw.System("s", (body,), (rail,), water=sw.Water(rho=1000.0))
    model = sw.compile(system, heaving_float(), radiation="none")
    run = sw.simulate(model, sw.RegularWave(height=1.0, period=7.0), duration=3.0, output_step=0.3)
    return run, sw.rao(model, omega=[0.5, 0.8, 1.3])


def test_tables_hold_every_number_of_a_result(float_runs, tmp_path):
    for result, axis in zip(float_runs, ("time", "omega"), strict=True):
        path = sw.export(result, tmp_path / f"{axis}.csv")
        header, *rows = csv.reader(path.read_text().splitlines())
        table = np.array([[float(x) for x in row] for row in rows])
        assert header[0] == f"{axis} [{result[axis].attrs['units']}]"
        np.testing.assert_array_equal(table[:, 0], result[axis])
        count = sum(
            values[axis].size and values.size // values[axis].size * (1 + np.iscomplexobj(values))
            for values in result.data_vars.values()
            if axis in values.dims
        )
        assert len(header) >= 1 + count
        assert len(set(header)) == len(header)
    run, response = float_runs
    rows = list(csv.DictReader((tmp_path / "time.csv").read_text().splitlines()))
    heave = run.position.sel(body="float", dof="Heave")
    key = next(k for k in rows[0] if k.startswith("position.float.Heave"))
    np.testing.assert_array_equal([float(row[key]) for row in rows], heave)
    rows = list(csv.DictReader((tmp_path / "omega.csv").read_text().splitlines()))
    exact = response.rao.sel(body="float", dof="Heave").isel(wave_direction=0)
    real = next(k for k in rows[0] if re.match(r"rao\.0\.0\.float\.Heave\.real", k))
    np.testing.assert_array_equal([float(row[real]) for row in rows], exact.real)


def test_matlab_files_hold_arrays_dims_and_units(float_runs, tmp_path):
    from scipy.io import loadmat

    run, response = float_runs
    found = loadmat(sw.export(run, tmp_path / "run.mat"), simplify_cells=True)
    np.testing.assert_array_equal(np.ravel(found["time"]), run.time)
    np.testing.assert_array_equal(found["position"].reshape(run.position.shape), run.position)
    assert np.atleast_1d(found["body"]).tolist() == ["float"]
    assert found["dims"]["position"].tolist() == list(run.position.dims)
    assert found["units"]["time"] == "s"
    assert found["attributes"]["solver"] == run.attrs["solver"]
    found = loadmat(sw.export(response, tmp_path / "rao.mat"), simplify_cells=True)
    np.testing.assert_array_equal(found["rao"].reshape(response.rao.shape), response.rao)


def test_a_result_without_an_axis_of_rows_is_refused_as_a_table(float_runs, tmp_path):
    run, _ = float_runs
    with pytest.raises(
        sw.SwelltreeError, match=r"a table needs an axis .* Write the result as \.mat"
    ):
        sw.export(run.isel(time=0), tmp_path / "one.csv")
    assert sw.export(run.isel(time=0), tmp_path / "one.mat").exists()
