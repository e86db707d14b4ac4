"""States besides the motion: radiation memory, and states of force elements.

Elements keep what they remember here: the volume of an accumulator, the mean yaw of a body, the
mode of a latch. Every state has a rate; one that only changes at events has the rate zero.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from swelltree.jit import Array, Tree, pytree
from swelltree.model.model import Model

if TYPE_CHECKING:
    from swelltree.model.effect import Instant
    from swelltree.multibody.kinematics import Pose


@pytree()
class InternalState:
    """Internal states of a system."""

    radiation: Tree = ()  # radiation memory: chi, a record of velocities, or nothing
    elements: dict[str, Array] = field(
        default_factory=dict
    )  # {kind: states} of the effects that have any


AT_REST = InternalState()


def internal_at_rest(model: Model) -> InternalState:
    """Internal states before any motion."""
    starts = {effect.kind: effect.internal_start() for effect in model.effects}
    elements: dict[str, Array] = {kind: x for kind, x in starts.items() if x is not None}
    memory = (effect.radiation_start() for effect in model.effects)
    return InternalState(next((x for x in memory if x is not None), ()), elements)


def internal_settled(model: Model, internal: InternalState, pose: Pose) -> InternalState:
    """Internal states with those that follow the places of bodies as after a long rest there."""
    rested = {
        group.kind: group.internal_settled(internal.elements[group.kind], pose)
        for group in model.effects
        if group.kind in internal.elements
    }
    return InternalState(internal.radiation, rested)


def internal_rate(model: Model, now: Instant) -> InternalState:
    """Rates of all internal states."""
    internal = now.internal
    rates = {
        effect.kind: effect.internal_rate(model, now)
        for effect in model.effects
        if effect.kind in internal.elements
    }
    remember = (effect for effect in model.effects if effect.radiation_start() is not None)
    memory = next((effect.radiation_rate(now) for effect in remember), internal.radiation)
    return InternalState(memory, rates)


# --- The model as it is now: what follows from internal states, such as the rope that is out


def present(model: Model, internal: InternalState) -> Model:
    """The model with its masses, added masses and locked DOFs of these internal states."""
    for effect in model.effects:
        model = effect.present(model, internal)
    return model
