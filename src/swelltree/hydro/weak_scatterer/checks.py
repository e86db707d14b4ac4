"""What the water of weak scatterers holds: its energies, and what its beach takes."""

from __future__ import annotations

from typing import NamedTuple

from swelltree.hydro.weak_scatterer.incident.interface import Incident
from swelltree.hydro.weak_scatterer.motion.bodies import MASS, body_flow, panel_share, wetted
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies, Hydrodynamics, Water
from swelltree.hydro.weak_scatterer.motion.scene import Scene, vertices_at
from swelltree.hydro.weak_scatterer.motion.strip import strip_wrench
from swelltree.hydro.weak_scatterer.swept import swept
from swelltree.jit import Array, jnp


class Energies(NamedTuple):
    """Of the perturbation.

    Args:
        fluid: kinetic, and of the elevation [J].
        beach: what the beach takes [W].
        waterline: of the energy of the elevation, what moving waterlines sweep over, less the
            power of the strip above them on bodies [W].
        smoothing: what smoothing takes around them [W].
    """

    fluid: Array
    beach: Array
    waterline: Array
    smoothing: Array


def fluid_energies(
    scene: Scene, wave: Incident, t: Array, state: Water, water: Hydrodynamics, bodies: Bodies
) -> Energies:
    """Energy of the perturbation and the power of the beach.

    Args:
        scene: the water and its bodies.
        wave: incident.
        t: [s].
        state: of the free surface.
        water: solved.
        bodies: their motion.
    """
    vertices = vertices_at(scene, wave, t, bodies.position, bodies.rotation)
    top = scene.boundary.triangles[: scene.boundary.surface_triangles]
    area = _areas(vertices[top])
    if scene.boundary.used is not None:
        area = area * scene.boundary.used.top
    phi, eta, q, nu = (x[top] for x in (state.phi, state.eta, water.surface_flux, scene.beach))
    # all of linear functions on triangles, the damping too: else the far mesh, eight triangles to a
    # wave, would book a tenth more than the beach takes from the energy
    kinetic = _integral(area, phi, q)
    potential = scene.g * _integral(area, eta, eta)
    taken = _integral(area, nu * phi, q) + scene.g * _integral(area, nu * eta, eta)
    origin = bodies.position if scene.moving else scene.mean_position
    hull = vertices[scene.boundary.wet]
    wet = wetted(scene, hull, origin, panel_share(scene, wave, t, bodies))
    flux = body_flow(scene, wave, t, wet, bodies.velocity).q
    on_body = water.potential[scene.boundary.wet_triangles]
    kinetic = kinetic + _integral(wet.area, on_body, flux)
    both = 2.0 if scene.boundary.mirrors.symmetric else 1.0
    half = 0.5 * both * scene.rho
    covered = swept(scene, wave, t, state.eta, bodies, lambda height: scene.g * height**2)
    above = (strip_wrench(scene, wave, t, state.eta, bodies) * bodies.velocity).sum()
    smooth_phi, smooth_eta = (rate[top] for rate in water.surface.smoothing)
    smoothed = _integral(area, smooth_phi, q) + scene.g * _integral(area, smooth_eta, eta)
    return Energies(
        fluid=half * (kinetic + potential),
        beach=both * scene.rho * taken,
        waterline=half * covered - above,
        smoothing=both * scene.rho * smoothed,
    )


def hydrostatic_energy(scene: Scene, wave: Incident, t: Array, bodies: Bodies) -> Array:
    r"""Energy of the weight of displaced water, :math:`-\rho g \int_V z\,dV` [J]."""
    from dataclasses import replace

    actual = replace(scene, moving=True)
    vertices = vertices_at(actual, wave, t, bodies.position, bodies.rotation, cover=0.0)
    wet = wetted(scene, vertices[scene.boundary.wet], bodies.position)
    z = wet.corner[..., 2]
    square = jnp.einsum("ij,ti,tj->t", MASS, z, z)
    both = 2.0 if scene.boundary.mirrors.symmetric else 1.0
    return 0.5 * both * scene.rho * scene.g * (wet.area * wet.normal[:, 2] * square).sum()


def _integral(area: Array, one: Array, two: Array) -> Array:
    """Of the product of two linear functions over triangles, from their values at corners."""
    return jnp.einsum("t,ij,ti,tj->", area, MASS, one, two)


def _areas(corner: Array) -> Array:
    """Of triangles (triangle,) [m^2]."""
    cross = jnp.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    return 0.5 * jnp.linalg.norm(cross, axis=1)
