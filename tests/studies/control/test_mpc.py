"""Model predictive control: one controller per run, with the preview of the sea of that run."""

import warnings

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, heaving_float
from swelltree.campaigns import pool
from swelltree.compiler.functions_of_time import functions_of_time
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.waves.sea import realise

SEAS = [
    sw.IrregularSea(sw.Jonswap(Hs=1.0, Tp=6.0), seed=seed, components=20, ramp=10.0)
    for seed in (1, 2)
]
OTHER = sw.IrregularSea(sw.Jonswap(Hs=1.3, Tp=6.5), seed=7, components=20, ramp=10.0)
LIMITS = {"force_max": 1e5, "stroke_max": 0.6, "sample": 0.5, "horizon": 6.0}
RUN = {"duration": 30.0, "output_step": 0.5, "solver": "rk4", "step": 0.1}


@pytest.fixture(scope="module")
def bare():
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    ptos = [sw.LinearPto("pto", joint="rail")]
    system = sw.System("heaving", [body], [rail], water=sw.Water(rho=1000.0), ptos=ptos)
    return sw.compile(system, heaving_float(), fit={"error": 1e-2})


@pytest.fixture(scope="module")
def controlled(bare):
    return sw.with_mpc(bare, SEAS[0], "pto", **LIMITS)


def power(model, sea, **more):
    return float(sw.simulate(model, sea, **(RUN | more)).absorbed_power.mean())


def test_a_second_run_gives_the_same_power_also_after_another_sea(controlled):
    """Old decisions were replayed: 7,706 W in place of 10,708 W."""
    model, mpc = controlled
    assert functions_of_time(model) == []  # nobody asks it ahead of the run
    before = mpc.solves
    runs = [power(model, SEAS[k]) for k in (0, 1, 0)]
    assert runs[0] == runs[2] != pytest.approx(runs[1], rel=0.1)
    assert mpc.solves >= before + 3 * 60


@pytest.mark.slow  # every controller is compiled
def test_a_model_made_for_one_sea_knows_that_of_its_run(bare, controlled):
    """It kept the preview of the first: -490 W in place of 7.1 kW."""
    made_for_it, _ = sw.with_mpc(bare, SEAS[1], "pto", **LIMITS)
    assert power(controlled[0], SEAS[1]) == pytest.approx(power(made_for_it, SEAS[1]), rel=1e-9)


def test_cases_of_a_batch_have_controllers_and_previews_of_their_own(controlled):
    """Seeds gave -2,611, -4,601, 6,353, 3,306 W, or others by what ran before."""
    model, _ = controlled
    runs = sw.simulate_batch(
        model,
        SEAS,
        duration=30.0,
        output_step=0.5,
        step=0.1,
        channels=["absorbed_power"],
        reduce=["series"],
    )
    for k, sea in enumerate(SEAS):
        alone = sw.simulate(model, sea, **RUN).absorbed_power.values
        np.testing.assert_allclose(runs.absorbed_power_series.isel(case=k), alone, rtol=1e-9)
    assert "a controller knows its own sea ahead" in runs.attrs["engine"]


@pytest.mark.slow  # every controller is compiled
def test_a_forecast_takes_the_place_of_the_sea(bare, controlled):
    alone = power(controlled[0], SEAS[0])
    right, _ = sw.with_mpc(bare, OTHER, "pto", forecast=SEAS[0], **LIMITS)
    assert power(right, SEAS[0]) == pytest.approx(alone, rel=1e-9)
    wrong, _ = sw.with_mpc(bare, SEAS[0], "pto", forecast=SEAS[1], **LIMITS)
    assert power(wrong, SEAS[0]) < 0.8 * alone


def test_a_run_under_mpc_goes_on(controlled):
    model, _ = controlled
    how = {"output_step": 0.5, "solver": "rk4", "step": 0.1}
    full = sw.simulate(model, SEAS[0], **RUN)
    first = sw.simulate(model, SEAS[0], duration=13.5, **how)
    rest = sw.simulate(model, SEAS[0], duration=16.5, start=first, **how)
    np.testing.assert_allclose(rest.pto_force.values[-1], full.pto_force.values[-1], rtol=1e-9)


def test_laws_made_for_one_sea_say_so_in_another(bare):
    law = sw.tracking_law(bare, SEAS[0], "pto", force_max=1e5)
    model = sw.controlled(bare, "pto", law)
    how = {"duration": 1.0, "output_step": 0.5, "solver": "rk4", "step": 0.1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.simulate(model, SEAS[0], **how)
    message = "tracking_law of pto 'pto' was made for another sea"
    with pytest.warns(SwelltreeWarning, match=message):
        sw.simulate(model, SEAS[1], **how)
    # in lanes, loads of irregular seas are made on the way, without a model for each sea
    lanes = {"duration": 1.0, "output_step": 0.5, "step": 0.1, "channels": ["absorbed_power"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.simulate_batch(model, SEAS[:1], **lanes)
    with pytest.warns(SwelltreeWarning, match=message):
        assert sw.simulate_batch(model, SEAS, **lanes).attrs["engine"] == "lanes"
    wave = sw.RegularWave(amplitude=0.3, omega=1.1)
    best = sw.optimal_control(bare, wave, "pto", force_max=1e5, replay=False)
    driven = sw.replayed(bare, best, ramp=5.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.simulate(driven, wave.replace(ramp=5.0), **how)
    with pytest.warns(SwelltreeWarning, match="force of optimal_control on pto 'pto' was made"):
        sw.simulate(driven, wave.replace(amplitude=0.4), **how)


def test_mpc_refuses_a_sea_that_it_cannot_look_ahead_in(controlled):
    steep = realise(sw.StreamFunctionWave(height=1.0, period=6.0), sw.Water(depth=30.0), 0)
    with pytest.raises(SwelltreeError, match="mpc works on linear waves"):
        controlled[1].preview(steep)


@pytest.mark.slow
def test_a_campaign_under_mpc_is_its_single_runs(controlled, tmp_path, monkeypatch):
    """All cases shared one controller and one preview: powers depended on what ran before."""
    model, _ = controlled
    campaign = sw.Campaign(
        model,
        [sw.Seeds(4)],
        sea=SEAS[0],
        duration=30.0,
        output_step=0.5,
        step=0.1,
        channels=["absorbed_power"],
        lanes=2,
        name="mpc",
    )
    blocks, true = [], pool.run_here

    def once(planned, names, cases, first=0):
        blocks.append(len(cases))
        if len(blocks) == 2:
            raise KeyboardInterrupt
        return true(planned, names, cases, first)

    monkeypatch.setattr(pool, "run_here", once)
    folder = tmp_path / "store"
    with pytest.raises(KeyboardInterrupt):
        campaign.run(folder, workers=0, progress=False)
    # what the controller has solved meanwhile is no part of the model
    found = campaign.run(folder, workers=0, progress=False, resume=True)
    assert blocks == [2, 2, 2]
    assert (found["state"].values == "done").all()
    for k, seed in enumerate(found["seed"].values):
        alone = sw.statistics(
            sw.simulate(model, SEAS[0].replace(seed=int(seed)), **RUN).absorbed_power
        )
        np.testing.assert_allclose(
            found.absorbed_power.isel(seed=k).values.ravel(), alone.values.ravel(), rtol=1e-9
        )
