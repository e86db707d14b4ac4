"""Bodies brought to where they are described, from where a run starts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swelltree.jit import Array
from swelltree.model.model import Model
from swelltree.multibody.formulations.base import Formulation, State
from swelltree.multibody.kinematics import Pose
from swelltree.spatial.rotations import rotation_vector
from swelltree.studies.statics.placed import placed

STEPS = 20
NEAR = 1e-9  # m, rad


def as_described(
    model: Model,
    how: Formulation,
    state: State,
    mean: Pose,
    step_to: Callable[[Model, State, Array], State],
) -> State:
    """The state with all bodies at the poses that their data are of, as near as the joints allow.

    A run may start far from there, as that of a body dropped from the air does, where nothing
    shows which way its equilibrium lies. Gauss-Newton on the poses, by the velocity transformation.

    Args:
        model: compiled.
        how: the formulation.
        state: where to begin.
        mean: where the bodies are described.
        step_to: the state reached by a step, its joints closed.
    """
    place = placed(how)
    state = State(state.q, 0.0 * state.s, state.chart)
    for _ in range(STEPS):
        pose, P = place(model, state)
        turn = np.asarray(rotation_vector(np.asarray(mean.R) @ np.swapaxes(pose.R, 1, 2)))
        gap = np.concatenate([np.asarray(mean.p) - pose.p, turn], axis=1).reshape(-1)
        step = np.linalg.lstsq(P, gap, rcond=None)[0]
        if np.abs(step).max(initial=0.0) < NEAR:
            break
        state = step_to(model, state, step)
    return state
