"""Influence of all triangles on points, images included, summed at the vertices they share."""

from __future__ import annotations

from jaxtyping import Float, Int

from swelltree.effects.weak_scatterer.influence.images import Mirrors, mirrored
from swelltree.effects.weak_scatterer.influence.triangle import Densities, linear_densities
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax, jnp


def corner_influence(
    corners: Float[Array, "triangle corner xyz"],
    points: Float[Array, "point xyz"],
    self_triangle: Int[Array, " point"],
    mirrors: Mirrors,
) -> Densities:
    """Sources and dipoles of triangles and their images.

    Args:
        corners: of the triangles [m].
        points: where the potential is wanted [m].
        self_triangle: on which a point lies, -1 for none; its flat face has no dipole on itself.
        mirrors: seabed and plane of symmetry.
    """
    places = mirrored(points, mirrors)
    number = jnp.arange(len(corners))[:, None]
    owners = jnp.where(jnp.arange(len(places))[:, None] == 0, self_triangle, -1)

    def add(total: Densities, image: tuple[Array, Array]) -> tuple[Densities, None]:
        result = linear_densities(corners, image[0])
        dipole = jnp.where(number == image[1], 0.0, result.dipole)
        return Densities(total.source + result.source, total.dipole + dipole), None

    # one after the other: a program of a quarter of the size, and no slower
    zero = jnp.zeros((3, len(corners), len(points)), points.dtype)
    return jax.lax.scan(add, Densities(zero, zero), (places, owners))[0]


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
