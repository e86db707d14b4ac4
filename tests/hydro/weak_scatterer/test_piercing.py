"""A hull on the surface: its waterline, its displacement, its added mass at once."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from swelltree.describe.bodies import hulls
from swelltree.describe.environment.seas import RegularWave, StreamFunctionWave
from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.incident.interface import Still
from swelltree.hydro.weak_scatterer.incident.of_sea import linear_waves, steep_wave
from swelltree.hydro.weak_scatterer.mesh.hulls import cylinder, hull_surface, sphere
from swelltree.hydro.weak_scatterer.mesh.meridians import meridians
from swelltree.hydro.weak_scatterer.mesh.surface import Surface as MeshSurface
from swelltree.hydro.weak_scatterer.mesh.surface import open_edges
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import (
    Bodies,
    buoyancy,
    hull_at,
    plan_velocity,
)
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Water as Surface
from swelltree.hydro.weak_scatterer.motion.meshed import Floater
from swelltree.hydro.weak_scatterer.motion.scene import build_scene, vertices_at
from swelltree.jit import jax, jnp
from swelltree.waves.sea import realise
from validation.hydro.weak_scatterers.stepper import (
    Rail,
    Simulation,
    monolithic,
    run,
    schur,
    simulation,
)

WATER = Water(rho=1000.0)
rng = np.random.default_rng(4)
HALF = 2.0 / 3.0 * np.pi  # volume of the hemisphere [m^3]


def floating(mode="weak_scatterer", lines=9, rings=4, near=0.5, radius=8.0):
    tank = Tank(radius, 5.0, near, 2.0, fine=1.0, symmetric=True, levels=2)
    size = np.pi / (lines - 1)
    ball = Floater("ball", sphere(8, 1.0), (0, 0, 0), meridians=size, rings=rings)
    return build_scene(tank, [ball], WATER, mode)


def heaving():
    mass = WATER.rho * HALF
    return Rail(jnp.zeros(3), jnp.array([0.0, 0.0, 1.0]), mass, -mass * WATER.g, 0.0, 0.0)


def wave(height=0.4):
    sea = StreamFunctionWave(height=height, omega=3.0, phase=0.8)
    return steep_wave(realise(sea, WATER), WATER)


def test_meridians_of_a_box_have_its_edges():
    box = hull_surface(hulls.Box(length=3.0, width=1.0, height=1.0, draft=0.6, panel_size=0.3))
    lines = meridians("box", box, 16, half=False)
    assert lines.points[:, 0] == pytest.approx(np.broadcast_to([0, 0, -0.6], (16, 3)))
    assert lines.knuckle.min() == pytest.approx(0.5)  # half the width from the keel to its edge
    assert np.abs(lines.points[..., 0]).max() == pytest.approx(1.5)
    with pytest.raises(SwelltreeError, match="Choose a reference point inside the hull"):
        meridians("box", box.moved((4, 0, 0)), 8, half=False)


def test_waterline_lies_on_the_incident_surface_and_the_mesh_around_follows_it():
    scene, sea = floating(), wave()
    turn = Rotation.from_rotvec([0.0, 0.2, 0.0]).as_matrix()
    p, v = np.array([[0.3, 0.0, 0.1]]), np.array([[0.4, 0.0, -0.5, 0.0, 0.3, 0.0]])
    bodies = Bodies(jnp.array(p), jnp.array(turn)[None], jnp.array(v))
    x = jax.jit(vertices_at)(scene, sea, 0.7, bodies.position, bodies.rotation)
    ring = x[:9]
    away = np.linalg.norm(ring - p[0], axis=1)
    np.testing.assert_allclose(away, 1.0, atol=0.08)  # on the sphere, up to flat triangles
    level = [sea.elevation(0.7, xy) for xy in ring[:, :2]]
    np.testing.assert_allclose(ring[:, 2], level, atol=1e-12)
    # velocity in plan against differences
    drift = jax.jit(plan_velocity)(scene, sea, 0.7, bodies)
    after = []
    for dt in (1e-5, -1e-5):
        turned = Rotation.from_rotvec(dt * v[0, 3:]).as_matrix() @ turn
        moved = vertices_at(scene, sea, 0.7 + dt, jnp.array(p + dt * v[:, :3]), jnp.array([turned]))
        after.append(moved[: scene.boundary.surface, :2])
    np.testing.assert_allclose(drift, (after[0] - after[1]) / 2e-5, atol=1e-6)


@pytest.mark.slow
def test_floating_hemisphere_displaces_its_volume_and_has_half_of_it_as_added_mass():
    """At once the surface is a line of zero potential: heave is that of a whole sphere."""
    scene, sea = floating(lines=13, rings=6, near=0.35), wave()
    s = simulation(scene, sea, heaving())
    top = scene.boundary.surface
    start = s.start([0.0], [0.0])
    still = simulation(scene, Still(), heaving())
    bodies = heaving().at(0.0, start.q, start.v).bodies
    hull = hull_at(scene, Still(), 0.0, bodies)
    lifted = buoyancy(scene, Still(), 0.0, bodies, hull)
    assert float(lifted[0, 2]) == pytest.approx(WATER.rho * WATER.g * HALF, rel=2e-3)
    ready = jax.jit(Simulation.prepared)(still, start)
    found = jax.jit(Simulation.evaluated)(still, ready, start)
    heave = float(found.water.added_mass[2, 2]) / (WATER.rho * HALF)
    assert heave == pytest.approx(0.5, rel=0.04)  # 79 vertices of flat triangles: 0.513
    np.testing.assert_allclose(ready.matrices.dipole.sum(1), 0.0, atol=1e-12)
    # both couplings, where the waterline carries known and unknown values
    noise = Surface(
        jnp.asarray(0.1 * rng.normal(size=top)), jnp.asarray(0.1 * rng.normal(size=top))
    )
    state = type(start)(jnp.asarray(0.0), noise, jnp.array([0.0]), jnp.array([0.3]))
    water = jax.jit(Simulation.evaluated)(still, ready, state).water
    system = heaving().at(state.t, state.q, state.v)
    one, two = (jax.jit(couple)(water, ready, system) for couple in (schur, monolithic))
    np.testing.assert_allclose(one, two, rtol=1e-12)


def test_bodies_that_cannot_float_here_are_refused():
    tank = Tank(8.0, 5.0, 0.5, 2.0, levels=2)
    can = cylinder(1.0, 2.0, 0.4)
    with pytest.raises(SwelltreeError, match="does not pierce the surface"):
        build_scene(tank, [Floater("can", can, (0, 0, -2.0), meridians=0.5)], WATER)
    two = [Floater(name, can, (x, 0, 0), meridians=0.5) for name, x in (("a", 0.0), ("b", 1.5))]
    with pytest.raises(SwelltreeError, match="the waterlines of two hulls overlap"):
        build_scene(tank, two, WATER)
    with pytest.raises(SwelltreeError, match="a waterline reaches its rim"):
        build_scene(tank, [Floater("can", can, (6.5, 0, 0), meridians=0.5)], WATER)


def test_two_hulls_off_the_middle_keep_their_waterlines_and_a_closed_surface():
    """Reference points off the axes of the hulls, one hull turned and with corners."""
    box = hull_surface(hulls.Box(length=3.0, width=1.2, height=1.0, draft=0.6, panel_size=0.3))
    turn = Rotation.from_rotvec([0, 0, 0.5]).as_matrix()
    tank = Tank(10.0, 5.0, 0.5, 2.0, fine=1.0, levels=2, center=(1.0, 0.5))
    floaters = [
        Floater("can", cylinder(0.8, 2.0, 0.3).moved((0.3, 0, 0)), (-1.3, 0.2, 0.1), meridians=0.4),
        Floater("deep", sphere(2, 0.5), (0.5, 0.0, -2.0)),
        Floater("box", box.moved((0.0, 0.2, 0.1)), (2.5, 1.0, -0.1), turn, meridians=0.4, rings=4),
    ]
    scene = build_scene(tank, floaters, WATER)
    still = vertices_at(scene, Still(), 0.0, scene.mean_position, scene.mean_rotation)
    full = MeshSurface(np.asarray(still), np.asarray(scene.boundary.triangles))
    assert not len(open_edges(full)) - len(bottom_edges(full, tank.depth))
    # the water is what the tank holds less what the bodies displace; normals point out of it
    displaced = np.pi * 0.8**2 * 0.9 + 4 / 3 * np.pi * 0.5**3 + 3.0 * 1.2 * 0.6
    rim = still[np.abs(np.hypot(*(still[:, :2] - np.array([1.0, 0.5])).T) - 10.0) < 1e-9]
    n = len(rim) // 3
    floor = 0.5 * n * 10.0**2 * np.sin(2 * np.pi / n)
    lifted = full.moved((0, 0, tank.depth))
    volume = (lifted.vertices[lifted.triangles, 2].mean(1) * lifted.area_vectors[:, 2]).sum()
    assert volume == pytest.approx(floor * 5.0 - displaced, abs=2e-3)
    # moved a little, each waterline follows its own hull and the other stays
    p = scene.mean_position + jnp.array([[0.1, -0.05, 0.02], [0, 0, 0], [0, 0, 0]])
    moved = vertices_at(scene, Still(), 0.0, p, scene.mean_rotation)
    shells = scene.shells
    ring = slice(shells[1].first, shells[1].first + len(shells[1].ring))
    np.testing.assert_allclose(moved[ring], still[ring], atol=1e-12)
    step = np.asarray(moved - still)[: len(shells[0].ring), :2]
    np.testing.assert_allclose(step, np.broadcast_to([0.1, -0.05], step.shape), atol=1e-3)


def bottom_edges(surface, depth):
    edges = open_edges(surface)
    low = np.abs(surface.vertices[edges][:, :, 2] + depth).max(1) < 1e-9
    return edges[low]


@pytest.mark.slow
def test_hull_on_a_moving_mesh_moves_in_a_small_wave_as_in_the_linear_mode():
    rows = []
    for mode in ("linear", "weak_scatterer"):
        s = simulation(
            floating(mode),
            linear_waves(realise(RegularWave(amplitude=1e-3, omega=3.0, ramp=1.0), WATER), WATER),
            heaving(),
        )
        rows.append(np.asarray(run(s, s.start([0.0], [0.0]), 1.6, 0.1)[2])[:, 0])
    size = np.abs(rows[0]).max()
    assert size > 1e-4
    np.testing.assert_allclose(rows[1], rows[0], atol=5e-3 * size)


@pytest.mark.slow
def test_sphere_dropped_from_half_its_radius_runs_through_and_loses_height():
    s = simulation(floating(), Still(), heaving())
    _, t, rows = run(s, s.start([0.5], [0.0]), 4.0, 0.08)
    z = np.asarray(rows)[:, 0]
    assert np.isfinite(z).all()
    assert z.min() < -0.2
    assert np.abs(z[np.asarray(t) > 3.0]).max() < 0.3
