"""Inputs and outputs of a PTO law.

The energy balance is absorbed power = rate of the stored energy + delivered + lost, with each
of the four computed on its own.
"""

from __future__ import annotations

from typing import ClassVar

from swelltree.engine.arrays import Array, namespace, pytree


@pytree()
class LawInputs:
    """What the law of e PTOs may depend on."""

    t: Array  # s
    x: Array  # (e,) stroke
    v: Array  # (e,) its rate
    z: Array  # (states, e) internal states
    u: Array  # (e,) from signals and controllers
    bound: Array | None  # (e,) largest force allowed by the limits, None without any
    hold: Array | None = None  # (e,) force that holds the stroke, where it is known
    spring: Array | float = 0.0  # (e,) force of the spring, to which the limits apply too

    def limited(self, force: Array) -> Array:
        """Force of an actuator that keeps the sum of itself and the spring within the bounds."""
        if self.bound is None:
            return force
        xp = namespace(force, self.bound)
        return xp.clip(force, -self.bound - self.spring, self.bound - self.spring)

    def reduced(self, force: Array) -> Array:
        """The same of a device that can do so only by a smaller force of its own."""
        if self.bound is None:
            return force
        xp = namespace(force, self.bound)
        low = xp.minimum(-self.bound - self.spring, 0.0)
        return xp.clip(force, low, xp.maximum(self.bound - self.spring, 0.0))

    def beyond(self, force: Array) -> Array:
        """One where a force and that of the spring are beyond their bounds."""
        if self.bound is None:
            return 0.0 * force
        xp = namespace(force, self.bound)
        return xp.where(xp.abs(force + self.spring) > self.bound, 1.0, 0.0)


@pytree()
class LawOutputs:
    """Output of e PTOs."""

    force: Array  # (e,) N, N m
    stored: Array  # (e,) J
    delivered: Array  # (e,) W
    lost: Array  # (e,) W
    rate: Array  # (states, e) of the internal states
    limited: Array  # (e,) one while a limit is met
    shown: dict[str, Array]  # channels of its own, (e,) each


class Law:
    """All PTOs of one kind; arrays have one entry for each."""

    states: ClassVar[int] = 0  # internal states of one PTO
    events: ClassVar[int] = 0  # events that one PTO detects
    holds: ClassVar[bool] = False  # can lock its stroke: state 0 is one while it does
    watches_hold: ClassVar[bool] = False  # its events need the force that holds
    sticks: ClassVar[bool] = False  # its hold is friction: `resolved` says who holds after events
    is_damper: ClassVar[bool] = False  # a force against the rate, and no law of its own
    described: ClassVar[dict[str, str]] = {}  # numbers that the description calls otherwise
    linear: ClassVar[str] = ""  # what linear studies take in its place; empty: its own slope

    def is_linear(self, k: int) -> bool:
        """Do linear studies use one of its PTOs unchanged?"""
        return not self.linear

    def is_lossless(self, k: int) -> bool:
        """Is all that one of its PTOs absorbs delivered?"""
        return False

    def start(self) -> Array:
        """Internal states at the start, (states, e)."""
        raise NotImplementedError

    def outputs(self, inputs: LawInputs) -> LawOutputs:
        """Force, energies and rates."""
        raise NotImplementedError

    def event_values(self, inputs: LawInputs) -> Array:
        """Values whose fall through zero is an event, (events, e)."""
        raise NotImplementedError

    def switched(self, inputs: LawInputs, hit: Array) -> Array:
        """Internal states after the events of which `hit` (events, e) is true."""
        raise NotImplementedError

    def resolved(self, inputs: LawInputs, worst: Array) -> Array:
        """Internal states after one round of deciding which of several hold.

        Args:
            inputs: with the forces that hold now.
            worst: max `overload` of all PTOs.
        """
        return inputs.z

    def overload(self, inputs: LawInputs) -> Array:
        """Force that holds each PTO over what it can hold, zero where nothing is held (e,)."""
        return 0.0 * inputs.v


def generated(power: Array, efficiency: Array) -> Array:
    """Delivered power of a generator; where it drives, what is taken is more than it gives."""
    xp = namespace(power)
    drive = xp.maximum(efficiency, 1e-3)
    return xp.where(power >= 0.0, efficiency * power, power / drive)
