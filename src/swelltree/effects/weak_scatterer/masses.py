r"""Mass of the water: what bodies displace, what stands on the surface, where the rest goes.

.. math::
    m_b = \rho V_b, \quad m_F = \rho\int_F \eta\, dA, \quad
    \dot m_F = \sum_b \dot m_b - \rho \int_F \nu\, \eta\, dA - \rho \oint \eta\, w\cdot n\, ds

with areas in plan and volumes under the incident surface. The incident wave is material, so that
this holds in waves too. The last term is of second order: a waterline that moves with w sweeps over
water that stands above the incident surface, which the linear free surface knows nothing of.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from jaxtyping import Float

from swelltree.effects.weak_scatterer.incident.interface import Incident, surface
from swelltree.effects.weak_scatterer.motion.bodies import panel_share, triangle_owner, wetted
from swelltree.effects.weak_scatterer.motion.hydrodynamics import Bodies, plan_velocity
from swelltree.effects.weak_scatterer.motion.scene import Scene, vertices_at
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jnp


class Masses(NamedTuple):
    """Of water.

    Args:
        displaced: by each body [kg].
        surface: of the elevation that bodies add [kg].
        beach: what the beach takes of it [kg/s].
        swept: what moving waterlines sweep over [kg/s].
    """

    displaced: Float[Array, " body"]
    surface: Array
    beach: Array
    swept: Array


def vertex_areas(scene: Scene, vertices: Float[Array, "vertex xyz"]) -> Float[Array, " surface"]:
    """Area in plan of each vertex of the free surface, a third of its triangles [m^2]."""
    boundary = scene.boundary
    tri = boundary.triangles[: boundary.surface_triangles]
    corner = vertices[tri][..., :2]
    one, two = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    area = 0.5 * jnp.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])
    if boundary.used is not None:
        area = area * boundary.used.top
    each = jnp.broadcast_to(area[:, None] / 3.0, tri.shape)
    return jnp.zeros(boundary.surface).at[tri].add(each)


def masses(scene: Scene, wave: Incident, t: Array, eta: Array, bodies: Bodies) -> Masses:
    """Masses of the water at an instant; bodies that count as dry are not among them.

    Args:
        scene: the water and its bodies.
        wave: incident.
        t: [s].
        eta: elevation of the perturbation [m].
        bodies: where they are.
    """
    both = 2.0 if scene.boundary.mirrors.symmetric else 1.0
    at = (scene, wave, t, bodies.position, bodies.rotation)
    area = both * scene.rho * vertex_areas(scene, vertices_at(*at))
    actual = replace(scene, moving=True)
    hull = vertices_at(actual, *at[1:], cover=0.0)[scene.boundary.wet]
    share = panel_share(scene, wave, t, bodies, cover=0.0)
    wet = wetted(scene, hull, bodies.position, share)
    level = surface(wave, t, hull[:, :2]).level if scene.wavy else jnp.zeros(len(hull))
    depth = (level - hull[:, 2])[scene.boundary.wet_triangles].mean(1)
    each = both * scene.rho * depth * wet.normal[:, 2] * wet.area
    displaced = jnp.zeros(len(scene.boundary.bodies)).at[triangle_owner(scene)].add(each)
    swept = both * scene.rho * _swept(scene, wave, t, eta, bodies)
    return Masses(displaced, (area * eta).sum(), (area * scene.beach * eta).sum(), swept)


def _swept(scene: Scene, wave: Incident, t: Array, eta: Array, bodies: Bodies) -> Array:
    """Volume of elevated water that waterlines sweep over in a second [m^3/s]."""
    drift = plan_velocity(scene, wave, t, bodies)
    if drift is None:
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
    (e1, w1), (e2, w2) = ((eta[end], (drift[end] * out).sum(-1)) for end in ends)
    each = (2.0 * (e1 * w1 + e2 * w2) + e1 * w2 + e2 * w1) / 6.0
    return (boundary.waterline * each).sum()
