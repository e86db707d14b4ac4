"""Speed of winches: what they are told, what they measure, and where they stop."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.integrate.complementarity.lines.winch_statics import tip_velocity
from swelltree.mooring.cable.cables import Cables
from swelltree.mooring.dynamic.lines import required_lines
from swelltree.mooring.winches import (
    WinchState,
    after_step,
    at_stop,
    demand,
    rates,
    winch_start,
    within_stops,
)
from swelltree.multibody.kinematics import Pose

ROPE = sw.LineType("rope", diameter=0.03, mass_per_length=4.0, EA=4e7)


def winches(stages=(), more=(), **fields):
    load = sw.Body("load", mass=1e3, inertia=(1, 1, 1), position=(0, 0, -10))
    line = sw.Line("hoist", sw.WORLD.at(0, 0, 10), load, 20.0, ROPE, segments=4)
    system = sw.System(
        "crane",
        [load],
        [sw.Free("free", sw.WORLD, load)],
        lines=[line],
        winches=[sw.Winch("w", line, **fields)],
        operations=[
            sw.Operation(f"op{k}", own) for k, own in enumerate((stages, *more)) if len(own)
        ],
    )
    return required_lines(sw.compile(system)).winches


def one(x):
    return np.array([float(x)])


def reported(built, t, tension=0.0, heave=0.0, stroke=0.0):
    return demand(built, np.asarray(t), np.zeros(()), one(tension), one(heave), one(stroke))[0][0]


def test_operations_add_to_the_set_speed_and_the_brake_ends_both():
    stages = [
        sw.Stage("pay_out", "w", length=9, speed=1.0, ramp=2, start=1),
        sw.Stage("brake", "w", duration=5),
        sw.Stage("haul_in", "w", duration=4, length=4),
    ]
    built = winches(stages, speed=0.25, drum=90)
    times = [0.0, 1.0, 2.0, 5.0, 11.0, 11.9, 12.0, 15.0, 17.0, 20.0, 21.5]
    speeds = [0.25, 0.25, 0.75, 1.25, 0.75, 0.3, 0.0, 0.0, -0.75, -0.75, 0.25]
    assert [reported(built, t) for t in times] == pytest.approx(speeds)


def test_constant_tension_pays_out_above_its_band_and_hauls_in_below():
    control = sw.ConstantTension(1e4, gain=1e-4, band=1e3)
    built = winches(control=control, drum=90, max_speed=0.5)
    tensions = [1e4, 1.09e4, 1.2e4, 0.7e4, 1e6]
    assert [reported(built, 0.0, T) for T in tensions] == pytest.approx([0, 0, 0.1, -0.2, 0.5])


def test_heave_compensation_keeps_within_its_stroke():
    built = winches(control=sw.HeaveCompensation(gain=0.9, stroke=2.0), drum=90)
    assert reported(built, 0.0, heave=1.0) == pytest.approx(0.9)
    assert reported(built, 0.0, heave=1.0, stroke=1.0) == pytest.approx(0.0)
    assert reported(built, 0.0, heave=-1.0, stroke=-0.9) == pytest.approx(-0.2)


def test_winch_slows_down_and_stands_at_the_end_of_its_drum_and_its_shortest_length():
    built = winches(speed=1.0, drum=30, min_length=5)
    lengths = np.array([20.0, 29.75, 30.0, 31.0])
    speeds = [within_stops(built, one(1.0), one(x))[0] for x in lengths]
    assert speeds == pytest.approx([1.0, 0.5, 0.0, 0.0])
    assert within_stops(built, one(-1.0), one(5.25))[0] == pytest.approx(-0.5)
    state = winch_start(built)
    for _ in range(2000):
        state = after_step(built, np.zeros(()), 0.02, state, (one(0), one(0)), one(0), one(9))
    assert 29.999 < state.length[0] <= 30.0
    assert at_stop(built, np.zeros(()), state, one(0))[0] == 1.0


def test_fixed_steps_follow_the_rates():
    control = sw.HeaveCompensation(gain=0.8, time_constant=0.7)
    built = winches(control=control, drum=90, time_constant=0.4)

    def tip(t):
        return one(np.sin(1.3 * t))

    h, n = 0.01, 500
    fixed = smooth = winch_start(built)
    for k in range(n):
        t = k * h
        around = (tip(t - 0.5 * h), tip(t + 0.5 * h))
        fixed = after_step(built, np.asarray(t), h, fixed, around, one(0), one(9))

        def slope(t, s):
            return rates(built, np.asarray(t), s, tip(t), one(0))[1]

        def moved(s, d, by):
            names = ("length", "speed", "heave", "stroke", "compensated")
            return WinchState(*(getattr(s, name) + by * getattr(d, name) for name in names))

        middle = moved(smooth, slope(t, smooth), 0.5 * h)
        smooth = moved(smooth, slope(t + 0.5 * h, middle), h)
    assert fixed.length[0] == pytest.approx(smooth.length[0], abs=1e-2)
    assert fixed.heave[0] == pytest.approx(smooth.heave[0], abs=1e-2)


def paid_out(built, until, corners):
    """Rope that the set speed and the stages give, piece by piece between all corners."""
    edges = np.unique(np.concatenate([[0.0, until], corners]))
    middles = 0.5 * (edges[1:] + edges[:-1])
    return sum(np.diff(edges) * [reported(built, t) for t in middles])


def test_overlapping_operations_pay_out_what_each_of_them_says():
    rng = np.random.default_rng(3)
    for _ in range(5):
        rows = []
        for _ in range(4):
            ramp, duration = rng.uniform(0.0, 2.0), rng.uniform(5.0, 12.0)
            action = "pay_out" if rng.random() < 0.7 else "haul_in"
            first = {"start": rng.uniform(0.0, 8.0), "ramp": ramp if rng.random() < 0.7 else 0.0}
            rows.append([sw.Stage(action, "w", length=3.0, duration=duration, **first)])
        built = winches(rows[0], more=rows[1:], drum=90)
        requested = sum(stage.rope for (stage,) in rows)
        assert paid_out(built, 30.0, built.speed[0].time) == pytest.approx(requested, abs=1e-9)
        # the order in which operations are given does not matter
        other = winches(rows[2], more=[rows[3], rows[0], rows[1]], drum=90)
        for t in rng.uniform(0.0, 25.0, 20):
            assert reported(built, t) == pytest.approx(reported(other, t), abs=1e-12)


def test_a_brake_without_duration_ends_with_the_next_stage():
    brake = [sw.Stage("brake", "w", start=2.0)]
    run = [sw.Stage("pay_out", "w", length=4, duration=4.0, start=6.0)]
    for built in (
        winches([*brake, *run], speed=0.5, drum=90),
        winches(run, [brake], speed=0.5, drum=90),
    ):
        assert [reported(built, t) for t in (1.0, 3.0, 5.9, 7.0, 11.0)] == [0.5, 0.0, 0.0, 1.5, 0.5]
    last = winches(brake, speed=0.5, drum=90)
    assert [reported(last, t) for t in (1.0, 1e6)] == [0.5, 0.0]


def test_hold_stops_the_set_speed_and_leaves_control():
    control = sw.ConstantTension(1e4, gain=1e-4)
    stages = [sw.Stage("hold", "w", start=2.0, duration=3.0), sw.Stage("hold", "w", start=8.0)]
    built = winches(stages, speed=0.5, drum=90, control=control)
    times = (1.0, 2.0, 4.9, 5.0, 9.0)
    assert [reported(built, t, tension=1e4) for t in times] == [0.5, 0.0, 0.0, 0.5, 0.0]
    assert reported(built, 3.0, tension=1.2e4) == pytest.approx(0.2)


@pytest.mark.parametrize("ramp", [0.0, 0.013, 1.1])
def test_fixed_steps_pay_out_the_whole_length_however_short_the_ramp(ramp):
    stages = [
        sw.Stage("pay_out", "w", length=7.3, speed=1.1, ramp=ramp, start=1.234),
        sw.Stage("brake", "w", duration=2.03),
        sw.Stage("haul_in", "w", length=2.1, speed=0.9, ramp=ramp),
    ]
    table = sw.Table([0.0, 0.77, 0.78, 16.0], [0.0, 0.0, 0.2, 0.2], interpolation="linear")
    for h in (0.25, 0.11):
        for speed, own in ((0.0, 0.0), (table, 0.2 * (16.0 - 0.775 - 2.03))):
            built = winches(stages, speed=speed, drum=90)
            state = winch_start(built)
            for k in range(round(16.0 / h)):
                t = np.asarray((k + 0.5) * h)
                state = after_step(built, t, h, state, (one(0), one(0)), one(0), one(9))
            left = 0.2 * (16.0 - h * round(16.0 / h)) if own else 0.0
            assert state.length[0] == pytest.approx(20.0 + 5.2 + own - left, abs=1e-9)


@pytest.mark.parametrize("lag", [0.0, 0.8])
@pytest.mark.parametrize("limit", [None, 0.6])
def test_stroke_is_what_compensation_did_whatever_held_it_back(lag, limit):
    # a brake, a limit of the speed, a lag and a stage at once, by fixed steps and by rates
    stages = [
        sw.Stage("brake", "w", start=3.0, duration=4.0),
        sw.Stage("pay_out", "w", length=2.0, duration=10.0, ramp=1.0, start=9.0),
    ]
    control = sw.HeaveCompensation(gain=1.0, stroke=2.2)
    fields = {"drum": 90, "time_constant": lag, "control": control}
    built = winches(stages, max_speed=limit, **fields)
    alone = winches(stages, max_speed=limit, **{**fields, "control": None}, speed=0.0)
    h = 0.03
    fixed, smooth, plain = winch_start(built), winch_start(built), winch_start(alone)
    for k in range(600):
        t = np.asarray((k + 0.5) * h)
        tip = one(1.4 * np.cos(0.9 * t))
        fixed = after_step(built, t, h, fixed, (tip, tip), one(0), one(9))
        plain = after_step(alone, t, h, plain, (tip, tip), one(0), one(9))
        rate = rates(built, t, smooth, tip, one(0))[1]
        names = ("length", "speed", "heave", "stroke", "compensated")
        smooth = WinchState(*(getattr(smooth, n) + h * getattr(rate, n) for n in names))
        assert abs(fixed.stroke[0]) <= 1.1 + 1e-9
        assert abs(smooth.stroke[0]) <= 1.1 + 1e-9
        # the rope is that of the operations and that of compensation, no more
        assert fixed.length[0] - plain.length[0] == pytest.approx(fixed.stroke[0], abs=1e-9)
        # a drive that a stop has slowed starts from there again, by fixed steps and by rates
        assert smooth.stroke[0] == pytest.approx(fixed.stroke[0], abs=0.04)


@pytest.mark.parametrize("model", ["dynamic", "multibody"])
def test_compensation_measures_the_junction_at_end_A(model):
    boom = sw.Body("boom", mass=1e3, inertia=(1e3,) * 3, position=(0, 0, 30))
    block = sw.Junction("block", (0, 0, 28), mass=50)
    load = sw.Body("load", mass=2e3, inertia=(2e3,) * 3, position=(0, 0, 8))
    lines = [
        sw.Line("sling", boom.at(), block, 2.0, ROPE, segments=1, model=model),
        sw.Line("hoist", block, load.at(), 20.0, ROPE, segments=2, model=model),
    ]
    slide = sw.Slider("heave", sw.WORLD.at(0, 0, 30), boom, axis="z")
    free = [sw.Free("free", sw.WORLD, load)] if model == "dynamic" else []
    control = sw.HeaveCompensation()
    system = sw.System(
        "block",
        [boom, load],
        [slide, *free],
        lines=lines,
        junctions=[block],
        winches=[sw.Winch("w", lines[1], control=control, drum=30)],
    )
    built = sw.compile(system)
    N = built.layout.n_bodies
    if model == "dynamic":
        pose = Pose(np.zeros((N, 3)), np.tile(np.eye(3), (N, 1, 1)))
        velocity = np.array([[0.3, 0.2, 0.7]])
        assert tip_velocity(
            required_lines(built), pose, np.zeros((N, 6)), velocity
        ) == pytest.approx([0.7])
    else:
        group = built.effect(Cables)
        node = group.drums.winches.tip_body[0]
        assert node == group.drums.reels[0].nodes[0]
        assert node < N
