"""Loops at their start: their equations at trial coordinates, and Newton's way to close them."""

from __future__ import annotations

import numpy as np

from swelltree.model.checks.rank import smallest_step, term_size
from swelltree.model.constraints import Rows, evaluate_rows
from swelltree.model.kinematics import forward, joint_frames
from swelltree.model.layout import Row
from swelltree.model.model import Model
from swelltree.model.rows import Drives
from swelltree.model.tree import moved_positions, tree_blocks, velocity_matrix
from swelltree.spatial.rotations import rotation_vector

CLOSED = 1e-12  # residual of an assembled loop, m or rad


class Closure:
    """The loop and drive equations of a model at its start.

    Args:
        model: compiled.
        drives: prescribed motions now, followed by the values of `extra`.
        angles: nearby values of the single-axis angles.
        extra: further equations of the start: coordinates of cut joints that were given.
        attitudes: attitude asked of ball and free joints among these.
    """

    def __init__(
        self,
        model: Model,
        drives: Drives,
        angles: np.ndarray,
        extra: tuple[Row, ...] = (),
        attitudes: dict[int, np.ndarray] | None = None,
    ) -> None:
        self.model, self.drives, self.angles = model, drives, angles
        self.rows: tuple[Row, ...] = (*model.layout.cut_rows, *extra)
        self.attitudes = attitudes or {}

    def at(self, q: np.ndarray) -> tuple[Rows, np.ndarray, np.ndarray]:
        """Rows, their sizes, and their Jacobian in the tree velocities divided by these."""
        pose = forward(self.model, q)
        frames = joint_frames(self.model, pose)
        P = velocity_matrix(*tree_blocks(self.model, pose, frames))
        still = np.zeros((self.model.layout.n_bodies, 6))
        rows = evaluate_rows(self.model, self.rows, pose, frames, still, self.angles, self.drives)
        for i in range(len(self.model.layout.cut_rows), len(self.rows)):
            row = self.rows[i]
            if row.of_rates:
                rows.velocity_rhs[i] = self.drives.rate[row.j]
                R = frames.base_R[row.joint].T @ frames.follower_R[row.joint]
                asked: np.ndarray = self.attitudes.get(row.joint, np.asarray(R))
                rows.residual[i] = rotation_vector(R @ asked.T)[row.i]
        size = term_size(rows.jacobian, P)
        return rows, size, rows.jacobian @ P / size[:, None]

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """The last of these, for questions of rank."""
        return self.at(q)[2]

    def close(self, q: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, float]:
        """Newton on the free tree velocities' directions; returns q and the residual left."""
        for _ in range(60):
            rows, size, J = self.at(q)
            worst = float(np.abs(rows.residual).max(initial=0.0))
            if worst < CLOSED or not free.any():
                break
            step = np.zeros(J.shape[1])
            step[free] = smallest_step(J[:, free], -rows.residual / size)
            # large first steps are cut so that Newton stays in the described branch
            q = moved_positions(self.model.layout, q, step / max(1.0, np.abs(step).max() / 0.3))
        rows, _, _ = self.at(q)
        return q, float(np.abs(rows.residual).max(initial=0.0))
