"""Channels for pictures: the computed free surface, and the pressure on hulls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.hydro.weak_scatterer.motion.bodies import known_pressure
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies
from swelltree.jit import Array, jnp
from swelltree.model.effect import Instant

if TYPE_CHECKING:
    from swelltree.hydro.weak_scatterer.effect import WeakScatterers


def shown(effect: WeakScatterers, now: Instant, bodies: Bodies) -> dict[str, Array]:
    """Places of surface and hulls, elevation of the perturbation, pressure without acceleration.

    Args:
        effect: solved.
        now: the instant.
        bodies: their motion.
    """
    scene, found = effect.scene, effect.solution.water
    vertices = found.placed.vertices
    state = effect.state_of(now.states(effect))
    eta = state.top[1]
    top = vertices[: scene.boundary.surface]
    hull = vertices[scene.boundary.wet]
    wet = found.placed.wet
    corners = known_pressure(scene, wet, found.placed.known, found.potential)
    # of the triangles at each vertex, with their areas
    tri, weight = scene.boundary.wet_triangles, jnp.broadcast_to(wet.area[:, None], corners.shape)
    total = jnp.zeros(len(hull)).at[tri].add(weight * corners)
    full = jnp.zeros(len(hull)).at[tri].add(weight)
    mean = total / jnp.where(full > 0.0, full, 1.0)
    steady = -scene.rho * (found.potential_rate[:, 0] + scene.g * hull[:, 2])
    result = {
        "elevation": eta,
        "surface": top.at[:, 2].add(eta),
        "pressure": mean + steady,
        "hull": hull,
    }
    used = scene.boundary.used
    if used is None:
        return result
    # of a mesh that changes its triangles too; padding triangles are points
    faces = scene.boundary.triangles[: scene.boundary.surface_triangles]
    taken = used.vertices[scene.boundary.wet]
    return result | {
        "pressure": taken * result["pressure"],
        "surface_triangles": jnp.where(used.top[:, None] > 0.0, faces, 0),
        "hull_triangles": jnp.where(used.panels[:, None] > 0.0, tri, 0),
        "remeshing": state.with_energy_terms,
    }


def pressure_of_acceleration(effect: WeakScatterers, acceleration: Array) -> Array:
    """Pressure that accelerations of its bodies add at the vertices of hulls [Pa].

    Args:
        effect: solved.
        acceleration: of its bodies, all in a row.
    """
    rate = effect.solution.water.potential_rate[:, 1:] @ acceleration
    return -effect.scene.rho * rate
