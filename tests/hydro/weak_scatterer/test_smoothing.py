"""Saw teeth around moving waterlines, and what these sweep over."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.hydro.weak_scatterer.effect import STAGES, WeakScatterers
from swelltree.hydro.weak_scatterer.incident.interface import Still
from swelltree.hydro.weak_scatterer.mesh.hulls import sphere
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.bodies import MASS
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import (
    Bodies,
    Water,
    placed_at,
    prepare,
    surface_only,
)
from swelltree.hydro.weak_scatterer.motion.meshed import Floater
from swelltree.hydro.weak_scatterer.motion.scene import build_scene, vertices_at
from swelltree.hydro.weak_scatterer.motion.smoothing import smoothing_rates, vertex_areas
from swelltree.hydro.weak_scatterer.swept import swept
from swelltree.jit import jax, jnp
from swelltree.waves.sea import realise

rng = np.random.default_rng(8)


def floating(symmetric):
    tank = Tank(8.0, 5.0, 0.5, 2.0, fine=1.0, symmetric=symmetric, levels=2)
    ball = Floater("ball", sphere(8, 1.0), (0.3, 0, 0), meridians=np.pi / 8, rings=4)
    return build_scene(tank, [ball], sw.Water(rho=1000.0), "weak_scatterer")


def moved(scene, dt=0.0, velocity=(0.4, 0.0, -0.3, 0.0, 0.2, 0.0)):
    v = jnp.asarray([velocity])
    p = jnp.array([[0.35, 0.0, 0.1]]) + dt * v[:, :3]
    turned = jnp.eye(3) + dt * jnp.cross(v[0, 3:], jnp.eye(3)).T
    bodies = Bodies(p, turned[None], v)
    return bodies, vertices_at(scene, Still(), 0.0, p, bodies.rotation)[: scene.boundary.surface]


@pytest.mark.parametrize("symmetric", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_smoothing_leaves_quadratics_and_the_volume_and_takes_saw_teeth(symmetric):
    scene = floating(symmetric)
    places = moved(scene)[1][:, :2]
    x, y = np.asarray(places).T
    smooth = 0.3 + 0.1 * x - 0.2 * x**2 + 0.4 * y**2 + (0.0 if symmetric else 0.3 * y - 0.1 * x * y)
    assert np.abs(smoothing_rates(scene, places, jnp.stack([smooth, smooth]))).max() < 1e-12
    teeth = rng.normal(size=(2, len(x)))
    taken = np.asarray(smoothing_rates(scene, places, jnp.asarray(teeth)))
    area = np.asarray(vertex_areas(scene, places))
    assert np.abs((area * taken).sum(1)).max() < 1e-12
    near = np.asarray(scene.shells[0].follow.sum(1)) > 0.7
    # within a second or two beside the hull, never the other way
    share = (area * taken * teeth)[:, near].sum(1) / (area * teeth**2)[:, near].sum(1)
    assert (share > 0.3).all()
    rate = jax.jacfwd(lambda f: smoothing_rates(scene, places, jnp.stack([f, f]))[0])(teeth[0])
    scaled = np.sqrt(area)[:, None] * np.asarray(rate) / np.sqrt(area)
    np.testing.assert_allclose(scaled, scaled.T, atol=1e-12)
    assert np.linalg.eigvalsh(scaled).min() > -1e-12


def test_moving_waterline_sweeps_over_the_energy_of_the_elevation():
    """The energy of an elevation that stays in the world changes by its edge alone."""
    scene = floating(True)
    tri = scene.boundary.triangles[: scene.boundary.surface_triangles]

    def at(dt):
        bodies, place = moved(scene, dt)
        eta = 0.3 + 0.05 * place[:, 0] - 0.02 * place[:, 1]
        corner = place[tri]
        cross = jnp.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        area = 0.5 * jnp.linalg.norm(cross, axis=1)
        energy = jnp.einsum("t,ij,ti,tj->", area, MASS, eta[tri], eta[tri])
        placed = placed_at(scene, Still(), 0.0, bodies)
        return float(energy), float(swept(scene, placed, eta, jnp.square))

    rate = (at(1e-5)[0] - at(-1e-5)[0]) / 2e-5
    assert abs(rate) > 0.01
    assert at(0.0)[1] == pytest.approx(-rate, rel=1e-3)


@pytest.mark.slow
def test_water_beside_a_cylinder_that_moves_against_a_wave_stays_smooth_for_ten_periods():
    """The cylinder of Wuillaume et al. (2017), section 6.2, with a surge like that of its run.

    Without smoothing the elevation at the waterline is 0.19 m after ten periods, four times the
    amplitude of the wave, and doubles every five. Matrices of one period serve them all.
    """
    omega, steps, surge = 3.14, 30, -0.08
    dt = 2.0 * np.pi / omega / steps
    body = sw.Body("float", mass=64.4, inertia=(6, 2, 6),
                   hull=sw.HorizontalCylinder(0.2, 1.0, axis="y", panel_size=0.04))  # fmt: skip
    tank = sw.WeakScatterer("tank", 9.5, 0.2, fine=0.3, far_spacing=1.0, panel_size=0.1, levels=3,
                            symmetric=True)  # fmt: skip
    rail = sw.Slider("surge", sw.WORLD, body, axis="x")
    model = sw.compile(sw.System("cylinder", [body], [rail], [tank]))
    waves = realise(sw.RegularWave(amplitude=0.05, omega=omega), model.water)
    effect = model.effect(WeakScatterers).in_sea(model, waves)
    scene, wave = effect.scene, effect.wave

    def bodies(t):
        x, v = surge * jnp.sin(omega * t), surge * omega * jnp.cos(omega * t)
        velocity = jnp.zeros((1, 6)).at[0, 0].set(v)
        return Bodies(jnp.zeros((1, 3)).at[0, 0].set(x), jnp.eye(3)[None], velocity)

    @jax.jit
    def rate(scene, ready, t, top):
        found = surface_only(scene, wave, ready, t, Water(top[0], top[1]), bodies(t))
        return jnp.stack([found.potential, found.elevation])

    built = jax.jit(lambda scene, t: prepare(scene, wave, t, bodies(t)))
    ready = [built(scene, (k + 0.5) * dt) for k in range(steps)]
    top, highest = jnp.zeros((2, scene.boundary.surface)), []
    for n in range(10 * steps):
        k, total = 0.0 * top, top
        for ahead, weight in STAGES:
            k = rate(scene, ready[n % steps], (n + ahead) * dt, top + ahead * dt * k)
            total = total + weight * dt * k
        top = total
        highest.append(float(jnp.abs(top[1]).max()))
    periods = np.array(highest).reshape(10, steps).max(1)
    print("highest in each period", periods)
    assert periods[-4:].max() < 0.07
    assert periods[-1] == pytest.approx(periods[-4], rel=0.1)
