r"""Splitting and merging the first element of a cable on a winch: positions and velocities.

Split: the new node lies on the element at equal strain; its velocity is interpolated by rest
length between that of the rope at the drum and that of the lower node. Tension and damping stay
as they are. Merge: the first node goes onto the drum; what its momentum is more than that of the
rope at the drum goes to the node below, so that a merge undoes a split. Velocities of the joints
follow from those of the bodies by

.. math:: M_s s = P^\top M v

which keeps the momentum of everything that is joined. The change of energy is accounted for.
"""

from __future__ import annotations

import numpy as np

from swelltree.jit import Array, jnp
from swelltree.model.capabilities import InternalState, present
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.model.solved import element_names, total_loads
from swelltree.mooring.cable.cable_winch import IDLE, LOST, SLIP, Drums, first_rest
from swelltree.mooring.cable.cables import Cables, cables_of
from swelltree.multibody.formulations.base import Formulation, Phase, State, with_locked_dofs
from swelltree.multibody.inertia import inertia_force, kinetic_energy
from swelltree.multibody.kinematics import Motion, Pose, joint_frames, point_motion
from swelltree.multibody.layout import Layout
from swelltree.spatial.linalg import constrained_solve, solve_spd
from swelltree.spatial.rotations import cross, dot, matmul, matrix_to_quat, matvec, transpose

KIND = "cables"


def reeled(model: Model, how: Formulation, t: Array, before: Phase, after: Phase) -> Phase:
    """The phase on the elements it goes on with.

    Args:
        model: compiled.
        how: the formulation.
        t: time [s].
        before: the phase before the events.
        after: the same with the number of idle elements after them.
    """
    group = cables_of(model)
    if group is None or group.drums is None:
        return after
    drums: Drums = group.drums
    x0, x1 = before.internal.elements[KIND], after.internal.elements[KIND]
    old = present(model, before.internal)
    kin = how.kinematics(old, t, before.state)
    pose, v = kin.motion.pose, kin.motion.v
    speed = group.speeds(model, Instant(t, kin.motion, before.internal))
    for w in range(len(drums.reels)):
        pose, v = _regridded(model, group, kin.motion, (pose, v), x0, x1, speed[w], w)
    q = _positions(model, drums, before.state.q, pose)
    new = present(model, after.internal)
    s = _velocities(new, how, t, State(q, 0.0 * before.state.s, before.state.chart), v)
    state = State(q, s, before.state.chart)
    # the total loss, assigned to the winches that acted
    energy0, momentum0 = _sums(old, how, t, before.state, before.internal, group, speed)
    energy1, momentum1 = _sums(new, how, t, state, after.internal, group, speed)
    acted = jnp.abs(x1[:, IDLE] - x0[:, IDLE])
    share = acted / jnp.maximum(acted.sum(), 1.0)
    lost = share * (energy0 - energy1)
    x1 = x1.at[:, LOST].add(lost).at[:, SLIP].add(share[:, None] * (momentum0 - momentum1))
    names = element_names(model)
    place = np.array([names.index(f"winch {name}") for name in drums.winches.names])
    work = after.work.at[place].add(-lost)
    elements = after.internal.elements | {KIND: x1}
    return Phase(state, work, InternalState(after.internal.radiation, elements))


def _regridded(
    model: Model,
    group: Cables,
    motion: Motion,
    result: tuple[Pose, Array],
    x0: Array,
    x1: Array,
    speed: Array,
    w: int,
) -> tuple[Pose, Array]:
    """Poses and velocities of all bodies after the regridding event of one winch."""
    drums: Drums = group.drums
    reel = drums.reels[w]
    pose, v = result
    nodes = np.array(reel.nodes[1:], dtype=int)
    n, bodies = len(nodes), np.arange(model.layout.n_bodies)
    k = x0[w, IDLE]
    split = x1[w, IDLE] < k - 0.5
    merge = x1[w, IDLE] > k + 0.5
    tip = point_motion(
        motion, np.array([group.body_A[reel.elements[0]]]), group.point_A[reel.elements[0]][None]
    )
    p_A, v_A = tip.position[0], tip.velocity[0]
    number = np.arange(1, n + 1)

    def pick(values: Array, j: Array) -> Array:
        hit = jnp.where(abs(number - j) < 0.5, 1.0, 0.0)
        return (hit.reshape(-1, *(1,) * (values.ndim - 1)) * values).sum(0)

    p, R, u = motion.pose.p[nodes], motion.pose.R[nodes], motion.v[nodes, :3]
    rest = group.elements.rest_length
    first = first_rest(drums, rest, x0, w)
    full = drums.winches.segment[w]

    # split: node k comes off the drum, on the element between A and node k + 1
    below, u_below = pick(p, k + 1), pick(u, k + 1)
    down = below - p_A
    down = down / jnp.sqrt(dot(down, down))
    share = (first - full) / first
    at_drum = v_A + speed * down
    p_new = p_A + share * (below - p_A)
    u_new = at_drum + share * (u_below - at_drum)
    R_new = pick(R, k + 1)

    # merge: node k + 1 goes onto the drum, node k + 2 turns towards A and takes momentum over
    mass = jnp.asarray(present(model, _with(x0)).bodies.mass)[nodes]
    third, z = pick(p, k + 2), pick(R, k + 2)[:, 2]
    up = p_A - third
    up = up / jnp.sqrt(dot(up, up))
    R_turned = matmul(_between(z, up), pick(R, k + 2))
    segment_mass, half = pick(mass, k + 2), 0.5 * drums.per_length[w]
    full_next = pick(rest[np.array(reel.elements)], k + 2)
    to_drum, taken = half * full_next, half * first
    specified = (to_drum + taken) * u_below + taken * at_drum
    specified = specified - (to_drum + taken) * (v_A - speed * up)
    u_third = (segment_mass * pick(u, k + 2) + specified) / (segment_mass + taken)

    for j, on, changed in (
        (k, split, (p_new, R_new, u_new)),
        (k + 1, merge, (p_A, pick(R, k + 1), v_A)),
        (k + 2, merge, (third, R_turned, u_third)),
    ):
        hit = abs(number - j) < 0.5
        at = ((bodies[:, None] == nodes[None, :]) * jnp.where(hit & on, 1.0, 0.0)).sum(1)
        at3 = at[:, None]
        place = pose.p + at3 * (changed[0] - pose.p)
        turned = pose.R + at3[:, :, None] * (changed[1] - pose.R)
        linear = v[:, :3] + at3 * (changed[2] - v[:, :3])
        pose, v = Pose(place, turned), jnp.concatenate([linear, v[:, 3:]], -1)
    return pose, v


def _with(x: Array) -> InternalState:
    return InternalState((), {KIND: x})


def _between(a: Array, b: Array) -> Array:
    """Smallest rotation that turns unit vector a into b; they are not opposite."""
    c = cross(a, b)
    K = jnp.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
    return jnp.eye(3) + K + matmul(K, K) / (1.0 + dot(a, b))


def _chain_joints(layout: Layout, drums: Drums) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quaternion joints at nodes of reels: joint, first position of the quaternion, of Heave."""
    nodes = {body for reel in drums.reels for body in reel.nodes[1:]}
    rows = []
    for joint, first in layout.quaternions:
        if layout.base[joint] in nodes or layout.follower[joint] in nodes:
            slides = [
                int(layout.dof_position[k])
                for k, d in enumerate(layout.dofs[: layout.n_tree])
                if d.joint == joint and not d.turns and d.axis == 2
            ]
            rows.append((joint, first, slides[0] if len(slides) == 1 else -1))
    result = np.array(rows, dtype=int).reshape(-1, 3)
    return result[:, 0], result[:, 1], result[:, 2]


def _positions(model: Model, drums: Drums, q: Array, pose: Pose) -> Array:
    """Joint coordinates of the cables at these poses."""
    joints, first, heave = _chain_joints(model.layout, drums)
    frames = joint_frames(model, pose)
    base = frames.base_R[joints]
    quats = matrix_to_quat(matmul(transpose(base), frames.follower_R[joints]))
    q = q.at[first[:, None] + np.arange(4)].set(quats)
    gap = matvec(transpose(base), (frames.follower_o - frames.base_o)[joints])
    slides = heave >= 0
    return q.at[heave[slides]].set(gap[slides, 2])


def _velocities(model: Model, how: Formulation, t: Array, state: State, v: Array) -> Array:
    """Joint velocities with the momentum of these body velocities."""
    kin = how.kinematics(model, t, state)
    still = 0.0 * v
    momentum = inertia_force(model, kin.inertia, v, still)
    M, f = how.mass(model, kin), how.project(model, kin, momentum)
    if kin.rows is None:
        M, f, _ = with_locked_dofs(model, M, f)
        return solve_spd(M, f)
    _, J, velocity_rhs, _ = how.constraint(kin)
    return constrained_solve(*with_locked_dofs(model, M, f, J), velocity_rhs, model.surplus)[0]


def _sums(
    model: Model,
    how: Formulation,
    t: Array,
    state: State,
    internal: InternalState,
    group: Cables,
    speed: Array,
) -> tuple[Array, Array]:
    """Energy of the system [J], and its momentum with the rope at the drum [N s]."""
    kin = how.kinematics(model, t, state)
    v = kin.motion.v
    energy = kinetic_energy(model, kin.inertia, v).sum()
    energy = energy + total_loads(model, t, kin.motion, internal).potential.sum()
    momentum = (kin.inertia.mass[:, None] * v[:, :3]).sum(0)
    return energy, momentum + group.rope_at_drums(kin.motion, internal, speed)
