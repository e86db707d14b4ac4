"""States besides the motion: radiation memory, and states of force elements.

Elements keep what they remember here: the volume of an accumulator, the mean yaw of a body, the
mode of a latch. Every state has a rate; one that only changes at events has the rate zero.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from swelltree.model.hydrodynamics import memory_at_rest
from swelltree.spatial.arrays import Array, pytree


@pytree()
class Inner:
    """Inner states of a system."""

    radiation: Any = ()  # radiation memory: chi, a record of velocities, or nothing
    elements: dict[str, Array] = field(
        default_factory=dict
    )  # {kind: states} of the force groups that have any


AT_REST = Inner()


def inner_at_rest(model: Any) -> Inner:
    """Inner states before any motion."""
    begun = {group.kind: group.inner_start() for group in model.effects}
    elements: dict[str, Array] = {kind: x for kind, x in begun.items() if x is not None}
    return Inner(memory_at_rest(model.hydro), elements)


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
    from swelltree.model.forces.hydrodynamics import memory_rate

    inner = now.inner
    chi_dot = inner.radiation
    if model.hydro is not None and model.hydro.memory is not None:
        chi_dot = memory_rate(model.hydro, now.motion, inner)
    rates = {
        group.kind: group.inner_rate(model, now)
        for group in model.effects
        if group.kind in inner.elements
    }
    return Inner(chi_dot, rates)
