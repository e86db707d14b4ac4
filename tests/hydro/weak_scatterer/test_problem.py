"""The boundary value problem: exact potentials, added masses in closed form, both solutions."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import j0, j1

from swelltree.hydro.weak_scatterer.mesh.hulls import ellipsoid, sphere
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.problem.assembly import assemble
from swelltree.hydro.weak_scatterer.problem.boundary import build_boundary
from swelltree.hydro.weak_scatterer.problem.solve import factored
from swelltree.jit import jax

built = jax.jit(assemble, static_argnames="block")


def wave_in_tank(radius, depth):
    """Standing wave of a round tank: no flux through wall and bottom. Potential and gradient."""
    k = 7.015586669815619 / radius  # second zero of J1

    def phi(x):
        r = np.hypot(x[..., 0], x[..., 1])
        return j0(k * r) * np.cosh(k * (x[..., 2] + depth)) / np.cosh(k * depth)

    def grad(x):
        r = np.maximum(np.hypot(x[..., 0], x[..., 1]), 1e-12)
        up = np.cosh(k * (x[..., 2] + depth)) / np.cosh(k * depth)
        out = -k * j1(k * r) * up / r
        rise = k * j0(k * r) * np.sinh(k * (x[..., 2] + depth)) / np.cosh(k * depth)
        return np.stack([out * x[..., 0], out * x[..., 1], rise], -1)

    return phi, grad


def solved_in_tank(near, far, divisions, levels, symmetric):
    """Errors of q on a wavy free surface and of the potential on a sphere, over their largest."""
    tank = Tank(9.0, 4.0, near, far, fine=2.0, symmetric=symmetric, levels=levels)
    ball = sphere(divisions).moved((0.5, 0.0, -2.0))
    boundary, x = build_boundary(tank, [ball.half() if symmetric else ball])
    rise = 0.3 * np.cos(0.4 * x[:, 0] + 0.3)
    if not symmetric:
        rise = rise + 0.1 * np.sin(0.5 * x[:, 1])
    x[: boundary.fixed, 2] += (rise * (1 + x[:, 2] / 4.0))[: boundary.fixed]
    phi, grad = wave_in_tank(9.0, 4.0)
    tri = x[boundary.triangles]
    n = np.cross(tri[:, 1] - tri[:, 0], tri[:, 2] - tri[:, 0])
    n /= np.linalg.norm(n, axis=1)[:, None]
    q = np.einsum("tx,tcx->tc", n, grad(tri))
    found = built(boundary, x)
    top, on = boundary.surface, boundary.on_bodies
    u = factored(found.unknowns).solve(found.right_side(phi(x[:top]), q[on]))
    # normal of the wavy surface at its vertices
    slope = -0.12 * np.sin(0.4 * x[:top, 0] + 0.3)
    other = 0.0 * slope if symmetric else 0.05 * np.cos(0.5 * x[:top, 1])
    normal = (
        np.stack([-slope, -other, np.ones(top)], -1) / np.hypot(1, np.hypot(slope, other))[:, None]
    )
    want = (normal * grad(x[:top])).sum(1)
    body = boundary.vertices_of(0)
    inside = np.hypot(*x[:top, :2].T) < 7.0  # the rim is an edge
    error_q = np.sqrt(np.mean((u[:top] - want)[inside] ** 2)) / np.abs(want).max()
    error_phi = np.sqrt(np.mean((u[body] - phi(x[body])) ** 2)) / np.ptp(phi(x[body]))
    return error_q, error_phi


def test_potential_and_flux_converge_with_second_order_in_a_wavy_tank():
    coarse = solved_in_tank(0.9, 1.8, 3, 4, symmetric=True)
    fine = solved_in_tank(0.45, 0.9, 6, 8, symmetric=True)
    order = np.log2(np.array(coarse) / np.array(fine))
    assert fine[0] < 0.03
    assert fine[1] < 0.01
    assert (order > 1.8).all(), (coarse, fine, order)


def added_mass(surface):
    """Of a body in water without bounds, over rho (6, 6), from one factorisation."""
    boundary, x = build_boundary(None, [surface])
    tri = x[boundary.triangles]
    cross = np.cross(tri[:, 1] - tri[:, 0], tri[:, 2] - tri[:, 0])
    area = 0.5 * np.linalg.norm(cross, axis=1)
    n = cross / (2 * area[:, None])
    CK = np.concatenate([np.broadcast_to(n[:, None], tri.shape), np.cross(tri, n[:, None])], -1)
    found = built(boundary, x)
    q = CK.reshape(-1, 6)
    rows = found.bodies.reshape(len(x), -1) @ q
    phi = factored(found.unknowns).solve(rows)
    # pressure -rho phi_t times normal, integrated exactly for linear potential and normal
    at = phi[boundary.triangles]
    weight = area[:, None, None] / 12 * (1 + np.eye(3))
    return np.einsum("tij,tik,tjd->dk", weight, at, CK)


def test_added_mass_of_a_sphere_is_half_its_displacement():
    M = added_mass(sphere(6))  # 146 vertices
    half = 2 / 3 * np.pi
    np.testing.assert_allclose(np.diag(M)[:3], half, rtol=2e-3)
    np.testing.assert_allclose(M - np.diag(np.diag(M)), 0.0, atol=1e-3 * half)
    assert np.abs(np.diag(M)[3:]).max() < 0.01 * half  # turning a sphere moves no water


def lamb(a, b, c):
    """Added masses over rho of an ellipsoid along x and z and about y (Lamb 1932, art. 114-115)."""

    def alpha(s):
        f = lambda u: 1 / ((s**2 + u) * np.sqrt((a**2 + u) * (b**2 + u) * (c**2 + u)))  # noqa: E731
        return a * b * c * quad(f, 0, np.inf)[0]

    volume = 4 / 3 * np.pi * a * b * c
    A, C = alpha(a), alpha(c)
    top = (c**2 - a**2) ** 2 * (A - C)
    pitch = volume / 5 * top / (2 * (c**2 - a**2) + (c**2 + a**2) * (C - A))
    return volume * A / (2 - A), volume * C / (2 - C), pitch


def test_added_mass_of_an_ellipsoid_is_that_of_lamb():
    axes = (2.0, 1.2, 0.8)
    M = added_mass(ellipsoid(7, axes))
    np.testing.assert_allclose([M[0, 0], M[2, 2], M[4, 4]], lamb(*axes), rtol=0.01)
    np.testing.assert_allclose(M, M.T, atol=2e-3 * M[2, 2])


@pytest.mark.slow
def test_matrices_do_not_depend_on_the_size_of_the_blocks():
    tank, ball = Tank(9.0, 4.0, 2.0, 4.0, levels=2), sphere(2).moved((0.5, 0, -2))
    boundary, x = build_boundary(tank, [ball])
    one, two = built(boundary, x), built(boundary, x, block=7)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-14)
    # a constant potential is a solution everywhere: closed water, closed bodies
    np.testing.assert_allclose(one.dipole.sum(1), 0.0, atol=1e-12)
