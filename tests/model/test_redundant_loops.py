"""Joints that say what others say already, in general directions."""

import numpy as np
import pytest

import swelltree as sw
from agreement.compare import some

SMALL_ANGLE = np.deg2rad(30.0)
LARGE_ANGLE = np.deg2rad(77.7)
DIRECTIONS = {
    "along y": (0.0, 1.0, 0.0),
    "30 degrees": (0.0, np.cos(SMALL_ANGLE), np.sin(SMALL_ANGLE)),
    "77.7 degrees": (np.sin(LARGE_ANGLE), np.cos(LARGE_ANGLE), 0.0),
    **{f"random {k}": tuple(np.random.default_rng(k).normal(size=3)) for k in range(3)},
}
SECOND = {
    "hinge": lambda name, axis, *ends: sw.Hinge(name, *ends, axis),
    "ball": lambda name, axis, *ends: sw.Ball(name, *ends),
    "cylindrical": lambda name, axis, *ends: sw.Cylindrical(name, *ends, axis),
}


def flap(axis, *further, afloat=False):
    """A flap on a bearing in any direction, and on further joints on its axis."""
    body = sw.Body("flap", 10.0, (1.0, 2.0, 1.5), position=(0.3, 0.2, -0.9))
    unit = np.array(axis) / np.linalg.norm(axis)
    bodies, joints, base = [body], [], sw.WORLD
    if afloat:
        base = sw.Body("barge", 100.0, (30.0, 40.0, 50.0))
        bodies, joints = [base, body], [sw.Free("float", sw.WORLD, base)]

    def ends(along):
        point = np.array([0.1, 0.05, 0.02]) + along * unit
        return base.at(*point), body.at(*(point - np.array(body.position)))

    joints.append(sw.Hinge("bearing", *ends(0.0), axis, velocity=0.3))
    for k, kind in enumerate(further):
        joints.append(SECOND[kind](f"further{k}", axis, *ends(0.7 - 2.0 * k)))
    return sw.System("flap", bodies, joints)


def tool(*places):
    """A tool welded to a swinging arm at the given places, in any direction."""
    R = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    R = R * np.sign(np.linalg.det(R))
    arm = sw.Body("arm", 5.0, (1.0, 1.0, 0.5), position=(0.5, 0.2, -0.1))
    held = sw.Body("tool", 2.0, (0.2, 0.3, 0.1), position=(1.1, 0.3, -0.5), rotation=R)
    joints = [sw.Hinge("shoulder", sw.WORLD, arm.at(-0.5, -0.2, 0.1), (0.3, 1.0, 0.2))]
    for k, place in enumerate(places):
        on_arm = arm.at(*(np.array(place) - arm.position))
        on_tool = held.at(*(R.T @ (np.array(place) - held.position)))
        joints.append(sw.Weld(f"weld{k}", on_arm, on_tool))
    return sw.System("tool", [arm, held], joints)


def three_cranks(**start):
    """A platform on three parallel cranks, their plane turned: one equation is too many."""
    rng = np.random.default_rng(11)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    R = R * np.sign(np.linalg.det(R))
    axis = tuple(R[:, 1])

    def place(x, z):
        return R @ np.array([x, 0.0, z])

    platform = sw.Body("platform", 5.0, (0.5, 1.0, 0.7), position=tuple(place(1.0, 0.8)))
    bodies, joints = [platform], []
    for k, x in enumerate((0.0, 0.7, 2.0)):
        crank = sw.Body(f"crank{k}", 1.0, (0.1, 0.2, 0.1), position=tuple(place(x, 0.4)))
        foot, top = place(0.0, -0.4), place(0.0, 0.4)
        on_platform = place(x, 0.8) - np.array(platform.position)
        more = start if k == 0 else {}
        joints.append(
            sw.Hinge(f"foot{k}", sw.WORLD.at(*place(x, 0.0)), crank.at(*foot), axis, **more)
        )
        joints.append(sw.Hinge(f"top{k}", crank.at(*top), platform.at(*on_platform), axis))
        bodies.append(crank)
    return sw.System("three cranks", bodies, joints)


def run(system, formulation="path_matrix", **more):
    model = sw.compile(system)
    return sw.simulate(model, duration=2.0, output_step=0.1, formulation=formulation, **more)


@pytest.mark.parametrize("afloat", [False, True], ids=["on the world", "on a barge"])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    "further",
    [*((kind,) for kind in SECOND), ("hinge", "hinge")],
    ids=[*SECOND, "three bearings"],
)
def test_further_joints_on_the_axis_of_a_hinge_take_no_freedom(further, direction, afloat):
    model = sw.compile(flap(DIRECTIONS[direction], *further, afloat=afloat))
    assert model.dofs == (7 if afloat else 1)
    assert model.redundant
    named = [text for text in model.report if "adds nothing that 'bearing' do not" in text]
    assert len(named) == len(further)


@pytest.mark.parametrize("formulation", some("path_matrix", "lagrange"))
def test_a_flap_on_hinge_ball_and_cylinder_swings_as_on_one_hinge(formulation):
    axis = DIRECTIONS["random 1"]
    one = run(flap(axis, afloat=True), formulation)
    many = run(flap(axis, *SECOND, afloat=True), formulation)
    assert many.attrs["result"] == "success"
    # both keep their steps within a relative error of 1e-6
    assert float(abs(one["position"] - many["position"]).max()) < 1e-7


@pytest.mark.parametrize(
    "formulation", ["lagrange", pytest.param("path_matrix", marks=pytest.mark.slow)]
)
def test_redundant_joints_change_nothing_in_the_two_step_scheme(formulation):
    axis = DIRECTIONS["random 2"]
    how = {"formulation": formulation, "solver": "two_step", "step": 0.02}
    one, many = run(flap(axis), **how), run(flap(axis, *SECOND), **how)
    assert float(abs(one["position"] - many["position"]).max()) < 1e-9


def test_a_tool_welded_at_two_places_moves_as_welded_at_one():
    one, two = tool((0.8, 0.1, -0.3)), tool((0.8, 0.1, -0.3), (0.9, 0.4, -0.35))
    model = sw.compile(two)
    assert model.dofs == 1
    assert any("joint 'weld1' adds nothing" in text for text in model.report)
    gap = run(one)["position"] - run(two)["position"]
    assert float(abs(gap).max()) < 1e-7


def test_which_equation_of_three_cranks_is_too_many_is_not_decided_at_the_start():
    model = sw.compile(three_cranks())
    assert model.dofs == 1
    assert model.surplus == 1


@pytest.mark.parametrize(
    "how",
    [
        *some("path_matrix", "lagrange"),
        pytest.param("partition", marks=pytest.mark.slow),
        pytest.param("two_step", marks=pytest.mark.slow),
    ],
)
def test_a_platform_on_three_cranks_goes_round_without_turning(how):
    # fast enough to pass all positions; every pair of equations is dependent in one of them
    system = three_cranks(position=0.3, velocity=12.0)
    more = {"formulation": how}
    if how == "two_step":
        more = {"formulation": "lagrange", "solver": "two_step", "step": 0.005}
    result = run(system, **more)
    assert result.attrs["result"] == "success"
    turned = result["joint_coordinate"].isel(coordinate=0)
    assert float(abs(turned).max()) > 2.0 * np.pi
    spin = result["quaternion"].sel(body="platform")
    assert float(abs(spin - spin.isel(time=0)).max()) < 1e-7
    energy = float(result["kinetic_energy"].max())
    # some fifty steps to 1e-6 each, as long as the accuracy allows
    limit = 1e-2 if how == "two_step" else 1e-5
    assert float(abs(result["energy_residual"]).max()) < limit * energy


def test_reactions_of_redundant_bearings_are_the_least_ones():
    # two equal bearings on either side of the centre of mass share the weight evenly
    wheel = sw.Body("wheel", 4.0, (0.1, 0.2, 0.1))
    axis = np.array([1.0, 2.0, 0.0]) / np.sqrt(5.0)
    joints = [
        sw.Hinge(name, sw.WORLD.at(*(side * axis)), wheel.at(*(side * axis)), tuple(axis))
        for name, side in (("left", -0.4), ("right", 0.4))
    ]
    result = run(sw.System("wheel", [wheel], joints))
    lift = result["reaction"].isel(time=0).sel(dof="Heave")
    assert np.allclose(lift, 0.5 * 4.0 * 9.81, rtol=1e-9)
    assert "least-norm" in result["reaction"].attrs["uniqueness"]
