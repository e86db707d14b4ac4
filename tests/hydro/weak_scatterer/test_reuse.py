"""What is not made again: blocks of the matrices that stay, and factors of an earlier geometry."""

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
from swelltree.hydro.weak_scatterer.problem.solve import factored, reused
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


@pytest.mark.parametrize("single", [False, True])
def test_old_factors_serve_a_matrix_nearby_and_not_one_far_away(single):
    n = 60
    A = np.eye(n) + 0.1 * rng.normal(size=(n, n))
    near, far = A + 1e-2 * rng.normal(size=(n, n)), 3.0 * np.eye(n) - rng.normal(size=(n, n))
    old = factored(jnp.asarray(A), single)
    right = jnp.asarray(rng.normal(size=(n, 3)))
    for matrix, stays in ((near, True), (far, False)):
        found = jax.jit(reused)(old, jnp.asarray(matrix))
        assert bool((found.factors.lu == old.lu).all()) == stays
        want = np.linalg.solve(matrix, right)
        np.testing.assert_allclose(found.solve(right), want, atol=1e-9 * np.abs(want).max())


@pytest.mark.parametrize(
    ("wave", "options"),
    [
        pytest.param(WAVE, {"solve": "gmres"}, marks=pytest.mark.slow),
        (WAVE, {"solve": "gmres", "preconditioner": "float32"}),
        pytest.param(None, {"solve": "gmres", "preconditioner": "float32"}, marks=pytest.mark.slow),
        pytest.param(None, {}, marks=pytest.mark.slow),
    ],
)
def test_water_in_general_position_is_that_of_matrices_made_and_factorised_anew(wave, options):
    """Rates, wrench and added mass; without a wave the blocks of the surface are kept too."""
    model = sw.compile(ball_on_a_rail(**options))
    effect = model.effect(WeakScatterers)
    if wave is not None:
        effect = effect.in_sea(model, realise(wave, WATER))
    effect = effect.before_run(model)
    assert (effect.retained.fixed is not None) == (wave is None)
    assert (effect.retained.factors is not None) == ("solve" in options)
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

    ours, theirs = water(effect.retained), water(None)
    for a, b in zip(
        (*ours.surface, ours.wrench, ours.added_mass),
        (*theirs.surface, theirs.wrench, theirs.added_mass),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, atol=1e-9 * float(np.abs(b).max()))


@pytest.mark.slow
@pytest.mark.parametrize("geometry", ["mid", "full"])
def test_runs_by_gmres_and_with_new_factors_are_the_same(geometry):
    how = {"duration": 1.5, "output_step": 0.3, "progress": False}
    ways = ({}, {"solve": "gmres"}, {"solve": "gmres", "preconditioner": "float32"})
    rows = []
    for way in ways:
        run = sw.simulate(sw.compile(ball_on_a_rail(geometry=geometry, **way)), WAVE, **how)
        assert run.attrs["result"] == "success"
        rows.append([run.joint_coordinate.values, run.weak_scatterer_elevation.values])
    for row in rows[1:]:
        for a, b in zip(row, rows[0], strict=True):
            assert np.abs(b).max() > 1e-4
            np.testing.assert_allclose(a, b, atol=1e-9 * np.abs(b).max())


def test_still_water_needs_no_new_blocks_of_its_surface():
    model = sw.compile(ball_on_a_rail())
    effect = model.effect(WeakScatterers)
    assert isinstance(effect.wave, Still)
    assert effect.retained is None
    assert effect.before_run(model).retained.fixed.dipole.shape[0] == effect.scene.boundary.fixed


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"solve": "lu"}, "'lu' is not a way to solve"),
        ({"solve": "gmres", "preconditioner": "float16"}, "'float16' is not a precision"),
        ({"preconditioner": "float32"}, "'float32' serves solve='gmres' only"),
        ({"solve": "gmres", "crossing": ("ball",)}, "uses the factors of one mesh"),
    ],
)
def test_ways_to_solve_that_cannot_be_are_refused(changes, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        ball_on_a_rail(**changes)
