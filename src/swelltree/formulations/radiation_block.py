"""The radiation memory of a phase as the linear block of its equations of motion."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from swelltree.effects.linear_hydro.radiation import GivenMemoryForce, fitted_memory
from swelltree.engine.arrays import Array
from swelltree.formulations.base import Phase
from swelltree.model.model import Model
from swelltree.spatial.linear_steps import Ports

if TYPE_CHECKING:
    from swelltree.spatial.linear_steps import ExactStages


def memory_of(y: Phase) -> Array:
    """States of the radiation memory, or their rates."""
    return y.internal.radiation


def with_memory(y: Phase, chi: Array) -> Phase:
    """The phase with other states of the radiation memory."""
    return replace(y, internal=replace(y.internal, radiation=chi))


def exact_stages_of(model: Model) -> ExactStages | None:
    """Stages of a fixed step, where the model was prepared for one (`with_exact_memory`)."""
    memory = fitted_memory(model)
    return None if memory is None else memory.exact


def ports_of(model: Model) -> Ports | None:
    """The memory as forces and velocities see it in the stages of such a step."""
    hydro, memory = model.hydro, fitted_memory(model)
    if hydro is None or memory is None or memory.ports is None:
        return None
    given = GivenMemoryForce(memory.B.shape[1], memory.ports.active)
    return Ports(model.with_effect(replace(hydro, memory=given)), memory.ports)


def matrix_of(model: Model) -> Array | None:
    """A of the radiation memory, or None where it has no states."""
    memory = fitted_memory(model)
    return None if memory is None else memory.A


def partners_of(model: Model) -> tuple[int, ...] | None:
    """The other state of each oscillator of the memory; None where it is not made of such."""
    memory = fitted_memory(model)
    return None if memory is None else memory.partner
