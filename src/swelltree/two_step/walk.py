"""What the two-step scheme remembers from step to step, and its constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from swelltree.model.kinematics import Pose
from swelltree.model.layout import Row
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, pytree


@pytree()
class LineWalk:
    """Lines and junctions between steps."""

    q: Array  # (line, node, 3) positions now
    q_last: Array  # (line, node, 3) positions one step ago
    mu: Array  # (line, segment) multipliers of the last step
    nu: Array  # (line, node) forces of the bed
    y: Array  # (junction, 3)
    y_last: Array  # (junction, 3)


@pytree()
class Walk:
    """Everything a step starts from, and all a checkpoint needs to hold."""

    t: Array  # s
    pose: Pose
    v_minus: Array  # (N, 6) velocity of the half step before
    q: Array  # tree coordinates, where the scheme uses them; else empty
    angles: Array  # remembered single-axis angles
    chi: Array  # radiation memory half a step ago
    elements: Any  # {kind: states} of force groups now
    element_rates: Any  # their rates one step ago
    work: Array  # (terms,) J
    lam: Array  # (m,) multipliers of the last step
    contact: Array  # (k,) contact forces of the last step
    lines: Any  # LineWalk, or None


@pytree()
class Setup:
    """Constants of a run with a given step."""

    h: Array  # s
    theta: Array  # 1/2, or 1 for steps that must not fail
    coupled: Any  # (6N, 6N) added mass plus beta h^2 stiffness, or None
    damping: Array  # (6N, 6N) derivative of the forces by velocity, sign reversed
    memory: Any  # (X, h/2 X B, C) of the radiation memory, or None
    scale: Array  # (unknowns,) h^2 over the inertia of each row
    lam_scale: Array  # N per unit of the scaled multipliers


@dataclass(frozen=True)
class Form:
    """Choice of coordinates and equations; hashable.

    Args:
        joint_coordinates: tree coordinates with the discrete path matrix, or the poses of all
            bodies with multipliers.
        rows: the joint equations kept as rows.
        max_iterations: of Newton's method in one step.
        tolerance: largest residual [m, rad].
    """

    joint_coordinates: bool
    rows: tuple[Row, ...]
    max_iterations: int = 40
    tolerance: float = 1e-9


def form_of(model: Model, formulation: str) -> Form:
    """The form that stands for a formulation."""
    joint = formulation != "lagrange"
    return Form(joint, model.cut_rows if joint else model.all_rows)
