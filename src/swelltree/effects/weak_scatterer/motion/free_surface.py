r"""Conditions on the free surface, linear in the perturbation about the incident wave.

On :math:`z = \eta_I`, with U the velocity of the incident wave and the beach :math:`\nu`,

.. math::
    \phi_t &= -g\eta - U\cdot\nabla\phi - \eta(\phi_{I,tz} + U\cdot\nabla\phi_{I,z})
              - \nu\phi - r_d \\
    \eta_t &= \phi_z - U\cdot\nabla\eta - \nabla\phi\cdot\nabla\eta_I
              - \eta(\nabla\phi_{I,z}\cdot\nabla\eta_I - \phi_{I,zz}) - \nu\eta - r_k

(Letournel 2015); a node that rides on the incident surface sees
:math:`d\phi/dt = \phi_t + \eta_{I,t}\phi_z`, and one that moves in plan with w around a waterline
:math:`+ w\cdot\nabla\phi` along the surface. On the mean surface only
:math:`\phi_t = -g\eta - \nu\phi` and :math:`\eta_t = \phi_z - \nu\eta` are left. Around waterlines
that move the shortest waves are taken out (`smoothing`).
"""

from __future__ import annotations

from typing import NamedTuple

from jaxtyping import Float

from swelltree.effects.weak_scatterer.incident.interface import (
    Incident,
    flow,
    residuals,
    surface,
)
from swelltree.effects.weak_scatterer.mesh.gradients import gradient
from swelltree.effects.weak_scatterer.motion.scene import Scene
from swelltree.effects.weak_scatterer.motion.smoothing import smoothing_rates
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jnp


class SurfaceRates(NamedTuple):
    """Rates on the free surface.

    Args:
        potential: at the nodes [m^2/s^2].
        elevation: at the nodes [m/s].
        fixed_potential: derivative of the potential by time at fixed points, for the second
            boundary value problem [m^2/s^2].
        smoothing: what was taken from both around moving waterlines [m^2/s^2, m/s].
    """

    potential: Float[Array, " surface"]
    elevation: Float[Array, " surface"]
    fixed_potential: Float[Array, " surface"]
    smoothing: Float[Array, "two surface"]


def surface_rates(
    scene: Scene,
    wave: Incident,
    t: Array,
    vertices: Float[Array, "surface xyz"],
    vertex_velocity: Float[Array, "surface xy"] | None,
    phi: Float[Array, " surface"],
    eta: Float[Array, " surface"],
    q: Float[Array, " surface"],
) -> SurfaceRates:
    """Rates of potential and elevation of the perturbation.

    Args:
        scene: the water.
        wave: incident.
        t: [s].
        vertices: of the free surface where they are [m].
        vertex_velocity: velocity of the vertices in plan [m/s]; None: they stay.
        phi: potential [m^2/s].
        eta: elevation [m].
        q: derivative of the potential along the normal [m/s].
    """
    places = vertices[:, :2]
    slopes = scene.gradient if vertex_velocity is None else gradient(places, scene.neighbours)
    assert slopes is not None
    along = jnp.stack(slopes(phi), -1), jnp.stack(slopes(eta), -1)
    fixed = _rates(scene, wave, t, vertices, *along, phi, eta, q)
    if vertex_velocity is not None:
        taken = smoothing_rates(scene, places, jnp.stack([phi, eta]))
        # the derivative of nodal values in plan follows the surface up and down
        fixed = SurfaceRates(
            fixed.potential + (vertex_velocity * along[0]).sum(1) - taken[0],
            fixed.elevation + (vertex_velocity * along[1]).sum(1) - taken[1],
            fixed.fixed_potential - taken[0],
            taken,
        )
    if scene.boundary.used is None:
        return fixed
    used = scene.boundary.used.vertices[: scene.boundary.surface]
    return SurfaceRates(*(used * rate for rate in fixed))


def _rates(
    scene: Scene,
    wave: Incident,
    t: Array,
    vertices: Array,
    plan: Array,
    rise: Array,
    phi: Array,
    eta: Array,
    q: Array,
) -> SurfaceRates:
    """The same at vertices that stay in plan, with the derivatives of phi and eta along it."""
    g, beach = scene.g, scene.beach
    if not scene.wavy:
        rate = -g * eta - beach * phi
        return SurfaceRates(rate, q - beach * eta, rate, jnp.zeros((2, len(phi))))
    sea, top = flow(wave, t, vertices), surface(wave, t, vertices[:, :2])
    left_dynamic, left_kinematic = residuals(wave, t, vertices, g)
    velocity = potential_gradient(plan, top.slope, q)
    U = sea.velocity
    steeper = sea.hessian[:, 2]  # gradient of the vertical velocity
    fixed = (
        -g * eta
        - (U * velocity).sum(1)
        - eta * (sea.velocity_rate[:, 2] + (U * steeper).sum(1))
        - beach * phi
        - left_dynamic
    )
    elevation = (
        velocity[:, 2]
        - (U[:, :2] * rise).sum(1)
        - (velocity[:, :2] * top.slope).sum(1)
        - eta * ((steeper[:, :2] * top.slope).sum(1) - steeper[:, 2])
        - beach * eta
        - left_kinematic
    )
    rate = fixed + top.rate * velocity[:, 2]
    return SurfaceRates(rate, elevation, fixed, jnp.zeros((2, len(phi))))


def potential_gradient(
    plan: Float[Array, "surface xy"],
    slope: Float[Array, "surface xy"],
    q: Float[Array, " surface"],
) -> Float[Array, "surface xyz"]:
    """Velocity of the perturbation on the free surface, from its values there and its flux.

    Args:
        plan: derivatives by x and y of the potential along the surface [m/s].
        slope: of the incident surface.
        q: derivative of the potential along the normal [m/s].
    """
    steep = 1.0 + (slope**2).sum(1)
    up = (q * jnp.sqrt(steep) + (slope * plan).sum(1)) / steep
    return jnp.concatenate([plan - up[:, None] * slope, up[:, None]], 1)
