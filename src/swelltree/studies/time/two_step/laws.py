"""A law that has no number where a run by the two-step scheme stopped."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swelltree.effects.controllers.missing_numbers import not_finite
from swelltree.engine.backend import jnp
from swelltree.model.effect import Now
from swelltree.model.internal_state import InternalState
from swelltree.model.kinematics import Pose
from swelltree.model.model import Model
from swelltree.spatial.vectors import matmul
from swelltree.two_step.cayley import cayley
from swelltree.two_step.start import motion_at
from swelltree.two_step.state import StepperState

PROBES = 12  # places on the way into a failed step
FARTHEST = 4.0  # steps


def law_without_number(model: Model, last: StepperState, step: float) -> str:
    """The message about it; empty: none is found.

    Args:
        model: that was run.
        last: the last good state.
        step: of the run [s].
    """
    return not_finite(model, _moments(model, last, step))


def _moments(model: Model, last: StepperState, step: float) -> Iterator[Now]:
    """The last good state and where the bodies were going from there, the nearest first."""
    v, p, R = (np.asarray(x) for x in (last.v_minus, last.pose.p, last.pose.R))
    internal = InternalState(last.chi, last.elements)
    for h in (0.0, *np.geomspace(1e-3 * step, FARTHEST * step, PROBES)):
        pose = Pose(p + h * v[:, :3], matmul(np.asarray(cayley(0.5 * h * v[:, 3:])), R))
        yield Now(
            jnp.asarray(last.t) + h, motion_at(model, pose, v, np.asarray(last.angles)), internal
        )
