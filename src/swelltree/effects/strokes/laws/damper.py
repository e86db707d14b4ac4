r"""Damper, the simplest machine, and damper with dry friction.

.. math:: F = -c v - F_c \tanh(v / v_c) + u
"""

from __future__ import annotations

from typing import ClassVar

from swelltree.effects.strokes.laws.base import Answer, Law, Seen, generated
from swelltree.engine.arrays import Array, namespace, pytree


@pytree()
class Damper(Law):
    """Springs, dampers, actuators and linear machines: what is proportional to the rate."""

    damping: Array
    efficiency: Array

    def start(self) -> Array:
        return namespace(self.damping).zeros((0, len(self.damping)))

    def answer(self, seen: Seen) -> Answer:
        return machine(seen, seen.u - self.damping * seen.v, self.efficiency)


@pytree()
class FrictionDamper(Law):
    """The same with a force of constant size against the motion, smoothed around rest."""

    damping: Array
    friction: Array
    friction_velocity: Array
    efficiency: Array

    linear: ClassVar[str] = (
        "its dry friction counts as a damper of slope friction / friction_velocity, as at rest"
    )

    def start(self) -> Array:
        return namespace(self.damping).zeros((0, len(self.damping)))

    def answer(self, seen: Seen) -> Answer:
        xp = namespace(seen.v)
        force = -self.damping * seen.v - self.friction * xp.tanh(seen.v / self.friction_velocity)
        return machine(seen, force + seen.u, self.efficiency)


def machine(seen: Seen, force: Array, efficiency: Array) -> Answer:
    """Answer of a machine without inner states that wants to exert a force."""
    told, force = seen.told(force), seen.limited(force)
    power = -force * seen.v
    delivered = generated(power, efficiency)
    return Answer(force, 0.0 * power, delivered, power - delivered, 0.0 * seen.z, told, {})
