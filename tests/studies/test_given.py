"""What is refused in a sentence before anything is computed."""

import inspect

import pytest

import swelltree as sw
from made_result import made_run, made_system
from swelltree.results.summary import remedy, warnings_of

STUDIES = [
    "simulate",
    "equilibrium",
    "modes",
    "rao",
    "response",
    "steady_state",
    "state_space",
    "optimal_control",
    "mooring_stiffness",
    "offset_curve",
    "check_physics",
    "linear_and_nonlinear",
]


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_of_a_system_asks_for_a_model(name):
    study = getattr(sw, name)
    assert next(iter(inspect.signature(study).parameters)) == "model"
    with pytest.raises(
        sw.SwelltreeError, match=rf"{name}: system 'one' is not compiled. Give comp"
    ):
        study(made_system())
    with pytest.raises(sw.SwelltreeError, match=f"{name}: str is not a model"):
        study("case.toml")


def test_no_samples_make_no_chunk():
    with pytest.raises(sw.SwelltreeError, match="chunk 0 is not a number of samples"):
        sw.simulate(sw.compile(made_system()), duration=1.0, chunk=0)


@pytest.mark.parametrize("make", [sw.chain, sw.wire_rope, sw.polyester, sw.nylon])
def test_a_diameter_in_millimetres_is_asked_about(make):
    with pytest.raises(sw.SwelltreeError, match=r"diameter 76 m .* millimetres\? Give 0.076"):
        make(76)
    with pytest.raises(sw.SwelltreeError, match="diameter 0 m is not between"):
        make(0.0)
    assert make(0.076).diameter < 0.2


@pytest.mark.parametrize(
    ("attrs", "words"),
    [
        ({"solver": "tsit5"}, "lower rtol"),
        ({"solver": "rk4", "step": 0.02}, "smaller step (it was 0.02 s)"),
        ({"solver": "two_step", "step": 0.05}, "smaller step (it was 0.05 s)"),
        ({"study": "steady_state", "solver": ""}, "more harmonics"),
    ],
)
def test_what_is_advised_helps(attrs, words):
    run = made_run().assign_attrs(attrs)
    run["closure"] = run["closure"] + 1e-3
    assert words in remedy(run)
    assert any(words in sentence for sentence in warnings_of(run))
