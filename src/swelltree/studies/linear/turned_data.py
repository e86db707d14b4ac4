r"""Hydro data in the axes of the yaw at which bodies rest.

With `frame="yaw"` data follow the mean yaw psi of every body, and at rest that is the body's own.
With T the rotation by it,

.. math:: A_w = T A T^\top, \qquad F_w(\beta) = T F(\beta - \psi)

as runs in time have them. Data in fixed axes stay as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.effects.linear_hydro.data import Memory, Table
from swelltree.effects.linear_hydro.frame import (
    FollowingFrame,
    columns_in_axes,
    turned_matrix,
    turned_six,
    yaw,
)
from swelltree.effects.linear_hydro.headings import heading_weights
from swelltree.formulations.base import Formulation, State
from swelltree.model.model import Model

UNTURNED = 1e-9  # rad


def yaw_at_rest(model: Model, how: Formulation, state: State) -> np.ndarray | None:
    """Mean yaw of every body at a state of rest (N,), None where data do not turn."""
    frame = model.effect(FollowingFrame)
    if frame is None:
        return None
    pose = how.kinematics(model, np.zeros(()), state).motion.pose
    psi = np.asarray(yaw(frame.mean, pose))
    return psi if np.abs(psi).max(initial=0.0) > UNTURNED else None


def turned_to_rest(model: Model, how: Formulation, state: State) -> Model:
    """The model with added mass, damping, memory and data in the axes of its rest.

    Args:
        model: compiled; its frames are not asked any more.
        how: the formulation.
        state: of rest.
    """
    psi, hydro = yaw_at_rest(model, how, state), model.hydro
    if psi is None or hydro is None:
        return model
    memory = hydro.memory
    if isinstance(memory, Memory):
        B = columns_in_axes(-psi, np.asarray(memory.B).T).T
        memory = replace(memory, B=B, C=columns_in_axes(-psi, np.asarray(memory.C)))
    damping = turned_matrix(psi, np.asarray(hydro.damping))
    table = None if hydro.table is None else turned_table(hydro.table, psi)
    added = turned_matrix(psi, np.asarray(model.added_mass))
    turned = replace(hydro, memory=memory, damping=damping, table=table)
    return model.with_effect(turned).replace(added_mass=added)


def in_axes_of_rest(model: Model, how: Formulation, state: State, parts: Any) -> Any:
    """Accelerations per wrench and velocities of bodies in the axes of their data at rest.

    Turning what data are multiplied with is the same as turning them, and works inside `jit` too.

    Args:
        model: compiled.
        how: the formulation.
        state: of rest.
        parts: K, C, J, T of `own_frequency`, in world axes.
    """
    frame = model.effect(FollowingFrame)
    if frame is None:
        return parts
    K, C, J, T = parts
    psi = yaw(frame.mean, how.kinematics(model, np.zeros(()), state).motion.pose)
    return K, C, columns_in_axes(psi, J.T).T, columns_in_axes(psi, T)


def turned_table(table: Table, psi: np.ndarray) -> Table:
    """Data of bodies that are turned by their yaw; headings turn with the first body."""
    A, B = (
        np.stack([turned_matrix(psi, x) for x in np.asarray(data)])
        for data in (table.added_mass, table.radiation_damping)
    )
    direction = np.asarray(table.direction) + psi[0]
    infinite = turned_matrix(psi, np.asarray(table.added_mass_inf))
    F = _turned_excitation(table, psi, direction)
    return replace(
        table,
        direction=direction,
        added_mass=A,
        radiation_damping=B,
        added_mass_inf=infinite,
        excitation=F,
    )


def _turned_excitation(table: Table, psi: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Excitation at headings of the world in its axes (f, d, 6N), the crest at each body."""
    own = np.asarray(table.excitation)
    f, d, _ = own.shape
    own = own.reshape(f, d, -1, 6)
    out = np.empty_like(own)
    for i, angle in enumerate(psi):
        weights = heading_weights(np.asarray(table.direction), direction - angle)
        seen = np.einsum("ed,fdm->fem", weights, own[:, :, i])
        out[:, :, i] = turned_six(np.full(f * d, angle), seen.reshape(-1, 6)).reshape(f, d, 6)
    return out.reshape(f, d, -1)
