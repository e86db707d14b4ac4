"""The linear model: against the equations of motion, and the studies that use it against it."""

import jax
import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, heaving_float, vessel
from swelltree.jit import Points
from swelltree.multibody.formulations import State, formulation
from swelltree.multibody.formulations.equations import settled_at, solve_motion
from swelltree.multibody.kinematics import attitudes
from swelltree.studies.linear.drag import DragSolver, Waves
from swelltree.studies.linear.linearise import linear_model, traced_model
from swelltree.studies.linear.signals import input_rows, model_with_states

WATER = sw.Water(rho=1000.0)
TURN = np.radians(30.0)  # two headings of the data
HOLD = 4e7  # N m/rad
WAVE = {"amplitude": 0.4, "omega": 0.9}


def tug(turn=0.0, upright=True):
    """A vessel with a hinged arm, turned at rest by a torque; a guide may keep it upright."""
    hull = sw.Body("vessel", mass=MASS, inertia=(1e6, 8e6, 8e6))
    arm = sw.Body("arm", mass=2e4, inertia=(1e5, 2e5, 2e5), position=(6.0, 1.0, 2.0))
    guide = sw.SubsetJoint("guide", sw.WORLD, hull, dofs=("Surge", "Sway", "Heave", "Yaw"))
    joints = [
        guide if upright else sw.Free("free", sw.WORLD, hull),
        sw.Hinge("hinge", hull.at(4.0, 1.0, 1.0), arm.at(-2.0, 0.0, -1.0), axis=(0.2, 1.0, 0.1)),
    ]
    system = sw.System(
        "tug",
        [hull, arm],
        joints,
        ptos=[sw.LinearPto("pto", joint="hinge", damping=3e5, stiffness=4e6)],
        moorings=[
            sw.LinearMooring(
                "mooring",
                hull,
                stiffness={"Surge": 2e5, "Sway": 2e5, "Yaw": HOLD},
                damping={"Surge": 3e4, "Sway": 3e4},
            )
        ],
        forces=[sw.AppliedForce("push", hull.at(), torque=(0.0, 0.0, HOLD * turn))],
        water=WATER,
    )
    return sw.compile(system, vessel(), fit={"error": 0.02}, frame="yaw", yaw_time=50.0)


@pytest.fixture(scope="module")
def tilted():
    return tug(TURN, upright=False)


@pytest.fixture(scope="module")
def turned():
    return tug(TURN)


@pytest.fixture(scope="module")
def straight():
    return tug()


def four_bar():
    """A loop that is not at rest where it is described."""
    a = sw.Body("a", 2.0, (0.1, 0.2, 0.15), position=(0.0, 0.0, 0.5))
    b = sw.Body("b", 3.0, (0.2, 0.4, 0.3), position=(0.6, 0.0, 1.1))
    c = sw.Body("c", 1.5, (0.2, 0.3, 0.2), position=(1.3, 0.0, 0.55))
    joints = [
        sw.Hinge("j1", sw.WORLD, a.at(0, 0, -0.5)),
        sw.Hinge("j2", a.at(0, 0, 0.5), b.at(-0.6, 0, -0.1)),
        sw.Hinge("j3", b.at(0.6, 0, 0.1), c.at(-0.1, 0, 0.65)),
        sw.Hinge("j4", sw.WORLD.at(1.4, 0, 0.0), c.at(0.1, 0, -0.55)),
    ]
    spring = sw.JointForce("spring", "j1", stiffness=80.0, damping=2.0)
    return sw.compile(sw.System("four bar", [a, b, c], joints, forces=[spring]))


def differenced(linear, step=1e-5):
    """State matrix by central differences of the accelerations in the equations of motion."""
    at, how = linear.at, linear.at.formulation
    Z, model = at.directions, at.model
    internal = settled_at(model, how, at.state)

    def free(y, rate):
        moved = how.retract(model, at.state, Z @ y)
        state = State(moved.q, Z @ rate, moved.chart)
        return Z.T @ solve_motion(model, how, np.zeros(()), state, internal)[2].s_dot

    run, zero = Points(free, fixed=0), np.zeros(linear.free)
    units = step * np.eye(linear.free)
    per_step = [(run(d, zero) - run(-d, zero)) / (2 * step) for d in units]
    per_rate = [(run(zero, d) - run(zero, -d)) / (2 * step) for d in units]
    return np.concatenate([np.array(per_step).T, np.array(per_rate).T], axis=1)


@pytest.mark.parametrize(
    "how", ["path_matrix", "lagrange", pytest.param("partition", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("resting", [True, False], ids=["at rest", "at the start"])
def test_matrices_of_a_loop_are_differences_of_its_accelerations(how, resting):
    linear = linear_model(four_bar(), formulation(how), at_equilibrium=resting)
    lower = linear.state_matrix()[linear.free :]
    # central differences with steps of 1e-5
    assert lower == pytest.approx(differenced(linear), rel=1e-6, abs=1e-6 * np.abs(lower).max())


@pytest.mark.parametrize("how", ["path_matrix", "lagrange"])
def test_matrices_of_a_turned_vessel_are_differences_of_its_accelerations(tilted, how):
    linear = linear_model(tilted, formulation(how), "infinite")
    assert np.asarray(linear.at.yaw)[0] == pytest.approx(TURN, rel=1e-2)
    lower = linear.state_matrix()[linear.free :]
    assert lower == pytest.approx(differenced(linear), rel=1e-5, abs=1e-6 * np.abs(lower).max())


@pytest.mark.parametrize("how", ["path_matrix", "lagrange"])
def test_coordinates_of_free_and_hinge_are_differences_of_those_of_results(tilted, how):
    linear = linear_model(tilted, formulation(how), "infinite")
    at, how, step = linear.at, linear.at.formulation, 1e-5

    def coordinates(y):
        moved = how.retract(at.model, at.state, at.directions @ y)
        motion = how.kinematics(at.model, np.zeros(()), moved).motion
        return attitudes(at.model, motion.frames, motion.coordinate, motion.rate)[0]

    run = Points(coordinates, fixed=0)
    per = [(run(d) - run(-d)) / (2 * step) for d in step * np.eye(linear.free)]
    # central differences with steps of 1e-5; yaw moves with roll where the vessel is trimmed
    assert linear.to_coordinates == pytest.approx(np.array(per).T, abs=1e-8)


def test_rotations_of_a_free_vessel_are_in_rao_and_response(tilted):
    rao = sw.rao(tilted, omega=[0.9], wave_direction=[0.4])
    turns = rao.coordinate_rao.sel(coordinate=[f"free__{d}" for d in ("Roll", "Pitch", "Yaw")])
    motion = rao.rao.sel(body="vessel", dof=["Roll", "Pitch", "Yaw"]).values[0, 0]
    assert np.abs(turns.values).min() > 1e-4
    found = sw.response(tilted, sw.RegularWave(amplitude=2.0, omega=0.9, beta=0.4))
    deviation = found.coordinate_deviation.sel(coordinate=turns.coordinate).values
    assert deviation == pytest.approx(np.sqrt(2.0) * np.abs(turns.values[0, 0]), rel=1e-9)
    # of one size with the motion of the body, which is about other axes
    assert np.linalg.norm(turns.values) == pytest.approx(np.linalg.norm(motion), rel=0.05)


def test_a_turned_vessel_in_a_turned_sea_has_the_same_impedance_and_excitation(turned, straight):
    how, w = formulation("path_matrix"), np.array([0.5, 1.3])
    there, here = (linear_model(model, how) for model in (turned, straight))
    moved = []
    for linear, heading in ((there, 0.4 + TURN), (here, 0.4)):
        force = linear.excitation(w, np.full(2, heading))
        # directions turn along, the stroke does not
        moved.append(linear.amplitudes(w, force) @ linear.to_strokes[0])
    assert moved[0] == pytest.approx(moved[1], rel=1e-9)


def test_optimal_control_of_a_turned_vessel_takes_the_power_of_the_straight_one(turned, straight):
    powers = [
        sw.optimal_control(
            model,
            sw.RegularWave(beta=beta, **WAVE),
            method="linear",
            harmonics=2,
            compare=False,
            replay=False,
        ).attrs["mean_power"]
        for model, beta in ((turned, 0.5 + TURN), (straight, 0.5))
    ]
    assert powers[0] == pytest.approx(powers[1], rel=1e-8)


def test_within_the_data_harmonics_have_the_impedance_of_the_rao(tilted):
    linear = linear_model(tilted, formulation("path_matrix"))
    w = np.array([0.31, 0.9, 2.2])
    assert linear.harmonic_impedance(w) == pytest.approx(linear.impedance(w), rel=1e-9)


def test_first_order_form_and_impedance_of_fitted_memory_are_one_system(tilted):
    """exp(-iwt) in the impedance, exp(+iwt) in a transfer function."""
    linear = model_with_states(tilted, formulation("lagrange"))
    first, w = linear.first_order(), np.array([0.2, 0.9, 3.0])
    _, rows = input_rows(linear, ["pto", "vessel.Sway", "push.Yaw"])
    for omega, D in zip(w, linear.impedance(w), strict=True):
        x = np.linalg.solve(1j * omega * np.eye(len(first.A)) - first.A, first.push @ rows.T)
        assert np.conj(x[: linear.free]) == pytest.approx(np.linalg.solve(D, rows.T), rel=1e-8)


def test_state_space_and_rao_agree_at_a_turned_rest(tilted):
    omega, beta = 1.1, 0.3
    system = sw.state_space(tilted, "excitation", ["hinge.Pitch"], formulation="lagrange")
    linear = linear_model(tilted, formulation("path_matrix"), "state_space")
    force = linear.excitation(np.array([omega]), np.array([beta]))[0].reshape(2, 6)[0]
    moved = system(1j * omega)[0] @ np.conj(force)
    rao = sw.rao(tilted, omega=[omega], wave_direction=[beta], radiation="state_space")
    pitch = rao.coordinate_rao.sel(coordinate="hinge__Pitch").values[0, 0]
    assert np.conj(moved) == pytest.approx(pitch, rel=1e-8)


@pytest.mark.slow
def test_traced_modes_of_a_turned_vessel_are_those_of_the_study(tilted):
    """Data turn with the vessel inside a trace, too."""

    def eigenvalues(stiffness):
        return sw.modes(tilted.with_values({"pto.stiffness": stiffness}))["eigenvalue"]

    traced = np.asarray(jax.jit(eigenvalues)(4e6))
    found = sw.modes(tilted)
    plain = found.eigenvalue_real.values + 1j * found.eigenvalue_imag.values
    swinging = plain[plain.imag > 0]
    gap = np.abs(swinging[:, None] - traced[None]).min(axis=1)
    assert gap.max() < 1e-8 * np.abs(swinging).max()


@pytest.mark.slow
def test_traced_matrices_of_a_loop_follow_a_mass():
    model, how = four_bar(), formulation("path_matrix")

    def slowest(mass, trace=True):
        own = model.with_values({"b.mass": mass})
        if trace:
            return jax.numpy.abs(traced_model(own, how, "data", None, True).state_matrix()[1]).sum()
        return np.abs(linear_model(own, how).state_matrix()[1]).sum()

    value, rate = jax.jit(jax.value_and_grad(slowest))(3.0)
    assert float(value) == pytest.approx(slowest(3.0, trace=False), rel=1e-9)
    h = 1e-4
    difference = (slowest(3.0 + h, trace=False) - slowest(3.0 - h, trace=False)) / (2 * h)
    assert float(rate) == pytest.approx(difference, rel=1e-5)


def test_drag_apart_and_its_small_motions_make_up_the_damping():
    """In a current drag is smooth, so that both ways see the same slope."""
    body = sw.Body("float", mass=MASS, inertia=(1e5,) * 3)
    drag = sw.QuadraticDrag("drag", body, damping={"Surge": 2e4, "Heave": 3e4}, relative_to="water")
    axis = (1.0, 0.0, 2.0)
    spring = sw.JointForce("spring", "guide", stiffness=1e6)
    system = sw.System(
        "float",
        [body],
        [sw.Slider("guide", sw.WORLD, body, axis=axis)],
        [drag, spring],
        water=WATER,
        current=sw.UniformCurrent(1.3),
    )
    model, how = sw.compile(system, heaving_float()), formulation("path_matrix")
    complete = linear_model(model, how)
    apart = linear_model(model, how, drag_apart=True)
    assert not complete.drag
    waves = Waves(np.array([1.0]), np.array([0.0]), np.array([1.0]))
    small = DragSolver(apart.at.model, apart.drag, waves, None).small()
    P = apart.to_bodies
    assert apart.damping + P.T @ small.damping @ P == pytest.approx(complete.damping, rel=1e-5)
    # what drag excites is left out of the one and in the other
    both = [linear.excitation(waves.omega, waves.beta) @ P for linear in (complete, apart)]
    assert both[1] + small.force @ P == pytest.approx(both[0], rel=1e-5)
    assert np.abs(small.damping).max() > 1e4
