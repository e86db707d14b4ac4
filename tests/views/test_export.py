"""Results in other formats."""

import json
import struct

import numpy as np
import pytest

import swelltree as sw
from made_result import HOSTILE, made_run
from swelltree.views.film import write_film


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
    with pytest.raises(sw.SwelltreeError, match="a film needs a run in time"):
        sw.export(run.isel(time=0), tmp_path / "run.gif")
