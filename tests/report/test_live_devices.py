"""Sliders of live views on what people steer: gains of control, lengths of lines, winches."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.report.live.running import Frames, Running
from swelltree.report.live.sliders import all_names, changes_of, chosen_sliders, read_slider
from validation.mooring.winches import hoist

GAIN, LENGTH = "controllers.control.gains.damping", "lines.bow.rest_length"


def law(t, y, damping, stiffness):
    return -damping * y[1:2] - stiffness * y[:1]


def controlled():
    """A mass on a rail, with a motor that has a law of two gains."""
    body = sw.Body("mass", mass=1e3, inertia=(1, 1, 1), position=(0.4, 0, 0))
    rail = sw.Slider("rail", sw.WORLD, body, axis="x", position=0.4)
    spring = sw.JointForce("motor", joint=rail, stiffness=5e3)
    gains = {"damping": 1e3, "stiffness": -500.0}
    control = sw.Controller(
        "control", ["rail.Surge", "rail.Surge.rate"], ["motor"], law, gains=gains
    )
    return sw.compile(sw.System("rail", [body], [rail], forces=[spring], controllers=[control]))


def moored():
    """A float on two catenaries."""
    bob = sw.Body("bob", mass=5e4, inertia=(1e5,) * 3)
    chain = sw.LineType("chain", diameter=0.08, mass_per_length=60.0, EA=2e8)
    ends = {"bow": (150.0, 20.0, -40.0), "stern": (-150.0, -10.0, -40.0)}
    lines = [
        sw.Line(name, end, bob.at(0, 0, -1), 160.0, chain, model="quasi_static")
        for name, end in ends.items()
    ]
    rail = sw.Slider("rail", sw.WORLD, bob, axis="x")
    return sw.compile(
        sw.System(
            "moored", [bob], [rail], water=sw.Water(depth=40.0), line_types=[chain], lines=lines
        )
    )


def moved(model, name, value, channel, steps=8):
    """A channel in time, with a slider that is moved by a page after a while."""
    run = sw.stepper(model, solver="rk4", step=0.02)
    running = Running(run, chosen_sliders(run, [name]), Frames(run, [], {}), lambda message: None)
    found = []
    for k in range(2 * steps):
        if k == steps:
            running.ask({"set": {name.partition("=")[0]: value}})
            assert running._obey()
            assert running.message == ""
        run.step(0.04)  # the thread would choose it by the clock
        found.append(run[channel])
    return run, np.array(found)


@pytest.mark.parametrize(
    ("model", "name", "value", "channel"),
    [(controlled, GAIN, 3e3, "mass.Surge"), (moored, LENGTH, 164.0, "bob.Surge")],
    ids=["gain", "length"],
)
def test_a_moved_gain_or_length_is_felt_as_if_described_so(model, name, value, channel):
    model = model()
    run, found = moved(model, name, value, channel)
    assert run.model.value(name) == value
    by_hand = sw.stepper(model, solver="rk4", step=0.02)
    assert name in chosen_sliders(by_hand, None)  # without being asked for
    _, same = moved(model, name, read_slider(by_hand, name).value, channel)
    np.testing.assert_array_equal(found[:8], same[:8])
    assert np.abs(found - same)[9:].min() > 0.0
    # the same as to change it by hand
    for k in range(16):
        if k == 8:
            by_hand.change(changes_of(by_hand, {name: value}))
        by_hand.step(0.04)
    assert by_hand[channel] == pytest.approx(found[-1], rel=1e-9)


@pytest.mark.slow
def test_the_speed_of_a_winch_is_a_slider():
    model = hoist([])
    run = sw.stepper(model, step=0.05)
    assert "forces.winch" in chosen_sliders(run, None)
    assert "forces.winch" in list(all_names(run))
    frames = Frames(run, [], {})
    running = Running(run, chosen_sliders(run, ["forces.winch=-1:1"]), frames, lambda message: None)
    length = run["winch_length.winch"]
    running.ask({"set": {"forces.winch": 0.4}})
    assert running._obey()
    begun = run.time
    for _ in range(5):
        running._step()
    assert running.message == ""
    assert run["winch_length.winch"] == pytest.approx(length + 0.4 * (run.time - begun), abs=0.02)
