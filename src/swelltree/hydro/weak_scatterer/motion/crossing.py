"""Bodies that cross the surface: when they count as dry, cut or under, and when a mesh is worn.

After every step each body that may cross the surface is looked at. With panels of size h it is
*dry* until its lowest point is h/2 under the incident surface (and again above 0.3 h), *cut* by the
surface in between, and *under* it when less than a tenth of its height is above (and no more above
0.15 of it): the water that is about to close over a body stands in too thin a wedge to be meshed.
What is above then is flattened to a lid that lies a little under the surface and moves with it. A
body that crosses the surface fast counts as dry, and has pressure and added mass by depth (`entry`)
and no flow, until it is slow or well submerged. At a change, and where the mesh around a waterline
is worn, the water is remeshed and keeps its potential and elevation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from swelltree.hydro.weak_scatterer.incident.interface import Incident, surface
from swelltree.hydro.weak_scatterer.motion.mesher import (
    CUT,
    DRY,
    IN,
    OPEN,
    OUT,
    SHUT,
    UNDER,
    Mesher,
)
from swelltree.hydro.weak_scatterer.motion.scene import Scene, vertices_at
from swelltree.hydro.weak_scatterer.motion.waterline import MARGIN, wet_lines
from swelltree.jit import Array, jnp, namespace

if TYPE_CHECKING:
    from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies

# square of the speed through the surface over g and the wet height: below the first a body that
# enters comes into the mesh, above it one that surfaces leaves it, above the second one that is cut
SLOW, LEAPING = 0.1, 1.0
# over the height of the body: water over one that is well under; over one that surfaces, and the
# wet height of one that leaps
DEEP, SHALLOW = 0.5, 0.3
WORN = 0.4  # of the worst triangle in plan as it was made
LONGEST, SHORTEST = 3.0, -1.0  # step at the waterline of a hull over that as it was made


def required_states(
    mesher: Mesher, wavy: bool, wave: Incident, t: Array, bodies: Bodies, states: Array
) -> Float[Array, " body"]:
    """What each body is to count as.

    Args:
        mesher: with the bodies that may cross the surface.
        wavy: the surface is that of the wave.
        wave: incident.
        t: [s].
        bodies: where they are.
        states: what they count as now.
    """
    result = states
    for number in mesher.crossing:
        hull = _placed(mesher, number, bodies)
        clear = hull[:, 2] - (surface(wave, t, hull[:, :2]).level if wavy else 0.0)
        tall = np.ptp(mesher.floaters[number].surface.vertices[:, 2])
        low, high = clear.min() / mesher.size, clear.max() / tall
        now = states[number]
        dry = jnp.where(now == DRY, low > -IN, low > -OUT)
        under = jnp.where(now == UNDER, high < OPEN, high < SHUT)
        by_place = jnp.where(dry, DRY, jnp.where(under, UNDER, CUT))
        # a body that hits the water stays out of the mesh until it is slow, or well under
        level = surface(wave, t, bodies.position[number : number + 1, :2]).rate[0] if wavy else 0.0
        speed = bodies.velocity[number, 2] - level
        depth = jnp.maximum(-clear.min(), 0.0)
        froude = speed**2 / (mesher.water.g * jnp.maximum(depth, 1e-6 * tall))
        enters = (now == DRY) & (froude > SLOW) & (high > -DEEP)
        # and one that shoots out of it leaves the mesh
        surfaces = (now == UNDER) & (speed > 0.0) & (froude > SLOW) & (high > -SHALLOW)
        leaps = (now == CUT) & (froude > LEAPING) & (depth < SHALLOW * tall)
        result = result.at[number].set(jnp.where(enters | surfaces | leaps, DRY, by_place))
    return result


def lowered(
    mesher: Mesher, wavy: bool, wave: Incident, t: Array, bodies: Bodies, states: Array
) -> Float[Array, "body thirteen"]:
    """Reference of a mesh for bodies where they are."""
    place = bodies.position
    if wavy:
        place = place.at[:, 2].add(-surface(wave, t, place[:, :2]).level)
    n = len(mesher.floaters)
    return jnp.concatenate([states[:, None], place, bodies.rotation.reshape(n, 9)], 1)


def plan_quality(scene: Scene, vertices: Float[Array, "vertex xyz"]) -> Array:
    """Shape of the worst triangle of the free surface in plan: one if even, zero if flat."""
    boundary, xp = scene.boundary, namespace(vertices)
    corner = vertices[boundary.triangles[: boundary.surface_triangles], :2]
    side = xp.roll(corner, -1, axis=1) - corner
    one, two = side[:, 0], side[:, 1]
    twice = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    shape = 2.0 * np.sqrt(3.0) * twice / (side**2).sum((1, 2))
    return xp.min(shape if boundary.used is None else xp.where(boundary.used.top > 0, shape, 1.0))


def worn(scene: Scene, wave: Incident, t: Array, bodies: Bodies, built: Array) -> Array:
    """Whether the mesh around hulls has lost its shape.

    Args:
        scene: the mesh.
        wave: incident.
        t: [s].
        bodies: where they are.
        built: quality in plan when it was made.
    """
    vertices = vertices_at(scene, wave, t, bodies.position, bodies.rotation)
    result = plan_quality(scene, vertices) < WORN * built
    for shell in scene.shells:
        at = (bodies.position[shell.body], bodies.rotation[shell.body])
        _, wet = wet_lines(shell, wave if scene.wavy else None, t, *at)
        step = (wet - shell.arc[:, shell.rings - 1]) * MARGIN / shell.margin
        moved = (step.max() > LONGEST) | (step.min() < SHORTEST)
        cut = jnp.asarray(1.0) if shell.cut is None else shell.cut
        result = result | (moved & (cut > 0.0))
    return result


def _placed(mesher: Mesher, number: int, bodies: Bodies) -> Array:
    """Vertices of the whole hull of a body in the world."""
    own = jnp.asarray(mesher.floaters[number].surface.vertices)
    return bodies.position[number] + own @ bodies.rotation[number].T
