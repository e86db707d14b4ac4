"""Bodies in motion: known moments, quiet water, both couplings, small waves."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from swelltree.describe.environment.seas import RegularWave, StreamFunctionWave
from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.incident.interface import Still
from swelltree.hydro.weak_scatterer.incident.of_sea import linear_waves, steep_wave
from swelltree.hydro.weak_scatterer.mesh.hulls import ellipsoid, sphere
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies, evaluate, prepare
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Water as Surface
from swelltree.hydro.weak_scatterer.motion.meshed import Floater
from swelltree.hydro.weak_scatterer.motion.scene import build_scene
from swelltree.jit import jax, jnp, pytree
from swelltree.waves.sea import realise
from validation.hydro.weak_scatterers.stepper import (
    Mechanics,
    Rail,
    Simulation,
    monolithic,
    run,
    schur,
    simulation,
)

rng = np.random.default_rng(12)
prepared = jax.jit(prepare)
evaluated = jax.jit(evaluate)
WATER = Water(depth=20.0)
DEEP = Tank(60.0, 60.0, near=12.0, far=20.0, levels=3)  # far from all bodies: water without bounds


def still_surface(scene):
    zero = jnp.zeros(scene.boundary.surface)
    return Surface(zero, zero)


def wrench_of_water(egg, turn, nu, omega):
    """Wrench and added mass of a body that moves steadily in deep water, in body axes."""
    where = (1.0, -2.0, -30.0)
    scene = build_scene(DEEP, [Floater("egg", egg, where)], WATER)
    velocity = np.concatenate([turn @ nu, turn @ omega])[None]
    bodies = Bodies(jnp.array([where]), jnp.array(turn)[None], jnp.array(velocity))
    ready = prepared(scene, Still(), 0.0, bodies)
    found = evaluated(scene, Still(), ready, 0.0, still_surface(scene), bodies)
    both = np.kron(np.eye(2), turn)
    return both.T @ np.asarray(found.wrench), both.T @ np.asarray(found.added_mass) @ both


def test_wrench_of_a_body_in_deep_water_is_weight_of_water_and_that_of_kirchhoff():
    """Hydrostatics, the moment of Munk, no force in steady translation, and turning."""
    turn = Rotation.from_rotvec([0.2, 0.4, -0.3]).as_matrix()
    for offset in ((0.0, 0.0, 0.0), (0.4, 0.1, 0.2)):  # the reference point need not be the middle
        egg = ellipsoid(5, (2.0, 1.2, 0.8)).moved(offset)
        up = turn.T @ [0, 0, WATER.rho * WATER.g * egg.volume]
        weight = np.concatenate([up, np.cross(offset, up)])
        still, _ = wrench_of_water(egg, turn, np.zeros(3), np.zeros(3))
        np.testing.assert_allclose(still, weight, atol=1e-11 * np.linalg.norm(up))
        for nu, omega in (([1.0, 0.3, 0.6], [0, 0, 0]), ([1.0, 0.3, 0.6], [0.4, -0.5, 0.3])):
            found, A = wrench_of_water(egg, turn, np.array(nu), np.array(omega))
            np.testing.assert_allclose(A, A.T, atol=5e-3 * np.abs(A).max())
            # Kirchhoff: rate of the impulse in body axes, where a steady velocity turns
            P = A @ [*nu, *omega]
            force = -np.cross(omega, P[:3])
            moment = -np.cross(omega, P[3:]) - np.cross(nu, P[:3])
            want = np.concatenate([force, moment]) + A[:, :3] @ np.cross(omega, nu)
            np.testing.assert_allclose(found - weight, want, atol=0.03 * np.abs(want).max())


def rail(ball, depth, **changes):
    mass = WATER.rho * ball.volume
    rows = {"stiffness": 4e4, "damping": 2e3, **changes}
    down = jnp.array([0.0, 0.0, -depth])
    return Rail(down, jnp.array([0.0, 0.0, 1.0]), mass, -mass * WATER.g, **rows)


def small_scene(mode, divisions=2):
    ball = sphere(divisions, 1.0)
    tank = Tank(16.0, 6.0, near=1.6, far=4.0, symmetric=True, levels=2)
    return build_scene(tank, [Floater("ball", ball.half(), (0, 0, -2.5))], WATER, mode), ball


def small_run(mode, amplitude, duration=2.4):
    scene, ball = small_scene(mode)
    sea = RegularWave(amplitude=1.0, omega=1.8, ramp=1.0)
    waves = replace(realise(sea, WATER), amplitude=np.array([amplitude]))
    s = simulation(scene, linear_waves(waves, WATER), rail(ball, 2.5))
    return run(s, s.start([0.0], [0.0]), duration, 0.15)


@pytest.mark.slow
def test_body_at_rest_in_still_water_stays_at_rest():
    last, _, rows = small_run("weak_scatterer", 0.0)
    assert np.abs(rows).max() < 1e-10
    assert np.abs(last.water.eta).max() < 1e-10
    assert np.abs(last.water.phi).max() < 1e-10


@pytest.mark.slow
def test_small_wave_moves_the_mesh_as_in_the_linear_mode():
    linear, exact = (
        np.asarray(small_run(mode, 1e-3)[2])[:, 0] for mode in ("linear", "weak_scatterer")
    )
    size = np.abs(linear).max()
    assert size > 1e-4
    np.testing.assert_allclose(exact, linear, atol=5e-3 * size)


@pytest.mark.slow
def test_small_wave_moves_the_body_exactly_as_in_the_linear_mode():
    linear, exact = (
        np.asarray(small_run(mode, 1e-3)[2])[:, 0] for mode in ("linear", "body_exact")
    )
    np.testing.assert_allclose(exact, linear, atol=2e-3 * np.abs(linear).max())


def test_exact_wave_without_a_body_leaves_the_perturbation_exactly_zero():
    tank = Tank(16.0, 6.0, near=3.0, far=5.0, levels=2)
    water = Water(depth=6.0)
    scene = build_scene(tank, [], water)
    wave = steep_wave(realise(StreamFunctionWave(height=0.8, omega=2.0, beta=0.4), water), water)
    s = simulation(scene, wave, Nobody())
    last, _, _ = run(s, s.start([], []), 0.4, 0.1)
    assert not np.any(last.water.eta)
    assert not np.any(last.water.phi)


@pytree()
class Nobody:
    """No multibody system."""

    def at(self, t, q, v):
        bodies = Bodies(jnp.zeros((0, 3)), jnp.zeros((0, 3, 3)), jnp.zeros((0, 6)))
        return Mechanics(bodies, jnp.zeros((0, 0)), jnp.zeros(0), jnp.zeros((0, 0)), jnp.zeros(0))

    def rate(self, q, v):
        return v


@pytree()
class Arm:
    """A body at the end of two hinges, far from the root: J is full and J-dot v is not zero."""

    def place(self, q):
        a, b = q
        turn = jnp.array(
            [[jnp.cos(a + b), 0, jnp.sin(a + b)], [0, 1, 0], [-jnp.sin(a + b), 0, jnp.cos(a + b)]]
        )
        p = jnp.array(
            [3 * jnp.cos(a) + 2 * jnp.cos(a + b), 0.3, -3 - 3 * jnp.sin(a) - 2 * jnp.sin(a + b)]
        )
        return p, turn

    def velocity(self, q, v):
        p_rate = jax.jvp(lambda x: self.place(x)[0], (q,), (v,))[1]
        return jnp.concatenate([p_rate, jnp.array([0.0, v[0] + v[1], 0.0])])

    def at(self, t, q, v):
        p, R = self.place(q)
        twist = self.velocity(q, v)
        J = jax.jacfwd(self.velocity, 1)(q, v)
        bias = jax.jvp(lambda x: self.velocity(x, v), (q,), (v,))[1]
        H = J.T @ jnp.diag(jnp.array([900.0] * 3 + [400.0] * 3)) @ J + 50 * jnp.eye(2)
        return Mechanics(Bodies(p[None], R[None], twist[None]), J, bias, H, -100 * q - 20 * v)

    def rate(self, q, v):
        return v


def general_state(scene, s, q, v):
    top = scene.boundary.surface
    phi, eta = 0.3 * rng.normal(size=top), 0.1 * rng.normal(size=top)
    start = s.start(q, v)
    return type(start)(
        jnp.asarray(1.3), Surface(jnp.asarray(phi), jnp.asarray(eta)), start.q, start.v
    )


def test_schur_and_monolithic_couplings_give_the_same_accelerations():
    egg = ellipsoid(2, (1.0, 0.7, 0.6))
    tank = Tank(16.0, 8.0, near=2.0, far=5.0, levels=2)
    wave = steep_wave(realise(StreamFunctionWave(height=0.6, omega=1.5, beta=0.5), WATER), WATER)
    q, v = np.array([0.2, -0.4]), np.array([0.5, 0.7])
    start = Arm().place(q)[0]
    scene = build_scene(tank, [Floater("egg", egg, start)], WATER)
    s = simulation(scene, wave, Arm())
    state = general_state(scene, s, q, v)
    ready = jax.jit(Simulation.prepared)(s, state)
    water = jax.jit(Simulation.evaluated)(s, ready, state).water
    system = Arm().at(state.t, state.q, state.v)
    one, two = (jax.jit(couple)(water, ready, system) for couple in (schur, monolithic))
    np.testing.assert_allclose(one, two, rtol=1e-12)


@pytest.mark.slow
def test_runge_kutta_converges_with_fourth_order_on_stage_geometry():
    scene, ball = small_scene("weak_scatterer")
    s = simulation(scene, Still(), rail(ball, 2.5, stiffness=2e5), geometry="full")
    step = jax.jit(Simulation.step)
    ends = []
    for n in (2, 4, 8):
        state = s.start([0.4], [0.3])
        for _ in range(n):
            state = step(s, state, 0.8 / n)
        ends.append(float(state.q[0]))
    order = np.log2(abs(ends[0] - ends[1]) / abs(ends[1] - ends[2]))
    assert 3.4 < order < 5.5


def test_unknown_mode_is_refused():
    with pytest.raises(SwelltreeError, match="mode 'linera' of weak scatterers is not known"):
        small_scene("linera")
    with pytest.raises(SwelltreeError, match=r"beach_from 99.0 m is not inside the tank"):
        build_scene(DEEP, [], WATER, beach_from=99.0)
