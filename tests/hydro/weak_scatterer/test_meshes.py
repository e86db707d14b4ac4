"""Surfaces: closed, of the right size, refused with a sentence when they are not."""

import numpy as np
import pytest

from swelltree.describe import Body
from swelltree.describe.bodies import hulls
from swelltree.describe.bodies.solids import hull_solid
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.mesh.gradients import gradient, neighbours
from swelltree.hydro.weak_scatterer.mesh.hulls import (
    cylinder,
    ellipsoid,
    hull_mesh,
    hull_surface,
    sphere,
)
from swelltree.hydro.weak_scatterer.mesh.surface import (
    Surface,
    checked_watertight,
    open_edges,
)
from swelltree.hydro.weak_scatterer.mesh.tank import Tank, free_surface, wall
from swelltree.jit import jax

rng = np.random.default_rng(3)


@pytest.mark.parametrize("n", [2, 5, 6])
def test_sphere_is_closed_with_its_true_volume(n):
    built = checked_watertight("ball", sphere(n, 1.7))
    assert len(built.vertices) == 4 * n**2 + 2
    assert built.volume == pytest.approx(4 / 3 * np.pi * 1.7**3, rel=1e-12)
    half = checked_watertight("ball", built.half(), symmetric=True)
    assert 2 * half.volume == pytest.approx(built.volume, rel=1e-12)


def test_cylinder_and_ellipsoid_are_closed_with_their_true_volume():
    built = checked_watertight("can", cylinder(0.4, 1.1, 0.13))
    assert built.volume == pytest.approx(np.pi * 0.4**2 * 1.1, rel=1e-12)
    built = checked_watertight("egg", ellipsoid(5, (2.0, 1.0, 0.7)))
    assert built.volume == pytest.approx(4 / 3 * np.pi * 1.4, rel=1e-12)


@pytest.mark.parametrize(
    "hull",
    [
        hulls.Box(length=3.0, width=1.0, height=1.0, draft=0.6, panel_size=0.3),
        hulls.Cylinder(radius=1.0, height=2.0, draft=1.2, panel_size=0.4),
        hulls.Sphere(radius=1.0, offset=(0, 0, -3.0), panel_size=0.4),
        hulls.HorizontalCylinder(radius=0.5, length=3.0, panel_size=0.2),
    ],
    ids=lambda hull: hull.shape,
)
def test_described_hulls_become_closed_triangles(hull):
    built = checked_watertight("float", hull_surface(hull))
    assert built.volume > 0


@pytest.mark.parametrize(
    "hull",
    [
        hulls.Cylinder(radius=1.0, height=0.1, draft=0.1, offset=(0.3, 0.2, -0.95)),
        hulls.Axisymmetric(((0, -3), (0.5, -2.9), (0.5, -2), (1.2, -2), (1.2, -1.8), (0.3, -0.5))),
    ],
    ids=lambda hull: hull.shape,
)
def test_round_hulls_under_water_are_closed_and_finer_towards_convex_edges(hull):
    """A thin plate had 352 vertices, a third of them around its axis."""
    built = checked_watertight("plate", hull_mesh(Body("plate", mass=1.0, hull=hull), 0.19))
    assert built.volume == pytest.approx(hull_solid(hull).volume, rel=1e-9)
    half = built.moved((-hull.offset[0], -hull.offset[1], 0.0)).half()
    assert 2 * checked_watertight("plate", half, symmetric=True).volume == pytest.approx(
        built.volume
    )
    r = np.hypot(*(built.vertices[:, :2] - hull.offset[:2]).T)
    rings = np.unique(np.round(r, 6))
    assert np.diff(rings)[-1] < 0.3 * np.diff(rings).max()


def test_damaged_meshes_are_refused_with_a_sentence():
    full = sphere(3)
    tri = full.triangles
    with pytest.raises(
        SwelltreeError, match=r"body 'a': its hull is not watertight: the edge from"
    ):
        checked_watertight("a", Surface(full.vertices, tri[1:]))
    with pytest.raises(SwelltreeError, match="its normals point into the body"):
        checked_watertight("a", Surface(full.vertices, tri[:, ::-1]))
    mixed = tri.copy()
    mixed[4] = mixed[4, ::-1]
    with pytest.raises(SwelltreeError, match="two triangles run the same way along the edge"):
        checked_watertight("a", Surface(full.vertices, mixed))
    flat = np.concatenate([tri, [[0, 1, 0]]])
    with pytest.raises(SwelltreeError, match="has no area"):
        checked_watertight("a", Surface(full.vertices, flat))
    with pytest.raises(SwelltreeError, match="has no triangles"):
        checked_watertight("a", Surface(full.vertices, tri[:0]))
    lost = full.vertices.copy()
    lost[3, 1] = np.nan
    with pytest.raises(SwelltreeError, match="a vertex that is not a number"):
        checked_watertight("a", Surface(lost, tri))


@pytest.mark.parametrize("symmetric", [False, True])
def test_tank_is_closed_but_for_its_bottom_and_its_plane(symmetric):
    tank = Tank(20.0, 7.0, near=1.0, far=4.0, fine=4.0, symmetric=symmetric, center=(2.0, 0.0))
    top = free_surface(tank)
    points, sides = wall(tank, top)
    both = Surface(np.concatenate([top.vertices, points]), np.concatenate([top.triangles, sides]))
    for a, b in open_edges(both):
        ends = both.vertices[[a, b]]
        assert (ends[:, 2] == -7.0).all() or (symmetric and (ends[:, 1] == 0.0).all())
    # with the flat bottom it holds the water of a prism over its polygon
    assert (top.area_vectors[:, 2] > 0).all()
    middle = both.vertices[both.triangles].mean(1) - [2.0, 0.0, -7.0]
    volume = (middle * both.area_vectors).sum() / 3.0
    assert volume == pytest.approx(7.0 * top.area_vectors[:, 2].sum(), rel=1e-12)
    out = (both.area_vectors * (middle * [1, 1, 0])).sum(1)[len(top.triangles) :]
    assert (out > 0).all()


def test_free_surface_is_fine_over_the_body_and_coarse_at_the_rim():
    top = free_surface(Tank(60.0, 20.0, near=1.0, far=6.0, fine=8.0))
    corners = top.vertices[top.triangles]
    side = np.linalg.norm(corners - np.roll(corners, 1, 1), axis=2)
    at = np.hypot(*corners.mean(1)[:, :2].T)
    assert side[at < 8].max() < 1.7
    assert side[at > 50].max() < 10.0
    quality = top.area_vectors[:, 2] / (side**2).sum(1) * 4 * np.sqrt(3)
    assert quality.min() > 0.3


def test_tank_refuses_what_it_cannot_hold():
    ball = sphere(3)
    tank = Tank(20.0, 7.0, near=1.0, far=4.0)
    tank.checked_inside("ball", ball.moved((3, 0, -3)).vertices)
    with pytest.raises(SwelltreeError, match="body 'ball' lies outside the tank: it reaches 2"):
        tank.checked_inside("ball", ball.moved((19.5, 0, -3)).vertices)
    with pytest.raises(SwelltreeError, match=r"the bottom lies at z = -7 m"):
        tank.checked_inside("ball", ball.moved((0, 0, -6.5)).vertices)
    with pytest.raises(SwelltreeError, match=r"reaches up to z = .* or raise it to float"):
        tank.checked_inside("ball", ball.vertices)
    with pytest.raises(SwelltreeError, match="Give its half with y >= 0"):
        Tank(20.0, 7.0, 1.0, 4.0, symmetric=True).checked_inside(
            "b", ball.moved((0, 0, -3)).vertices
        )
    with pytest.raises(SwelltreeError, match="tank: depth inf m is not positive"):
        Tank(20.0, np.inf, 1.0, 4.0)
    with pytest.raises(SwelltreeError, match="Give near <= far <= radius"):
        Tank(20.0, 7.0, 5.0, 4.0)
    with pytest.raises(SwelltreeError, match="off the plane of symmetry"):
        Tank(20.0, 7.0, 1.0, 4.0, symmetric=True, center=(0.0, 1.0))


@pytest.mark.parametrize("symmetric", [False, True])
def test_gradient_of_a_quadratic_is_exact(symmetric):
    top = free_surface(Tank(20.0, 7.0, near=1.0, far=4.0, symmetric=symmetric))
    x, y = top.vertices[:, :2].T
    a, b, c, d, e = rng.normal(size=5)
    if symmetric:
        b = d = 0.0  # even in y
    values = a * x + b * y + c * x * x + d * x * y + e * y * y
    around = neighbours(top.vertices, top.triangles, symmetric)
    gx, gy = jax.jit(lambda xy, f: gradient(xy, around)(f))(top.vertices[:, :2], values)
    np.testing.assert_allclose(gx, a + 2 * c * x + d * y, atol=1e-9)
    np.testing.assert_allclose(gy, b + d * x + 2 * e * y, atol=1e-9)
