r"""Laws of power take-offs that users write: a small class with JAX functions.

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
from swelltree.jit import Array, Tree, jax, pytree
from swelltree.pto.laws.base import Law, LawInputs, LawOutputs

if TYPE_CHECKING:
    from swelltree.describe.pto import OwnLaw

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
