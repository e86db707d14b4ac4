"""Numbers by item name are refused as those by path are."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe.errors import SwelltreeError


@pytest.fixture(scope="module")
def model():
    body = sw.Body("cart", mass=2.0, inertia=(1, 1, 1))
    latch = sw.LatchingPto("l", joint="rail", damping=3.0, release_after=0.5)
    off = sw.DeclutchingPto("d", joint="rail", damping=3.0, off_for=0.2)
    stops = sw.EndStops("stops", joint="rail", lower=-1.0, upper=1.0, stop_stiffness=1e3)
    spring = sw.JointForce("spring", "rail", stiffness=5.0, damping=0.4)
    rail = sw.Slider("rail", sw.WORLD, body, axis="x")
    return sw.compile(sw.System("cart", [body], [rail], [spring], ptos=[latch, off, stops]))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("spring.damping", np.nan, "'spring.damping': the value is not a number"),
        ("l.damping", -3.0, "pto 'l': damping -3.0 .* negative"),
        ("spring.damping", -0.4, "force 'spring': damping -0.4 .* negative"),
        ("forces.spring.damping", -0.4, "force 'spring': damping -0.4 .* negative"),
        ("l.release_after", -0.5, "pto 'l': release_after -0.5"),
        ("stops.damping", -0.4, "'stops.damping': -0.4 is negative"),
        ("cart.mass", -2.0, "body 'cart': mass -2.0 kg is negative"),
        ("cart.inertia", np.full((3, 3), np.nan), "'cart.inertia': the value is not a number"),
        ("cart.mass", np.inf, "'cart.mass': the value is not finite"),
        ("cart.inertia", np.diag([1.0, np.inf, 1.0]), "'cart.inertia': the value is not finite"),
        ("spring.stiffness", np.inf, "'spring.stiffness': the value is not finite"),
    ],
)
def test_bad_numbers_are_refused_by_name_too(model, name, value, sentence):
    with pytest.raises(SwelltreeError, match=sentence):
        model.with_values({name: value})


def test_times_of_latches_have_the_names_of_their_description(model):
    changed = model.with_values({"l.release_after": 0.7, "d.off_for": 0.3})
    assert float(changed.value("l.release_after")) == 0.7
    assert float(changed.value("d.off_for")) == 0.3
    with pytest.raises(SwelltreeError, match=r"'l' has no number 'duration'.*'release_after'"):
        model.with_values({"l.duration": 0.7})
