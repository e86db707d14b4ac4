"""Where the bodies of a state are: one program for all models of a layout."""

from __future__ import annotations

import functools
from collections.abc import Callable

from swelltree.jit import Array, jnp, point_program
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation, State
from swelltree.multibody.kinematics import Pose


@functools.lru_cache(maxsize=32)
def placed(how: Formulation) -> Callable[[Model, State], tuple[Pose, Array]]:
    """Program for the poses of a state at time zero, and the velocity transformation there."""

    def place(model: Model, state: State) -> tuple[Pose, Array]:
        kin = how.kinematics(model, jnp.zeros(()), state)
        return kin.motion.pose, kin.P

    return point_program(place)
