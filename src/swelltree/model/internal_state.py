"""States besides the motion: radiation memory, and states of force elements.

Elements keep what they remember here: the volume of an accumulator, the mean yaw of a body, the
mode of a latch. Every state has a rate; one that only changes at events has the rate zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.model.capabilities import (
    ChangesModel,
    HasEquilibriumStates,
    HasRadiation,
    HasStates,
    having,
)
from swelltree.model.effect import Instant, InternalState
from swelltree.model.model import Model

if TYPE_CHECKING:
    from swelltree.multibody.kinematics import Pose


AT_REST = InternalState()


def internal_at_rest(model: Model) -> InternalState:
    """Initial internal states."""
    starts = {effect.kind: effect.internal_start() for effect in having(model, HasStates)}
    elements = {kind: x for kind, x in starts.items() if x.size}
    memory = (e.memory.start() for e in having(model, HasRadiation) if e.memory is not None)
    return InternalState(next(memory, ()), elements)


def internal_settled(model: Model, internal: InternalState, pose: Pose) -> InternalState:
    """Internal states with those that follow the poses of bodies at their equilibrium values."""
    rested = {
        group.kind: group.equilibrium_states(internal.elements[group.kind], pose)
        for group in having(model, HasEquilibriumStates)
        if group.kind in internal.elements
    }
    return InternalState(internal.radiation, internal.elements | rested)


def internal_rate(model: Model, now: Instant) -> InternalState:
    internal = now.internal
    rates = {
        effect.kind: effect.internal_rate(model, now)
        for effect in having(model, HasStates)
        if effect.kind in internal.elements
    }
    remember = (e for e in having(model, HasRadiation) if e.memory is not None)
    memory = next((effect.radiation_rate(now) for effect in remember), internal.radiation)
    return InternalState(memory, rates)


# --- The model as it is now: what follows from internal states, such as the rope that is out


def present(model: Model, internal: InternalState) -> Model:
    """The model with masses, added masses and locked DOFs according to internal states."""
    for effect in having(model, ChangesModel):
        model = effect.apply_states(model, internal)
    return model
