"""Control laws that cannot be: one sentence with the law's name and line."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.spatial.arrays import namespace
from swelltree.system.errors import SwelltreeError


def branches(t, y):
    if y[0] > 0.0:
        return -y
    return 0.0 * y


def by_numpy(t, y):
    return -np.tanh(np.asarray(y))


def fails(t, y):
    return y + {}["gain"]


def nothing(t, y):
    pass


def too_many(t, y):
    return namespace(y).stack([y[0], y[0]])


def no_number(t, y):
    xp = namespace(y, t)
    return xp.where(xp.asarray(t) > 0.5, xp.nan, 0.0) + 0.0 * y


def late_fault(t, y):
    return [-y[0]] if t < 0.5 else [{}["gain"]]


def late_nan(t, y):
    return [-y[0]] if t < 0.5 else [float("nan")]


def pendulum(law, measures=("pivot.Pitch.rate",), plain=False, ptos=()):
    bob = sw.Body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    return sw.System(
        "pendulum",
        [bob],
        [sw.Hinge("pivot", sw.WORLD, bob.at(0, 0, 1), position=0.5)],
        [sw.JointForce("motor", "pivot")],
        controllers=[sw.Controller("law", measures, ["motor"], law=law, plain=plain)],
        ptos=ptos,
    )


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        (branches, r"law 'branches' \(test_law_faults.py, line 12\) asks for numbers.*plain=True"),
        (by_numpy, r"law 'by_numpy' \(test_law_faults.py, line 18\) asks for numbers.*plain=True"),
        (fails, r"law 'fails' \(test_law_faults.py, line 22\) fails with KeyError: 'gain'"),
        (nothing, r"law 'nothing' \(.*\) gives None. Return one value"),
        (too_many, r"the law gives 2 values but drives 1 elements"),
    ],
)
def test_a_law_that_cannot_be_compiled_is_named_with_its_line(law, sentence):
    with pytest.raises(SwelltreeError, match=rf"(?s)controller 'law': .*{sentence}"):
        sw.compile(pendulum(law))


@pytest.mark.parametrize(("law", "plain"), [(branches, True), (by_numpy, True)])
def test_plain_laws_may_branch_and_use_numpy(law, plain):
    run = sw.simulate(sw.compile(pendulum(law, plain=plain)), duration=0.2, output_step=0.1)
    assert np.isfinite(run.joint_coordinate.values).all()


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        (late_fault, r"law 'late_fault' \(test_law_faults.py, line 39\) fails at t = .* KeyError"),
        (late_nan, r"law 'late_nan' .* gives \[nan\] at t = "),
    ],
)
def test_a_fault_of_a_plain_law_in_a_run_is_one_sentence(law, sentence, capfd):
    model = sw.compile(pendulum(law, plain=True))
    with pytest.raises(SwelltreeError, match=sentence):
        sw.simulate(model, duration=1.0, output_step=0.1)
    assert "Traceback" not in capfd.readouterr().err


def test_a_law_without_a_number_is_named_where_the_run_ends():
    with pytest.warns(UserWarning, match=r"."):
        run = sw.simulate(sw.compile(pendulum(no_number)), duration=1.0, output_step=0.1)
    assert run.attrs["result"] != "success"
    assert "no_number" in run.attrs["message"]


@pytest.mark.parametrize("machine", [False, True])
def test_stroke_and_rate_of_every_pto_are_measured(machine):
    """A law that brakes by pto.rate and centres by pto.stroke is a damper and a spring."""
    limit = {"force_limit": 1e6} if machine else {}
    pto = sw.LinearPto("pto", joint="pivot", rest=0.2, **limit)

    def law(t, y):
        return -3.0 * y[:1] - 0.7 * y[1:]

    by_law = sw.compile(pendulum(law, ("pto.stroke", "pto.rate"), ptos=[pto]))
    bob = sw.Body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    own = sw.LinearPto("pto", joint="pivot", rest=0.2, stiffness=3.0, damping=0.7)
    joint = sw.Hinge("pivot", sw.WORLD, bob.at(0, 0, 1), position=0.5)
    plain = sw.compile(sw.System("pendulum", [bob], [joint], ptos=[own]))
    runs = [sw.simulate(m, duration=1.0, output_step=0.1).joint_coordinate for m in (by_law, plain)]
    np.testing.assert_allclose(runs[0], runs[1], atol=1e-5)


PLACES = {
    "joint": {"joint": "pivot", "rest": 0.2},
    "machine": {"joint": "pivot", "rest": 0.2, "efficiency": 0.9},
    "points": {"a": sw.WORLD.at(1.0, 0.3, -0.5), "b": sw.Point("bob", (0.1, 0.0, 0.2))},
}


@pytest.mark.parametrize("place", PLACES)
def test_the_force_of_a_pto_is_measured(place):
    """A law that gives back what it measures: the motor's force is that of the PTO."""
    pto = sw.LinearPto("pto", stiffness=3.0, damping=0.7, **PLACES[place])
    model = sw.compile(pendulum(lambda t, y: 0.5 * y, ("pto.force",), ptos=[pto]))
    run = sw.simulate(model, duration=1.0, output_step=0.1)
    given = run.joint_force_control.sel(joint_element="motor").values
    np.testing.assert_allclose(given, 0.5 * run.pto_force.sel(pto="pto").values, atol=1e-9)
    assert np.abs(given).max() > 0.1


def test_a_force_that_would_depend_on_itself_is_refused():
    pto = sw.LinearPto("pto", joint="pivot")
    system = pendulum(lambda t, y: y, ("pto.force",), ptos=[pto])
    control = sw.Controller("law", ("pto.force",), ["pto"], law=lambda t, y: y)
    with pytest.raises(SwelltreeError, match="would depend on itself"):
        system.replace(controllers=(control,))
    again = sw.Controller("law", ("pto.rate.rate",), ["motor"], law=lambda t, y: y)
    with pytest.raises(SwelltreeError, match=r"'pto.rate.rate', which has no rate"):
        system.replace(controllers=(again,))


@pytest.mark.parametrize("limited", [False, True])
def test_a_negative_spring_of_a_pto_is_allowed(limited):
    """Reactive control: 20 N m/rad of gravity less 8 of the spring."""
    bob = sw.Body("bob", mass=2.0, inertia=(0.0, 0.0, 0.0), position=(0, 0, -1))
    joint = sw.Hinge("pivot", sw.WORLD, bob.at(0, 0, 1))
    limit = {"force_limit": 1e6} if limited else {}
    pto = sw.LinearPto("pto", joint="pivot", stiffness=-8.0, **limit)
    model = sw.compile(sw.System("pendulum", [bob], [joint], ptos=[pto]))
    found = sw.modes(model)
    expected = np.sqrt((2.0 * 9.81 - 8.0) / 2.0)
    assert float(np.abs(found.natural_frequency.values).max()) == pytest.approx(expected, rel=1e-3)
