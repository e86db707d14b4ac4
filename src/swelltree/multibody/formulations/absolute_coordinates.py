"""Shared ground of the formulations that keep the pose of every body.

q = positions (3N), quaternions (4N), and the angles of all single-axis joints,
which are integrated with the motion so that no turn is lost. Joints are constraint rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array, namespace
from swelltree.model.capabilities import ChangesModel, HasWinches, having
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.multibody.constraints import Rows, evaluate_rows
from swelltree.multibody.formulations.base import Formulation, Kinematics, State
from swelltree.multibody.kinematics import (
    Motion,
    Pose,
    dof_coordinates,
    dof_rates,
    forward,
    joint_frames,
)
from swelltree.multibody.layout import DOFS, Layout, Row
from swelltree.multibody.tree import tree_blocks, velocity_matrix
from swelltree.spatial.rotations import (
    matrix_to_quat,
    normalise,
    quat_rate,
    quat_to_matrix,
    quat_velocity,
    turn_quat,
)


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
