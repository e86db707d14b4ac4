r"""What waterlines sweep over while they move.

A linear free surface lies on the incident one, and a waterline that moves in plan with w covers or
uncovers what stands on it: per unit of plan f, water of the height :math:`\eta` or its energy
:math:`\tfrac12 g\eta^2`,

.. math:: \oint f(\eta)\, w\cdot n\, ds ,

of second order and more. It is taken from the surface and given to nothing, so it has terms of its
own in the books of mass and energy.
"""

from __future__ import annotations

from collections.abc import Callable

from swelltree.effects.weak_scatterer.incident.interface import Incident
from swelltree.effects.weak_scatterer.motion.hydrodynamics import Bodies, plan_velocity
from swelltree.effects.weak_scatterer.motion.scene import Scene, vertices_at
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jnp


def swept(
    scene: Scene,
    wave: Incident,
    t: Array,
    eta: Array,
    bodies: Bodies,
    of: Callable[[Array], Array],
) -> Array:
    """The integral over all waterlines, positive where the free surface loses area.

    Args:
        scene: the water and its bodies; of half a tank one half.
        wave: incident.
        t: [s].
        eta: elevation of the perturbation [m].
        bodies: their motion.
        of: what stands on a unit of plan where the elevation is so high.
    """
    vertex_velocity = plan_velocity(scene, wave, t, bodies)
    if vertex_velocity is None:
        return jnp.zeros(())
    boundary = scene.boundary
    place = vertices_at(scene, wave, t, bodies.position, bodies.rotation)[:, :2]
    faces = boundary.triangles[boundary.on_bodies]
    # the side opposite to a corner, from its first end to its second along the hull
    first, second = jnp.roll(faces, -1, axis=1), jnp.roll(faces, -2, axis=1)
    along = place[second] - place[first]
    out = jnp.stack([along[..., 1], -along[..., 0]], -1)
    top = boundary.surface
    ends = [jnp.where(end < top, end, 0) for end in (first, second)]
    (e1, w1), (e2, w2) = ((eta[end], (vertex_velocity[end] * out).sum(-1)) for end in ends)
    # Simpson's rule is exact for squares of linear elevations times linear velocities
    middle = of(0.5 * (e1 + e2)) * 0.5 * (w1 + w2)
    each = (of(e1) * w1 + 4.0 * middle + of(e2) * w2) / 6.0
    return (boundary.waterline * each).sum()
