"""Slender members against Morison's formula in closed form."""

from dataclasses import replace

import numpy as np
import pytest

import swelltree as sw
from flow import group_loads, motion_of, yaw
from swelltree.hydro.morison.morison import MorisonMembers, wetness
from swelltree.jit import jax, jnp
from swelltree.model.capabilities import AT_REST, internal_at_rest
from swelltree.model.effect import Instant
from swelltree.multibody.formulations import formulation
from swelltree.multibody.formulations.equations import start_phase
from swelltree.waves.components import components

RHO, D, CD, CA = 1025.0, 2.0, 0.9, 1.1


def pile(depth=np.inf, bottom=-40.0, strips=80, **more):
    """A vertical cylinder from the bottom to 10 m above the water, held fast."""
    body = sw.Body("pile", mass=1e5, inertia=(1e6, 1e6, 1e5), position=(3.0, 1.0, 0.0))
    specified = {"diameter": D, "Cd": CD, "Ca": CA, "strips": strips} | more
    member = sw.MorisonMember("leg", body.at(0, 0, bottom), body.at(0, 0, 10.0), **specified)
    water = sw.Water(rho=RHO, depth=depth)
    return sw.compile(
        sw.System(
            "pile",
            [body],
            [sw.Weld("held", sw.WORLD.at(3.0, 1.0, 0.0), body)],
            [member],
            water=water,
        )
    )


@pytest.mark.parametrize("depth", [np.inf, 20.0])
@pytest.mark.parametrize("beta", [0.0, 0.7])
def test_inertia_and_drag_on_a_pile_are_the_integrals_of_morison(depth, beta):
    bottom = -min(depth, 150.0)
    model = pile(depth, bottom, strips=int(2 * (10.0 - bottom)))
    drag_only = pile(depth, bottom, strips=int(2 * (10.0 - bottom)), inertia=False)
    a, omega = 1e-3, 0.9
    wave = sw.RegularWave(amplitude=a, omega=omega, beta=beta)
    k = float(sw.dispersion(np.array(omega), depth, 9.81))
    kd = min(k * depth, 200.0)
    ahead = np.array([np.cos(beta), np.sin(beta)])
    # integral of the acceleration over depth is g a tanh(kd), of u^2 from cosh^2
    inertia = RHO * (1 + CA) * np.pi / 4 * D**2 * 9.81 * a * np.tanh(kd)
    squares = (
        1 / (2 * k)
        if np.isinf(depth)
        else ((np.sinh(2 * kd) / (4 * k) + 0.5 * depth) / np.sinh(kd) ** 2)
    )
    drag = 0.5 * RHO * CD * D * (a * omega) ** 2 * squares
    for t in (0.0, 0.8, 2.1, 5.0):
        theta = k * (3.0 * ahead[0] + 1.0 * ahead[1]) - omega * t
        viscous = group_loads(drag_only, "morison", t, wave).wrench[0, :2]
        both = group_loads(model, "morison", t, wave).wrench[0, :2]
        expected = drag * np.cos(theta) * abs(np.cos(theta)) * ahead
        # strips of half a metre, and the surface moves by a millimetre
        np.testing.assert_allclose(viscous, expected, atol=2e-3 * drag)
        expected = inertia * np.sin(theta) * ahead
        np.testing.assert_allclose(both - viscous, expected, atol=1e-3 * inertia)


def test_moment_of_the_pile_is_that_of_its_force_down_the_water():
    model = pile(bottom=-150.0, strips=320)
    omega = 0.9
    k = omega**2 / 9.81
    t = (np.pi / 2 + 3.0 * k) / omega
    wave = sw.RegularWave(amplitude=1e-3, omega=omega)
    wrench = group_loads(model, "morison", t, wave).wrench[0]
    # the centre of a force that decays as exp(kz) lies 1/k below the surface
    assert wrench[4] / wrench[0] == pytest.approx(-1.0 / k, rel=2e-3)


def test_wetted_length_of_strips_on_end_is_exact_and_smooth():
    member = pile(strips=17).effect(MorisonMembers)
    at = np.asarray(member.point)
    up = np.tile([0.0, 0.0, 1.0], (17, 1))
    levels = np.linspace(-35.0, 5.0, 301)
    wet = [float((wetness(np.full(17, h), at, up, member) * member.length).sum()) for h in levels]
    np.testing.assert_allclose(wet, levels + 40.0, rtol=1e-5)
    tilted = np.tile([0.6, 0.0, 0.8], (17, 1))
    fine = np.linspace(-3.0, 3.0, 6001)
    part = np.array([wetness(np.full(17, h), at, tilted, member) for h in fine])
    assert (np.diff(part, axis=0) >= 0).all()
    assert np.abs(np.diff(part, 2, axis=0)).max() < 1e-5


def test_buoyancy_of_a_member_is_the_weight_of_its_wet_part():
    model = pile(buoyancy=True)
    wrench = group_loads(model, "morison").wrench[0]
    area = np.pi / 4 * D**2
    assert wrench[2] == pytest.approx(RHO * 9.81 * area * 40.0, rel=1e-5)
    np.testing.assert_allclose(wrench[[0, 1, 3, 4, 5]], 0.0, atol=1e-6)


def test_axial_wave_force_of_a_deep_member_is_the_pressure_on_its_ends():
    body = sw.Body("rod", mass=1e4, inertia=(1e4, 1e4, 1e3))
    member = sw.MorisonMember(
        "rod_skin", body.at(0, 0, -25.0), body.at(0, 0, -15.0), diameter=D, strips=60, buoyancy=True
    )
    system = sw.System("rod", [body], [sw.Weld("w", sw.WORLD, body)], [member])
    model = sw.compile(system)
    wave = sw.RegularWave(amplitude=1.0, omega=0.8)
    loads = group_loads(model, "morison", 0.0, wave).wrench[0, 2]
    buoyancy = group_loads(model, "morison").wrench[0, 2]
    at = np.array([-25.0, -15.0])
    waves = sw.realise(wave, model.water)
    p = sw.kinematics(waves, 0.0, np.zeros(2), np.zeros(2), at, model.water, "wheeler").pressure
    assert loads - buoyancy == pytest.approx((p[0] - p[1]) * np.pi / 4 * D**2, rel=2e-3)


def test_added_mass_of_a_submerged_member_is_that_of_its_volume():
    body = sw.Body("bar", mass=1e4, inertia=(1e4, 1e4, 1e3), position=(0, 0, -50))
    member = sw.MorisonMember(
        "skin", body.at(-5.0), body.at(5.0), diameter=1.0, Ca=0.8, end_Ca=0.5, strips=200
    )
    A = sw.compile(
        sw.System("bar", [body], [sw.Free("f", sw.WORLD, body)], [member])
    ).bodies.added_mass[0]
    per_length = 1025.0 * 0.8 * np.pi / 4
    ends = 2 * 1025.0 * 0.5 * np.pi / 12
    turning = per_length * 10.0**3 / 12
    expected = [ends, per_length * 10, per_length * 10, 0.0, turning, turning]
    np.testing.assert_allclose(A, np.diag(expected), rtol=1e-4, atol=1e-6)


def test_only_the_wet_part_has_added_mass():
    A = pile().bodies.added_mass[0]
    assert A[0, 0] == pytest.approx(RHO * CA * np.pi / 4 * D**2 * 40.0, rel=1e-5)
    assert A[2, 2] == 0.0


def test_members_only_take_energy_in_still_water():
    model = pile(axial_Cd=0.05, end_Cd=1.0)
    rng = np.random.default_rng(2)
    for _ in range(20):
        v = rng.normal(size=6)
        assert group_loads(model, "morison", v=v).power[0] < 0


def test_turning_everything_turns_the_force():
    wave = sw.RegularWave(amplitude=2.0, omega=0.7, beta=0.3)
    turned = sw.RegularWave(amplitude=2.0, omega=0.7, beta=0.3 + 1.1)
    model = pile(axial_Cd=0.05)
    R = yaw(1.1)
    v = np.array([0.3, -0.2, 0.5, 0.02, 0.1, -0.03])
    p = np.array([4.0, -2.0, -1.0])
    one = group_loads(model, "morison", 1.3, wave, p=p, v=v).wrench[0]
    two = group_loads(
        model, "morison", 1.3, turned, p=R @ p, R=R, v=np.append(R @ v[:3], R @ v[3:])
    ).wrench[0]
    np.testing.assert_allclose(two, np.append(R @ one[:3], R @ one[3:]), rtol=1e-9, atol=1e-6)


def test_derivative_of_a_member_load_matches_finite_differences():
    model = pile(strips=12, buoyancy=True)
    group = model.effect(MorisonMembers)
    wave = sw.RegularWave(amplitude=2.0, omega=0.7)
    waves = sw.realise(wave, model.water)
    still = motion_of(model)
    sea = replace(model.sea, waves=waves)
    model = model.replace(sea=sea)

    def surge(x):
        x = jnp.asarray(x)
        p = jnp.asarray(still.pose.p) + jnp.stack([x, 0 * x, 0.4 * x])
        v = jnp.asarray(still.v).at[0, 0].add(x)
        moved = replace(still, pose=replace(still.pose, p=p), v=v)
        return group.loads(model, Instant(jnp.asarray(1.0), moved, AT_REST)).wrench[0, 0]

    slope = float(jax.grad(surge)(0.2))
    h = 1e-5
    assert slope == pytest.approx(float(surge(0.2 + h) - surge(0.2 - h)) / (2 * h), rel=1e-6)


def test_members_of_bodies_that_cannot_move_still_feel_the_waves():
    """A jacket welded to the seabed: no freedom at all, yet a wave force to be reacted."""
    pile = sw.Body("pile", 1e5, (1e6, 1e6, 1e5))
    leg = sw.MorisonMember("leg", pile.at(0, 0, -20), pile.at(0, 0, 5), diameter=2.0)
    fixed = sw.System("s", [pile], [sw.Weld("w", sw.WORLD, pile)], [leg], water=sw.Water(depth=50))
    wave = sw.RegularWave(amplitude=1.0, period=8.0)
    push = [
        sw.simulate(sw.compile(fixed), wave, duration=4.0, formulation=name).reaction.values
        for name in ("path_matrix", "lagrange")
    ]
    assert np.abs(push[0][..., 0]).max() > 1e4
    assert push[0] == pytest.approx(push[1], abs=1e-6 * np.abs(push[1]).max())


def test_a_member_wet_up_to_the_still_water_has_no_stretching():
    """Linear theory: the force on surface="still" goes exactly with the amplitude."""

    def force(amplitude, surface, t):
        pile = sw.Body("pile", 1e5, (1e6, 1e6, 1e5))
        leg = sw.MorisonMember(
            "leg", pile.at(1, 2, -20), pile.at(2, 2, 5), 2.0, Cd=0.0, surface=surface
        )
        system = sw.System("s", [pile], [sw.Weld("w", sw.WORLD, pile)], [leg])
        model = sw.compile(system)
        waves = components(sw.RegularWave(amplitude=amplitude, period=7.0), system.water)
        model = model.replace(sea=replace(model.sea, waves=waves))
        group = model.effect(MorisonMembers)
        how = formulation("path_matrix")
        state = start_phase(model, how).state
        motion = how.kinematics(model, np.zeros(()), state).motion
        internal = internal_at_rest(model)
        return np.asarray(group.loads(model, Instant(np.array(t), motion, internal)).wrench)

    for t in (0.0, 1.3, 4.9):
        one, three = force(1.0, "still", t), force(3.0, "still", t)
        assert three == pytest.approx(3.0 * one, abs=1e-9 * np.abs(three).max())
        far = force(3.0, "actual", t) - 3.0 * force(1.0, "actual", t)
        assert np.abs(far).max() > 1e-3 * np.abs(three).max()
