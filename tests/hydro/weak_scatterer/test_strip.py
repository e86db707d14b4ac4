"""The pressure in the strip of hull between the incident and the perturbed surface."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from swelltree.describe.environment.seas import RegularWave
from swelltree.describe.environment.water import Water
from swelltree.hydro.weak_scatterer.incident.interface import Still
from swelltree.hydro.weak_scatterer.incident.interface import surface as incident
from swelltree.hydro.weak_scatterer.incident.of_sea import linear_waves
from swelltree.hydro.weak_scatterer.mesh.hulls import cylinder, sphere
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.bodies import wetted
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies, placed_at
from swelltree.hydro.weak_scatterer.motion.meshed import Floater
from swelltree.hydro.weak_scatterer.motion.scene import build_scene, vertices_at
from swelltree.hydro.weak_scatterer.motion.strip import bent_wrench, strip_wrench
from swelltree.hydro.weak_scatterer.swept import swept
from swelltree.jit import jax, jnp
from swelltree.waves.sea import realise

WATER = Water(rho=1000.0)
RHO_G = WATER.rho * WATER.g


@jax.jit
def strip(scene, wave, t, eta, bodies):
    return strip_wrench(scene, wave, t, eta, bodies, placed_at(scene, wave, t, bodies))


def floating(surface, position, turn=None, symmetric=False, mode="weak_scatterer"):
    tank = Tank(4.0, 5.0, 0.6, 2.0, fine=0.5, symmetric=symmetric, levels=1)
    body = Floater("body", surface, position, turn, meridians=0.5)
    return build_scene(tank, [body], WATER, mode)


def elevation(scene, bodies, constant, slope):
    """A plane in the world, on the vertices of the free surface."""
    at = vertices_at(scene, Still(), 0.0, bodies.position, bodies.rotation)
    plan = at[: scene.boundary.surface, :2]
    return constant + plan @ jnp.asarray(slope)


def still(scene, velocity=(0.0,) * 6):
    return Bodies(scene.mean_position, scene.mean_rotation, jnp.asarray(velocity)[None])


def test_water_higher_on_one_side_pushes_an_upright_cylinder_away():
    """Over the waterline of the area S: F = -rho g eta_0 (slope) S, moments with its arm."""
    at = (0.4, -0.3, -0.2)
    scene = floating(cylinder(1.0, 4.0, 0.3), at)
    bodies = still(scene)
    eta = elevation(scene, bodies, 0.3, (0.05, -0.04))
    wrench = np.asarray(strip(scene, Still(), 0.0, eta, bodies))[0]
    ring = np.asarray(scene.shells[0].ring)
    x, y = ring.T
    area = 0.5 * (x * np.roll(y, -1) - y * np.roll(x, -1)).sum()
    middle = 0.3 + 0.05 * at[0] - 0.04 * at[1]  # the centroid of the waterline
    force = -RHO_G * middle * area * np.array([0.05, -0.04])
    np.testing.assert_allclose(wrench[:2], force, rtol=1e-3)
    assert abs(wrench[2]) < 1e-6 * abs(force[0])
    # of a strip 0.2 m above the reference point
    np.testing.assert_allclose(wrench[3:5], 0.2 * np.array([-force[1], force[0]]), rtol=1e-3)
    # the same in half a tank
    half = floating(cylinder(1.0, 4.0, 0.3), (0.4, 0.0, -0.2), symmetric=True)
    bodies = still(half)
    eta = elevation(half, bodies, 0.3, (0.05, 0.0))
    wrench = np.asarray(strip(half, Still(), 0.0, eta, bodies))[0]
    assert wrench[0] == pytest.approx(-RHO_G * 0.32 * area * 0.05, rel=1e-3)
    assert (wrench[[1, 3, 5]] == 0.0).all()


@pytest.mark.parametrize("z", [-0.4, 0.3])
def test_water_above_the_surface_presses_on_a_sphere_as_its_waterplane_changes(z):
    """F = rho g eta^2 / 2 times the change of the waterplane with depth, 2 pi z; up to the top."""
    scene = floating(sphere(8, 1.0), (0.0, 0.0, z))
    bodies = still(scene)
    flat = jnp.ones(scene.boundary.surface)
    for eta, head in ((0.2, 0.02), (-0.2, 0.02), (2.0, (2.0 - 0.5 * (1 + z)) * (1 + z))):
        wrench = np.asarray(strip(scene, Still(), 0.0, eta * flat, bodies))[0]
        assert wrench[2] == pytest.approx(RHO_G * head * 2 * np.pi * z, rel=0.06)
        assert np.abs(wrench[:2]).max() < 1e-3 * abs(wrench[2])


def test_strip_of_a_heeled_and_yawed_hull_does_the_work_of_the_area_that_it_sweeps():
    turn = Rotation.from_euler("zyx", [0.7, 0.15, -0.2]).as_matrix()
    scene = floating(cylinder(0.9, 3.0, 0.3), (0.2, 0.5, 0.1), turn)
    rng = np.random.default_rng(5)
    for _ in range(2):
        bodies = still(scene, rng.normal(size=6))
        eta = elevation(scene, bodies, 0.1 * rng.normal(), 0.05 * rng.normal(size=2))
        wrench = strip(scene, Still(), 0.0, eta, bodies)
        placed = placed_at(scene, Still(), 0.0, bodies)
        energy = swept(scene, placed, eta, lambda h: 0.5 * RHO_G * h**2)
        assert float((wrench * bodies.velocity).sum()) == pytest.approx(-float(energy), rel=1e-9)


def test_mean_surface_holds_the_incident_wave_in_the_strip_and_the_linear_mode_has_none():
    waves = linear_waves(realise(RegularWave(amplitude=0.1, omega=1.5, phase=0.4), WATER), WATER)
    forces = {}
    for mode in ("body_exact", "linear"):
        scene = floating(cylinder(1.0, 4.0, 0.3), (0.0, 0.0, 0.0), mode=mode)
        bodies = still(scene)
        x = vertices_at(scene, Still(), 0.0, bodies.position, bodies.rotation)
        level = incident(waves, 0.3, x[: scene.boundary.surface, :2]).level
        flat = jnp.zeros(scene.boundary.surface)
        forces[mode] = strip(scene, waves, 0.3, flat, bodies)
        if mode == "body_exact":
            alone = strip(scene, Still(), 0.3, level, bodies)
            np.testing.assert_allclose(forces[mode], alone, atol=1e-6)
            assert abs(float(alone[0, 0])) > 2.0
    assert not np.asarray(forces["linear"]).any()


def bent(scene, value, gradient):
    """What linear panels miss of a field, its flux through the still surface and hull exact."""
    bodies = still(scene)
    x = vertices_at(scene, Still(), 0.0, bodies.position, bodies.rotation)
    wet = wetted(scene, x[scene.boundary.wet], bodies.position)
    wrench = bent_wrench(scene, Still(), 0.0, x, wet)
    assert wrench is not None
    top = gradient(x[: scene.boundary.surface])[:, 2]
    flux = jnp.einsum("tx,tcx->tc", wet.normal, gradient(wet.corner))
    return np.asarray(wrench(value(x[scene.boundary.wet]), top, flux.reshape(-1))), wet


def test_linear_panels_miss_nothing_of_a_linear_pressure_on_a_heeled_hull():
    turn = Rotation.from_euler("zyx", [0.7, 0.15, -0.2]).as_matrix()
    slope = jnp.array([0.7, -0.4, 1.3])
    for surface, place in (
        (cylinder(0.9, 3.0, 0.3), (0.2, 0.5, 0.1)),
        (sphere(8), (0.0, 0.0, -0.3)),
    ):
        scene = floating(surface, place, turn)
        wrench, wet = bent(scene, lambda x: x @ slope, lambda x: jnp.broadcast_to(slope, x.shape))
        whole = WATER.rho * float(jnp.abs(wet.area).sum())
        assert np.abs(wrench).max() < 1e-9 * whole
    linear = floating(sphere(6), (0.0, 0.0, 0.0), mode="linear")
    assert bent_wrench(linear, Still(), 0.0, jnp.zeros((1, 3)), wet) is None


def test_pressure_that_bends_below_the_waterline_pushes_an_upright_cylinder_by_its_integral():
    """Rate x z^2: between z = -L and 0 panels hold x L^3 / 2, the integral is x L^3 / 3."""
    scene = floating(cylinder(1.0, 4.0, 0.3), (0.0, 0.0, 0.0))
    wrench, wet = bent(
        scene,
        lambda x: x[:, 0] * x[:, 2] ** 2,
        lambda x: jnp.stack([x[..., 2] ** 2, 0.0 * x[..., 0], 2 * x[..., 0] * x[..., 2]], -1),
    )
    corner = np.asarray(wet.corner)
    rows = np.asarray(scene.boundary.waterline).sum(1) > 0.0
    L = -corner[rows, :, 2].min(1)
    along = np.ptp(corner[rows, :, :2], axis=1)[:, 1] * np.sign(-np.asarray(wet.normal)[rows, 0])
    x = corner[rows][..., 0]
    at = np.array([row[z > -1e-9].mean() for row, z in zip(x, corner[rows][..., 2], strict=True)])
    # the pressure is -rho times the rate, the normal points into the hull
    expected = -WATER.rho * (-(L**3) / 6.0 * at * -along).sum()
    assert wrench[0] == pytest.approx(expected, rel=0.02)
    assert abs(expected) > 1.0
