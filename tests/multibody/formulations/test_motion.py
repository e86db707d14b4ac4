"""Motions with known answers, in every formulation."""

import numpy as np
import pytest

import swelltree as sw
from agreement.compare import NAMES, first_instant, some, trajectory
from multibody.formulations.examples import bar, four_bar, turning_pair
from swelltree.multibody.formulations.equations import observe

TIMES = np.linspace(0.0, 2.0, 21)


def coordinates(model, how, t, y):
    """Coordinates of all joints."""
    return observe(model, how, t, y)["coordinate"]


def attitude(model, how, t, y):
    """Rotation matrices and angular velocities."""
    motion = how.kinematics(model, t, y.state).motion
    return motion.pose.R, motion.v


def budget(model, how, t, y):
    """Energy, work of the drive, and the moment and rate at the driven joint."""
    seen = observe(model, how, t, y)
    energy = seen["kinetic_energy"].sum() + seen["potential_energy"].sum()
    return energy, y.work[-1], seen["reaction_joint_axes"][0, 4], seen["rate"][0]


@pytest.mark.parametrize("name", NAMES)
def test_a_balanced_system_at_rest_stays_at_rest(name):
    # a plumb chain, its second link half carried by a spring at its rest force
    top, low = bar("top", 0.0, 0.0, -0.5), bar("low", 0.0, 0.0, -1.5)
    half = 9.81 * 2.0 / 2
    system = sw.System(
        "plumb",
        [top, low],
        [
            sw.Hinge("a", sw.WORLD, top.at(0, 0, 0.5)),
            sw.Universal("b", top.at(0, 0, -0.5), low.at(0, 0, 0.5)),
        ],
        [sw.SpringDamper("s", sw.WORLD.at(0, 0, 1), low, 50.0, rest_length=2.5 - half / 50.0)],
    )
    seen = first_instant(sw.compile(system), name)
    # rounding of forces of some tens of newtons on two kilograms
    assert np.abs(seen["acceleration"]).max() < 1e-13
    upper = seen["reaction"][0]
    assert upper == pytest.approx([0, 0, 9.81 * 4.0 - half, 0, 0, 0], abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_welds_carry_the_weight_of_what_hangs_on_them(name):
    top, low = bar("top", 0.0, 0.0, -0.5), bar("low", 0.4, 0.0, -1.5)
    system = sw.System(
        "post",
        [top, low],
        [sw.Weld("foot", sw.WORLD, top.at(0, 0, 0.5)), sw.Weld("tip", low.at(-0.4, 0, 1.0), top)],
    )
    model = sw.compile(system)
    seen = first_instant(model, name)
    assert np.abs(seen["acceleration"]).max() == 0.0
    weight = 2.0 * 9.81
    foot = seen["reaction"][model.layout.joints.index("foot")]
    assert foot == pytest.approx([0, 0, 2 * weight, 0, -0.4 * weight, 0], abs=1e-12)
    # described from the low body to the top one, at the top's point
    tip = seen["reaction"][model.layout.joints.index("tip")]
    assert tip == pytest.approx([0, 0, -weight, 0, 0.4 * weight, 0], abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_mass_of_two_welded_bodies_is_their_sum(name):
    # two welded boxes with added mass accelerate like one body with the sums
    one, two = bar("one", -0.3), bar("two", 0.3, 0.2)
    B = np.random.default_rng(4).normal(size=(12, 12))
    added = B @ B.T / 12
    push = sw.AppliedForce("push", one.at(0.1, 0.4, 0.2), (3.0, -2.0, 5.0), (1.0, 2.0, -1.0))
    pair = sw.System(
        "pair",
        [one, two],
        [sw.Free("f", sw.WORLD, "one"), sw.Weld("w", one, two.at(-0.6, -0.2))],
        [push],
    )
    mean = np.array([0.0, 0.1, 0.0])
    inertia = np.zeros((3, 3))
    for body in (one, two):
        r = np.array(body.position) - mean
        inertia += body.inertia_matrix + body.mass * (r @ r * np.eye(3) - np.outer(r, r))
    full = sw.Body("one", 4.0, inertia, com=(0.3, 0.1, 0.0), position=one.position,
                    reference_point=(0.0, 0.0, 0.0))  # fmt: skip
    # both move with body one: v_two = v_one + w x (0.6, 0.2, 0)
    T = np.vstack([np.eye(6), np.eye(6)])
    T[6:9, 3:] = -np.cross(np.eye(3), [0.6, 0.2, 0.0])
    together = sw.System("whole", [full], [sw.Free("f", sw.WORLD, "one")], [push])
    pair_seen = first_instant(sw.compile(pair, added_mass=added), name)
    whole_seen = first_instant(sw.compile(together, added_mass=T.T @ added @ T), "path_matrix")
    assert pair_seen["acceleration"][0] == pytest.approx(whole_seen["acceleration"][0], abs=1e-13)


@pytest.mark.parametrize("name", some("path_matrix", "partition"))
def test_ninety_degrees_of_pitch_is_no_singularity(name):
    # a quarter turn about y at t = 1 s, where Euler angles fail; a principal axis, so it keeps on
    system = sw.System(
        "top", [bar("top")], [sw.Free("f", sw.WORLD, "top", velocity={"Pitch": np.pi / 2})],
        water=sw.Water(g=0.0),
    )  # fmt: skip
    R, v = trajectory(sw.compile(system), name, TIMES, watch=attitude)
    angle = 0.5 * np.pi * TIMES
    expected = np.array([[[c, 0, s], [0, 1, 0], [-s, 0, c]]
                         for c, s in zip(np.cos(angle), np.sin(angle), strict=True)])  # fmt: skip
    # some hundred steps of 1e-12 relative error
    assert np.abs(R[:, 0] - expected).max() < 1e-10
    assert np.abs(v[:, 0] - [0, 0, 0, 0, np.pi / 2, 0]).max() < 1e-12


@pytest.mark.parametrize("name", some("path_matrix", "partition"))
def test_hinge_angles_pass_many_turns_also_at_a_cut_joint(name):
    model = sw.compile(turning_pair())
    assert model.layout.joints[-1] == "right"
    angle = trajectory(model, name, TIMES, rtol=1e-9, watch=coordinates)
    # steps of 1e-9 relative error, 18 rad in all
    assert np.abs(angle - 9.0 * TIMES[:, None]).max() < 1e-7


@pytest.mark.parametrize("name", some("lagrange"))
def test_work_at_a_driven_joint_is_the_energy_gained(name):
    arm, bob = bar("arm", 0.5), bar("bob", 1.5)
    motor = sw.Hinge("motor", sw.WORLD, arm.at(-0.5), motion=sw.Harmonic(0.5, 4.0, np.pi / 2))
    system = sw.System("driven", [arm, bob], [motor, sw.Hinge("swing", arm.at(0.5), bob.at(-0.5))])
    times = np.linspace(0.0, 2.0, 401)
    energy, work, moment, rate = trajectory(
        sw.compile(system), name, times, rtol=1e-10, atol=1e-12, watch=budget
    )
    gain = energy - energy[0]
    assert np.abs(gain).max() > 1.0
    # the work is stepped without error control of its own
    assert np.abs(gain - work).max() < 1e-7
    # the reaction's moment about the axis does it: Simpson's rule with steps of 5 ms
    power = moment * rate
    h = times[1] - times[0]
    simpson = h / 3 * (power[:-2:2] + 4 * power[1:-1:2] + power[2::2]).sum()
    assert simpson == pytest.approx(gain[-1], abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_massless_cross_between_two_hinges_is_a_universal_joint(name):
    one, two = bar("one", 0.5), bar("two", 1.5, com=(0.1, 0.2, 0.1))
    cross = sw.Body("cross", position=(1.0, 0.0, 0.0))
    root = sw.Ball("root", sw.WORLD, one.at(-0.5), velocity={"Roll": 0.3, "Pitch": 0.5})
    hinges = sw.System("hinges", [one, cross, two], [
        root,
        sw.Hinge("h1", one.at(0.5), cross, "z", velocity=0.7),
        sw.Hinge("h2", cross, two.at(-0.5), "y", velocity=-0.4),
    ])  # fmt: skip
    universal = sw.System("universal", [one, two], [
        root,
        sw.Universal("u", one.at(0.5), two.at(-0.5), ("z", "y"),
                     velocity={"Yaw": 0.7, "Pitch": -0.4}),
    ])  # fmt: skip
    a = first_instant(sw.compile(hinges), name)
    b = first_instant(sw.compile(universal), "path_matrix")
    size = np.abs(b["acceleration"]).max()
    assert np.abs(a["acceleration"][[0, 2]] - b["acceleration"]).max() < 1e-12 * size
    assert np.abs(a["reaction"][0] - b["reaction"][0]).max() < 1e-11 * np.abs(b["reaction"]).max()


@pytest.mark.parametrize("name", NAMES)
def test_a_planar_four_bar_turns_like_its_one_freedom_says(name):
    # energy of the single freedom: dK/dt = -weight . v fixes the crank's acceleration
    model = sw.compile(four_bar())
    seen = first_instant(model, name)
    power = (seen["wrench"] * seen["velocity"]).sum()
    inertia_power = 0.0
    for i in range(3):
        m, I = model.bodies.mass[i], model.bodies.inertia[i]  # noqa: E741
        a, v = seen["acceleration"][i], seen["velocity"][i]
        inertia_power += m * a[:3] @ v[:3] + a[3:] @ I @ v[3:]
    assert inertia_power == pytest.approx(power, abs=1e-12)
    assert np.abs(seen["reaction"][:, [1, 3, 5]]).max() < 1e-12  # least norm: nothing sideways
