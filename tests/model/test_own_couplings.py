"""Couplings from outside the package: motion, forces, linear studies, messages."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import swelltree as sw
from own_laws import Branching, Cam, Pair, Rooted

TURNED = np.array((0.8, 0.3, -0.4, 0.33)) / np.linalg.norm((0.8, 0.3, -0.4, 0.33))
INERTIA, MASS, LIFT = 0.2, 2.0, 0.4
HOW = {"duration": 1.5, "output_step": 0.1}


def cam(*, speed=3.0, **more) -> sw.System:
    """A cam and its follower in a heeled frame, joints described from both sides."""
    place = {"position": (1.0, 2.0, -3.0), "rotation": tuple(TURNED)}
    frame = sw.Body("frame", 50.0, (20.0, 22.0, 25.0), **place)
    wheel = sw.Body("wheel", 3.0, (0.4, INERTIA, 0.4), **place)
    follower = sw.Body("follower", MASS, (0.1, 0.1, 0.1), **place)
    joints = [
        sw.Weld("ground", sw.WORLD.at(1.0, 2.0, -3.0), frame),
        sw.Hinge("shaft", frame, wheel, axis="y", position=0.7, velocity=speed),
        sw.Slider("rail", follower, frame, axis="z"),
    ]
    law = {"law": Cam, "parameters": {"lift": LIFT}}
    coupling = sw.OwnCoupling("cam", coordinates=("shaft", "rail.Heave"), **law)
    items = {"couplings": [coupling], "water": sw.Water(g=0.0)}
    return sw.System("cam", [frame, wheel, follower], joints, **items | more)


def spin(t):
    """Angle, rate and acceleration of the cam by its one equation of motion."""

    def rate(_, y):
        a, w = y
        inertia = INERTIA + MASS * LIFT**2 * np.sin(a) ** 2
        return np.array([w, -MASS * LIFT**2 * np.sin(a) * np.cos(a) * w**2 / inertia])

    y = solve_ivp(rate, (0.0, t[-1] + 0.01), (0.7, 3.0), t_eval=t, rtol=1e-12, atol=1e-12).y
    return *y, rate(0.0, y)[1]


@pytest.mark.parametrize(
    "how",
    [
        {"formulation": "path_matrix"},
        {"solver": "two_step", "step": 0.002},
        *(
            pytest.param({"formulation": name}, marks=pytest.mark.slow)
            for name in ("lagrange", "partition", "partial_velocity", "composite_body")
        ),
        pytest.param(
            {"solver": "two_step", "step": 0.002, "formulation": "lagrange"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_cam_moves_its_follower_as_one_equation_says(how):
    fixed = "solver" in how
    how = how if fixed else {"rtol": 1e-9, "atol": 1e-11, **how}
    run = sw.simulate(sw.compile(cam()), **HOW, **how)
    assert run.attrs["result"] == "success"
    a, w, alpha = spin(run["time"].values)
    # two-step: second order, 2e-3 s of a turn of 2 s
    close = 1e-5 if fixed else 1e-8
    q = run["joint_coordinate"]
    assert np.abs(q.sel(coordinate="shaft__Pitch").values - a).max() < close
    assert np.abs(q.sel(coordinate="rail__Heave").values - LIFT * np.cos(a)).max() < close
    force = (
        run["coupling_force"].sel(coupling_term=["cam: shaft__Pitch", "cam: rail__Heave"]).values
    )
    on_rail = -MASS * LIFT * (np.cos(a) * w**2 + np.sin(a) * alpha)
    assert np.abs(force[:, 1] - on_rail).max() < 100.0 * close
    assert np.abs(force[:, 0] - LIFT * np.sin(a) * on_rail).max() < 100.0 * close
    assert np.abs(run["energy_residual"].values).max() < 5.0 * close


def test_mode_of_a_loaded_cam_feels_the_curvature_of_its_law():
    """By V'' of one coordinate, with gravity along the inclined rail and a spring on the shaft."""
    spring = sw.JointForce("spring", "shaft", stiffness=12.0, rest_position=0.2)
    model = sw.compile(cam(speed=0.0, forces=[spring], water=sw.Water()))
    a = float(sw.equilibrium(model)["joint_coordinate"].sel(coordinate="shaft__Pitch"))
    _, x, y, _ = TURNED
    up = 1.0 - 2.0 * (x**2 + y**2)
    weight = MASS * float(model.water.g) * LIFT * up
    assert 12.0 * (a - 0.2) + weight * np.sin(a) == pytest.approx(0.0, abs=1e-6)
    stiffness = 12.0 + weight * np.cos(a)
    inertia = INERTIA + MASS * LIFT**2 * np.sin(a) ** 2
    modes = sw.modes(model)
    assert modes.sizes["mode"] == 1
    found = float(modes["natural_frequency"].values[0])
    assert found == pytest.approx(np.sqrt(stiffness / inertia), rel=1e-7)


def test_case_file_names_the_relation_and_its_numbers():
    law = {"law": "own_laws:Cam", "parameters": {"lift": LIFT}}
    coupling = sw.OwnCoupling("cam", coordinates=("shaft", "rail.Heave"), **law)
    system = cam(couplings=[coupling, sw.Coupling("gear", {"shaft": 1.0, "rail": 0.5})])
    again = sw.loads(system.to_toml()).system
    assert again == system
    model = sw.compile(cam(couplings=[coupling]))
    assert float(model.value("cam.lift")) == LIFT
    assert float(model.with_values({"cam.lift": 0.3}).value("cam.lift")) == 0.3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"coordinates": ("shaft",)}, "coupling 'x': coordinates has 1 entries. Give two"),
        ({"coordinates": ("shaft", "rail.Surge")}, "joint 'rail' has no 'Surge'"),
        ({"coordinates": ("shaft", "shaft")}, "Pitch of joint 'shaft' is given twice"),
        ({"law": np.sin}, "is not a class made with @swelltree.coupling_law"),
        ({"parameters": {"lft": 1.0}}, "law 'Cam' has no field 'lft'. Did you mean 'lift'"),
        ({"parameters": {}}, "law 'Cam' needs 'lift'"),
        (
            {"law": Branching, "parameters": {}},
            "law 'Branching.value' .* asks for the number of a coordinate",
        ),
        ({"law": Rooted, "parameters": {}}, "coupling 'x' is not finite at the coordinates"),
        ({"law": Pair, "parameters": {}}, "'value' of law 'Pair' returns the shape"),
    ],
)
def test_bad_own_couplings_are_rejected(change, message):
    given = {"coordinates": ("shaft", "rail"), "law": Cam, "parameters": {"lift": LIFT}} | change
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.compile(cam(couplings=[sw.OwnCoupling("x", **given)]))


def test_a_relation_without_value_is_rejected():
    with pytest.raises(sw.SwelltreeError, match="with a method 'value'"):

        @sw.coupling_law
        class Nothing(sw.CouplingLaw):
            c: float
