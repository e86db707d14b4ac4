"""Control-oriented models: the export against closed forms, rao and runs."""

from dataclasses import replace

import control
import numpy as np
import pytest

import swelltree as sw
from made_hydro import A_INF, MASS, STIFFNESS, excitation, heaving_float, memory
from swelltree.forces.applied import AppliedForces, applied_forces
from swelltree.model.signals import compile_signal
from swelltree.studies.linear.signals import left_out

DAMPING, SPRING = 4.0e4, 5.0e4
WATER = sw.Water(rho=1000.0)


@pytest.fixture(scope="module")
def model():
    """A float on a rail with a PTO, its memory a rational function."""
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    pto = sw.LinearPto("pto", joint="rail", damping=DAMPING, stiffness=SPRING)
    rail = sw.Slider("rail", sw.WORLD, body)
    push = sw.AppliedForce("push", body.at(2.0, 0, 0), force=(0.0, 0.0, 0.0))
    system = sw.System("heaving", [body], [rail], ptos=[pto], forces=[push], water=WATER)
    return sw.compile(system, heaving_float(), fit={"error": 1e-4})


@pytest.fixture(scope="module")
def system(model):
    outputs = ["float.Heave", "rail.Heave.rate", "float.Heave.acceleration", "pto.force"]
    return sw.state_space(model, ["pto", "float.Heave", "push.Heave"], outputs)


def compliance(omega):
    """Heave per newton, time factor exp(+iwt)."""
    return 1 / (
        -(omega**2) * (MASS + A_INF) + 1j * omega * (memory(omega) + DAMPING) + STIFFNESS + SPRING
    )


OMEGA = np.linspace(0.2, 4.0, 40)


def test_signals_and_states_have_names(system, model):
    assert system.input_labels == ["pto", "float__Heave", "push__Heave"]
    assert system.output_labels[1:] == [
        "rail__Heave__rate",
        "float__Heave__acceleration",
        "pto__force",
    ]
    assert system.state_labels[:2] == ["rail__Heave", "rail__Heave__rate"]
    assert system.nstates == 2 + model.hydro.memory.A.shape[0]
    assert isinstance(system, control.StateSpace)
    # names of an exported system are understood as well
    again = sw.state_space(model, system.input_labels, system.output_labels)
    np.testing.assert_array_equal(again.C, system.C)
    np.testing.assert_array_equal(again.B, system.B)


def test_export_is_the_closed_form(system):
    # within the error of the fitted memory
    G, exact = system(1j * OMEGA), compliance(OMEGA)
    scale = np.abs(exact).max()
    for column in range(3):
        assert np.abs(G[0, column] - exact).max() < 1e-3 * scale
        assert np.abs(G[1, column] - 1j * OMEGA * G[0, column]).max() < 1e-12 * scale
        assert np.abs(G[2, column] + OMEGA**2 * G[0, column]).max() < 1e-11 * scale
    passive = -(SPRING + 1j * OMEGA * DAMPING) * G[0]
    assert np.abs(G[3, 1] - passive[1]).max() < 1e-12
    assert np.abs(G[3, 0] - passive[0] - 1.0).max() < 1e-12


def test_export_answers_to_waves_as_rao(model):
    system = sw.state_space(model, "excitation", "float.Heave")
    # at frequencies of the data, where the excitation is not interpolated
    omega = heaving_float().omega.values[3:80:7]
    there = sw.rao(model, omega=omega, radiation="state_space").rao.values[:, 0, 0, 2]
    found = np.conj(system(1j * omega)) * excitation(omega)
    assert np.abs(found / there - 1).max() < 1e-10


def test_sampled_system_is_that_of_python_control(model, system):
    names = ["float.Heave", "rail.Heave.rate", "float.Heave.acceleration", "pto.force"]
    inputs = ["pto", "float.Heave", "push.Heave"]
    sampled = sw.state_space(model, inputs, names, step=0.1)
    other = control.sample_system(system, 0.1, method="zoh")
    assert sampled.dt == 0.1
    for matrix in "ABCD":
        np.testing.assert_allclose(
            getattr(sampled, matrix), getattr(other, matrix), rtol=1e-9, atol=1e-14
        )


def test_reduced_export_keeps_the_error(model):
    full = sw.state_space(model, "pto", "float.Heave")
    small = sw.state_space(model, "pto", "float.Heave", error=0.1)
    assert small.nstates < full.nstates
    scale = np.abs(full(1j * OMEGA)).max()
    wide = np.geomspace(1e-3, 50.0, 500)
    assert np.abs(full(1j * wide) - small(1j * wide)).max() <= 0.101 * scale
    assert small.notes[-1].startswith(f"reduced from {full.nstates} to {small.nstates} states")
    assert sw.state_space(model, "pto", "float.Heave", order=3).nstates == 3


def test_step_response_is_that_of_a_run(model):
    force, (push,) = 1.0e3, applied_forces(model)
    signals = (*push.signals[:2], compile_signal(force), *push.signals[3:])
    pushed = AppliedForces((replace(push, signals=signals),), ("push",))
    times = np.linspace(0.0, 20.0, 101)
    run = sw.simulate(model.with_effect(pushed), times=times, rtol=1e-9, atol=1e-12, progress=False)
    linear = sw.state_space(model, "push.Heave", "float.Heave")
    found = force * control.step_response(linear, times).outputs
    heave = run.position.values[:, 0, 2]
    # heave on a rail is linear: what is left is the time stepping
    assert np.abs(found - (heave - heave[0])).max() < 1e-7 * np.abs(heave - heave[0]).max()


# --- dry systems: formulations, loops, drift --------------------------------------------------


def double_pendulum(**more):
    one = sw.Body("one", 2.0, (0.1, 0.2, 0.1), position=(0, 0, -1.0))
    two = sw.Body("two", 1.0, (0.1, 0.1, 0.1), position=(0, 0, -2.5))
    joints = [
        sw.Hinge("top", sw.WORLD, one.at(0, 0, 1.0)),
        sw.Hinge("knee", one.at(0, 0, -0.5), two.at(0, 0, 1.0)),
    ]
    muscle = sw.JointForce("muscle", "knee", damping=0.3, stiffness=2.0)
    push = sw.AppliedForce("push", two.at(0.0, 0, -0.4), force=(0.0, 0.0, 0.0), axes="body")
    return sw.System("arm", [one, two], joints, forces=[muscle, push], **more)


SIGNALS = (
    ["muscle", "two.Surge", "push.Surge", "knee.Pitch"],
    ["top.Pitch", "two.Surge.rate", "muscle.stroke", "muscle.force", "two.Pitch.acceleration"],
)


@pytest.mark.slow
def test_formulations_export_the_same_response():
    arm = sw.compile(double_pendulum())
    s = 1j * np.array([0.5, 2.0, 3.3, 8.0])
    found = {
        how: sw.state_space(arm, *SIGNALS, formulation=how)(s)
        for how in ("path_matrix", "partition", "lagrange")
    }
    size = np.abs(found["path_matrix"]).max()
    for other in ("partition", "lagrange"):
        assert np.abs(found[other] - found["path_matrix"]).max() < 1e-9 * size
    G = found["path_matrix"]
    check_relations(arm, s, G)


def check_relations(arm, s, G):
    size = np.abs(G).max()
    # the muscle acts on the knee; a push below the point moves it like a force and a moment
    assert np.abs(G[:, 0] - G[:, 3])[[0, 1, 2, 4]].max() < 1e-12 * size
    both = sw.state_space(arm, ["two.Surge", "two.Pitch", "push.Surge"], "two.Surge")(s)[0]
    assert np.abs(both[2] - both[0] + (-0.4) * -both[1]).max() < 1e-12 * size


def test_report_names_what_cannot_be_moved_or_seen():
    # two oscillators: one is pushed, the other is watched
    A = np.zeros((4, 4))
    A[[0, 2], [1, 3]], A[1, :2], A[3, 2:] = 1.0, (-4.0, -0.1), (-5.0, -0.1)
    B, C = np.eye(4)[:, 1:2], np.eye(4)[2:3]
    states = ["a", "a__rate", "b", "radiation__1"]
    pair = control.StateSpace(A, B, C, 0.0, states=states)
    report = sw.control_report(pair)
    assert (report.order, report.controllable, report.observable, report.minimal) == (4, 2, 2, 0)
    assert report.unmoved == ("b", "radiation__1")
    assert report.aliased == ("a", "a__rate")
    assert "No input moves 'b' and 1 state of radiation by itself." in str(report)
    assert "No output shows 'a', 'a__rate'." in str(report)


@pytest.fixture(scope="module")
def cart():
    """A free cart that carries a sprung mass: it drifts."""
    car = sw.Body("car", 3.0, (1.0,) * 3)
    load = sw.Body("load", 1.0, (1.0,) * 3, position=(1.0, 0, 0))
    rails = [
        sw.Slider("track", sw.WORLD, car, axis="x"),
        sw.Slider("bed", car.at(1.0, 0, 0), load, axis="x"),
    ]
    spring = sw.JointForce("spring", "bed", stiffness=6.0, damping=0.2)
    still = sw.Water(g=0.0)
    return sw.compile(sw.System("cart", [car, load], rails, forces=[spring], water=still))


def test_drift_is_set_apart_and_kept(cart):
    full = sw.state_space(cart, "car.Surge", "track.Surge")
    small = sw.state_space(cart, "car.Surge", "track.Surge", order=2)
    assert full.notes[0].startswith("2 modes do not decay (drift): set apart")
    assert small.notes[0] == full.notes[0]
    assert small.state_labels == ["drift__1", "drift__2"]
    s = 1j * 1e-3
    # four kilograms that nothing holds
    assert small(s) == pytest.approx(1 / (4.0 * s**2), rel=1e-6)
    report = sw.control_report(full)
    assert report.unrestrained.size == 2
    assert np.abs(report.unrestrained).max() < 1e-6


def test_what_is_not_moved_is_left_out(cart):
    # the spring pushes car and load apart: their common drift is not moved
    small = sw.state_space(cart, "spring", "bed.Surge", reduce_to_minimal=True)
    assert small.notes[-1] == "2 of 4 states are controllable and observable."
    w, mass = np.array([0.5, 2.0]), 3.0 / 4.0
    np.testing.assert_allclose(small(1j * w), 1 / (6.0 - mass * w**2 + 0.2j * w), rtol=1e-10)


def test_drag_that_is_left_out_is_told():
    car = sw.Body("car", 3.0, (1.0,) * 3)
    drag = sw.QuadraticDrag("drag", car, damping={"Surge": 5.0}, relative_to="ground")
    track = sw.Slider("track", sw.WORLD, car, axis="x")
    (note,) = left_out(sw.compile(sw.System("car", [car], [track], forces=[drag])))
    assert note == (
        "drag ('quadratic drag') is linearised about equilibrium, where it has a derivative only "
        "in a current."
    )


def test_mistakes_are_told(model, cart):
    with pytest.raises(sw.SwelltreeError, match=r"input 'flaot.Heave' is not known. Did you mean"):
        sw.state_space(model, "flaot.Heave", "float.Heave")
    with pytest.raises(sw.SwelltreeError, match=r"output 'pto.power' is not known"):
        sw.state_space(model, "pto", "pto.power")
    with pytest.raises(sw.SwelltreeError, match=r"order 1 is less than the 2 states that do not"):
        sw.state_space(cart, "car.Surge", "track.Surge", order=1)
    with pytest.raises(sw.SwelltreeError, match=r"error 2 is not between 0 and 1"):
        sw.state_space(cart, "car.Surge", "track.Surge", error=2)
    with pytest.raises(sw.SwelltreeError, match=r"there is no input"):
        sw.state_space(cart, [], "track.Surge")
    with pytest.raises(sw.SwelltreeError, match=r"the system is sampled"):
        sw.control_report(sw.state_space(cart, "car.Surge", "track.Surge", step=0.1))
    with pytest.raises(sw.SwelltreeError, match=r"1 states give an error of"):
        sw.state_space(model, "pto", "float.Heave", order=1, error=1e-6)


@pytest.mark.parametrize("how", ["path_matrix", "lagrange"])
def test_a_ball_joint_comes_out_as_the_euler_angles_of_its_pendulum(how):
    """Of a bob yawed by 50 degrees, whose two moments of inertia differ."""
    yaw, arm, mass, inertia = np.radians(50.0), 2.0, 1e3, np.array([100.0, 200.0, 300.0])
    c, s = np.cos(yaw), np.sin(yaw)
    bob = sw.Body(
        "bob", mass, inertia, position=(0, 0, -arm), rotation=((c, -s, 0), (s, c, 0), (0, 0, 1))
    )
    ball = sw.Ball("j", sw.WORLD, bob.at(0, 0, arm))
    push = sw.AppliedForce("push", bob.at(), torque=(0, 0, 0))
    model = sw.compile(sw.System("pendulum", [bob], [ball], forces=[push]))
    outputs = ["j.Roll", "j.Pitch", "j.Pitch.rate"]
    system = sw.state_space(model, ["push.Pitch"], outputs, formulation=how)
    omega = 3.1
    stiffness = mass * 9.81 * arm
    roll, pitch = 1 / (stiffness - omega**2 * (inertia[:2] + mass * arm**2))
    found = system(1j * omega)[:, 0]
    # a moment about world y is shared by both axes of the bob; angles are about the joint's axes
    across, along = c * s * (roll - pitch), s**2 * roll + c**2 * pitch
    assert found == pytest.approx([across, along, 1j * omega * along], rel=1e-9)
    everything = sw.state_space(model, ["push.Pitch"], formulation=how)
    assert np.linalg.matrix_rank(everything.C) == 6
