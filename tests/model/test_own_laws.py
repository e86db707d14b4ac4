"""Laws of power take-offs from outside the package."""

import numpy as np
import pytest

import swelltree as sw
from own_laws import Anchored, Arrest, Catch, CubicSpring, Lag
from validation.pto.pto_systems import oscillator

HOW = {"rtol": 1e-9, "atol": 1e-11}


def run(law, duration=4.0, **parameters):
    pto = sw.OwnLaw("own", joint="rail", law=law, parameters=parameters)
    model = sw.compile(oscillator(pto))
    return sw.simulate(model, duration=duration, output_step=0.1, **HOW)


def test_stored_and_lost_energy_of_an_own_law_are_accounted_for():
    result = run(CubicSpring, k=5.0, c=0.4)
    x, v = result["pto_stroke"].values[:, 0], result["pto_rate"].values[:, 0]
    force = result["pto_force"].values[:, 0]
    assert np.allclose(force, -5.0 * x**3 - 0.4 * np.abs(v) * v, atol=1e-9)
    assert np.allclose(result["pto_stored_energy"].values[:, 0], 1.25 * x**4)
    assert np.allclose(result["delivered_power"].values, 0.0, atol=1e-9)
    assert np.abs(result["energy_residual"].values).max() < 1e-6


def test_states_of_an_own_law_are_part_of_the_run():
    """Oscillator of 2 kg on 8 N/m with a lagged damper: linear, by its matrix exponential."""
    result = run(Lag, c=1.5, T=0.7)
    A = np.array([[0.0, 1.0, 0.0], [-4.0, 0.0, -0.75], [0.0, 1.0 / 0.7, -1.0 / 0.7]])
    values, vectors = np.linalg.eig(A)
    weights = np.linalg.solve(vectors, [1.0, 0.0, 0.0])
    t = result["time"].values
    x = ((vectors[0] * weights)[None] * np.exp(np.outer(t, values))).sum(1).real
    assert np.abs(result["joint_coordinate"].values[:, 0] - x).max() < 1e-7


def test_own_law_stops_the_motion_at_an_event():
    """Released from 1 m it comes to rest after half a damped period, and stays."""
    result = run(Catch, c=0.4)
    t, x = result["time"].values, result["joint_coordinate"].values[:, 0]
    omega = np.sqrt(4.0 - 0.01)
    stop = -np.exp(-0.1 * np.pi / omega)
    late = t > np.pi / omega
    assert np.abs(x[late] - stop).max() < 1e-8
    assert result.attrs["events"] == 1
    assert np.abs(result["energy_residual"].values).max() < 1e-6


def anchored(k, lead):
    pto = sw.OwnLaw("own", joint="rail", law=Anchored, parameters={"k": k, "lead": lead})
    system = oscillator(pto)
    moving = system.joint("rail").replace(velocity=0.7)
    return sw.compile(system.replace(joints=[moving]))


def test_own_law_sees_stroke_and_rate_at_its_start():
    """States z = (lagged rate, place): linear about the equilibrium by its matrix exponential."""
    k, lead = 5.0, 0.4
    model = anchored(k, lead)
    run = sw.simulate(model, duration=2.0, output_step=0.1, **HOW)
    A = np.array([[0.0, 1.0, 0.0], [-0.5 * (8.0 + k), 0.0, -0.15], [0.0, 1.0, -1.0]])
    mean = k * (1.0 + lead * 0.7) / (8.0 + k)
    values, vectors = np.linalg.eig(A)
    weights = np.linalg.solve(vectors, [1.0 - mean, 0.7, 0.0])
    t = run["time"].values
    x = mean + ((vectors[0] * weights)[None] * np.exp(np.outer(t, values))).sum(1).real
    assert np.abs(run["joint_coordinate"].values[:, 0] - x).max() < 1e-7
    two_step = sw.simulate(model, duration=2.0, output_step=0.1, solver="two_step", step=0.002)
    # second order: 2e-3 s of a period of 2.5 s
    assert np.abs(two_step["joint_coordinate"].values[:, 0] - x).max() < 3e-5
    first = sw.simulate(model, duration=1.0, output_step=0.1, **HOW)
    second = sw.simulate(model, duration=1.0, output_step=0.1, start=first, **HOW)
    assert abs(float(second["joint_coordinate"].values[-1, 0]) - x[-1]) < 1e-7


def test_batches_begin_own_laws_by_each_case():
    parameters = {"own.k": [5.0, 3.0], "own.lead": [0.4, 0.2]}
    how = {"duration": 2.0, "output_step": 0.1}
    batch = sw.simulate_batch(
        anchored(5.0, 0.4), parameters=parameters, step=0.01, reduce=("series",), **how
    )
    for i, (k, lead) in enumerate(zip(*parameters.values(), strict=True)):
        single = sw.simulate(anchored(k, lead), rtol=1e-9, **how)
        stroke = batch["pto_stroke_series"].isel(case=i, pto=0).values
        # fourth order: 0.01 s of a period of 2.5 s
        assert np.abs(stroke - single["pto_stroke"].values[:, 0]).max() < 1e-7


@pytest.mark.parametrize("formulation", ["path_matrix", "lagrange"])
def test_motion_stopped_at_full_speed_is_work_of_the_law(formulation):
    """From 1 m at rest to 0.3 m: 4 (1 - 0.09) J of kinetic energy are taken at once."""
    pto = sw.OwnLaw("own", joint="rail", law=Arrest, parameters={"distance": 0.7})
    model = sw.compile(oscillator(pto))
    result = sw.simulate(model, duration=1.5, output_step=0.1, formulation=formulation, **HOW)
    assert result.attrs["result"] == "success"
    assert np.allclose(result["joint_coordinate"].values[7:, 0], 0.3, atol=1e-9)
    assert float(result["work"].sel(element="own")[-1]) == pytest.approx(-3.64, abs=1e-8)
    assert np.abs(result["energy_residual"].values).max() < 1e-8


def test_case_file_names_the_law():
    pto = sw.OwnLaw("own", joint="rail", law="own_laws:Lag", parameters={"c": 1.5, "T": 0.7})
    system = oscillator(pto)
    again = sw.loads(system.to_toml()).system
    assert again == system
    assert float(sw.compile(again).value("own.c")) == 1.5


@pytest.mark.parametrize(
    ("law", "parameters", "message"),
    [
        (Lag, {"c": 1.0}, "pto 'own': law 'Lag' needs 'T'"),
        (Lag, {"c": 1.0, "T": 1.0, "cc": 2.0}, "law 'Lag' has no field 'cc'"),
        (np.sin, {}, "is not a class made with @swelltree.pto_law"),
        (Lag, {"c": 1.0, "T": [1.0, 2.0]}, "parameter 'T' is not one number"),
    ],
)
def test_bad_own_laws_are_rejected(law, parameters, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        run(law, **parameters)


def test_a_law_without_force_is_rejected():
    with pytest.raises(sw.SwelltreeError, match="with a method 'force'"):

        @sw.pto_law
        class Nothing(sw.PtoLaw):
            c: float
