r"""The linear mode at one frequency: added mass, damping and excitation without a run in time.

With everything as :math:`e^{-i\omega t}` the two conditions of the mean free surface and its beach
are one, :math:`q = -(\nu - i\omega)^2 \phi / g`, so that a single complex system gives what a run
would come to after a long time. It tells errors of the mesh, of the tank and of its beach from
those of steps and of the coupling, and can be compared with frequency-domain data term by term.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from swelltree.effects.weak_scatterer.incident.interface import Still
from swelltree.effects.weak_scatterer.motion.bodies import wetted
from swelltree.effects.weak_scatterer.motion.hydrodynamics import unit_fluxes, wrench_operator
from swelltree.effects.weak_scatterer.motion.scene import Scene, vertices_at
from swelltree.effects.weak_scatterer.problem.assembly import assemble
from swelltree.engine.backend import jitted
from swelltree.waves.dispersion import depth_decay, dispersion

assembled = jitted(assemble)


class Harmonic(NamedTuple):
    """Of all bodies at their reference points, as hydro data has it.

    Args:
        added_mass: [kg, kg m, kg m^2].
        radiation_damping: [N s/m, N s, N m s].
        excitation_force: for a wave along x of one metre, phase at the origin [N/m, N m/m].
    """

    added_mass: Float[np.ndarray, "dofs dofs"]
    radiation_damping: Float[np.ndarray, "dofs dofs"]
    excitation_force: Complex[np.ndarray, " dofs"]


def harmonic(scene: Scene, omega: float, depth: float) -> Harmonic:
    """Solve the linear mode at a frequency.

    Args:
        scene: the water and its bodies in their mean places; its beach as in a run.
        omega: [rad/s].
        depth: of the water of the incident wave, infinite allowed [m].
    """
    boundary, top = scene.boundary, scene.boundary.surface
    x = vertices_at(scene, Still(), 0.0, scene.mean_position, scene.mean_rotation)
    wet = wetted(scene, x[boundary.wet], scene.mean_position)
    matrices = assembled(boundary, x)
    A = np.asarray(matrices.dipole, complex)
    ratio = (np.asarray(scene.beach) - 1j * omega) ** 2 / scene.g
    A[:, :top] += np.asarray(matrices.surface) * ratio
    phi_I, U = _wave(scene, np.asarray(x[boundary.wet]), omega, depth)
    tri = np.asarray(boundary.wet_triangles)
    scattered = -np.einsum("tx,tcx->tc", np.asarray(wet.normal), U[tri]).reshape(-1, 1)
    flux = np.concatenate([np.asarray(unit_fluxes(scene, wet)), scattered], 1)
    phi = np.linalg.solve(A, np.asarray(matrices.per_flux) @ flux)[np.asarray(boundary.wet)]
    phi[:, -1] += phi_I
    wrench = np.asarray(wrench_operator(scene, wet)) @ (-1j * omega * phi)
    # of unit velocities: -(B - i omega A)
    impedance = -wrench[:, :-1]
    return Harmonic(-impedance.imag / omega, impedance.real, wrench[:, -1])


def _wave(scene: Scene, x: np.ndarray, omega: float, depth: float) -> tuple[np.ndarray, np.ndarray]:
    """Potential and velocity of an Airy wave of one metre along x."""
    k = float(dispersion(omega, depth, scene.g))
    even, odd = depth_decay(k, x[:, 2], depth)
    phase = -1j * scene.g / omega * np.exp(1j * k * x[:, 0])
    phi = phase * even
    return phi, np.stack([1j * k * phi, 0.0 * phi, k * phase * odd], -1)
