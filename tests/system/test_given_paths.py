"""Names that no file can have are a sentence in everything that reads or writes."""

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
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
    with pytest.raises(sw.SwelltreeError) as told:
        WAYS[way](name)
    text = str(told.value)
    assert len(text) < 600
    assert text.isprintable()
    assert "a" in text.split("'")[1]


@pytest.mark.parametrize("name", [LONG, NUL], ids=["long", "NUL"])
def test_a_case_that_names_such_data_is_one_sentence(name):
    from swelltree.hydro.case import check_hydro_file
    from swelltree.system.casefile.case import loads

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
