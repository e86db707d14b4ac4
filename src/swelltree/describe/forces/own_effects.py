"""Effects of users' own: named in a system like any other force element."""

import dataclasses
import numbers
from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.errors import listed, shown, suggest
from swelltree.describe.forces.elements import Force
from swelltree.describe.forces.signals import Function
from swelltree.describe.read_as import Converted
from swelltree.describe.spec import Description, description
from swelltree.describe.values import Name, NamedValues, as_number, row_of

Pairs = tuple[tuple[str, object], ...]


def _as_parameter(key: str, value: object) -> object:
    """A number, text, bool, or rows of numbers."""
    if isinstance(value, str | bool):
        return value
    if isinstance(value, numbers.Real):
        return as_number(value)
    row = row_of(value)
    if row is None:
        raise ValueError(
            f"has {shown(value)} for '{key}'. Give a number, a text, a truth value or a list."
        )
    return tuple(_as_parameter(key, entry) for entry in row)


def as_parameters(value: object) -> Pairs:
    """{name: value} as pairs, which are hashable."""
    if isinstance(value, tuple) and all(isinstance(x, tuple) and len(x) == 2 for x in value):
        value = dict(value)
    if not isinstance(value, Mapping):
        raise ValueError(f"{shown(value)} is not a table. Give {{name: value}}.")
    for key in value:
        if not isinstance(key, str) or not key.isidentifier() or key == "name":
            raise ValueError(f"has the name {shown(key)}. Give a field of the effect's class.")
    return tuple((key, _as_parameter(key, entry)) for key, entry in value.items())


Parameters = Annotated[
    Converted[Pairs],
    BeforeValidator(as_parameters),
    WithJsonSchema({"type": "object", "default": {}}),
]


@description
class OwnEffect(Force):
    """A physical effect of your own: a class made with `swelltree.effect`.

    Args:
        name: unique in the system.
        effect: the class, or "module:name".
        parameters: its fields: numbers, lists of numbers, texts.
    """

    type: ClassVar[str] = "own_effect"
    name: Name
    effect: Function
    parameters: Parameters = ()

    def table(self) -> NamedValues:
        """This item as a TOML table."""
        table = super().table()
        if self.parameters:
            table["parameters"] = {
                key: list(value) if isinstance(value, tuple) else value
                for key, value in self.parameters
            }
        return table


def field_values(item: Description, parameters: Pairs, word: str, cls: type) -> dict[str, object]:
    """Values of all fields of a user's class but `name`, from parameters and defaults.

    Args:
        item: what was described.
        parameters: what it gives.
        word: what the class is, for messages.
        cls: a dataclass.
    """
    fields = {f.name: f for f in dataclasses.fields(cls) if f.name != "name"}
    specified: dict[str, object] = dict(parameters)
    for key in specified:
        if key not in fields:
            raise item.fail(
                f"{word} '{cls.__name__}' has no field '{key}'.{suggest(key, fields)} "
                f"It has {listed(fields) or 'none'}."
            )
    for key, each in fields.items():
        if key not in specified and each.default is dataclasses.MISSING:
            raise item.fail(f"{word} '{cls.__name__}' needs '{key}'. Give it in parameters.")
        specified.setdefault(key, each.default)
    return specified


def number_values(item: Description, parameters: Pairs, word: str, cls: type) -> dict[str, float]:
    """Parameters that are all numbers."""
    result: dict[str, float] = {}
    for key, value in field_values(item, parameters, word, cls).items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise item.fail(f"parameter '{key}' is not one number. Give one.")
        result[key] = float(value)
    return result


OWN_TYPES: dict[str, type[Description]] = {OwnEffect.type: OwnEffect}
