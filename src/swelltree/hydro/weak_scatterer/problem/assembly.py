r"""Matrices of the integral equation.

For the perturbation potential and its derivative q along the normal out of the water,

.. math:: c\,\phi(x) + \int \phi\,\frac{\partial G}{\partial n}\,dS = \int G\,q\,dS .

Vertices of the free surface and the wall are collocated; c is there what makes a constant potential
a solution. On bodies the equation is weighted with the shape function of the vertex (Galerkin),
with three points on each triangle and c = 1/2: a sphere of 146 vertices has its added mass within
0.1 %, with collocation within 3 % only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from swelltree.hydro.weak_scatterer.influence.sums import RULE, at_vertices, corner_influence
from swelltree.hydro.weak_scatterer.problem.boundary import Boundary
from swelltree.jit import Array, jax, jnp, pytree

BLOCK = 48  # points at a time: bounds the memory beside the matrices


class Matrices(NamedTuple):
    """The integral equation, one row for each vertex.

    Args:
        dipole: of the potential at all vertices, c included.
        surface: of q at the vertices of the free surface [m].
        bodies: of q at the corners of the triangles of bodies [m].
        spare: 1.0 at rows of vertices that are none, all of which are zero; None: there are none.
    """

    dipole: Float[Array, "vertex vertex"]
    surface: Float[Array, "vertex surface"]
    bodies: Float[Array, "vertex triangle corner"]
    spare: Float[Array, " vertex"] | None = None

    @property
    def unknowns(self) -> Float[Array, "vertex vertex"]:
        """Matrix of the unknowns: q on the free surface, the potential elsewhere."""
        A = jnp.concatenate([-self.surface, self.dipole[:, self.surface.shape[1] :]], axis=1)
        return A if self.spare is None else A + jnp.diag(self.spare)

    def right_side(
        self,
        potential: Float[Array, " surface"],
        q: Float[Array, "triangle corner"],
    ) -> Float[Array, " vertex"]:
        """Of what is known.

        Args:
            potential: on the free surface [m^2/s].
            q: on bodies [m/s].
        """
        n = self.surface.shape[1]
        return self.body_side(q) - self.dipole[:, :n] @ potential

    @property
    def per_flux(self) -> Float[Array, "vertex corners"]:
        """Of q at the corners of bodies, all in a row."""
        rows, triangles, corners = self.bodies.shape
        return self.bodies.reshape(rows, triangles * corners)

    def body_side(self, q: Float[Array, "triangle corner"]) -> Float[Array, " vertex"]:
        return self.per_flux @ q.reshape(-1)


@pytree()
class FixedBlocks:
    """Influence of free surface and wall on themselves, which stay while bodies move.

    Args:
        dipole: of the potential at their vertices, c left out.
        surface: of q at the vertices of the free surface [m].
    """

    dipole: Float[Array, "fixed also"]
    surface: Float[Array, "fixed surface"]


def fixed_blocks(
    boundary: Boundary, vertices: Float[Array, "vertex xyz"], block: int = BLOCK
) -> FixedBlocks:
    """The blocks of free surface and wall; arguments as `assemble`, no hull in the surface."""
    corners = vertices[boundary.triangles]
    dipole, surface, _ = _in_blocks(
        lambda at: _columns(boundary, corners, at, jnp.full(block, -1)),
        vertices[: boundary.fixed],
        block,
    )
    return FixedBlocks(dipole[:, : boundary.fixed], surface)


def assemble(
    boundary: Boundary,
    vertices: Float[Array, "vertex xyz"],
    block: int = BLOCK,
    fixed: FixedBlocks | None = None,
) -> Matrices:
    """The matrices for vertices where they are.

    Args:
        boundary: what the vertices belong to.
        vertices: [m].
        block: points whose influence coefficients are held at a time.
        fixed: blocks of free surface and wall, where these stay: then only rows and columns of
            bodies are made.
    """
    corners = vertices[boundary.triangles]
    parts = []
    if boundary.fixed:
        parts.append(_collocated(boundary, corners, vertices[: boundary.fixed], block, fixed))
    if boundary.bodies:
        parts.append(_weighted(boundary, corners, block))
    complete = [jnp.concatenate(rows) for rows in zip(*parts, strict=True)]
    if boundary.used is None:
        return Matrices(*complete)
    taken = boundary.used.vertices
    dipole, surface, bodies = complete
    return Matrices(
        taken[:, None] * dipole,
        taken[:, None] * surface,
        taken[:, None, None] * bodies,
        1.0 - taken,
    )


def _columns(boundary: Boundary, corners: Array, points: Array, self_triangle: Array) -> tuple:
    """Influence on points, transposed: of vertices, of the free surface, of corners of bodies."""
    result = corner_influence(
        corners, points, self_triangle, boundary.mirrors, boundary.surface_triangles
    )
    source = result.source
    on_bodies = jnp.transpose(source[:, boundary.on_bodies], (1, 0, 2))
    return (
        at_vertices(result.dipole, boundary.corners_at),
        at_vertices(source, boundary.surface_corners_at)
        if boundary.surface
        else jnp.zeros((0, len(points)), source.dtype),
        on_bodies.reshape(3 * sum(boundary.body_triangles), len(points)),
    )


def _of_bodies(boundary: Boundary, corners: Array, points: Array) -> tuple[Array, Array]:
    """Influence of bodies alone on points, transposed: of their vertices, of their corners."""
    on, count = boundary.on_bodies, sum(boundary.body_triangles)
    none = jnp.full(len(points), -1)
    result = corner_influence(corners[on], points, none, boundary.mirrors)
    own = boundary.triangles[on].T - boundary.fixed
    dipole = jnp.zeros((sum(boundary.bodies), len(points)), points.dtype).at[own].add(result.dipole)
    return dipole, jnp.transpose(result.source, (1, 0, 2)).reshape(3 * count, len(points))


def _in_blocks(columns: Callable[[Array], tuple], points: Array, block: int) -> list[Array]:
    """Rows of points from their transposed columns, some points at a time."""
    count = len(points)
    padded = jnp.concatenate([points, points[: -count % block]])
    result = jax.lax.map(columns, padded.reshape(-1, block, 3))
    return [jnp.moveaxis(p, 2, 1).reshape(len(padded), p.shape[1])[:count] for p in result]


def _collocated(
    boundary: Boundary, corners: Array, points: Array, block: int, fixed: FixedBlocks | None
) -> tuple:
    """Rows at vertices of free surface and wall."""
    count = len(points)
    if fixed is None:
        none = jnp.full(block, -1)
        rows = _in_blocks(lambda at: _columns(boundary, corners, at, none), points, block)
    else:
        dipole, bodies = _in_blocks(lambda at: _of_bodies(boundary, corners, at), points, block)
        rows = [jnp.concatenate([fixed.dipole, dipole], 1), fixed.surface, bodies]
    # a constant potential has no flux
    index = jnp.arange(count)
    dipole = rows[0].at[index, index].add(-rows[0].sum(1))
    return dipole, rows[1], rows[2].reshape(count, sum(boundary.body_triangles), 3)


def _weighted(boundary: Boundary, corners: Array, block: int) -> tuple:
    """Rows of bodies: the equation times the shape function of each vertex, over its area."""
    first, on = boundary.fixed, boundary.on_bodies
    count, n = sum(boundary.body_triangles), sum(boundary.bodies)
    faces = boundary.triangles[on]
    # vertices of a waterline have the row of the free surface: theirs is made and left out
    tri = jnp.where(faces >= first, faces - first, n)
    a, b, c = (corners[on][:, i] for i in range(3))
    area = 0.5 * jnp.linalg.norm(jnp.cross(b - a, c - a), axis=1)
    if boundary.used is not None:
        area = area * boundary.used.panels
    at_once = max(1, block // 3)
    order = jnp.arange(count + (-count % at_once))
    weight = jnp.where(order < count, area[order % count], 0.0)
    order = (order % count).reshape(-1, at_once)

    def add(total: tuple, part: tuple) -> tuple[tuple, None]:
        which, size = part
        points = jnp.einsum("pc,tcx->tpx", RULE, corners[on][which]).reshape(-1, 3)
        self_triangle = jnp.repeat(which + on.start, 3)
        columns = _columns(boundary, corners, points, self_triangle)
        # W[point, vertex] = weight of the point times the shape function there
        shape = jnp.broadcast_to(size[:, None, None] * RULE / 3.0, (at_once, 3, 3))
        W = jnp.zeros((at_once * 3, n + 1), corners.dtype)
        W = W.at[jnp.arange(at_once * 3)[:, None], jnp.repeat(tri[which], 3, axis=0)].add(
            shape.reshape(-1, 3)
        )
        return tuple(t + (c @ W).T for t, c in zip(total, columns, strict=True)), None

    widths = (boundary.vertices, boundary.surface, 3 * count)
    zero = tuple(jnp.zeros((n + 1, width), corners.dtype) for width in widths)
    rows, _ = jax.lax.scan(add, zero, (order, weight.reshape(-1, at_once)))
    # one half of the potential itself, the mass matrix of linear triangles
    mass = area[:, None, None] / 24.0 * (1.0 + np.eye(3))
    dipole = rows[0].at[tri[:, :, None], faces[:, None, :]].add(mass)
    share = jnp.zeros(n + 1, corners.dtype).at[tri].add(area[:, None] / 3.0)[:n, None]
    share = jnp.where(share > 0.0, share, 1.0)
    result = [part[:n] / share for part in (dipole, *rows[1:])]
    return result[0], result[1], result[2].reshape(n, count, 3)
