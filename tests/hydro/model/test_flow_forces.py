"""Drag, lift, wind and moving water on bodies given by numbers."""

import numpy as np
import pytest

import swelltree as sw
from flow import group_loads, yaw
from swelltree.model.sea import water_at

RHO = 1000.0


def model_of(*forces, body=None, **system):
    body = body or sw.Body("b", mass=1e3, inertia=(1e3, 2e3, 2e3), position=(0, 0, -20.0))
    joints = [sw.Free("free", sw.WORLD, body)]
    return sw.compile(
        sw.System("s", [body], joints, forces, water=sw.Water(rho=RHO, depth=50.0), **system)
    )


def test_quadratic_drag_acts_on_each_velocity_in_body_axes():
    D = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    D[0, 4] = 0.5
    model = model_of(sw.QuadraticDrag("d", "b", damping=D))
    R = yaw(np.pi / 2)  # x of the body is y of the world
    v = np.array([0.3, 2.0, -1.0, 0.1, -0.2, 0.4])
    own = np.concatenate([R.T @ v[:3], R.T @ v[3:]])
    expected = -D @ (own * abs(own))
    found = group_loads(model, "quadratic_drag", R=R, v=v)
    expected = np.concatenate([R @ expected[:3], R @ expected[3:]])
    np.testing.assert_allclose(found.wrench[0], expected, rtol=1e-9)
    assert found.power[0] == pytest.approx(expected @ v)


@pytest.mark.parametrize(("word", "speed"), [("ground", 0.0), ("current", 1.5), ("water", 1.5)])
def test_quadratic_drag_knows_what_it_is_relative_to(word, speed):
    drag = sw.QuadraticDrag("d", "b", damping={"Surge": 10.0}, relative_to=word)
    model = model_of(drag, current=sw.UniformCurrent(1.5))
    assert group_loads(model, "quadratic_drag").wrench[0, 0] == pytest.approx(10 * speed**2)
    in_wave = group_loads(model, "quadratic_drag", wave=sw.RegularWave(amplitude=2.0, period=12.0))
    assert (abs(in_wave.wrench[0, 0] - 10 * speed**2) > 1.0) == (word == "water")


def test_drag_along_an_axis_and_lift_across_the_flow():
    area, Cd, Cl = (1.0, 2.0, 3.0), (0.5, 1.0, 1.5), (0.0, 0.0, 4.0)
    plain = model_of(sw.BodyDrag("d", "b", area=area, Cd=Cd))
    v = np.array([0.5, -1.0, 2.0, 0.0, 0.0, 0.0])
    force = group_loads(plain, "body_drag", v=v).wrench[0, :3]
    expected = -0.5 * RHO * np.multiply(area, Cd) * v[:3] * abs(v[:3])
    np.testing.assert_allclose(force, expected, rtol=1e-9)
    wing = model_of(sw.BodyDrag("d", "b", area=area, Cl=Cl))
    angle, speed = 0.2, 3.0
    flow = speed * np.array([np.cos(angle), 0.0, np.sin(angle)])
    lift = group_loads(wing, "body_drag", v=[*-flow, 0, 0, 0]).wrench[0, :3]
    assert lift @ flow == pytest.approx(0.0, abs=1e-6)
    size = 0.5 * RHO * 4.0 * 3.0 * speed**2 * np.sin(angle) * np.cos(angle)
    assert np.linalg.norm(lift) == pytest.approx(size)
    assert lift[2] > 0


def test_drag_off_the_reference_point_turns_the_body():
    body = sw.Body("b", mass=1e3, inertia=(1e3, 2e3, 2e3), position=(0, 0, -20.0))
    model = model_of(sw.BodyDrag("d", body.at(2.0, 0, 0), area=(1, 1, 1), Cd=(1, 1, 1)), body=body)
    wrench = group_loads(model, "body_drag", v=[0, 0, 1.0, 0, 0, 0]).wrench[0]
    assert wrench[4] == pytest.approx(-2.0 * wrench[2])


def test_current_profiles_by_depth():
    points = np.array([[0.0, 0, 5], [0, 0, 0], [0, 0, -10], [0, 0, -30], [0, 0, -50]])

    def speeds(current):
        return np.asarray(water_at(model_of(current=current), 0.0, points).velocity)

    np.testing.assert_allclose(speeds(sw.UniformCurrent(2.0, np.pi / 2))[:, 1], 2.0)
    power = speeds(sw.PowerLawCurrent(2.0))[:, 0]
    expected = 2.0 * np.array([1, 1, 0.8, 0.4, 0.0]) ** (1 / 7)
    np.testing.assert_allclose(power, expected, atol=1e-9)
    table = speeds(sw.CurrentTable((0, 20, 40), (1.0, 0.5, 0.1), (0.0, 0.0, np.pi)))
    # at 30 m, half way between two rows: 0.3 m/s towards 90 degrees
    np.testing.assert_allclose(table[:, 0], [1.0, 1.0, 0.75, 0.0, -0.1], atol=1e-12)
    np.testing.assert_allclose(table[:, 1], [0.0, 0.0, 0.0, 0.3, 0.0], atol=1e-12)


def vortex(t, x, y, z):
    """Water that turns about the z axis, faster and faster."""
    return -0.1 * t * y, 0.1 * t * x, 0.0 * z


def test_a_field_gives_the_acceleration_along_the_water():
    model = model_of(current=sw.FlowField(vortex))
    point = np.array([[3.0, 4.0, -1.0]])
    found = water_at(model, np.asarray(2.0), point)
    np.testing.assert_allclose(found.velocity[0], [-0.8, 0.6, 0.0])
    # local part 0.1 (-y, x) and centripetal part -(0.1 t)^2 (x, y)
    np.testing.assert_allclose(found.acceleration[0], [-0.4 - 0.12, 0.3 - 0.16, 0.0])


def test_a_field_named_in_a_case_file_comes_back():
    text = 'flow = "x"'
    system = sw.System(
        "s",
        [sw.Body("b", mass=1.0, inertia=(1, 1, 1))],
        [sw.Free("f", sw.WORLD, "b")],
        current=sw.FlowField("mylaws:eddy"),
        wind=sw.Wind(12.0, 0.5),
    )
    text = system.to_toml()
    assert 'function = "mylaws:eddy"' in text
    assert sw.loads(text).system == system


def numbered(A, volume=2.0, **more):
    return sw.Body(
        "b",
        mass=1e3,
        inertia=(1e3, 2e3, 2e3),
        position=(0, 0, -20.0),
        displaced_volume=volume,
        center_of_buoyancy=(0.0, 0.0, 0.5),
        added_mass=A,
        **more,
    )


def test_moving_water_pushes_with_displaced_and_added_mass():
    A = np.diag([500.0, 900.0, 700.0, 10.0, 20.0, 30.0])
    model = model_of(body=numbered(A))
    wave = sw.RegularWave(amplitude=0.5, omega=1.0)
    u_dot = sw.kinematics(
        sw.realise(wave, model.water),
        0.7,
        0.0,
        0.0,
        np.array([-20.0, -19.5]),
        model.water,
        "wheeler",
    ).acceleration
    wrench = group_loads(model, "water_inertia", 0.7, wave).wrench[0]
    expected = A[:3, :3] @ u_dot[0] + RHO * 2.0 * u_dot[1]
    # Kirchhoff's terms are of second order in the wave: a quarter of a percent here
    np.testing.assert_allclose(wrench[:3], expected, rtol=1e-12)


def test_a_neutral_body_drifts_with_accelerating_water():
    """Mass equal to the displaced water: (rho V + A) Du/Dt gives it just Du/Dt."""
    A = np.diag([700.0, 900.0, 500.0, 10.0, 20.0, 30.0])
    body = numbered(A).replace(mass=2.0 * RHO)
    model = model_of(body=body, current=sw.FlowField(rising))
    force = group_loads(model, "water_inertia").wrench[0, 0]
    assert force / (2.0 * RHO + A[0, 0]) == pytest.approx(0.3)


def rising(t, x, y, z):
    """The same everywhere, faster and faster."""
    return 0.3 * t, 0.0 * t, 0.0 * t


def test_munk_moment_in_a_current():
    """A long body across a current is turned by U^2 (A_yy - A_xx) sin(a) cos(a)."""
    A = np.diag([100.0, 900.0, 900.0, 1.0, 2.0, 3.0])
    U, angle = 2.0, 0.4
    model = model_of(body=numbered(A), current=sw.UniformCurrent(U))
    wrench = group_loads(model, "water_inertia", R=yaw(angle)).wrench[0]
    size = U**2 * 800.0 * np.sin(angle) * np.cos(angle)
    np.testing.assert_allclose(wrench[5], size)
    np.testing.assert_allclose(wrench[:5], 0.0, atol=1e-9)
    # moving along with the water there is none
    free = group_loads(model, "water_inertia", R=yaw(angle), v=[U, 0, 0, 0, 0, 0])
    absolute = 0.0 - free.wrench[0, 5]
    assert absolute == pytest.approx(size)


def wind_model(beta=0.0, heading=0.0, **more):
    table = {
        "angle_deg": (0, 90, 180),
        "CX": (0.8, 0.0, -0.7),
        "CY": (0.0, 1.0, 0.0),
        "CN": (0.0, 0.1, 0.0),
        "front_area": 20.0,
        "side_area": 60.0,
        "length": 30.0,
    }
    body = sw.Body("ship", mass=1e6, inertia=(1e6, 1e7, 1e7))
    drag = sw.WindDrag("wind", body.at(0, 0, 10.0), **(table | more))
    return model_of(drag, body=body, wind=sw.Wind(20.0, beta))


def test_head_wind_and_beam_wind():
    head = group_loads(wind_model(np.pi), "wind").wrench[0]
    q = 0.5 * 1.225 * 20.0**2
    np.testing.assert_allclose(head, [-0.7 * 20 * q, 0, 0, 0, -0.7 * 20 * q * 10, 0], atol=1e-6)
    for beta, side in ((np.pi / 2, 1.0), (-np.pi / 2, -1.0)):
        beam = group_loads(wind_model(beta), "wind").wrench[0]
        Y, N = side * 60 * q, side * 0.1 * 60 * 30 * q
        np.testing.assert_allclose(beam, [0, Y, 0, -10 * Y, 0, N], atol=1e-6)


def test_wind_depends_on_the_relative_direction_only():
    one = group_loads(wind_model(0.3 + 2.0), "wind", R=yaw(2.0)).wrench[0]
    two = group_loads(wind_model(0.3), "wind").wrench[0]
    R = yaw(2.0)
    np.testing.assert_allclose(one, np.append(R @ two[:3], R @ two[3:]), atol=1e-6)


def test_wind_is_stronger_higher_up_and_weaker_running_before_it():
    low, high = (
        group_loads(wind_model(0.0), "wind", p=[0, 0, z]).wrench[0, 0] for z in (0.0, 10.0)
    )
    assert high / low == pytest.approx(2.0 ** (2 * 0.12))
    before = group_loads(wind_model(0.0), "wind", v=[10.0, 0, 0, 0, 0, 0]).wrench[0, 0]
    assert before / low == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sw.QuadraticDrag("d", "b", damping={}), "damping is zero"),
        (lambda: sw.QuadraticDrag("d", "b", {"Surge": 1.0}, relative_to="sea"), "not a reference"),
        (lambda: sw.BodyDrag("d", sw.WORLD, (1, 1, 1), Cd=(1, 1, 1)), "Weld a body"),
        (lambda: sw.MorisonMember("m", "a", "b", diameter=1.0), "Put both on one body"),
        (lambda: sw.MorisonMember("m", "a", "a", diameter=1.0), "the ends coincide"),
        (lambda: sw.WindDrag("w", "b", (0, 90), (1, 0)), "mirrored"),
        (lambda: sw.CurrentTable((5, 1), (1, 1)), "increasing depths"),
        (lambda: sw.Wind(1.0, exponent=2.0), "between 0 and 1"),
        (lambda: sw.Body("b", added_mass={"Heave": -1.0}), "negative eigenvalue"),
        (lambda: model_of(sw.WindDrag("w", "b", (0, 180), (1, -1))), "there is no wind"),
        (
            lambda: sw.System(
                "s",
                [sw.Body("b", mass=1.0)],
                [sw.Free("f", sw.WORLD, "b")],
                current=sw.PowerLawCurrent(1.0),
            ),
            "infinitely deep",
        ),
    ],
)
def test_mistakes_are_told_in_words(make, words):
    with pytest.raises(sw.SwelltreeError, match=words):
        make()


def test_nothing_acts_at_rest_in_still_water():
    body = numbered(np.diag([500.0, 900.0, 700.0, 10.0, 20.0, 30.0]))
    forces = [
        sw.QuadraticDrag("q", "b", damping={"Heave": 3.0}, relative_to="water"),
        sw.BodyDrag("d", body.at(1, 0, 0), area=(1, 1, 1), Cd=(1, 1, 1), Cl=(1, 1, 1)),
        sw.MorisonMember("m", body.at(0, 0, -2), body.at(3, 0, 2), diameter=0.5, end_Cd=1.0),
    ]
    model = model_of(*forces, body=body)
    for kind in ("quadratic_drag", "body_drag", "morison", "water_inertia"):
        assert not group_loads(model, kind).wrench.any()


def test_members_that_the_data_may_hold_are_reported():
    from made_hydro import MASS, heaving_float

    body = sw.Body("float", mass=MASS, inertia=(1e5, 1e5, 1e5))
    leg = sw.MorisonMember("leg", body.at(0, 0, -9), body.at(0, 0, -3), diameter=1.0)
    system = sw.System(
        "s", [body], [sw.Slider("f", sw.WORLD, body, axis="z")], [leg], water=sw.Water(rho=1000.0)
    )
    report = " ".join(sw.compile(system, heaving_float(), radiation="none").report)
    assert "member 'leg' adds inertia" in report
    bare = system.replace(forces=(leg.replace(inertia=False),))
    assert "leg" not in " ".join(sw.compile(bare, heaving_float(), radiation="none").report)
