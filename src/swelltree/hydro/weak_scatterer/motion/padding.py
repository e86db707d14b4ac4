"""Padded meshes: all of one run have the same sizes, so that nothing is compiled again.

A mesh is renumbered: each hull that may pierce the surface has room for its waterline at the
beginning of the free surface, each body has room for its whole hull. What is not taken is marked
(`Used`), belongs to no triangle, and has zeros in the matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from swelltree.hydro.weak_scatterer.mesh.gradients import Neighbours
from swelltree.hydro.weak_scatterer.motion.scene import Scene
from swelltree.hydro.weak_scatterer.motion.waterline import Shell
from swelltree.hydro.weak_scatterer.problem.boundary import Boundary, Used

ROOM = 1.25  # of what the meshes that are known take
MORE = 12  # and so many more


@dataclass(frozen=True)
class Sizes:
    """Room for all meshes of a run.

    Args:
        surface: vertices of the free surface beside those of waterlines.
        walls: vertices of the wall.
        top: triangles of the free surface.
        sides: triangles of the wall.
        lines: meridians of each hull that may pierce the surface.
        places: points on them.
        rings: steps of their meshes, not more and not fewer.
        shells: bodies of these hulls.
        bodies: vertices of each body.
        panels: triangles of each body.
        corners: triangles that meet at a vertex.
        near: neighbours of a vertex and theirs.
    """

    surface: int
    walls: int
    top: int
    sides: int
    lines: tuple[int, ...]
    places: tuple[int, ...]
    rings: tuple[int, ...]
    shells: tuple[int, ...]
    bodies: tuple[int, ...]
    panels: tuple[int, ...]
    corners: int
    near: int

    @property
    def waterlines(self) -> tuple[int, ...]:
        """First vertices of the waterlines, and of the rest of the free surface."""
        return tuple(np.cumsum([0, *self.lines]).tolist())

    @property
    def full_surface(self) -> int:
        """Vertices of the free surface with its waterlines."""
        return self.waterlines[-1] + self.surface

    @property
    def fixed(self) -> int:
        """Vertices of free surface and wall."""
        return self.full_surface + self.walls

    def holds(self, other: Sizes) -> bool:
        """Whether a mesh of other sizes finds room."""
        mine, theirs = (
            (s.surface, s.walls, s.top, s.sides, s.corners, s.near, *s.lines, *s.places, *s.bodies,
             *s.panels) for s in (self, other)
        )  # fmt: skip
        return all(a >= b for a, b in zip(mine, theirs, strict=True))


def sizes_of(scene: Scene, active: Sequence[int], shells: dict[int, int], bodies: int) -> Sizes:
    """What a mesh takes.

    Args:
        scene: of the bodies that are in the water.
        active: their numbers among all.
        shells: {body that may pierce the surface: steps of its mesh}.
        bodies: number of all.
    """
    boundary = scene.boundary
    own = {active[shell.body]: shell for shell in scene.shells}
    both = zip(boundary.bodies, boundary.body_triangles, strict=True)
    taken = dict(zip(active, both, strict=True))
    on_lines = [len(own[b].arc) if b in own else 0 for b in shells]
    return Sizes(
        surface=boundary.surface - sum(on_lines),
        walls=boundary.walls,
        top=boundary.surface_triangles,
        sides=len(boundary.triangles) - boundary.surface_triangles - sum(boundary.body_triangles),
        lines=tuple(on_lines),
        places=tuple(own[b].arc.shape[1] if b in own else 2 for b in shells),
        rings=tuple(shells.values()),
        shells=tuple(shells),
        bodies=tuple(taken.get(b, (0, 0))[0] for b in range(bodies)),
        panels=tuple(taken.get(b, (0, 0))[1] for b in range(bodies)),
        corners=boundary.corners_at.shape[1],
        near=scene.neighbours.number.shape[1],
    )


def with_padding(sizes: Sequence[Sizes]) -> Sizes:
    """Room for meshes like these."""

    def room(*numbers: int) -> int:
        return int(ROOM * max(numbers)) + MORE

    def each(name: str) -> tuple[int, ...]:
        rows = zip(*(getattr(s, name) for s in sizes), strict=True)
        return tuple(room(*n) if max(n) else 0 for n in rows)

    first = sizes[0]
    lines = each("lines")
    own = [room(*n) for n in zip(*(s.bodies for s in sizes), strict=True)]
    for line, rings, body in zip(lines, first.rings, first.shells, strict=True):
        own[body] = max(own[body], 1 + (rings - 1) * line)
    return replace(
        first,
        surface=room(*(s.surface for s in sizes)),
        walls=room(*(s.walls for s in sizes)),
        top=room(*(s.top for s in sizes)),
        sides=room(*(s.sides for s in sizes)),
        lines=lines,
        places=each("places"),
        bodies=tuple(own),
        panels=each("panels"),
        corners=max(s.corners for s in sizes) + 4,
        near=max(s.near for s in sizes) + 12,
    )


def padded(scene: Scene, active: Sequence[int], sizes: Sizes, cover: float) -> Scene:
    """The mesh of the bodies in the water, renumbered among all bodies.

    Args:
        scene: in numpy.
        active: numbers of its bodies among all.
        sizes: with room for it.
        cover: min depth of bodies under the surface [m].
    """
    place = _new_numbers(scene, active, sizes)
    boundary = _boundary(scene, active, sizes, place)
    S, n = sizes.full_surface, scene.boundary.surface
    fixed = place[: n + scene.boundary.walls]
    still = np.broadcast_to(scene.still[n - 1], (sizes.fixed, 3)).copy()
    still[fixed] = scene.still
    beach = np.zeros(S)
    beach[place[:n]] = scene.beach
    owner = np.repeat(np.arange(len(sizes.bodies)), sizes.bodies)
    hulls = np.zeros((len(owner), 3))
    first = {active[s.body] for s in scene.shells}
    for number, body in enumerate(active):
        if body not in first:
            mine = scene.hulls[scene.owner == number]
            begin = sum(sizes.bodies[:body])
            hulls[begin : begin + len(mine)] = mine
    position, rotation = np.zeros((len(sizes.bodies), 3)), np.zeros((len(sizes.bodies), 3, 3))
    position[list(active)], rotation[list(active)] = scene.mean_position, scene.mean_rotation
    return replace(
        scene,
        boundary=boundary,
        still=still,
        hulls=hulls,
        owner=owner,
        mean_position=position,
        mean_rotation=rotation,
        neighbours=_neighbours(scene, sizes, place),
        gradient=None,
        shells=_shells(scene, active, sizes, place),
        beach=beach,
        cover=cover,
    )


def _new_numbers(scene: Scene, active: Sequence[int], sizes: Sizes) -> np.ndarray:
    boundary = scene.boundary
    place = np.full(boundary.vertices, -1)
    own = {active[shell.body]: shell for shell in scene.shells}
    for first, body in zip(sizes.waterlines[:-1], sizes.shells, strict=True):
        if body in own:
            count = len(own[body].arc)
            at = np.arange(own[body].first, own[body].first + count)
            place[at] = first + np.arange(count)
    free = np.flatnonzero(place[: boundary.surface] < 0)
    place[free] = sizes.waterlines[-1] + np.arange(len(free))
    place[boundary.surface : boundary.fixed] = sizes.full_surface + np.arange(boundary.walls)
    for number, body in enumerate(active):
        begin = sizes.fixed + sum(sizes.bodies[:body])
        local = np.arange(boundary.bodies[number])
        if body in own:
            # keel, then rings of lines, for which there is more room
            lines, room = len(own[body].arc), sizes.lines[sizes.shells.index(body)]
            ring, line = np.divmod(local - 1, lines)
            local = np.where(local == 0, 0, 1 + ring * room + line)
        place[boundary.vertices_of(number)] = begin + local
    return place


def _boundary(scene: Scene, active: Sequence[int], sizes: Sizes, place: np.ndarray) -> Boundary:
    old = scene.boundary
    faces = place[old.triangles]
    panels = faces[old.on_bodies]
    groups = [faces[: old.surface_triangles], faces[old.surface_triangles : old.on_bodies.start]]
    rooms = [sizes.top, sizes.sides]
    waterline = np.zeros((sum(sizes.panels), 3))
    across = np.repeat(np.arange(sum(sizes.panels))[:, None], 3, axis=1)
    for body, room in enumerate(sizes.panels):
        mine = panels[:0]
        if body in active:
            which = old.triangles_of(active.index(body))
            mine = panels[which]
            begin = sum(sizes.panels[:body])
            waterline[begin : begin + len(mine)] = old.waterline[which]
            across[begin : begin + len(mine)] = old.across[which] - which.start + begin
        groups.append(mine)
        rooms.append(room)
    spare = groups[0][:1]  # its shape is good, and no table has it
    pairs = list(zip(groups, rooms, strict=True))
    filled = [np.concatenate([g, np.repeat(spare, r - len(g), 0)]) for g, r in pairs]
    taken = [np.arange(r) < len(g) for g, r in pairs]
    triangles, there = np.concatenate(filled), np.concatenate(taken)
    count, N, S = len(triangles), sizes.fixed + sum(sizes.bodies), sizes.full_surface
    first_panel = sizes.top + sizes.sides
    wet = np.concatenate([np.arange(sizes.fixed, N), np.arange(sizes.waterlines[-1])])
    local = np.zeros(N, int)
    local[wet] = np.arange(len(wet))
    own = local[triangles[first_panel:]]
    vertices = np.zeros(N)
    vertices[place] = 1.0
    return replace(
        old,
        triangles=triangles,
        corners_at=_corners(triangles, there, N, sizes.corners),
        surface_corners_at=_corners(
            triangles, there & (np.arange(count) < sizes.top), S, sizes.corners
        ),
        wet=wet,
        wet_triangles=np.where(there[first_panel:, None], own, 0),
        waterline=waterline,
        across=across,
        surface=S,
        walls=sizes.walls,
        bodies=sizes.bodies,
        surface_triangles=sizes.top,
        body_triangles=sizes.panels,
        used=Used(vertices, taken[0].astype(float), there[first_panel:].astype(float)),
    )


def _corners(triangles: np.ndarray, there: np.ndarray, rows: int, width: int) -> np.ndarray:
    """Corners at each vertex, as `at_vertices` wants them, of the triangles that are there."""
    count = len(triangles)
    table = np.full((rows, width), 3 * count)
    number = np.flatnonzero(there)
    vertex = triangles[number].T.reshape(-1)
    value = (np.arange(3)[:, None] * count + number).reshape(-1)
    order = np.argsort(vertex, kind="stable")
    vertex, value = vertex[order], value[order]
    column = np.arange(len(vertex)) - np.searchsorted(vertex, vertex)
    table[vertex, column] = value
    return table


def _neighbours(scene: Scene, sizes: Sizes, place: np.ndarray) -> Neighbours:
    old, n = scene.neighbours, scene.boundary.surface
    rows, width = old.number.shape
    number = np.zeros((sizes.full_surface, sizes.near), int)
    side = np.zeros((sizes.full_surface, sizes.near))
    number[:], side[:, :width] = place[n - 1], old.side[n - 1]
    number[:, :width] = place[old.number[n - 1]]
    number[place[:rows]] = place[:rows, None]
    number[place[:rows], :width] = place[old.number]
    side[place[:rows]] = 0.0
    side[place[:rows], :width] = old.side
    return Neighbours(number, side)


def _shells(
    scene: Scene, active: Sequence[int], sizes: Sizes, place: np.ndarray
) -> tuple[Shell, ...]:
    """Hulls that pierce the surface or may do so."""
    own = {active[shell.body]: shell for shell in scene.shells}
    result, n = [], scene.boundary.surface
    table = zip(
        sizes.waterlines[:-1], sizes.shells, sizes.lines, sizes.places, sizes.rings, strict=True
    )
    for first, body, lines, places, rings in table:
        follow = np.zeros((sizes.full_surface, lines))
        if body not in own:
            # a stick that nothing follows
            height = np.linspace(-1.0, 1.0, places)
            points = np.zeros((lines, places, 3))
            points[..., 2] = height
            arc = np.broadcast_to(height + 1.0, (lines, places)).copy()
            rest = np.full(lines, 0.1), follow, np.zeros((lines, 2))
            result.append(Shell(points, arc, *rest, rings, body, first, np.asarray(0.0)))
            continue
        shell = own[body]
        count, known = shell.arc.shape
        row = np.minimum(np.arange(lines), count - 1)
        column = np.minimum(np.arange(places), known - 1)
        excess = np.maximum(0, np.arange(places) - known + 1)
        arc = np.asarray(shell.arc)[row][:, column]
        arc = arc + 1e-9 * arc[:, -1:] * excess
        follow[place[:n], :count] = shell.follow
        result.append(
            Shell(
                np.asarray(shell.points)[row][:, column],
                arc,
                np.asarray(shell.margin)[row],
                follow,
                np.asarray(shell.ring)[row],
                rings,
                body,
                first,
                np.asarray(1.0),
            )
        )
    return tuple(result)
