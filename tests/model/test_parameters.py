"""Numbers of a model by name."""

import numpy as np
import pytest

import swelltree as sw


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
