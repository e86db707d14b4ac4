"""States besides the motion: radiation memory, and states of force elements.

Elements keep what they remember here: the volume of an accumulator, the mean yaw of a body, the
mode of a latch. Every state has a rate; one that only changes at events has the rate zero.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from swelltree.engine.arrays import Array, pytree


@pytree()
class Inner:
    """Inner states of a system."""

    radiation: Any = ()  # radiation memory: chi, a record of velocities, or nothing
    elements: dict[str, Array] = field(
        default_factory=dict
    )  # {kind: states} of the effects that have any


AT_REST = Inner()


def inner_at_rest(model: Any) -> Inner:
    """Inner states before any motion."""
    begun = {effect.kind: effect.inner_start() for effect in model.effects}
    elements: dict[str, Array] = {kind: x for kind, x in begun.items() if x is not None}
    memory = (effect.radiation_start() for effect in model.effects)
    return Inner(next((x for x in memory if x is not None), ()), elements)


def inner_settled(model: Any, inner: Inner, pose: Any) -> Inner:
    """Inner states with those that follow the places of bodies as after a long rest there."""
    rested = {
        group.kind: group.inner_settled(inner.elements[group.kind], pose)
        for group in model.effects
        if group.kind in inner.elements
    }
    return Inner(inner.radiation, rested)


def inner_rate(model: Any, now: Any) -> Inner:
    """Rates of all inner states."""
    inner = now.inner
    rates = {
        effect.kind: effect.inner_rate(model, now)
        for effect in model.effects
        if effect.kind in inner.elements
    }
    remember = (effect for effect in model.effects if effect.radiation_start() is not None)
    memory = next((effect.radiation_rate(now) for effect in remember), inner.radiation)
    return Inner(memory, rates)
