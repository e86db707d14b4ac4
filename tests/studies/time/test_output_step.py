"""How often a run is sampled when nobody says, and what is refused before it begins."""

import warnings

import numpy as np
import pytest

import swelltree as sw
from made_buoy import buoy_run
from swelltree.describe.options import TracedOptions, complete
from swelltree.results.energy import aliased, turned
from swelltree.results.summary import warnings_of
from swelltree.spatial.rotations import matrix_to_quat
from swelltree.studies.time.task import (
    default_output_step,
    natural_frequencies,
    output_times,
    wave_period,
)
from swelltree.waves.sea import realise


def pendulum(length=5.0):
    bob = sw.Body("bob", mass=100.0, inertia=(1e-3, 1e-3, 1e-3), position=(0.0, 0.0, -length))
    hinge = sw.Hinge("pin", sw.WORLD.at(0, 0, 0), bob.at(0, 0, length), axis="y", position=0.3)
    return sw.System("pendulum", bodies=[bob], joints=[hinge])


def test_the_bodies_own_period_sets_the_step():
    """A mathematical pendulum has 2 pi sqrt(l/g); at 0.3 rad cos(0.3) of the stiffness is left."""
    model = sw.compile(pendulum())
    period = 2 * np.pi * np.sqrt(5.0 / 9.81 / np.cos(0.3))
    assert 2 * np.pi / natural_frequencies(model) == pytest.approx([period], rel=1e-4)
    for duration in (100.0, 3600.0):
        step = default_output_step(model, None, duration)
        assert period / 21 < step <= period / 20
        assert duration / step == pytest.approx(round(duration / step), abs=1e-9)
    assert default_output_step(model, None, 10.0) == pytest.approx(0.05)


def test_a_long_run_shows_the_waves_and_its_largest_motion():
    fine, plain = (
        buoy_run(duration=300.0, output_step=0.05),
        buoy_run(duration=300.0, output_step=None),
    )
    # the buoy's own period is about half of the wave's
    assert 0.05 < float(plain["time"][1]) <= 0.2
    assert plain["time"].values[-1] == 300.0
    for name in ("position", "absorbed_power"):
        a, b = (sw.statistics(run)[name].sel(statistic=["max", "mean"]) for run in (fine, plain))
        np.testing.assert_allclose(a, b, rtol=0.015, atol=2e-3 * float(np.abs(a).max()))
    assert not aliased(plain)


def test_samples_that_alias_are_told_and_others_are_not():
    coarse = buoy_run(duration=300.0, output_step=0.05).isel(time=slice(None, None, 70))
    assert "samples every 3.5 s are too far apart to show bob Heave" in aliased(coarse)
    assert any("output_step" in sentence for sentence in warnings_of(coarse))
    six = buoy_run(duration=300.0, output_step=0.05).isel(time=slice(None, None, 10))
    assert not aliased(six)


def test_turns_between_samples_follow_the_angular_velocity():
    rng = np.random.default_rng(1)
    axis, angle = np.array([0.6, 0.0, -0.8]), np.cumsum(rng.uniform(0.0, 1.0, 50))
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    R = np.eye(3) + s * K + (1 - c) * K @ K
    np.testing.assert_allclose(
        turned(matrix_to_quat(R)), np.diff(angle)[:, None] * axis, atol=1e-10
    )


def test_three_quarters_of_a_sea_are_slower_than_its_period():
    water = sw.Water(depth=80.0)
    sea = sw.IrregularSea(sw.Jonswap(Hs=3.0, Tp=9.0), seed=2, components=200)
    assert 0.7 * 9.0 < wave_period(realise(sea, water)) <= 9.0
    both = sw.SeaOf([sea, sw.RegularWave(amplitude=1.5, period=4.0)])
    assert wave_period(realise(both, water)) <= 4.01
    assert wave_period(realise(sw.RegularWave(amplitude=1.0, period=7.0), water)) == pytest.approx(
        7.0
    )


def test_the_cap_on_samples_is_told():
    model = sw.compile(pendulum(0.01))
    with pytest.warns(sw.SwelltreeWarning, match="make more than 50000 in 20000 s"):
        step = default_output_step(model, None, 20000.0)
    assert step == pytest.approx(20000.0 / 50000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        default_output_step(model, None, 60.0)


def test_a_chosen_step_is_a_multiple_of_the_solvers_own():
    model = sw.compile(pendulum())
    for duration, own in ((60.0, 0.04), (100.0, 0.03125), (7.0, 0.01)):
        step = default_output_step(model, None, duration, own)
        assert step / own == pytest.approx(round(step / own), abs=1e-9)
        assert duration / step == pytest.approx(round(duration / step), abs=1e-9)
    run = sw.simulate(model, duration=20.0, solver="rk4", step=0.02)
    assert run.attrs["step"] == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("specified", "sentence"),
    [
        ({"duration": 60.0, "output_step": 1e-12}, "makes 6e.13 samples in 60 s"),
        ({"duration": 1e12}, "duration 1e.12 s is longer than three years"),
        ({"duration": "x"}, "duration 'x' is not a number of seconds"),
        ({"duration": None}, "duration None is not a number of seconds"),
        ({"duration": float("nan")}, "duration nan is not a number"),
        ({"duration": -1.0}, "duration -1 s is not positive"),
        ({"duration": 1.0, "output_step": 2.0}, "output_step 2 s must lie between"),
        ({"duration": 1.0, "output_step": "fast"}, "output_step 'fast' is not a number"),
        ({"times": ["a", "b"]}, "times are not numbers"),
        ({"times": [0.0, float("nan")]}, "times must be increasing"),
    ],
)
def test_times_that_make_no_run_are_refused(specified, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        output_times(sw.compile(pendulum()), None, complete(TracedOptions, **specified))
