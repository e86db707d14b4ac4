"""Motions without mass, whose acceleration nothing determines."""

from __future__ import annotations

import numpy as np

from swelltree.compiler.closure import Closure
from swelltree.model.checks.rank import RANK, null_space
from swelltree.model.inertia import dense_inertia, world_inertia
from swelltree.model.kinematics import forward, joint_frames
from swelltree.model.model import Model
from swelltree.model.tree import tree_blocks, velocity_matrix
from swelltree.system.errors import SwelltreeError


def check_mass(model: Model, q: np.ndarray, closure: Closure) -> np.ndarray:
    """Every free motion must move some mass; returns these motions (n, f)."""
    layout = model.layout
    pose = forward(model, q)
    lin, rot = tree_blocks(model, pose, joint_frames(model, pose))
    P = velocity_matrix(lin, rot)
    M = P.T @ dense_inertia(model, world_inertia(model, pose)) @ P
    free = null_space(closure.jacobian(q)) if layout.cut_rows else np.eye(layout.n_tree)
    if model.locked is not None:
        free = _unlocked(free, np.asarray(model.locked))
    if free.shape[1] == 0:
        return free
    scale = np.sqrt(np.maximum(np.diag(M), 1e-300 + 1e-14 * np.abs(M).max()))
    reduced = free.T @ (M / np.outer(scale, scale)) @ free
    value, vector = np.linalg.eigh(reduced)
    if value[0] < 1e-13 * max(value[-1], 1e-300) or not value[-1] > 0:
        k = int(np.abs(free @ vector[:, 0]).argmax())
        dof = layout.dofs[k]
        raise SwelltreeError(
            f"joint '{layout.joints[dof.joint]}': {dof.label} moves no mass, so its acceleration "
            f"is undetermined. Give body '{layout.bodies[dof.joint]}' mass or inertia, "
            "or hold that motion."
        )
    return free


def _unlocked(free: np.ndarray, locked: np.ndarray) -> np.ndarray:
    """Free motions in which locked DOFs rest."""
    _, size, Vt = np.linalg.svd(free[locked > 0.5])
    return free @ Vt[int((size > RANK).sum()) :].T
