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

All DOFs of a joint are one block: the elements of a cable have three (eqs.
8-10), and a sweep takes one step for each. In the plain form, one joint at a
time, it takes three.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, jax, jnp, pytree
from swelltree.model.model import Model
from swelltree.multibody.formulations.base import JointCoordinates, Kinematics, State
from swelltree.multibody.kinematics import Frames, Pose, dof_joint, velocity_matrix
from swelltree.multibody.layout import Layout
from swelltree.spatial.rotations import cross, dot, matmul, matvec, skew, transpose


@pytree()
class Links:
    """Tree in link axes: T from parent to link, axes of all dofs, velocities and accelerations."""

    T: Array  # (N, 6, 6) twist of the parent -> same motion seen at the link
    columns: Array  # (n, 6) motion of the link per unit dof velocity
    acceleration: Array  # (N, 6) component rates without joint accelerations
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
        links = sweep_out(model, state.s, pose, frames)
        nu, a = links.nu, links.acceleration
        v = jnp.concatenate([matvec(pose.R, nu[:, :3]), matvec(pose.R, nu[:, 3:])], -1)
        lin_bias = matvec(pose.R, a[:, :3] + cross(nu[:, 3:], nu[:, :3]))
        bias = jnp.concatenate([lin_bias, matvec(pose.R, a[:, 3:])], -1)
        return carried_out(model.layout, links), v, bias, links

    def mass(self, model: Model, kin: Kinematics) -> Array:
        links: Links = kin.extra
        layout = model.layout
        joint = dof_joint(layout)[: layout.n_tree]
        # m^c_j a_j: the force that moves link j and everything beyond it
        inertia = composite_inertia(layout, links.T, link_mass(model))
        F = matvec(inertia[joint], links.columns)
        # both seen in world axes at one point, where k's axis meets j's force
        force = in_world(links, joint, F, moment=True)
        axes = in_world(links, joint, links.columns, moment=False)
        H = dot(axes[None], force[:, None])
        on_path = layout.path[np.ix_(joint, joint)] > 0
        H = jnp.where(on_path, H, jnp.where(on_path.T, H.T, 0.0))
        if model.added_mass is None:
            return H
        return H + kin.P.T @ model.added_mass @ kin.P

    def bias(self, model: Model, kin: Kinematics) -> Array:
        links: Links = kin.extra
        layout = model.layout
        M = link_mass(model)
        momentum = matvec(M, links.nu)
        w, v = links.nu[:, 3:], links.nu[:, :3]
        p, h = momentum[:, :3], momentum[:, 3:]
        gyro = jnp.concatenate([cross(w, p), cross(w, h) + cross(v, p)], -1)
        tau = on_joints(layout, links, matvec(M, links.acceleration) + gyro)
        if model.added_mass is None:
            return tau
        return tau + kin.P.T @ (model.added_mass @ kin.bias_acceleration.reshape(-1))

    def project(self, model: Model, kin: Kinematics, wrench: Float[Array, "b 6"]) -> Array:
        links: Links = kin.extra
        back = transpose(links.R)
        in_body_axes = jnp.concatenate(
            [matvec(back, wrench[:, :3]), matvec(back, wrench[:, 3:])], -1
        )
        return on_joints(model.layout, links, in_body_axes)


def in_world(
    links: Links, joint: np.ndarray, x: Float[Array, "n 6"], moment: bool
) -> Float[Array, "n 6"]:
    """Motions or forces of links in world axes, at the first body's reference point."""
    R = links.R[joint]
    arm = links.p[joint] - links.p[0]
    first, second = matvec(R, x[:, :3]), matvec(R, x[:, 3:])
    if moment:
        return jnp.concatenate([first, second + cross(arm, first)], -1)
    return jnp.concatenate([first + cross(arm, second), second], -1)


def carried_out(layout: Layout, links: Links) -> Float[Array, "b6 n"]:
    """P: the axes of every DOF propagated to all links beyond it, world axes."""
    joint = dof_joint(layout)[: layout.n_tree]
    axes = in_world(links, joint, links.columns, moment=False)
    on_path = layout.path[:, joint][:, :, None]
    arm = links.p[:, None] - links.p[0]
    slide, turn = axes[None, :, :3], axes[None, :, 3:]
    return velocity_matrix(on_path * (slide + cross(turn, arm)), on_path * turn)


def on_joints(layout: Layout, links: Links, force: Float[Array, "b 6"]) -> Float[Array, " n"]:
    """Generalised forces of forces on the links, in link axes."""
    joint = dof_joint(layout)[: layout.n_tree]
    return dot(links.columns, sweep_in(layout, links.T, force)[joint])


def _gathered(layout: Layout, x: Float[Array, "n k"]) -> Float[Array, "b k"]:
    """Sums over the dofs of each tree joint."""
    joint = dof_joint(layout)[: layout.n_tree]
    dofs_of_joint = [np.flatnonzero(joint == j) for j in range(layout.n_bodies)]
    most = max((len(rows) for rows in dofs_of_joint), default=0)
    index = np.full((layout.n_bodies, most), layout.n_tree)
    for j, rows in enumerate(dofs_of_joint):
        index[j, : len(rows)] = rows
    padded = jnp.concatenate([x, jnp.zeros((1, x.shape[1]))])
    return padded[index].sum(1)


def link_mass(model: Model) -> Array:
    """Inertia in link axes at the reference points, with body-fixed added mass (N, 6, 6)."""
    bodies = model.bodies
    m, S = jnp.asarray(bodies.mass)[:, None, None], skew(jnp.asarray(bodies.com))
    top = jnp.concatenate([m * jnp.eye(3) + 0.0 * S, -m * S], -1)
    bottom = jnp.concatenate([m * S, bodies.inertia - m * matmul(S, S)], -1)
    rigid = jnp.concatenate([top, bottom], -2)
    return rigid if bodies.added_mass is None else rigid + bodies.added_mass


def _parents(layout: Layout) -> np.ndarray:
    return np.array([p if p >= 0 else layout.n_bodies for p in layout.parent], dtype=int)


def sweep_out(model: Model, s: Array, pose: Pose, frames: Frames) -> Links:
    """Outward sweeps: link transforms, axes of the DOFs, twists and accelerations."""
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
    # axes of the dofs in link axes
    n = layout.n_tree
    joint = dof_joint(layout)[:n]
    sign = layout.moves[joint, np.arange(n)][:, None]
    Rt = transpose(pose.R)[joint]
    turn, slide = matvec(Rt, frames.turn[:n]), matvec(Rt, frames.slide[:n])
    arm = matvec(Rt, pose.p[joint] - frames.follower_o[joint])
    columns = sign * jnp.concatenate([slide + cross(turn, arm), turn], -1)
    rate = s[:, None]
    joint_twist = _gathered(layout, columns * rate)
    nu = sweep(layout, T, joint_twist)

    # rate of the axes seen from the link: those fixed in the link stand still
    v_J, w_J = joint_twist[:, :3], joint_twist[:, 3:]
    follows = np.array(layout.follower[:N])[joint] == joint
    on_follower = np.array([d.on_follower for d in layout.dofs[:n]], dtype=bool)
    turn_moves = (on_follower != follows)[:, None]
    slide_moves = follows[:, None]
    turn_rate = jnp.where(turn_moves, -cross(w_J[joint], turn), 0.0)
    slide_rate = jnp.where(slide_moves, -cross(w_J[joint], slide), 0.0)
    sliding = _gathered(layout, slide * rate)[joint]
    arm_rate = jnp.where(slide_moves, 0.0, -sliding)
    rates = sign * jnp.concatenate(
        [slide_rate + cross(turn_rate, arm) + cross(turn, arm_rate), turn_rate], -1
    )
    # rate of the transform from the parent
    w_up = nu[:, 3:] - w_J
    lin = -cross(w_J, nu[:, :3] - v_J) + cross(w_up, v_J)
    product = _gathered(layout, rates * rate) + jnp.concatenate([lin, -cross(w_J, w_up)], -1)
    return Links(T, columns, sweep(layout, T, product), nu, pose.R, pose.p)


def sweep(layout: Layout, T: Float[Array, "b 6 6"], local: Float[Array, "b 6"]) -> Array:
    """Outward sweep: the parent's value propagated to the link, plus the link's own."""
    N = layout.n_bodies
    # in a chain the parent is the link before
    chain = all(p == i - 1 for i, p in enumerate(layout.parent))
    if chain:

        def next_link(above: Array, link: tuple[Array, Array]) -> tuple[Array, Array]:
            result = matvec(link[0], above) + link[1]
            return result, result

        return jax.lax.scan(next_link, jnp.zeros(6), (T, local))[1]
    parent = jnp.asarray(_parents(layout))

    def step(result: Array, i: Array) -> tuple[Array, None]:
        return result.at[i].set(matvec(T[i], result[parent[i]]) + local[i]), None

    return jax.lax.scan(step, jnp.zeros((N + 1, 6)), jnp.arange(N))[0][:N]


def sweep_in(layout: Layout, T: Array, force: Array) -> Array:
    """Inward sweep: force on each link plus the forces of its children."""
    return _inward(layout, T, force, lambda T, f: matvec(T.T, f))


def composite_inertia(layout: Layout, T: Array, M: Array) -> Array:
    """Inward sweep (eq. 4): inertia of each link and everything beyond it."""
    return _inward(layout, T, M, lambda T, m: T.T @ m @ T)


def _inward(layout: Layout, T: Array, local: Array, down: Callable[[Array, Array], Array]) -> Array:
    """Sum of each link's own value and the values of its children."""
    N = layout.n_bodies
    if all(p == i - 1 for i, p in enumerate(layout.parent)):

        def next_link(excess: Array, link: tuple[Array, Array]) -> tuple[Array, Array]:
            total = link[1] + excess
            return down(link[0], total), total

        return jax.lax.scan(next_link, jnp.zeros(local.shape[1:]), (T, local), reverse=True)[1]
    parent = jnp.asarray(_parents(layout))

    def step(total: Array, i: Array) -> tuple[Array, None]:
        return total.at[parent[i]].add(down(T[i], total[i])), None

    total = jnp.concatenate([local, jnp.zeros((1, *local.shape[1:]))])
    total, _ = jax.lax.scan(step, total, jnp.arange(N - 1, -1, -1))
    return total[:N]
