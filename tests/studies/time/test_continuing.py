"""A run that goes on from the end of another is the one long run, bit for bit at fixed steps."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import heaving_float
from swelltree.studies.time.smooth import SmoothStepper
from validation.mooring.winches import hoist
from validation.pto.pto_systems import oscillator

WAVE = sw.IrregularSea(sw.Jonswap(1.5, 6.0), seed=3, ramp=7.0)


def pendulum(**joint):
    """Two links in general position."""
    a = sw.Body("a", mass=3.0, inertia=(0.3, 0.5, 0.4), position=(0.2, 0.0, -0.5))
    b = sw.Body("b", mass=2.0, inertia=(0.2, 0.3, 0.1), position=(0.5, 0.1, -1.2))
    joints = [
        sw.Universal("top", sw.WORLD, a.at(-0.2, 0, 0.5), velocity={"Roll": 1.0, "Pitch": 2.0}),
        sw.Ball("knee", a.at(0.2, 0.1, -0.3), b.at(-0.1, 0, 0.4)),
    ]
    return sw.compile(sw.System("pendulum", [a, b], joints))


def same(long, first, second, atol=0.0):
    """The two parts are the long run."""
    count = first.sizes["time"]
    assert second.time.values[0] == first.time.values[-1]
    assert np.array_equal(second.time.values, long.time.values[count - 1 :])
    for name in long.data_vars:
        if name in ("energy_residual", "iterations"):
            continue  # residuals begin at zero in each run
        for part, full in ((first, long[name][:count]), (second, long[name][count - 1 :])):
            a, b = part[name].values, full.values
            close = 1e-13 if name == "elevation" else atol  # a sum over all times at once
            if close:
                assert np.allclose(a, b, atol=close, rtol=close, equal_nan=True), name
            else:
                assert np.array_equal(a, b, equal_nan=True), name


def parts(model, wave=None, cut=2.0, duration=5.0, output_step=0.1, **options):
    """One long run, and two that make it up."""
    how = {"output_step": output_step, "progress": False} | options
    long = sw.simulate(model, wave, duration=duration, **how)
    first = sw.simulate(model, wave, duration=cut, **how)
    return long, first, sw.simulate(model, wave, duration=duration - cut, start=first, **how)


@pytest.mark.parametrize("formulation", ["path_matrix", "lagrange"])
def test_pendulum_goes_on(formulation):
    same(*parts(pendulum(), solver="rk4", step=0.05, formulation=formulation))


def test_adaptive_run_goes_on_with_its_step():
    long, first, second = parts(pendulum(), rtol=1e-9, atol=1e-11)
    # the first run ends with a step to its last sample: within the tolerance, which two seconds of
    # such a motion enlarge
    same(long, first, second, atol=1e-6)
    steps = [int(run.attrs["steps_accepted"]) for run in (long, first, second)]
    assert steps[2] <= steps[0] + 3  # counted from the first run on


def test_stopped_run_goes_on_from_its_last_sample(monkeypatch):
    model, calls = pendulum(), []
    advance = SmoothStepper.advance

    def stopped(self, state, times):
        calls.append(times)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return advance(self, state, times)

    how = {"duration": 4.0, "output_step": 0.02, "chunk": 11, "rtol": 1e-9, "atol": 1e-11}
    full = sw.simulate(model, **how)
    with monkeypatch.context() as patch:
        patch.setattr(SmoothStepper, "advance", stopped)
        with pytest.warns(sw.SwelltreeWarning, match=r"stopped at t = 0.64 s: .* by the user"):
            first = sw.simulate(model, **how)
    assert first.sizes["time"] == 33
    assert first.end_state.attrs["end_time"] == first.time.values[-1]
    second = sw.simulate(model, **how | {"duration": 1.0}, start=first)
    assert np.array_equal(second.time.values, full.time.values[32:83])
    assert np.allclose(second.position, full.position[32:83], atol=1e-7)
    assert np.allclose(second.position[0], first.position[-1], atol=1e-14)


def test_memory_and_waves_go_on_in_time():
    body = sw.Body("float", mass=2.6e5, inertia=(1, 1, 1))
    rail = sw.Slider("heave", sw.WORLD, body)
    pto = sw.LinearPto("pto", joint="heave", damping=5e4)
    system = sw.System("buoy", [body], [rail], ptos=[pto], water=sw.Water(rho=1000.0))
    model = sw.compile(system, heaving_float())
    long, first, second = parts(model, WAVE, cut=4.0, duration=12.0, solver="rk4", step=0.1)
    same(long, first, second)
    # in the middle of the ramp the sea goes on, it does not begin again
    expected = long.elevation.sel(time=4.0, method="nearest").values
    assert abs(second.elevation.values[0] - expected) < 1e-13  # sums over all times at once


def test_latches_stay_as_they_were():
    model = sw.compile(oscillator(sw.LatchingPto("latch", joint="rail", release_after=0.7)))
    long, first, second = parts(model, cut=2.0, duration=6.0, rtol=1e-9, atol=1e-11)
    assert first.pto_mode.values[-1, 0] == 1.0  # in the latch
    same(long, first, second, atol=1e-8)


@pytest.mark.slow
def test_moored_run_with_a_winch_goes_on():
    stages = [sw.Stage("pay_out", "winch", length=3.0, speed=1.0, ramp=0.5)]
    same(*parts(hoist(stages), cut=1.5, duration=4.0, output_step=0.1, step=0.05, chunk=7))


def test_run_from_a_file_goes_on(tmp_path):
    model, how = pendulum(), {"solver": "rk4", "output_step": 0.1, "progress": False}
    long = sw.simulate(model, duration=2.0, **how)
    first = sw.simulate(model, duration=1.0, **how)
    sw.save(first, tmp_path / "run.nc")
    again = sw.simulate(model, duration=1.0, start=sw.load_result(tmp_path / "run.nc"), **how)
    same(long, first, again)


def test_other_starts_are_sentences():
    model, how = pendulum(), {"duration": 0.2, "output_step": 0.1, "progress": False}
    run = sw.simulate(model, **how)
    cases = [
        (run.drop_vars("end_state"), {}, "keeps no end of a run"),
        (run.isel(time=slice(0, 2)), {}, "samples given end at 0.1 s, those of the run at 0.2"),
        (run.assign_attrs(result="diverged"), {}, "ended with 'diverged' and cannot be continued"),
        (run, {"formulation": "lagrange"}, "Give the same formulation"),
        (run, {"solver": "two_step"}, "Give the same formulation and kind of solver"),
        (3.0, {}, r"start 3.0 is not known"),
        ([1, 2], {}, r"start list is not known"),
        ("there", {}, r"start 'there' is not known"),
    ]
    for start, more, text in cases:
        with pytest.raises(sw.SwelltreeError, match=text):
            sw.simulate(model, start=start, **how | more)
    heavier = model.with_values({"a.mass": 4.0})
    with pytest.raises(sw.SwelltreeError, match="that run is of another model"):
        sw.simulate(heavier, start=run, **how)
    with pytest.raises(sw.SwelltreeError, match=r"times begin at 0.1 s, before the run .* 0.2 s"):
        sw.simulate(model, times=[0.1, 0.3], start=run, progress=False)


def test_times_go_on_where_they_are_given():
    model = pendulum()
    run = sw.simulate(model, duration=0.2, output_step=0.1, progress=False)
    on = sw.simulate(model, times=[0.25, 0.4], start=run, progress=False)
    full = sw.simulate(model, times=[0.0, 0.1, 0.2, 0.25, 0.4], progress=False)
    assert on.position.values == pytest.approx(full.position.values[-2:], abs=1e-8)


@pytest.mark.parametrize(
    ("times", "text"),
    [
        ([0.0, np.nan], r"number 2 is nan. Give"),
        ([0.0, np.inf], r"number 2 is inf"),
        ([0.0, 1.0, 1.0], r"1 s follows 1 s. Give e.g. linspace"),
        ([0.0, 2.0, 1.5], r"1.5 s follows 2 s"),
        ([], r"shape \(0,\)"),
        ([[0.0, 1.0]], r"shape \(1, 2\)"),
        ([-1.0, 1.0], r"begin at -1 s"),
        (["a", "b"], r"are not numbers"),
        (2.0, r"shape \(\)"),
    ],
)
def test_times_that_are_none_are_told(times, text):
    with pytest.raises(sw.SwelltreeError, match=text):
        sw.simulate(pendulum(), times=times)


@pytest.mark.parametrize("name", ["duration", "output_step"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0, 0.0])
def test_durations_that_are_none_are_told(name, value):
    specified = {"duration": 1.0, "output_step": 0.1} | {name: value}
    with pytest.raises(sw.SwelltreeError, match=rf"{name} {value:g}"):
        sw.simulate(pendulum(), **specified)
