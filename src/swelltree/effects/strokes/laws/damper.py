r"""Damper, the simplest PTO, and damper with dry friction.

.. math:: F = -c v - F_c \tanh(v / v_c) + u
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from swelltree.effects.strokes.laws.base import Law, LawInputs, LawOutputs, generated
from swelltree.engine.arrays import Array, namespace, pytree


@pytree()
class Damper(Law):
    """Springs, dampers, actuators and linear PTOs: what is proportional to the rate."""

    damping: Array
    efficiency: Array

    is_damper: ClassVar[bool] = True

    def is_lossless(self, k: int) -> bool:
        return float(self.efficiency[k]) == 1.0

    def start(self) -> Array:
        return namespace(self.damping).zeros((0, len(self.damping)))

    def outputs(self, inputs: LawInputs) -> LawOutputs:
        return machine(inputs, inputs.u - self.damping * inputs.v, self.efficiency)


@pytree()
class FrictionDamper(Law):
    """The same with a force of constant size against the motion, smoothed around rest."""

    damping: Array
    friction: Array
    friction_velocity: Array
    efficiency: Array

    is_damper: ClassVar[bool] = True
    linear: ClassVar[str] = (
        "its dry friction counts as a damper of slope friction / friction_velocity, as at rest"
    )

    def is_linear(self, k: int) -> bool:
        return not np.asarray(self.friction)[k]

    def start(self) -> Array:
        return namespace(self.damping).zeros((0, len(self.damping)))

    def outputs(self, inputs: LawInputs) -> LawOutputs:
        xp = namespace(inputs.v)
        force = -self.damping * inputs.v - self.friction * xp.tanh(
            inputs.v / self.friction_velocity
        )
        return machine(inputs, force + inputs.u, self.efficiency)


def machine(inputs: LawInputs, force: Array, efficiency: Array) -> LawOutputs:
    """Output of a PTO without internal states for a requested force."""
    beyond, force = inputs.beyond(force), inputs.limited(force)
    power = -force * inputs.v
    delivered = generated(power, efficiency)
    return LawOutputs(force, 0.0 * power, delivered, power - delivered, 0.0 * inputs.z, beyond, {})
