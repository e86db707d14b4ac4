"""The examples run and find the numbers that they assert."""

import importlib
import importlib.util
import sys

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
from support import ROOT
from swelltree.describe import load
from swelltree.hydro.data.case import hydro_of_case

FOLDER = ROOT / "examples"
needs_bem = pytest.mark.skipif(
    importlib.util.find_spec("capytaine") is None, reason="needs Capytaine"
)
slow = pytest.mark.slow


def example(name: str):
    """The module of an example, as if run in its folder."""
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    return importlib.import_module(name)


# the only runs that are not machine code, and why: water that is meshed anew is a call of Python
BY_XLA = {"lowering_through_the_surface": "XLA: the operation 'pure_callback'"}


@pytest.fixture(autouse=True)
def engines(monkeypatch, request):
    """Every run of an example is machine code, but for those that are listed."""
    simulate, engines = sw.simulate, []

    def seen(*args, **options):
        result = simulate(*args, **options)
        engines.append(result.attrs["engine"])
        return result

    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    monkeypatch.setattr(sw, "simulate", seen)
    yield engines
    name = getattr(request.node, "callspec", None) and request.node.callspec.params.get("name")
    expected = BY_XLA.get(name, "LLVM")
    assert all(x == expected for x in engines), engines


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("ceto", marks=needs_bem),
        pytest.param("sphere_decay", marks=slow),
        pytest.param("rm3", marks=slow),
        pytest.param("oswec", marks=slow),
        pytest.param("power_take_offs", marks=slow),
        pytest.param("geared_brake", marks=slow),
        pytest.param("moored_float", marks=[needs_bem, slow]),
        pytest.param("mooring_network", marks=slow),
        pytest.param("slow_drift", marks=[needs_bem, slow]),
        pytest.param("moored_chain", marks=slow),
        pytest.param("optimal_control", marks=slow),
        pytest.param("learning_controller", marks=slow),
        pytest.param("control_oriented_barges", marks=slow),
        pytest.param("periodic_barge", marks=slow),
        pytest.param("capsizing_barge", marks=slow),
        pytest.param("spar_of_members", marks=slow),
        pytest.param("crane_vessel", marks=[needs_bem, slow]),
        pytest.param("sliding_mass", marks=[needs_bem, slow]),
        pytest.param("lowering_through_the_surface", marks=slow),
        "hinge_barge_tank",
        pytest.param("hinged_barges", marks=[needs_bem, slow]),
    ],
)
def test_example_finds_its_numbers(name):
    example(name).main()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_case_files_describe_systems(path):
    case = load(path)
    assert case.studies
    assert case.hydro is not None


@slow
@needs_bem
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_case_files_run(path, tmp_path):
    from typer.testing import CliRunner

    from swelltree.cli import app

    answer = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path)])
    assert answer.exit_code == 0, answer.output
    results = [xr.open_dataset(file) for file in tmp_path.glob("*.nc")]
    assert results
    # of those studies that step in time
    engines = [result.attrs["engine"] for result in results if "engine" in result.attrs]
    assert engines
    assert set(engines) == {"LLVM"}


@slow
@needs_bem
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_case_files_have_a_rest_and_no_error_of_physics(path):
    from typer.testing import CliRunner

    from swelltree.cli import app

    answer = CliRunner().invoke(app, ["check", "--physics", str(path)])
    assert answer.exit_code == 0, answer.output
    assert "will not settle" not in answer.output
    assert "physics" in answer.output


def test_a_case_without_hydro_section_has_no_data():
    import dataclasses

    case = load(FOLDER / "hinged_barges.toml")
    assert hydro_of_case(dataclasses.replace(case, hydro=None)) is None
    data = hydro_of_case(case)
    assert data is not None
    assert data.sizes["body"] == 3


@slow
def test_environment_of_the_learning_example_keeps_the_interface_of_gymnasium():
    env = example("learning_controller").SphereInWave()
    first, about = env.reset(seed=3)
    assert (first.shape, first.dtype, about) == ((2,), float, {})
    rewards, over = [], False
    while not over:
        seen, reward, terminated, over, about = env.step(np.array([0.1]))
        assert env.run.forces == {"pto": pytest.approx(4e4)}
        rewards.append(reward)
    assert (type(reward), terminated, over) == (float, False, True)
    assert len(rewards) == 80
    assert set(about) == {"time"}
    again, _ = env.reset()
    assert np.array_equal(first, again)
    assert not np.array_equal(first, seen)
    env.step(np.array([50.0]))  # the machine has a limit
    assert env.run.forces == {"pto": 4e5}
    if importlib.util.find_spec("gymnasium") is not None:
        from gymnasium.utils.env_checker import check_env

        check_env(env, skip_render_check=True)
