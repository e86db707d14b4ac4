"""Power take-offs in linear studies and under controllers."""

import numpy as np
import pytest

import swelltree as sw
from laws_of_ptos import brake, two_values
from made_hydro import A_INF, MASS, STIFFNESS, excitation, heaving_float, memory
from swelltree.pto.controllers.controllers import controllers_of
from validation.pto.pto_systems import oscillator

RAIL = {"joint": "rail"}
OIL = {"piston_area": 0.02, "precharge": 6e6, "gas_volume": 0.3, "motor_gain": 1e-9}


def floating(*ptos) -> sw.System:
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    return sw.System("heaving", [body], [rail], water=sw.Water(rho=1000.0), ptos=list(ptos))


@pytest.fixture(scope="module")
def data():
    return heaving_float()


def test_rao_takes_machines_by_their_slope_and_says_so(data):
    """A generator and hydraulics on one float, against the closed form of two dampers."""
    generator = sw.DirectDrivePto("generator", **RAIL, damping=8e4)
    oil = sw.HydraulicPto("oil", **RAIL, **OIL, smoothing_velocity=2.0)
    omega = np.array([0.8, 1.4])
    found = sw.rao(sw.compile(floating(generator, oil), data), omega=omega)
    c = {"generator": 8e4, "oil": 0.02 * (7.2e6 - 1e5) / 2.0}
    D = -(omega**2) * (MASS + A_INF) + STIFFNESS
    D = D - 1j * omega * (np.conj(memory(omega)) + sum(c.values()))
    heave = excitation(omega) / D
    assert np.allclose(found["rao"].sel(dof="Heave").values[:, 0, 0], heave, rtol=1e-5)
    for name, damping in c.items():
        power = found["absorbed_power"].sel(pto=name).values[:, 0]
        assert np.allclose(power, 0.5 * damping * np.abs(omega * heave) ** 2, rtol=1e-5)
    assert "pto 'oil': its valves count as a damper" in found.attrs["report"]
    assert "pto 'generator'" not in found.attrs["report"]


def test_modes_take_the_latch_as_open_and_see_the_slope_of_a_plain_law():
    """0.8 N s/m of the machine with the latch, 3 N s/m of the law by differences."""
    latch = sw.LatchingPto("latch", **RAIL, damping=0.8, release_after=1.0)
    system = driven(sw.LinearPto("pto", **RAIL, force_limit=1e3), law=brake)
    found = sw.modes(sw.compile(system.replace(ptos=[*system.ptos, latch])))
    assert float(found["natural_frequency"][0]) == pytest.approx(2.0, rel=1e-6)
    assert float(found["damping_ratio"][0]) == pytest.approx(3.8 / 8.0, rel=1e-6)
    assert found.attrs["report"] == "pto 'latch': its latch counts as open."


def test_equilibrium_of_a_machine_with_a_spring():
    """8 N/m to zero and 2 N/m to one metre: rest at 0.2 m, and the books at rest."""
    coulomb = sw.CoulombPto("rub", **RAIL, friction=1.0, stiffness=2.0, rest=1.0)
    rest = sw.equilibrium(sw.compile(oscillator(coulomb)))
    assert float(rest["joint_coordinate"][0]) == pytest.approx(0.2)
    assert float(rest["pto_stroke"][0]) == pytest.approx(-0.8)
    assert float(rest["pto_force"][0]) == pytest.approx(1.6)
    assert float(rest["pto_stored_energy"][0]) == pytest.approx(0.64)


def driven(pto, **keys) -> sw.System:
    law = sw.Controller("hold", ["rail.Surge.rate"], ["pto"], plain=True, **keys)
    return oscillator(pto, controllers=[law])


@pytest.mark.slow
def test_plain_law_drives_a_pto_like_the_damper_it_is():
    """u = -3 v by a callback, on the simple element."""
    model = sw.compile(driven(sw.LinearPto("pto", **RAIL), law=brake))
    run = sw.simulate(model, duration=3.0, output_step=0.1)
    decay, swing = 0.75, np.sqrt(4.0 - 0.75**2)
    t = run["time"].values
    exact = np.exp(-decay * t) * (np.cos(swing * t) + decay / swing * np.sin(swing * t))
    assert np.abs(run["joint_coordinate"].values[:, 0] - exact).max() < 1e-5
    absorbed = 3.0 * run["joint_rate"].values[:, 0] ** 2
    assert np.allclose(run["absorbed_power"].values[:, 0], absorbed, atol=1e-12)


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
    law = controllers_of(model)[0].law
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


def test_hydraulics_with_their_own_smoothing_have_a_periodic_motion(data):
    """Found from smoother valves; the power is that of much smoother ones but for some per cent."""
    wave = sw.RegularWave(amplitude=0.3, omega=1.1)
    oil = {"joint": "rail", "piston_area": 0.01, "precharge": 1e6, "gas_volume": 0.1}
    powers = []
    for options in ({}, {"smoothing_velocity": 0.03}):
        pto = sw.HydraulicPto("pto", **oil, motor_gain=1e-9, **options)
        found = sw.steady_state(sw.compile(floating(pto), data, radiation="none"), wave, 15)
        assert found.attrs["newton_error"] < 1e-9
        assert found.attrs["truncation_error"] < 1e-3
        powers.append(float(found.absorbed_power.mean()))
    assert powers[0] == pytest.approx(powers[1], rel=0.05)


def test_a_failed_search_names_the_velocity_of_smoothing(data):
    pto = sw.HydraulicPto("pto", **RAIL, **OIL)
    rough = sw.JointForce("rough", "rail", friction=1e5)
    system = floating(pto).replace(forces=(rough,))
    model = sw.compile(system, data, radiation="none")
    names = (
        r"raise friction_velocity of joint force 'rough' \(0.001 m/s\) and smoothing_velocity of "
        r"pto 'pto' \(0.02 m/s\)"
    )
    with pytest.raises(sw.SwelltreeError, match=names):
        sw.steady_state(model, sw.RegularWave(amplitude=1.0, omega=1.1), 3, max_iterations=1)


@pytest.mark.slow
def test_periodic_solution_of_the_hydraulics_is_the_end_of_a_run(data):
    model = sw.compile(floating(SEA["hydraulic"]), data)
    wave = sw.RegularWave(amplitude=1.0, period=8.0, ramp=16.0)
    late = sw.simulate(model, wave, duration=160.0, output_step=0.05).sel(time=slice(120, 160))
    found = sw.steady_state(model, wave.replace(ramp=0.0), 15, radiation="state_space")
    for channel in ("absorbed_power", "delivered_power"):
        # smoothed valves have corners beyond fifteen harmonics
        assert float(found[channel].mean()) == pytest.approx(float(late[channel].mean()), rel=3e-3)
