"""Bodies at the surface: limits, energy, agreement of formulations and of both time steppers."""

import functools
from dataclasses import replace

import numpy as np
import pytest

import swelltree as sw
from agreement.compare import QUICK, some
from swelltree.hydro.splash_zone.immersions import (
    depth_tables,
    immersions,
    wet_at,
    with_immersed_mass,
)
from swelltree.jit import jax, jnp
from swelltree.model.solved import total_loads
from swelltree.multibody.formulations import formulation
from swelltree.multibody.formulations.equations import solve_motion
from swelltree.multibody.kinematics import Motion, Pose, joint_frames

RHO, G = 1025.0, 9.81
DEPTH = (0.0, 0.4, 1.0, 1.6)
VOLUME = (0.0, 1.5, 4.0, 5.0)
ADDED = ((0, 0, 0), (500, 400, 2e3), (1e3, 800, 5e3), (1.5e3, 1e3, 6e3))
AREA = ((0, 0, 0), (1, 1, 3), (2, 2, 6), (2, 2, 6))
WAVE = sw.RegularWave(amplitude=0.8, period=6.0)


def hung(**more):
    """A load on a rope, hung askew under a hook that can swing."""
    load = sw.Body("load", mass=9e3, inertia=(4e3, 5e3, 6e3), position=(0, 0, 1.5))
    hook = sw.Body("hook", mass=300, inertia=(30, 30, 30), position=(0, 0, 4))
    wet = sw.Immersion(
        "wet",
        load.at(0.1, 0, -0.8),
        depth=DEPTH,
        volume=VOLUME,
        added_mass=ADDED,
        drag_area=AREA,
        **more,
    )
    rope = sw.SpringDamper(
        "rope", sw.WORLD.at(0, 0, 14), hook, stiffness=2e5, damping=8e3, rest_length=9.7
    )
    joints = [
        sw.Free("free", sw.WORLD, hook, velocity={"Heave": -0.7, "Surge": 0.3}),
        sw.Ball("ball", hook.at(0, 0, -0.3), load.at(0.2, 0.1, 2.2)),
    ]
    return sw.System("hung", [load, hook], joints, [wet, rope], water=sw.Water(RHO, G))


def at_height(model, z):
    """One body at rest at a height."""
    pose = Pose(np.array([[0.0, 0.0, z]]), np.eye(3)[None])
    return Motion(pose, np.zeros((1, 6)), joint_frames(model, pose), np.zeros(6), np.zeros(6))


def test_dry_and_wet_limits_are_those_of_archimedes():
    load = sw.Body("load", mass=9e3, inertia=(4e3, 5e3, 6e3))
    wet = sw.Immersion("wet", load, depth=DEPTH, volume=VOLUME, added_mass=ADDED)
    free = sw.Free("free", sw.WORLD, load)
    model = sw.compile(sw.System("load", [load], [free], [wet], water=sw.Water(RHO, G)))
    for z, volume, added in ((5.0, 0.0, 0.0), (-0.4, 1.5, 2e3), (-40.0, 5.0, 6e3)):
        motion = at_height(model, z)
        force = total_loads(model, np.zeros(()), motion).wrench[0, 2]
        assert force == pytest.approx(-9e3 * G + RHO * G * volume)
        heavy = with_immersed_mass(model, np.zeros(()), motion)
        assert heavy.added_mass[2, 2] == pytest.approx(added)
    # stored energy is the integral of the force
    z = np.linspace(0.5, -3.0, 141)
    found = [total_loads(model, np.zeros(()), at_height(model, x)) for x in z]
    stored, lift = [x.potential[2] for x in found], [x.wrench[0, 2] for x in found]
    work = np.concatenate([[0.0], np.cumsum(-0.5 * np.diff(z) * np.add(lift[1:], lift[:-1]))])
    weight = 9e3 * G * (0.5 - z)
    np.testing.assert_allclose(stored, work + weight, rtol=1e-3, atol=5.0)


def test_tables_go_through_their_rows_and_do_not_overshoot():
    depth = np.array([-1.0, 0.0, 0.1, 3.0])
    columns = np.zeros((4, 10))
    columns[:, 0] = 0.0, 1.0, 5.0, 5.0
    columns[:, 6] = 0.0, 0.0, 7.0, 8.0
    short = np.array([0.0, 1.0]), np.vstack([np.zeros(10), np.ones(10)])
    tables = depth_tables([(depth, columns), short])
    for k, d in enumerate(depth):
        wet = wet_at(tables, np.array([d, 0.5]))
        assert wet.volume == pytest.approx([columns[k, 0], 0.5])
        assert wet.added[0, 2] == pytest.approx(columns[k, 6])
    fine = np.linspace(-2.0, 4.0, 2001)
    found = [wet_at(tables, np.array([d, d])) for d in fine]
    volume = np.array([wet.volume[0] for wet in found])
    assert (np.diff(volume) >= -1e-12).all()
    assert volume.max() == pytest.approx(5.0)
    head = np.array([wet.head[0] for wet in found])
    np.testing.assert_allclose(np.gradient(head, fine)[1:-1], volume[1:-1], atol=2e-2)
    slope = np.array([wet.added_slope[0, 2] for wet in found])
    assert (slope >= 0.0).all()
    assert slope[0] == slope[-1] == 0.0


@functools.cache
def accelerations(name):
    """Accelerations at the first instant, half under water, moving and turning."""
    model = sw.compile(hung())
    waves = sw.realise(WAVE, model.water)
    model = model.replace(sea=replace(model.sea, waves=waves))
    rng = np.random.default_rng(1)
    speeds = rng.normal(size=model.start.s.shape)
    model = model.replace(start=replace(model.start, s=speeds))
    how = formulation(name)

    def look(model):
        return solve_motion(model, how, jnp.asarray(0.3), how.start(model))[2].v_dot

    return jax.jit(look, compiler_options=QUICK)(model)


@pytest.mark.parametrize("name", some("composite_body", "lagrange"))
def test_formulations_agree(name):
    np.testing.assert_allclose(
        accelerations(name), accelerations("path_matrix"), rtol=1e-9, atol=1e-10
    )


def ball(**more):
    """A ball that falls into the water on a vertical slider."""
    d = np.linspace(0.0, 2.0, 21)
    body = sw.Body("ball", mass=3e3, position=(0, 0, 1.6))
    wet = sw.Immersion(
        "wet",
        body.at(0, 0, -1.0),
        depth=d,
        volume=np.pi * d**2 * (3.0 - d) / 3.0,
        added_mass=2e3 * np.minimum(d, 1.0) ** 2,
        drag_area=1.5 * np.minimum(d, 1.0),
        **more,
    )
    return sw.System("ball", [body], [sw.Slider("way", sw.WORLD, body)], [wet])


def test_energy_closes_and_two_step_agrees_to_second_order_in_waves():
    model = sw.compile(ball())
    smooth = sw.simulate(model, WAVE, duration=4.0, output_step=0.2, rtol=1e-8)
    scale = float(smooth["kinetic_energy"].max())
    assert float(abs(smooth["energy_residual"]).max()) < 2e-4 * scale
    errors, residuals = [], []
    for step in (0.02, 0.01):
        run = sw.simulate(model, WAVE, duration=4.0, output_step=0.2, solver="two_step", step=step)
        errors.append(float(abs(run["position"] - smooth["position"]).max()))
        residuals.append(float(abs(run["energy_residual"]).max()))
    assert errors[0] < 2e-2
    assert errors[1] < 0.4 * errors[0]
    assert residuals[0] < 1e-2 * scale
    assert float(smooth["work"].sel(element="wet spray")[-1]) < -0.01 * scale


def test_a_light_body_is_stable_at_a_long_step():
    # ten times lighter than the water it displaces: its own period is less than the step
    body = sw.Body("float", mass=100.0, position=(0, 0, 0.4))
    wet = sw.Immersion("wet", body, depth=(-0.5, 0.5), volume=(0.0, 1.0), added_mass=(0.0, 5.0))
    guide = sw.Slider("way", sw.WORLD, body)
    model = sw.compile(sw.System("float", [body], [guide], [wet]))
    run = sw.simulate(model, duration=60.0, output_step=1.0, solver="two_step", step=1.0)
    heave = run["position"].sel(dof="Heave").values
    assert np.isfinite(heave).all()
    assert np.abs(heave - 0.4).max() < 0.5
    rest = sw.equilibrium(model)
    assert float(rest["immersion_volume"][0]) == pytest.approx(100.0 / 1025.0, rel=1e-6)


@pytest.mark.slow
def test_half_submerged_stays_in_the_two_step_scheme():
    low = ball().bodies[0].replace(position=(0, 0, -0.2))
    model = sw.compile(ball().replace(bodies=(low,)))
    rest = sw.equilibrium(model)
    body = model.described.system.body("ball")
    z = float(rest["position"].sel(dof="Heave")[0])
    there = model.described.system.replace(bodies=(body.replace(position=(0, 0, z)),))
    model = sw.compile(there)
    run = sw.simulate(model, duration=2.0, output_step=0.2, solver="two_step", step=0.02)
    assert float(abs(run["position"].sel(dof="Heave") - z).max()) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("exit_way", ["left", "returned"])
def test_a_turning_load_in_waves_and_current_closes_its_budget(exit_way):
    system = hung(exit=exit_way).replace(current=sw.UniformCurrent(speed=0.5))
    model = sw.compile(system)
    run = sw.simulate(model, WAVE, duration=6.0, output_step=0.2, rtol=1e-8)
    assert float(run["immersion_depth"].min()) < 0.0 < float(run["immersion_depth"].max())
    scale = float(run["kinetic_energy"].sum("body").max())
    assert float(abs(run["energy_residual"]).max()) < 1e-4 * scale


@pytest.mark.slow
def test_end_state_has_the_derivative_of_differences():
    # added mass without a kink: where slamming sets in at once, derivatives of steps are not exact
    d = np.linspace(0.0, 2.0, 41)
    wet = (
        ball()
        .forces[0]
        .replace(
            depth=d,
            volume=np.pi * d**2 * (3.0 - d) / 3.0,
            added_mass=2e3 * np.sin(0.25 * np.pi * d) ** 2,
            drag_area=(),
        )
    )
    model = sw.compile(ball().replace(forces=(wet,)))
    group = immersions(model)

    fixed = {"solver": "rk4", "step": 0.01}

    def end(factor):
        tables = replace(group.tables, cubic=group.tables.cubic * factor)
        changed = model.with_effect(replace(group, tables=tables))
        run = sw.simulate(changed, times=(0.2, 0.6, 1.0), **fixed)
        return run["position"][-1, 0, 2]

    found = float(jax.jit(jax.jacfwd(end), compiler_options=QUICK)(1.0))
    value = jax.jit(end, compiler_options=QUICK)
    differences = (float(value(1.001)) - float(value(0.999))) / 0.002
    assert found == pytest.approx(differences, rel=5e-3)


def test_tables_of_a_hull_push_like_its_panels():
    box = sw.Body("box", mass=8e3, inertia=(9e3,) * 3, hull=sw.Box(3.0, 2.0, 2.0, 1.0))
    free = sw.Free("free", sw.WORLD, box)

    def lifted(nonlinear=False, **more):
        system = sw.System("box", [box], [free], [sw.Immersion("wet", box, **more)])
        return sw.compile(system, nonlinear=nonlinear)

    table, panels = lifted(), lifted(["box"], buoyancy=False)
    waves = sw.realise(sw.RegularWave(amplitude=0.5, period=9.0), table.water)
    for z in (1.5, 0.6, 0.0, -0.7, -3.0):
        still, moving = [], []
        for model in (table, panels):
            motion = at_height(model, z)
            still.append(total_loads(model, np.zeros(()), motion).wrench[0])
            model = model.replace(sea=replace(model.sea, waves=waves))
            moving.append(total_loads(model, np.array(2.0), motion).wrench[0, [0, 2]])
        np.testing.assert_allclose(*still, rtol=1e-6, atol=1.0)
        # the box is small against the wave
        np.testing.assert_allclose(*moving, rtol=1e-2, atol=20.0)


@pytest.mark.slow
def test_small_waves_give_the_response_of_linear_theory():
    ball = sw.Body("ball", mass=2147.0, inertia=(900,) * 3, hull=sw.Sphere(1.0))
    wet = sw.Immersion("wet", ball, Ca=0.5, Cd=0.3)
    model = sw.compile(sw.System("ball", [ball], [sw.Slider("heave", sw.WORLD, ball)], [wet]))
    omega, amplitude = 2.0, 0.02
    wave = sw.RegularWave(amplitude=amplitude, period=2 * np.pi / omega)
    moving = sw.steady_state(model, wave)["position"].sel(dof="Heave").values
    linear = sw.rao(model, omega=[omega], drag="harmonic", amplitude=amplitude)
    requested = abs(complex(linear["rao"].sel(dof="Heave").values.ravel()[0])) * amplitude
    assert 0.5 * np.ptp(moving) == pytest.approx(requested, rel=1e-2)


@pytest.mark.slow
def test_a_load_on_a_dynamic_line_has_derivatives():
    d = np.linspace(0.0, 2.0, 21)
    load = sw.Body("load", mass=10e3, inertia=(8e3,) * 3, position=(0, 0, 0.3))
    wet = sw.Immersion(
        "wet",
        load.at(0, 0, -1),
        depth=d,
        volume=1.75 * d,
        added_mass=9e3 * np.sin(0.25 * np.pi * d) ** 2,
        drag_area=3.0 * d,
    )
    rope = sw.Line("rope", (0, 0, 12), load.at(0, 0, 1.5), 10.2, sw.wire_rope(0.04), segments=2)
    free = sw.Free("hang", sw.WORLD, load)
    model = sw.compile(sw.System("hung", [load], [free], [wet], lines=[rope]))
    start = sw.moored_start(model)
    times = np.arange(0.0, 2.01, 0.25)

    def end(mass):
        heavier = model.with_values({"load.mass": mass})
        run = sw.simulate(heavier, WAVE, times=times, start=start, step=0.05)
        return run["position"][-1, 0, 2]

    found = float(jax.jit(jax.jacfwd(end), compiler_options=QUICK)(10e3))
    value = jax.jit(end, compiler_options=QUICK)
    differences = (float(value(10e3 + 10.0)) - float(value(10e3 - 10.0))) / 20.0
    assert found == pytest.approx(differences, rel=1e-4)
