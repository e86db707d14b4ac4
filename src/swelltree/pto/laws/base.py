r"""Inputs and outputs of a PTO law.

The energy balance is absorbed power = rate of the stored energy + delivered + lost, with each
of the four computed on its own.

Laws of power take-offs that users write: a small class with JAX functions.

@sw.pto_law
class Turbine(sw.PtoLaw):
    inertia: float
    drag: float
    states = 1

    def force(self, now):
        ...

The power that leaves the PTO is what is absorbed, less losses and less the rate of the stored
energy U, by its derivative along the motion:

.. math:: P = -F v - P_{lost} - \frac{\partial U}{\partial x} v
              - \frac{\partial U}{\partial z} \dot z
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, ClassVar, TypeVar, dataclass_transform

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.forces.controllers import number_values
from swelltree.describe.forces.signals import resolve
from swelltree.jit import Array, Tree, jax, namespace, pytree

if TYPE_CHECKING:
    from swelltree.describe.pto import OwnLaw


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
        if self.bound is None:
            return force
        xp = namespace(force, self.bound)
        low = xp.minimum(-self.bound - self.spring, 0.0)
        return xp.clip(force, low, xp.maximum(self.bound - self.spring, 0.0))

    def excess(self, force: Array) -> Array:
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
    direct: ClassVar[tuple[str, ...]] = ()  # see `HasParameters`
    linear: ClassVar[str] = ""  # what linear studies take in its place; empty: its own slope

    def is_linear(self, k: int) -> bool:
        """Do linear studies use one of its PTOs unchanged?"""
        return not self.linear

    def is_lossless(self, k: int) -> bool:
        return False

    def start(self) -> Array:
        """Internal states at the start, (states, e)."""
        raise NotImplementedError

    def begun(self, inputs: LawInputs) -> Array:
        """Internal states at the start of a run, by stroke and rate there."""
        return inputs.z

    def outputs(self, inputs: LawInputs) -> LawOutputs:
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


# --- Damper, the simplest PTO, and damper with dry friction


@pytree()
class Damper(Law):
    """Springs, dampers, actuators and linear PTOs: what is proportional to the rate."""

    damping: Array
    efficiency: Array

    is_damper: ClassVar[bool] = True
    direct: ClassVar[tuple[str, ...]] = ("damping", "efficiency")

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
    direct: ClassVar[tuple[str, ...]] = ("damping", "friction", "friction_velocity", "efficiency")
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
    excess, force = inputs.excess(force), inputs.limited(force)
    power = -force * inputs.v
    delivered = generated(power, efficiency)
    return LawOutputs(force, 0.0 * power, delivered, power - delivered, 0.0 * inputs.z, excess, {})


# --- Direct-drive generator: force by control, electrical power by an efficiency map


@pytree()
class Generator(Law):
    """One generator: maps of different generators may have different sizes."""

    damping: Array  # (1,)
    copper: Array  # (1,) R / K^2
    map_force: Array  # (m,)
    map_speed: Array  # (n,)
    map_efficiency: Array  # (m, n)

    direct: ClassVar[tuple[str, ...]] = ("damping",)

    def start(self) -> Array:
        return namespace(self.damping).zeros((0, 1))

    def outputs(self, inputs: LawInputs) -> LawOutputs:
        requested = inputs.u - self.damping * inputs.v
        force = inputs.limited(requested)
        power = -force * inputs.v
        copper = self.copper * force**2
        delivered = generated(power, self.efficiency(force, inputs.v)) - copper
        lost, excess = power - delivered, inputs.excess(requested)
        shown = {"copper_loss": copper}
        return LawOutputs(force, 0.0 * power, delivered, lost, 0.0 * inputs.z, excess, shown)

    def efficiency(self, force: Array, v: Array) -> Array:
        """Bilinear in the map, held beyond its edges."""
        xp = namespace(force, v)
        table = xp.asarray(self.map_efficiency)
        i, a = _cell(xp, self.map_force, xp.abs(force))
        j, b = _cell(xp, self.map_speed, xp.abs(v))
        low = (1.0 - b) * table[i, j] + b * table[i, j + 1]
        high = (1.0 - b) * table[i + 1, j] + b * table[i + 1, j + 1]
        return (1.0 - a) * low + a * high


def _cell(xp, grid: Array, value: Array) -> tuple[Array, Array]:
    """Number of the cell and the place in it, 0 to 1."""
    grid = xp.asarray(grid)
    i = xp.clip(xp.searchsorted(grid, value, side="right") - 1, 0, len(grid) - 2)
    return i, xp.clip((value - grid[i]) / (grid[i + 1] - grid[i]), 0.0, 1.0)


T = TypeVar("T")


class PtoLaw(Law):
    """Base of the laws that users write. Only `force` must be written.

    `begun` gives the states at the start of a run by stroke and rate there, in place of `begin`.
    All methods get `now` with t, x (stroke), v (its rate), z (states, one row each) and u
    (command), and work on arrays of one entry. Class fields `states`, `events` and `holds` say what
    the law has: internal states, events it watches for, and whether state 0 locks the stroke while
    it is 1. A law that locks a moving stroke stops it by an impulse, whose work is that of the PTO.
    """

    states: ClassVar[int] = 0
    begin: ClassVar[tuple[float, ...]] = ()  # states at the start; zeros if not given
    linear: ClassVar[str] = "its events are left out, and a lock counts as open"

    def force(self, now: LawInputs) -> Array:
        """Force that acts to increase the stroke [N, N m]."""
        raise NotImplementedError

    def rates(self, now: LawInputs) -> Array:
        """Rates of the states (states, 1)."""
        return 0.0 * now.z

    def stored(self, x: Array, z: Array) -> Array:
        """Energy in the PTO [J], of stroke and states."""
        return 0.0 * x

    def lost(self, now: LawInputs) -> Array:
        """Power turned into heat [W]."""
        return 0.0 * now.v

    # --- as all laws ---------------------------------------------------------------------
    def is_linear(self, k: int) -> bool:
        return not self.events

    def start(self) -> Array:
        begin = self.begin or (0.0,) * self.states
        return np.array(begin, dtype=float).reshape(self.states, 1)

    def outputs(self, inputs: LawInputs) -> LawOutputs:
        requested = self.force(inputs)
        force, excess = inputs.limited(requested), inputs.excess(requested)
        rates, lost = self.rates(inputs), self.lost(inputs)
        stored, storing = self.stored(inputs.x, inputs.z), 0.0
        if type(self).stored is not PtoLaw.stored:
            stored, storing = jax.jvp(self.stored, (inputs.x, inputs.z), (inputs.v, rates))
        delivered = -force * inputs.v - lost - storing
        return LawOutputs(force, stored, delivered, lost, rates, excess, {})


@dataclass_transform(frozen_default=True)
def pto_law(cls: type[T]) -> type[T]:
    """Make a class of numbers with a method `force` a law of power take-offs (class decorator).

    Args:
        cls: derived from `swelltree.PtoLaw`; annotated fields are numbers, which can be
            differentiated, batched and changed by `with_values`.
    """
    if not issubclass(cls, PtoLaw) or cls.force is PtoLaw.force:
        raise SwelltreeError(
            f"law '{cls.__name__}' is not a class of swelltree.PtoLaw with a method 'force'. Write "
            f"class {cls.__name__}(swelltree.PtoLaw) with force(self, now)."
        )
    if cls.events and (cls.event_values is Law.event_values or cls.switched is Law.switched):
        raise SwelltreeError(
            f"law '{cls.__name__}' has {cls.events} events but not both of 'event_values' and "
            "'switched'. Write them."
        )
    if len(cls.begin) not in (0, cls.states):
        raise SwelltreeError(
            f"law '{cls.__name__}': begin has {len(cls.begin)} values for {cls.states} states. "
            "Give one for each."
        )
    return pytree()(cls)


def make_own_law(group: list[OwnLaw]) -> Law:
    """The law of one described power take-off."""
    (pto,) = group
    cls: Tree = resolve(pto.law)
    if not (inspect.isclass(cls) and issubclass(cls, PtoLaw) and dataclasses.is_dataclass(cls)):
        raise pto.fail(
            f"law {getattr(cls, '__name__', cls)!r} is not a class made with @swelltree.pto_law. "
            "Write one."
        )
    numbers = number_values(pto, pto.parameters, "law", cls)
    law = cls(**{key: np.array([value]) for key, value in numbers.items()})
    zero = np.zeros(1)
    now = LawInputs(np.zeros(()), zero, zero, law.start(), zero, None, zero)
    states = (cls.states, 1)
    for method, shape in (("force", (1,)), ("rates", states), ("lost", (1,)), ("begun", states)):
        found = np.shape(getattr(law, method)(now))
        if found != shape:
            raise pto.fail(
                f"'{method}' of law '{cls.__name__}' returns the shape {found}. Give {shape}."
            )
    return law
