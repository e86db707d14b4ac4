"""Latching and declutching: a PTO whose mode changes at events.

States: the mode (one while the stroke is held, or while the PTO is off), the time at which it
is to end, and the time at which the last one ended. From standstill on, the mode is one; it ends
after a time, when the force in the latch passes its limit, or at the word of a controller.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from swelltree.jit import Array, namespace, pytree
from swelltree.pto.laws.base import Law, LawInputs, LawOutputs, machine

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
    direct: ClassVar[tuple[str, ...]] = (
        "damping",
        "friction",
        "friction_velocity",
        "efficiency",
        "duration",
        "release_force",
        "rearm",
    )
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


# --- Dry friction that sticks: exactly no motion below its limit, a constant force above

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
    static_friction: Array  # what counts is the larger of it and friction
    efficiency: Array

    states: ClassVar[int] = 2
    direct: ClassVar[tuple[str, ...]] = ("damping", "static_friction", "efficiency")
    events: ClassVar[int] = 2
    holds: ClassVar[bool] = True
    sticks: ClassVar[bool] = True
    linear: ClassVar[str] = "its dry friction is left out"

    def breakaway(self) -> Array:
        xp = namespace(self.friction, self.static_friction)
        return xp.maximum(self.friction, self.static_friction)

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
        room = self.breakaway() - xp.abs(inputs.hold)
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
        """Friction force that states (2, e) represent."""
        return -self.friction * z[1]

    def limit(self, z: Array) -> Array:
        """Maximum friction in the step that leads to these states."""
        xp = namespace(z)
        return xp.where((z[0] > 0.5) | (z[1] == 0.0), self.breakaway(), self.friction)

    def holding(self, force: Array, limit: Array) -> Array:
        """States of a friction force within its limit, (2, e)."""
        xp = namespace(force)
        stuck = xp.where(xp.abs(force) < (1.0 - INSIDE) * limit, 1.0, 0.0)
        return xp.stack([stuck, -force / self.friction])

    def overload(self, inputs: LawInputs) -> Array:
        xp = namespace(inputs.v)
        assert inputs.hold is not None
        limit = xp.maximum(self.breakaway(), 1e-300)
        return xp.where(inputs.z[0] > 0.5, xp.abs(inputs.hold) / limit, 0.0)
