"""Where the bodies of a state are, and the state with bodies where they are described."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from swelltree.jit import Array, Points, jnp
from swelltree.model.model import Model
from swelltree.multibody.formulations.base import Formulation, State
from swelltree.multibody.kinematics import Pose
from swelltree.spatial.rotations import rotation_vector

STEPS = 20
NEAR = 1e-9  # m, rad


@functools.lru_cache(maxsize=32)
def placed(how: Formulation) -> Callable[[Model, State], tuple[Pose, Array]]:
    """Program for the poses of a state at time zero, and the velocity transformation there."""

    def place(model: Model, state: State) -> tuple[Pose, Array]:
        kin = how.kinematics(model, jnp.zeros(()), state)
        return kin.motion.pose, kin.P

    return Points(place)


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
