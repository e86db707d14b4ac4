"""All that does not change in a run: meshes, water, beach, and how much of it moves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.hydro.weak_scatterer.beach import FIRST, POWER
from swelltree.hydro.weak_scatterer.incident.interface import Incident, surface
from swelltree.hydro.weak_scatterer.mesh.gradients import (
    Gradient,
    Neighbours,
    gradient,
    neighbours,
)
from swelltree.hydro.weak_scatterer.mesh.surface import checked_watertight
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.meshed import Floater, meshed
from swelltree.hydro.weak_scatterer.motion.waterline import Shell, around, shell_vertices
from swelltree.hydro.weak_scatterer.problem.boundary import Boundary, numbered
from swelltree.jit import Array, jax, jnp, pytree

if TYPE_CHECKING:
    from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies

# mode: does the free surface follow the incident wave, and does the mesh follow the bodies?
MODES = {
    "linear": (False, False),
    "body_exact": (False, True),
    "weak_scatterer": (True, True),
}


@pytree("wavy", "moving", "rho", "g", "depth", "cover")
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
        cover: of water over bodies under the surface, at least, where bodies may cross it: what
            rises above is flattened to this depth [m]; None: bodies do not cross the surface.
    """

    boundary: Boundary
    still: Float[Array, "fixed xyz"]
    hulls: Float[Array, "wet xyz"]
    owner: Array
    mean_position: Float[Array, "body xyz"]
    mean_rotation: Float[Array, "body xyz also"]
    neighbours: Neighbours
    gradient: Gradient | None
    shells: tuple[Shell, ...]
    beach: Float[Array, " surface"]
    wavy: bool
    moving: bool
    rho: float
    g: float
    depth: float
    cover: float | None = None

    @property
    def spacing(self) -> float:
        """Minimum side of a triangle of the free surface [m]."""
        still = np.asarray(self.still)
        corners = still[np.asarray(self.boundary.triangles)[: self.boundary.surface_triangles]]
        return float(np.linalg.norm(corners - np.roll(corners, 1, 1), axis=2).min())

    @property
    def tank_center(self) -> np.ndarray:
        """Middle of the tank in plan (2,) [m]."""
        plan = np.asarray(self.still)[:, :2]
        middle = 0.5 * (plan.min(0) + plan.max(0))
        return middle * [1.0, 0.0] if self.boundary.mirrors.symmetric else middle


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

    The beach damps with :math:`\nu = \nu_0 ((r - r_0) / (R - r_0))^3`.

    Args:
        tank: free surface and wall.
        floaters: the bodies, under water or, with meridians, on the surface.
        water: rho and g; the depth of the water is that of the tank.
        mode: "linear", "body_exact" or "weak_scatterer".
        beach: nu_0 [1/s].
        beach_from: r_0 [m]; a tenth of the radius if not given.
    """
    if mode not in MODES:
        raise SwelltreeError(
            f"mode '{mode}' of weak scatterers is not known.{suggest(mode, MODES)} Give one of "
            f"{listed(MODES)}."
        )
    for floater in floaters:
        checked_watertight(floater.name, floater.surface, tank.symmetric)
    scene = plain_scene(tank, floaters, water, mode, beach=beach, beach_from=beach_from)
    still = jnp.asarray(scene.still)
    return replace(
        scene,
        still=still,
        hulls=jnp.asarray(scene.hulls),
        mean_position=jnp.asarray(scene.mean_position),
        mean_rotation=jnp.asarray(scene.mean_rotation),
        gradient=gradient(still[: scene.boundary.surface, :2], scene.neighbours),
        shells=jax.tree.map(jnp.asarray, scene.shells),
        beach=jnp.asarray(scene.beach),
    )


def plain_scene(
    tank: Tank,
    floaters: Sequence[Floater],
    water: Water,
    mode: str,
    *,
    beach: float = 1.0,
    beach_from: float | None = None,
    over: Sequence[np.ndarray] = (),
) -> Scene:
    """The same in numpy, without derivatives on the free surface.

    Args:
        tank: as in `build_scene`, as all others.
        floaters: the bodies in the water, with closed hulls.
        water: rho and g.
        mode: known.
        beach: nu_0 [1/s].
        beach_from: r_0 [m].
        over: outlines in plan of bodies that do not cut the surface, over which it is fine too
            (k, 2) [m].
    """
    for floater in floaters:
        tank.checked_inside(floater.name, floater.placed.vertices, floater.meridians is not None)
    wavy, moving = MODES[mode]
    top, shells, parts, hulls = meshed(tank, floaters, over)
    boundary, still = numbered(tank, top, parts)
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
        still=still,
        hulls=np.concatenate([np.zeros((0, 3)), *hulls]),
        owner=np.repeat(np.arange(len(floaters)), [len(part) for part in hulls]),
        mean_position=np.array([f.position for f in floaters], float).reshape(-1, 3),
        mean_rotation=np.array(turn).reshape(-1, 3, 3),
        neighbours=neighbours(top.vertices, top.triangles, tank.symmetric),
        gradient=None,
        shells=shells,
        beach=beach * part**POWER,
        wavy=wavy,
        moving=moving,
        rho=float(water.rho),
        g=float(water.g),
        depth=float(tank.depth),
    )


def vertices_at(
    scene: Scene,
    wave: Incident,
    t: Array,
    position: Float[Array, "body xyz"],
    rotation: Float[Array, "body xyz also"],
    cover: float | None = None,
) -> Float[Array, "vertex xyz"]:
    """Where all vertices are: the free surface on the incident wave, the wall stretched below it.

    Args:
        scene: the water and its bodies.
        wave: incident.
        t: [s].
        position: of the reference points [m].
        rotation: of the bodies.
        cover: of water over bodies under the surface, in the place of that of the scene [m].
    """
    if not scene.moving:
        position, rotation = scene.mean_position, scene.mean_rotation
    turned = jnp.einsum("vij,vj->vi", rotation[scene.owner], scene.hulls)
    submerged = position[scene.owner] + turned
    if scene.cover is not None:
        depth = scene.cover if cover is None else cover
        level = surface(wave, t, submerged[:, :2]).level if scene.wavy else 0.0
        submerged = submerged.at[:, 2].set(jnp.minimum(submerged[:, 2], level - depth))
    parts = [submerged]
    fixed, own = scene.still, {shell.body: [] for shell in scene.shells}
    plan = fixed[: scene.boundary.surface, :2]
    for shell in scene.shells:
        at = (position[shell.body], rotation[shell.body])
        wet, ring = shell_vertices(shell, wave if scene.wavy else None, t, *at)
        own[shell.body].append(wet)
        plan = plan + around(shell, ring[:, :2])
    if scene.shells:
        fixed = fixed.at[: scene.boundary.surface, :2].set(plan)
        parts = _in_order(scene, submerged, own)
    if scene.wavy:
        level = surface(wave, t, fixed[:, :2]).level
        fixed = fixed.at[:, 2].add(level * (1.0 + fixed[:, 2] / scene.depth))
    return jnp.concatenate([fixed, *parts])


def plan_at(
    scene: Scene,
    wave: Incident,
    t: Array,
    position: Float[Array, "body xyz"],
    rotation: Float[Array, "body xyz also"],
) -> Float[Array, "surface xy"]:
    """Plan of the free surface around hulls where they are; arguments: `vertices_at`."""
    plan = scene.still[: scene.boundary.surface, :2]
    for shell in scene.shells:
        at = (position[shell.body], rotation[shell.body])
        _, ring = shell_vertices(shell, wave if scene.wavy else None, t, *at)
        plan = plan + around(shell, ring[:, :2])
    return plan


def flattened(
    scene: Scene,
    wave: Incident,
    t: Array,
    position: Float[Array, "body xyz"],
    rotation: Float[Array, "body xyz also"],
    cover: float | None = None,
) -> Float[Array, " hull"]:
    """1.0 at vertices of hulls that are drawn down under the surface; arguments: `vertices_at`."""
    turned = jnp.einsum("vij,vj->vi", rotation[scene.owner], scene.hulls)
    place = position[scene.owner] + turned
    level = surface(wave, t, place[:, :2]).level if scene.wavy else 0.0
    assert scene.cover is not None
    depth = scene.cover if cover is None else cover
    return jnp.where(place[:, 2] > level - depth, 1.0, 0.0)


def left_the_water(scene: Scene, wave: Incident, t: Array, bodies: Bodies) -> Array:
    """Whether a vertex of a submerged body lies above the surface or below the bottom.

    Args:
        scene: the water and its bodies; in mode "linear" bodies may go anywhere, and above the
            surface where they may cross it.
        wave: incident.
        t: [s].
        bodies: where they are.
    """
    if not scene.moving or not len(scene.owner):
        return jnp.zeros((), bool)
    turned = jnp.einsum("vij,vj->vi", bodies.rotation[scene.owner], scene.hulls)
    place = bodies.position[scene.owner] + turned
    low = jnp.any(place[:, 2] <= -scene.depth)
    if scene.cover is not None:
        return low
    level = surface(wave, t, place[:, :2]).level if scene.wavy else 0.0
    return low | jnp.any(place[:, 2] >= level)


def _in_order(scene: Scene, submerged: Array, own: dict[int, list[Array]]) -> list[Array]:
    """Vertices of all bodies in the order of the floaters: those that stay on a body, then others.

    A body that may cross the surface has room for its whole hull, which its wet part takes while
    the surface cuts it.
    """
    cut = {shell.body: shell.cut for shell in scene.shells if shell.cut is not None}
    result, first = [], 0
    for number, count in enumerate(scene.boundary.bodies):
        moving, part = own.get(number, []), cut.get(number)
        stays = count if part is not None else count - sum(len(wet) for wet in moving)
        hull = submerged[first : first + stays]
        first += stays
        if part is None:
            result += [hull, *moving]
            continue
        (wet,) = moving
        room = jnp.concatenate([wet, jnp.broadcast_to(wet[:1], (count - len(wet), 3))])
        result.append(jnp.where(part > 0.0, room, hull))
    return result


def longest_step(scene: Scene) -> float:
    r"""Beyond which Runge-Kutta steps of the free surface grow, :math:`\sqrt{8 h/(\pi g)}` [s]."""
    return math.sqrt(8.0 * scene.spacing / (math.pi * scene.g))
