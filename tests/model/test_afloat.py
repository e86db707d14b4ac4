"""Mass against displaced water: said with both numbers, as a note where something may carry it."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, vessel
from swelltree.model.checks import mass_against_displacement

WATER = sw.Water(rho=1000.0)
INERTIA = (1e6, 8e6, 8e6)


def findings(*bodies, data=None, joints=None, **more):
    joints = [sw.Free(f"f_{b.name}", sw.WORLD, b) for b in bodies] if joints is None else joints
    system = sw.System("s", list(bodies), joints, water=WATER, **more)
    model = sw.compile(system, data, radiation="none", nonlinear=data is None)
    found = list(mass_against_displacement(model))
    # compile says what nothing carries
    assert [line for line in model.report if "displaced water has" in line] == [
        finding.sentence for finding in found if finding.severity == "warning"
    ]
    return found


def heavy(factor=1.07, **more):
    return sw.Body("vessel", factor * MASS, INERTIA, **more)


def boxed(name, factor=1.0, **more):
    """A box that displaces 500 t, as a nonlinear hull."""
    return sw.Body(name, factor * 5e5, INERTIA, hull=sw.Box(20.0, 10.0, 5.0, 2.5), **more)


@pytest.mark.parametrize(("factor", "word"), [(1.07, "too heavy"), (0.93, "too light")])
def test_a_mass_that_does_not_float_at_that_draft_is_said_with_both_numbers(factor, word):
    (found,) = findings(heavy(factor), data=vessel())
    assert found.severity == "warning"
    for text in (f"mass of {factor * MASS:.5g} kg", f"water has {MASS:.5g} kg", f"7 % {word}"):
        assert text in found.sentence
    assert findings(heavy(1.0), data=vessel()) == []


def test_what_holds_it_sideways_carries_no_weight():
    """Positioning, damping and drag do not make a difference of mass any better."""
    held = [
        sw.LinearMooring("hold", "vessel", stiffness={"Surge": 1e4, "Yaw": 1e6}),
        sw.LinearDamping("lost", "vessel", damping={"Heave": 1e5}),
    ]
    damper = sw.SpringDamper("damper", "vessel", sw.WORLD.at(9.0, 0.0, 9.0), damping=1e4)
    (found,) = findings(heavy(), data=vessel(), moorings=held, forces=[damper])
    assert found.severity == "warning"


@pytest.mark.parametrize(
    "more",
    [
        {"moorings": [sw.LinearMooring("tie", "vessel", stiffness={"Heave": 1e4})]},
        {"moorings": [sw.LinearMooring("tie", "vessel", pretension={"Heave": 7e5})]},
        {"forces": [sw.SpringDamper("tie", "vessel", sw.WORLD.at(0, 0, -30.0), stiffness=1e5)]},
        {"forces": [sw.AppliedForce("tie", "vessel", force=(0.0, 0.0, 7e5))]},
    ],
    ids=["stiffness", "pretension", "spring", "force"],
)
def test_what_may_carry_the_difference_is_named(more):
    (found,) = findings(heavy(), data=vessel(), **more)
    assert found.severity == "note"
    assert "'tie'" in found.sentence
    assert f"leaves {0.07 * MASS * WATER.g:.4g} N to" in found.sentence


def test_a_joint_to_the_world_carries_unless_it_leaves_the_vertical():
    body = heavy()
    tilted = (np.sin(0.4), 0.0, np.cos(0.4))
    for joint, severity in [
        (sw.Slider("rail", sw.WORLD, body), "warning"),
        (sw.Planar("rail", sw.WORLD, body), "warning"),
        (sw.Slider("rail", sw.WORLD, body, axis=tilted), "note"),
        (sw.Hinge("rail", sw.WORLD, body), "note"),
        (sw.Slider("rail", sw.WORLD, body, motion=sw.Harmonic(0.1, 1.0)), "note"),
    ]:
        (found,) = findings(body, data=vessel(), joints=[joint])
        assert found.severity == severity, joint


def test_masses_that_are_wrong_against_each_other_do_not_hide():
    """Two hulls 8 % off in opposite ways: said of both apart, not when a hinge joins them."""
    a, b = boxed("a", 1.08), boxed("b", 0.92, position=(30.0, 0.0, 0.0))
    apart = findings(a, b)
    assert [finding.severity for finding in apart] == ["warning", "warning"]
    free = sw.Free("free", sw.WORLD, a)
    rail = sw.Slider("rail", a.at(15.0, 0.0, 0.0), b.at(-15.0, 0.0, 0.0))
    assert len(findings(a, b, joints=[free, rail])) == 2
    hinge = sw.Hinge("hinge", a.at(15.0, 0.0, 0.0), b.at(-15.0, 0.0, 0.0))
    assert findings(a, b, joints=[free, hinge]) == []
    heavy_b = b.replace(mass=6e5)
    (both,) = findings(a, heavy_b, joints=[free, hinge])
    assert "bodies 'a', 'b' together have a mass of 1.14e+06 kg" in both.sentence
    # a spring between them carries from one to the other
    tie = sw.SpringDamper("tie", a.at(10.0, 0.0, 2.0), b.at(-10.0, 0.0, 0.0), stiffness=1e5)
    assert [finding.severity for finding in findings(a, b, forces=[tie])] == ["note", "note"]
    assert [f.severity for f in findings(a, heavy_b, joints=[free, hinge], forces=[tie])] == [
        "warning"
    ]
