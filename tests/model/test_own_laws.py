"""Laws of power take-offs from outside the package."""

import numpy as np
import pytest

import swelltree as sw
from own_laws import Catch, CubicSpring, Lag
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
