"""Integrals over triangles against quadrature, and what must hold for closed surfaces."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from swelltree.hydro.weak_scatterer.influence.sums import (
    Mirrors,
    corner_influence,
    linear_densities,
    mirrored,
)
from swelltree.jit import jax, jnp

rng = np.random.default_rng(20)
exact = jax.jit(linear_densities)
GAUSS = np.polynomial.legendre.leggauss(300)


def turned(a):
    return [(1 - 2 * a, a, a), (a, 1 - 2 * a, a), (a, a, 1 - 2 * a)]


# Radon (1948): barycentric coordinates (7, 3) and weights (7,) of a rule of degree five
ROOT = np.sqrt(15.0)
PLACES = np.array([(1 / 3, 1 / 3, 1 / 3), *turned((6 - ROOT) / 21), *turned((6 + ROOT) / 21)])
WEIGHTS = np.array([9 / 40] + [(155 - ROOT) / 1200] * 3 + [(155 + ROOT) / 1200] * 3)


def by_halving(corners, point, depth=0):
    """Sources and dipoles by the rule of degree five on pieces much smaller than their distance."""
    middle = corners.mean(0)
    size = np.linalg.norm(corners - np.roll(corners, 1, 0), axis=1).max()
    if size > 0.12 * np.linalg.norm(middle - point) and depth < 14:
        a, b, c = corners
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        M = 0.5 * np.array(
            [
                [[2, 0, 0], [1, 1, 0], [1, 0, 1]],
                [[1, 1, 0], [0, 2, 0], [0, 1, 1]],
                [[1, 0, 1], [0, 1, 1], [0, 0, 2]],
                [[1, 1, 0], [0, 1, 1], [1, 0, 1]],
            ]
        )  # corners of a piece in barycentric coordinates of the whole
        parts = ([a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca])
        total = np.zeros((2, 3))
        for part, weights in zip(parts, M, strict=True):
            total += by_halving(np.array(part), point, depth + 1) @ weights
        return total
    cross = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    area, n = np.linalg.norm(cross) / 2, cross / np.linalg.norm(cross)
    away = PLACES @ corners - point
    R = np.linalg.norm(away, axis=1)
    weight = WEIGHTS * area / (4 * np.pi)
    return np.array([(weight / R) @ PLACES, (-weight * (away @ n) / R**3) @ PLACES])


def in_plane_source(corners, point):
    """Source at a point inside its triangle, in polar coordinates about it."""
    total = np.zeros(3)
    M = np.linalg.inv(np.vstack([corners.T]))  # barycentric coordinates of points of the plane
    for i in range(3):
        a, b = corners[i] - point, corners[(i + 1) % 3] - point
        u = 0.5 * (GAUSS[0] + 1)
        along = a + u[:, None] * (b - a)
        R = np.linalg.norm(along, axis=1)
        turn = np.linalg.norm(np.cross(a, b)) / R**2 * 0.5 * GAUSS[1]  # d theta
        for part, dtheta, reach in zip(along, turn, R, strict=True):
            half = M @ (point + 0.5 * part)  # a linear density has its mean half way
            total += dtheta * reach * half
    return total / (4 * np.pi)


@pytest.mark.parametrize("height", [1.5, 0.3, 0.06, -0.06, -0.7])
def test_integrals_equal_quadrature_at_random_places(height):
    corners = rng.normal(size=(3, 3))
    n = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    n /= np.linalg.norm(n)
    # over the triangle and beside it
    for weights in (rng.dirichlet(np.ones(3)), rng.normal(size=3)):
        weights = weights / weights.sum()
        point = weights @ corners + height * n
        found = exact(corners[None], point[None])
        want = by_halving(corners, point)
        np.testing.assert_allclose(found.source[:, 0, 0], want[0], atol=2e-8)
        np.testing.assert_allclose(found.dipole[:, 0, 0], want[1], atol=2e-7)


def test_source_inside_its_own_triangle_equals_polar_quadrature():
    corners = rng.normal(size=(3, 3))
    for _ in range(4):
        point = rng.dirichlet(np.ones(3) * 20) @ corners
        found = exact(corners[None], point[None]).source[:, 0, 0]
        np.testing.assert_allclose(found, in_plane_source(corners, point), rtol=1e-9)


@pytest.mark.parametrize("distance", [1e-3, 1e-6, 1e-9, 0.0])
def test_integrals_are_continuous_towards_edges_corners_and_their_lines(distance):
    corners = rng.normal(size=(3, 3))
    a, b, c = corners
    side = rng.normal(size=3)
    for place in (0.6 * a + 0.4 * b, a, 2.0 * a - b, (a + b + c) / 3):
        point = place + distance * side
        ahead = place + 1e-13 * side
        near = exact(corners[None], np.array([point, ahead]))
        assert np.isfinite(near.source).all()
        assert np.isfinite(near.dipole).all()
        # the potential of a source has a slope like log(distance) at an edge
        gap = np.abs(near.source[:, 0, 0] - near.source[:, 0, 1]).max()
        assert gap < 3.0 * distance * (1.0 - np.log(distance + 1e-12)) + 1e-11


def test_dipole_jumps_by_one_through_a_triangle_and_solid_angle_is_half_in_it():
    corners = rng.normal(size=(3, 3))
    place = rng.dirichlet(np.ones(3)) @ corners
    n = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    n /= np.linalg.norm(n)
    both = exact(corners[None], np.array([place + 1e-9 * n, place - 1e-9 * n])).dipole.sum((0, 1))
    np.testing.assert_allclose(both, [0.5, -0.5], atol=1e-7)


def closed_tetrahedron():
    corners = rng.normal(size=(4, 3))
    faces = np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]])
    volume = np.linalg.det(corners[1:] - corners[0])
    return corners, corners[faces if volume < 0 else faces[:, ::-1]]


def test_dipoles_of_a_closed_surface_sum_to_its_solid_angle():
    corners, faces = closed_tetrahedron()
    inside = rng.dirichlet(np.ones(4), size=5) @ corners
    outside = corners.mean(0) + 20.0 * rng.normal(size=(5, 3))
    total = exact(faces, np.concatenate([inside, outside])).dipole.sum((0, 1))
    np.testing.assert_allclose(total[:5], -1.0, atol=1e-12)
    np.testing.assert_allclose(total[5:], 0.0, atol=1e-12)


def test_green_identity_of_a_linear_potential_holds_in_a_tetrahedron():
    corners, faces = closed_tetrahedron()
    slope = rng.normal(size=3)
    inside = rng.dirichlet(np.ones(4), size=6) @ corners
    n = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    n /= np.linalg.norm(n, axis=1)[:, None]
    found = exact(faces, inside)
    phi, q = faces @ slope, n @ slope
    value = np.einsum("ctp,t->p", found.source, q) - np.einsum("ctp,tc->p", found.dipole, phi)
    np.testing.assert_allclose(value, inside @ slope, atol=1e-12)


def test_integrals_turn_and_shift_with_the_triangle_and_the_point():
    corners, points = rng.normal(size=(3, 3, 3)), rng.normal(size=(4, 3))
    R, shift = Rotation.random(rng=rng).as_matrix(), rng.normal(size=3)
    here, there = exact(corners, points), exact(corners @ R.T + shift, points @ R.T + shift)
    np.testing.assert_allclose(here.source, there.source, atol=1e-13)
    np.testing.assert_allclose(here.dipole, there.dipole, atol=1e-13)


def test_images_mirror_in_the_seabed_and_the_plane_of_symmetry():
    point = jnp.array([[1.0, 2.0, -3.0]])
    found = np.array(mirrored(point, Mirrors(depth=10.0, symmetric=True)))[:, 0]
    want = [[1, 2, -3], [1, 2, -17], [1, -2, -3], [1, -2, -17]]
    np.testing.assert_allclose(found, want)
    assert Mirrors(depth=10.0, symmetric=True).count == 4


def test_images_in_a_deep_seabed_need_no_exact_integrals_of_the_free_surface():
    """Of triangles an eighth of their distance in size the rule has errors of 1e-5."""
    corners = 3.0 * rng.normal(size=(40, 1, 3)) + 0.5 * rng.normal(size=(40, 3, 3))
    corners[:25, :, 2] *= 0.1  # the first triangles are the free surface
    points = rng.normal(size=(6, 3)) * [3, 3, 1] - [0, 0, 4]
    corners[25:, :, 2] -= 4.0
    none = np.full(6, -1)
    each = jax.jit(corner_influence, static_argnums=(3, 4))
    exactly = each(corners, points, none, Mirrors(8.0, symmetric=True), 25)
    found = each(corners, points, none, Mirrors(8.0, symmetric=True, deep=True), 25)
    direct = each(corners, points, none, Mirrors(None, symmetric=True), 25)
    for a, b, c in zip(found, exactly, direct, strict=True):
        np.testing.assert_allclose(a[:, 25:], b[:, 25:], atol=1e-13)
        images = np.abs(b - c)[:, :25]
        assert images.max() > 1e-4
        assert 1e-9 < np.abs(a - b)[:, :25].max() < 2e-4 * images.max()


def test_influence_with_images_is_that_of_the_mirrored_surface():
    corners, points = rng.normal(size=(5, 3, 3)), rng.normal(size=(4, 3)) - [0, 0, 3]
    mirrors = Mirrors(depth=6.0, symmetric=True)
    found = jax.jit(corner_influence, static_argnums=3)(corners, points, np.full(4, -1), mirrors)
    total = np.zeros((2, 3, 5, 4))
    for y in (1, -1):
        for z in (1, -1):
            image = corners * [1, y, z] + [0, 0, 0 if z > 0 else -12.0]
            # a mirror turns the order of the corners, and with it the normal
            order = [0, 1, 2] if y * z > 0 else [0, 2, 1]
            part = exact(image[:, order], points)
            total += np.array(part)[:, order]
    np.testing.assert_allclose(found, total, atol=1e-13)
