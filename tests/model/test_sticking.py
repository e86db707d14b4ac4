"""True Coulomb friction: sticks exactly below its limit, slides at its limit above."""

import numpy as np
import pytest

import swelltree as sw
from validation.pto.pto_systems import DRY, oscillator

HOW = {"rtol": 1e-10, "atol": 1e-12}
FRICTION, STIFFNESS, MASS = 0.7, 8.0, 2.0


@pytest.fixture(scope="module")
def decay():
    """Free from 1 m: 2 kg on 8 N/m, half a period of pi/2 s."""
    brake = sw.CoulombPto("brake", joint="rail", friction=FRICTION, stick=True, efficiency=0.0)
    model = sw.compile(oscillator(brake))
    return sw.simulate(model, duration=12.0, output_step=0.1, **HOW)


def test_amplitude_falls_by_four_friction_over_stiffness_in_each_period(decay):
    """Each half period is a cosine about +-F/k; the sixth ends within the band, at 0.05 m."""
    t, x = decay["time"].values, decay["joint_coordinate"].values[:, 0]
    shift, half = FRICTION / STIFFNESS, np.pi / 2
    n = np.minimum((t / half).astype(int), 6)
    top = 1.0 - 2.0 * shift * n  # size of the turning point before
    phase = (-1.0) ** n * ((top - shift) * np.cos(2.0 * (t - n * half)) + shift)
    exact = np.where(n < 6, phase, 1.0 - 12.0 * shift)
    assert np.abs(x - exact).max() < 1e-8
    assert decay.attrs["events"] == 6


def test_oscillator_stays_where_it_stops(decay):
    t, x = decay["time"].values, decay["joint_coordinate"].values[:, 0]
    stopped = t > 9.5
    stop = 1.0 - 12.0 * FRICTION / STIFFNESS
    assert np.abs(x[stopped] - stop).max() < 1e-9
    # the rate left by the search for the event decays within a second
    assert np.ptp(x[t > 11.0]) < 1e-13
    # friction carries the spring, no more than that
    assert np.allclose(decay["pto_force"].values[stopped, 0], STIFFNESS * stop, atol=1e-8)
    assert (decay["pto_mode"].values[stopped, 0] == 1.0).all()


def test_heat_is_the_energy_that_the_spring_lost(decay):
    assert np.abs(decay["energy_residual"].values).max() < 1e-8
    heat = -decay["work"].sel(element="brake").values[-1]
    stop = 1.0 - 12.0 * FRICTION / STIFFNESS
    assert heat == pytest.approx(0.5 * STIFFNESS * (1.0 - stop**2), abs=1e-8)


def block(*forces, velocity=0.0, **more) -> sw.System:
    """A block on an incline of 30 degrees across the heading of a frame."""
    axis = np.array([0.5, -0.7, 0.0])
    axis = np.cos(np.pi / 6) * axis / np.linalg.norm(axis) + np.array([0.0, 0.0, -0.5])
    body = sw.Body("block", MASS, (0.3, 0.4, 0.5), position=(1.0, 2.0, 0.5))
    rail = sw.Slider("rail", sw.WORLD.at(1.0, 2.0, 0.5), body, axis=tuple(axis), velocity=velocity)
    return sw.System("incline", [body], [rail], forces=list(forces), **more)


WEIGHT = MASS * 9.81 * 0.5  # along the incline


def test_block_on_an_incline_holds_then_breaks_away():
    """Static 12 N, sliding 10 N; the push grows by one newton per second from 9.81 N."""
    push = sw.JointForce("push", "rail", force="friction_laws:growing")
    hold = sw.JointForce("hold", "rail", friction=10.0, static_friction=12.0, stick=True)
    model = sw.compile(block(push, hold))
    run = sw.simulate(model, duration=4.0, output_step=0.1, **HOW)
    t, x = run["time"].values, run["joint_coordinate"].values[:, 0]
    gone = np.maximum(t - (12.0 - WEIGHT), 0.0)
    exact = (gone**3 / 6.0 + (12.0 - 10.0) * gone**2 / 2.0) / MASS
    assert np.abs(x - exact).max() < 1e-8
    stuck = gone == 0.0
    force = run["joint_force"].sel(joint_element="hold").values
    assert np.allclose(force[stuck], -WEIGHT - t[stuck], atol=1e-8)
    assert np.allclose(force[~stuck], -10.0, atol=1e-8)
    # held from the first sample on
    assert np.abs(run["acceleration"].values[stuck]).max() < 1e-10
    assert np.abs(run["energy_residual"].values).max() < 1e-7


def test_block_thrown_up_the_incline_slides_back_where_friction_is_too_weak():
    """Up against weight and friction, down against friction alone."""
    weak = sw.JointForce("weak", "rail", friction=4.0, stick=True)
    run = sw.simulate(sw.compile(block(weak, velocity=-3.0)), duration=2.0, output_step=0.1, **HOW)
    t, x = run["time"].values, run["joint_coordinate"].values[:, 0]
    up, down = (WEIGHT + 4.0) / MASS, (WEIGHT - 4.0) / MASS
    turn = 3.0 / up
    late = np.maximum(t - turn, 0.0)
    early = np.minimum(t, turn)
    exact = -3.0 * early + 0.5 * up * early**2 + 0.5 * down * late**2
    assert np.abs(x - exact).max() < 1e-8


@pytest.mark.parametrize("limits", [(9.0, 2.0), (2.0, 9.0), (6.0, 5.0)])
def test_two_brakes_hold_together_what_neither_holds_alone(limits):
    """9.81 N on two brakes: the weaker gives its limit, the other the rest."""
    brakes = [
        sw.CoulombPto(name, joint="rail", friction=limit, stick=True)
        for name, limit in zip("ab", limits, strict=True)
    ]
    model = sw.compile(block(ptos=brakes))
    run = sw.simulate(model, duration=1.0, output_step=0.25, **HOW)
    assert np.abs(run["joint_coordinate"].values).max() < 1e-12
    force = run["pto_force"].values
    assert np.allclose(force.sum(1), -WEIGHT, atol=1e-9)
    assert (np.abs(force) <= np.array(limits) + 1e-9).all()


def test_brake_beside_a_latch():
    """While the latch holds, the brake may; after it opens the brake alone is too weak."""
    brake = sw.CoulombPto("brake", joint="rail", friction=2.0, stick=True)
    latch = sw.LatchingPto("latch", joint="rail", release_after=0.5, rearm=10.0)
    run = sw.simulate(
        sw.compile(block(ptos=[brake, latch], velocity=-1.0)),
        duration=1.5,
        output_step=0.05,
        **HOW,
    )
    up, down = (WEIGHT + 2.0) / MASS, (WEIGHT - 2.0) / MASS
    t, x = run["time"].values, run["joint_coordinate"].values[:, 0]
    turn = 1.0 / up
    early, late = np.minimum(t, turn), np.maximum(t - turn - 0.5, 0.0)
    exact = -early + 0.5 * up * early**2 + 0.5 * down * late**2
    assert np.abs(x - exact).max() < 1e-8
    assert np.abs(run["energy_residual"].values).max() < 1e-7


@pytest.mark.slow
def test_stuck_hinge_of_a_moving_arm_is_a_weld():
    """A double pendulum in space whose second hinge holds moves as one body."""

    def arm(second) -> sw.System:
        a = sw.Body("a", 3.0, (0.3, 0.2, 0.4), position=(0.0, 0.0, -0.5))
        b = sw.Body("b", 2.0, (0.2, 0.3, 0.1), position=(0.3, 0.1, -1.4))
        first = sw.Ball("first", sw.WORLD, a.at(0, 0, 0.5), velocity={"Roll": 2.0, "Yaw": 1.0})
        pin = (a.at(0, 0, -0.5), b.at(-0.3, -0.1, 0.4))
        if second == "weld":
            return sw.System("arm", [a, b], [first, sw.Weld("pin", *pin)])
        brake = sw.JointForce("brake", "pin", friction=80.0, stick=True)
        hinge = sw.Hinge("pin", *pin, axis=(0.3, 1.0, -0.4))
        return sw.System("arm", [a, b], [first, hinge], forces=[brake])

    how = {"duration": 2.0, "output_step": 0.1, "rtol": 1e-10, "atol": 1e-12}
    full = sw.simulate(sw.compile(arm("weld")), **how)
    model = sw.compile(arm("brake"))
    for formulation in ("path_matrix", "lagrange", "partition"):
        run = sw.simulate(model, formulation=formulation, **how)
        assert np.abs(run["position"].values - full["position"].values).max() < 1e-7
        assert np.abs(run["energy_residual"].values).max() < 1e-7


@pytest.mark.slow
def test_brakes_in_a_batch_are_those_of_single_runs():
    hold = sw.JointForce("hold", "rail", friction=10.0, stick=True)
    push = sw.JointForce("push", "rail", force="friction_laws:growing")
    model = sw.compile(block(push, hold))
    limits = [9.9, 10.5, 12.0]
    out = sw.simulate_batch(
        model,
        parameters={"hold.static_friction": limits, "hold.friction": limits},
        duration=2.0,
        output_step=0.5,
        step=0.01,
        channels=["joint_coordinate"],
    )
    gone = np.maximum(2.0 - (np.array(limits) - WEIGHT), 0.0)
    most = out["joint_coordinate"].sel(statistic="max").values.reshape(-1)
    assert np.abs(most - gone**3 / 6.0 / MASS).max() < 1e-7


@pytest.mark.parametrize("table", ["", "forces."])
def test_friction_and_static_friction_are_checked_together(table):
    hold = sw.JointForce("hold", "rail", friction=10.0, static_friction=11.0, stick=True)
    model = sw.compile(block(hold))
    both = {f"{table}hold.static_friction": 9.5, f"{table}hold.friction": 9.0}
    assert float(model.with_values(both).value("hold.static_friction")) == 9.5
    with pytest.raises(
        sw.SwelltreeError, match=r"static_friction 9\.5 is less than friction 10\.0"
    ):
        model.with_values({f"{table}hold.static_friction": 9.5})
    lower = model.with_values({f"{table}hold.friction": 9.0})
    lower = lower.with_values({f"{table}hold.static_friction": 9.5})
    assert float(lower.value("hold.static_friction")) == 9.5


@pytest.mark.parametrize("limit", [WEIGHT - 0.5, WEIGHT + 0.5])
def test_static_friction_that_is_not_given_follows_friction(limit):
    hold = sw.JointForce("hold", "rail", friction=WEIGHT, stick=True)
    model = sw.compile(block(hold)).with_values({"hold.friction": limit})
    run = sw.simulate(model, duration=1.0, output_step=0.5, **HOW)
    fallen = 0.5 * max(WEIGHT - limit, 0.0) / MASS
    assert np.abs(run["joint_coordinate"].values[-1]) == pytest.approx(fallen, abs=1e-7)


def test_case_file_says_the_same():
    hold = sw.JointForce("hold", "rail", friction=10.0, static_friction=12.0, stick=True)
    brake = sw.CoulombPto("brake", joint="rail", friction=2.0, stick=True)
    system = block(hold, ptos=[brake], water=DRY)
    assert sw.loads(system.to_toml()).system == system


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"friction": 0.0, "stick": True}, "stick is given without friction"),
        ({"friction": 2.0, "static_friction": 3.0}, "without stick=true"),
        ({"friction": 2.0, "static_friction": 1.0, "stick": True}, "static_friction 1.0 is less"),
    ],
)
def test_bad_friction_is_rejected(keys, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.JointForce("f", "rail", **keys)
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.CoulombPto("f", joint="rail", **keys)


@pytest.mark.parametrize("how", ["path_matrix", "lagrange"])
def test_two_step_scheme_solves_for_what_sticks(how):
    """The force of a brake is an unknown of each step; it breaks away at the end of one."""
    push = sw.JointForce("push", "rail", force="friction_laws:growing")
    hold = sw.JointForce("hold", "rail", friction=10.0, static_friction=12.0, stick=True)
    model, errors = sw.compile(block(push, hold)), []
    for step in (0.02, 0.01):
        options = {"duration": 4.0, "output_step": 0.1, "formulation": how}
        run = sw.simulate(model, solver="two_step", step=step, **options)
        t, x = run["time"].values, run["joint_coordinate"].values[:, 0]
        gone = np.maximum(t - (12.0 - WEIGHT), 0.0)
        exact = (gone**3 / 6.0 + (12.0 - 10.0) * gone**2 / 2.0) / MASS
        errors.append(np.abs(x - exact).max())
        stuck = gone == 0.0
        # it gives by a millionth of the way of a free body in a step
        assert np.abs(x[stuck]).max() < 1e-5 * step**2 * 12.0 / MASS
        force = run["joint_force"].sel(joint_element="hold").values
        assert np.allclose(force[stuck], -WEIGHT - t[stuck], atol=1e-4)
        assert np.allclose(force[gone > 2 * step], -10.0, atol=1e-9)
        # energies of samples are of second order in the step: 2 kg at 1 to 3 m/s^2
        assert np.abs(run["energy_residual"].values).max() < MASS * 3.0**2 * step**2
    # a step late at 2 N over 2 kg: 0.02 s times 1 m/s^2 times 1.8 s
    assert errors[0] < 0.04
    assert errors[1] < 0.02


@pytest.mark.parametrize("limits", [(9.0, 2.0), (6.0, 5.0)])
def test_two_brakes_share_a_load_in_the_two_step_scheme(limits):
    brakes = [
        sw.CoulombPto(name, joint="rail", friction=limit, stick=True)
        for name, limit in zip("ab", limits, strict=True)
    ]
    model = sw.compile(block(ptos=brakes))
    run = sw.simulate(model, duration=1.0, output_step=0.25, solver="two_step", step=0.05)
    assert np.abs(run["joint_coordinate"].values).max() < 1e-7
    force = run["pto_force"].values[1:]
    assert np.allclose(force.sum(1), -WEIGHT, atol=1e-9)
    assert (np.abs(force) <= np.array(limits) + 1e-9).all()
    assert (run["pto_mode"].values[1:] == 1.0).all()


def test_brakes_hold_and_slide_in_equilibrium():
    """Below its limit nothing moves; above it slides until a spring carries what it cannot."""
    spring = sw.JointForce("spring", "rail", stiffness=50.0)
    for limit, hangs in ((10.0, 0.0), (4.0, (WEIGHT - 4.0) / 50.0)):
        hold = sw.JointForce("hold", "rail", friction=limit, stick=True)
        model = sw.compile(block(spring, hold))
        rest = sw.equilibrium(model)
        assert float(rest.joint_coordinate[0]) == pytest.approx(hangs, abs=1e-6)
        force = float(rest.joint_force.sel(joint_element="hold"))
        assert force == pytest.approx(-min(WEIGHT, limit), abs=1e-4)


def test_what_brakes_cannot_hold_in_equilibrium_hangs_on_a_slack_line():
    """20 m of line over 19 m: tension and friction of two brakes carry the load along the rail."""
    rope = sw.LineType("rope", 0.01, 1e-4, EA=1e5)
    for limit in (0.9 * WEIGHT, 1.01 * WEIGHT):
        brakes = [
            sw.JointForce(f"brake{k}", "rail", friction=share * limit, stick=True)
            for k, share in enumerate((0.3, 0.7))
        ]
        system = block(*brakes, water=sw.Water(rho=1e-6))
        body, axis = system.bodies[0], np.asarray(system.joints[0].axis)
        upper = np.asarray(body.position) - 19.0 * axis
        line = sw.Line("l", tuple(upper), body.at(), 20.0, rope, segments=4)
        model = sw.compile(system.replace(lines=[line]))
        rest = sw.equilibrium(model)
        slides = limit < WEIGHT
        held = min(limit, WEIGHT)
        assert float(rest.joint_force.sum()) == pytest.approx(-held, rel=2e-3)
        moved = float(rest.joint_coordinate[0])
        if slides:
            assert moved == pytest.approx(1.0, abs=0.03)  # it sags
            assert float(rest.fairlead_tension[0]) == pytest.approx(WEIGHT - limit, rel=0.01)
        else:
            assert abs(moved) < 1e-6
        run = sw.simulate(model, duration=0.5, output_step=0.1, step=0.05, progress=False)
        assert np.ptp(run.joint_coordinate.values) < 1e-6


def test_controller_cannot_measure_what_sticks():
    """It was given zero where the brake held 0.9 N."""
    brake = sw.CoulombPto("brake", joint="rail", friction=5.0, stick=True)
    system = oscillator(brake)
    law = sw.Controller("law", ["brake.force"], ["brake"], law=lambda t, y: -y)
    with pytest.raises(
        sw.SwelltreeError, match=r"controller 'law': measure 'brake\.force'.*sticks"
    ):
        sw.compile(system.replace(controllers=[law]))


def test_brake_that_holds_more_than_its_limit_is_rejected():
    """It slid with 3 N and held with 5 N."""
    keys = {"joint": "rail", "friction": 5.0, "stick": True}
    with pytest.raises(sw.SwelltreeError, match="pto 'b': force_limit 3 is less than the 5 that"):
        sw.CoulombPto("b", **keys, force_limit=3.0)
    with pytest.raises(sw.SwelltreeError, match="is less than the 6 that it holds"):
        sw.CoulombPto("b", **keys, static_friction=6.0, force_limit=5.5)
