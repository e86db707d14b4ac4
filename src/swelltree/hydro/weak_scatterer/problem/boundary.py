"""The boundary of the water: free surface, wall and bodies, numbered in this order.

The potential has one value at every vertex, also where two surfaces meet. Its normal derivative q
has one value at every vertex of the free surface, where it is unknown, and three on every triangle
of a body, where it is given and the normal jumps between triangles; on the wall it is zero. So no
vertex is doubled and there are as many equations as unknowns; vertices of a waterline belong to the
free surface. Normals point out of the water.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from swelltree.hydro.weak_scatterer.influence.sums import Mirrors
from swelltree.hydro.weak_scatterer.mesh.surface import Surface
from swelltree.hydro.weak_scatterer.mesh.tank import Tank, free_surface, wall
from swelltree.jit import Array, pytree

DEEP = 8.0  # depth over the spacing at the rim, beyond which images in the seabed are distant


@pytree()
class Used:
    """Which entries of padded arrays are used, 1.0 or 0.0.

    Args:
        vertices: of all.
        top: triangles of the free surface.
        panels: triangles of bodies.
    """

    vertices: Float[Array, " vertex"]
    top: Float[Array, " triangle"]
    panels: Float[Array, " panel"]


@pytree("mirrors", "surface", "walls", "bodies", "surface_triangles", "body_triangles")
class Boundary:
    """Which vertices and triangles belong to what.

    Args:
        triangles: (E, 3) vertices, counter-clockwise about the normal out of the water.
        corners_at: (N, k) corners of all triangles at each vertex, as `at_vertices` wants them.
        surface_corners_at: (surface, k) the same of the triangles of the free surface alone.
        wet: vertices of the triangles of bodies: their own, then those of waterlines.
        wet_triangles: triangles of bodies in the numbering of `wet`.
        waterline: 1.0 where the side opposite to a corner of a body lies in a waterline.
        across: triangle of bodies beyond the side opposite to a corner; none: the triangle itself.
        mirrors: seabed and plane of symmetry.
        surface: vertices of the free surface.
        walls: vertices of the wall below it.
        bodies: vertices of each body.
        surface_triangles: of the free surface.
        body_triangles: of each body.
        used: places that are taken, where meshes of other sizes may follow; None: all.
    """

    triangles: Int[Array, "triangle corner"]
    corners_at: Int[Array, "vertex place"]
    surface_corners_at: Int[Array, "surface few"]
    wet: Int[Array, " wet"]
    wet_triangles: Int[Array, "panel corner"]
    waterline: Float[Array, "panel corner"]
    across: Int[Array, "panel corner"]
    mirrors: Mirrors
    surface: int
    walls: int
    bodies: tuple[int, ...]
    surface_triangles: int
    body_triangles: tuple[int, ...]
    used: Used | None = None

    @property
    def fixed(self) -> int:
        """Vertices of free surface and wall."""
        return self.surface + self.walls

    @property
    def vertices(self) -> int:
        return self.fixed + sum(self.bodies)

    @property
    def on_bodies(self) -> slice:
        return slice(len(self.triangles) - sum(self.body_triangles), len(self.triangles))

    def vertices_of(self, body: int) -> slice:
        first = self.fixed + sum(self.bodies[:body])
        return slice(first, first + self.bodies[body])

    def triangles_of(self, body: int) -> slice:
        """Triangles of one body among those of all bodies."""
        first = sum(self.body_triangles[:body])
        return slice(first, first + self.body_triangles[body])


def build_boundary(tank: Tank | None, bodies: Sequence[Surface]) -> tuple[Boundary, np.ndarray]:
    """Number all vertices and triangles of bodies that do not pierce the surface.

    Args:
        tank: free surface and wall; None: water without bounds.
        bodies: closed surfaces with normals into the water.

    Returns:
        the boundary, and the vertices (N, 3) with the water at rest and the bodies where given.
    """
    top = None if tank is None else free_surface(tank)
    parts = [(len(body.vertices), body.triangles[:, ::-1]) for body in bodies]
    boundary, fixed = numbered(tank, top, parts)
    return boundary, np.concatenate([fixed, *(body.vertices for body in bodies)])


def numbered(
    tank: Tank | None, top: Surface | None, parts: Sequence[tuple[int, np.ndarray]]
) -> tuple[Boundary, np.ndarray]:
    """Number all vertices and triangles.

    Args:
        tank: for its wall and its mirrors; None: water without bounds.
        top: mesh of its free surface.
        parts: of each body its own vertices, and triangles with normals out of the water, in which
            numbers beyond the own vertices are the first vertices of the free surface.

    Returns:
        the boundary, and the vertices of free surface and wall in still water.
    """
    points, triangles = [np.zeros((0, 3))], []
    surface = walls = surface_triangles = 0
    if tank is not None and top is not None:
        sides, panels = wall(tank, top)
        surface, walls, surface_triangles = len(top.vertices), len(sides), len(top.triangles)
        points, triangles = [top.vertices, sides], [top.triangles, panels]
    first = surface + walls
    for vertices_of, faces in parts:
        triangles.append(np.where(faces < vertices_of, faces + first, faces - vertices_of))
        first += vertices_of
    faces = np.concatenate(triangles)
    panels = faces[len(faces) - sum(len(t) for _, t in parts) :]
    pierced = np.unique(panels[panels < surface])
    wet = np.concatenate([np.arange(surface + walls, first), pierced]).astype(int)
    local = np.zeros(first, int)
    local[wet] = np.arange(len(wet))
    dry = panels < surface
    boundary = Boundary(
        triangles=faces,
        corners_at=corner_table(faces, len(faces), first),
        surface_corners_at=corner_table(faces[:surface_triangles], len(faces), surface),
        wet=wet,
        wet_triangles=local[panels],
        waterline=(np.roll(dry, -1, axis=1) & np.roll(dry, -2, axis=1)).astype(float),
        across=_across(panels),
        mirrors=Mirrors()
        if tank is None
        else Mirrors(float(tank.depth), tank.symmetric, tank.depth >= DEEP * tank.far),
        surface=surface,
        walls=walls,
        bodies=tuple(vertices_of for vertices_of, _ in parts),
        surface_triangles=surface_triangles,
        body_triangles=tuple(len(faces) for _, faces in parts),
    )
    return boundary, np.concatenate(points)


def _across(triangles: np.ndarray) -> np.ndarray:
    """Triangle beyond the side opposite to each corner, itself where there is none (E, 3)."""
    ends = np.stack([np.roll(triangles, -1, axis=1), np.roll(triangles, -2, axis=1)], -1)
    own = np.repeat(np.arange(len(triangles)), 3)
    result = own.copy()
    _, number, times = np.unique(
        np.sort(ends.reshape(-1, 2), 1), axis=0, return_inverse=True, return_counts=True
    )
    pairs = np.argsort(number.reshape(-1), kind="stable")
    pairs = pairs[times[number.reshape(-1)[pairs]] == 2].reshape(-1, 2)
    result[pairs] = own[pairs[:, ::-1]]
    return result.reshape(-1, 3)


def corner_table(triangles: np.ndarray, count: int, vertices: int) -> np.ndarray:
    """Corners at each vertex, (vertices, k), with `3 * count` in empty places.

    Args:
        triangles: (E, 3), the first of all.
        count: of all triangles.
        vertices: number of rows.
    """
    rows: list[list[int]] = [[] for _ in range(vertices)]
    for number, triangle in enumerate(triangles.tolist()):
        for corner, vertex in enumerate(triangle):
            rows[vertex].append(corner * count + number)
    width = max((len(row) for row in rows), default=1) or 1
    return np.array([row + [3 * count] * (width - len(row)) for row in rows], int).reshape(
        -1, width
    )
