"""Control laws that cannot be: one sentence with the law's name and line."""

import re

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe.errors import SwelltreeError
from swelltree.jit import jnp, namespace


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


def place(law):
    return rf"\(test_law_faults.py, line {law.__code__.co_firstlineno + 1}\)"


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
        (branches, rf"law 'branches' {place(branches)} asks for numbers.*plain=True"),
        (by_numpy, rf"law 'by_numpy' {place(by_numpy)} asks for numbers.*plain=True"),
        (fails, rf"law 'fails' {place(fails)} fails with KeyError: 'gain'"),
        (nothing, r"law 'nothing' \(.*\) gives None. Return one value"),
        (too_many, r"the law gives 2 values but drives 1 elements"),
    ],
)
def test_a_law_that_cannot_be_compiled_is_named_with_its_line(law, sentence):
    with pytest.raises(SwelltreeError, match=rf"(?s)controller 'law': .*{sentence}"):
        sw.compile(pendulum(law))


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        (branches, rf"law 'branches' {place(branches)} asks for numbers.*plain=True"),
        (fails, rf"law 'fails' {place(fails)} fails with KeyError: 'gain'"),
        (nothing, r"law 'nothing' \(.*\) gives None. Return one value"),
        (lambda t, y: y, r"the law gives 2 values but drives 1 elements"),
    ],
)
def test_a_law_put_on_a_compiled_model_is_checked_alike(law, sentence):
    bare = pendulum(branches, ptos=[sw.LinearPto("pto", joint="pivot")]).replace(controllers=())
    model = sw.compile(bare)
    with pytest.raises(SwelltreeError, match=rf"(?s)controller 'pto': .*{sentence}"):
        sw.controlled(model, "pto", law)


def test_a_plain_law_on_a_compiled_model():
    """The same with a branch in Python as with `where`, counted from the zero of the stroke."""
    pto = sw.LinearPto("pto", joint="pivot", rest=0.2)
    model = sw.compile(pendulum(branches, ptos=[pto]).replace(controllers=()))

    def smooth(t, y):
        return -namespace(y).where(y[:1] > 0.1, 4.0, 1.0) * y[1:]

    def branched(t, y):
        return [-4.0 * y[1]] if y[0] > 0.1 else [-y[1]]

    pair = [sw.controlled(model, "pto", smooth), sw.controlled(model, "pto", branched, plain=True)]
    specified = {"duration": 0.5, "output_step": 0.1, "solver": "rk4", "step": 0.01}
    runs = [sw.simulate(m, **specified).joint_coordinate for m in pair]
    np.testing.assert_allclose(runs[0], runs[1], atol=1e-12)
    with pytest.raises(SwelltreeError, match=r"controller 'pto': law 'late_nan' .* gives \[nan\]"):
        sw.simulate(sw.controlled(model, "pto", late_nan, plain=True), duration=1.0)


@pytest.mark.parametrize(("law", "plain"), [(branches, True), (by_numpy, True)])
def test_plain_laws_may_branch_and_use_numpy(law, plain):
    run = sw.simulate(sw.compile(pendulum(law, plain=plain)), duration=0.2, output_step=0.1)
    assert np.isfinite(run.joint_coordinate.values).all()


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        (late_fault, rf"law 'late_fault' {place(late_fault)} fails at t = .* KeyError"),
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


def leaves_its_domain(t, y):
    xp = namespace(y)
    far = y + 0.2
    root = xp.sqrt(far)  # no number below -0.2 rad
    return 0.3 * root - 0.1 * y


def fast(t, y):
    xp = namespace(y)
    slow = 1.1 - y * y
    return xp.log(slow) * 0.1


@pytest.mark.parametrize(
    ("law", "measure", "last"),
    [(leaves_its_domain, "pivot.Pitch", -0.2), (fast, "pivot.Pitch.rate", -(1.1**0.5))],
)
@pytest.mark.parametrize("options", [{}, {"solver": "rk4", "step": 0.02}])
def test_a_law_without_a_number_at_a_state_of_a_failed_step_is_named(
    law, measure, last, options, capfd
):
    """At the last state that was kept both have numbers."""
    model = sw.compile(pendulum(law, (measure,)))
    with pytest.warns(UserWarning, match=r"."):
        run = sw.simulate(model, duration=4.0, output_step=0.1, **options)
    message = run.attrs["message"]
    first = law.__code__.co_firstlineno
    assert f"law '{law.__name__}' (test_law_faults.py, line {first + 3}) gives [" in message
    reported = re.search(r" at t = ([0-9.]+) s with y = \[(.*)\]", message)
    time, y = (float(x) for x in reported.groups())
    assert time == pytest.approx(float(re.search(r"at t = ([0-9.]+) s", message)[1]), abs=0.05)
    assert y == pytest.approx(last, abs=0.1)
    assert y <= last
    assert "Invalid" not in capfd.readouterr().out


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
    specified = run.joint_force_control.sel(joint_element="motor").values
    np.testing.assert_allclose(specified, 0.5 * run.pto_force.sel(pto="pto").values, atol=1e-9)
    assert np.abs(specified).max() > 0.1


@pytest.mark.parametrize("place", PLACES)
def test_a_law_sees_the_force_of_its_own_pto_without_its_own_part(place):
    """A law that gives half of the spring and damper more: as one and a half times of both."""
    own, more = (
        sw.LinearPto("pto", stiffness=3.0 * k, damping=0.7 * k, **PLACES[place]) for k in (1.0, 1.5)
    )
    law = sw.Controller("law", ("pto.force",), ["pto"], law=lambda t, y: 0.5 * y)
    system = pendulum(lambda t, y: 0.0 * y, ptos=[own])
    by_law = sw.compile(system.replace(controllers=(law,)))
    plain = sw.compile(system.replace(ptos=(more,), controllers=()))
    runs = [sw.simulate(m, duration=1.0, output_step=0.1).joint_coordinate for m in (by_law, plain)]
    np.testing.assert_allclose(runs[0], runs[1], atol=1e-5)
    bare = sw.compile(system.replace(controllers=()))
    alone = sw.simulate(bare, duration=1.0, output_step=0.1)
    assert np.abs(alone.joint_coordinate - runs[1]).max() > 1e-2


def test_the_force_of_a_pto_that_another_controller_drives_is_the_whole():
    ptos = [sw.LinearPto(f"pto{k}", joint="pivot", stiffness=2.0 + k) for k in (1, 2)]
    ptos.append(sw.LinearPto("pto3", joint="pivot", efficiency=0.9))
    first = sw.Controller("first", ("pto1.rate",), ["pto1"], law=lambda t, y: 0.3 - 0.7 * y)
    chain = [
        sw.Controller(f"of{k}", (f"pto{k}.force",), [name], law=lambda t, y: 0.5 * y)
        for k, name in ((2, "pto3"), (1, "pto2"))
    ]
    last = sw.Controller("last", ("pto3.force",), ["motor"], law=lambda t, y: 2.0 * y)
    system = pendulum(lambda t, y: y, ptos=ptos).replace(controllers=(*chain, last, first))
    run = sw.simulate(sw.compile(system), duration=1.0, output_step=0.1)
    force = {name: run.pto_force.sel(pto=name).values for name in ("pto1", "pto2", "pto3")}
    stroke = run.pto_stroke.sel(pto="pto2").values
    np.testing.assert_allclose(force["pto2"], 0.5 * force["pto1"] - 4.0 * stroke, atol=1e-9)
    np.testing.assert_allclose(force["pto3"], 0.5 * force["pto2"], atol=1e-9)
    specified = run.joint_force_control.sel(joint_element="motor").values
    np.testing.assert_allclose(specified, 2.0 * force["pto3"], atol=1e-9)
    assert np.abs(force["pto3"]).max() > 0.1


def test_forces_that_wait_for_each_other_are_refused():
    ptos = [sw.LinearPto(name, joint="pivot") for name in ("pto", "other")]
    system = pendulum(lambda t, y: y, ptos=ptos)
    pair = [
        sw.Controller(f"law of {b}", (f"{a}.force",), [b], law=lambda t, y: y)
        for a, b in (("pto", "other"), ("other", "pto"))
    ]
    sentence = "'law of other': measures a force that controller 'law of pto' gives, which depends"
    with pytest.raises(SwelltreeError, match=sentence):
        system.replace(controllers=pair)


def test_a_measured_force_has_no_rate():
    system = pendulum(lambda t, y: y, ptos=[sw.LinearPto("pto", joint="pivot")])
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


def rooted(t, y):
    return -50.0 * y[1] + jnp.sqrt(0.2 - y[0])


def test_a_law_without_a_number_is_named_by_steady_state_and_the_two_step_scheme():
    body = sw.Body("bob", mass=1000.0, inertia=(1, 1, 1))
    rail = sw.Slider("rail", sw.WORLD, body, axis="z")
    top = sw.WORLD.at(0, 0, 3)
    spring = sw.SpringDamper("spring", top, body, stiffness=4000.0, damping=100.0, rest_length=3.0)
    push = sw.AppliedForce("push", body, force=(0, 0, sw.Harmonic(3000.0, 2.0)))
    law = sw.Controller("law", law=rooted, measures=["pto.stroke", "pto.rate"], drives=["pto"])
    pto = sw.LinearPto("pto", joint="rail")
    system = sw.System("one", [body], [rail], [spring, push], ptos=[pto], controllers=[law])
    model = sw.compile(system)
    named = r"law 'rooted' \(test_law_faults.py, line \d+\) gives \[nan\]"
    with pytest.raises(sw.SwelltreeError, match=named):
        sw.steady_state(model, period=np.pi, harmonics=5)
    run = sw.simulate(model, duration=4.0, output_step=0.1, solver="two_step", step=0.05)
    assert run.attrs["result"] == "no_progress"
    assert re.search(named, run.attrs["message"])
