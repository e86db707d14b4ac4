"""Speed of winches: what they are told, what they measure, and where they stop."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.model.winches import (
    WinchState,
    after_step,
    at_stop,
    demand,
    rates,
    winch_start,
    within_stops,
)

ROPE = sw.LineType("rope", diameter=0.03, mass_per_length=4.0, EA=4e7)


def winches(stages=(), **fields):
    load = sw.Body("load", mass=1e3, inertia=(1, 1, 1), position=(0, 0, -10))
    line = sw.Line("hoist", sw.WORLD.at(0, 0, 10), load, 20.0, ROPE, segments=4)
    system = sw.System(
        "crane",
        [load],
        [sw.Free("free", sw.WORLD, load)],
        lines=[line],
        winches=[sw.Winch("w", line, **fields)],
        operations=[sw.Operation("op", stages)] if stages else [],
    )
    return sw.compile(system).lines.winches


def one(x):
    return np.array([float(x)])


def told(made, t, tension=0.0, heave=0.0, stroke=0.0):
    return demand(made, np.asarray(t), one(tension), one(heave), one(stroke))[0]


def test_operations_add_to_the_set_speed_and_the_brake_ends_both():
    stages = [
        sw.Stage("pay_out", "w", length=9, speed=1.0, ramp=2, start=1),
        sw.Stage("brake", "w", duration=5),
        sw.Stage("haul_in", "w", duration=4, length=4),
    ]
    made = winches(stages, speed=0.25, drum=90)
    times = [0.0, 1.0, 2.0, 5.0, 11.0, 11.9, 12.0, 15.0, 17.0, 20.0, 21.5]
    speeds = [0.25, 0.25, 0.75, 1.25, 0.75, 0.3, 0.0, 0.0, -0.75, -0.75, 0.25]
    assert [told(made, t) for t in times] == pytest.approx(speeds)


def test_constant_tension_pays_out_above_its_band_and_hauls_in_below():
    control = sw.ConstantTension(1e4, gain=1e-4, band=1e3)
    made = winches(control=control, drum=90, max_speed=0.5)
    tensions = [1e4, 1.09e4, 1.2e4, 0.7e4, 1e6]
    assert [told(made, 0.0, T) for T in tensions] == pytest.approx([0, 0, 0.1, -0.2, 0.5])


def test_heave_compensation_keeps_within_its_stroke():
    made = winches(control=sw.HeaveCompensation(gain=0.9, stroke=2.0), drum=90)
    assert told(made, 0.0, heave=1.0) == pytest.approx(0.9)
    assert told(made, 0.0, heave=1.0, stroke=1.0) == pytest.approx(0.0)
    assert told(made, 0.0, heave=-1.0, stroke=-0.9) == pytest.approx(-0.2)


def test_winch_slows_down_and_stands_at_the_end_of_its_drum_and_its_shortest_length():
    made = winches(speed=1.0, drum=30, min_length=5)
    lengths = np.array([20.0, 29.75, 30.0, 31.0])
    speeds = [within_stops(made, one(1.0), one(x))[0] for x in lengths]
    assert speeds == pytest.approx([1.0, 0.5, 0.0, 0.0])
    assert within_stops(made, one(-1.0), one(5.25))[0] == pytest.approx(-0.5)
    state = winch_start(made)
    for _ in range(2000):
        state = after_step(made, np.zeros(()), 0.02, state, (one(0), one(0)), one(0), one(9))
    assert 29.999 < state.length[0] <= 30.0
    assert at_stop(made, np.zeros(()), state, one(0))[0] == 1.0


def test_fixed_steps_follow_the_rates():
    control = sw.HeaveCompensation(gain=0.8, time_constant=0.7)
    made = winches(control=control, drum=90, time_constant=0.4)

    def tip(t):
        return one(np.sin(1.3 * t))

    h, n = 0.01, 500
    fixed = smooth = winch_start(made)
    for k in range(n):
        t = k * h
        around = (tip(t - 0.5 * h), tip(t + 0.5 * h))
        fixed = after_step(made, np.asarray(t), h, fixed, around, one(0), one(9))

        def slope(t, s):
            return rates(made, np.asarray(t), s, tip(t), one(0))[1]

        def moved(s, d, by):
            names = ("length", "speed", "heave", "stroke")
            return WinchState(*(getattr(s, name) + by * getattr(d, name) for name in names))

        middle = moved(smooth, slope(t, smooth), 0.5 * h)
        smooth = moved(smooth, slope(t + 0.5 * h, middle), h)
    assert fixed.length[0] == pytest.approx(smooth.length[0], abs=1e-2)
    assert fixed.heave[0] == pytest.approx(smooth.heave[0], abs=1e-2)


def test_lines_on_winches_have_no_bending_stiffness():
    load = sw.Body("load", mass=1e3, inertia=(1, 1, 1), position=(0, 0, -10))
    stiff = sw.LineType("stiff", diameter=0.03, mass_per_length=4.0, EA=4e7, EI=1e3)
    line = sw.Line("hoist", sw.WORLD.at(0, 0, 10), load, 20.0, stiff, segments=4)
    system = sw.System(
        "crane",
        [load],
        [sw.Free("free", sw.WORLD, load)],
        lines=[line],
        winches=[sw.Winch("w", line)],
    )
    with pytest.raises(sw.SwelltreeError, match="cannot have bending stiffness"):
        sw.compile(system)
