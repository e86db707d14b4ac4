"""Influence of all triangles on points, images included, summed at the vertices they share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from swelltree.jit import Array, jax, jnp

# --- Exact integrals of linear sources and dipoles over flat triangles

TINY = 1e-30  # part of an edge: nearer points lie on it
# rule of degree two: barycentric coordinates; each point has a third of the area
RULE = np.array([[4.0, 1.0, 1.0], [1.0, 4.0, 1.0], [1.0, 1.0, 4.0]]) / 6.0


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


def distant_densities(
    corners: Float[Array, "triangle corner xyz"],
    points: Float[Array, "point xyz"],
) -> Densities:
    a = jnp.transpose(corners, (1, 2, 0))
    area = 0.5 * jnp.cross(a[1] - a[0], a[2] - a[0], axis=0)
    size = jnp.sqrt((area**2).sum(0))[:, None]
    source, dipole = [], []
    for weights in RULE:
        at = jnp.tensordot(weights, a, 1)
        x, y, z = (points.T[c][None] - at[c][:, None] for c in range(3))
        inverse = 1.0 / jnp.sqrt(x * x + y * y + z * z)
        source.append(size * inverse / (12.0 * math.pi))
        dipole.append(_dot([x, y, z], area) * inverse**3 / (12.0 * math.pi))
    parts = (
        jnp.stack(
            [sum(float(w) * v for w, v in zip(column, values, strict=True)) for column in RULE.T]
        )
        for values in (source, dipole)
    )
    return Densities(*parts)


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


# --- Mirror images: a flat seabed and a vertical plane of symmetry need no panels


@dataclass(frozen=True)
class Mirrors:
    """What is mirrored.

    Args:
        depth: of the seabed z = -depth [m]; None: no seabed.
        symmetric: whether the plane y = 0 is a mirror.
        deep: whether the seabed lies below the free surface by many of its triangles.
    """

    depth: float | None = None
    symmetric: bool = False
    deep: bool = False

    @property
    def count(self) -> int:
        return (2 if self.depth is not None else 1) * (2 if self.symmetric else 1)


def mirrored(
    points: Float[Array, "point xyz"], mirrors: Mirrors
) -> Float[Array, "image point xyz"]:
    """The points, first as they are, then in every mirror and pair of mirrors."""
    result = [points]
    if mirrors.depth is not None:
        low = jnp.array([0.0, 0.0, -2.0 * mirrors.depth], points.dtype)
        result += [low + p * jnp.array([1.0, 1.0, -1.0], points.dtype) for p in result]
    if mirrors.symmetric:
        result += [p * jnp.array([1.0, -1.0, 1.0], points.dtype) for p in result]
    return jnp.stack(result)


def corner_influence(
    corners: Float[Array, "triangle corner xyz"],
    points: Float[Array, "point xyz"],
    self_triangle: Int[Array, " point"],
    mirrors: Mirrors,
    surface: int = 0,
) -> Densities:
    """Sources and dipoles of triangles and their images.

    Images of points in a deep seabed are far from the free surface: three points on each of its
    triangles are as good there as the exact integrals, at a quarter of the cost.

    Args:
        corners: of the triangles [m].
        points: where the potential is wanted [m].
        self_triangle: on which a point lies, -1 for none; its flat face has no dipole on itself.
        mirrors: seabed and plane of symmetry.
        surface: triangles of the free surface, which are the first.
    """
    places = mirrored(points, mirrors)
    number = jnp.arange(len(corners))[:, None]
    owners = jnp.where(jnp.arange(len(places))[:, None] == 0, self_triangle, -1)

    def add(total: Densities, image: tuple[Array, Array]) -> tuple[Densities, None]:
        result = linear_densities(corners, image[0])
        dipole = jnp.where(number == image[1], 0.0, result.dipole)
        return Densities(total.source + result.source, total.dipole + dipole), None

    def add_below(total: Densities, image: Array) -> tuple[Densities, None]:
        parts = (
            distant_densities(corners[:surface], image),
            linear_densities(corners[surface:], image),
        )
        source, dipole = (jnp.concatenate(each, axis=1) for each in zip(*parts, strict=True))
        return Densities(total.source + source, total.dipole + dipole), None

    # one after the other: a program of a quarter of the size, and no slower
    zero = jnp.zeros((3, len(corners), len(points)), points.dtype)
    start = Densities(zero, zero)
    if not (mirrors.deep and surface):
        return jax.lax.scan(add, start, (places, owners))[0]
    # every other image is one in the seabed
    start = jax.lax.scan(add, start, (places[0::2], owners[0::2]))[0]
    return jax.lax.scan(add_below, start, places[1::2])[0]


def at_vertices(
    values: Float[Array, "corner triangle point"],
    table: Int[Array, "vertex place"],
) -> Float[Array, "vertex point"]:
    """Sum over the corners of triangles that meet at vertices.

    Args:
        values: of the corners.
        table: corner * triangles + triangle of every corner at a vertex; one past the last: none.
    """
    flat = values.reshape(-1, values.shape[-1])
    flat = jnp.concatenate([flat, jnp.zeros((1, flat.shape[1]), flat.dtype)])
    total = flat[table[:, 0]]
    for place in range(1, table.shape[1]):
        total = total + flat[table[:, place]]
    return total
