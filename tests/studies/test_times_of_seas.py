"""Records that do not hold the times of a run, and seas that repeat themselves in it."""

import warnings

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, heaving_float

WATER = sw.Water(rho=1000.0)
TIMES = np.arange(0.0, 100.0, 0.5)


@pytest.fixture(scope="module")
def model():
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    return sw.compile(sw.System("s", (body,), (rail,), water=WATER), heaving_float())


def record(first=0.0, **more):
    return sw.MeasuredWave(
        tuple(TIMES + first), tuple(0.3 * np.sin(0.9 * TIMES)), omega_max=3.0, **more
    )


@pytest.mark.parametrize(
    ("sea", "duration"),
    [
        (record(1000.0), 80.0),
        (record(), 400.0),
        (sw.SeaOf((sw.RegularWave(height=0.1, period=6.0), record(20.0))), 60.0),
    ],
)
def test_a_record_that_does_not_hold_the_run_is_refused_with_both_times(model, sea, duration):
    message = rf"the record holds .* s, but the run goes from 0 to {duration:g} s.*outside='repeat'"
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.simulate(model, sea, duration=duration)
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.simulate_batch(model, [sea], duration=duration)


def test_a_record_is_repeated_where_that_is_asked_for(model):
    # with a band the series is a tenth longer than the record
    run = sw.simulate(model, record(outside="repeat"), duration=150.0, output_step=0.5)
    assert run.elevation.sel(time=130.0).item() == pytest.approx(
        run.elevation.sel(time=20.0).item(), abs=1e-6
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.simulate(model, record(), duration=float(TIMES[-1]), output_step=0.5)


def test_a_sea_that_repeats_itself_in_the_run_says_after_what_time(model):
    few = {"spacing": "equal", "jitter": False, "omega_min": 0.3, "omega_max": 2.0}
    sea = sw.IrregularSea(sw.Jonswap(1.0, 7.0), components=28, seed=1, **few)
    with pytest.warns(sw.SwelltreeWarning, match=r"repeats after 103.5 s, 1.45 times"):
        sw.simulate(model, sea, duration=150.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.simulate(model, sea, duration=100.0)


def test_a_run_by_hand_goes_on_to_the_end_of_its_record(model):
    run = sw.stepper(model, record(), start="described")
    run.step(2.0)
    whole = sw.simulate(model, record(), duration=2.0, output_step=1.0, rtol=1e-9)
    heave = whole.displacement.sel(time=2.0, dof="Heave").item()
    assert run["float.Heave"] == pytest.approx(heave, rel=1e-5)
    with pytest.raises(sw.SwelltreeError, match=r"102 s is beyond 99.5 s, .* record ends"):
        run.step(100.0)
    message = r"holds 1000 to 1099.5 s, but the run goes from 0 to .* s"
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.stepper(model, record(1000.0))
    with pytest.raises(sw.SwelltreeError, match=r"holds 0 to 99.5 s, .* from 0 to 300 s"):
        sw.stepper(model, record(), duration=300.0)


def test_a_run_by_hand_of_unknown_length_says_only_after_what_time_its_sea_repeats(model):
    few = {"spacing": "equal", "jitter": False, "omega_min": 0.3, "omega_max": 2.0}
    sea = sw.IrregularSea(sw.Jonswap(1.0, 7.0), components=28, seed=1, **few)
    with pytest.warns(sw.SwelltreeWarning, match=r"repeats after 103.5 s: .* or more comp"):
        sw.stepper(model, sea)
    with pytest.warns(sw.SwelltreeWarning, match=r"103.5 s, 1.45 times in a run of 150 s"):
        sw.stepper(model, sea, duration=150.0)


def test_a_trial_run_is_no_longer_than_the_record(model):
    short = sw.MeasuredWave(
        tuple(TIMES[:31]), tuple(0.1 * np.sin(0.9 * TIMES[:31])), omega_min=0.3, omega_max=3.0
    )
    found = {one.code: one for one in sw.check_physics(model, short)}
    assert "trial run" not in found
    assert found["time"].sentence.count("a run of 15 s") == 1
