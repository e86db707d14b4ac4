"""From bodies in the water to one mesh of its free surface and of their wet hulls; in numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from swelltree.describe.bodies.meshes import Panels
from swelltree.describe.bodies.solids import immersed_of_panels
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.mesh.columns import columns
from swelltree.hydro.weak_scatterer.mesh.holes import pierced_surface
from swelltree.hydro.weak_scatterer.mesh.meridians import Meridians, meridians
from swelltree.hydro.weak_scatterer.mesh.surface import Surface
from swelltree.hydro.weak_scatterer.mesh.tank import Tank, free_surface
from swelltree.hydro.weak_scatterer.mesh.waterlines import (
    meeting_angles,
    still_waterline,
    waterline_count,
)
from swelltree.hydro.weak_scatterer.motion.waterline import (
    REACH,
    Shell,
    build_shell,
    following,
    ring_triangles,
    shell_triangles,
    shell_vertices,
    still_lengths,
)
from swelltree.jit import Array

LEAST_RINGS = 3  # from a keel to its waterline


@dataclass(frozen=True)
class Floater:
    """A body in the water.

    Args:
        name: of the body.
        surface: closed mesh in body axes about the reference point, normals into the water [m]; in
            a half tank the half y >= 0 of a submerged body.
        position: of the reference point, mean in mode "linear" (3,) [m].
        rotation: from body to world axes, mean in mode "linear" (3, 3).
        meridians: size of triangles at the waterline of a hull that pierces the surface [m];
            none: submerged.
        rings: steps of its mesh from keel to waterline; none: of the same size.
    """

    name: str
    surface: Surface
    position: Array = (0.0, 0.0, 0.0)
    rotation: Array = None
    meridians: float | None = None
    rings: int | None = None

    @property
    def placed(self) -> Surface:
        return self.surface.moved(self.position, self.rotation)


def meshed(
    tank: Tank, floaters: Sequence[Floater], over: Sequence[np.ndarray] = ()
) -> tuple[Surface, tuple[Shell, ...], list[tuple[int, np.ndarray]], list[np.ndarray]]:
    """Free surface, hulls in it, own vertices and triangles of bodies, vertices in body axes.

    Args:
        tank: free surface and wall.
        floaters: the bodies.
        over: outlines in plan over which the free surface is fine too (k, 2) [m].
    """
    half = tank.symmetric
    cut = {i: _cut(f, half) for i, f in enumerate(floaters) if f.meridians is not None}
    rings = [tube.ring for _, tubes in cut.values() for tube in tubes]
    top = pierced_surface(tank, rings, over) if cut or len(over) else free_surface(tank)
    shells, parts, hulls, first = [], [], [], 0
    for number, floater in enumerate(floaters):
        if number not in cut:
            parts.append((len(floater.surface.vertices), floater.surface.triangles[:, ::-1]))
            hulls.append(floater.surface.vertices)
            continue
        lower, tubes = cut[number]
        own, triangles = len(lower.vertices), [lower.triangles[:, ::-1]]
        total = own + sum(tube.own for tube in tubes)
        for tube in tubes:
            lines = len(tube.ring)
            reach = _reach(tank, tube.ring, [r for r in rings if r is not tube.ring])
            follow = following(top.vertices[:, :2], tube.ring, reach, half)
            shells.append(
                build_shell(
                    tube.lines, tube.wet, follow, tube.ring, tube.steps, number, first,
                    open_below=tube.edge is not None,
                )
            )  # fmt: skip
            faces = tube.triangles(half)
            at = np.concatenate(
                [
                    [] if tube.edge is None else tube.edge,
                    own + np.arange(tube.own),
                    total + first + np.arange(lines),
                ]
            )
            triangles.append(at.astype(int)[faces])
            own, first = own + tube.own, first + lines
        parts.append((total, np.concatenate(triangles)))
        hulls.append(lower.vertices)
    return top, tuple(shells), parts, hulls


class Tube(NamedTuple):
    """A hull around one of its waterlines.

    Args:
        lines: that follow the water.
        wet: length of each in still water [m].
        ring: still waterline (line, 2) [m].
        steps: of the mesh along the lines.
        edge: vertices of the triangles below, with which the lines begin; None: at a keel.
    """

    lines: Meridians
    wet: np.ndarray
    ring: np.ndarray
    steps: int
    edge: np.ndarray | None = None

    @property
    def own(self) -> int:
        """Vertices between the edge, or the keel, and the waterline."""
        return (self.steps - 1) * len(self.ring) + (self.edge is None)

    def triangles(self, half: bool) -> np.ndarray:
        """With normals out of the water: keel or edge first, the waterline last."""
        if self.edge is None:
            return shell_triangles(len(self.ring), self.steps, half)[1]
        return ring_triangles(np.arange((self.steps + 1) * len(self.ring)), len(self.ring), half)


NOTHING = Surface(np.zeros((0, 3)), np.zeros((0, 3), int))


def _reach(tank: Tank, ring: np.ndarray, others: Sequence[np.ndarray]) -> float:
    """How far from a waterline the mesh follows it: not to other waterlines, nor to the rim [m]."""
    size = 0.5 * float((ring.max(0) - ring.min(0)).max())
    gaps = [float(np.linalg.norm(ring[:, None] - o[None], axis=2).min()) for o in others]
    rim = tank.radius - float(np.hypot(*(ring - tank.center).T).max())
    return min([REACH * size, rim, *(0.95 * gap for gap in gaps)])


def _cut(floater: Floater, half: bool) -> tuple[Surface, list[Tube]]:
    """A hull that pierces the surface around its waterlines, and its triangles below."""
    assert floater.meridians is not None
    count = waterline_count(floater.placed)
    if count > 1:
        if half or floater.rings is not None:
            what = "symmetric=True" if half else "crossing"
            raise SwelltreeError(
                f"body '{floater.name}': the still water cuts its hull in {count} separate "
                f"waterlines, which a tank with {what} does not mesh. Leave {what} out, or "
                "describe each hull or column as a body of its own and join them with Weld."
            )
        return _columns(floater)
    turn = np.eye(3) if floater.rotation is None else np.asarray(floater.rotation, float)
    line = still_waterline(floater.name, floater.placed)
    middle = 0.5 * (line.min(0) + line.max(0))
    middle = middle * [1.0, 0.0] if half else middle
    # lines are cut about the vertical axis of the body through the middle of its waterline
    place = np.asarray(floater.position, float)
    up = turn[:, 2]
    axis = np.array([*middle, 0.0]) - place
    shift = turn.T @ (axis - up * (axis @ up))
    at = meeting_angles(line @ turn[:2, :2], middle @ turn[:2, :2], floater.meridians, half)
    lines = meridians(floater.name, floater.surface.moved(-shift), at, half)
    return NOTHING, [Tube(*_with_displacement(floater, lines, half, shift))]


def _columns(floater: Floater) -> tuple[Surface, list[Tube]]:
    assert floater.meridians is not None
    place = np.asarray(floater.position, float)
    turn = np.eye(3) if floater.rotation is None else np.asarray(floater.rotation, float)
    lower, found = columns(floater.name, floater.surface, place, turn)
    tubes = []
    for column in found:
        wet = still_lengths(column.lines, place, turn)
        steps = max(2, round(float(wet.mean()) / floater.meridians))
        lines = column.lines.divided(wet, steps)
        wet = still_lengths(lines, place, turn)
        bare = build_shell(
            lines, wet, np.zeros((0, len(wet))), np.zeros((len(wet), 2)), steps, 0, open_below=True
        )
        _, water = shell_vertices(bare, None, 0.0, place, turn)
        tubes.append(Tube(lines, wet, water[:, :2], steps, column.edge))
    return lower, tubes


def _with_displacement(
    floater: Floater, lines: Meridians, half: bool, shift: np.ndarray
) -> tuple[Meridians, np.ndarray, np.ndarray, int]:
    """Meridians whose wet mesh displaces in still water what the hull does.

    Args:
        floater: the body.
        lines: about its axis.
        half: of the hull.
        shift: from the reference point to the axis, in body axes [m].

    Returns:
        the meridians about the reference point, their wet lengths, their waterline (line, 2), and
        the steps of the mesh along them.
    """
    placed = floater.placed
    faces = np.concatenate([placed.triangles, placed.triangles[:, 2:]], 1)
    requested = immersed_of_panels(Panels(placed.vertices, faces).immersed()).volume
    requested = 0.5 * requested if half else requested
    turn = np.eye(3) if floater.rotation is None else np.asarray(floater.rotation)
    place = (np.asarray(floater.position, float) + turn @ shift, turn)
    wet, water = still_lengths(lines, *place), np.zeros((0, 3))
    if not np.isfinite(wet).all():
        raise SwelltreeError(
            f"body '{floater.name}': a line from keel to top does not cross the still water. "
            "Move the body."
        )
    count, steps = len(lines.arc), floater.rings
    if steps is None:
        assert floater.meridians is not None
        steps = max(LEAST_RINGS, round(float(wet.mean()) / floater.meridians))
    _, triangles = shell_triangles(count, steps, half)
    lines = lines.divided(wet, steps)
    for _ in range(4):  # the waterline moves a little when the lines move out
        wet = still_lengths(lines, *place)
        bare = build_shell(lines, wet, np.zeros((0, count)), np.zeros((count, 2)), steps, 0)
        shell, water = shell_vertices(bare, None, 0.0, *place)
        mesh = Surface(np.concatenate([shell, water]), triangles)
        volume = -(mesh.vertices[triangles, 2].mean(1) * mesh.area_vectors[:, 2]).sum()
        if abs(volume / requested - 1.0) < 1e-6:
            break
        lines = lines.widened(float(np.sqrt(requested / volume)))
    wet = still_lengths(lines, *place)
    ring = water[:, :2]
    if half:
        ring[[0, -1], 1] = 0.0
    return lines.moved(shift), wet, ring, steps
