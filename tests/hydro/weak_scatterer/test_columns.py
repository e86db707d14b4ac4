"""Hulls with several waterlines: catamarans and semi-submersibles."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.hydro.weak_scatterer.effect import WeakScatterers
from swelltree.hydro.weak_scatterer.incident.interface import Still
from swelltree.hydro.weak_scatterer.motion.scene import vertices_at
from swelltree.jit import jnp

WATER = sw.Water(rho=1000.0, depth=6.0)
OMEGA = 2.2
HULL = sw.Box(length=3.0, width=0.8, height=1.2, draft=0.5, offset=(0.0, 1.2, 0.0))
CATAMARAN = sw.Union((HULL, HULL.replace(offset=(0.0, -1.2, 0.0))))


def blocks(x, y, z, solid):
    """Closed hull of the blocks of a grid for which `solid` of their middles holds."""
    edges = [np.asarray(e, float) for e in (x, y, z)]
    middle = np.meshgrid(*(0.5 * (e[1:] + e[:-1]) for e in edges), indexing="ij")
    full = np.pad(solid(*middle), 1)
    points = np.stack(np.meshgrid(*edges, indexing="ij"), -1).reshape(-1, 3)
    number = np.arange(len(points)).reshape([len(e) for e in edges])
    faces = []
    for cell in np.argwhere(full) - 1:
        for axis in range(3):
            for side in (0, 1):
                beyond = cell + 1
                beyond[axis] += 2 * side - 1
                if full[tuple(beyond)]:
                    continue
                u, v = np.eye(3, dtype=int)[[(axis + 1) % 3, (axis + 2) % 3]]
                at = cell + side * np.eye(3, dtype=int)[axis]
                face = [number[tuple(p)] for p in (at, at + u, at + u + v, at + v)]
                faces.append(face if side else face[::-1])
    used, new = np.unique(np.array(faces), return_inverse=True)
    return sw.Mesh(vertices=points[used].tolist(), faces=new.reshape(-1, 4).tolist())


def semi_submersible(parts=1):
    """Two columns on a pontoon, a deck on them: one hull with a hole through it.

    Args:
        parts: that each side of its panels is divided into.
    """
    x = [-2.4, -2.0, -1.6, -1.2, -0.8, -0.4, 0.0, 0.4, 0.8, 1.2, 1.6, 2.0, 2.4]
    y = [-0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6]
    z = [-1.6, -1.3, -1.0, -0.7, -0.4, -0.15, 0.2, 0.5, 0.8, 1.0]

    def solid(x, y, z):
        ends = (abs(x) > 1.2) & (abs(x) < 2.4) & (abs(y) < 0.5)
        return (z < -1.0) | (z > 0.8) | ends

    def divided(e):
        return np.interp(np.arange(parts * (len(e) - 1) + 1) / parts, np.arange(len(e)), e)

    return blocks(divided(x), divided(y), divided(z), solid)


def scene_of(hull, mode="linear", **options):
    """Tank and hull, which is held but in surge and heave."""
    body = sw.Body("boat", mass=2400.0, inertia=(2e3, 2e3, 3e3), hull=hull, **options)
    return model_of([body], [], mode)[1]


def model_of(bodies, joints, mode="linear", **options):
    joint = sw.SubsetJoint("held", sw.WORLD, bodies[0], dofs=("Surge", "Heave"))
    specified = {"radius": 15.0, "spacing": 0.8, "far_spacing": 2.5, "levels": 2, "panel_size": 0.4}
    tank = sw.WeakScatterer("tank", mode=mode, **(specified | options))
    model = sw.compile(sw.System("water", bodies, [joint, *joints], [tank], water=WATER))
    effect = model.effect(WeakScatterers)
    assert effect is not None
    return model, effect.scene


def wet_panels(scene, position, rotation):
    """Corners and area vectors of all wet triangles of hulls, out of the water."""
    x = np.asarray(vertices_at(scene, Still(), 0.0, jnp.asarray(position), jnp.asarray(rotation)))
    corner = x[np.asarray(scene.boundary.triangles)[scene.boundary.on_bodies]]
    return corner, 0.5 * np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])


@pytest.mark.parametrize("hull", [CATAMARAN, semi_submersible()], ids=["catamaran", "semi"])
def test_wet_mesh_of_a_hull_with_several_waterlines_is_closed_and_displaces_what_the_hull_does(
    hull,
):
    scene = scene_of(hull)
    assert len(scene.shells) == 2
    corner, area = wet_panels(scene, scene.mean_position, scene.mean_rotation)
    water = {"catamaran": 2 * 3.0 * 0.8 * 0.5, "semi": 4.8 * 1.2 * 0.6 + 2 * 1.2 * 0.8}
    plane = {"catamaran": 2 * 3.0 * 0.8, "semi": 2 * 1.2 * 0.8}
    name = "catamaran" if hull is CATAMARAN else "semi"
    np.testing.assert_allclose(area.sum(0), [0.0, 0.0, plane[name]], atol=1e-9)
    volume = -(area[:, 2] * corner[..., 2].mean(1)).sum()
    assert volume == pytest.approx(water[name], rel=1e-6)


def test_waterlines_of_a_catamaran_follow_it_as_it_heels_and_rises():
    """One hull rises by half of its draft, the other goes down; both stay closed."""
    scene = scene_of(CATAMARAN, "body_exact")
    angle, rise = 0.15, 0.1
    turn = np.array(
        [[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]]
    )
    place = np.asarray(scene.mean_position) + [[0.0, 0.0, rise]]
    corner, area = wet_panels(scene, place, turn[None])
    # vertical walls, heeled: the waterplane is wider by the cosine
    assert area[:, 2].sum() == pytest.approx(2 * 3.0 * 0.8 / np.cos(angle), rel=1e-6)
    np.testing.assert_allclose(area[:, :2].sum(0), 0.0, atol=1e-9)
    # of both hulls together: the mean draft, measured along the hull
    volume = -(area[:, 2] * corner[..., 2].mean(1)).sum()
    middle = float(scene.mean_position[0, 2]) + rise
    bottom = -0.5 - float(scene.mean_position[0, 2])
    draft = -(middle / np.cos(angle) + bottom)
    assert volume == pytest.approx(2 * 3.0 * 0.8 * draft, rel=1e-6)


def test_heeled_catamaran_is_meshed_where_it_lies():
    scene = scene_of(CATAMARAN, rotation_deg=(6.0, 0.0, 23.0))
    _, area = wet_panels(scene, scene.mean_position, scene.mean_rotation)
    np.testing.assert_allclose(area[:, :2].sum(0), 0.0, atol=1e-9)
    assert area[:, 2].sum() == pytest.approx(2 * 3.0 * 0.8 / np.cos(np.radians(6.0)), rel=1e-6)


@pytest.mark.slow
def test_catamaran_in_one_piece_has_the_coefficients_of_two_hulls_that_are_joined():
    """The same hulls, each a body of its own with meridians from its keel, about the same point."""
    one, _ = model_of([sw.Body("boat", hull=CATAMARAN)], [], panel_size=0.25, spacing=0.5)
    boats = [
        sw.Body(n, hull=h) for n, h in zip(("port", "starboard"), CATAMARAN.hulls, strict=True)
    ]
    two, _ = model_of(boats, [sw.Weld("weld", *boats)], panel_size=0.25, spacing=0.5)
    f1, f2 = (sw.weak_scatterer_coefficients(m, OMEGA, estimate=False) for m in (one, two))
    for name in ("added_mass", "radiation_damping"):
        single, both = f1[name].values, f2[name].values
        both = both.reshape(2, 6, 2, 6).sum((0, 2))
        for dof in (0, 1, 2):
            # panels of 0.25 m on hulls of 0.8 m, graded to the bottom edge in one mesh alone
            assert single[dof, dof] == pytest.approx(both[dof, dof], rel=0.05)
    force = f2.excitation_force.values.reshape(2, 6).sum(0)
    np.testing.assert_allclose(f1.excitation_force.values[[0, 2]], force[[0, 2]], rtol=0.03)


@pytest.mark.slow
def test_semi_submersible_in_a_small_wave_moves_as_in_the_linear_mode():
    body = sw.Body("boat", mass="displacement", inertia=(5e3, 5e3, 5e3), hull=semi_submersible())
    sea, heave = sw.RegularWave(0.02, OMEGA, ramp=0.5), {}
    for mode in ("linear", "weak_scatterer"):
        model, _ = model_of([body], [], mode, radius=14.0)
        run = sw.simulate(model, sea, duration=0.6, output_step=0.2)
        heave[mode] = run.position.sel(body="boat", dof="Heave").values
    size = np.abs(heave["linear"] - heave["linear"][0]).max()
    assert size > 2e-3
    np.testing.assert_allclose(heave["weak_scatterer"], heave["linear"], atol=0.01 * size)


def test_hulls_without_tubes_and_tanks_that_do_not_know_them_are_refused():
    ring = blocks(
        np.linspace(-1.5, 1.5, 7), np.linspace(-1.5, 1.5, 7), [-0.5, 0.0, 0.5],
        lambda x, y, z: (abs(x) > 0.9) | (abs(y) > 0.9),
    )  # fmt: skip
    with pytest.raises(sw.SwelltreeError, match=r"no tube|waterlines of two hulls overlap"):
        scene_of(ring)
    with pytest.raises(
        sw.SwelltreeError, match=r"2 separate waterlines.* Leave symmetric=True out"
    ):
        model_of([sw.Body("boat", hull=CATAMARAN)], [], symmetric=True)
    with pytest.raises(sw.SwelltreeError, match=r"2 separate waterlines.* Leave crossing out"):
        model_of(
            [sw.Body("boat", hull=CATAMARAN)],
            [],
            "weak_scatterer",
            crossing=("boat",),
            panel_size=0.4,
        )
