r"""One-way clutches, flywheel and generator.

A clutch is a unilateral coupling with slip: with the shaft speed n v of the outward stroke and
-n v of the inward one,

.. math::
    T_\pm = C \max(\pm n v - \omega, 0), \qquad F = -n (T_+ - T_-), \qquad
    J \dot\omega = T_+ + T_- - (c_g + c_f) \omega - u

so it engages when the shaft catches up with the flywheel and lets go when it falls behind, without
events: the torque is continuous there. The cost is the slip T / C with the loss C slip^2.
"""

from __future__ import annotations

from typing import ClassVar

from swelltree.effects.strokes.laws.base import Law, LawInputs, LawOutputs
from swelltree.engine.arrays import Array, namespace, pytree


@pytree()
class Rectifier(Law):
    """Mechanical rectifiers; the state is the speed of the flywheel."""

    ratio: Array
    inertia: Array
    generator_damping: Array
    clutch_damping: Array
    both_ways: Array  # one or zero
    start_speed: Array
    friction: Array
    efficiency: Array

    states: ClassVar[int] = 1
    linear: ClassVar[str] = (
        "its clutches count as engaged about standstill if the flywheel rests, else as free"
    )

    def start(self) -> Array:
        return namespace(self.start_speed).stack([self.start_speed])

    def outputs(self, inputs: LawInputs) -> LawOutputs:
        omega = inputs.z[0]
        xp = namespace(inputs.v, omega)
        out = self.clutch_damping * xp.maximum(self.ratio * inputs.v - omega, 0.0)
        back = self.clutch_damping * xp.maximum(-self.ratio * inputs.v - omega, 0.0)
        # at standstill both are at the verge; a limit lets the clutch slip
        wanted = -self.ratio * (out - self.both_ways * back)
        force = inputs.reduced(wanted)
        torque = xp.abs(force) / self.ratio
        slip = self.ratio * xp.abs(inputs.v) - omega
        brake = self.generator_damping * omega + inputs.u
        drag = self.friction * omega
        delivered = self.efficiency * brake * omega
        lost = (1.0 - self.efficiency) * brake * omega + drag * omega + torque * slip
        rate = xp.stack([(torque - brake - drag) / self.inertia])
        stored, shown = 0.5 * self.inertia * omega**2, {"flywheel_speed": omega}
        return LawOutputs(force, stored, delivered, lost, rate, inputs.beyond(wanted), shown)
