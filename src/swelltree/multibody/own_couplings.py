"""Relations between joint coordinates that users write: a small class with a JAX function.

@sw.coupling_law
class Cam(sw.CouplingLaw):
    lift: float

    def value(self, x):
        return x[1] - self.lift * jnp.cos(x[0])
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, TypeVar, dataclass_transform

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.forces.own_effects import number_values
from swelltree.describe.forces.signals import resolve
from swelltree.jit import Array, Tree, pytree

if TYPE_CHECKING:
    from swelltree.describe.joints.couplings import OwnCoupling

T = TypeVar("T")


class CouplingLaw:
    """Base of the relations that users write."""

    def value(self, x: Array) -> Array:
        """What is zero where the coordinates fit, of the order of metres or radians.

        Args:
            x: the coordinates in the order of their names [m, rad]; angles count their turns.
        """
        raise NotImplementedError


@dataclass_transform(frozen_default=True)
def coupling_law(cls: type[T]) -> type[T]:
    """Make a class of numbers with a method `value` a relation of coordinates (class decorator).

    Args:
        cls: derived from `swelltree.CouplingLaw`; annotated fields are numbers, which can be
            differentiated, batched and changed by `with_values`.
    """
    if not issubclass(cls, CouplingLaw) or cls.value is CouplingLaw.value:
        raise SwelltreeError(
            f"law '{cls.__name__}' is not a class of swelltree.CouplingLaw with a method 'value'. "
            f"Write class {cls.__name__}(swelltree.CouplingLaw) with value(self, x)."
        )
    return pytree()(cls)


def make_coupling_law(item: OwnCoupling) -> Tree:
    cls: Tree = resolve(item.law)
    if not (
        inspect.isclass(cls) and issubclass(cls, CouplingLaw) and dataclasses.is_dataclass(cls)
    ):
        raise item.fail(
            f"law {getattr(cls, '__name__', cls)!r} is not a class made with "
            "@swelltree.coupling_law. Write one."
        )
    numbers = number_values(item, item.parameters, "law", cls)
    law = cls(**{key: np.asarray(value) for key, value in numbers.items()})
    answer = np.shape(law.value(np.zeros(len(item.coordinates))))
    if answer != ():
        raise item.fail(
            f"'value' of law '{cls.__name__}' returns the shape {answer}. Return one number."
        )
    return law
