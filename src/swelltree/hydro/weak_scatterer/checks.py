"""What the water of weak scatterers holds: its energies, and what its beach takes."""

from __future__ import annotations

from typing import NamedTuple

from jaxtyping import Float

from swelltree.hydro.weak_scatterer.motion.bodies import MASS, wetted
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies, Hydrodynamics, Water
from swelltree.hydro.weak_scatterer.motion.scene import Scene
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


def fluid_energies(scene: Scene, state: Water, water: Hydrodynamics, bodies: Bodies) -> Energies:
    """Energy of the perturbation and the power of the beach.

    Args:
        scene: the water and its bodies.
        state: of the free surface.
        water: solved.
        bodies: their motion.
    """
    placed = water.placed
    top = scene.boundary.triangles[: scene.boundary.surface_triangles]
    area = _areas(placed.vertices[top])
    if scene.boundary.used is not None:
        area = area * scene.boundary.used.top
    phi, eta, q, nu = (x[top] for x in (state.phi, state.eta, water.surface_flux, scene.beach))
    # all of linear functions on triangles, the damping too: else the far mesh, eight triangles to a
    # wave, would count a tenth more than the beach takes from the energy
    kinetic = _integral(area, phi, q)
    potential = scene.g * _integral(area, eta, eta)
    taken = _integral(area, nu * phi, q) + scene.g * _integral(area, nu * eta, eta)
    on_body = water.potential[scene.boundary.wet_triangles]
    kinetic = kinetic + _integral(placed.wet.area, on_body, placed.known.q)
    both = 2.0 if scene.boundary.mirrors.symmetric else 1.0
    half = 0.5 * both * scene.rho
    covered = swept(scene, placed, state.eta, lambda height: scene.g * height**2)
    above = (water.strip * bodies.velocity).sum()
    smooth_phi, smooth_eta = (rate[top] for rate in water.surface.smoothing)
    smoothed = _integral(area, smooth_phi, q) + scene.g * _integral(area, smooth_eta, eta)
    return Energies(
        fluid=half * (kinetic + potential),
        beach=both * scene.rho * taken,
        waterline=half * covered - above,
        smoothing=both * scene.rho * smoothed,
    )


def hydrostatic_energy(scene: Scene, bodies: Bodies, hull: Float[Array, "wet xyz"]) -> Array:
    r"""Energy of the weight of displaced water, :math:`-\rho g \int_V z\,dV` [J].

    Args:
        scene: the water and its bodies.
        bodies: where they are.
        hull: their vertices, from `hull_at`.
    """
    wet = wetted(scene, hull, bodies.position)
    z = wet.corner[..., 2]
    square = jnp.einsum("ij,ti,tj->t", MASS, z, z)
    both = 2.0 if scene.boundary.mirrors.symmetric else 1.0
    return 0.5 * both * scene.rho * scene.g * (wet.area * wet.normal[:, 2] * square).sum()


def _integral(area: Array, one: Array, two: Array) -> Array:
    return jnp.einsum("t,ij,ti,tj->", area, MASS, one, two)


def _areas(corner: Array) -> Array:
    """Of triangles (triangle,) [m^2]."""
    cross = jnp.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    return 0.5 * jnp.linalg.norm(cross, axis=1)
