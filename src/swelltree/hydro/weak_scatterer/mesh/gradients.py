"""Derivatives along a surface from values at its vertices: quadratics through two rings.

Around every vertex a quadratic is fitted to its neighbours and their neighbours, near ones with
more weight; it passes through the vertex itself. The neighbours are chosen once, the weights follow
from the places, so that they can be found again under `jit` when vertices move in plan.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from swelltree.jit import Array, jnp, pytree


@pytree()
class Neighbours:
    """Vertices around each vertex, as a table with empty places.

    Args:
        number: (n, k) of the neighbour; of an empty place the vertex itself.
        side: (n, k) 1.0 as it is, -1.0 mirrored in y = 0, 0.0 empty.
    """

    number: Int[Array, "vertex place"]
    side: Float[Array, "vertex place"]


@pytree()
class Gradient:
    """Weights of the derivatives.

    Args:
        number: (n, k) of the neighbour.
        x: (n, k) weight of its value less that of the vertex [1/m].
        y: (n, k) the same.
    """

    number: Int[Array, "vertex place"]
    x: Float[Array, "vertex place"]
    y: Float[Array, "vertex place"]

    def __call__(self, values: Float[Array, " vertex"]) -> tuple[Array, Array]:
        """Both derivatives of values at the vertices."""
        rise = values[self.number] - values[:, None]
        return (self.x * rise).sum(1), (self.y * rise).sum(1)


def neighbours(vertices: np.ndarray, triangles: np.ndarray, symmetric: bool) -> Neighbours:
    """Neighbours and their neighbours, across the plane of symmetry too.

    Args:
        vertices: (n, >=2) [m].
        triangles: (m, 3).
        symmetric: values are even in y.
    """
    n = len(vertices)
    copies = [triangles]
    if symmetric:
        # the mirrored half, whose vertices on the plane are the same
        image = np.where(vertices[:, 1] == 0.0, np.arange(n), np.arange(n) + n)
        copies.append(image[triangles])
    ring: list[set[int]] = [set() for _ in range(2 * n)]
    for a, b, c in np.concatenate(copies).tolist():
        ring[a] |= {b, c}
        ring[b] |= {c, a}
        ring[c] |= {a, b}
    result = [sorted(set().union(*(ring[j] for j in ring[i])) | ring[i] - {i}) for i in range(n)]
    result = [[j for j in row if j != i] for i, row in enumerate(result)]
    width = max(len(row) for row in result)
    number = np.repeat(np.arange(n)[:, None], width, axis=1)
    side = np.zeros((n, width))
    for i, row in enumerate(result):
        number[i, : len(row)] = np.array(row) % n
        side[i, : len(row)] = np.where(np.array(row) < n, 1.0, -1.0)
    return Neighbours(number, side)


def quadratic_terms(
    places: Float[Array, "vertex xy"], around: Neighbours
) -> tuple[
    Float[Array, "vertex place term"], Float[Array, "vertex place"], Float[Array, "vertex 1"]
]:
    """Terms x, y, x^2, xy, y^2 of the neighbours of vertices, their weights, the unit of length.

    Lengths in units of the distance to the nearest neighbour keep equations well scaled.

    Args:
        places: x and y of the vertices [m].
        around: their neighbours.
    """
    x, y = places[:, 0], places[:, 1]
    dx = x[around.number] - x[:, None]
    dy = around.side * y[around.number] - y[:, None]
    there = around.side != 0.0
    d2 = jnp.where(there, dx**2 + dy**2, jnp.inf)
    unit = jnp.sqrt(d2.min(1))[:, None]
    dx, dy = jnp.where(there, dx, 0.0) / unit, jnp.where(there, dy, 0.0) / unit
    weight = jnp.where(there, unit**2 / d2, 0.0)
    return jnp.stack([dx, dy, dx * dx, dx * dy, dy * dy], -1), weight, unit


def gradient(places: Float[Array, "vertex xy"], around: Neighbours) -> Gradient:
    """Weights of the derivatives at vertices.

    Args:
        places: x and y of the vertices [m].
        around: their neighbours.
    """
    basis, weight, unit = quadratic_terms(places, around)
    normal = jnp.einsum("nk,nki,nkj->nij", weight, basis, basis)
    slopes = jnp.linalg.solve(normal, jnp.swapaxes(weight[:, :, None] * basis, 1, 2))
    return Gradient(around.number, slopes[:, 0] / unit, slopes[:, 1] / unit)
