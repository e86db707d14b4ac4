"""Contact between bodies: impacts, friction, shapes, momentum, equilibrium, batches."""

import warnings

import numpy as np
import pytest
from scipy.optimize import brentq

import swelltree as sw
from direct_numbers import check_direct_numbers
from swelltree.forces.between_bodies import build_body_contacts
from swelltree.jit import jax

TURNED = (0.8, 0.3, -0.4, 0.33)  # a frame that is yawed and heeled
TIGHT = {"rtol": 1e-9, "atol": 1e-12}


def restitution(c, v):
    """Ratio of velocities of Hunt and Crossley's law; see the page of the effect."""
    before = c * v - np.log1p(c * v)
    return brentq(lambda e: -c * e * v - np.log1p(-c * e * v) - before, 1e-9, (1 - 1e-12) / (c * v))


def ball(height=1.5, speed=0.0, g=9.81, **more):
    """A ball above the floor."""
    body = sw.Body("ball", 2.0, (0.05,) * 3, position=(0.3, -0.2, height))
    contact = sw.BodyContact("floor", body, sw.WORLD, radius=0.3, stiffness=1e5, **more)
    free = sw.Free("free", sw.WORLD, body, velocity={"Heave": speed})
    return sw.System("ball", [body], [free], forces=[contact], water=sw.Water(g=g))


def box(slope, friction):
    """A box on a plate that is inclined about an axis in any direction; the way down."""
    axis = np.array([np.cos(0.7), np.sin(0.7), 0.0])
    turn = (np.cos(slope / 2), *(np.sin(slope / 2) * axis))
    plate = sw.Body("plate", 50.0, (5.0,) * 3, position=(1.0, 2.0, 3.0), rotation=turn)
    R = plate.rotation_matrix
    # as deep in the plate as its weight presses it
    depth = 2.0 * 9.81 * np.cos(slope) / 4e5
    place = np.array(plate.position) + R @ [0.0, 0.0, 0.2 - depth]
    crate = sw.Body("crate", 2.0, (0.05,) * 3, position=tuple(place), rotation=turn)
    corners = [(x, y, -0.1) for x in (-0.2, 0.2) for y in (-0.15, 0.15)]
    contact = sw.BodyContact(
        "feet",
        crate,
        plate.at(0.0, 0.0, 0.1),
        contact_points=corners,
        stiffness=1e5,
        dissipation=50.0,  # damps rocking on its feet within 0.3 s
        friction=friction,
    )
    joints = [sw.Weld("stand", sw.WORLD.at(*plate.position), plate), sw.Free("f", sw.WORLD, crate)]
    down = R @ np.cross(axis, [0.0, 0.0, 1.0])
    return sw.System("slope", [plate, crate], joints, forces=[contact]), down


def collision(g=0.0):
    """A body with points that runs into a box on another one, both free and turned."""
    hammer = sw.Body("hammer", 3.0, (0.3, 0.4, 0.5), position=(0.0, 0.0, 0.0), rotation=TURNED)
    anvil = sw.Body("anvil", 5.0, (0.8, 0.6, 0.7), position=(1.2, 0.25, -0.1))
    contact = sw.BodyContact(
        "hit",
        hammer.at(0.1, 0.0, 0.0),
        anvil.at(0.1, 0.0, 0.0, rotation=(0.9, 0.1, -0.2, 0.3)),
        "box",
        (0.8, 0.6, 0.7),
        contact_points=[(0.2, 0.1, 0.0), (0.2, -0.1, 0.1)],
        radius=0.1,
        stiffness=2e4,
        dissipation=0.3,
        friction=0.4,
    )
    joints = [
        sw.Free("f1", sw.WORLD, hammer, velocity={"Surge": 2.0, "Yaw": 1.0}),
        sw.Free("f2", sw.WORLD, anvil, velocity={"Surge": -1.0, "Roll": 0.5}),
    ]
    return sw.System("collision", [hammer, anvil], joints, forces=[contact], water=sw.Water(g=g))


def test_a_ball_without_weight_loses_the_energy_of_its_restitution():
    c, v = 0.1, 5.0
    model = sw.compile(ball(0.5, -v, 0.0, dissipation=c))
    run = sw.simulate(model, duration=0.1, output_step=0.01, **TIGHT)
    e = restitution(c, v)
    # some hundred steps to 1e-9
    assert float(run["velocity"].sel(body="ball", dof="Heave")[-1]) == pytest.approx(e * v, 1e-7)
    lost = -float(run["work"].sel(element="floor")[-1])
    assert lost == pytest.approx(v**2 * (1.0 - e**2), rel=1e-7)
    assert float(abs(run["energy_residual"]).max()) < 1e-7 * v**2
    assert run.attrs["engine"] == "LLVM"


def test_without_dissipation_a_ball_bounces_back():
    run = sw.simulate(sw.compile(ball()), duration=1.1, output_step=0.01, **TIGHT)
    # 24 J fall; forces begin with a kink, which steps to 1e-9 find by getting shorter
    assert float(abs(run["energy_residual"]).max()) < 1e-6 * 24.0
    assert float(run["position"][-20:, 0, 2].max()) > 1.49


@pytest.mark.parametrize("slope", [0.3, 0.5])
def test_a_box_on_an_inclined_body_holds_below_the_friction_angle_and_slides_above(slope):
    mu = 0.4  # arctan: 0.38 rad
    system, down = box(slope, mu)
    run = sw.simulate(sw.compile(system), duration=0.5, output_step=0.05, rtol=1e-7)
    speed = run["velocity"].sel(body="crate").values[:, :3] @ down
    # by now it has tilted by what the moment of friction asks for
    assert run.time.values[6] == pytest.approx(0.3)
    if np.tan(slope) < mu:
        ratio = np.tan(slope) / mu
        creep = 1e-3 * ratio / np.sqrt(1.0 - ratio**2)  # where friction carries the weight
        assert speed[6:] == pytest.approx(creep, rel=1e-3)
    else:
        pull = 9.81 * (np.sin(slope) - mu * np.cos(slope))
        # friction lacks (slip speed / speed)^2 / 2, less than 1e-5
        assert speed[-1] - speed[6] == pytest.approx(0.2 * pull, rel=1e-3)
    force = run["body_contact_force"].values[-1, 0]
    assert force @ down / (2.0 * 9.81 * np.cos(slope)) == pytest.approx(
        -min(np.tan(slope), mu), rel=2e-3
    )
    assert float(abs(run["energy_residual"]).max()) < 1e-5


@pytest.mark.parametrize("formulation", ["path_matrix", "lagrange"])
def test_momentum_of_two_free_bodies_is_conserved(formulation):
    model = sw.compile(collision())
    how = {"duration": 0.6, "output_step": 0.02, "formulation": formulation}
    run = sw.simulate(model, **how, rtol=1e-9, atol=1e-11)
    assert float(run["body_contact_gap"].min()) < -0.005
    assert float(abs(run["body_contact_force"][-1]).max()) == 0.0
    mass = np.array([3.0, 5.0])
    p, v = run["position"].values[:, :, :3], run["velocity"].values
    momentum = (mass[:, None] * v[:, :, :3]).sum(1)
    assert np.abs(momentum - momentum[0]).max() < 1e-8
    R = run["rotation"].values
    inertia = np.array([np.diag((0.3, 0.4, 0.5)), np.diag((0.8, 0.6, 0.7))])
    spin = np.einsum("tbij,bjk,tblk,tbl->tbi", R, inertia, R, v[:, :, 3:])
    total = (spin + np.cross(p, mass[:, None] * v[:, :, :3])).sum(1)
    assert np.abs(total - total[0]).max() < 1e-7
    assert float(abs(run["energy_residual"]).max()) < 1e-6
    assert float(run["work"].sel(element="hit")[-1]) < -0.1


@pytest.mark.parametrize(
    ("shape", "size"), [("plane", ()), ("sphere", (0.7,)), ("box", (1.0, 0.6, 1.4))]
)
def test_normals_are_derivatives_of_distances(shape, size):
    check_shape(shape, size)


def test_normals_of_a_cylinder_are_derivatives_of_distances():
    check_shape("cylinder", (0.5, 1.2))


def check_shape(shape, size):
    rng = np.random.default_rng(4)
    points = rng.normal(size=(200, 3)) * 0.7
    body = sw.Body("a", 1.0, (0.1,) * 3)
    contact = sw.BodyContact("c", body, sw.WORLD, shape, size, contact_points=points)
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], forces=[contact])
    effect = build_body_contacts(system, sw.compile(system).layout)
    gap, normal = effect._nearest(points)
    slopes = []
    for e in np.eye(3) * 1e-6:
        slopes.append((effect._nearest(points + e)[0] - effect._nearest(points - e)[0]) / 2e-6)
    assert np.abs(np.array(slopes).T - normal).max() < 1e-6
    assert np.linalg.norm(normal, axis=1) == pytest.approx(1.0)
    # the nearest point lies on the surface
    assert np.abs(effect._nearest(points - gap[:, None] * normal)[0]).max() < 1e-12
    assert (gap < 0.0).any()


def test_equilibrium_is_where_the_stiffness_carries_the_weight():
    rest = sw.equilibrium(sw.compile(ball(0.2999)))
    assert float(rest["position"].sel(body="ball")[2]) == pytest.approx(0.3 - 2 * 9.81 / 1e5)


@pytest.mark.slow
def test_cases_in_parallel_bounce_as_single_ones():
    model = sw.compile(ball(dissipation=0.1))
    how = {"duration": 1.0, "output_step": 0.1}
    values = {"floor.dissipation": [0.0, 0.1]}
    both = sw.simulate_batch(model, parameters=values, step=5e-4, reduce=("series",), **how)
    one = sw.simulate(model, solver="rk4", step=5e-4, **how)["position"].values[:, 0]
    found = both["position_series"].transpose("case", "time", "body", "dof").values[:, :, 0]
    assert np.abs(found[1] - one).max() < 1e-9
    assert np.abs(found[0] - one).max() > 0.1


@pytest.mark.slow
def test_the_derivative_by_dissipation_is_a_difference_of_runs():
    model = sw.compile(ball(0.5, -5.0, 0.0, dissipation=0.1))

    def speed(value):
        specified = model.with_values({"floor.dissipation": value})
        run = sw.simulate(specified, times=np.arange(1, 11) * 0.01, rtol=1e-9, atol=1e-12)
        return run["velocity"][-1, 0, 2]

    slope = float(jax.jit(jax.jacfwd(speed))(0.1))
    closed = 5.0 * (restitution(0.1 + 1e-5, 5.0) - restitution(0.1 - 1e-5, 5.0)) / 2e-5
    # the force begins with a kink inside a step: 5.6e-4 at rtol 1e-7, 1.5e-4 at 1e-8
    assert slope == pytest.approx(closed, rel=1e-4)


def test_the_two_step_scheme_takes_contacts():
    model = sw.compile(ball(0.4, -1.0, dissipation=0.2))
    how = {"duration": 0.5, "output_step": 0.05}
    found = sw.simulate(model, solver="two_step", step=2e-4, **how)["position"]
    right = sw.simulate(model, **how, **TIGHT)["position"]
    # steps of 1/70 of the time of contact
    assert float(abs(found - right).max()) < 1e-3


def test_fixed_steps_that_are_too_long_for_friction_are_reported():
    """0.04 m off without a message; from 2.8 times the limit on the method is unstable."""
    model = sw.compile(box(0.3, 0.4)[0])
    limit = 1e-3 / (0.4 * 9.81)
    how = {"duration": 4e-3, "output_step": 2e-3}
    message = r"contact 'feet': step 0\.0005 s is longer than the 0\.000255 s"
    with pytest.warns(sw.SwelltreeWarning, match=message):
        sw.simulate(model, solver="rk4", step=5e-4, **how)
    with pytest.warns(sw.SwelltreeWarning, match=message):
        sw.simulate(model, solver="two_step", step=5e-4, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.simulate(model, solver="rk4", step=limit, **how)
        sw.simulate(model, **how)


@pytest.mark.slow
def test_steps_too_long_for_the_friction_of_one_case_are_reported():
    model = sw.compile(box(0.3, 0.0)[0])
    how = {"duration": 4e-3, "output_step": 2e-3, "step": 5e-4}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.simulate_batch(model, parameters={"feet.friction": [0.0, 0.2]}, **how)
    with pytest.warns(sw.SwelltreeWarning, match=r"longer than the 0\.000255 s"):
        sw.simulate_batch(model, parameters={"feet.friction": [0.0, 0.4]}, **how)


def test_bad_input_is_rejected():
    body = sw.Body("a", 1.0, (0.1,) * 3)
    with pytest.raises(sw.SwelltreeError, match="does not describe a sphere"):
        sw.BodyContact("c", body, sw.WORLD, "sphere")
    with pytest.raises(sw.SwelltreeError, match="'ring' does not exist"):
        sw.BodyContact("c", body, sw.WORLD, "ring")
    with pytest.raises(sw.SwelltreeError, match="both ends are on 'a'"):
        sw.BodyContact("c", body, body.at(0, 0, 1))
    with pytest.raises(sw.SwelltreeError, match=r"stiffness 0\.0 is not positive"):
        sw.BodyContact("c", body, sw.WORLD, stiffness=0.0)
    with pytest.raises(sw.SwelltreeError, match=r"friction -0\.1 is negative"):
        sw.BodyContact("c", body, sw.WORLD, friction=-0.1)
    with pytest.raises(sw.SwelltreeError, match="not a list of points"):
        sw.BodyContact("c", body, sw.WORLD, contact_points=[])


def test_a_case_file_holds_the_contact():
    case = sw.Case(collision())
    assert sw.loads(case.to_toml()).system == case.system


def test_numbers_of_a_contact_feed_its_arrays_alone():
    checked = check_direct_numbers(sw.compile(ball(0.5, -5.0, 0.3, dissipation=0.1)))
    assert {"floor.stiffness", "floor.dissipation", "floor.friction"} <= set(checked)
