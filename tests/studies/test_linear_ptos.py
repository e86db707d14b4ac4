"""Power take-offs in linear studies and under controllers."""

import numpy as np
import pytest

import swelltree as sw
from laws_of_ptos import brake, two_values
from made_hydro import MASS, heaving_float
from swelltree.validation.pto_systems import oscillator

RAIL = {"joint": "rail"}
OIL = {"piston_area": 0.02, "precharge": 6e6, "gas_volume": 0.3, "motor_gain": 1e-9}


def floating(*ptos: sw.LinearPto) -> sw.System:
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    return sw.System("heaving", [body], [rail], water=sw.Water(rho=1000.0), ptos=list(ptos))


@pytest.fixture(scope="module")
def data():
    return heaving_float()


def test_rao_of_a_machine_is_that_of_its_damper(data):
    """The same damper as a simple element and as a machine, and a rectifier by its slope."""
    simple = sw.rao(sw.compile(floating(sw.LinearPto("pto", **RAIL, damping=8e4)), data))
    machine = sw.LinearPto("pto", **RAIL, damping=8e4, efficiency=0.9)
    assert machine.element is None
    found = sw.rao(sw.compile(floating(machine), data))
    assert np.allclose(found["rao"], simple["rao"], rtol=1e-12)
    assert np.allclose(found["absorbed_power"], simple["absorbed_power"], rtol=1e-12)
    assert list(found["element"].values) == ["pto"]
    assert "pto 'pto'" not in found.attrs["report"]


def test_rao_says_what_it_took_for_valves(data):
    model = sw.compile(floating(sw.HydraulicPto("oil", **RAIL, **OIL)), data)
    found = sw.rao(model, omega=[0.8])
    slope = 0.02 * (7.2e6 - 1e5) / 0.02
    damper = sw.compile(floating(sw.LinearPto("pto", **RAIL, damping=slope)), data)
    same = sw.rao(damper, omega=[0.8])
    assert np.allclose(found["rao"], same["rao"], rtol=1e-9)
    assert np.allclose(found["absorbed_power"], same["absorbed_power"], rtol=1e-9)
    assert "pto 'oil': its valves count as a damper" in found.attrs["report"]


def test_modes_take_the_latch_as_open_and_say_so():
    latch = sw.LatchingPto("latch", **RAIL, damping=0.8, release_after=1.0)
    found = sw.modes(sw.compile(oscillator(latch)))
    assert float(found["natural_frequency"][0]) == pytest.approx(2.0, rel=1e-9)
    assert float(found["damping_ratio"][0]) == pytest.approx(0.8 / (2 * 2.0 * 2.0), rel=1e-9)
    assert found.attrs["report"] == "pto 'latch': its latch counts as open."


def test_equilibrium_of_a_machine_with_a_spring():
    """8 N/m to zero and 2 N/m to one metre: rest at 0.2 m, and the books at rest."""
    coulomb = sw.CoulombPto("rub", **RAIL, friction=1.0, stiffness=2.0, rest=1.0)
    rest = sw.equilibrium(sw.compile(oscillator(coulomb)))
    assert float(rest["joint_coordinate"][0]) == pytest.approx(0.2)
    assert float(rest["pto_stroke"][0]) == pytest.approx(-0.8)
    assert float(rest["pto_force"][0]) == pytest.approx(1.6)
    assert float(rest["pto_stored_energy"][0]) == pytest.approx(0.64)


def driven(pto: sw.LinearPto, **keys) -> sw.System:
    law = sw.Controller("hold", ["rail.Surge.rate"], ["pto"], plain=True, **keys)
    return oscillator(pto, controllers=[law])


def test_plain_law_drives_a_pto_like_the_damper_it_is():
    """u = -3 v by a callback, on the simple element: also its slope is seen by `modes`."""
    model = sw.compile(driven(sw.LinearPto("pto", **RAIL), law=brake))
    run = sw.simulate(model, duration=3.0, output_step=0.1)
    decay, swing = 0.75, np.sqrt(4.0 - 0.75**2)
    t = run["time"].values
    exact = np.exp(-decay * t) * (np.cos(swing * t) + decay / swing * np.sin(swing * t))
    assert np.abs(run["joint_coordinate"].values[:, 0] - exact).max() < 1e-5
    absorbed = 3.0 * run["joint_rate"].values[:, 0] ** 2
    assert np.allclose(run["absorbed_power"].values[:, 0], absorbed, atol=1e-12)
    found = sw.modes(model)
    assert float(found["damping_ratio"][0]) == pytest.approx(3.0 / 8.0, rel=1e-6)


def test_law_of_a_machine_may_be_named_in_a_case_file():
    system = driven(sw.LinearPto("pto", **RAIL, force_limit=2.0), law="laws_of_ptos:brake")
    again = sw.loads(system.to_toml()).system
    assert again == system
    run = sw.simulate(sw.compile(again), duration=1.0, output_step=0.1)
    rate = run["joint_rate"].values[:, 0]
    assert np.allclose(run["pto_force"].values[:, 0], np.clip(-3.0 * rate, -2.0, 2.0))
    assert run["pto_limited"].values.any()


def test_plain_law_with_too_many_values_is_told():
    model = sw.compile(driven(sw.LinearPto("pto", **RAIL), law=two_values))
    law = model.forces.controllers[0].law
    with pytest.raises(
        sw.SwelltreeError, match=r"controller 'hold': the law gives 2 values but drives 1 elements"
    ):
        law(np.zeros(()), np.zeros(1))


def test_events_and_convolution_exclude_one_another(data):
    latch = sw.LatchingPto("latch", **RAIL, release_after=1.0)
    model = sw.compile(floating(latch), data, radiation="convolution", step=0.1)
    with pytest.raises(sw.SwelltreeError, match="this model switches at events"):
        sw.simulate(model, duration=1.0, output_step=0.1, solver="rk4")


SEA = {
    "hydraulic": sw.HydraulicPto("pto", **RAIL, **OIL, low_gas_volume=1.0, smoothing_velocity=0.2),
    "rectifier": sw.MechanicalRectifierPto(
        "pto", **RAIL, ratio=20.0, inertia=300.0, generator_damping=60.0
    ),
    "latching": sw.LatchingPto("pto", **RAIL, damping=2e5, release_after=1.8),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SEA)
def test_energy_budget_closes_in_a_sea(name, data):
    """With radiation memory and excitation of data; oil, flywheel and latch."""
    wave = sw.RegularWave(amplitude=1.0, period=8.0, ramp=16.0)
    model = sw.compile(floating(SEA[name]), data)
    run = sw.simulate(model, wave, duration=80.0, output_step=0.1)
    residual = np.abs(run["energy_residual"].values).max()
    assert residual < 1e-5 * np.abs(run["work"].values).max()
    assert float(run["absorbed_power"].mean()) > 5e3


@pytest.mark.slow
def test_periodic_solution_of_the_hydraulics_is_the_end_of_a_run(data):
    from swelltree.studies.steady_state import steady_state

    model = sw.compile(floating(SEA["hydraulic"]), data)
    wave = sw.RegularWave(amplitude=1.0, period=8.0, ramp=16.0)
    late = sw.simulate(model, wave, duration=160.0, output_step=0.05).sel(time=slice(120, 160))
    found = steady_state(model, wave.replace(ramp=0.0), 15, radiation="state_space")
    for channel in ("absorbed_power", "delivered_power"):
        # smoothed valves have corners beyond fifteen harmonics
        assert float(found[channel].mean()) == pytest.approx(float(late[channel].mean()), rel=3e-3)
