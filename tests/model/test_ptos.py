"""Machines of power take-offs: books, limits, conservation."""

import dataclasses
import io

import numpy as np
import pytest

import swelltree as sw
from direct_numbers import check_direct_numbers
from swelltree.jit import jax, jnp
from swelltree.model.capabilities import AT_REST, internal_at_rest
from swelltree.model.effect import Instant
from swelltree.multibody.formulations import formulation
from swelltree.pto.actuators.actuators import Stops, stop_forces
from swelltree.pto.actuators.forces import stroke_forces
from swelltree.pto.laws.base import LawInputs
from validation.pto.pto_systems import (
    DRY,
    bank,
    budget_residuals,
    machines,
    mean_power,
)
from validation.pto.ptos import damper_power


@pytest.fixture(scope="module")
def run():
    model = sw.compile(bank(machines()))
    return sw.simulate(model, duration=56.0, output_step=0.04, progress=False)


# --- in a regular wave -------------------------------------------------------------------------
def test_energy_budget_closes_with_every_machine(run):
    assert run.attrs["result"] == "success"
    residuals = budget_residuals(run)
    assert len(residuals) == 10
    # default tolerance 1e-6 of the solver
    assert max(residuals.values()) < 1e-5, residuals


def test_absorbed_is_stored_delivered_or_lost(run):
    time = run["time"].values
    rates = run["absorbed_power"] - run["delivered_power"] - run["pto_losses"]
    gained = np.trapezoid(rates.values, time, axis=0)
    stored = run["pto_stored_energy"].values
    passed = np.trapezoid(np.abs(run["absorbed_power"].values), time, axis=0)
    # trapezoids over samples 0.04 s apart, with corners of the laws between
    assert np.abs(gained - (stored[-1] - stored[0])).max() < 2e-3 * passed.min()
    lost = run["pto_losses"].mean("time")
    assert float(lost.sel(pto="generator")) > 0.1 * float(lost.sel(pto="coulomb")) > 0.0


def test_hydraulic_keeps_its_oil_and_its_gas_law(run):
    own = run.sel(pto="relieved")
    oil = own["pto_oil_total"].values
    assert np.abs(oil / oil[0] - 1.0).max() < 1e-12
    volume = 0.3 - own["pto_oil_volume"].values
    high = own["pto_pressure"].values + 1e5  # a reservoir of constant pressure
    assert np.allclose(high * volume**1.4, 6e6 * 0.3**1.4, rtol=1e-9)
    assert own["pto_pressure"].values[-1] > 1.2 * own["pto_pressure"].values[0]


def test_limits_hold_and_are_told(run):
    own = run.sel(pto="limited")
    force, rate = own["pto_force"].values, own["pto_rate"].values
    assert np.abs(force).max() <= 8e4 * (1 + 1e-12)
    assert np.abs(force * rate).max() <= 4e4 * (1 + 1e-12)
    excess = own["pto_limited"].values > 0.5
    free = np.abs(2e5 * rate) < np.minimum(8e4, 4e4 / np.abs(rate).clip(1e-9))
    assert excess.any()
    assert np.array_equal(excess, ~free)
    relieved = run.sel(pto="relieved")
    assert np.abs(relieved["pto_force"].values).max() <= 1.8e5 * (1 + 1e-12)
    excess = relieved["pto_limited"].values > 0.5
    assert np.array_equal(excess, 0.02 * relieved["pto_pressure"].values > 1.8e5)
    assert 0 < excess.sum() < len(excess)
    assert not run["pto_limited"].sel(pto="coulomb").values.any()


def test_stops_keep_the_stroke(run):
    own = run.sel(pto="stopped")
    stroke, push = own["pto_stroke"].values, own["pto_stop_force"].values
    assert 0.4 < np.abs(stroke).max() < 0.6
    assert (np.abs(stroke)[push != 0.0] > 0.4).all()
    closing = (np.abs(stroke) > 0.4) & (stroke * own["pto_rate"].values > 0.0)
    assert closing.any()
    assert (push[closing] != 0.0).all()
    assert (push * stroke <= 0.0).all()


def test_latching_takes_more_than_the_best_damper(run):
    best = damper_power(np.geomspace(1e4, 1e7, 200)).max()
    latched = mean_power(run, "latch", 24.0)
    assert latched > 2.5 * best
    mode = run["pto_mode"].sel(pto="latch", time=slice(24, None)).values
    assert 0.4 < mode.mean() < 0.5  # 1.8 s of each half period of 4 s


def test_flywheel_never_turns_back_and_the_clutch_lets_go(run):
    own = run.sel(pto="rectifier")
    speed, shaft = own["pto_flywheel_speed"].values, 20.0 * np.abs(own["pto_rate"].values)
    assert (speed >= 0.0).all()
    free = shaft < speed
    assert free.any()
    assert (own["pto_force"].values[free] == 0.0).all()
    assert (np.abs(own["pto_force"].values)[shaft > speed + 1e-6] > 0.0).all()


def test_units_and_labels(run):
    assert run["delivered_power"].attrs["units"] == "W"
    assert run["pto_stored_energy"].attrs["units"] == "J"
    assert set(run["pto_unit"].values) == {"m"}
    assert run.attrs["events"] > 20


@pytest.mark.parametrize("name", sorted(machines()))
def test_numbers_of_a_law_feed_its_arrays_alone(name):
    assert check_direct_numbers(sw.compile(bank({name: machines()[name]})))


def test_summary_tells_mean_powers(run):
    from rich.console import Console

    from swelltree.results.summary import summary

    console = Console(width=140, file=io.StringIO())
    console.print(summary(run))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "efficiency" in text
    assert "rectifier" in text


# --- one law at a time -------------------------------------------------------------------------
def law_of(name):
    model = sw.compile(bank({name: machines()[name]}))
    own = stroke_forces(model)
    return own.law_of(own.names.index(name))[0]


def inputs(v, z, **more):
    v = np.atleast_1d(np.asarray(v, float))
    none = np.zeros_like(v)
    z = np.broadcast_to(np.asarray(z, float)[:, None], (len(z), len(v)))
    return dataclasses.replace(LawInputs(np.zeros(()), none, v, z, none, none + 1e30), **more)


def test_efficiency_map_is_bilinear_and_held_beyond_its_edges():
    law = law_of("generator")
    force, speed = np.array([1e5, 5e4, 2e5, 9e9]), np.array([0.5, 0.25, 1.0, 9e9])
    middle = (0.2 + 0.5 + 0.5 + 0.8) / 4, (0.8 + 0.85 + 0.85 + 0.9) / 4
    assert np.allclose(law.efficiency(-force, speed), [0.8, *middle, 0.9])


def test_generator_pays_for_driving_and_for_its_winding():
    law = law_of("generator")
    out = law.outputs(inputs(0.5, (), u=np.array([3e5])))  # 2e5 N along the motion
    eta = 0.5 * (0.8 + 0.85)
    assert out.delivered[0] == pytest.approx(-1e5 / eta - 1e-8 * (2e5) ** 2)
    assert out.lost[0] == pytest.approx(-1e5 - out.delivered[0])


def test_clutch_carries_torque_only_ahead_of_the_flywheel():
    law = law_of("rectifier")
    out = law.outputs(inputs([0.4, 0.6, -0.6], (10.0,)))
    torque = 6000.0 * (12.0 - 10.0)
    assert np.allclose(out.force, [0.0, -20 * torque, 20 * torque])
    assert np.allclose(out.rate[0], (np.array([0, torque, torque]) - 600.0) / 300.0)


def test_empty_accumulator_stops_the_motor():
    law = law_of("relieved")
    full, empty = law.outputs(inputs(0.0, (0.1, 0.3))), law.outputs(inputs(0.0, (0.0, 0.4)))
    assert full.delivered[0] > 0.0
    assert empty.delivered[0] == 0.0
    assert empty.rate[0, 0] == 0.0


def test_stop_is_continuous_at_contact_and_never_pulls():
    stops = Stops(*(np.array([x]) for x in (-np.inf, 0.5, 1e6, 1e5, 0.01)))
    x = np.linspace(0.499, 0.52, 4000)
    for v in (3.0, -3.0):
        force = np.array([stop_forces(stops, np.array([a]), np.array([v]))[0][0] for a in x])
        assert np.abs(np.diff(force)).max() < 2e3  # of 3e5 N
        assert (force <= 0.0).all()
        assert (np.abs(force).max() > 3e5) == (v > 0)


def test_stroke_between_points_makes_a_pair_without_net_wrench():
    one = sw.Body("one", mass=2.0, inertia=(1, 1, 1), position=(0.3, 0.2, 0.1))
    two = sw.Body("two", mass=1.0, inertia=(1, 1, 1), position=(2.0, 1.0, -1.0))
    oil = {"piston_area": 0.1, "precharge": 1e6, "gas_volume": 1.0, "motor_gain": 1e-8}
    system = sw.System(
        "adrift",
        [one, two],
        [sw.Free("f1", sw.WORLD, one, velocity={"Yaw": 0.3}), sw.Free("f2", sw.WORLD, two)],
        ptos=[
            sw.HydraulicPto("oil", one.at(0.1, 0.2, 0), two.at(0, 0.4, 0.2), **oil),
            sw.CoulombPto("rub", two.at(0.5, 0, 0), one.at(0, 0, 0.3), friction=20.0),
            sw.EndStops("end", one, two, upper=-0.1, stop_stiffness=100.0),
        ],
        water=DRY,
    )
    model = sw.compile(system)
    group = stroke_forces(model)
    how = formulation("path_matrix")
    found = jax.jit(lambda state: how.kinematics(model, jnp.zeros(()), state).motion)
    motion = jax.tree.map(np.asarray, found(how.start(model)))
    loads = group.loads(model, Instant(np.zeros(()), motion, internal_at_rest(model)))
    force, moment = loads.wrench[:, :3], loads.wrench[:, 3:]
    about_origin = moment + np.cross(motion.pose.p, force)
    assert np.abs(force).max() > 10.0
    assert np.abs(force.sum(0)).max() < 1e-9 * np.abs(force).max()
    assert np.abs(about_origin.sum(0)).max() < 1e-9 * np.abs(force).max()
    # power of the pair is force times rate
    power = float((loads.wrench * motion.v).sum())
    with_energy_terms = float((loads.channels["pto_force"] * loads.channels["pto_rate"]).sum())
    assert power == pytest.approx(with_energy_terms, rel=1e-9)
    # studies that know no internal states see the machine as at its start
    again = group.loads(model, Instant(np.zeros(()), motion, AT_REST))
    assert np.allclose(again.wrench, loads.wrench)


@pytest.mark.parametrize("between", [True, False], ids=["points", "joint"])
def test_a_linear_pto_is_the_same_machine_with_limits_and_stops_out_of_reach(between):
    one = sw.Body("one", mass=3.0, inertia=(0.2, 0.3, 0.4), position=(0.4, -0.3, 0.2))
    place = {"a": sw.WORLD.at(-0.5, 0.2, 0.1), "b": one.at(0, 0, 0.1)}
    place = place if between else {"joint": "rail"}
    plain = sw.LinearPto("pto", **place, damping=2.0, stiffness=30.0, rest=0.1)
    far = {"lower": -9.0, "upper": 9.0, "stop_stiffness": 1e4, "force_limit": 1e6}
    runs, known = [], []
    for pto in (plain, plain.replace(**far), plain.replace(power_limit=1e9)):
        rail = sw.Slider("rail", sw.WORLD, one, axis=(0.6, 0.0, 0.8), velocity=1.0)
        model = sw.compile(sw.System("s", bodies=[one], joints=[rail], ptos=[pto], water=DRY))
        runs.append(sw.simulate(model, duration=2.0, rtol=1e-9, atol=1e-12, progress=False))
        known.append({x: float(model.value(f"pto.{x}")) for x in ("damping", "stiffness", "rest")})
    assert known[0] == known[1] == known[2] == {"damping": 2.0, "stiffness": 30.0, "rest": 0.1}
    assert not {"spring", "joint_element"} & {str(dim) for dim in runs[0].dims}
    for run in runs[1:]:
        assert set(runs[0].data_vars) <= set(run.data_vars)
        for name in ("position", "pto_force", "pto_stroke", "absorbed_power", "pto_stored_energy"):
            assert np.abs(run[name] - runs[0][name]).max() < 1e-7
    # a limit that is not there cannot be set: it would do nothing
    with pytest.raises(sw.SwelltreeError, match="'pto' has no number 'force_limit'"):
        sw.compile(
            sw.System("s", bodies=[one], joints=[rail], ptos=[plain], water=DRY)
        ).with_values({"pto.force_limit": 1.0})


def test_numbers_of_a_machine_by_name():
    model = sw.compile(bank({k: machines()[k] for k in ("stopped", "limited", "hydraulic")}))
    changed = model.with_values({"hydraulic.motor_gain": 2e-9, "stopped.upper": 3.0})
    assert changed.value("hydraulic.motor_gain") == 2e-9
    assert changed.value("stopped.upper") == 3.0
    assert model.value("stopped.upper") == 0.4
    with pytest.raises(sw.SwelltreeError, match="'limited': an end stop is given without"):
        model.with_values({"limited.upper": 3.0})
    assert model.value("hydraulic.motor_gain") == 1e-9
    assert model.value("limited.force_limit") == 8e4
    with pytest.raises(sw.SwelltreeError, match=r"'limited' has no number 'dampng'\. Did you mean"):
        model.value("limited.dampng")


def test_derivative_of_delivered_energy_is_the_difference():
    model = sw.compile(bank({"hydraulic": machines()["hydraulic"]}))

    def delivered(gain):
        changed = model.with_values({"hydraulic.motor_gain": gain})
        out = sw.simulate(changed, duration=1.0, output_step=0.1, solver="rk4", step=0.02)
        return out["delivered_power"][:, 0].sum()

    step = 1e-12
    both = jax.jit(lambda gain: jax.jvp(delivered, (gain,), (1.0,)))
    difference = (both(1e-9 + step)[0] - both(1e-9 - step)[0]) / (2 * step)
    assert float(both(1e-9)[1]) == pytest.approx(float(difference), rel=1e-5)


LIMITED = {"joint": "rail", "damping": 1e4, "force_limit": 1e5, "stiffness": 4e4}


def driven_buoy(pto):
    body = sw.Body("buoy", 1e4, (1.0, 1.0, 1.0))
    rail = sw.Slider("rail", sw.WORLD, body, axis="x")
    push = sw.AppliedForce("push", body, force=(sw.Harmonic(2e5, 1.3), 0.0, 0.0))
    hold = sw.JointForce("hold", "rail", stiffness=2e4, damping=2e4)
    return sw.compile(sw.System("s", [body], [rail], forces=[push, hold], ptos=[pto], water=DRY))


def test_force_limit_holds_for_spring_and_damper_together():
    """With the spring exempt the force was 1.42 times the limit."""
    model = driven_buoy(sw.LinearPto("pto", **LIMITED))
    run = sw.simulate(model, duration=30.0, output_step=0.02, progress=False)
    free = driven_buoy(sw.LinearPto("pto", **LIMITED | {"force_limit": 1e9}))
    large = sw.simulate(free, duration=30.0, output_step=0.02, progress=False)
    assert float(abs(large["pto_force"]).max()) > 1.2e5
    assert float(abs(run["pto_force"]).max()) == pytest.approx(1e5, rel=1e-9)
    assert float(run["pto_limited"].max()) == 1.0
    # the energy of the spring is accounted for while the actuator works against it
    stored = float(abs(run["pto_stored_energy"]).max())
    assert float(abs(run["energy_residual"]).max()) < 1e-4 * stored


@pytest.mark.parametrize("study", ["batch", "steady_state"])
def test_force_limit_holds_for_the_sum_in_other_studies(study):
    model = driven_buoy(sw.LinearPto("pto", **LIMITED))
    if study == "batch":
        run = sw.simulate_batch(
            model,
            parameters={"pto.damping": [1e4, 2e4]},
            duration=20.0,
            output_step=0.02,
            channels=["pto_force"],
            reduce=["series"],
        ).rename(pto_force_series="pto_force")
    else:
        run = sw.steady_state(model, period=2.0 * np.pi / 1.3)
    assert float(abs(run["pto_force"]).max()) == pytest.approx(1e5, rel=1e-3)


def test_stops_act_outside_the_force_limit():
    stops = {"lower": -1.0, "upper": 1.0, "stop_stiffness": 1e6}
    model = driven_buoy(sw.LinearPto("pto", **LIMITED, **stops))
    run = sw.simulate(model, duration=15.0, output_step=0.02, progress=False)
    within = run["pto_force"] - run["pto_stop_force"]
    assert float(abs(run["pto_force"]).max()) > 1.1e5
    assert float(abs(within).max()) <= 1e5 * (1 + 1e-9)


@pytest.mark.parametrize("spring", [-3e4, 0.0, 3e4, 3e5])
def test_a_cylinder_and_a_clutch_only_reduce_their_own_force(spring):
    """What the spring leaves of the limit, never a force the other way."""
    inputs = LawInputs(
        np.zeros(()),
        *np.zeros((2, 1)),
        np.zeros((0, 1)),
        np.zeros(1),
        np.full(1, 1e5),
        spring=np.array([spring]),
    )
    for requested in (-3e5, -2e4, 2e4, 3e5):
        own, complete = (f(np.array([requested]))[0] for f in (inputs.reduced, inputs.limited))
        assert abs(complete + spring) <= 1e5 * (1 + 1e-12)
        assert own * requested >= 0.0
        assert abs(own) <= abs(requested)
        assert abs(own + spring) <= max(1e5, abs(spring)) * (1 + 1e-12)
