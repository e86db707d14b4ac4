"""Added mass that turns with its body: Kirchhoff's equations in every formulation."""

import functools
from dataclasses import replace

import numpy as np
import pytest

import swelltree as sw
from agreement.compare import QUICK, some
from swelltree.jit import jax, jnp
from swelltree.multibody.formulations import formulation
from swelltree.multibody.formulations.equations import solve_motion
from swelltree.multibody.inertia import kinetic_energy

SPEEDS = np.array([1.0, 2.0, 0.5, 0.5, 1.0, -0.7, 0.8])


def swimmers():
    """Two hinged bodies with full added masses, their reference points off the centres."""
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(6, 6))
    A = 300.0 * Q @ Q.T
    one = sw.Body(
        "one",
        mass=1000.0,
        inertia=(100, 200, 250),
        com=(0.1, 0.2, -0.1),
        reference_point=(0.3, -0.1, 0.2),
        added_mass=A,
    )
    two = sw.Body(
        "two", mass=500.0, inertia=(100, 90, 80), position=(2, 0, 0), added_mass=0.5 * A[::-1, ::-1]
    )
    joints = [
        sw.Free("free", sw.WORLD, one),
        sw.Hinge("hinge", one.at(1, 0, 0), two.at(-1, 0, 0), axis=(0.2, 1.0, 0.1)),
    ]
    model = sw.compile(sw.System("swimmers", [one, two], joints, water=sw.Water(g=0.0)))
    return model.replace(start=replace(model.start, s=SPEEDS))


@functools.cache
def accelerations(name):
    """Accelerations and kinetic energies at the first instant in a formulation."""
    how = formulation(name)

    def look(model):
        kin, _, a = solve_motion(model, how, jnp.zeros(()), how.start(model))
        return a.v_dot, kinetic_energy(model, kin.inertia, kin.motion.v)

    return jax.jit(look, compiler_options=QUICK)(swimmers())


@pytest.mark.parametrize("name", some("composite_body", "lagrange"))
def test_formulations_agree_with_added_mass_in_body_axes(name):
    first, other = accelerations("path_matrix"), accelerations(name)
    np.testing.assert_allclose(other[0], first[0], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(other[1], first[1], rtol=1e-12)


@pytest.mark.slow
def test_a_free_body_keeps_energy_momentum_and_impulse():
    """Kirchhoff (1870): energy, linear and angular impulse of an ellipsoid adrift are constant."""
    A = np.diag([50.0, 300.0, 700.0, 0.0, 90.0, 60.0])
    body = sw.Body("egg", mass=800.0, inertia=(100.0, 150.0, 200.0), added_mass=A)
    joint = sw.Free("free", sw.WORLD, body)
    model = sw.compile(sw.System("adrift", [body], [joint], water=sw.Water(g=0.0)))
    model = model.replace(start=replace(model.start, s=np.array([1.0, 0.3, 0.2, 0.4, 0.5, -0.6])))
    run = sw.simulate(model, duration=20.0, rtol=1e-10, atol=1e-12, progress=False)
    energy = run.kinetic_energy.values[:, 0]
    assert np.ptp(energy) < 1e-8 * energy[0]
    R, v, p = run.rotation.values[:, 0], run.velocity.values[:, 0], run.position.values[:, 0, :3]
    own = np.concatenate([np.einsum("tji,tj->ti", R, v[:, k : k + 3]) for k in (0, 3)], axis=1)
    M = A + np.diag([800.0, 800.0, 800.0, 100.0, 150.0, 200.0])
    impulse = own @ M
    linear = np.einsum("tij,tj->ti", R, impulse[:, :3])
    angular = np.einsum("tij,tj->ti", R, impulse[:, 3:]) + np.cross(p, linear)
    assert np.ptp(linear, axis=0).max() < 1e-7 * np.abs(linear).max()
    assert np.ptp(angular, axis=0).max() < 1e-7 * np.abs(angular).max()
    # it does tumble: added masses differ, so the velocity is not constant
    assert np.ptp(v[:, 0]) > 0.1


def test_the_same_in_all_directions_is_like_more_mass():
    """A sphere: added mass half of the displaced water acts as mass that has no weight."""
    ball = sw.Body(
        "ball", mass=100.0, inertia=(1, 1, 1), added_mass=50.0 * np.diag([1, 1, 1, 0, 0, 0])
    )
    model = sw.compile(sw.System("fall", [ball], [sw.Free("f", sw.WORLD, ball)]))
    how = formulation("path_matrix")
    _, _, a = solve_motion(model, how, jnp.zeros(()), how.start(model))
    np.testing.assert_allclose(a.v_dot[0], [0, 0, -9.81 * 100 / 150, 0, 0, 0], atol=1e-12)


def test_added_mass_and_hydro_data_are_not_both_taken():
    from made_hydro import MASS, heaving_float

    body = sw.Body("float", mass=MASS, inertia=(1e5, 1e5, 1e5), added_mass={"Heave": 1.0})
    system = sw.System(
        "s", [body], [sw.Slider("f", sw.WORLD, body, axis="z")], water=sw.Water(rho=1000.0)
    )
    with pytest.raises(sw.SwelltreeError, match="which hold it already"):
        sw.compile(system, heaving_float(), radiation="none")
