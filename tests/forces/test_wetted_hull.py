"""Pressure on the wetted part of hulls: exact statics, smooth, and right in waves."""

import numpy as np
import pytest

import swelltree as sw
from near_surface import surface_head
from swelltree.describe.bodies.solids import immersed_of_panels
from swelltree.hydro.froude_krylov.build import _triangles, closed_panels, linear_froude_krylov
from swelltree.hydro.froude_krylov.hulls import Triangles, places, wet_shares, wetted
from swelltree.jit import jax, jnp
from swelltree.multibody.kinematics import Pose
from swelltree.spatial.rotations import quat_to_matrix, turn_quat
from swelltree.waves.sea import realise

HULLS = {
    "box": sw.Box(4.0, 2.0, 1.5, 0.8, panel_size=0.7),
    "sphere": sw.Sphere(2.0, panel_size=0.8),
    "cylinder": sw.Cylinder(1.0, 1.5, 2.5, panel_size=0.6),
    "lying": sw.HorizontalCylinder(0.8, 3.0, panel_size=0.5),
}


def rotation_matrix(turn):
    return quat_to_matrix(turn_quat(np.array([1.0, 0.0, 0.0, 0.0]), turn))


def triangles(hull, reference=(0.0, 0.0, 0.0)) -> Triangles:
    return _triangles([sw.Body("a", hull=hull)], np.array([reference]))


def turned(rng) -> np.ndarray:
    return np.asarray(rotation_matrix(rng.normal(size=3)))[None]


@pytest.mark.parametrize("name", HULLS)
def test_still_water_gives_the_polyhedron_its_exact_buoyancy(name):
    hull, panels = triangles(HULLS[name]), closed_panels(sw.Body("a", hull=HULLS[name]))
    rng = np.random.default_rng(3)
    for _ in range(4):
        p, R = rng.normal(size=(1, 3)) * [3.0, 3.0, 0.5], turned(rng)
        wet = wetted(hull, p, R, np.array(1e4))
        cut = panels.moved(p[0], R[0]).immersed()
        # the part below z = 0, cut by other code
        exact = immersed_of_panels(cut)
        lift = np.array([0.0, 0.0, 1e4 * exact.volume])
        moment = np.cross(exact.center - p[0], lift)
        np.testing.assert_allclose(wet.volume[0], exact.volume, rtol=1e-12)
        np.testing.assert_allclose(
            wet.wrench[0], np.concatenate([lift, moment]), atol=1e-11 * np.abs(lift).max() * 4
        )


def test_a_sunken_hull_displaces_its_volume_and_one_in_the_air_nothing():
    hull = triangles(HULLS["box"])
    p = np.array([[0.0, 0.0, -7.0]])
    R = turned(np.random.default_rng(0))
    np.testing.assert_allclose(wetted(hull, p, R, np.array(1.0)).volume, 12.0, rtol=1e-12)
    high = wetted(hull, -p, R, np.array(1.0))
    assert np.abs(high.wrench).max() == 0.0
    assert high.volume[0] == 0.0


def moved(p, R, step):
    return p + step[None, :3], rotation_matrix(step[3:])[None] @ R


@pytest.mark.parametrize("name", HULLS)
def test_buoyancy_is_the_gradient_of_its_potential(name):
    hull, rng = triangles(HULLS[name]), np.random.default_rng(1)

    @jax.jit
    def both(p, R):
        def energy(step):
            return wetted(hull, *moved(p, R, step), jnp.ones(())).potential[0]

        return jax.grad(energy)(jnp.zeros(6)), wetted(hull, p, R, jnp.ones(())).wrench[0]

    for _ in range(3):
        p, R = rng.normal(size=(1, 3)) * [1.0, 1.0, 0.4], turned(rng)
        gradient, wrench = both(p, R)
        np.testing.assert_allclose(-gradient, wrench, atol=1e-11 * np.abs(wrench).max())


def test_gradient_is_the_finite_difference_also_with_panels_on_the_surface():
    hull = triangles(HULLS["box"])
    waves = realise(sw.RegularWave(0.3, period=3.0, beta=0.4), sw.Water())

    @jax.jit
    def wrench(step, p, R):
        p, R = moved(p, R, step)
        surface = surface_head(waves, 0.7, p, *places(hull, p, R), sw.Water())
        return wetted(hull, p, R, jnp.ones(()), surface).wrench[0]

    slope = jax.jit(jax.jacfwd(wrench))
    # afloat, aslant, and upright with the deck at the height of the still water
    for p, turn in (((0.0, 0.0, 0.1), (0.1, 0.3, 0.2)), ((0.3, 0.1, -0.7), (0.0, 0.0, 0.0))):
        p, R = np.array([p]), rotation_matrix(np.array(turn))[None]
        found = np.asarray(slope(jnp.zeros(6), p, R))
        assert np.isfinite(found).all()
        h = 1e-5
        for k in range(6):
            e = h * np.eye(6)[k]
            rough = (wrench(e, p, R) - wrench(-e, p, R)) / (2 * h)
            np.testing.assert_allclose(found[:, k], rough, atol=2e-3 * np.abs(found).max())
    still = jax.jit(jax.jacfwd(lambda s: wetted(hull, *moved(p, R, s), jnp.ones(())).wrench[0]))
    assert np.isfinite(np.asarray(still(jnp.zeros(6)))).all()


def test_no_force_jumps_when_deck_and_bottom_cross_the_surface():
    hull = triangles(HULLS["box"])
    waves = realise(sw.RegularWave(0.2, period=6.0), sw.Water())
    heights = np.linspace(-1.2, 1.2, 4801)

    @jax.jit
    @jax.vmap
    def lift(z):
        p, R = jnp.array([[0.3, 0.1, 0.0]]).at[0, 2].set(z), jnp.eye(3)[None]
        surface = surface_head(waves, 0.4, p, *places(hull, p, R), sw.Water())
        return jnp.concatenate(
            [wetted(hull, p, R, jnp.ones(()), s).wrench[0] for s in (None, surface)]
        )

    change = np.abs(np.diff(np.asarray(lift(heights)), axis=0)).max(0)
    # at most the waterplane times the step, and its moment
    step = heights[1] - heights[0]
    assert (change < 1.1 * 8.0 * step * np.array([1, 1, 1, 2, 2, 2] * 2)).all()


def test_a_linear_pressure_pushes_a_sunken_hull_by_its_volume():
    hull = triangles(HULLS["sphere"], (0.3, 0.2, 0.1))
    p, R = np.array([[1.0, 2.0, -9.0]]), turned(np.random.default_rng(5))
    x, y, z = places(hull, p, R)
    slope = np.array([0.2, -0.1, 0.3])
    surface = np.zeros_like(x), slope[0] * x + slope[1] * y + slope[2] * z
    volume = wetted(hull, p, R, np.ones(())).volume[0]
    force = wetted(hull, p, R, np.ones(()), surface).wrench[0, :3]
    np.testing.assert_allclose(force, volume * (np.array([0.0, 0.0, 1.0]) - slope), rtol=1e-11)


def test_several_bodies_are_the_same_together_as_alone():
    bodies = [sw.Body("a", hull=HULLS["sphere"]), sw.Body("b", hull=HULLS["box"])]
    both = _triangles(bodies, np.zeros((2, 3)))
    rng = np.random.default_rng(2)
    p = np.array([[0.0, 0.0, 0.2], [20.0, 3.0, -0.1]])
    R = np.concatenate([turned(rng), turned(rng)])
    waves = realise(sw.RegularWave(0.3, period=4.0), sw.Water())

    def at(hull, p, R):
        surface = surface_head(waves, 1.0, p, *places(hull, p, R), sw.Water())
        return wetted(hull, p, R, np.ones(()), surface)

    together = at(both, p, R)
    for i, body in enumerate(bodies):
        alone = at(_triangles([body], np.zeros((1, 3))), p[i : i + 1], R[i : i + 1])
        np.testing.assert_allclose(together.wrench[i], alone.wrench[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(together.volume[i], alone.volume[0], rtol=1e-12)


def test_shares_do_not_depend_on_the_order_of_corners():
    rng = np.random.default_rng(4)
    d, f = rng.normal(size=(3, 200)), rng.normal(size=(3, 200))
    g = np.array(wet_shares(tuple(d), tuple(f)))
    for order in ([1, 2, 0], [2, 1, 0], [0, 2, 1]):
        h = np.array(wet_shares(tuple(d[order]), tuple(f[order])))
        np.testing.assert_allclose(h, g[order], atol=1e-14)


def test_froude_krylov_converges_with_the_square_of_the_panels():
    omega, beta = np.array([1.6]), np.array([0.4])
    mean, water = Pose(np.zeros(3), np.eye(3)), sw.Water()
    box = sw.Box(8.0, 4.0, 3.0, 2.0)

    def force(size):
        body = sw.Body("a", hull=box.replace(panel_size=size), reference_point=(0.0, 0.0, 0.0))
        return linear_froude_krylov(body, mean, water, omega, beta)[0, 0]

    k, c, s = omega[0] ** 2 / 9.81, np.cos(0.4), np.sin(0.4)
    # vertical force: pressure on the bottom, rho g e^{-kT} times the integral of e^{ikx}
    exact = 1025 * 9.81 * np.exp(-2 * k) * 8 * 4
    exact *= np.sinc(k * c * 4 / np.pi) * np.sinc(k * s * 2 / np.pi)
    error = [abs(force(size)[2] - exact) / exact for size in (1.0, 0.5, 0.25)]
    assert error[1] < 0.35 * error[0]
    assert error[2] < 0.35 * error[1]
    assert error[2] < 3e-3


def test_small_waves_give_the_linear_froude_krylov_force():
    body = sw.Body("a", hull=HULLS["cylinder"], reference_point=(0.2, 0.0, -0.3))
    hull = _triangles([body], np.array([body.reference]))
    p, R = np.array([[5.2, 3.0, -0.3]]), np.eye(3)[None]
    water, a, omega, beta = sw.Water(depth=6.0), 1e-4, 2.0, 0.7
    linear = linear_froude_krylov(
        body, Pose(p[0], R[0]), water, np.array([omega]), np.array([beta])
    )[0, 0]
    waves = realise(sw.RegularWave(a, omega=omega, beta=beta), water)
    way = waves.wavenumber[0] * (5.2 * np.cos(beta) + 3.0 * np.sin(beta))
    rest = wetted(hull, p, R, np.array(water.rho * water.g)).wrench[0]
    for t in (0.0, 1.0):
        surface = surface_head(waves, t, p, *places(hull, p, R), water)
        wrench = wetted(hull, p, R, np.array(water.rho * water.g), surface).wrench[0]
        expected = np.real(linear * np.exp(1j * (way - omega * t)))
        size = np.abs(linear).max()
        np.testing.assert_allclose((wrench - rest) / a, expected, atol=2e-3 * size)


def test_a_hull_with_a_hole_is_refused(tmp_path):
    half = closed_panels(sw.Body("a", hull=HULLS["box"])).immersed()
    rows = [" ".join(f"{x:.9g}" for x in half.vertices[face].ravel()) for face in half.faces]
    path = tmp_path / "half.gdf"
    path.write_text("half\n1.0 9.81\n0 0\n" + f"{len(rows)}\n" + "\n".join(rows) + "\n")
    body = sw.Body("a", hull=sw.MeshFile(str(path)), mass=1.0)
    system = sw.System("s", [body], [sw.Free("j", sw.WORLD, body)])
    with pytest.raises(sw.SwelltreeError, match=r"hole of 8 m\^2.*Give a closed mesh"):
        sw.compile(system, nonlinear=True)
