"""Shared ground of the formulations that move bodies by joint coordinates.

q holds the coordinates of the tree joints (quaternions for ball and free
joints) and, behind them, the angles of cut joints. These are integrated like all
others, so that turns are not lost in long steps; after every step they are set to
what the poses say, give or take whole turns. s holds the tree velocities. Cut
joints and prescribed motions remain as constraint rows.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, Tree, jnp, namespace
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.multibody.constraints import evaluate_rows
from swelltree.multibody.formulations.base import Formulation, Kinematics, State
from swelltree.multibody.inertia import apply_inertia, gyroscopic, world_inertia
from swelltree.multibody.kinematics import (
    Frames,
    Motion,
    Pose,
    dof_coordinates,
    dof_rates,
    forward,
    joint_frames,
)
from swelltree.multibody.layout import Layout, Row
from swelltree.multibody.tree import moved_positions, position_rates, tree_velocities
from swelltree.spatial.linalg import solve_blocks, solve_spd
from swelltree.spatial.rotations import gram, normalise, transpose_apply


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
