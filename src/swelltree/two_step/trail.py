"""Motions on the way to equilibrium, and where they lead.

Where each motion is the same fraction r of the one before, r / (1 - r) of the last are left
(Aitken).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.model.kinematics import Pose
from swelltree.spatial.rotations import about_axis, rotation_vector
from swelltree.two_step.state import Form, StepperState

SLOW, STEADY = 0.1, 0.98  # of the motion before: what moves less or more comes to rest soon, never
ALIKE = 1e-2  # difference of two motions, of their size, that lead the same way
LEAP = 0.1  # m, rad that are gone at once, at most


class Trail:
    """The last motions: what they lead to is gone to at once.

    Args:
        open: steps may be longer than usual: none of those failed.
    """

    def __init__(self, open: bool = True) -> None:
        self.open = open
        self.last: np.ndarray | None = None
        self.size = 0.0

    def take(
        self, form: Form, state: StepperState, after: StepperState
    ) -> tuple[StepperState, bool]:
        """Where the next step begins, and whether all comes to rest slowly.

        Args:
            form: coordinates.
            state: before a step.
            after: after it.
        """
        motion = _motion(state, after)
        before, self.size = self.size, float(np.linalg.norm(motion))
        slow = SLOW * before < self.size < STEADY * before
        winds = state.lines is not None and state.lines.winch is not None
        if form.joint_coordinates or winds:
            return after, slow
        last, self.last = self.last, motion
        if last is None or not slow:
            return after, slow
        share = float(motion @ last) / max(float(last @ last), 1e-300)
        apart = np.linalg.norm(motion - share * last)
        if not SLOW < share < STEADY or apart > ALIKE * self.size:
            return after, slow
        self.last = None
        leap = LEAP / max(float(np.abs(motion).max()), 1e-300)
        return _ahead(after, motion, min(share / (1.0 - share), leap)), slow


def _motion(a: StepperState, b: StepperState) -> np.ndarray:
    """How bodies moved and turned, and lines and junctions moved, between two states."""
    turned = np.asarray(b.pose.R) @ np.swapaxes(np.asarray(a.pose.R), 1, 2)
    parts = [np.asarray(b.pose.p) - np.asarray(a.pose.p), np.asarray(rotation_vector(turned))]
    if a.lines is not None:
        parts += [np.asarray(b.lines.q) - np.asarray(a.lines.q)]
        parts += [np.asarray(b.lines.y) - np.asarray(a.lines.y)]
    return np.concatenate([part.reshape(-1) for part in parts])


def _ahead(state: StepperState, motion: np.ndarray, times: float) -> StepperState:
    """A state after a motion, some times further on."""
    n, motion = state.pose.p.size, times * motion
    p = np.asarray(state.pose.p) + motion[:n].reshape(-1, 3)
    turn = motion[n : 2 * n].reshape(-1, 3)
    angle = np.linalg.norm(turn, axis=1)
    axis = turn / np.where(angle > 0.0, angle, 1.0)[:, None]
    R = about_axis(axis, angle) @ np.asarray(state.pose.R)
    lines = state.lines
    if lines is not None:
        m = 2 * n + lines.q.size
        q = np.asarray(lines.q) + motion[2 * n : m].reshape(lines.q.shape)
        lines = replace(lines, q=q, y=np.asarray(lines.y) + motion[m:].reshape(lines.y.shape))
    return replace(state, pose=Pose(p, R), lines=lines)
