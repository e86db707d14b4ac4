"""Couplings between joint coordinates: gears, racks, belts, differentials, and users' own."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Annotated, ClassVar, NamedTuple

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.errors import SwelltreeError, shown
from swelltree.describe.forces.controllers import Parameters
from swelltree.describe.forces.signals import Function
from swelltree.describe.spec import Description, description
from swelltree.describe.values import DOFS, Converted, Name, NamedValues, Names, Number, as_number

Pairs = tuple[tuple[str, float], ...]


def as_coefficients(value: object) -> Pairs:
    """{coordinate: coefficient} as pairs, which are hashable."""
    if isinstance(value, tuple) and all(isinstance(x, tuple) and len(x) == 2 for x in value):
        value = dict(value)
    if not isinstance(value, Mapping):
        raise ValueError(f"{shown(value)} is not a table. Give {{joint: coefficient, ...}}.")
    pairs = []
    for key, number in value.items():
        if not isinstance(key, str):
            raise ValueError(f"has the key {shown(key)}. Give the name of a joint.")
        try:
            pairs.append((key, as_number(number)))
        except ValueError as error:
            raise ValueError(f"'{key}': {error}") from None
    return tuple(pairs)


Coefficients = Annotated[
    Converted[Pairs],
    BeforeValidator(as_coefficients),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": "number"}}),
]


class Term(NamedTuple):
    joint: str
    dof: str | None  # None: the only one of the joint
    owner: "AnyCoupling"

    def fail(self, text: str) -> SwelltreeError:
        return self.owner.fail(text)


@description
class AnyCoupling(Description):
    """What all couplings have.

    Args:
        name: unique in the system.
    """

    kind: ClassVar[str] = "coupling"
    name: Name

    @property
    def keys(self) -> Iterable[str]:
        raise NotImplementedError

    @property
    def terms(self) -> tuple[Term, ...]:
        out = []
        for key in self.keys:
            joint, _, dof = key.rpartition(".")
            known = bool(joint) and dof in DOFS
            out.append(Term(joint if known else key, dof if known else None, self))
        return tuple(out)


@description
class Coupling(AnyCoupling):
    """Coordinates of joints in a fixed relation: sum of coefficients times coordinates = constant.

    A gear pair is {"a": r_a, "b": r_b}, a belt {"a": r_a, "b": -r_b}, a pinion on a rack {"pinion":
    r, "rack": -1}, a differential {"carrier": 2, "left": -1, "right": -1}. The coupling puts the
    force coefficient times multiplier on each coordinate (on the follower, and the opposite on the
    base) and does no work. Full turns are counted.

    Args:
        name: unique in the system.
        coordinates: coefficient of each coordinate, by the name of its joint, or "joint.Pitch"
            where a joint has several. Those of `Ball` and `Free` rotations cannot be coupled.
        constant: the sum; by default its described value.
    """

    coordinates: Coefficients
    constant: Number | None = None

    def __post_init__(self) -> None:
        if len(self.coordinates) < 2:
            raise self.fail(
                f"coordinates has {len(self.coordinates)} entries. Give two or more; a single "
                "coordinate is held by a Weld, or prescribed by the motion of its joint."
            )
        for key, coefficient in self.coordinates:
            if coefficient == 0.0:
                raise self.fail(f"the coefficient of '{key}' is zero. Leave it out.")

    @property
    def keys(self) -> Iterable[str]:
        """The coordinates by name."""
        return [key for key, _ in self.coordinates]

    def table(self) -> NamedValues:
        return super().table() | {"coordinates": dict(self.coordinates)}


@description
class OwnCoupling(AnyCoupling):
    """Coordinates of joints in a relation of your own: a class made with `swelltree.coupling_law`.

    Cams, linkages given as curves, gears of variable ratio. The coupling puts the derivative of
    the relation times a multiplier on each coordinate and does no work.

    Args:
        name: unique in the system.
        coordinates: names of joints, or "joint.Pitch" where a joint has several; the law sees
            them in this order.
        law: the class, or "module:name".
        parameters: its fields: numbers.
    """

    type: ClassVar[str] = "own_coupling"
    coordinates: Names = field(kw_only=True)
    law: Function = field(kw_only=True)
    parameters: Parameters = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if len(self.coordinates) < 2:
            raise self.fail(
                f"coordinates has {len(self.coordinates)} entries. Give two or more; a single "
                "coordinate is held by a Weld, or prescribed by the motion of its joint."
            )

    @property
    def keys(self) -> Iterable[str]:
        """The coordinates by name."""
        return self.coordinates

    def table(self) -> NamedValues:
        table = super().table()
        if self.parameters:
            table["parameters"] = dict(self.parameters)
        return table


# by `type`; that of a linear coupling need not be given
COUPLING_TYPES: dict[str, type[AnyCoupling]] = {cls.type: cls for cls in (Coupling, OwnCoupling)}
