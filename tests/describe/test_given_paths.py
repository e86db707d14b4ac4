"""Names that no file can have are a sentence in everything that reads or writes."""

import os
import socket

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
from swelltree.describe.bodies.meshes import mesh_bytes
from swelltree.hydro.readers.read import read_hydro
from swelltree.waves.gridded import grid_waves

LONG, NUL, DEEP = 300 * "a", "a\0b", 3000 * "a/" + "b"
SMALL = xr.Dataset({"x": ("time", np.ones(2))})
WAYS = {
    "hydro": read_hydro,
    "result": sw.load_result,
    "record": sw.read_record,
    "sea": lambda path: grid_waves(sw.GriddedSea(path), sw.Water()),
    "MoorDyn": sw.read_moordyn,
    "MoorPy": lambda path: sw.read_moorpy(path + ".yaml"),
    "WEC-Sim": sw.read_wecsim,
    "case": sw.load,
    "campaign": sw.open_campaign,
    "written": lambda path: sw.save(SMALL, path),
}


@pytest.mark.parametrize("name", [LONG, NUL, DEEP], ids=["long", "NUL", "deep"])
@pytest.mark.parametrize("way", WAYS)
def test_a_name_that_no_file_can_have_is_one_sentence(way, name):
    with pytest.raises(sw.SwelltreeError) as reported:
        WAYS[way](name)
    text = str(reported.value)
    assert len(text) < 600
    assert text.isprintable()
    assert "a" in text.split("'")[1]


@pytest.mark.parametrize("name", [LONG, NUL], ids=["long", "NUL"])
def test_a_case_that_names_such_data_is_one_sentence(name):
    from swelltree.describe.casefile.case import loads
    from swelltree.hydro.data.case import check_hydro_file

    body = '[system]\nname = "s"\nbodies = [{ name = "b", mass = 1.0, inertia = [1, 1, 1] }]\n'
    body += 'joints = [{ name = "j", type = "free", base = "world", follower = "b" }]\n'
    escaped = name.replace("\0", "\\u0000")
    case = loads(f'{body}[hydro]\nfile = "{escaped}"\n')
    with pytest.raises(sw.SwelltreeError, match="no file can have this name"):
        check_hydro_file(case)


def test_a_long_word_of_a_file_is_shortened_in_the_sentence_about_it(tmp_path):
    path = tmp_path / "mooring.yaml"
    path.write_text(f"points:\n  - name: a\n    type: {3000 * 'x'}\n    location: [0, 0, 0]\n")
    with pytest.raises(sw.SwelltreeError, match=r"section 'points', 'a': type 'x+ \.\.\. x+'"):
        sw.read_moorpy(path)


READ = {way: read for way, read in WAYS.items() if way != "written"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes of this kind")
@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
@pytest.mark.parametrize("way", READ)
def test_pipes_and_devices_are_no_inputs(way, kind, tmp_path):
    """They would be waited for, or read without end."""
    ending = ".yaml" if way == "MoorPy" else ""
    path = tmp_path / f"in{ending}"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        socket.socket(socket.AF_UNIX).bind(str(path))
    with pytest.raises(sw.SwelltreeError, match="it is a pipe or a device, not a file"):
        READ[way](str(path).removesuffix(ending))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes of this kind")
def test_pipes_within_folders_are_no_inputs(tmp_path):
    """A store, a mesh and a file that another names."""
    os.mkfifo(tmp_path / "campaign.json")
    with pytest.raises(sw.SwelltreeError, match="it is a pipe or a device"):
        sw.open_campaign(tmp_path)
    os.mkfifo(tmp_path / "hull.stl")
    with pytest.raises(sw.SwelltreeError, match="it is a pipe or a device"):
        mesh_bytes(str(tmp_path / "hull.stl"))
    for ending in ("1", "3", "out"):
        os.mkfifo(tmp_path / f"buoy.{ending}")
    with pytest.raises(sw.SwelltreeError):
        read_hydro(tmp_path, rho=1025.0, g=9.81)
