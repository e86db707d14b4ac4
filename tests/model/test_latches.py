"""Latches are constraints that come and go at exact times."""

import numpy as np
import pytest

import swelltree as sw
from laws_of_ptos import let_go, one_of_two, open_at_once
from validation.multibody.bearings import flap
from validation.multibody.conservation import momenta
from validation.pto.pto_systems import DRY, latched_oscillation, oscillator
from validation.pto.ptos import formulations


@pytest.fixture(scope="module")
def run():
    """Held for 0.7 s at each end of the stroke."""
    model = sw.compile(oscillator(sw.LatchingPto("latch", joint="rail", release_after=0.7)))
    return sw.simulate(model, duration=12.0, output_step=0.1, rtol=1e-10, atol=1e-12)


def test_events_come_at_the_times_of_the_closed_form(run):
    """An error in one time would move all that follows."""
    exact = latched_oscillation(run["time"].values, 0.7)
    assert np.abs(run["joint_coordinate"].values[:, 0] - exact).max() < 1e-8
    assert run.attrs["events"] == 10


@pytest.mark.slow
@pytest.mark.parametrize("other", ["partial_velocity", "composite_body", "partition", "lagrange"])
def test_formulations_agree_with_a_latch(other):
    for check in formulations(("path_matrix", other)):
        assert check.ok, check


def test_latch_carries_the_spring_and_does_no_work(run):
    """The spring pulls with 8 N per metre, the latch holds against it."""
    held = run["pto_mode"].values[:, 0] > 0.5
    force, stroke = run["pto_latch_force"].values[:, 0], run["pto_stroke"].values[:, 0]
    assert held.sum() > 20
    assert np.allclose(force[held], 8.0 * stroke[held], atol=1e-6)
    assert (force[~held] == 0.0).all()
    assert np.abs(run["acceleration"].values[held]).max() < 1e-6
    # the latch is a force between base and follower, so the rail itself carries nothing
    assert np.abs(run["reaction_joint_axes"].values).max() < 1e-6
    assert np.abs(run["wrench"].values[held]).max() < 1e-6
    assert np.abs(run["energy_residual"].values).max() < 1e-7


@pytest.mark.slow
def test_latch_that_is_too_weak_does_not_hold_and_a_strong_one_gives_way():
    """A push that grows from t = 2 s on opens the latch when it passes the limit."""
    push = sw.AppliedForce("push", "mass", force=("laws_of_ptos:push", 0, 0))
    free = oscillator(sw.LatchingPto("latch", joint="rail", release_force=9.0))
    model = sw.compile(free.replace(forces=[*free.forces, push]))
    how = {"duration": 5.0, "output_step": 0.05, "rtol": 1e-9, "atol": 1e-11}
    run = sw.simulate(model, **how)
    mode, force = run["pto_mode"].values[:, 0], run["pto_latch_force"].values[:, 0]
    # 8 N of the spring at standstill and one newton more per second: 9 N at t = 3 s
    held = run["time"].values[mode > 0.5]
    assert held[0] == pytest.approx(np.pi / 2, abs=0.05)
    assert held[-1] == pytest.approx(3.0, abs=0.051)
    assert 8.9 < np.abs(force).max() < 9.0 + 1e-6

    weak = sw.simulate(model.with_values({"latch.release_force": 7.9}), **how)
    t = weak["time"].values[weak["time"].values < 2.0]
    assert np.allclose(weak["joint_coordinate"].values[: len(t), 0], np.cos(2 * t), atol=1e-6)


@pytest.mark.parametrize("law", [pytest.param(let_go, marks=pytest.mark.slow), one_of_two])
def test_controller_opens_the_latch(law):
    """The word comes at t = 3 s: held from pi/2 to then."""
    hold = sw.Controller("hold", ["latch.stroke"], ["latch"], law, plain=law is one_of_two)
    system = oscillator(sw.LatchingPto("latch", joint="rail"), controllers=[hold])
    run = sw.simulate(sw.compile(system), duration=4.0, output_step=0.1, rtol=1e-9, atol=1e-11)
    t, x = run["time"].values, run["joint_coordinate"].values[:, 0]
    wait = 3.0 - np.pi / 2
    exact = np.where(t < np.pi / 2, np.cos(2 * t), np.where(t < 3, -1, np.cos(2 * (t - wait))))
    assert np.abs(x - exact).max() < 1e-7
    assert run.attrs["events"] == 2


@pytest.mark.slow
def test_word_given_before_the_lock_keeps_it_open():
    hold = sw.Controller("hold", (), ["latch"], open_at_once)
    system = oscillator(sw.LatchingPto("latch", joint="rail"), controllers=[hold])
    run = sw.simulate(sw.compile(system), duration=4.0, output_step=0.1, rtol=1e-9, atol=1e-11)
    exact = np.cos(2 * run["time"].values)
    assert np.abs(run["joint_coordinate"].values[:, 0] - exact).max() < 1e-7


@pytest.mark.slow
def test_two_latches_adrift_keep_the_momentum():
    """Three free bodies, two latches between their points: nothing acts on the world."""
    place = [(0.0, 0.0, 0.0), (2.0, 0.3, 0.0), (4.0, 0.0, 0.4)]
    bodies = [
        sw.Body(f"b{i}", mass=1.0 + i, inertia=(0.4, 0.5, 0.6), position=p)
        for i, p in enumerate(place)
    ]
    a, b, c = bodies
    speeds = [{"Surge": 0.5, "Yaw": 0.2}, {"Surge": -0.3, "Roll": 0.3}, {"Sway": 0.2}]
    joints = [
        sw.Free(f"f{i}", sw.WORLD, body, velocity=v)
        for i, (body, v) in enumerate(zip(bodies, speeds, strict=True))
    ]
    ptos = [
        sw.LatchingPto(
            "one", a.at(0.2, 0.1, 0), b.at(-0.2, 0, 0.1), stiffness=3.0, release_after=1
        ),
        sw.LatchingPto("two", b.at(0.3, 0, 0), c.at(0, -0.1, 0), stiffness=2.0, release_after=1.5),
    ]
    system = sw.System("adrift", bodies, joints, ptos=ptos, water=DRY)
    run = sw.simulate(sw.compile(system), duration=6.0, output_step=0.1, rtol=1e-9, atol=1e-11)
    assert (run["pto_mode"].values.sum(1) > 1.5).any()  # both at once
    for part in momenta(system, run):
        total = part.sum(1)
        assert np.abs(total - total[0]).max() < 1e-8
    assert np.abs(run["energy_residual"].values).max() < 1e-7


def latched_flap(joints, each):
    """The flap with latching machines on some of its bearings, so long in the latch."""
    ptos = [
        sw.LatchingPto(f"pto {name}", joint=name, damping=each, release_after=0.3)
        for name in joints
    ]
    system = flap("hinge").replace(ptos=ptos)
    if "second" not in joints:
        system = system.replace(joints=system.joints[:1])
    model = sw.compile(system)
    return sw.simulate(model, duration=3.0, output_step=0.1, rtol=1e-8, atol=1e-10, progress=False)


@pytest.mark.slow
def test_latches_on_both_bearings_of_a_flap_hold_as_one():
    one, both = latched_flap(["first"], 12.0), latched_flap(["first", "second"], 6.0)
    assert one.attrs["result"] == both.attrs["result"] == "success"
    assert one.attrs["events"] >= 2
    # it stands still in the latch, and moves on
    speed = np.abs(one.joint_rate.values[:, 0])
    assert (speed < 1e-6).sum() > 2
    # event times are found to the tolerance of the steps
    assert both.position.values == pytest.approx(one.position.values, abs=1e-5)
    force = both.pto_latch_force.values
    held = np.abs(force).min(1) > 1.0
    assert held.any()
    assert force[held, 0] == pytest.approx(force[held, 1], rel=1e-4)


def test_latch_does_not_creep():
    """8 N held for 1000 s; the share of redundant latches let it creep by 4e-11 m/s."""
    model = sw.compile(oscillator(sw.LatchingPto("latch", joint="rail", release_after=2000.0)))
    run = sw.simulate(model, duration=1000.0, output_step=50.0)
    x = run["joint_coordinate"].values[1:, 0]
    assert np.ptp(x) < 1e-12


def test_energy_that_moves_between_samples_in_latches_is_not_lost():
    """All three samples stand still at +-1 m, so none of them shows energy that moved."""
    model = sw.compile(oscillator(sw.LatchingPto("latch", joint="rail", release_after=0.7)))
    run = sw.simulate(model, duration=4.4, output_step=2.2)
    assert np.abs(run["velocity"].values).max() < 1e-6
    assert run.attrs["result"] == "success"


def test_latch_at_a_dead_centre_is_named():
    """The slider of a crank stands still while the crank turns: no force holds it there."""
    crank = sw.Body("crank", 2.0, (0.01, 0.2, 0.2), position=(0.5, 0, 0))
    rod = sw.Body("rod", 3.0, (0.01, 1.0, 1.0), position=(2.0, 0, 0.5))
    slide = sw.Body("slide", 5.0, (0.1, 0.1, 0.1), position=(3.0, 0, 1.0))
    joints = [
        sw.Hinge("shaft", sw.WORLD, crank.at(-0.5, 0, 0), velocity=3.0),
        sw.Hinge("pin", crank.at(0.5, 0, 0), rod.at(-1.0, 0, -0.5)),
        sw.Hinge("wrist", rod.at(1.0, 0, 0.5), slide),
        sw.Slider("guide", sw.WORLD.at(3.0, 0, 1.0), slide, axis="x"),
    ]
    latch = sw.LatchingPto("latch", joint="guide", release_after=0.3)
    model = sw.compile(sw.System("engine", [crank, rod, slide], joints, ptos=[latch]))
    with pytest.warns(sw.SwelltreeWarning, match="Pto 'latch' locked at a dead centre of the loop"):
        run = sw.simulate(model, duration=3.0, output_step=0.1)
    assert run.attrs["result"] == "loop_singular"


@pytest.mark.slow
def test_latch_at_a_dead_centre_does_not_stop_the_loop():
    """What was left of the rate there, over a mobility of 1e-20 / kg, took 30 J from the crank."""
    R = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    R = R * np.sign(np.linalg.det(R))
    tip = np.array([np.cos(0.7), 0.0, np.sin(0.7)])
    far = np.array([tip[0] + np.sqrt(4.0 - tip[2] ** 2), 0.0, 0.0])
    middle, across = 0.5 * (tip + far), 0.5 * (far - tip)
    crank = sw.Body("crank", 5.0, (0.5,) * 3, position=tuple(R @ tip / 2))
    rod = sw.Body("rod", 2.0, (0.4,) * 3, position=tuple(R @ middle))
    slide = sw.Body("slide", 3.0, (0.1,) * 3, position=tuple(R @ far))
    axis = tuple(R[:, 1])
    joints = [
        sw.Hinge("shaft", sw.WORLD, crank.at(*(-R @ tip / 2)), axis, velocity=3.0),
        sw.Hinge("pin", crank.at(*(R @ tip / 2)), rod.at(*(-R @ across)), axis),
        sw.Hinge("wrist", rod.at(*(R @ across)), slide, axis),
        sw.Slider("guide", sw.WORLD.at(*(R @ far)), slide, axis=tuple(R[:, 0])),
    ]
    latch = sw.LatchingPto("latch", joint="guide", release_after=0.5, damping=1.0)
    still = sw.Water(g=0.0)
    model = sw.compile(sw.System("engine", [crank, rod, slide], joints, ptos=[latch], water=still))
    with pytest.warns(sw.SwelltreeWarning, match="Pto 'latch' locked at a dead centre of the loop"):
        run = sw.simulate(model, duration=1.0, output_step=0.05, formulation="partition")
    assert run.attrs["result"] == "loop_singular"
