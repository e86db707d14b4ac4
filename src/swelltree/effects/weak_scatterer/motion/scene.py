"""All that does not change in a run: meshes, water, beach, and how much of it moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from swelltree.effects.weak_scatterer.beach import FIRST
from swelltree.effects.weak_scatterer.incident.interface import Incident, surface
from swelltree.effects.weak_scatterer.mesh.gradients import (
    Gradient,
    Neighbours,
    gradient,
    neighbours,
)
from swelltree.effects.weak_scatterer.mesh.holes import pierced_surface
from swelltree.effects.weak_scatterer.mesh.meridians import Meridians, meridians
from swelltree.effects.weak_scatterer.mesh.surface import Surface, checked_watertight
from swelltree.effects.weak_scatterer.mesh.tank import Tank, free_surface
from swelltree.effects.weak_scatterer.mesh.waterlines import meeting_angles, still_waterline
from swelltree.effects.weak_scatterer.motion.waterline import (
    REACH,
    Shell,
    around,
    build_shell,
    following,
    shell_triangles,
    shell_vertices,
    still_lengths,
)
from swelltree.effects.weak_scatterer.problem.boundary import Boundary, numbered
from swelltree.engine.arrays import Array, pytree
from swelltree.engine.backend import jnp
from swelltree.system.bodies.panels import Panels
from swelltree.system.bodies.solids import immersed_of_panels
from swelltree.system.errors import SwelltreeError, listed, suggest
from swelltree.system.waters.water import Water

LEAST_RINGS = 3  # from a keel to its waterline

# mode: does the free surface follow the incident wave, and does the mesh follow the bodies?
MODES = {
    "linear": (False, False),
    "body_exact": (False, True),
    "weak_scatterer": (True, True),
}


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
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = None
    meridians: float | None = None
    rings: int | None = None

    @property
    def placed(self) -> Surface:
        """The mesh in the world."""
        return self.surface.moved(self.position, self.rotation)


@pytree("wavy", "moving", "rho", "g", "depth")
class Scene:
    """The water and its bodies.

    Args:
        boundary: numbering of vertices and triangles.
        still: vertices of free surface and wall in still water [m].
        hulls: vertices of all bodies in their own axes [m].
        owner: body of each of these vertices.
        mean_position: of the reference points [m].
        mean_rotation: of the bodies.
        neighbours: on the free surface.
        gradient: derivatives in plan on it, where the plan stays.
        shells: the hulls that pierce the surface.
        beach: damping at the vertices of the free surface [1/s].
        wavy: the free surface follows the incident wave.
        moving: the mesh follows the bodies.
        rho: [kg/m^3].
        g: [m/s^2].
        depth: of the tank [m].
    """

    boundary: Boundary
    still: Float[Array, "fixed xyz"]
    hulls: Float[Array, "wet xyz"]
    owner: Array
    mean_position: Float[Array, "body xyz"]
    mean_rotation: Float[Array, "body xyz also"]
    neighbours: Neighbours
    gradient: Gradient
    shells: tuple[Shell, ...]
    beach: Float[Array, " surface"]
    wavy: bool
    moving: bool
    rho: float
    g: float
    depth: float

    @property
    def spacing(self) -> float:
        """Smallest side of a triangle of the free surface [m]."""
        still = np.asarray(self.still)
        corners = still[np.asarray(self.boundary.triangles)[: self.boundary.surface_triangles]]
        return float(np.linalg.norm(corners - np.roll(corners, 1, 1), axis=2).min())


def build_scene(
    tank: Tank,
    floaters: Sequence[Floater],
    water: Water,
    mode: str = "weak_scatterer",
    *,
    beach: float = 1.0,
    beach_from: float | None = None,
) -> Scene:
    r"""Check and prepare everything.

    The beach damps with :math:`\nu = \nu_0 ((r - r_0) / (R - r_0))^2`.

    Args:
        tank: free surface and wall.
        floaters: the bodies, under water or, with meridians, on the surface.
        water: rho and g; the depth of the water is that of the tank.
        mode: "linear", "body_exact" or "weak_scatterer".
        beach: nu_0 [1/s].
        beach_from: r_0 [m]; a quarter of the radius if not given.
    """
    if mode not in MODES:
        raise SwelltreeError(
            f"mode '{mode}' of weak scatterers is not known.{suggest(mode, MODES)} Give one of "
            f"{listed(MODES)}."
        )
    for floater in floaters:
        pierces = floater.meridians is not None
        checked_watertight(floater.name, floater.surface, tank.symmetric)
        tank.checked_inside(floater.name, floater.placed.vertices, pierces)
    wavy, moving = MODES[mode]
    top, shells, parts, hulls = _meshed(tank, floaters)
    boundary, still = numbered(tank, top, parts)
    near = neighbours(top.vertices, top.triangles, tank.symmetric)
    first = FIRST * tank.radius if beach_from is None else beach_from
    if not 0.0 <= first < tank.radius:
        raise SwelltreeError(
            f"beach_from {first} m is not inside the tank of radius {tank.radius} m. Give less."
        )
    away = np.hypot(*(still[: boundary.surface, :2] - tank.center).T)
    part = np.maximum(0.0, (away - first) / (tank.radius - first))
    turn = [np.eye(3) if f.rotation is None else np.asarray(f.rotation, float) for f in floaters]
    return Scene(
        boundary=boundary,
        still=jnp.asarray(still),
        hulls=jnp.asarray(np.concatenate([np.zeros((0, 3)), *hulls])),
        owner=np.repeat(np.arange(len(floaters)), [len(part) for part in hulls]),
        mean_position=jnp.asarray(np.array([f.position for f in floaters], float).reshape(-1, 3)),
        mean_rotation=jnp.asarray(np.array(turn).reshape(-1, 3, 3)),
        neighbours=near,
        gradient=gradient(jnp.asarray(still[: boundary.surface, :2]), near),
        shells=shells,
        beach=jnp.asarray(beach * part**2),
        wavy=wavy,
        moving=moving,
        rho=float(water.rho),
        g=float(water.g),
        depth=float(tank.depth),
    )


def _meshed(
    tank: Tank, floaters: Sequence[Floater]
) -> tuple[Surface, tuple[Shell, ...], list[tuple[int, np.ndarray]], list[np.ndarray]]:
    """Free surface, hulls in it, own vertices and triangles of bodies, vertices in body axes."""
    half = tank.symmetric
    cut = {i: _cut(f, half) for i, f in enumerate(floaters) if f.meridians is not None}
    rings = [ring for _, _, ring, _ in cut.values()]
    top = pierced_surface(tank, rings) if cut else free_surface(tank)
    shells, parts, hulls, first = [], [], [], 0
    for number, floater in enumerate(floaters):
        if number not in cut:
            parts.append((len(floater.surface.vertices), floater.surface.triangles[:, ::-1]))
            hulls.append(floater.surface.vertices)
            continue
        lines, wet, ring, steps = cut[number]
        reach = _reach(tank, ring, [r for r in rings if r is not ring])
        follow = following(top.vertices[:, :2], ring, reach, half)
        shells.append(build_shell(lines, wet, follow, ring, steps, number, first))
        own, triangles = shell_triangles(len(ring), steps, half)
        parts.append((own, np.where(triangles < own, triangles, triangles + first)))
        hulls.append(np.zeros((0, 3)))
        first += len(ring)
    return top, tuple(shells), parts, hulls


def _reach(tank: Tank, ring: np.ndarray, others: Sequence[np.ndarray]) -> float:
    """How far from a waterline the mesh follows it: not to other waterlines, nor to the rim [m]."""
    size = 0.5 * float((ring.max(0) - ring.min(0)).max())
    gaps = [float(np.linalg.norm(ring[:, None] - o[None], axis=2).min()) for o in others]
    rim = tank.radius - float(np.hypot(*(ring - tank.center).T).max())
    return min([REACH * size, rim, *(0.95 * gap for gap in gaps)])


def _cut(floater: Floater, half: bool) -> tuple[Meridians, np.ndarray, np.ndarray, int]:
    """Lines of a hull that pierces the surface, their wet lengths, waterline and steps."""
    assert floater.meridians is not None
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
    return _with_displacement(floater, lines, half, shift)


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
    wanted = immersed_of_panels(Panels(placed.vertices, faces).immersed()).volume
    wanted = 0.5 * wanted if half else wanted
    turn = np.eye(3) if floater.rotation is None else np.asarray(floater.rotation)
    place = (jnp.asarray(floater.position + turn @ shift, float), jnp.asarray(turn))
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
        shell, water = (np.array(x) for x in shell_vertices(bare, None, 0.0, *place))
        mesh = Surface(np.concatenate([shell, water]), triangles)
        volume = -(mesh.vertices[triangles, 2].mean(1) * mesh.area_vectors[:, 2]).sum()
        if abs(volume / wanted - 1.0) < 1e-6:
            break
        lines = lines.widened(float(np.sqrt(wanted / volume)))
    wet = still_lengths(lines, *place)
    ring = water[:, :2]
    if half:
        ring[[0, -1], 1] = 0.0
    return lines.moved(shift), wet, ring, steps


def vertices_at(
    scene: Scene,
    wave: Incident,
    t: Array,
    position: Float[Array, "body xyz"],
    rotation: Float[Array, "body xyz also"],
) -> Float[Array, "vertex xyz"]:
    """Where all vertices are: the free surface on the incident wave, the wall stretched below it.

    Args:
        scene: the water and its bodies.
        wave: incident.
        t: [s].
        position: of the reference points [m].
        rotation: of the bodies.
    """
    if not scene.moving:
        position, rotation = scene.mean_position, scene.mean_rotation
    turned = jnp.einsum("vij,vj->vi", rotation[scene.owner], scene.hulls)
    parts = [position[scene.owner] + turned]
    fixed, own = scene.still, {}
    plan = fixed[: scene.boundary.surface, :2]
    for shell in scene.shells:
        at = (position[shell.body], rotation[shell.body])
        own[shell.body], ring = shell_vertices(shell, wave if scene.wavy else None, t, *at)
        plan = plan + around(shell, ring[:, :2])
    if scene.shells:
        fixed = fixed.at[: scene.boundary.surface, :2].set(plan)
        parts = _in_order(scene, parts[0], own)
    if scene.wavy:
        level = surface(wave, t, fixed[:, :2]).level
        fixed = fixed.at[:, 2].add(level * (1.0 + fixed[:, 2] / scene.depth))
    return jnp.concatenate([fixed, *parts])


def left_the_water(scene: Scene, wave: Incident, t: Array, bodies: Any) -> Array:
    """Whether a vertex of a submerged body lies above the surface or below the bottom.

    Args:
        scene: the water and its bodies; in mode "linear" bodies may go anywhere.
        wave: incident.
        t: [s].
        bodies: where they are.
    """
    if not scene.moving or not len(scene.owner):
        return jnp.zeros((), bool)
    turned = jnp.einsum("vij,vj->vi", bodies.rotation[scene.owner], scene.hulls)
    place = bodies.position[scene.owner] + turned
    level = surface(wave, t, place[:, :2]).level if scene.wavy else 0.0
    return jnp.any((place[:, 2] >= level) | (place[:, 2] <= -scene.depth))


def _in_order(scene: Scene, submerged: Array, own: dict[int, Array]) -> list[Array]:
    """Vertices of all bodies in the order of the floaters."""
    result, first = [], 0
    for number, count in enumerate(scene.boundary.bodies):
        if number in own:
            result.append(own[number])
        else:
            result.append(submerged[first : first + count])
            first += count
    return result
