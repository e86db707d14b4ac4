"""Couplings between joint coordinates: closed forms, forces, formulations, messages."""

import functools

import numpy as np
import pytest

import swelltree as sw

TURNED = (0.8, 0.3, -0.4, 0.33)
DISC = (0.4, 0.2, 0.4)
TORQUE, INERTIA_1, INERTIA_2, RACK, RATIO, RADIUS = 2.0, 0.2, 0.5, 2.0, 2.5, 0.3


def train(**more) -> sw.System:
    """Gear pair and pinion on a rack in a heeled frame; axes pass through the centres of mass."""
    place = {"position": (1.0, 2.0, -3.0), "rotation": TURNED}
    frame = sw.Body("frame", 50.0, (20.0, 22.0, 25.0), **place)
    one = sw.Body("one", 3.0, DISC, **place)
    two = sw.Body("two", 5.0, (0.7, INERTIA_2, 0.7), **place)
    rack = sw.Body("rack", RACK, (0.1, 0.1, 0.1), **place)
    joints = [
        sw.Weld("ground", sw.WORLD.at(1.0, 2.0, -3.0), frame),
        sw.Hinge("input", frame, one, axis="y", velocity=12.0),
        sw.Hinge("output", frame, two, axis="y"),
        sw.Slider("rail", rack, frame, axis="x"),  # described from the leaf
    ]
    items = {
        "forces": [sw.JointForce("motor", "input", force=TORQUE)],
        "couplings": [
            sw.Coupling("gear", {"input": 1.0, "output": RATIO}),
            sw.Coupling("pinion", {"output": RADIUS, "rail.Surge": 1.0}),
        ],
        "water": sw.Water(g=0.0),
    }
    return sw.System("gear train", [frame, one, two, rack], joints, **items | more)


INERTIA = INERTIA_1 + (INERTIA_2 + RACK * RADIUS**2) / RATIO**2
HOW = {"duration": 1.5, "output_step": 0.1, "rtol": 1e-9, "atol": 1e-11}


@pytest.fixture(scope="module")
def model():
    return sw.compile(train())


@pytest.fixture(scope="module")
def run_of(model):
    """Runs that several tests look at."""
    return functools.cache(lambda formulation: sw.simulate(model, formulation=formulation, **HOW))


@pytest.mark.parametrize(
    "how",
    [
        {"formulation": "path_matrix"},
        {"formulation": "lagrange"},
        pytest.param({"formulation": "partial_velocity"}, marks=pytest.mark.slow),
        pytest.param({"formulation": "composite_body"}, marks=pytest.mark.slow),
        pytest.param({"formulation": "partition"}, marks=pytest.mark.slow),
        pytest.param(
            {"solver": "two_step", "step": 0.001, "formulation": "lagrange"},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"solver": "two_step", "step": 0.001, "formulation": "path_matrix"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_gear_train_accelerates_as_one_inertia(model, run_of, how):
    """Reflected inertia: I1 + (I2 + m r^2) / n^2; forces of the couplings from each part."""
    if "solver" in how:
        run = sw.simulate(model, duration=1.5, output_step=0.1, **how)
    else:
        run = run_of(**how)
    assert run.attrs["result"] == "success"
    # two-step: angles of turning discs are right to second order of the step
    close = 2e-4 if "solver" in how else 1e-7
    t, alpha = run["time"].values, TORQUE / INERTIA
    first = 12.0 * t + 0.5 * alpha * t**2
    q = run["joint_coordinate"].sel(coordinate=["input__Pitch", "output__Pitch", "rail__Surge"])
    exact = np.stack([first, -first / RATIO, RADIUS * first / RATIO], axis=1)
    assert np.abs(q.values - exact).max() < close * 20.0
    force = run["coupling_force"].values
    on_rack = RACK * RADIUS * alpha / RATIO
    on_output = -(INERTIA_2 + RACK * RADIUS**2) * alpha / RATIO
    expected = [on_output / RATIO, on_output, RADIUS * on_rack, on_rack]
    assert np.abs(force - expected).max() < 1e4 * close * np.abs(expected).max()
    assert list(run["coupling_term"].values) == [
        "gear: input__Pitch",
        "gear: output__Pitch",
        "pinion: output__Pitch",
        "pinion: rail__Surge",
    ]
    assert list(run["coupling_term_unit"].values) == ["N m", "N m", "N m", "N"]
    moved = TORQUE * first[-1]
    assert np.abs(run["energy_residual"].values).max() < 10 * close * moved


def test_reactions_of_joints_hold_the_couplings(run_of):
    """About its axis a shaft feels the gear only: the motor is a force element."""
    runs = [run_of("path_matrix"), run_of("lagrange")]
    a, b = (run["reaction"].values for run in runs)
    assert np.allclose(a, b, atol=1e-5)
    joint = list(runs[0]["joint"].values)
    axes = runs[0]["reaction_joint_axes"].values[:, joint.index("input")]
    assert np.allclose(axes[:, 4], runs[0]["coupling_force"].values[:, 0], atol=1e-9)


def test_differential_adds_the_turns_of_its_shafts():
    """Two wheels on one carrier coordinate: torque is halved, speeds are free to differ."""
    bodies = [sw.Body(n, 1.0, (1.0, i, 1.0)) for n, i in (("c", 0.3), ("l", 0.5), ("r", 1.1))]
    joints = [
        sw.Hinge(f"h{b.name}", sw.WORLD, b, axis="y", velocity=v)
        for b, v in zip(bodies, (1.5, 2.0, 1.0), strict=True)
    ]
    system = sw.System(
        "differential",
        bodies,
        joints,
        forces=[sw.JointForce("motor", "hc", force=3.0)],
        couplings=[sw.Coupling("diff", {"hc": 2.0, "hl": -1.0, "hr": -1.0})],
        water=sw.Water(g=0.0),
    )
    model = sw.compile(system)
    assert model.dofs == 2
    run = sw.simulate(model, duration=2.0, output_step=0.5, rtol=1e-9)
    # multiplier: 2 c'' = l'' + r'', c'' = (T + 2 f)/Ic, l'' = -f/Il, r'' = -f/Ir
    f = -2.0 * 3.0 / 0.3 / (4.0 / 0.3 + 1.0 / 0.5 + 1.0 / 1.1)
    t = run["time"].values
    left = 2.0 * t - 0.5 * f / 0.5 * t**2
    q = run["joint_coordinate"].sel(coordinate="hl__Pitch").values
    assert np.abs(q - left).max() < 1e-7
    assert np.allclose(run["coupling_force"].values, [2 * f, -f, -f], atol=1e-8)


@pytest.mark.slow
def test_coupling_of_a_cut_joint_and_a_given_constant():
    """A crank drives a rack in a loop; assembly brings the sum to its constant."""
    crank = sw.Body("crank", 1.0, (0.1, 0.1, 0.1), position=(0.5, 0.0, 0.0))
    rod = sw.Body("rod", 1.0, (0.1, 0.1, 0.1), position=(2.0, 0.0, 0.0))
    slide = sw.Body("slide", 1.0, (0.1, 0.1, 0.1), position=(3.0, 0.0, 0.0))
    wheel = sw.Body("wheel", 1.0, (0.1, 0.2, 0.1), position=(0.0, 0.0, 2.0))
    joints = [
        sw.Hinge("a", sw.WORLD, crank.at(-0.5, 0, 0), axis="y", position=-0.6, velocity=3.0),
        sw.Hinge("b", crank.at(0.5, 0, 0), rod.at(-1.0, 0, 0), axis="y"),
        sw.Hinge("c", rod.at(1.0, 0, 0), slide, axis="y"),
        sw.Slider("d", sw.WORLD.at(3.0, 0, 0), slide, axis="x"),
        sw.Hinge("w", sw.WORLD.at(0, 0, 2), wheel, axis="y"),
    ]
    coupling = sw.Coupling("pinion", {"w": 0.4, "d": -1.0}, constant=0.1)
    system = sw.System("slider crank", [crank, rod, slide, wheel], joints, couplings=[coupling])
    model = sw.compile(system)
    assert any("'w': Pitch was moved" in note or "'d'" in note for note in model.report)
    how = {"duration": 1.0, "output_step": 0.1, "rtol": 1e-9, "atol": 1e-11}
    run, other = (sw.simulate(model, formulation=f, **how) for f in ("path_matrix", "lagrange"))
    q = run["joint_coordinate"].sel(coordinate=["w__Pitch", "d__Surge"]).values
    assert np.abs(0.4 * q[:, 0] - q[:, 1] - 0.1).max() < 1e-9
    assert np.abs(run["energy_residual"].values).max() < 1e-6
    order = list(run["coordinate"].values)
    same = other["joint_coordinate"].sel(coordinate=order).values
    assert np.abs(run["joint_coordinate"].values - same).max() < 1e-6
    assert np.allclose(run["coupling_force"], other["coupling_force"], atol=1e-4)
    wheel_force = 0.2 * run["acceleration"].sel(body="wheel", dof="Pitch").values
    assert np.allclose(run["coupling_force"].values[:, 0], wheel_force, atol=1e-8)


def test_coupled_oscillators_have_one_mode():
    """A spring on one wheel of a belt: omega^2 = k / (I1 + (r1/r2)^2 I2)."""
    system = train(
        forces=[sw.JointForce("spring", "input", stiffness=30.0)],
        couplings=[
            sw.Coupling("belt", {"input": 0.2, "output": -0.1}),
            sw.Coupling("pinion", {"output": RADIUS, "rail": 1.0}),
        ],
    )
    omega = np.sqrt(30.0 / (INERTIA_1 + 4.0 * (INERTIA_2 + RACK * RADIUS**2)))
    modes = sw.modes(sw.compile(system))
    assert modes.sizes["mode"] == 1
    assert float(modes["natural_frequency"].values[0]) == pytest.approx(omega, rel=1e-9)


def test_case_file_says_the_same(model):
    text = train().to_toml()
    assert "[[system.couplings]]" in text
    assert sw.loads(text).system == train()
    assert float(model.value("gear.constant")) == pytest.approx(0.0, abs=1e-14)


@pytest.mark.slow
def test_redundant_coupling_is_reported():
    """A second gear that says the same: the motion is right, the force is not unique."""
    twice = [
        sw.Coupling("gear", {"input": 1.0, "output": RATIO}),
        sw.Coupling("again", {"input": 2.0, "output": 2.0 * RATIO}),
    ]
    model = sw.compile(train(couplings=twice))
    assert any("coupling 'again' adds nothing" in note for note in model.report)
    run = sw.simulate(model, duration=0.5, output_step=0.25, rtol=1e-8)
    alpha = TORQUE / (INERTIA_1 + INERTIA_2 / RATIO**2)
    assert run["joint_rate"].sel(coordinate="input__Pitch").values[-1] == pytest.approx(
        12.0 + 0.5 * alpha, rel=1e-7
    )


@pytest.mark.parametrize(
    ("coordinates", "message"),
    [
        ({"input": 1.0}, "coupling 'x': coordinates has 1 entries. Give two"),
        ({"input": 1.0, "output": 0.0}, "the coefficient of 'output' is zero"),
        ({"input": 1.0, "outputs": 2.0}, "joint 'outputs' is not in the system. Did you mean"),
        ({"input": 1.0, "output.Roll": 2.0}, "joint 'output' has no 'Roll'"),
        ({"input": 1.0, "ground": 2.0}, "joint 'ground' has no coordinates"),
        ({"input": 1.0, "input.Pitch": 2.0}, "Pitch of joint 'input' is given twice"),
        ({"input": 1.0, "output": "two"}, "coordinates 'output': 'two' is text"),
        ([1, 2], "is not a table"),
    ],
)
def test_bad_couplings_are_rejected(coordinates, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        train(couplings=[sw.Coupling("x", coordinates)])


def test_free_rotations_cannot_be_coupled():
    body = sw.Body("b", 1.0, (1.0, 1.0, 1.0))
    other = sw.Body("o", 1.0, (1.0, 1.0, 1.0))
    with pytest.raises(sw.SwelltreeError, match="'ball' turns freely, so Roll is not"):
        sw.System(
            "s",
            [body, other],
            [sw.Ball("ball", sw.WORLD, body), sw.Hinge("h", sw.WORLD, other, axis="y")],
            couplings=[sw.Coupling("x", {"ball.Roll": 1.0, "h": 1.0})],
        )
