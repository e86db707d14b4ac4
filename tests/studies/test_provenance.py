"""Results say whence they come, and case files can say what Python can."""

import dataclasses
import inspect

import pytest
from typer.testing import CliRunner

import swelltree as sw
from made_hydro import heaving_float
from swelltree.cli import app
from swelltree.describe.casefile.case import STUDY_TYPES
from swelltree.report.report import page

# not for a text: objects of Python, and what the command does by itself
OURS = {
    "model",
    "run",
    "provenance",
    "checkpoint",
    "resume",
    "progress",
    "times",
    "max_steps_per_output",
}
OBJECTS = {"start"}  # a state of another result; words are fields of the simulate study
RENAMED = {"wave_direction_deg": "wave_direction"}


@pytest.mark.parametrize("name", sorted(STUDY_TYPES))
def test_every_option_of_a_study_can_stand_in_a_case_file(name):
    cls = STUDY_TYPES[name]
    own_fields = {field.name: field for field in dataclasses.fields(cls)}
    fields = {RENAMED.get(field, field) for field in own_fields} - {"name"}
    options = set(inspect.signature(getattr(sw, name)).parameters) - OURS
    assert options - fields <= OBJECTS, f"{name} lacks {options - fields}"
    assert fields <= options, f"{name} has {fields - options} that the function does not know"
    defaults = inspect.signature(getattr(sw, name)).parameters
    for field in set(own_fields) & set(defaults) - {"sea", "wave", "duration", "over"}:
        own, theirs = own_fields[field].default, defaults[field].default
        assert own == theirs, f"{name}.{field}: {own} in a case file, {theirs} in Python"


def test_studies_of_python_are_those_of_case_files():
    several = {"simulate", "equilibrium", "modes", "rao", "response", "steady_state"}
    several |= {"optimal_control", "operability"}
    assert several == set(STUDY_TYPES)


@pytest.fixture(scope="module")
def model():
    body = sw.Body("float", mass=1.0e5, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    system = sw.System("heaving", [body], [rail], water=sw.Water(rho=1000.0))
    return sw.compile(system, heaving_float().assign_attrs(hash="abc123"), radiation="none")


@pytest.mark.parametrize("study", ["modes", "rao", "response"])
def test_results_made_in_python_say_whence_they_come(model, study):
    sea = sw.RegularWave(amplitude=0.5, omega=1.0)
    result = {
        "modes": lambda: sw.modes(model),
        "rao": lambda: sw.rao(model, omega=[0.8, 1.0, 1.2]),
        "response": lambda: sw.response(model, sea),
    }[study]()
    attrs = result.attrs
    assert attrs["swelltree_version"]
    assert attrs["created"].endswith("+00:00")
    assert attrs["hydro_hash"] == "abc123"
    assert sw.loads(attrs["case"]).system == model.described.system
    text = page(result)
    assert f"Made by swelltree {attrs['swelltree_version']}. SI units" in text
    assert "The case file" in text or study != "response"


def test_a_description_with_functions_says_that_it_has_no_text():
    body = sw.Body("bob", mass=1.0, inertia=(1, 1, 1))
    push = sw.JointForce("push", "rail", force=lambda t: 0.1 * t)
    system = sw.System("pushed", [body], [sw.Slider("rail", sw.WORLD, body)], [push])
    run = sw.simulate(sw.compile(system), duration=0.5, output_step=0.25)
    assert run.attrs["case"].startswith("# this system has no text: ")


def test_a_case_file_runs_an_optimal_control_and_modes():
    text = """
    [system]
    name = "one"
    bodies = [{ name = "bob", mass = 10.0, inertia = [0.1, 0.1, 0.1] }]
    joints = [{ name = "rail", type = "slider", base = "world", follower = "bob" }]

    [[studies]]
    name = "best"
    type = "optimal_control"
    sea = { type = "regular", amplitude = 0.3, period = 5.0 }
    pto = ["damper"]
    force_max = { damper = 1e5 }
    stroke_max = [-1.0, 2.0]
    efficiency = 0.8

    [[studies]]
    name = "swing"
    type = "modes"
    added_mass = "infinite"
    """
    best, swing = sw.loads(text).studies
    specified = best.arguments()
    assert specified["force_max"] == {"damper": 1e5}
    assert tuple(specified["stroke_max"]) == (-1.0, 2.0)
    assert list(specified["pto"]) == ["damper"]
    assert swing.arguments()["added_mass"] == "infinite"
    again = sw.loads(sw.Case(sw.loads(text).system, (best, swing)).to_toml()).studies
    assert again[0].arguments()["force_max"] == {"damper": 1e5}


WEATHER = """
[system]
name = "moored"
joints = [{ name = "heave", type = "slider", base = "world", follower = "ball" }]
forces = [{ name = "wet", type = "immersion", point = "ball", Ca = 0.5, Cd = 0.4 }]

[[system.bodies]]
name = "ball"
mass = 3000.0
inertia = [900.0, 900.0, 900.0]
hull = { shape = "sphere", radius = 1.0 }

[[studies]]
name = "weather"
type = "operability"
over = { Hs = [0.2, 1.5] }
judge = "own_numbers:speeds"
limits = [
    { channel = "position", body = "ball", dof = "Heave", limit = 0.7 },
    { name = "shake", channel = "velocity", dof = "Heave", statistic = "std", limit = 0.9 },
    { channel = "top_speed", limit = [-0.1, 4.0] },
]

[studies.simulate]
duration = 8.0
output_step = 0.1
solver = "rk4"
step = 0.02

[studies.simulate.sea]
type = "irregular"
components = 20
ramp = 2.0
spectrum = { type = "jonswap", Hs = 1.0, Tp = 5.0 }
"""


def test_a_case_file_runs_an_operability(tmp_path, monkeypatch):
    """The command and Python give one table; the numbers are those of single runs."""
    case = tmp_path / "weather.toml"
    case.write_text(WEATHER)
    code = "def speeds(run):\n    return {'top_speed': float(abs(run.velocity[:, 0, 2]).max())}\n"
    (tmp_path / "own_numbers.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    reported = CliRunner().invoke(app, ["run", str(case), "--out", str(tmp_path), "--report"])
    assert reported.exit_code == 0, reported.output
    assert "1 of 2 cases are operable" in reported.output
    written = sw.load_result(tmp_path / "weather.nc")
    shown = (tmp_path / "weather.html").read_text()
    assert "1 of 2 cases are operable. Limits: position ball Heave &lt;= 0.7;" in shown
    assert "energy in order" not in shown
    outline = CliRunner().invoke(app, ["check", str(case)]).output
    assert "weather: operability, 2 Hs, 3 limits, 8 s with rk4" in " ".join(outline.split())
    loaded = sw.load(case)
    study = loaded.study("weather")
    assert sw.loads(sw.Case(loaded.system, (study,)).to_toml()).studies == (study,)
    model = sw.compile_case(loaded)
    specified = study.arguments()
    table = sw.operability(model, **specified)
    numbers = ["position ball Heave", "shake", "top_speed", "utilisation"]
    for name in numbers:
        assert table[name].values == pytest.approx(written[name].values, rel=1e-12)
    assert table["state"].values.tolist() == ["operable", "inoperable"]
    assert table.attrs["swelltree_version"]
    wave = specified["simulate"].pop("sea")
    wave = wave.replace(spectrum=wave.spectrum.replace(Hs=1.5))
    run = sw.simulate(model, wave, **specified["simulate"])
    heave = run["position"].sel(body="ball", dof="Heave")
    assert float(table[numbers[0]][1]) == pytest.approx(float(abs(heave[run.time >= 2.0]).max()))
    assert float(table["shake"][1]) == pytest.approx(
        float(sw.statistics(run)["velocity"].sel(statistic="std", body="ball", dof="Heave"))
    )
    assert study.replace(formulation="lagrange").simulate.formulation == "lagrange"


def test_cases_that_fail_are_told_by_the_command_and_its_page(tmp_path, monkeypatch):
    case = tmp_path / "weather.toml"
    case.write_text(WEATHER.replace("own_numbers:speeds", "gappy_numbers:speeds"))
    code = "def speeds(run):\n    return {'top_speed': float('nan')}\n"
    (tmp_path / "gappy_numbers.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    reported = CliRunner().invoke(app, ["run", str(case), "--out", str(tmp_path), "--report"])
    assert reported.exit_code == 1
    assert "0 of 2 cases are operable" in reported.output
    sentence = "2 of 2 cases have no result and are neither operable nor inoperable"
    assert f"! {sentence}" in " ".join(reported.output.split())
    assert sentence in (tmp_path / "weather.html").read_text()


def test_the_schema_tells_limits_and_runs_of_an_operability():
    studies = sw.case_schema()["properties"]["studies"]["items"]["oneOf"]
    (found,) = [x for x in studies if x["properties"]["type"]["const"] == "operability"]
    limit = found["properties"]["limits"]["items"]
    assert limit["required"] == ["channel", "limit"]
    assert "mpm" in limit["properties"]["statistic"]["enum"]
    run = found["properties"]["simulate"]
    assert run["required"] == ["duration"]
    assert "rk4" in run["properties"]["solver"]["enum"]
    assert not {"name", "type"} & set(run["properties"])
