r"""The strip of hull between the incident surface and the perturbed one.

The mesh of a hull ends at the incident surface. Above it the water stands :math:`\eta` higher, with
a pressure that falls to zero over this height. Where the body moves by :math:`\delta x` the
waterline sweeps over an area in plan, and the pressure in the strip does the work

.. math:: F\cdot\delta x = -\oint \tfrac12 \rho\, P\, \eta^2\, \delta x_s\cdot n\, ds, \qquad
    P = g + \phi_{I,tz} + U\cdot\nabla\phi_{I,z} ,

of second order, so that it belongs to mean forces (Pinkster 1980, the relative wave elevation). No
strip is higher than the hull above the surface, nor deeper than the hull below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from jaxtyping import Float

from swelltree.hydro.weak_scatterer.incident.interface import Incident, flow, surface
from swelltree.hydro.weak_scatterer.motion.bodies import EVEN
from swelltree.hydro.weak_scatterer.motion.scene import Scene, vertices_at
from swelltree.jit import Array, jax, jnp

if TYPE_CHECKING:
    from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies


class Waterlines(NamedTuple):
    """Sides of triangles of hulls, with weight one where they lie in a waterline.

    Args:
        first: vertex of the free surface at one end of each.
        second: at the other end.
        out: into the water in plan, as long as the side [m].
    """

    first: Array
    second: Array
    out: Float[Array, "panel corner xy"]


def waterlines(scene: Scene, places: Float[Array, "vertex xy"]) -> Waterlines:
    """All sides; those that lie in no waterline have no length.

    Args:
        scene: numbering.
        places: of all vertices in plan [m].
    """
    boundary = scene.boundary
    faces = boundary.triangles[boundary.on_bodies]
    # the side opposite to a corner, from its first end to its second along the hull
    ends = jnp.roll(faces, -1, axis=1), jnp.roll(faces, -2, axis=1)
    along = boundary.waterline[..., None] * (places[ends[1]] - places[ends[0]])
    first, second = (jnp.where(end < boundary.surface, end, 0) for end in ends)
    return Waterlines(first, second, jnp.stack([along[..., 1], -along[..., 0]], -1))


def swept_weights(
    lines: Waterlines, ends: tuple[Array, Array, Array], count: int
) -> Float[Array, "surface xy"]:
    r"""Weights c at vertices: :math:`\oint f\, w\cdot n\, ds = \sum c\cdot w` for any w.

    Args:
        lines: from `waterlines`.
        ends: f at both ends of every side, and in its middle.
        count: vertices of the free surface.
    """
    one, two, middle = (f[..., None] for f in ends)
    # Simpson's rule: exact for squares of linear elevations times linear velocities
    total = jnp.zeros((count, 2)).at[lines.first].add((one + 2.0 * middle) / 6.0 * lines.out)
    return total.at[lines.second].add((two + 2.0 * middle) / 6.0 * lines.out)


def strip_wrench(
    scene: Scene, wave: Incident, t: Array, eta: Float[Array, " surface"], bodies: Bodies
) -> Float[Array, "body dof"]:
    """Wrench of the pressure above the incident surface, by virtual work [N, N m].

    Args:
        scene: the water; nothing where no hull pierces the surface, or in mode "linear".
        wave: incident.
        t: [s].
        eta: elevation of the perturbation [m].
        bodies: where they are.
    """
    if not (scene.shells and scene.moving):
        return jnp.zeros(bodies.velocity.shape)
    n = scene.boundary.surface

    def plan(p: Array, R: Array) -> Array:
        return vertices_at(scene, wave, t, p, R)[:n, :2]

    top = vertices_at(scene, wave, t, bodies.position, bodies.rotation)
    if scene.wavy:
        sea = flow(wave, t, top[:n])
        steep = scene.g + sea.velocity_rate[:, 2] + (sea.velocity * sea.hessian[:, 2]).sum(1)
    else:
        # the mesh ends at the mean surface, and the strip holds the incident wave too
        eta, steep = eta + surface(wave, t, top[:n, :2]).level, jnp.full(n, scene.g)
    lines = waterlines(scene, top[:, :2])
    high = _reach(scene, top, eta, bodies)
    (e1, p1, h1), (e2, p2, h2) = (
        (eta[end], steep[end], high[end]) for end in (lines.first, lines.second)
    )
    ends = (
        _head(e1, p1, h1),
        _head(e2, p2, h2),
        _head(0.5 * (e1 + e2), 0.5 * (p1 + p2), 0.5 * (h1 + h2)),
    )
    c = swept_weights(lines, ends, n)
    _, back = jax.vjp(plan, bodies.position, bodies.rotation)
    force, turn = back(-scene.rho * c)
    # of turns: delta R = omega x R, column by column
    moment = jnp.cross(jnp.swapaxes(bodies.rotation, 1, 2), jnp.swapaxes(turn, 1, 2)).sum(1)
    wrench = jnp.concatenate([force, moment], 1)
    return wrench * (1.0 + EVEN) if scene.boundary.mirrors.symmetric else wrench


def _head(eta: Array, steep: Array, high: Array) -> Array:
    """Pressure over the density, integrated over the height of the strip [m^3/s^2]."""
    part = jnp.minimum(jnp.abs(eta), high)
    return steep * (jnp.abs(eta) - 0.5 * part) * part


def _reach(
    scene: Scene, vertices: Float[Array, "vertex xyz"], eta: Array, bodies: Bodies
) -> Float[Array, " surface"]:
    """Height of hulls above their waterlines where the water rises, below where it falls [m]."""
    result = jnp.zeros(scene.boundary.surface)
    for shell in scene.shells:
        number = shell.first + jnp.arange(len(shell.ring))
        points = jnp.asarray(shell.points)[:, jnp.array([0, -1])]
        turned = jnp.einsum("ij,lkj->lki", bodies.rotation[shell.body], points)
        keel, top = (bodies.position[shell.body, 2] + turned[:, k, 2] for k in (0, 1))
        level = vertices[number, 2]
        high = jnp.where(eta[number] > 0.0, top - level, level - keel)
        result = result.at[number].set(jnp.maximum(high, 0.0))
    return result
