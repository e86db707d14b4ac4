r"""Eliminated constraints by partial velocities (Paparella et al. 2015, NEEC).

Body velocities are written in body axes; their partial derivatives with
respect to the joint velocities are the columns of P:

.. math:: \nu = P_b s, \qquad
          P_b^\top (M_{RB} \dot\nu + C_{RB}(\nu) \nu) = P_b^\top \tau

P_b comes from differentiating the poses, its rate from differentiating again,
so nothing is shared with the hand-written blocks of `path_matrix`. The added
mass is constant in world axes and acts through P = blkdiag(R) P_b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swelltree.jit import Array, jax, jnp
from swelltree.model.model import Model
from swelltree.multibody.formulations.base import JointCoordinates, Kinematics, State
from swelltree.multibody.kinematics import Frames, Pose, forward, position_rates
from swelltree.spatial.rotations import cross, matmul, matvec, skew, transpose, unskew


@dataclass(frozen=True)
class PartialVelocity(JointCoordinates):
    """NEEC: partial velocities in body axes, by differentiation."""

    name: ClassVar[str] = "partial_velocity"

    def velocity_map(
        self, model: Model, state: State, pose: Pose, frames: Frames
    ) -> tuple[Array, Array, Array, None]:
        n = model.layout.n_tree

        def body_velocity(q: Array, s: Array) -> Array:
            """nu of every body in body axes (N, 6)."""
            rate = position_rates(model.layout, q, s)
            here, there = jax.jvp(lambda x: forward(model, x), (q,), (rate,))
            spin = unskew(matmul(transpose(here.R), there.R))
            return jnp.concatenate([matvec(transpose(here.R), there.p), spin], -1)

        tree_q = state.q[: model.layout.n_positions]
        columns = jax.vmap(lambda e: body_velocity(tree_q, e), out_axes=-1)(jnp.eye(n))
        nu = (columns * state.s).sum(-1)
        q_rate = position_rates(model.layout, tree_q, state.s)
        _, nu_rate = jax.jvp(lambda q: body_velocity(q, state.s), (tree_q,), (q_rate,))
        # world axes: v = R nu, vdot = R (nudot + w x nu)
        lin, rot = nu[:, :3], nu[:, 3:]
        v = jnp.concatenate([matvec(pose.R, lin), matvec(pose.R, rot)], -1)
        lin_bias = matvec(pose.R, nu_rate[:, :3] + cross(rot, lin))
        bias = jnp.concatenate([lin_bias, matvec(pose.R, nu_rate[:, 3:])], -1)
        turned = jnp.concatenate(
            [matmul(pose.R, columns[:, :3]), matmul(pose.R, columns[:, 3:])], axis=1
        )
        return turned.reshape(6 * pose.p.shape[0], n), v, bias, None

    def mass(self, model: Model, kin: Kinematics) -> Array:
        P_b = body_axes(kin)
        M = body_mass(model)
        n = kin.P.shape[1]
        b6 = kin.P.shape[0]
        rigid = P_b.reshape(b6, n).T @ (M @ P_b).reshape(b6, n)
        if model.added_mass is None:
            return rigid
        return rigid + kin.P.T @ model.added_mass @ kin.P

    def bias(self, model: Model, kin: Kinematics) -> Array:
        R = kin.motion.pose.R
        v, a = kin.motion.v, kin.bias_acceleration
        nu = jnp.concatenate([matvec(transpose(R), v[:, :3]), matvec(transpose(R), v[:, 3:])], -1)
        back = jnp.concatenate([matvec(transpose(R), a[:, :3]), matvec(transpose(R), a[:, 3:])], -1)
        nu_rate = back - jnp.concatenate([cross(nu[:, 3:], nu[:, :3]), 0.0 * nu[:, 3:]], -1)
        M = body_mass(model)
        force = matvec(M, nu_rate) + matvec(coriolis(model, nu), nu)
        P_b = body_axes(kin)
        reduced = (P_b * force[:, :, None]).sum((0, 1))
        if model.added_mass is None:
            return reduced
        return reduced + kin.P.T @ (model.added_mass @ a.reshape(-1))


def body_axes(kin: Kinematics) -> Array:
    """P in body axes (N, 6, n): blkdiag(R)^T P."""
    R = transpose(kin.motion.pose.R)
    P = kin.P.reshape(R.shape[0], 6, kin.P.shape[1])
    return jnp.concatenate([R @ P[:, :3], R @ P[:, 3:]], axis=1)


def body_mass(model: Model) -> Array:
    """Mass matrices in body axes at the reference points, added mass included (N, 6, 6)."""
    bodies = model.bodies
    m, S = jnp.asarray(bodies.mass)[:, None, None], skew(jnp.asarray(bodies.com))
    about_point = bodies.inertia - m * (S @ S)
    top = jnp.concatenate([m * jnp.eye(3) + 0.0 * S, -m * S], -1)
    rigid = jnp.concatenate([top, jnp.concatenate([m * S, about_point], -1)], -2)
    return rigid if bodies.added_mass is None else rigid + bodies.added_mass


def coriolis(model: Model, nu: Array) -> Array:
    r"""Skew-symmetric Coriolis matrices in body axes (N, 6, 6).

    .. math:: C_{RB} = \begin{pmatrix} 0 & -S(M_{11} v + M_{12} \omega) \\
                       \cdot & -S(M_{21} v + M_{22} \omega) \end{pmatrix}

    For a reference point at the centre of mass this is Paparella et al.
    (2015), eq. 5.
    """
    momentum = matvec(body_mass(model), nu)
    S1, S2 = skew(momentum[:, :3]), skew(momentum[:, 3:])
    top = jnp.concatenate([0.0 * S1, -S1], -1)
    return jnp.concatenate([top, jnp.concatenate([-S1, -S2], -1)], -2)
