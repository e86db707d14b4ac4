"""Blocks of the matrices that stay for a run are assembled once."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.hydro.weak_scatterer.effect import WeakScatterers
from swelltree.hydro.weak_scatterer.incident.interface import Still
from swelltree.hydro.weak_scatterer.mesh.hulls import ellipsoid, sphere
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies, Water, evaluate, prepare
from swelltree.hydro.weak_scatterer.problem.assembly import assemble, fixed_blocks
from swelltree.hydro.weak_scatterer.problem.boundary import build_boundary
from swelltree.jit import jax, jnp
from swelltree.waves.sea import realise

WATER = sw.Water(depth=6.0)
WAVE = sw.StreamFunctionWave(height=0.4, omega=2.2, ramp=1.0)
rng = np.random.default_rng(5)


def ball_on_a_rail(**options):
    ball = sw.Body("ball", position=(0, 0, -2.5), hull=sw.Sphere(1.0, offset=(0, 0, -2.5)))
    rail = sw.Slider("rail", sw.WORLD.at(0, 0, -2.5), ball, axis="z")
    pto = sw.LinearPto("pto", joint="rail", stiffness=4e4, damping=2e3)
    tank = {"radius": 16.0, "spacing": 1.6, "far_spacing": 4.0, "levels": 2, "panel_size": 0.8}
    water = sw.WeakScatterer("sea", **(tank | {"symmetric": True, "step": 0.15} | options))
    return sw.System("ball", [ball], [rail], [water], ptos=[pto], water=WATER)


@pytest.mark.parametrize("symmetric", [pytest.param(True, marks=pytest.mark.slow), False])
def test_matrices_of_moved_bodies_are_the_same_with_blocks_that_stayed(symmetric):
    tank = Tank(9.0, 6.0, near=2.0, far=4.0, symmetric=symmetric, levels=2)
    hulls = [ellipsoid(2, (1.0, 0.7, 0.6)), sphere(2, 0.5)]
    hulls = [hull.half() for hull in hulls] if symmetric else hulls
    places = [(1.0, 0.0 if symmetric else 0.6, -2.0), (-2.0, 0.0, -3.0)]
    boundary, x = build_boundary(tank, [h.moved(p) for h, p in zip(hulls, places, strict=True)])
    stored = jax.jit(fixed_blocks)(boundary, x)
    first = boundary.vertices_of(0)
    moved = jnp.asarray(x).at[first, 0].add(0.7).at[first, 2].add(-0.9)
    full, quick = assemble(boundary, moved), assemble(boundary, moved, fixed=stored)
    for a, b in zip(full[:3], quick[:3], strict=True):
        np.testing.assert_allclose(b, a, atol=1e-13)


@pytest.mark.slow
def test_still_water_in_general_position_is_that_of_matrices_assembled_anew():
    """Rates, wrench and added mass, with the blocks of the free surface of the whole run."""
    model = sw.compile(ball_on_a_rail())
    effect = model.effect(WeakScatterers).before_run(model)
    scene, n = effect.scene, effect.scene.boundary.surface
    bodies = Bodies(
        scene.mean_position + jnp.array([[0.0, 0.0, 0.6]]),
        scene.mean_rotation,
        jnp.asarray(rng.normal(size=(1, 6)) * [1, 0, 1, 0, 1, 0]),
    )
    state = Water(*jnp.asarray(rng.normal(size=(2, n)) * [[0.3], [0.1]]))

    @jax.jit
    def water(stored):
        ready = prepare(scene, effect.wave, 1.7, bodies, stored)
        return evaluate(scene, effect.wave, ready, 1.7, state, bodies)

    ours, theirs = water(effect.blocks), water(None)
    for a, b in zip(
        (*ours.surface, ours.wrench, ours.added_mass),
        (*theirs.surface, theirs.wrench, theirs.added_mass),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, atol=1e-9 * float(np.abs(b).max()))


def test_still_water_needs_no_new_blocks_of_its_surface():
    model = sw.compile(ball_on_a_rail())
    effect = model.effect(WeakScatterers)
    assert isinstance(effect.wave, Still)
    assert effect.blocks is None
    assert effect.before_run(model).blocks.dipole.shape[0] == effect.scene.boundary.fixed
    waves = effect.in_sea(model, realise(WAVE, WATER))
    assert waves.before_run(model).blocks is None
