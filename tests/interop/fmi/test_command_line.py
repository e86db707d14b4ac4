"""`swelltree export` of a case: an FMU or C code, with the sea and the solver of a study."""

import zipfile

import numpy as np
import pytest
from typer.testing import CliRunner

import swelltree as sw
from made_device import CDevice, needs_compiler
from support import PENDULUM
from swelltree.cli import app
from swelltree.interop.fmi.device import device_of

CASE = (
    PENDULUM.replace("FORCES", '{ name = "turn", type = "joint_force", joint = "pivot" }')
    + """
[[studies]]
type = "simulate"
name = "swing"
duration = 2.0
output_step = 0.1
solver = "rk4"
step = 0.02
"""
)


def swelltree(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def case(tmp_path):
    path = tmp_path / "case.toml"
    path.write_text(CASE)
    return path


@needs_compiler
def test_a_case_becomes_an_fmu_with_the_solver_of_its_study(case, tmp_path):
    words = ["--output", "bob.Pitch", "--parameter", "turn.damping", "--fmi", "3.0"]
    done = swelltree("export", case, tmp_path / "p.fmu", *words)
    assert done.exit_code == 0, done.output
    assert done.output.startswith("written: ")
    with zipfile.ZipFile(tmp_path / "p.fmu") as parts:
        text = parts.read("modelDescription.xml").decode()
    assert 'fmiVersion="3.0"' in text
    assert 'stepSize="0.02"' in text
    for name in ("turn", "bob.Pitch", "turn.damping"):
        assert f'name="{name}"' in text


@needs_compiler
def test_a_case_becomes_c_code(case, tmp_path):
    done = swelltree("export", case, "--c", tmp_path / "c", "--set", "step=0.05")
    assert done.exit_code == 0, done.output
    loaded = sw.load(case)
    device = device_of(sw.compile(loaded.system), None, step=0.05)
    assert (tmp_path / "c" / "pendulum.h").is_file()
    (tmp_path / "again").mkdir()
    pendulum = CDevice(device, tmp_path / "again")
    times = 0.1 * np.arange(21)
    found = pendulum.run(times, ["displacement.bob.Pitch"])[:, 0]
    model = sw.compile(loaded.system)
    result = sw.simulate(model, times=times, solver="rk4", step=0.05)
    expected = result.displacement.sel(body="bob", dof="Pitch").values
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Give one of them"),
        (("out.fmu", "--c", "folder"), "Give one of them"),
        (("out.zip",), "ends in .fmu"),
        (("--c", "folder", "--set", "stepp=1"), "no such option. Did you mean 'step'"),
        (("--c", "folder", "--study", "none"), "none"),
        (("--c", "folder", "--output", "bub.Pitch"), "neither a channel nor a body"),
    ],
)
def test_words_that_do_not_fit_are_refused(case, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = swelltree("export", case, *words)
    assert done.exit_code == 2
    assert message in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["case.toml"]


def test_a_result_is_no_case(tmp_path):
    done = swelltree("export", tmp_path / "run.nc", "--c", tmp_path / "c")
    assert done.exit_code == 2
    assert "case file" in done.output
