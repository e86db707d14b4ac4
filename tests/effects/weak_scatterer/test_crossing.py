"""Bodies that cross the surface: meshes with room to spare, new meshes, runs."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.effects.weak_scatterer.effect import WeakScatterers
from swelltree.effects.weak_scatterer.incident.interface import Still
from swelltree.effects.weak_scatterer.motion.hydrodynamics import Bodies, Water, evaluate, prepare
from swelltree.effects.weak_scatterer.motion.mesher import CUT, DRY, UNDER
from swelltree.effects.weak_scatterer.motion.transfer import transferred
from swelltree.engine.backend import jax, jnp

rng = np.random.default_rng(11)


def two_bodies(z=0.2, **options):
    """A ball that may cross the surface beside a box that floats."""
    box = sw.Body(
        "box", position=(-2.0, 0, 0), hull=sw.Box(length=1.6, width=1.0, height=0.8, draft=0.4)
    )
    ball = sw.Body("ball", mass=700.0, inertia=(70.0,) * 3, position=(1.0, 0, z),
                   hull=sw.Sphere(0.5, offset=(0, 0, z)))  # fmt: skip
    tank = sw.WeakScatterer(
        "tank", radius=9.0, spacing=0.5, far_spacing=2.5, panel_size=0.35, levels=2,
        symmetric=True, crossing=["ball"], **options,
    )  # fmt: skip
    joints = [
        sw.SubsetJoint("afloat", sw.WORLD.at(-2.0, 0, 0), box, dofs=("Heave",)),
        sw.Slider("rail", sw.WORLD.at(1.0, 0, z), ball, axis="z"),
    ]
    return sw.System("two", [box, ball], joints, [tank], water=sw.Water(rho=1000.0))


@pytest.mark.parametrize(("state", "z"), [(DRY, 1.5), (CUT, 0.1), (UNDER, -1.0)])
def test_room_to_spare_changes_nothing(state, z):
    """The same mesh with and without empty places: rates, added mass and wrench."""
    effect = sw.compile(two_bodies()).effect(WeakScatterers)
    mesher = effect.mesher
    reference = mesher.described()
    reference[1, 0], reference[1, 3] = state, z
    plain, active = mesher.plain(reference)
    roomy = jax.tree.map(jnp.asarray, mesher.scene(reference))
    plain = jax.tree.map(jnp.asarray, plain)
    p = jnp.asarray(reference[:, 1:4]) + jnp.array([0.0, 0.0, 0.03])
    v = jnp.asarray(rng.normal(size=(2, 6)) * [0.1, 0, 0.3, 0, 0.2, 0])
    whole = Bodies(p, jnp.tile(jnp.eye(3), (2, 1, 1)), v)
    some = jax.tree.map(lambda x: x[np.array(active)], whole)
    xy = np.asarray(plain.still)[: plain.boundary.surface, :2]
    kept = np.flatnonzero(np.asarray(roomy.boundary.used.vertices[: roomy.boundary.surface]))
    far = np.asarray(roomy.still)[kept, :2]
    order = [int(np.argmin(((far - q) ** 2).sum(1))) for q in xy]
    phi, eta = (np.sin(xy @ k) * 0.1 for k in rng.normal(size=(2, 2)))
    full = np.zeros((2, roomy.boundary.surface))
    full[:, kept[order]] = phi, eta
    run = jax.jit(
        lambda s, b, f, e: evaluate(s, Still(), prepare(s, Still(), 0.0, b), 0.0, Water(f, e), b)
    )
    a, b = run(plain, some, phi, eta), run(roomy, whole, full[0], full[1])
    rows = np.concatenate([np.arange(6) + 6 * i for i in active])
    large = np.abs(a.added_mass).max()
    np.testing.assert_allclose(
        np.asarray(b.added_mass)[np.ix_(rows, rows)], a.added_mass, atol=1e-9 * large
    )
    np.testing.assert_allclose(np.asarray(b.wrench)[rows], a.wrench, atol=1e-9 * 1e4)
    for ours, theirs in zip(b.surface, a.surface, strict=True):
        np.testing.assert_allclose(np.asarray(ours)[kept[order]], theirs, atol=1e-9)
    others = np.setdiff1d(np.arange(12), rows)
    assert np.abs(np.asarray(b.wrench)[others]).max(initial=0.0) == 0.0


def test_values_that_are_quadratic_go_over_exactly_and_vertices_that_stay_keep_theirs():
    old = rng.uniform([-1, 0], [1, 1], (300, 2))
    new = np.concatenate([old[:20], rng.uniform([-0.8, 0.0], [0.8, 0.8], (60, 2))])
    x, y = old.T
    rough = rng.normal(size=300)
    values = np.stack([1.0 + x - 2 * x * x + 0.7 * y * y, rough])
    taken = np.ones(300)
    got = transferred(
        jnp.asarray(old), jnp.asarray(taken), jnp.asarray(values), jnp.asarray(new), True
    )
    u, v = new.T
    np.testing.assert_allclose(got[0], 1.0 + u - 2 * u * u + 0.7 * v * v, atol=2e-3)
    np.testing.assert_allclose(got[1, :20], rough[:20], atol=1e-4)
    assert np.abs(got[1]).max() <= np.abs(rough).max()
