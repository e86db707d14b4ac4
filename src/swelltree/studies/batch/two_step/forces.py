"""Forces at many poses by one program: the stiffness of each design of a batch needs dozens."""

from __future__ import annotations

import functools

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax
from swelltree.engine.machine.program import Program
from swelltree.engine.machine.ran import BY_LLVM
from swelltree.model.internal_state import InternalState
from swelltree.model.kinematics import Pose
from swelltree.model.model import Model
from swelltree.two_step.start import wrench_at, wrenches_one_by_one


def compiled_wrenches(
    model: Model, poses: Pose, v: np.ndarray, angles: np.ndarray, internal: InternalState
) -> np.ndarray:
    """Forces at many poses (k, 6N) in native code; in numpy where there is none."""
    args = model, poses, v, angles, internal
    if _program().engine(*args) != BY_LLVM:
        return wrenches_one_by_one(*args)
    return _program()(*args)["wrench"]


@functools.lru_cache(maxsize=1)
def _program() -> Program:
    def wrenches(
        model: Model, poses: Pose, v: Array, angles: Array, internal: InternalState
    ) -> dict[str, Array]:
        def one(x: tuple[Pose, Array]) -> Array:
            return wrench_at(model, *x, angles, internal)

        return {"wrench": jax.lax.map(one, (poses, v))}

    return Program(wrenches)
