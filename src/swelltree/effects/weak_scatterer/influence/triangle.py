r"""Exact integrals of linear sources and dipoles over flat triangles.

With the field point P at height h over the plane of the triangle and its foot at rho,

.. math::
    \int \frac{dS}{R} = \sum_e t_e f_e - h\Omega, \quad
    \int \frac{\rho'-\rho}{R} dS = \sum_e m_e g_e, \quad
    \int \frac{h}{R^3} dS = \Omega, \quad
    \int h\frac{\rho'-\rho}{R^3} dS = -h \sum_e m_e f_e,

where an edge e runs along s from its first corner a, m = s x n points out of the triangle,
:math:`t = (a-P)\cdot m`, f is the integral of 1/R along it, and
:math:`2g = (t^2+h^2) f + l_2 R_2 - l_1 R_1`. The solid angle Omega is that of van Oosterom and
Strackee (1983). Arrays run (corner, triangle, point), so that the sums over triangles at a vertex
read memory in order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jaxtyping import Float

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jnp

TINY = 1e-30  # part of an edge: nearer points lie on it


class Densities(NamedTuple):
    """Integrals over triangles of the three linear shape functions.

    Args:
        source: of G = 1 / (4 pi R) [m].
        dipole: of its derivative along the normal of the triangle [-].
    """

    source: Float[Array, "corner triangle point"]
    dipole: Float[Array, "corner triangle point"]


class Frames(NamedTuple):
    """Axes of triangles; edge e starts at corner e and lies opposite to corner e + 2."""

    corner: Float[Array, "corner xyz triangle"]
    along: Float[Array, "edge xyz triangle"]
    out: Float[Array, "edge xyz triangle"]
    normal: Float[Array, "xyz triangle"]
    length: Float[Array, "edge triangle"]
    area: Float[Array, " triangle"]


def frames(corners: Float[Array, "triangle corner xyz"]) -> Frames:
    """Axes, edges and areas of triangles that run counter-clockwise about their normal."""
    a = jnp.transpose(corners, (1, 2, 0))
    edge = jnp.roll(a, -1, axis=0) - a
    length = jnp.sqrt((edge**2).sum(1))
    along = edge / length[:, None]
    cross = jnp.cross(edge[0], edge[1], axis=0)
    twice = jnp.sqrt((cross**2).sum(0))
    normal = cross / twice
    out = jnp.cross(along, jnp.broadcast_to(normal, along.shape), axis=1)
    return Frames(a, along, out, normal, length, 0.5 * twice)


def linear_densities(
    corners: Float[Array, "triangle corner xyz"],
    points: Float[Array, "point xyz"],
) -> Densities:
    """Sources and dipoles of linear density, exact wherever the points lie.

    On the plane of a triangle the dipole is that of the upper side inside it, where the mean of
    both sides is zero: who integrates over the own triangle of a point sets it to zero.

    Args:
        corners: of the triangles [m].
        points: where the potential is wanted [m].
    """
    tri = frames(corners)
    P = points.T[:, None, :]
    r = [[tri.corner[i, c][:, None] - P[c] for c in range(3)] for i in range(3)]
    R = [jnp.sqrt(x * x + y * y + z * z) for x, y, z in r]
    h = -_dot(r[0], tri.normal)
    t, f, g = zip(*(_edge(tri, r, R, h, e) for e in range(3)), strict=True)
    angle = _solid_angle(tri, R, h)
    plain = t[0] * f[0] + t[1] * f[1] + t[2] * f[2] - h * angle
    sources, dipoles = [], []
    for corner in range(3):
        opposite = (corner + 1) % 3
        slope = (tri.length[opposite] / (2.0 * tri.area))[:, None]
        turn = [(tri.out[opposite] * tri.out[e]).sum(0)[:, None] for e in range(3)]
        here = slope * t[opposite]
        moment = turn[0] * g[0] + turn[1] * g[1] + turn[2] * g[2]
        swirl = turn[0] * f[0] + turn[1] * f[1] + turn[2] * f[2]
        sources.append((here * plain - slope * moment) / (4.0 * math.pi))
        dipoles.append((here * angle + slope * h * swirl) / (4.0 * math.pi))
    return Densities(jnp.stack(sources), jnp.stack(dipoles))


def _dot(r: list[Array], direction: Array) -> Array:
    """Of vectors to points with one direction for each triangle."""
    x, y, z = direction[:, :, None]
    return r[0] * x + r[1] * y + r[2] * z


def _edge(tri: Frames, r: list, R: list, h: Array, e: int) -> tuple[Array, Array, Array]:
    """Distance t of an edge, and its integrals f and g."""
    first, last = e, (e + 1) % 3
    length = tri.length[e][:, None]
    t = _dot(r[first], tri.out[e])
    l1 = _dot(r[first], tri.along[e])
    l2 = l1 + length
    d2 = t * t + h * h
    # every branch adds positive numbers, so that nothing cancels near the edge or its line
    p1 = jnp.maximum(R[first] + jnp.abs(l1), TINY * length)
    p2 = jnp.maximum(R[last] + jnp.abs(l2), TINY * length)
    between = p1 * p2 / jnp.maximum(d2, (TINY * length) ** 2)
    ratio = jnp.where(l1 >= 0.0, p2 / p1, jnp.where(l2 <= 0.0, p1 / p2, between))
    f = jnp.log(ratio)
    return t, f, 0.5 * (d2 * f + l2 * R[last] - l1 * R[first])


def _solid_angle(tri: Frames, R: list, h: Array) -> Array:
    """Solid angle of a triangle, positive on the side of its normal."""
    squared = [x * x for x in R]
    edge2 = [(tri.length[e] ** 2)[:, None] for e in range(3)]
    # products of two vectors to corners, from the law of cosines
    ab, bc, ca = (0.5 * (squared[e] + squared[(e + 1) % 3] - edge2[e]) for e in range(3))
    below = R[0] * R[1] * R[2] + ab * R[2] + bc * R[0] + ca * R[1]
    return 2.0 * jnp.arctan2(2.0 * tri.area[:, None] * h, below)
