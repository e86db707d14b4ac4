"""Rigid-body inertia in world axes at the reference points, added mass included."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.model.kinematics import Pose
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, namespace, pytree
from swelltree.spatial.vectors import cross, dot, matmul, matvec, skew, transpose


@pytree()
class Inertia:
    """Inertia of every body in world axes."""

    mass: Array  # (N,)
    arm: Array  # (N, 3) centre of mass from the reference point
    about_point: Array  # (N, 3, 3) about the reference point


def world_inertia(model: Model, pose: Pose) -> Inertia:
    """Turn the body inertias into world axes and shift them to the reference points."""
    bodies = model.bodies
    c = matvec(pose.R, bodies.com)
    turned = matmul(matmul(pose.R, bodies.inertia), transpose(pose.R))
    shift = dot(c, c)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :]
    return Inertia(bodies.mass, c, turned + bodies.mass[:, None, None] * shift)


def apply_inertia(inertia: Inertia, a: Float[Array, "n 6 k"]) -> Float[Array, "n 6 k"]:
    """Rigid inertia of every body times k columns of body accelerations."""
    xp = namespace(a)
    lin, rot = xp.swapaxes(a[:, :3], 1, 2), xp.swapaxes(a[:, 3:], 1, 2)
    c, m = inertia.arm[:, None, :], inertia.mass[:, None, None]
    force = m * (lin + cross(rot, c))
    moment = matvec(inertia.about_point[:, None], rot) + m * cross(c, lin)
    return xp.swapaxes(xp.concatenate([force, moment], axis=-1), 1, 2)


def gyroscopic(inertia: Inertia, v: Float[Array, "n 6"]) -> Float[Array, "n 6"]:
    r"""Velocity-dependent inertia force of every body.

    .. math:: (m\, \omega \times (\omega \times c),\; \omega \times J \omega)

    The term that MBS4WEC eq. 8 leaves out and energy conservation needs.
    """
    w = v[:, 3:]
    xp = namespace(v)
    force = inertia.mass[:, None] * cross(w, cross(w, inertia.arm))
    return xp.concatenate([force, cross(w, matvec(inertia.about_point, w))], axis=-1)


def dense_inertia(model: Model, inertia: Inertia) -> Float[Array, "b6 b6"]:
    """Mass matrix of all bodies (6N x 6N), added mass included."""
    xp = namespace(inertia.arm)
    N = model.layout.n_bodies
    m, S = inertia.mass[:, None, None], skew(inertia.arm)
    top = xp.concatenate([m * np.eye(3) + 0.0 * S, -m * S], axis=-1)
    bottom = xp.concatenate([m * S, inertia.about_point], axis=-1)
    block = xp.concatenate([top, bottom], axis=-2)
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
    """Half v^T (M + A) v, by body: (N,); added mass shared by the row's body."""
    momentum = apply_inertia(inertia, v[:, :, None])[:, :, 0]
    if model.added_mass is not None:
        momentum = momentum + (model.added_mass @ v.reshape(-1)).reshape(v.shape)
    return 0.5 * dot(v, momentum)
