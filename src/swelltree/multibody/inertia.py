"""Rigid-body inertia in world axes at the reference points, added mass included."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, namespace, pytree
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Pose
from swelltree.spatial.rotations import cross, dot, matmul, matvec, skew, transpose

HALVES = (slice(0, 3), slice(3, 6))  # translations, rotations


@pytree()
class Inertia:
    """Inertia of every body in world axes."""

    mass: Array  # (N,)
    arm: Array  # (N, 3) centre of mass from the reference point
    about_point: Array  # (N, 3, 3) about the reference point
    added: Array | None = (
        None  # (N, 6, 6) added mass that turns with the bodies, world axes, or None
    )


def world_inertia(model: Model, pose: Pose) -> Inertia:
    """Body inertias rotated into world axes and shifted to the reference points."""
    bodies = model.bodies
    c = matvec(pose.R, bodies.com)
    turned = matmul(matmul(pose.R, bodies.inertia), transpose(pose.R))
    shift = dot(c, c)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :]
    about_point = turned + bodies.mass[:, None, None] * shift
    return Inertia(bodies.mass, c, about_point, world_added_mass(bodies.added_mass, pose))


def world_added_mass(added_mass: Array | None, pose: Pose) -> Array | None:
    """Added mass of every body, constant in its own axes, seen in world axes (N, 6, 6)."""
    if added_mass is None:
        return None
    xp = namespace(pose.R, added_mass)
    R, Rt = pose.R, transpose(pose.R)
    rows = [
        xp.concatenate([matmul(matmul(R, added_mass[:, i, j]), Rt) for j in HALVES], axis=-1)
        for i in HALVES
    ]
    return xp.concatenate(rows, axis=-2)


def apply_inertia(inertia: Inertia, a: Float[Array, "n 6 k"]) -> Float[Array, "n 6 k"]:
    """Rigid inertia of every body times k columns of body accelerations."""
    xp = namespace(a)
    lin, rot = xp.swapaxes(a[:, :3], 1, 2), xp.swapaxes(a[:, 3:], 1, 2)
    c, m = inertia.arm[:, None, :], inertia.mass[:, None, None]
    force = m * (lin + cross(rot, c))
    moment = matvec(inertia.about_point[:, None], rot) + m * cross(c, lin)
    needed = xp.swapaxes(xp.concatenate([force, moment], axis=-1), 1, 2)
    return needed if inertia.added is None else needed + matmul(inertia.added, a)


def gyroscopic(inertia: Inertia, v: Float[Array, "n 6"]) -> Float[Array, "n 6"]:
    r"""Velocity-dependent inertia force of every body.

    .. math:: (m\, \omega \times (\omega \times c),\; \omega \times J \omega)

    The term that MBS4WEC eq. 8 leaves out and energy conservation needs.
    """
    w = v[:, 3:]
    xp = namespace(v)
    force = inertia.mass[:, None] * cross(w, cross(w, inertia.arm))
    rigid = xp.concatenate([force, cross(w, matvec(inertia.about_point, w))], axis=-1)
    return rigid if inertia.added is None else rigid + kirchhoff(inertia.added, v)


def kirchhoff(A: Float[Array, "n 6 6"], v: Float[Array, "n 6"]) -> Float[Array, "n 6"]:
    r"""Velocity-dependent part of the inertia force of added mass that turns with the body.

    With the fluid's momentum (p, L) = A v, Kirchhoff's equations in world axes about the moving
    point are

    .. math:: f = \dot p, \qquad m = \dot L + u \times p

    and the rate of A in world axes gives what is not A v̇. The term u x p is Munk's moment.
    Without it the energy ½ vᵀ A v would not be kept (Lamb 1932, art. 124).
    """
    xp = namespace(A, v)
    u, w = v[:, :3], v[:, 3:]
    momentum = matvec(A, v)
    p, L = momentum[:, :3], momentum[:, 3:]
    turning = matvec(A[:, :, :3], cross(w, u))
    force = cross(w, p) - turning[:, :3]
    moment = cross(w, L) + cross(u, p) - turning[:, 3:]
    return xp.concatenate([force, moment], axis=-1)


def dense_inertia(model: Model, inertia: Inertia) -> Float[Array, "b6 b6"]:
    """Mass matrix of all bodies (6N x 6N), added mass included."""
    xp = namespace(inertia.arm, inertia.mass, inertia.about_point)
    N = model.layout.n_bodies
    m, S = inertia.mass[:, None, None], skew(inertia.arm)
    top = xp.concatenate([m * np.eye(3) + 0.0 * S, -m * S], axis=-1)
    bottom = xp.concatenate([m * S, inertia.about_point], axis=-1)
    block = xp.concatenate([top, bottom], axis=-2)
    if inertia.added is not None:
        block = block + inertia.added
    full = (np.eye(N)[:, None, :, None] * block[:, :, None, :]).reshape(6 * N, 6 * N)
    return full if model.added_mass is None else full + model.added_mass


def inertia_force(
    model: Model, inertia: Inertia, a: Float[Array, "n 6"], v: Float[Array, "n 6"]
) -> Float[Array, "n 6"]:
    """Net wrench each body needs to move with acceleration a at velocity v."""
    wrench = apply_inertia(inertia, a[:, :, None])[:, :, 0] + gyroscopic(inertia, v)
    if model.added_mass is None:
        return wrench
    return wrench + (model.added_mass @ a.reshape(-1)).reshape(wrench.shape)


def kinetic_energy(model: Model, inertia: Inertia, v: Float[Array, "n 6"]) -> Array:
    """Kinetic energy of each body, (N,); coupled added mass counts for the row's body."""
    momentum = apply_inertia(inertia, v[:, :, None])[:, :, 0]
    if model.added_mass is not None:
        momentum = momentum + (model.added_mass @ v.reshape(-1)).reshape(v.shape)
    return 0.5 * dot(v, momentum)
