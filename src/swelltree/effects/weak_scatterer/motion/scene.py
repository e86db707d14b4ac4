"""All that does not change in a run: meshes, water, beach, and how much of it moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from swelltree.effects.weak_scatterer.incident.interface import Incident, surface
from swelltree.effects.weak_scatterer.mesh.gradients import Gradient, gradient, neighbours
from swelltree.effects.weak_scatterer.mesh.surface import Surface, checked_watertight
from swelltree.effects.weak_scatterer.mesh.tank import Tank
from swelltree.effects.weak_scatterer.problem.boundary import Boundary, build_boundary
from swelltree.engine.arrays import Array, pytree
from swelltree.engine.backend import jnp
from swelltree.system.errors import SwelltreeError, listed, suggest
from swelltree.system.waters.water import Water

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
        surface: closed mesh in body axes about the reference point, normals into the water [m].
        position: of the reference point, mean in mode "linear" (3,) [m].
        rotation: from body to world axes, mean in mode "linear" (3, 3).
    """

    name: str
    surface: Surface
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = None

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
        gradient: derivatives in plan on the free surface.
        projection: inverse of the mass matrix of linear functions on bodies [1/m^2].
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
    gradient: Gradient
    projection: Float[Array, "wet also_wet"]
    beach: Float[Array, " surface"]
    wavy: bool
    moving: bool
    rho: float
    g: float
    depth: float

    @property
    def places(self) -> Float[Array, "surface xy"]:
        """Plan of the free surface [m]."""
        return self.still[: self.boundary.surface, :2]

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
        floaters: the bodies, wholly under water.
        water: rho and g; the depth of the water is that of the tank.
        mode: "linear", "body_exact" or "weak_scatterer".
        beach: nu_0, about the frequency of the waves [1/s].
        beach_from: r_0 [m]; 0.4 of the radius if not given.
    """
    if mode not in MODES:
        raise SwelltreeError(
            f"mode '{mode}' of weak scatterers is not known.{suggest(mode, MODES)} Give one of "
            f"{listed(MODES)}."
        )
    for floater in floaters:
        checked_watertight(floater.name, floater.surface, tank.symmetric)
        tank.checked_inside(floater.name, floater.placed.vertices)
    wavy, moving = MODES[mode]
    boundary, vertices = build_boundary(tank, [floater.surface for floater in floaters])
    still = vertices[: boundary.fixed]
    top = boundary.triangles[: boundary.surface_triangles]
    around = neighbours(still[: boundary.surface], top, tank.symmetric)
    first = 0.4 * tank.radius if beach_from is None else beach_from
    if not 0.0 <= first < tank.radius:
        raise SwelltreeError(
            f"beach_from {first} m is not inside the tank of radius {tank.radius} m. Give less."
        )
    away = np.hypot(*(still[: boundary.surface, :2] - tank.center).T)
    part = np.maximum(0.0, (away - first) / (tank.radius - first))
    turn = [np.eye(3) if f.rotation is None else np.asarray(f.rotation, float) for f in floaters]
    faces = np.asarray(boundary.triangles[boundary.on_bodies]) - boundary.fixed
    hulls = vertices[boundary.fixed :]
    return Scene(
        boundary=boundary,
        still=jnp.asarray(still),
        hulls=jnp.asarray(hulls),
        owner=np.repeat(np.arange(len(floaters)), boundary.bodies),
        mean_position=jnp.asarray(np.array([f.position for f in floaters], float).reshape(-1, 3)),
        mean_rotation=jnp.asarray(np.array(turn).reshape(-1, 3, 3)),
        gradient=gradient(jnp.asarray(still[: boundary.surface, :2]), around),
        projection=jnp.asarray(mass_inverse(hulls, faces)),
        beach=jnp.asarray(beach * part**2),
        wavy=wavy,
        moving=moving,
        rho=float(water.rho),
        g=float(water.g),
        depth=float(tank.depth),
    )


def mass_inverse(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Inverse of the mass matrix of linear functions, which does not change when bodies move.

    Args:
        vertices: (n, 3) [m].
        triangles: (m, 3).
    """
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a).reshape(-1, 3), axis=1)
    mass = np.zeros((len(vertices), len(vertices)))
    part = area[:, None, None] / 12.0 * (1.0 + np.eye(3))
    np.add.at(mass, (triangles[:, :, None], triangles[:, None, :]), part)
    return np.linalg.inv(mass)


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
    fixed = scene.still
    if scene.wavy:
        level = surface(wave, t, fixed[:, :2]).level
        fixed = fixed.at[:, 2].add(level * (1.0 + fixed[:, 2] / scene.depth))
    if not scene.moving:
        position, rotation = scene.mean_position, scene.mean_rotation
    return jnp.concatenate([fixed, hull_vertices(scene, position, rotation)])


def hull_vertices(
    scene: Scene, position: Float[Array, "body xyz"], rotation: Float[Array, "body xyz also"]
) -> Float[Array, "wet xyz"]:
    """Vertices of all bodies in the world [m]."""
    turned = jnp.einsum("vij,vj->vi", rotation[scene.owner], scene.hulls)
    return position[scene.owner] + turned
