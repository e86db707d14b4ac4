"""Turns of joints that close loops: they follow from continuous angles, not from samples."""

import numpy as np
import pytest

import swelltree as sw

SPIN, STIFFNESS, INERTIA = 21.0, 3.0, 40.0
FORMULATIONS = ("path_matrix", "partial_velocity", "composite_body", "partition", "lagrange")
CUT = {
    "hinge": lambda a, b: sw.Hinge("cut", a, b, axis="z", cut=True),
    "cylindrical": lambda a, b: sw.Cylindrical("cut", a, b, axis="z", cut=True),
    "planar": lambda a, b: sw.Planar("cut", a, b, axis="z", cut=True),
    "screw": lambda a, b: sw.Screw("cut", a, b, axis="z", lead=0.3, cut=True),
    "subset": lambda a, b: sw.SubsetJoint("cut", a, b, dofs=("Surge", "Yaw"), cut=True),
}


def wheel(kind="hinge"):
    """A wheel on two bearings, a spring on the second."""
    body = sw.Body("wheel", mass=30.0, inertia=(25.0, 25.0, INERTIA))
    first = sw.Cylindrical if kind == "screw" else sw.Hinge
    bearing = first("bearing", sw.WORLD, body, axis="z", velocity={"Yaw": SPIN})
    force = sw.JointForce("spring", "cut", dof="Yaw", stiffness=STIFFNESS)
    return sw.compile(
        sw.System(
            "wheel",
            [body],
            [bearing, CUT[kind](sw.WORLD, body)],
            forces=[force],
            water=sw.Water(g=1e-6),
        )
    )


def swung(t, mass=INERTIA):
    """Angle of the wheel on its spring."""
    w = np.sqrt(STIFFNESS / mass)
    return SPIN / w * np.sin(w * t)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_spring_on_a_cut_hinge_counts_turns_over_long_steps(formulation):
    times = np.array([0.0, 0.9, 2.0, 2.3, 4.0])
    # looser where attitudes are integrated, so that steps are as long as half a turn
    rtol = 1e-4 if formulation in ("lagrange", "partition") else 1e-6
    run = sw.simulate(wheel(), times=times, formulation=formulation, rtol=rtol, progress=False)
    angle = run.joint_coordinate.sel(coordinate="cut__Yaw").values
    assert angle == pytest.approx(swung(times), rel=200 * rtol)
    assert run.joint_force.values[-1, 0] == pytest.approx(-STIFFNESS * angle[-1], rel=1e-12)
    assert abs(angle).max() > 8 * np.pi


@pytest.mark.parametrize("kind", [kind for kind in CUT if kind != "hinge"])
def test_turns_are_counted_by_every_joint_with_an_angle(kind):
    times = np.array([0.0, 1.7, 4.0])
    run = sw.simulate(wheel(kind), times=times, progress=False)
    angle = run.joint_coordinate.sel(coordinate="cut__Yaw").values
    # a screw moves the mass along as well
    inertia = INERTIA + (30.0 * (0.3 / (2 * np.pi)) ** 2 if kind == "screw" else 0.0)
    assert angle == pytest.approx(swung(times, inertia), rel=1e-3)


def test_fixed_steps_of_half_a_turn_and_more_lose_none():
    times = np.arange(0.0, 4.1, 0.2)  # 4.2 rad a step at first
    run = sw.simulate(wheel(), times=times, solver="rk4", progress=False)
    tree, cut = (run.joint_coordinate.sel(coordinate=f"{j}__Yaw") for j in ("bearing", "cut"))
    assert cut.values == pytest.approx(tree.values, abs=1e-9)


@pytest.mark.parametrize("formulation", ["path_matrix", "lagrange"])
def test_two_step_scheme_counts_turns_between_bodies_that_turn_against_each_other(formulation):
    a = sw.Body("a", mass=3.0, inertia=(1, 1, 2))
    b = sw.Body("b", mass=3.0, inertia=(1, 1, 2))
    joints = [
        sw.Hinge("left", sw.WORLD, a, axis="z", velocity=-9.0),
        sw.Hinge("right", sw.WORLD, b, axis="z", velocity=9.0),
        sw.Hinge("between", a, b, axis="z", cut=True),
    ]
    model = sw.compile(sw.System("pair", [a, b], joints, water=sw.Water(g=1e-6)))
    run = sw.simulate(
        model,
        duration=5.0,
        output_step=0.25,
        step=0.25,
        solver="two_step",
        formulation=formulation,
        progress=False,
    )
    left, right, between = (
        run.joint_coordinate.sel(coordinate=f"{j}__Yaw").values
        for j in ("left", "right", "between")
    )
    # each body turns by less than half a turn in a step, both together by more
    assert np.diff(between)[2] > np.pi
    assert between == pytest.approx(right - left, abs=1e-6)
