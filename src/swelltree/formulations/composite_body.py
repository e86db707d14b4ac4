r"""Composite-rigid-body algorithm (Wuillaume et al. 2017, InWave).

Two sweeps over the tree in link axes: outward for velocities and
accelerations, inward for forces and for the inertia of everything further out
on the branch. The mass matrix follows as

.. math:: H_{jk} = a_j^\top m^c_j\, {}^jT_k\, a_k
          \quad (k \text{ ancestor of } j \text{ or } j \text{ itself})

(eq. 5, whose printed H22 takes k >= j and a transpose too many; the sums of
eq. 6 run over ancestors only, in a branched tree). A free root joint gives the
blocks H11 and H12 of eq. 1. Added mass couples all bodies and enters as
P^T A P with the same link-to-link transforms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from swelltree.formulations.base import Kinematics, State
from swelltree.formulations.joint_coordinates import JointCoordinates
from swelltree.model.kinematics import Frames, Pose, dof_joint
from swelltree.model.layout import Layout
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, pytree
from swelltree.spatial.engine import jax, jnp
from swelltree.spatial.vectors import cross, matmul, matvec, skew, transpose


@pytree()
class Links:
    """Tree in link axes: T from parent to link, motion subspaces, velocity products."""

    T: Array  # (N, 6, 6) twist of the parent -> same motion seen at the link
    subspace: Array  # (N, 6, 6) padded columns of the joint's dofs
    speed: Array  # (N, 6) padded joint velocities
    product: Array  # (N, 6) gamma: acceleration without joint accelerations
    nu: Array  # (N, 6) twist in link axes
    R: Array  # (N, 3, 3)
    p: Array  # (N, 3)


@dataclass(frozen=True)
class CompositeBody(JointCoordinates):
    """InWave: recursive composite inertias and Newton-Euler sweeps in link axes."""

    name: ClassVar[str] = "composite_body"

    def velocity_map(
        self, model: Model, state: State, pose: Pose, frames: Frames
    ) -> tuple[Array, Array, Array, Links]:
        layout = model.layout
        links = sweep_out(model, state.s, pose, frames)
        # P: every ancestor's subspace carried out to the link, world axes
        shift = pose.p[:, None] - pose.p[None]
        lin = matmul(pose.R, links.subspace[:, :3])
        rot = matmul(pose.R, links.subspace[:, 3:])
        carried = lin[None] + jnp.cross(rot[None], shift[..., None], axis=2)
        on_path = jnp.asarray(layout.path)[:, :, None, None]
        full = on_path * jnp.concatenate([carried, jnp.broadcast_to(rot, carried.shape)], axis=2)
        P = _unpad(layout, jnp.moveaxis(full, 1, 2)).reshape(6 * layout.n_bodies, layout.n_tree)
        acceleration = sweep_acceleration(layout, links)
        nu = links.nu
        v = jnp.concatenate([matvec(pose.R, nu[:, :3]), matvec(pose.R, nu[:, 3:])], -1)
        lin_bias = matvec(pose.R, acceleration[:, :3] + cross(nu[:, 3:], nu[:, :3]))
        bias = jnp.concatenate([lin_bias, matvec(pose.R, acceleration[:, 3:])], -1)
        return P, v, bias, links

    def mass(self, model: Model, kin: Kinematics) -> Array:
        links: Links = kin.extra
        layout = model.layout
        # m^c_j a_j: the force that moves link j and everything beyond it
        F = composite_inertia(layout, links.T, link_mass(model)) @ links.subspace
        force, moment = matmul(links.R, F[:, :3]), matmul(links.R, F[:, 3:])
        # seen at ancestor k and projected on its joint
        shift = links.p[:, None] - links.p[None]
        moment = moment[:, None] + jnp.cross(shift[..., None], force[:, None], axis=2)
        lin, rot = matmul(links.R, links.subspace[:, :3]), matmul(links.R, links.subspace[:, 3:])
        H = jnp.einsum("kxa,jxb->jkba", lin, force) + jnp.einsum("kxa,jkxb->jkba", rot, moment)
        H = H * jnp.asarray(layout.path)[:, :, None, None]
        H = jnp.moveaxis(H, 2, 1)
        H = _unpad(layout, H.reshape(H.shape[0], 6, -1).reshape(-1, H.shape[2], 6))
        H = H.reshape(layout.n_bodies, 6, layout.n_tree)
        H = _unpad(layout, jnp.moveaxis(H, 2, 0))
        lower = jnp.swapaxes(H, 0, 1)
        strict = jnp.asarray(_strictly_below(layout))
        H = lower + (strict * lower).T
        if model.added_mass is None:
            return H
        return H + kin.P.T @ model.added_mass @ kin.P

    def bias(self, model: Model, kin: Kinematics) -> Array:
        links: Links = kin.extra
        layout = model.layout
        acceleration = sweep_acceleration(layout, links)
        momentum = matvec(link_mass(model), links.nu)
        w, v = links.nu[:, 3:], links.nu[:, :3]
        p, h = momentum[:, :3], momentum[:, 3:]
        gyro = jnp.concatenate([cross(w, p), cross(w, h) + cross(v, p)], -1)
        force = sweep_in(layout, links.T, matvec(link_mass(model), acceleration) + gyro)
        tau = _unpad(layout, (links.subspace * force[:, :, None]).sum(1))
        if model.added_mass is None:
            return tau
        return tau + kin.P.T @ (model.added_mass @ kin.bias_acceleration.reshape(-1))


def _slots(layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Joint and column of each tree dof in the padded arrays."""
    joint = dof_joint(layout)[: layout.n_tree]
    column = np.array([k - int(np.argmax(joint == j)) for k, j in enumerate(joint)], dtype=int)
    return joint, column


def _unpad(layout: Layout, padded: Array) -> Array:
    """Pick the real dofs from the last two axes (joint, 6)."""
    joint, column = _slots(layout)
    return padded[..., joint, column]


def _strictly_below(layout: Layout) -> np.ndarray:
    """1 where row dof belongs to a joint strictly further out than the column dof's."""
    joint, _ = _slots(layout)
    return (joint[:, None] != joint[None, :]).astype(float)


def link_mass(model: Model) -> Array:
    """Inertia in link axes at the reference points, with added mass that turns (N, 6, 6)."""
    bodies = model.bodies
    m, S = jnp.asarray(bodies.mass)[:, None, None], skew(jnp.asarray(bodies.com))
    top = jnp.concatenate([m * jnp.eye(3) + 0.0 * S, -m * S], -1)
    bottom = jnp.concatenate([m * S, bodies.inertia - m * matmul(S, S)], -1)
    rigid = jnp.concatenate([top, bottom], -2)
    return rigid if bodies.added_mass is None else rigid + bodies.added_mass


def _parents(layout: Layout) -> Array:
    return jnp.array([p if p >= 0 else layout.n_bodies for p in layout.parent])


def sweep_out(model: Model, s: Array, pose: Pose, frames: Frames) -> Links:
    """Outward sweep: link transforms, joint subspaces, twists and velocity products."""
    layout = model.layout
    N = layout.n_bodies
    parent = _parents(layout)
    R_up = jnp.concatenate([pose.R, jnp.eye(3)[None]])[parent]
    p_up = jnp.concatenate([pose.p, jnp.zeros((1, 3))])[parent]
    E = matmul(transpose(pose.R), R_up)
    r = matvec(transpose(R_up), pose.p - p_up)
    T = jnp.concatenate(
        [
            jnp.concatenate([E, -matmul(E, skew(r))], -1),
            jnp.concatenate([jnp.zeros((N, 3, 3)), E], -1),
        ],
        -2,
    )
    # columns of the joint subspaces in link axes, padded to six
    joint, column = _slots(layout)
    n = layout.n_tree
    sign = layout.moves[joint, np.arange(n)][:, None]
    Rt = transpose(pose.R)[joint]
    turn, slide = matvec(Rt, frames.turn[:n]), matvec(Rt, frames.slide[:n])
    arm = matvec(Rt, pose.p[joint] - frames.follower_o[joint])
    columns = sign * jnp.concatenate([slide + cross(turn, arm), turn], -1)
    subspace = jnp.zeros((N, 6, 6)).at[joint, :, column].set(columns)
    speed = jnp.zeros((N, 6)).at[joint, column].set(s)
    joint_twist = matvec(subspace, speed)

    def step(nu: Array, i: Array) -> tuple[Array, None]:
        own = matvec(T[i], nu[parent[i]]) + joint_twist[i]
        return nu.at[i].set(own), None

    nu, _ = jax.lax.scan(step, jnp.zeros((N + 1, 6)), jnp.arange(N))
    nu = nu[:N]

    # rate of the subspace columns seen from the link: axes fixed in the link stand still
    v_J, w_J = joint_twist[:, :3], joint_twist[:, 3:]
    follows = np.array(layout.follower[:N])[joint] == joint
    on_follower = np.array([d.on_follower for d in layout.dofs[:n]], dtype=bool)
    turn_moves = (on_follower != follows)[:, None]
    slide_moves = follows[:, None]
    turn_rate = jnp.where(turn_moves, -cross(w_J[joint], turn), 0.0)
    slide_rate = jnp.where(slide_moves, -cross(w_J[joint], slide), 0.0)
    drift = jnp.zeros((N, 3)).at[joint].add(slide * s[:, None])[joint]
    arm_rate = jnp.where(slide_moves, 0.0, -drift)
    rates = sign * jnp.concatenate(
        [slide_rate + cross(turn_rate, arm) + cross(turn, arm_rate), turn_rate], -1
    )
    own = jnp.zeros((N, 6)).at[joint].add(rates * s[:, None])
    # rate of the transform from the parent
    w_up = nu[:, 3:] - w_J
    lin = -cross(w_J, nu[:, :3] - v_J) + cross(w_up, v_J)
    product = own + jnp.concatenate([lin, -cross(w_J, w_up)], -1)
    return Links(T, subspace, speed, product, nu, pose.R, pose.p)


def sweep_acceleration(layout: Layout, links: Links) -> Array:
    """Outward sweep: link accelerations (component rates) without joint accelerations."""
    parent = _parents(layout)
    N = layout.n_bodies

    def step(a: Array, i: Array) -> tuple[Array, None]:
        return a.at[i].set(matvec(links.T[i], a[parent[i]]) + links.product[i]), None

    a, _ = jax.lax.scan(step, jnp.zeros((N + 1, 6)), jnp.arange(N))
    return a[:N]


def sweep_in(layout: Layout, T: Array, force: Array) -> Array:
    """Inward sweep: force on each link plus what its children hand down."""
    parent = _parents(layout)
    N = layout.n_bodies

    def step(total: Array, i: Array) -> tuple[Array, None]:
        return total.at[parent[i]].add(matvec(T[i].T, total[i])), None

    total = jnp.concatenate([force, jnp.zeros((1, 6))])
    total, _ = jax.lax.scan(step, total, jnp.arange(N - 1, -1, -1))
    return total[:N]


def composite_inertia(layout: Layout, T: Array, M: Array) -> Array:
    """Inward sweep (eq. 4): inertia of each link with everything beyond it."""
    parent = _parents(layout)
    N = layout.n_bodies

    def step(total: Array, i: Array) -> tuple[Array, None]:
        return total.at[parent[i]].add(T[i].T @ total[i] @ T[i]), None

    total = jnp.concatenate([M, jnp.zeros((1, 6, 6))])
    total, _ = jax.lax.scan(step, total, jnp.arange(N - 1, -1, -1))
    return total[:N]
