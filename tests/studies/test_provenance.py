"""Results say whence they come, and case files can say what Python can."""

import dataclasses
import inspect

import pytest

import swelltree as sw
from made_hydro import heaving_float
from swelltree.system.studies import STUDY_TYPES
from swelltree.views.report import page

# not for a text: objects of Python, and what the command does by itself
OURS = {"model", "provenance", "checkpoint", "resume", "progress", "times", "max_steps_per_output"}
OBJECTS = {"start"}  # a state of another result; words are fields of the simulate study
RENAMED = {"wave_direction_deg": "wave_direction"}
IN_PYTHON_ONLY = {"operability": "takes functions of Python"}


@pytest.mark.parametrize("name", sorted(STUDY_TYPES))
def test_every_option_of_a_study_can_stand_in_a_case_file(name):
    cls = STUDY_TYPES[name]
    own_fields = {field.name: field for field in dataclasses.fields(cls)}
    fields = {RENAMED.get(field, field) for field in own_fields} - {"name"}
    options = set(inspect.signature(getattr(sw, name)).parameters) - OURS
    assert options - fields <= OBJECTS, f"{name} lacks {options - fields}"
    assert fields <= options, f"{name} has {fields - options} that the function does not know"
    defaults = inspect.signature(getattr(sw, name)).parameters
    for field in set(own_fields) & set(defaults) - {"sea", "wave", "duration"}:
        own, theirs = own_fields[field].default, defaults[field].default
        assert own == theirs, f"{name}.{field}: {own} in a case file, {theirs} in Python"


def test_studies_of_python_are_those_of_case_files():
    several = {"simulate", "equilibrium", "modes", "rao", "response", "steady_state"}
    several |= {"optimal_control", "operability"}
    assert several - set(STUDY_TYPES) == set(IN_PYTHON_ONLY)


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
    given = best.arguments()
    assert given["force_max"] == {"damper": 1e5}
    assert tuple(given["stroke_max"]) == (-1.0, 2.0)
    assert list(given["pto"]) == ["damper"]
    assert swing.arguments()["added_mass"] == "infinite"
    again = sw.loads(sw.Case(sw.loads(text).system, (best, swing)).to_toml()).studies
    assert again[0].arguments()["force_max"] == {"damper": 1e5}
