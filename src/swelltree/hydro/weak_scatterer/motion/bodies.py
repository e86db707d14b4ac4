r"""Conditions and loads on bodies that move rigidly with velocity u and turn with omega.

The water follows the body, :math:`q = n\cdot(u - \nabla\phi_I)`. Differentiating this along the
body gives the flux of :math:`\phi_t`,

.. math::
    \phi_{tn} = n\cdot(\dot\nu + \dot\omega\times r) - n\cdot(\omega\times\nu)
                + n\cdot\nabla\times(u\times\nabla\phi) - n\cdot\nabla\phi_{I,t},

an equal form of Wuillaume et al. (2017), eq. 19, without second derivatives along the surface:
weighted with the shape function of a vertex the curl is a sum over the edges opposite to it, which
needs no curvature and holds at edges too. The moment of an ellipsoid of 102 vertices in steady
motion is right within 1 %. With p = -rho (phi_t + |grad phi|^2 / 2 + g z) the loads
are integrals of linear functions over triangles. Normals point out of the water, into the body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float

from swelltree.hydro.weak_scatterer.incident.interface import Flow, Incident, flow
from swelltree.hydro.weak_scatterer.influence.sums import RULE
from swelltree.hydro.weak_scatterer.motion.scene import Scene, flattened
from swelltree.jit import Array, jnp

if TYPE_CHECKING:
    from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies

EVEN = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])  # motions and loads in a mirror at y = 0
TO_CORNERS = np.linalg.inv(RULE)  # of a linear function known at the points of the rule
MASS = (1.0 + np.eye(3)) / 12.0  # of linear functions on a triangle of area one


class Wetted(NamedTuple):
    """Triangles of bodies where they are.

    Args:
        corner: [m].
        arm: from the reference point of the body [m].
        normal: out of the water.
        area: [m^2].
        motion: flux at corners for unit velocities of the body, [n, r x n].
    """

    corner: Float[Array, "triangle corner xyz"]
    arm: Float[Array, "triangle corner xyz"]
    normal: Float[Array, "triangle xyz"]
    area: Float[Array, " triangle"]
    motion: Float[Array, "triangle corner dof"]


def triangle_owner(scene: Scene) -> np.ndarray:
    return np.repeat(np.arange(len(scene.boundary.bodies)), scene.boundary.body_triangles)


def panel_share(
    scene: Scene, wave: Incident, t: Array, bodies: Bodies, cover: float | None = None
) -> Float[Array, " triangle"] | None:
    """Fraction of each triangle that is hull, not a lid under the surface that moves with the wave.

    None: all are hull, as where bodies do not cross the surface.

    Args:
        scene: the water.
        wave: incident.
        t: [s].
        bodies: where they are.
        cover: depth of the lid, in the place of that of the scene [m].
    """
    boundary = scene.boundary
    if scene.cover is None:
        return None
    lid = flattened(scene, wave, t, bodies.position, bodies.rotation, cover)
    cut = jnp.zeros(len(boundary.bodies))
    for shell in scene.shells:
        cut = cut.at[shell.body].set(0.0 if shell.cut is None else shell.cut)
    hull = jnp.maximum(1.0 - lid, cut[scene.owner])
    full = jnp.ones(len(boundary.wet)).at[: len(hull)].set(hull)
    return full[boundary.wet_triangles].mean(1)


def wetted(
    scene: Scene,
    vertices: Float[Array, "wet xyz"],
    position: Float[Array, "body xyz"],
    share: Float[Array, " triangle"] | None = None,
) -> Wetted:
    """Normals, areas and arms of triangles.

    Args:
        scene: numbering.
        vertices: of their triangles, numbered as `wet` [m].
        position: of their reference points [m].
        share: of each that moves with its body and is pressed on; None: all.
    """
    corner = vertices[scene.boundary.wet_triangles]
    cross = jnp.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    if scene.boundary.used is None:
        twice = jnp.linalg.norm(cross, axis=1)
        normal = cross / twice[:, None]
    else:
        # padding panels have neither area nor normal, and so no effect
        there = scene.boundary.used.panels
        twice = jnp.linalg.norm(jnp.where(there[:, None] > 0.0, cross, 1.0), axis=1)
        normal, twice = there[:, None] * cross / twice[:, None], there * twice
    if share is not None:
        normal = share[:, None] * normal
    arm = corner - position[triangle_owner(scene)][:, None]
    each = jnp.broadcast_to(normal[:, None], corner.shape)
    motion = jnp.concatenate([each, jnp.cross(arm, each)], -1)
    return Wetted(corner, arm, normal, 0.5 * twice, motion)


class BodyFlow(NamedTuple):
    """Known flow at the corners of triangles of bodies.

    Args:
        velocity: of the body there, u [m/s].
        q: flux of the perturbation [m/s].
        sea: incident wave at the three points of each triangle, one after the other.
    """

    velocity: Float[Array, "triangle corner xyz"]
    q: Float[Array, "triangle corner"]
    sea: Flow


def body_flow(
    scene: Scene,
    wave: Incident,
    t: Array,
    wet: Wetted,
    velocity: Float[Array, "body dof"],
) -> BodyFlow:
    """Velocity of the bodies and flux of the perturbation.

    The incident wave is linear on a triangle by its values at the three points of the rule, not by
    those at the corners, between which it would be too large by a twelfth of (k h) squared: the
    mean force on a cylinder (Ka = 1, panels of 0.4 m) was 4 % too large in the far field, now 1 %.

    Args:
        scene: the water.
        wave: incident.
        t: [s].
        wet: triangles of the bodies.
        velocity: of the reference points, linear then angular, world axes [m/s, rad/s].
    """
    sea = flow(wave, t, at_points(wet.corner).reshape(-1, 3))
    of_body = velocity[triangle_owner(scene)]
    u = of_body[:, None, :3] + jnp.cross(of_body[:, None, 3:], wet.arm)
    incident = at_corners(sea.velocity)
    return BodyFlow(u, jnp.einsum("tx,tcx->tc", wet.normal, u - incident), sea)


def at_points(values: Float[Array, "triangle corner *more"]) -> Array:
    """Linear functions at the points of the rule."""
    return jnp.einsum("pc,tc...->tp...", RULE, values)


def at_corners(values: Float[Array, "points *more"]) -> Array:
    """Corners of the linear functions that have these values at the points of the rule."""
    return jnp.einsum("cp,tp...->tc...", TO_CORNERS, values.reshape(-1, 3, *values.shape[1:]))


def tangential(wet: Wetted, values: Float[Array, "triangle corner"]) -> Array:
    """Gradient along triangles of linear values (triangle, xyz)."""
    corner = wet.corner
    opposite = jnp.roll(corner, -2, axis=1) - jnp.roll(corner, -1, axis=1)
    area = jnp.where(wet.area > 0.0, wet.area, 1.0)
    slopes = jnp.cross(wet.normal[:, None], opposite) / (2.0 * area[:, None, None])
    return (values[..., None] * slopes).sum(1)


def flux_rate(
    scene: Scene,
    wet: Wetted,
    water: BodyFlow,
    phi: Float[Array, " wet"],
    velocity: Float[Array, "body dof"],
) -> Float[Array, "triangle corner"]:
    """Flux of the time derivative of the perturbation, of bodies without acceleration.

    Args:
        scene: the water.
        wet: triangles of bodies.
        water: flow at their corners.
        phi: potential of the perturbation at the vertices [m^2/s].
        velocity: of the bodies.
    """
    tri = scene.boundary.wet_triangles
    known = -at_corners(water.sea.velocity_rate)
    if not scene.moving:
        return jnp.einsum("tx,tcx->tc", wet.normal, known)
    of_body = velocity[triangle_owner(scene)][:, None]
    nu, omega = of_body[..., :3], of_body[..., 3:]
    incident, hessian = at_corners(water.sea.velocity), at_corners(water.sea.hessian)
    known = known - jnp.cross(omega, nu) + jnp.cross(omega, incident)
    known = known - jnp.einsum("tcij,tcj->tci", hessian, water.velocity)
    # mean over each triangle of u x grad phi, which varies as a square
    slope = tangential(wet, phi[tri])
    grad = slope[:, None] + water.q[..., None] * wet.normal[:, None]
    W = jnp.cross(at_points(water.velocity), at_points(grad)).mean(1)
    opposite = jnp.roll(wet.corner, -2, axis=1) - jnp.roll(wet.corner, -1, axis=1)
    along = 0.5 * jnp.einsum("tx,tcx->tc", W, opposite)
    # a side in a waterline belongs to one triangle: both of its ends have a share more
    rim = along * scene.boundary.waterline
    weighted = along + jnp.roll(rim, 1, axis=1) + jnp.roll(rim, 2, axis=1)
    n = len(phi)
    mass = (
        jnp.zeros((n, n)).at[tri[:, :, None], tri[:, None, :]].add(wet.area[:, None, None] * MASS)
    )
    if scene.boundary.used is not None:
        mass = mass + jnp.diag(1.0 - scene.boundary.used.vertices[scene.boundary.wet])
    curl = jnp.linalg.solve(mass, jnp.zeros(n).at[tri].add(weighted))[tri]
    if scene.boundary.used is not None:
        curl = curl * scene.boundary.used.panels[:, None]
    return jnp.einsum("tx,tcx->tc", wet.normal, known) + curl


def pressure_wrench(
    scene: Scene, wet: Wetted, pressure: Float[Array, "triangle corner"]
) -> Float[Array, "body dof"]:
    """Force and moment of a pressure that is linear on triangles.

    Args:
        scene: numbering.
        wet: triangles of bodies.
        pressure: at corners [Pa].
    """
    each = jnp.einsum("t,ij,ti,tjd->td", wet.area, MASS, pressure, wet.motion)
    count = len(scene.boundary.bodies)
    total = jnp.zeros((count, 6)).at[triangle_owner(scene)].add(each)
    return total * (1.0 + EVEN) if scene.boundary.mirrors.symmetric else total


def known_pressure(
    scene: Scene, wet: Wetted, water: BodyFlow, phi: Float[Array, " wet"]
) -> Float[Array, "triangle corner"]:
    """Pressure without that of the perturbation's time derivative and without weight [Pa].

    Args:
        scene: the water.
        wet: triangles of bodies.
        water: flow at their corners.
        phi: potential of the perturbation at the vertices [m^2/s].
    """
    head = water.sea.rate
    if scene.moving:
        slope = tangential(wet, phi[scene.boundary.wet_triangles])
        of_body = slope[:, None] + water.q[..., None] * wet.normal[:, None]
        velocity = at_points(of_body).reshape(-1, 3) + water.sea.velocity
        head = head + 0.5 * (velocity**2).sum(-1)
    return -scene.rho * at_corners(head)
