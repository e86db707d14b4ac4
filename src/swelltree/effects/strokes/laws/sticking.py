r"""Dry friction that sticks: exactly no motion below its limit, a constant force above.

States: one while it sticks, and the direction of sliding (-1, +1; both zero: not decided yet).
Sliding, the force is -F_c times the direction. It ends at standstill. A stuck stroke is locked as
by a latch (`formulations.latches`); it breaks away when the force that holds it passes the static
limit, and slides against that force. At an instant where several may stick, all are locked, and
those over their limit let go, the worst first, until the others can hold.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from swelltree.effects.strokes.laws.base import Law, LawInputs, LawOutputs
from swelltree.effects.strokes.laws.damper import machine
from swelltree.engine.arrays import Array, namespace, pytree

PASSED = 1e-9  # m/s, rad/s: rate against the sliding at which standstill has been passed
AT_REST = 1e-7  # m/s, rad/s: what slides slower than this is decided again at every event
OVER = 1.0 + 1e-9  # of the static limit
INSIDE = 1e-9  # of the limit: a force so near to it slides
STANDSTILL, BREAKAWAY = range(2)


@pytree()
class Sticking(Law):
    """Damper with true Coulomb friction."""

    damping: Array
    friction: Array
    static_friction: Array  # not less than friction
    efficiency: Array

    states: ClassVar[int] = 2
    events: ClassVar[int] = 2
    holds: ClassVar[bool] = True
    sticks: ClassVar[bool] = True
    linear: ClassVar[str] = "its dry friction is left out"

    def start(self) -> Array:
        none = 0.0 * self.damping
        return namespace(none).stack([none, none])

    def outputs(self, inputs: LawInputs) -> LawOutputs:
        stuck, direction = inputs.z
        force = inputs.u - self.damping * inputs.v - self.friction * direction
        return replace(machine(inputs, force, self.efficiency), shown={"mode": stuck})

    def event_values(self, inputs: LawInputs) -> Array:
        xp = namespace(inputs.v)
        stuck, direction = inputs.z
        assert inputs.hold is not None
        room = self.static_friction - xp.abs(inputs.hold)
        moving = direction * inputs.v + PASSED
        # a value that is not positive is asleep
        return xp.stack(
            [
                xp.where(xp.abs(direction) > 0.5, moving, -1.0),
                xp.where(stuck > 0.5, room, -1.0),
            ]
        )

    def switched(self, inputs: LawInputs, hit: Array) -> Array:
        xp = namespace(inputs.v)
        stuck, direction = inputs.z
        assert inputs.hold is not None
        away = hit[BREAKAWAY]
        # what stands still is decided again, also where another element came to rest or let go
        open_ = (stuck < 0.5) & (hit[STANDSTILL] | (xp.abs(inputs.v) <= AT_REST))
        new = xp.where(away, -xp.sign(inputs.hold), xp.where(open_, 0.0, direction))
        return xp.stack([xp.where(away, 0.0, stuck), new])

    def resolved(self, inputs: LawInputs, worst: Array) -> Array:
        xp = namespace(inputs.v)
        stuck, direction = inputs.z
        assert inputs.hold is not None
        undecided = (stuck < 0.5) & (xp.abs(direction) < 0.5)
        slides = undecided & (xp.abs(inputs.v) > AT_REST)
        lets_go = (stuck > 0.5) & (self.overload(inputs) > OVER) & (self.overload(inputs) >= worst)
        new = xp.where(slides, xp.sign(inputs.v), direction)
        new = xp.where(lets_go, -xp.sign(inputs.hold), new)
        return xp.stack([xp.where(lets_go | slides, 0.0, xp.where(undecided, 1.0, stuck)), new])

    # --- where steps are fixed, its force is an unknown of each step ------------------------
    def held(self, z: Array) -> Array:
        """The force of friction that states (2, e) stand for."""
        return -self.friction * z[1]

    def limit(self, z: Array) -> Array:
        """What friction can hold in the step that leaves such states."""
        xp = namespace(z)
        return xp.where((z[0] > 0.5) | (z[1] == 0.0), self.static_friction, self.friction)

    def holding(self, force: Array, limit: Array) -> Array:
        """States of a force of friction that was found within its limit, (2, e)."""
        xp = namespace(force)
        stuck = xp.where(xp.abs(force) < (1.0 - INSIDE) * limit, 1.0, 0.0)
        return xp.stack([stuck, -force / self.friction])

    def overload(self, inputs: LawInputs) -> Array:
        xp = namespace(inputs.v)
        assert inputs.hold is not None
        limit = xp.maximum(self.static_friction, 1e-300)
        return xp.where(inputs.z[0] > 0.5, xp.abs(inputs.hold) / limit, 0.0)
