"""Numbers of a model by name."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.mooring.dynamic.lines import lines_of


@pytest.fixture(scope="module")
def model():
    a = sw.Body("a", mass=2.0, inertia=(1, 1, 1), position=(0, 0, -1))
    system = sw.System(
        "pendulum",
        [a],
        [sw.Hinge("hinge", sw.WORLD, a.at(0, 0, 1))],
        forces=[
            sw.SpringDamper("ram", sw.WORLD.at(1, 0, 0), a, stiffness=5.0, damping=0.5),
            sw.JointForce("brake", "hinge", damping=0.1),
        ],
    )
    return sw.compile(system)


def test_values_are_read_by_name(model):
    assert model.value("a.mass") == 2.0
    assert model.value("ram.stiffness") == 5.0
    assert model.value("brake.damping") == 0.1
    assert model.value("hinge.follower_point") == pytest.approx([0, 0, 1])


def test_changed_copy_leaves_the_model_alone(model):
    changed = model.with_values({"a.mass": 3.0, "hinge.follower_point": [0, 0, 2.0]})
    assert changed.value("a.mass") == 3.0
    assert changed.value("hinge.follower_point")[2] == 2.0
    assert model.value("a.mass") == 2.0
    assert np.array_equal(changed.bodies.com, model.bodies.com)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("b.mass", 1.0, "there is no item 'b'"),
        ("ramm.damping", 1.0, "Did you mean 'ram'"),
        ("a.weight", 1.0, "has no number 'weight'"),
        ("a.mass", [1.0, 2.0], r"has shape \(2,\). Give one number"),
    ],
)
def test_unknown_names_and_shapes_are_refused(model, name, value, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        model.with_values({name: value})


def moored(length=230.0, EA=4e7):
    kind = sw.LineType("rope", diameter=0.1, mass_per_length=40.0, EA=EA, BA=2e5)
    body = sw.Body("buoy", mass=2e4, inertia=(1e5,) * 3, position=(0, 0, -2))
    line1 = sw.Line("line1", (-200, 60, -70), body.at(1, 0, 0), length, kind, segments=6)
    two = [sw.Section(kind, 90.0, segments=4), sw.Section(sw.chain(0.06), 150.0, segments=5)]
    line2 = sw.Line("line2", (200, -60, -70), body.at(-1, 0, 0), sections=two)
    water = sw.Water(depth=70.0)
    free = sw.Free("free", sw.WORLD, body)
    return sw.compile(sw.System("moored", [body], [free], lines=[line1, line2], water=water))


def test_numbers_of_dynamic_lines_are_those_of_the_description():
    """A line that is changed by name is the line described so, in both of its theories."""
    changed = moored().with_values({"line1.length": 241.0, "line1.EA": 6e7})
    described = moored(241.0, 6e7)
    assert changed.value("line1.length") == pytest.approx(241.0)
    for field in ("rest_length", "EA", "kappa", "mass_per_length"):
        ours, theirs = (getattr(lines_of(m).arrays, field) for m in (changed, described))
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-12)
    ours, theirs = (lines_of(m).static.pieces.sections for m in (changed, described))
    for field in ("length", "weight", "compliance"):
        np.testing.assert_allclose(getattr(ours, field)[0], getattr(theirs, field)[0], rtol=1e-12)


def test_uneven_line_has_its_length_only():
    model = moored()
    assert model.value("line2.length") == pytest.approx(240.0)
    with pytest.raises(sw.SwelltreeError, match=r"'line2' has no number 'EA'\. It has 'length'"):
        model.value("line2.EA")
    with pytest.raises(sw.SwelltreeError, match=r"there is no item 'line3'\. Did you mean 'line"):
        model.value("line3.length")
