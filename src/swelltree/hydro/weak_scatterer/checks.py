"""Which bodies weak scatterers have, and whether something else carries them too; without JAX."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from swelltree.describe import System
from swelltree.describe.forces.weak_scatterer import WeakScatterer
from swelltree.hydro.weak_scatterer.incident.interface import Incident
from swelltree.hydro.weak_scatterer.motion.bodies import MASS, body_flow, panel_share, wetted
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies, Hydrodynamics, Water
from swelltree.hydro.weak_scatterer.motion.scene import Scene, vertices_at
from swelltree.hydro.weak_scatterer.motion.strip import strip_wrench
from swelltree.hydro.weak_scatterer.swept import swept
from swelltree.jit import Array, jnp


def described_scatterer(system: System) -> WeakScatterer | None:
    """The one that is described, None if none is."""
    described = [force for force in system.forces if isinstance(force, WeakScatterer)]
    if len(described) > 1:
        raise described[1].fail(
            f"'{described[0].name}' is a weak scatterer too. Put the bodies of both into one tank."
        )
    return described[0] if described else None


def described_bodies(system: System) -> tuple[str, ...]:
    """Names of its bodies: each has a hull, and nothing else that gives it buoyancy."""
    water = described_scatterer(system)
    if water is None:
        return ()
    names = water.bodies or tuple(body.name for body in system.bodies if body.hull is not None)
    if not names:
        raise water.fail("no body has a hull. Give one to a body.")
    for name in names:
        body = system.body(name)
        if body.hull is None:
            raise water.fail(f"body '{name}' has no hull. Give it one, or leave it out of bodies.")
        if body.added_mass:
            raise water.fail(
                f"body '{name}' has added_mass, which the flow solution computes. Leave it out."
            )
        for force in system.forces:
            if force.carries == name:
                raise water.fail(
                    f"body '{name}' has the immersion '{force.name}' too, which would count its "
                    "buoyancy twice. Leave one of them out."
                )
    return tuple(names)


def refuse_carried_twice(system: System, others: dict[str, Iterable[str]]) -> None:
    """Reject bodies that get their water from elsewhere as well.

    Args:
        system: described.
        others: {what it is: names of bodies}.
    """
    names = described_bodies(system)
    for what, known in others.items():
        for name in set(known) & set(names):
            water = described_scatterer(system)
            assert water is not None
            raise water.fail(f"body '{name}' has {what} too. Give it to one of them.")


# --- Energy of the water, and what its beach takes


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
