"""Optimal forces of RM3 whose spar nothing holds in surge: both methods, stops, drag, in time."""

import re

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
from support import refdata
from swelltree.studies.control.control_study import restless

STOPS = sw.JointForce("stops", "guide", lower=-0.8, upper=0.8, stop_stiffness=2e7, stop_damping=2e5)
DRAG = sw.QuadraticDrag("drag", "spar", damping={"Surge": 5e5, "Heave": 1.5e6, "Pitch": 4e9})
WAVE = sw.RegularWave(height=2.5, period=10.0)


@pytest.mark.parametrize(
    ("growth", "words"),
    [
        (0.03, "'b' changes by .* and does not calm down. The periodic motion is not stable"),
        (-0.03, "'b' changes by .* to the next$"),
        (-1.0, "^$"),
    ],
)
def test_what_does_not_repeat_is_named(growth, words):
    """Coordinate a drifts and repeats; b swings at half the frequency, more or less."""
    t = np.arange(30 * 40 + 1) / 40
    a = 0.7 + np.cos(2 * np.pi * t)
    b = 0.2 * np.cos(2 * np.pi * t) + 0.1 * np.exp(growth * (t - 20.0)) * np.sin(np.pi * t)
    rates = (("time", "coordinate"), np.stack([a, b], axis=1))
    run = xr.Dataset({"joint_rate": rates}, {"coordinate": ["a", "b"], "time": t})
    assert re.search(words, restless(run, 40, 200))


def rm3(*forces):
    """Masses, inertias and data are those of WEC-Sim's example."""
    data = sw.read_hydro(
        refdata("bem_rm3", "wamit", "rm3.out"), names=["float", "spar"], rho=1000.0, check=False
    )
    mass = 1000.0 * data["displaced_volume"]
    inertia = (20_907_301.0, 21_306_090.66, 37_085_481.11)
    buoy = sw.Body("float", float(mass.sel(body="float")), inertia, position=(0, 0, -0.72))
    inertia = (94_419_614.57, 94_407_091.24, 28_542_224.82)
    spar = sw.Body("spar", float(mass.sel(body="spar")), inertia, position=(0, 0, -21.29))
    joints = [
        sw.Planar("ground", sw.WORLD.at(0, 0, -21.29), spar, axis="y"),
        sw.Slider("guide", spar.at(0, 0, 20.57), buoy, axis="z"),
    ]
    pto = sw.LinearPto("pto", joint="guide", damping=1.2e6)
    water = sw.Water(rho=1000.0)
    system = sw.System("rm3", [buoy, spar], joints, list(forces), ptos=[pto], water=water)
    return sw.compile(system, data, fit={"error": 0.02})


@pytest.mark.slow
def test_a_pitch_that_the_wave_excites_at_half_its_frequency_is_told():
    """Pitch of 15.6 s grows in a wave of 8 s; nothing damps it in the model."""
    model = rm3()
    periods = sw.modes(model)["natural_period"].values
    assert np.abs(periods / 16.0 - 1).min() < 0.03
    wave = WAVE.replace(period=8.0)
    options = {"force_max": 1.5e6, "harmonics": 5, "compare": False, "method": "linear"}
    best = sw.optimal_control(model, wave, "pto", **options).attrs
    assert best["replayed_power"] < 0.9 * best["mean_power"]
    assert "'ground__Pitch' changes by" in best["report"]
    assert "The periodic motion is not stable" in best["report"]
    assert "The model is not linear: its equations bend" in best["report"]


@pytest.mark.slow
def test_both_methods_find_one_optimum_and_time_agrees():
    model = rm3()
    one, two = (
        sw.optimal_control(model, WAVE, "pto", force_max=1.5e6, harmonics=9, method=method).attrs
        for method in ("linear", "nonlinear")
    )
    assert one["mean_power"] == pytest.approx(two["mean_power"], rel=2e-3)
    assert two["mean_power"] > 1.1 * two["passive_power"]
    for found in (one, two):
        assert found["kkt_residual"] < 1e-8
        assert found["replayed_power"] == pytest.approx(found["mean_power"], rel=5e-3)
        assert "not stable" not in found["report"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("forces", "period", "within"),
    [((DRAG,), 8.0, 0.01), ((STOPS,), 10.0, 0.02), ((DRAG, STOPS), 8.0, 0.02)],
    ids=["drag", "stops", "drag and stops"],
)
def test_the_search_with_stops_and_drag_converges_and_time_agrees(forces, period, within):
    """The tips of stops are softer in the search: 1.2 % of the power."""
    model, wave = rm3(*forces), WAVE.replace(period=period)
    options = {"force_max": 1.5e6, "harmonics": 15, "compare": False}
    best = sw.optimal_control(model, wave, "pto", **options)
    numbers = best.attrs
    assert numbers["method"] == "nonlinear"
    assert numbers["kkt_residual"] < 1e-8
    assert numbers["replayed_power"] == pytest.approx(numbers["mean_power"], rel=within)
    if STOPS in forces:
        assert 0.79 < float(np.abs(best.stroke).max()) < 0.86


@pytest.mark.slow
def test_the_linear_optimum_in_a_sea_agrees_with_time():
    model = rm3()
    sea = sw.IrregularSea(
        sw.Jonswap(Hs=2.0, Tp=9.0), spacing="equal", components=40, seed=3, jitter=False
    )
    best = sw.optimal_control(model, sea, "pto", force_max=1.5e6, method="linear").attrs
    assert best["kkt_residual"] < 1e-8
    assert best["replayed_power"] == pytest.approx(best["mean_power"], rel=0.01)
