"""Winches in a run: stops, steps that cannot carry them, slack lines; nothing is lost."""

import warnings

import numpy as np
import pytest

import swelltree as sw
from swelltree.studies.time.verify import _released
from validation.mooring.winches import hoist

slow = pytest.mark.slow


def test_winch_faster_than_the_step_is_refused_before_the_run():
    stages = [sw.Stage("pay_out", "winch", length=50, speed=20.0)]
    with pytest.raises(sw.SwelltreeError, match=r"moves 2 m in a step of 0.1 s.*Give step=0.05"):
        sw.simulate(hoist(stages), duration=5.0, output_step=0.1, step=0.1)


def test_step_that_is_not_given_carries_the_winch():
    from swelltree.studies.time.verify import longest_step

    stages = [sw.Stage("pay_out", "winch", length=50, speed=20.0, start=2.0)]
    times = np.linspace(0.0, 5.0, 51)
    assert longest_step(hoist(stages), times) == pytest.approx(0.4 * 2.5 / 20.0)
    assert longest_step(hoist(), times) > 1e9


def test_load_lighter_than_water_is_told_before_the_run():
    from swelltree.studies.time.verify import warn_light_hook_loads

    load = sw.Body("load", mass=1e3, inertia=(1, 1, 1), position=(0, 0, -9), displaced_volume=2.0)
    rope = sw.LineType("rope", 0.03, 4.0, EA=4e7)
    line = sw.Line("hoist", sw.WORLD.at(0, 0, 10), load, 20.0, rope, segments=4)
    joints = [sw.Free("free", sw.WORLD, load)]
    system = sw.System("light", [load], joints, lines=[line], winches=[sw.Winch("w", line)])
    with pytest.warns(sw.SwelltreeWarning, match="'load' of 1000 kg displaces 2050 kg of water"):
        warn_light_hook_loads(sw.compile(system))


@slow
def test_winch_stands_at_the_end_of_its_drum_and_says_so():
    run = sw.simulate(hoist(speed=1.0, drum=22.0), duration=6.0, output_step=0.1, step=0.05)
    assert float(run.winch_length[-1, 0]) == pytest.approx(22.0, abs=1e-2)
    assert "stands at the end of its drum" in run.attrs["event_log"]
    assert run.attrs["events"] == len(run.attrs["event_log"].split("\n"))


@slow
def test_fast_control_is_held_back_and_told():
    control = sw.ConstantTension(1e5, gain=6e-5)
    model = hoist(control=control, drum=300.0, time_constant=2.0)
    with pytest.warns(sw.SwelltreeWarning, match="the most that the step can carry"):
        run = sw.simulate(model, duration=6.0, output_step=0.25, step=0.25)
    assert np.abs(run.winch_speed.values).max() == pytest.approx(4.0)


@slow
def test_load_that_floats_leaves_the_line_slack_and_is_told():
    load = sw.Body("load", mass=1e3, inertia=(1e3, 1e3, 1e3))
    rope = sw.LineType("rope", 0.03, 4.0, EA=4e7, BA=4e5)
    line = sw.Line("hoist", sw.WORLD.at(0, 0, 10), load, 10.5, rope, segments=4)
    floats = sw.LinearMooring(
        "water", load, {"Heave": 1e5, "Surge": 1e4, "Sway": 1e4}, pretension={"Heave": 9810.0}
    )
    stages = [sw.Stage("pay_out", "winch", length=1.0, speed=0.5, ramp=0.5)]
    system = sw.System(
        "float",
        [load],
        [sw.Free("free", sw.WORLD, load)],
        moorings=[floats],
        lines=[line],
        winches=[sw.Winch("winch", line)],
        operations=[sw.Operation("lower", stages)],
    )
    with pytest.warns(sw.SwelltreeWarning, match="hung slack for"):
        run = sw.simulate(sw.compile(system), duration=4.0, output_step=0.1, step=0.05)
    assert run.sizes["time"] == 41


def test_a_line_that_was_let_go_is_not_told_to_be_slack_by_its_load():
    names, time = ("a", "b", "b"), np.arange(6.0)
    log = [
        "1 s: line 'b' is released at 3 N",
        "2 s: winch 'w' has one segment more, 4 m out",
        "4 s: end B of line 'b' is caught from 0.1 m",
        "5 s: line 'a' is released at 1e+03 N",
    ]
    found = _released(names, log, time)
    assert found[:, 0].tolist() == [False] * 5 + [True]
    for k in (1, 2):
        assert found[:, k].tolist() == [False, True, True, True, False, False]


@slow
def test_a_run_with_a_release_does_not_blame_the_weight_of_the_load():
    # the line hangs slack for three of its four seconds, because its load was let go
    stages = [
        sw.Stage("pay_out", "winch", length=0.3, speed=0.5, ramp=0.1),
        sw.Stage("release", "hoist", start=1.0),
    ]
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always", sw.SwelltreeWarning)
        run = sw.simulate(hoist(stages), duration=4.0, output_step=0.1, step=0.05)
    assert "line 'hoist' is released" in run.attrs["event_log"]
    assert np.abs(run.fairlead_tension.sel(time=slice(1.2, None)).values).max() < 1.0
    assert not any("slack" in str(warning.message) for warning in reported)


@slow
def test_run_goes_on_from_a_checkpoint(tmp_path):
    stages = [sw.Stage("pay_out", "winch", length=10, speed=2.0, ramp=1.0)]
    model = hoist(stages)
    specified = {"duration": 8.0, "output_step": 0.1, "step": 0.05, "chunk": 20}
    full = sw.simulate(model, **specified)
    path = tmp_path / "run.zarr"
    first = sw.simulate(model, **specified, checkpoint=path)
    again = sw.simulate(model, **specified, checkpoint=path, resume=True)
    for run in (first, again):
        assert np.array_equal(run.winch_tension.values, full.winch_tension.values)
        assert run.attrs["event_log"] == full.attrs["event_log"]


@pytest.mark.slow
def test_rope_paid_out_under_water_brings_its_buoyancy_into_the_books():
    """A thick rope, nearly weightless in water, lowers a load: nothing else takes energy."""
    h, mass = 0.02, 5e3
    load = sw.Body("load", mass=mass, inertia=(1e3, 1e3, 1e3), position=(0, 0, -42))
    rope = sw.LineType("rope", 0.2, 38.0, EA=4e8, Cdn=0.0, Can=0.0)
    line = sw.Line("hoist", sw.WORLD.at(0, 0, -30), load, 12.0, rope, segments=4)
    stages = [sw.Stage("pay_out", "winch", start=0.2, length=5.0, speed=2.0, ramp=0.5)]
    system = sw.System(
        "lowered",
        [load],
        [sw.Free("free", sw.WORLD, load)],
        lines=[line],
        winches=[sw.Winch("winch", line)],
        operations=[sw.Operation("lower", stages)],
    )
    run = sw.simulate(sw.compile(system), duration=3.5, output_step=h, step=h, progress=False)
    z = run.position.sel(body="load", dof="Heave").values
    energy = 0.5 * mass * (np.diff(z) / h) ** 2 + 9.81 * mass * 0.5 * (z[1:] + z[:-1])
    energy = 0.5 * (energy[1:] + energy[:-1])
    rope_has = run.line_kinetic_energy + run.line_stored_energy + run.line_potential_energy
    specified = run.winch_work + run.winch_rope_energy - run.winch_lost_energy
    left = energy + (rope_has.values - specified.values)[1:-1, 0]
    buoyancy = 1025.0 * np.pi / 4 * 0.2**2 * 9.81 * 5.0 * 32.0
    assert np.ptp(run.winch_segments.values) > 0
    # the two halves of a step see the load at different places: second order of the step
    assert np.ptp(left) < 0.02 * buoyancy


def test_lengths_and_segments_follow_the_rope_that_is_out():
    stages = [sw.Stage("pay_out", "winch", length=6, speed=3.0, ramp=0.5)]
    run = sw.simulate(hoist(stages), duration=3.0, output_step=0.25, step=0.05)
    out = run.winch_length.values[:, 0]
    assert out[-1] > out[0] + 4.0
    assert run.line_length.dims == ("time", "line", "line_segment")
    assert run.line_length.sum("line_segment").values[:, 0] == pytest.approx(out, rel=1e-9)
    used = (run.line_length > 0).sum("line_segment")
    np.testing.assert_array_equal(used, run.line_segments)
    np.testing.assert_array_equal(run.line_segments[:, 0], run.winch_segments[:, 0])
    assert run.line_segments[-1, 0] > run.line_segments[0, 0]
