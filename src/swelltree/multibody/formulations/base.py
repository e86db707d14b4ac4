r"""The interface of a formulation.

A formulation says how bodies move and how wrenches project:

.. math:: v = P s + v_t, \qquad
          M_s \dot s + b = P^\top w + J^\top \lambda, \qquad J \dot s = \gamma

Forces are always wrenches per body; a formulation knows nothing of them.
Solvers know a formulation only through the methods below.

Shared ground of the formulations that move bodies by joint coordinates.

q holds the coordinates of the tree joints (quaternions for ball and free
joints) and, behind them, the angles of cut joints. These are integrated like all
others, so that turns are not lost in long steps; after every step they are set to
what the poses say, give or take whole turns. s holds the tree velocities. Cut
joints and prescribed motions remain as constraint rows.

Shared ground of the formulations that keep the pose of every body.

q = positions (3N), quaternions (4N), and the angles of all single-axis joints,
which are integrated with the motion so that no turn is lost. Joints are constraint rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array, Tree, jax, jnp, namespace, pytree
from swelltree.model.capabilities import AT_REST, ChangesModel, HasWinches, having
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.multibody.build_layout import Rows, evaluate_rows
from swelltree.multibody.inertia import Inertia, apply_inertia, gyroscopic, world_inertia
from swelltree.multibody.kinematics import (
    Frames,
    Motion,
    Pose,
    dof_coordinates,
    dof_rates,
    forward,
    joint_frames,
    moved_positions,
    position_rates,
    tree_blocks,
    tree_velocities,
    velocity_matrix,
)
from swelltree.multibody.layout import DOFS, Layout, Row
from swelltree.spatial.linalg import constrained_solve, solve_blocks, solve_spd
from swelltree.spatial.rotations import (
    apply,
    gram,
    matrix_to_quat,
    normalise,
    quat_rate,
    quat_to_matrix,
    quat_velocity,
    transpose_apply,
    turn_quat,
)

LEAP = 0.03  # of the velocity: more than joints have to correct after a step
GROWN = 0.1  # slip of the joints over its correction, where it has grown by a singular loop
SLOW = 1e-6  # m/s, rad/s: what is slower than this is rest


@pytree()
class State:
    """Positions and velocities in a formulation's own coordinates."""

    q: Array  # positions
    s: Array  # independent velocities
    chart: Array  # choice of coordinates, where a formulation has one


@pytree()
class Phase:
    """State of motion and the work of each element since the start."""

    state: State
    work: Array  # (elements + drives,) J
    internal: Tree = AT_REST  # InternalState


@pytree()
class Kinematics:
    """Results that a formulation computes once per state."""

    motion: Motion
    inertia: Inertia
    P: Float[Array, "b6 n"]  # velocity transformation
    bias_acceleration: Float[Array, "b 6"]  # vdot = P sdot + bias_acceleration
    rows: Rows | None  # constraints left over, in body velocities
    extra: Tree  # a formulation's own


@pytree()
class Acceleration:
    """Solution of the equations of motion."""

    s_dot: Float[Array, "*c n"]
    v_dot: Float[Array, "*c b 6"]
    multipliers: Float[Array, "*c m"]  # of the formulation's rows


class Formulation(ABC):
    """Interface of the formulations; frozen and hashable."""

    name: ClassVar[str]
    keeps_rows: ClassVar[bool] = True  # rows are solved with multipliers, not eliminated

    @abstractmethod
    def velocity_names(self, model: Model) -> tuple[str, ...]:
        """Names of the velocities s: `joint__Dof` or `body__Dof`."""

    @abstractmethod
    def start(self, model: Model) -> State:
        """Assembled initial state."""

    @abstractmethod
    def kinematics(self, model: Model, t: Array, state: State) -> Kinematics:
        """Motion of all bodies and other terms of the equations of motion."""

    @abstractmethod
    def position_rate(self, model: Model, kin: Kinematics, state: State) -> Float[Array, " nq"]:
        """Rate of the positions q."""

    @abstractmethod
    def velocity_of(self, model: Model, state: State, rate: Float[Array, " nq"]) -> Array:
        """Velocities s for a rate of the positions: inverse of `position_rate`."""

    def flat_chart(self, model: Model) -> bool:
        """Whether velocities are the rates of a step of `retract`."""
        return False

    @abstractmethod
    def mass(self, model: Model, kin: Kinematics) -> Float[Array, "n n"]:
        """Mass matrix in the velocities s, added mass of all bodies included."""

    @abstractmethod
    def bias(self, model: Model, kin: Kinematics) -> Float[Array, " n"]:
        """Velocity-dependent inertia force in the velocities s."""

    @abstractmethod
    def project(
        self, model: Model, kin: Kinematics, wrench: Float[Array, "b 6"]
    ) -> Float[Array, " n"]:
        """Generalised force of body wrenches: P^T w."""

    @abstractmethod
    def retract(self, model: Model, state: State, step: Float[Array, " n"]) -> State:
        """State moved by a small step in the directions of the velocities s."""

    @abstractmethod
    def settle(self, model: Model, t: Array, state: State) -> State:
        """State projected onto its constraints after a step."""

    @abstractmethod
    def settling_matters(self, model: Model) -> bool:
        """Whether projection changes the accelerations (constraints), or only norms and turns."""

    @abstractmethod
    def rows(self, model: Model) -> tuple[Row, ...]:
        """The constraint rows whose multipliers `acceleration` returns."""

    @abstractmethod
    def open_rows(self, model: Model) -> tuple[Row, ...]:
        """All rows not satisfied identically by the coordinates, including redundant ones."""

    def condition(self, model: Model, kin: Kinematics, state: State) -> Array | None:
        """Error amplification of the chosen coordinates."""
        return None

    def constraint(self, kin: Kinematics) -> tuple[Array, Array, Array, Array]:
        """Residual, Jacobian in s, required velocity, required acceleration."""
        assert kin.rows is not None
        rows = kin.rows
        J = rows.jacobian @ kin.P
        gamma = rows.gamma - rows.jacobian @ kin.bias_acceleration.reshape(-1)
        return rows.residual, J, rows.velocity_rhs, gamma

    def closed(self, model: Model, t: Array, state: State) -> State:
        """State back on its constraint rows, in position and velocity.

        By the correction of least energy, twice: the second sees the corrected positions. Where a
        small slip would take a good part of the motion, the joints do not say how it goes on (a
        loop is singular there): the state is then not a number.
        """

        def correct(state: State, _: None) -> tuple[State, Array]:
            kin = self.kinematics(model, t, state)
            g, J, velocity_rhs, _ = self.constraint(kin)
            zero = jnp.zeros_like(state.s)
            M, _, free = with_locked_dofs(model, self.mass(model, kin), zero, J)
            slip = velocity_rhs - J @ state.s
            step, _ = constrained_solve(M, zero, free, -g, model.surplus)
            kick, _ = constrained_solve(M, zero, free, slip, model.surplus)
            moved = self.retract(model, state, step)
            size = jnp.sqrt((free * free).sum(1)) + 1e-300
            least = SLOW**2 * jnp.diag(M).max(initial=0.0)
            leaps = kick @ M @ kick > LEAP**2 * (state.s @ M @ state.s) + least
            slips = jnp.abs(slip / size).max(initial=0.0)
            grown = slips < GROWN * jnp.abs(kick).max(initial=0.0)
            return State(moved.q, state.s + kick, state.chart), leaps & grown

        result, lost = jax.lax.scan(correct, state, None, length=2)
        return State(result.q, jnp.where(lost.any(), jnp.nan, result.s), result.chart)

    def solved(self, model: Model, M: Float[Array, "n n"], f: Float[Array, " n"]) -> Array:
        return solve_spd(M, f)

    def acceleration(
        self, model: Model, kin: Kinematics, wrench: Float[Array, "b 6"]
    ) -> Acceleration:
        """Solve the equations of motion under the given body wrenches."""
        M = self.mass(model, kin)
        f = self.project(model, kin, wrench) - self.bias(model, kin)
        if kin.rows is None:
            M, f, _ = with_locked_dofs(model, M, f)
            s_dot, lam = self.solved(model, M, f), jnp.zeros(0)
        else:
            _, J, _, gamma = self.constraint(kin)
            s_dot, lam = constrained_solve(*with_locked_dofs(model, M, f, J), gamma, model.surplus)
        v_dot = apply(kin.P, s_dot).reshape(-1, 6) + kin.bias_acceleration
        return Acceleration(s_dot, v_dot, lam)


def with_locked_dofs(
    model: Model, M: Array, f: Array, J: Array | None = None
) -> tuple[Array, Array, Array]:
    """Mass matrix, force and constraints with locked DOFs held."""
    if model.locked is None:
        return M, f, J
    free = 1.0 - model.locked
    M = free[:, None] * M * free[None, :] + jnp.diag(model.locked)
    return M, free * f, None if J is None else J * free[None, :]


def cut_angles(layout: Layout) -> np.ndarray:
    """Positions in layout.angle_dofs of the angles of cut joints."""
    return np.array([i for i, k in enumerate(layout.angle_dofs) if k >= layout.n_tree], dtype=int)


def all_angles(layout: Layout, q: Float[Array, " nq"]) -> Float[Array, " a"]:
    """Values close to the angles of all single-axis rotations, to choose the turn."""
    nq = layout.n_positions
    tree = [layout.dof_position[k] for k in layout.angle_dofs if k < layout.n_tree]
    index = np.array(tree + list(range(nq, nq + len(cut_angles(layout)))), dtype=int)
    return q[index]


@dataclass(frozen=True)
class JointCoordinates(Formulation):
    """Tree coordinates with remaining constraint rows."""

    @abstractmethod
    def velocity_map(
        self, model: Model, state: State, pose: Pose, frames: Frames
    ) -> tuple[Array, Array, Array, Tree]:
        """P (6N, n), body velocities (N, 6), bias accelerations (N, 6), and what is kept."""

    def velocity_names(self, model: Model) -> tuple[str, ...]:
        return model.layout.dof_labels[: model.layout.n_tree]

    def rows(self, model: Model) -> tuple[Row, ...]:
        return model.cut_rows

    def open_rows(self, model: Model) -> tuple[Row, ...]:
        return model.layout.cut_rows

    def start(self, model: Model) -> State:
        layout = model.layout
        q, angles = model.start.q, model.start.angles[cut_angles(layout)]
        return State(namespace(q, angles).concatenate([q, angles]), model.start.s, ())

    def kinematics(self, model: Model, t: Array, state: State) -> Kinematics:
        layout = model.layout
        tree_q = state.q[: layout.n_positions]
        pose = forward(model, tree_q)
        frames = joint_frames(model, pose)
        P, v, bias, stored = self.velocity_map(model, state, pose, frames)
        # coordinates of tree joints are at hand; those of ball rotations are for results only
        padded = jnp.concatenate([tree_q, jnp.zeros(1)])
        coordinate, rate = padded[layout.dof_position], state.s
        if len(layout.dofs) > layout.n_tree:
            angles = all_angles(layout, state.q)
            result = dof_coordinates(model, frames, angles)[layout.n_tree :]
            coordinate = jnp.concatenate([coordinate, result])
            rate = jnp.concatenate([rate, dof_rates(model, pose, frames, v)[layout.n_tree :]])
        motion = Motion(pose, v, frames, coordinate, rate)
        rows = None
        if model.cut_rows:
            drives = drives_at(model.drives, t)
            angles = all_angles(layout, state.q)
            rows = evaluate_rows(model, model.cut_rows, pose, frames, v, angles, drives)
        return Kinematics(motion, world_inertia(model, pose), P, bias, rows, stored)

    def position_rate(self, model: Model, kin: Kinematics, state: State) -> Array:
        layout = model.layout
        rate = position_rates(layout, state.q, state.s)
        memory = cut_angles(layout)
        if not memory.size:
            return rate
        turning = kin.motion.rate[np.array(layout.angle_dofs)[memory]]
        return jnp.concatenate([rate[: layout.n_positions], turning])

    def flat_chart(self, model: Model) -> bool:
        return not model.layout.quaternions

    def velocity_of(self, model: Model, state: State, rate: Array) -> Array:
        return tree_velocities(model.layout, state.q, rate)

    def mass(self, model: Model, kin: Kinematics) -> Array:
        N, n = model.layout.n_bodies, kin.P.shape[1]
        MP = apply_inertia(kin.inertia, kin.P.reshape(N, 6, n)).reshape(6 * N, n)
        if model.added_mass is not None:
            MP = MP + model.added_mass @ kin.P
        return gram(kin.P, MP)

    def bias(self, model: Model, kin: Kinematics) -> Array:
        a = kin.bias_acceleration
        force = apply_inertia(kin.inertia, a[:, :, None])[:, :, 0]
        force = force + gyroscopic(kin.inertia, kin.motion.v)
        if model.added_mass is not None:
            force = force + (model.added_mass @ a.reshape(-1)).reshape(a.shape)
        return transpose_apply(kin.P, force.reshape(-1))

    def project(self, model: Model, kin: Kinematics, wrench: Array) -> Array:
        return transpose_apply(kin.P, wrench.reshape(-1))

    def solved(self, model: Model, M: Array, f: Array) -> Array:
        # without hydrodynamic coupling, parts of the tree do not feel each other
        if model.added_mass is None:
            return solve_blocks(M, f, model.layout.branches)
        return solve_spd(M, f)

    def retract(self, model: Model, state: State, step: Array) -> State:
        q = moved_positions(model.layout, state.q, step)
        return State(q, state.s, state.chart)

    def settling_matters(self, model: Model) -> bool:
        return bool(model.cut_rows)

    def settle(self, model: Model, t: Array, state: State) -> State:
        layout = model.layout
        if model.cut_rows:
            state = self.closed(model, t, state)
        q = state.q
        for _, first in layout.quaternions:
            q = q.at[first : first + 4].set(normalise(q[first : first + 4]))
        memory = cut_angles(layout)
        if memory.size:
            frames = joint_frames(model, forward(model, q[: layout.n_positions]))
            result = dof_coordinates(model, frames, all_angles(layout, q))
            dofs = np.array(layout.angle_dofs)[memory]
            q = q.at[layout.n_positions :].set(result[dofs])
        return State(q, state.s, state.chart)


def split(layout: Layout, q: Float[Array, " nq"]) -> tuple[Array, Array, Array]:
    """Positions (N, 3), quaternions (N, 4) and accumulated angles."""
    N = layout.n_bodies
    return q[: 3 * N].reshape(N, 3), q[3 * N : 7 * N].reshape(N, 4), q[7 * N :]


def join(p: Array, quat: Array, angles: Array) -> Array:
    return namespace(p, quat).concatenate([p.reshape(-1), quat.reshape(-1), angles])


@dataclass(frozen=True)
class AbsoluteCoordinates(Formulation):
    """Poses of all bodies with the joints as constraint rows."""

    def velocity_names(self, model: Model) -> tuple[str, ...]:
        return tuple(f"{body}__{dof}" for body in model.layout.bodies for dof in DOFS)

    def rows(self, model: Model) -> tuple[Row, ...]:
        return model.all_rows

    def open_rows(self, model: Model) -> tuple[Row, ...]:
        return model.layout.rows

    def start_poses(self, model: Model) -> tuple[Array, Array]:
        """Initial q and body velocities (6N,)."""
        winding = (e for e in having(model, HasWinches) if isinstance(e, ChangesModel))
        if any(effect.winches is not None for effect in winding):
            raise SwelltreeError(
                f"a winch on a multibody cable needs joint coordinates, not '{self.name}'. "
                "Give formulation='path_matrix' or 'composite_body'."
            )
        pose = forward(model, model.start.q)
        q = join(pose.p, matrix_to_quat(pose.R), model.start.angles)
        lin, rot = tree_blocks(model, pose, joint_frames(model, pose))
        return q, velocity_matrix(lin, rot) @ model.start.s

    def motion_and_rows(
        self, model: Model, t: Array, q: Array, v: Array
    ) -> tuple[Motion, Rows | None]:
        """Motion of everything, and the joint equations."""
        layout = model.layout
        p, quat, angles = split(layout, q)
        pose = Pose(p, quat_to_matrix(quat))
        frames = joint_frames(model, pose)
        coordinate = dof_coordinates(model, frames, angles)
        motion = Motion(pose, v, frames, coordinate, dof_rates(model, pose, frames, v))
        if not model.all_rows:
            return motion, None
        drives = drives_at(model.drives, t)
        return motion, evaluate_rows(model, model.all_rows, pose, frames, v, angles, drives)

    def position_rate(self, model: Model, kin: Kinematics, state: State) -> Array:
        layout, motion = model.layout, kin.motion
        _, quat, _ = split(layout, state.q)
        # angles are integrated, so that turns are not lost in long steps
        turning = motion.rate[np.array(layout.angle_dofs, dtype=int)]
        return join(motion.v[:, :3], quat_rate(quat, motion.v[:, 3:]), turning)

    def twists(self, model: Model, q: Array, rate: Array) -> Array:
        """Body velocities (6N,) of a rate of q: inverse of `position_rate`."""
        _, quat, _ = split(model.layout, q)
        p_rate, quat_rates, _ = split(model.layout, rate)
        w = quat_velocity(quat, quat_rates)
        return namespace(p_rate).concatenate([p_rate, w], axis=-1).reshape(-1)

    def moved(self, model: Model, q: Array, twist: Float[Array, "b 6"]) -> Array:
        """Poses displaced by a small twist of every body."""
        p, quat, angles = split(model.layout, q)
        return join(p + twist[:, :3], turn_quat(quat, twist[:, 3:]), angles)

    def remember_turns(self, model: Model, q: Array) -> Array:
        """Normalised quaternions and updated angles."""
        layout = model.layout
        p, quat, angles = split(layout, q)
        quat = normalise(quat)
        if layout.angle_dofs:
            frames = joint_frames(model, Pose(p, quat_to_matrix(quat)))
            result = dof_coordinates(model, frames, angles)
            angles = result[np.array(layout.angle_dofs)]
        return join(p, quat, angles)
