r"""Mass of the water: what bodies displace, what stands on the surface, where the rest goes.

.. math::
    m_b = \rho V_b, \quad m_F = \rho\int_F \eta\, dA, \quad
    \dot m_F = \sum_b \dot m_b - \rho \int_F \nu\, \eta\, dA - \rho \oint \eta\, w\cdot n\, ds

with areas in plan and volumes under the incident surface. The incident wave is material, so that
this holds in waves too. The last term is of second order: a waterline that moves with w sweeps over
water that stands above the incident surface, which the linear free surface knows nothing of.
"""

from __future__ import annotations

from typing import NamedTuple

from jaxtyping import Float

from swelltree.hydro.weak_scatterer.incident.interface import Incident, surface
from swelltree.hydro.weak_scatterer.motion.bodies import panel_share, triangle_owner, wetted
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies, Placed
from swelltree.hydro.weak_scatterer.motion.scene import Scene
from swelltree.hydro.weak_scatterer.motion.smoothing import vertex_areas
from swelltree.hydro.weak_scatterer.swept import swept
from swelltree.jit import Array, jnp


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


def masses(
    scene: Scene, wave: Incident, t: Array, eta: Array, bodies: Bodies, placed: Placed
) -> Masses:
    """Masses of the water at an instant; bodies that count as dry are not among them.

    Args:
        scene: the water and its bodies.
        wave: incident.
        t: [s].
        eta: elevation of the perturbation [m].
        bodies: where they are.
        placed: the boundary there.
    """
    rho = scene.rho * (2.0 if scene.boundary.mirrors.symmetric else 1.0)
    area = rho * vertex_areas(scene, placed.vertices[: scene.boundary.surface, :2])
    return Masses(
        displaced_mass(scene, wave, t, bodies, placed.hull),
        (area * eta).sum(),
        (area * scene.beach * eta).sum(),
        rho * swept(scene, placed, eta, lambda height: height),
    )


def displaced_mass(
    scene: Scene, wave: Incident, t: Array, bodies: Bodies, hull: Float[Array, "wet xyz"]
) -> Float[Array, " body"]:
    """Mass of the water that each body displaces under the incident surface [kg].

    Args:
        scene: the water and its bodies.
        wave: incident.
        t: [s].
        bodies: where they are.
        hull: their vertices, from `hull_at`.
    """
    rho = scene.rho * (2.0 if scene.boundary.mirrors.symmetric else 1.0)
    share = panel_share(scene, wave, t, bodies, cover=0.0)
    wet = wetted(scene, hull, bodies.position, share)
    level = surface(wave, t, hull[:, :2]).level if scene.wavy else jnp.zeros(len(hull))
    depth = (level - hull[:, 2])[scene.boundary.wet_triangles].mean(1)
    each = rho * depth * wet.normal[:, 2] * wet.area
    return jnp.zeros(len(scene.boundary.bodies)).at[triangle_owner(scene)].add(each)
