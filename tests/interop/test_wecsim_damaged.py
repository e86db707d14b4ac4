"""Damaged scripts, models and tables of WEC-Sim: a case or a sentence, and nothing half-written."""

import io
import itertools
import stat
import struct
import zipfile

import numpy as np
import pytest
from typer.testing import CliRunner

import swelltree as sw
from made_wecsim import (
    PENDULUM,
    PENDULUM_BLOCKS,
    PENDULUM_LINES,
    system_xml,
    write_case,
    write_pendulum,
    write_slx,
)
from mutants import bounded, damage_bytes, damage_text, outcome
from support import refdata
from swelltree.cli import app
from swelltree.interop.wecsim.diagram import read_diagram, read_package
from swelltree.interop.wecsim.hydro_data import read_mat

ROOT = "simulink/systems/system_root.xml"
OTHER = ROOT.replace("root", "toor")
XML = system_xml(PENDULUM_BLOCKS, PENDULUM_LINES)


def full(found):
    """Nothing is wrong with what was read: the text is a case, or data are missing."""
    if not any(item.missing for item in found.left):
        _ = found.case
    return ""


def damaged(folder, seeds, damage, name):
    """What came of each seed that was neither a case nor a sentence."""
    path = folder / name
    content = path.read_bytes()
    odd = {}
    for seed in seeds:
        path.write_bytes(content)
        damage(path, seed)
        came = outcome(lambda: sw.read_wecsim(folder), full)
        if came not in ("data", "sentence"):
            odd[seed] = came
    return odd


@pytest.mark.parametrize(
    ("name", "damage"), [("wecSimInputFile.m", damage_text), ("model.slx", damage_bytes)]
)
def test_damaged_files_give_a_case_or_a_sentence(tmp_path, name, damage):
    assert damaged(write_pendulum(tmp_path), range(40), damage, name) == {}


def test_damaged_xml_gives_a_case_or_a_sentence(tmp_path):
    folder = write_pendulum(tmp_path)
    part = tmp_path / "part.xml"
    odd = {}
    for seed in range(40):
        part.write_text(XML)
        (damage_text if seed % 2 else damage_bytes)(part, seed)
        write_slx(folder / "model.slx", {ROOT: part.read_bytes()})
        came = outcome(lambda: sw.read_wecsim(folder), full)
        if came not in ("data", "sentence"):
            odd[seed] = came
    assert odd == {}


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["wecSimInputFile.m", "*.slx"])
def test_public_cases_damaged_in_many_ways(tmp_path, ending):
    for k, script in enumerate(sorted(refdata("wecsim_inputs").rglob("wecSimInputFile.m"))):
        folder = tmp_path / str(k)
        folder.mkdir()
        for path in (script, *script.parent.glob("*.slx")):
            (folder / path.name).write_bytes(path.read_bytes())
        (name,) = [path.name for path in folder.glob(ending)]
        damage = damage_text if name.endswith(".m") else damage_bytes
        assert damaged(folder, range(100 * k, 100 * k + 100), damage, name) == {}


def link(name="simulink/link.xml"):
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def bomb(size=2**27):
    """A part that unpacks to a thousand times its size."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr(ROOT, bytes(size))
    return content.getvalue()


def liar():
    """A part that claims to be small and is not."""
    content = bytearray(bomb(2**25))
    at = content.rindex(b"PK\x01\x02")
    content[at + 24 : at + 28] = (1000).to_bytes(4, "little")
    return bytes(content)


ENTITIES = [f"<!ENTITY {c} '{f'&{b};' * 10}'>" for b, c in itertools.pairwise("abcdefghi")]
LAUGHS = (
    f"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'ha'>{''.join(ENTITIES)}]>"
    "<System><P Name='x'>&i;</P></System>"
)
OUTSIDE = (
    "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/hostname'>]>"
    "<System><P Name='x'>&a;</P></System>"
)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({ROOT: XML, "../evil.xml": "x"}, "leads out of the file"),
        ({ROOT: XML, "/etc/evil": "x"}, "leads out of the file"),
        ({ROOT: XML, "a\\..\\b": "x"}, "leads out of the file"),
        ({ROOT: XML, "C:/b": "x"}, "leads out of the file"),
        ({ROOT: XML, link(): "/etc/passwd"}, "is a link"),
        ({ROOT: LAUGHS}, "declares a document type"),
        ({ROOT: OUTSIDE}, "declares a document type"),
        ({ROOT: "<System>" + "<a>" * 5000 + "</a>" * 5000 + "</System>"}, "100 deep"),
        ({ROOT: "<System>" + "<a/>" * 120_000 + "</System>"}, "more than 100000 elements"),
        ({ROOT: "<System><P>"}, "not sound XML"),
        ({ROOT: "<?xml version='1.0' encoding='klingon'?><System/>"}, "not sound XML"),
        ({ROOT: b"\xff\xfe\x00"}, "not sound XML"),
        ({ROOT: "<Other/>"}, "no blocks at its top"),
        ({"simulink/blockdiagram.xml": "<ModelInformation/>"}, "no blocks at its top"),
        ({"readme.txt": "hello"}, "holds no diagram"),
        ({ROOT: XML.replace("SID='3'", "SID='2'")}, "two blocks have the number 2"),
    ],
)
def test_models_that_lead_elsewhere_or_grow_are_a_sentence(tmp_path, parts, sentence):
    path = write_slx(tmp_path / "model.slx", parts)
    with bounded(gigabytes=1.0), pytest.raises(sw.SwelltreeError, match=sentence):
        read_diagram(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (bomb, "unpacks to 128 MiB"),
        (liar, "damaged zip|unpacks to over|not sound XML"),
        (lambda: b"", "damaged zip"),
        (lambda: b"PK\x03\x04" + bytes(100), "damaged zip"),
        (lambda: bytes(70 * 2**20), "it has 70 MiB"),
    ],
)
def test_zip_bombs_are_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "model.slx"
    path.write_bytes(content())
    with bounded(gigabytes=0.5), pytest.raises(sw.SwelltreeError, match=sentence):
        read_package(path)


def test_a_part_that_is_there_twice_is_a_sentence(tmp_path):
    path = write_slx(tmp_path / "m.slx", {ROOT: XML, OTHER: XML})
    path.write_bytes(path.read_bytes().replace(OTHER.encode(), ROOT.encode()))
    with pytest.raises(sw.SwelltreeError, match="is there twice"):
        read_package(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda f: (f / "model.slx").rename(f / "other.slx"), "'.*model.slx' does not exist"),
        (lambda f: (f / "wecSimInputFile.m").unlink(), "has no wecSimInputFile.m"),
        (lambda f: (f / "wecSimInputFile.m").write_bytes(b"\0\1\2"), "is not a text"),
        (lambda f: (f / "wecSimInputFile.m").write_text(""), "no body in common"),
        (
            lambda f: (f / "wecSimInputFile.m").write_bytes(b" " * 2**22),
            "more than an input script",
        ),
        (
            lambda f: (f / "wecSimInputFile.m").write_text("simu.simMechanicsFile = 'old.mdl';"),
            "of the old form .mdl",
        ),
        (
            lambda f: (f / "wecSimInputFile.m").write_text("simu.simMechanicsFile = 'a.txt';"),
            "ending '.txt' is not known",
        ),
        (
            lambda f: (f / "wecSimInputFile.m").write_text(
                PENDULUM + "body(1).inertia = [1 1 9];\nsimu.simMechanicsFile='model.slx';"
            ),
            "cannot be described: body 'part1': inertia violates",
        ),
    ],
)
def test_cases_that_are_not_whole_are_a_sentence(tmp_path, change, sentence):
    folder = write_pendulum(tmp_path / "case")
    change(folder)
    with pytest.raises(sw.SwelltreeError, match=sentence):
        sw.read_wecsim(folder)
    before = sorted(tmp_path.rglob("*"))
    came = CliRunner().invoke(
        app, ["import", "wecsim", str(folder), "-o", str(tmp_path / "c.toml")]
    )
    assert came.exit_code == 2, came.output
    assert sorted(tmp_path.rglob("*")) == before


def test_command_writes_the_case_and_never_over_another(tmp_path):
    folder = write_pendulum(tmp_path / "case")
    out = tmp_path / "mine.toml"
    arguments = ["import", "wecsim", str(folder), "-o", str(out)]
    came = CliRunner().invoke(app, arguments)
    assert came.exit_code == 0, came.output
    assert sw.load(out).system.bodies[0].name == "part1"
    out.write_text("my own")
    came = CliRunner().invoke(app, arguments)
    assert came.exit_code == 2
    assert "exists already" in came.output
    assert out.read_text() == "my own"
    assert CliRunner().invoke(app, [*arguments, "--overwrite"]).exit_code == 0
    assert sw.load(out).system.name == "mine"


def test_command_lists_what_was_left_out(tmp_path):
    script = PENDULUM + "controller(1).gain = 3;\n"
    folder = write_case(tmp_path / "case", script, PENDULUM_BLOCKS, PENDULUM_LINES)
    out = tmp_path / "c.toml"
    came = CliRunner().invoke(app, ["import", "wecsim", str(folder), "-o", str(out)])
    assert came.exit_code == 1
    assert "wecSimInputFile.m:14: controller(1) (control law)" in came.output
    assert "# - wecSimInputFile.m:14: controller(1)" in out.read_text()
    sw.load(out)


def test_nothing_stays_where_a_file_cannot_be_written(tmp_path):
    folder = write_pendulum(tmp_path / "case")
    with pytest.raises(sw.SwelltreeError, match="Make it first"):
        sw.read_wecsim(folder, out=tmp_path / "nowhere").write()
    found = sw.read_wecsim(folder, out=tmp_path, name="m")
    (tmp_path / "m.toml").mkdir()
    with pytest.raises(sw.SwelltreeError, match="exists already"):
        found.write()


# tables of MATLAB


def make_mat(path, **options):
    savemat = pytest.importorskip("scipy.io").savemat
    header = np.array(["waves.height"], dtype=object)
    values = {"eta": np.arange(20.0).reshape(10, 2), "mcr": {"header": header, "cases": 2.0}}
    savemat(path, values, **options)
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_damaged_tables_give_data_or_a_sentence(tmp_path, packed):
    path = make_mat(tmp_path / "t.mat", do_compression=packed)
    content = path.read_bytes()
    assert read_mat(path)["eta"].shape == (10, 2)
    odd = {}
    for seed in range(60):
        path.write_bytes(content)
        damage_bytes(path, seed)
        came = outcome(lambda: read_mat(path), lambda found: "")
        if came not in ("data", "sentence"):
            odd[seed] = came
    assert odd == {}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda c: b"MATLAB 7.3 MAT-file" + c[19:], "version 7.3"),
        (lambda c: c[:100], "not a MATLAB file"),
        (lambda c: c[:128] + (15).to_bytes(4, "little") + _packed_zeros(), "unpacks to more than"),
        (lambda c: c[:140], "ends too early"),
    ],
)
def test_tables_that_cannot_be_read_are_a_sentence(tmp_path, change, sentence):
    path = make_mat(tmp_path / "t.mat")
    path.write_bytes(change(path.read_bytes()))
    with bounded(gigabytes=1.5), pytest.raises(sw.SwelltreeError, match=sentence):
        read_mat(path)


def test_cells_in_cells_have_an_end(tmp_path):
    """`scipy.io.loadmat` overflows the stack with these, and the process ends."""
    head = b"".join(
        struct.pack("<II", kind, len(data)) + data
        for kind, data in ((6, struct.pack("<II", 1, 0)), (5, struct.pack("<ii", 1, 1)), (1, b""))
    )
    size, parts = 0, []
    for _ in range(100_000):
        size += len(head) + 8
        parts.append(struct.pack("<II", 14, size - 8) + head)
    path = make_mat(tmp_path / "t.mat")
    path.write_bytes(path.read_bytes()[:128] + b"".join(reversed(parts)))
    with bounded(gigabytes=1.5), pytest.raises(sw.SwelltreeError, match="cells are too deep"):
        read_mat(path)


def _packed_zeros():
    import zlib

    packer = zlib.compressobj(9)
    built = b"".join(packer.compress(bytes(2**20)) for _ in range(260)) + packer.flush()
    return len(built).to_bytes(4, "little") + built
