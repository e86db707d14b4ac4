"""Derivatives of an end state against finite differences; batches; compiled runs."""

from dataclasses import replace

import numpy as np
import pytest

import swelltree as sw
from agreement.compare import QUICK
from multibody.formulations.examples import bar, spatial_loop
from swelltree.jit import jax, jnp
from swelltree.pto.actuators.forces import stroke_forces

TIMES = (0.1, 0.2, 0.3, 0.4)


def swinging_arm():
    """Two links on hinges, the second braked."""
    one, two = bar("one", 0.5), bar("two", 1.5)
    joints = [
        sw.Hinge("a", sw.WORLD, one.at(-0.5), velocity=0.5),
        sw.Hinge("b", one.at(0.5), two.at(-0.5), (0.1, 1.0, 0.3)),
    ]
    brake = sw.JointForce("brake", "b", damping=0.7)
    return sw.compile(sw.System("arm", [one, two], joints, [brake]))


def braked_loop():
    """The spatial loop with a damper on its universal joint."""
    system, added_mass = spatial_loop()
    brake = sw.JointForce("brake", "u", "Roll", damping=0.7)
    return sw.compile(system.replace(forces=(brake,)), added_mass=added_mass)


def changed(model, theta):
    """The model with one body heavier, one hinge elsewhere and its damper stronger."""
    extra_mass, shift, extra_damping = theta
    bodies = replace(model.bodies, mass=jnp.asarray(model.bodies.mass).at[1].add(extra_mass))
    # along x in both bodies: what the hinge joins stays where it is
    joints = replace(
        model.joints,
        base_point=jnp.asarray(model.joints.base_point).at[1, 0].add(shift),
        follower_point=jnp.asarray(model.joints.follower_point).at[1, 0].add(shift),
    )
    brakes = stroke_forces(model)
    laws = tuple(replace(law, damping=law.damping + extra_damping) for law in brakes.laws)
    model = model.with_effect(replace(brakes, laws=laws))
    return model.replace(bodies=bodies, joints=joints)


def end_state(model, formulation, solver, **options):
    """A function of the three changes: weighted end positions and velocities."""
    rng = np.random.default_rng(0)
    n = model.layout.n_bodies
    at, going = rng.normal(size=(n, 3)), rng.normal(size=(n, 6))

    def function(theta):
        run = sw.simulate(
            changed(model, theta), times=TIMES, formulation=formulation, solver=solver, **options
        )
        return (at * run["position"][-1, :, :3]).sum() + (going * run["velocity"][-1]).sum()

    return function


def quick(function):
    return jax.jit(function, compiler_options=QUICK)


def central(function, h=1e-3):
    """Derivatives by central differences of fourth order (truncation h^4, rounding 1e-14/h)."""
    out = []
    for k in range(3):
        step = h * np.eye(3)[k]
        near = float(function(step)) - float(function(-step))
        far = float(function(2 * step)) - float(function(-2 * step))
        out.append((8 * near - far) / (12 * h))
    return np.array(out)


CASES = [
    pytest.param(swinging_arm, "path_matrix", id="tree"),
    pytest.param(braked_loop, "path_matrix", id="loop", marks=pytest.mark.slow),
    pytest.param(braked_loop, "lagrange", id="loop-lagrange", marks=pytest.mark.slow),
    pytest.param(braked_loop, "partition", id="loop-partition", marks=pytest.mark.slow),
    pytest.param(swinging_arm, "composite_body", id="tree-composite", marks=pytest.mark.slow),
    pytest.param(swinging_arm, "partial_velocity", id="tree-partial", marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize(("build", "formulation"), CASES)
def test_derivative_by_mass_hinge_position_and_damper_is_the_finite_difference(build, formulation):
    # fixed steps, so that finite differences see the same steps
    function = end_state(build(), formulation, "rk4", step=0.05, max_steps_per_output=4)
    expected = central(quick(function))
    assert np.abs(expected).min() > 1e-4
    backward = np.asarray(quick(jax.grad(function))(np.zeros(3)))
    assert backward == pytest.approx(expected, rel=1e-6)


def test_forward_derivative_of_an_adaptive_run_is_the_finite_difference():
    # at 1e-11 the change of steps adds about 1e-11 / 1e-3 to a finite difference
    function = end_state(swinging_arm(), "path_matrix", "tsit5", rtol=1e-11, atol=1e-12)
    expected = central(quick(function))

    def forward(direction):
        return jax.jvp(function, (jnp.zeros(3),), (direction,))[1]

    found = np.asarray(quick(jax.vmap(forward))(np.eye(3)))
    assert found == pytest.approx(expected, rel=1e-6)


def test_a_batch_of_masses_equals_one_run_after_another():
    model = swinging_arm()

    def end(mass):
        bodies = replace(model.bodies, mass=jnp.asarray(model.bodies.mass).at[0].set(mass))
        return sw.simulate(model.replace(bodies=bodies), times=TIMES, rtol=1e-9)["position"]

    masses = np.array([1.0, 2.0, 5.0])
    batch = np.asarray(quick(jax.vmap(end))(masses))
    one = quick(end)
    for mass, together in zip(masses, batch, strict=True):
        alone = np.asarray(one(mass))
        # the same steps; sums may be ordered differently
        assert np.abs(alone - together).max() < 1e-12
    assert np.abs(batch[0] - batch[2]).max() > 1e-3


def test_simulate_under_jit_gives_the_numbers_of_the_plain_run():
    model = swinging_arm()
    inside = quick(lambda m: sw.simulate(m, times=TIMES, rtol=1e-9))(model)
    assert int(inside["code"]) == 0
    plain = sw.simulate(model, times=TIMES, rtol=1e-9, progress=False)
    # the same steps, compiled differently
    assert np.abs(np.asarray(inside["position"]) - plain["position"].values).max() < 1e-11
