r"""The linear mode at one frequency: added mass, damping and excitation without a run in time.

With everything as :math:`e^{-i\omega t}` the two conditions of the mean free surface and its beach
are one, :math:`q = -(\nu - i\omega)^2 \phi / g`, so that a single complex system gives what a run
would come to after a long time. It separates errors of the mesh, of the tank and of its beach from
those of steps and of the coupling, and can be compared with frequency-domain data term by term.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from swelltree.hydro.weak_scatterer.incident.interface import Still
from swelltree.hydro.weak_scatterer.influence.sums import RULE
from swelltree.hydro.weak_scatterer.motion.bodies import (
    TO_CORNERS,
    Wetted,
    at_corners,
    at_points,
    pressure_wrench,
    tangential,
    triangle_owner,
    wetted,
)
from swelltree.hydro.weak_scatterer.motion.edges import edges
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import unit_fluxes, wrench_operator
from swelltree.hydro.weak_scatterer.motion.scene import Scene, vertices_at
from swelltree.hydro.weak_scatterer.problem.assembly import assemble
from swelltree.jit import jitted
from swelltree.waves.dispersion import depth_decay, dispersion, group_speed

assembled = jitted(assemble)


class Harmonic(NamedTuple):
    """Of all bodies at their reference points, as hydro data has it.

    Args:
        added_mass: [kg, kg m, kg m^2].
        radiation_damping: [N s/m, N s, N m s].
        excitation_force: for a wave of one metre, phase at the origin [N/m, N m/m].
    """

    added_mass: Float[np.ndarray, "dofs dofs"]
    radiation_damping: Float[np.ndarray, "dofs dofs"]
    excitation_force: Complex[np.ndarray, " dofs"]


class HarmonicFlow(NamedTuple):
    """The flow behind the coefficients, for unit velocities of all bodies and for the wave.

    Args:
        coefficients: of these bodies.
        potential: of the perturbation at the vertices of hulls; the wave is the last column.
        flux: of the perturbation at the corners of their triangles, likewise.
        wet: triangles of hulls.
        scene: the water.
        omega: [rad/s].
        depth: of the incident wave [m].
        heading: of the wave [rad].
    """

    coefficients: Harmonic
    potential: Complex[np.ndarray, "wet columns"]
    flux: Complex[np.ndarray, "corners columns"]
    wet: Wetted
    scene: Scene
    omega: float
    depth: float
    heading: float


def harmonic(scene: Scene, omega: float, depth: float, heading: float = 0.0) -> Harmonic:
    """Coefficients of the linear mode at a frequency; arguments as `harmonic_flow`."""
    return harmonic_flow(scene, omega, depth, heading).coefficients


def harmonic_flow(scene: Scene, omega: float, depth: float, heading: float = 0.0) -> HarmonicFlow:
    """Solve the linear mode at a frequency.

    Args:
        scene: the water and its bodies in their mean places; its beach as in a run.
        omega: [rad/s].
        depth: of the water of the incident wave, infinite allowed [m].
        heading: that the wave travels towards, from x to y; along x in half a tank [rad].
    """
    boundary, top = scene.boundary, scene.boundary.surface
    scene = replace(scene, wavy=False, moving=False)
    x = vertices_at(scene, Still(), 0.0, scene.mean_position, scene.mean_rotation)
    wet = wetted(scene, x[boundary.wet], scene.mean_position)
    matrices = assembled(boundary, x)
    A = np.asarray(matrices.dipole, complex)
    ratio = (np.asarray(scene.beach) - 1j * omega) ** 2 / scene.g
    A[:, :top] += np.asarray(matrices.surface) * ratio
    points = np.asarray(at_points(wet.corner))
    phi_I, U = _wave(scene, points.reshape(-1, 3), omega, depth, heading)
    through = -np.einsum("tx,tpx->tp", np.asarray(wet.normal), U.reshape(points.shape))
    scattered = np.einsum("cp,tp->tc", TO_CORNERS, through).reshape(-1, 1)
    flux = np.concatenate([np.asarray(unit_fluxes(scene, wet)), scattered], 1)
    phi = np.linalg.solve(A, np.asarray(matrices.per_flux) @ flux)[np.asarray(boundary.wet)]
    wrench = np.asarray(wrench_operator(scene, wet)) @ (-1j * omega * phi)
    wrench[:, -1] += _pressed(scene, wet, 1j * omega * scene.rho * phi_I)
    # of unit velocities: -(B - i omega A)
    impedance = -wrench[:, :-1]
    found = Harmonic(-impedance.imag / omega, impedance.real, wrench[:, -1])
    return HarmonicFlow(found, phi, flux, wet, scene, omega, depth, heading)


def mean_drift(flow: HarmonicFlow, velocity: Complex[np.ndarray, " dofs"]) -> np.ndarray:
    r"""Mean horizontal force on all bodies together in a wave of one metre, from the far field.

    Waves of the amplitude :math:`a(\theta)/\sqrt r` leave the bodies, and what they do not carry
    away of the energy that is taken from the incident wave is absorbed by the bodies (Maruo 1960):

    .. math:: F = \tfrac12\rho g \frac{c_g}{c}\left[\int |a|^2 (e_\beta - e_\theta)\,d\theta
        + \sigma e_\beta\right],

    with the absorbed power over the energy flux of the wave, :math:`\sigma`, from the forces that
    the water does work with. Second order in the amplitude; it needs no pressure on hulls.

    Args:
        flow: solved.
        velocity: complex, of all bodies per metre of amplitude [m/s, rad/s per m].

    Returns:
        along x and y [N/m^2].
    """
    scene, omega = flow.scene, flow.omega
    k = float(dispersion(omega, flow.depth, scene.g))
    turn = 2.0 * np.pi * np.arange(360) / 360
    out = np.stack([np.cos(turn), np.sin(turn)], -1)
    along = np.array([np.cos(flow.heading), np.sin(flow.heading)])
    each = np.concatenate([velocity, [1.0]])
    a = _far_field(flow, k, out, flow.potential @ each, flow.flux @ each)
    flat = 1.0 / omega * float(group_speed(omega, k, flow.depth)) * k  # c_g / c
    A, B, F = flow.coefficients
    force = F + (1j * omega * A - B) @ velocity
    power = 0.5 * float((force @ velocity.conj()).real)
    scattered = ((along - out) * (np.abs(a) ** 2)[:, None]).mean(0) * 2.0 * np.pi
    return 0.5 * scene.rho * scene.g * flat * scattered + power * k / omega * along


def pressure_drift(flow: HarmonicFlow, velocity: Complex[np.ndarray, " dofs"]) -> np.ndarray:
    r"""The same mean force from the pressure on hulls and along waterlines.

    With the displacement X of the hull, its rotation :math:`\alpha`, the elevation of the water
    over the hull :math:`\zeta_r` and the force of first order :math:`F_1` (Pinkster 1980),

    .. math:: F = \oint \tfrac12\rho g \overline{\zeta_r^2}\, n\, ds
        - \rho\int \overline{\tfrac12|\nabla\phi|^2 + X\cdot\nabla\phi_t}\, n\, dS
        + \overline{\alpha\times F_1} ,

    and the square of the velocity at sharp edges as in `edges`.
    It differs from `mean_drift` by the error of the mesh alone. Arguments and result are the same.
    """
    scene, wet, omega = flow.scene, flow.wet, flow.omega
    boundary, mirrored = scene.boundary, scene.boundary.mirrors.symmetric
    tri, owner = np.asarray(boundary.wet_triangles), triangle_owner(scene)
    normal = np.asarray(wet.normal)
    x = np.asarray(
        vertices_at(scene, Still(), 0.0, scene.mean_position, scene.mean_rotation)[boundary.wet]
    )
    each = np.concatenate([velocity, [1.0]])
    phi, q = flow.potential @ each, (flow.flux @ each).reshape(-1, 3)
    phi_I, _ = _wave(scene, x, omega, flow.depth, flow.heading)
    points = np.asarray(at_points(wet.corner))
    _, U = _wave(scene, points.reshape(-1, 3), omega, flow.depth, flow.heading)
    slope = np.asarray(tangential(wet, np.real(phi)[tri]))
    slope = slope + 1j * np.asarray(tangential(wet, np.imag(phi)[tri]))
    u = np.einsum("pc,tc->tp", RULE, q)[..., None] * normal[:, None]
    u = slope[:, None] + u + U.reshape(points.shape)
    moved = (velocity / (-1j * omega)).reshape(-1, 6)
    place, turn = moved[owner, None, :3], moved[owner, None, 3:]
    X = place + np.cross(turn, np.asarray(wet.arm))
    # over panels, with the rule that is exact for squares of linear functions
    X_p = np.einsum("pc,tcx->tpx", RULE, X)
    head = 0.25 * (np.abs(u) ** 2).sum(-1) + 0.5 * ((-1j * omega * u).conj() * X_p).sum(-1).real
    panel = np.asarray(wet.area)[:, None] * normal
    total = -scene.rho * (head.mean(1)[:, None] * panel[:, :2]).sum(0)
    # around edges the water runs faster, relative to the hull, than on linear triangles
    edge = edges(boundary.across, wet)
    relative = (u + 1j * omega * X_p).mean(1)
    strength = (np.asarray(edge.here) * relative[:, None]).sum(-1)
    strength += (np.asarray(edge.excess) * relative[np.asarray(boundary.across)]).sum(-1)
    load = 0.25 * (np.asarray(edge.missing) * np.abs(strength) ** 2).sum(1)
    total = total - scene.rho * (load[:, None] * normal[:, :2]).sum(0)
    # along waterlines: sides of triangles, each opposite to a corner
    corner = np.asarray(wet.corner)[..., :2]
    along = np.roll(corner, -2, axis=1) - np.roll(corner, -1, axis=1)
    along = np.asarray(boundary.waterline)[..., None] * along
    out = np.stack([along[..., 1], -along[..., 0]], -1)
    rise = (1j * omega / scene.g * (phi + phi_I))[tri] - X[..., 2]
    one, two = np.roll(rise, -1, axis=1), np.roll(rise, -2, axis=1)
    squares = (np.abs(one) ** 2 + np.abs(one + two) ** 2 + np.abs(two) ** 2) / 6.0
    total = total - 0.25 * scene.rho * scene.g * (squares[..., None] * out).sum((0, 1))
    total = total * [2.0, 0.0] if mirrored else total
    # forces of first order turn with the hull; the weight of the water acts on the waterplane
    A, B, F = flow.coefficients
    force = (F + (1j * omega * A - B) @ velocity).reshape(-1, 6)[:, :3]
    lifted = (X_p[..., 2].mean(1) * panel[:, 2]) * (2.0 if mirrored else 1.0)
    np.add.at(force[:, 2], owner, -scene.rho * scene.g * lifted)
    return total + 0.5 * np.cross(moved[:, 3:].conj(), force).real.sum(0)[:2]


def _far_field(
    flow: HarmonicFlow, k: float, out: np.ndarray, phi: np.ndarray, flux: np.ndarray
) -> np.ndarray:
    """Amplitude of the waves in all directions times the root of the distance, per metre."""
    scene, wet, omega = flow.scene, flow.wet, flow.omega
    corner, area, normal = (np.asarray(x) for x in (wet.corner, wet.area, wet.normal))
    at = np.einsum("pc,tcx->tpx", RULE, corner)
    even, odd = depth_decay(k, at[..., 2], flow.depth)
    q = np.einsum("pc,tc->tp", RULE, flux.reshape(-1, 3))
    f = np.einsum("pc,tc->tp", RULE, phi[np.asarray(scene.boundary.wet_triangles)])
    weight = area[:, None] / 3.0
    total = 0.0
    for side in [1.0, -1.0] if scene.boundary.mirrors.symmetric else [1.0]:
        # a wave that runs towards the body along each direction, at the place of every point
        kx = -k * out * [1.0, side]
        phase = np.exp(1j * np.einsum("dx,tpx->dtp", kx, at[..., :2]))
        slope = 1j * np.einsum("dx,tx->dt", kx, normal[:, :2])
        kernel = (q * even - f * k * odd * normal[:, 2:]) * weight
        total = total + np.einsum("tp,dtp->d", kernel, phase)
        total = total - np.einsum("dt,tp,dtp->d", slope, f * even * weight, phase)
    nu, d = omega**2 / scene.g, flow.depth
    per = k if np.isinf(d) else k**2 / (d * (k**2 - nu**2) + nu)
    return omega / scene.g * per / 2.0 * np.sqrt(2.0 / (np.pi * k)) * total


def _pressed(scene: Scene, wet: Wetted, pressure: np.ndarray) -> np.ndarray:
    """Wrenches of all bodies of a complex pressure at the points of their triangles."""
    both = np.real(pressure), np.imag(pressure)
    parts = (pressure_wrench(scene, wet, at_corners(p)) for p in both)
    real, imaginary = (np.asarray(part).reshape(-1) for part in parts)
    return real + 1j * imaginary


def _wave(
    scene: Scene, x: np.ndarray, omega: float, depth: float, heading: float
) -> tuple[np.ndarray, np.ndarray]:
    """Potential and velocity of an Airy wave of one metre."""
    k = float(dispersion(omega, depth, scene.g))
    along = np.array([np.cos(heading), np.sin(heading)])
    even, odd = depth_decay(k, x[:, 2], depth)
    phase = -1j * scene.g / omega * np.exp(1j * k * x[:, :2] @ along)
    phi = phase * even
    return phi, np.concatenate([1j * k * phi[:, None] * along, (k * phase * odd)[:, None]], 1)
