"""Latching and declutching: a PTO whose mode changes at events.

States: the mode (one while the stroke is held, or while the PTO is off), the time at which it
is to end, and the time at which the last one ended. From standstill on, the mode is one; it ends
after a time, when the force in the latch passes its limit, or at the word of a controller.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from swelltree.effects.strokes.laws.base import Law, LawInputs, LawOutputs
from swelltree.effects.strokes.laws.damper import machine
from swelltree.engine.arrays import Array, namespace, pytree

NEVER = 1e30  # s
WORD = 0.5  # value of a controller above which the mode ends
UP, DOWN, END, FORCE = range(4)


@pytree()
class Switching(Law):
    """Common base of latching and declutching PTOs."""

    damping: Array
    friction: Array
    friction_velocity: Array
    efficiency: Array
    duration: Array  # s, NEVER: no timer
    release_force: Array  # N, NEVER: no limit
    rearm: Array  # s
    driven: Array  # one where a controller ends the mode

    states: ClassVar[int] = 3
    events: ClassVar[int] = 4

    def start(self) -> Array:
        xp = namespace(self.damping)
        none = 0.0 * self.damping
        return xp.stack([none, none + NEVER, none - NEVER])

    def working(self, mode: Array) -> Array:
        """Fraction of the PTO force that acts, by mode."""
        raise NotImplementedError

    def outputs(self, inputs: LawInputs) -> LawOutputs:
        xp = namespace(inputs.v)
        force = -self.damping * inputs.v - self.friction * xp.tanh(
            inputs.v / self.friction_velocity
        )
        outputs = machine(inputs, self.working(inputs.z[0]) * force, self.efficiency)
        return replace(outputs, shown={"mode": inputs.z[0]})

    def event_values(self, inputs: LawInputs) -> Array:
        xp = namespace(inputs.v)
        mode, until, since = inputs.z
        # a value that is not positive is asleep
        ready = (mode < 0.5) & (inputs.t - since >= self.rearm)
        inside = mode > 0.5
        word = xp.where(self.driven > 0.5, WORD - inputs.u, NEVER)
        end = xp.minimum(until - inputs.t, word)
        room = 0.0 * inputs.v + NEVER
        if inputs.hold is not None:
            room = self.release_force - xp.abs(inputs.hold)
        return xp.stack(
            [
                xp.where(ready, inputs.v, -1.0),
                xp.where(ready, -inputs.v, -1.0),
                xp.where(inside, end, -1.0),
                xp.where(inside, room, -1.0),
            ]
        )

    def switched(self, inputs: LawInputs, hit: Array) -> Array:
        xp = namespace(inputs.v)
        mode, until, since = inputs.z
        # it begins at standstill, unless the word is given already or the latch cannot hold
        begins = (hit[UP] | hit[DOWN]) & ~((self.driven > 0.5) & (inputs.u >= WORD))
        if inputs.hold is not None:
            begins = begins & (xp.abs(inputs.hold) < self.release_force)
        ends = hit[END] | hit[FORCE]
        new_mode = xp.where(begins, 1.0, xp.where(ends, 0.0, mode))
        new_until = xp.where(begins, xp.minimum(inputs.t + self.duration, NEVER), until)
        return xp.stack([new_mode, new_until, xp.where(ends, inputs.t, since)])


@pytree()
class Latching(Switching):
    """The stroke is locked in mode one."""

    holds: ClassVar[bool] = True
    described: ClassVar[dict[str, str]] = {"duration": "release_after", "driven": ""}
    linear: ClassVar[str] = "its latch counts as open"

    def working(self, mode: Array) -> Array:
        return 1.0 + 0.0 * mode


@pytree()
class Declutching(Switching):
    """The PTO is off in mode one."""

    described: ClassVar[dict[str, str]] = {
        "duration": "off_for",
        "driven": "",
        "release_force": "",
    }
    linear: ClassVar[str] = "its clutch counts as closed"

    def working(self, mode: Array) -> Array:
        return 1.0 - mode
