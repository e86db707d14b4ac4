"""Controllers: u(t, y) from measured channels to the actuators of force elements.

Effects of users' own: named in a system like any other force element.
"""

import dataclasses
import numbers
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, NamedTuple

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import Point, PointLike
from swelltree.describe.errors import listed, shown, suggest
from swelltree.describe.forces.elements import Force
from swelltree.describe.forces.signals import Function
from swelltree.describe.spec import Description, description
from swelltree.describe.values import (
    Converted,
    Flag,
    Name,
    NamedValues,
    Names,
    Number,
    as_number,
    row_of,
)


class Measure(NamedTuple):
    """A measured channel: "item.quantity" or "item.quantity.rate"."""

    item: str
    quantity: str
    rate: bool


def parse_measure(text: str) -> Measure:
    """Take "hinge.Pitch.rate" apart.

    Raises:
        ValueError: when the text has another form.
    """
    parts = text.split(".")
    rate = len(parts) == 3 and parts[2] == "rate"
    if not all(parts) or not (len(parts) == 2 or rate):
        raise ValueError(
            f"'{text}' has not the form 'item.quantity' or 'item.quantity.rate'. Write e.g. "
            "'hinge.Pitch'."
        )
    return Measure(parts[0], parts[1], rate)


def as_gains(value: object) -> tuple[tuple[str, float], ...]:
    """{name: number} as pairs, which are hashable."""
    pairs = as_parameters(value)
    gains = []
    for name, number in pairs:
        if isinstance(number, bool) or not isinstance(number, float):
            raise ValueError(f"'{name}': {shown(number)} is not one number. Give one.")
        gains.append((name, number))
    return tuple(gains)


Gains = Annotated[
    Converted[tuple[tuple[str, float], ...]],
    BeforeValidator(as_gains),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": "number"}, "default": {}}),
]


class AnyController(Description):
    """What drives elements by measured channels: a law, or a program in a file.

    Args:
        name: unique in the system.
        measures: channels that are measured.
        drives: names of the elements that are driven.
    """

    kind: ClassVar[str] = "controller"
    name: str
    measures: Sequence[str]
    drives: Sequence[str]


@description
class Controller(AnyController):
    """A control law.

    Args:
        name: unique in the system.
        measures: channels y: "hinge.Pitch", "hinge.Pitch.rate", "ram.length", "ram.length.rate",
            "barge1.Heave", "barge1.Heave.rate" (displacement of a body from where it is described,
            however a run begins, and its velocity, both in the axes of its heading there),
            "pto.stroke", "pto.rate" and "pto.force" of every PTO; the force is without what this
            controller itself gives, with all else.
        drives: names of the SpringDamper, JointForce and PTO elements whose u the law gives.
        law: function u(t, y) -> one value for each driven element, or "module:name". With states it
            is law(t, y, x) -> (u, x'): with a sample time x' are the states of the next sample,
            with surfaces those after a crossing, else their rates.
        gains: numbers that the law takes by name, u(t, y, gain=...): {"gain": 2e4}; numbers of the
            description, which can be varied without compiling again.
        plain: the law is plain Python that JAX cannot trace: called back from the time stepper,
            some 0.1 ms for each evaluation, with derivatives by differences. Its memory must be in
            its states: a law that returns different values for the same arguments is rejected.
        states: names of the states of the law: ["integral"]. They are part of the run and start
            from `start`.
        start: values of the states at the start, {"integral": 0.0}; zero if not given.
        sample_time: time between samples [s]; the law is evaluated at 0, sample_time, 2
            sample_time, ... and its u is held in between. Without it the law acts continuously.
        surfaces: function of t, y and, with states, x (or "module:name") whose values pass
            through zero where the law jumps. Steps end there, and states change there only.
    """

    name: Name
    measures: Names
    drives: Names
    law: Function
    gains: Gains = ()
    plain: Flag = False
    states: Names = ()
    start: Gains = ()
    sample_time: Number | None = None
    surfaces: Function | None = None

    def __post_init__(self) -> None:
        self._check_memory()
        if not self.drives:
            raise self.fail("drives is empty. Name at least one SpringDamper, JointForce or PTO.")
        if len(set(self.drives)) != len(self.drives):
            raise self.fail("drives names an element twice. Name each once.")
        for text in self.measures:
            try:
                parse_measure(text)
            except ValueError as error:
                raise self.fail(f"measure {error}") from None

    def _check_memory(self) -> None:
        if len(set(self.states)) != len(self.states):
            raise self.fail("states names one twice. Name each once.")
        for name, _ in self.start:
            if name not in self.states:
                raise self.fail(
                    f"start has a value for '{name}', which is not one of the states."
                    f"{suggest(name, self.states)} Name it in states."
                )
        if self.sample_time is not None and not self.sample_time > 0.0:
            raise self.fail(
                f"sample_time {self.sample_time:g} s is not positive. Give the time between "
                "samples, or leave it out."
            )
        if self.sample_time is not None and self.surfaces is not None:
            raise self.fail(
                "a sampled law jumps at its samples only and has no surfaces. Leave out "
                "sample_time or surfaces."
            )

    def table(self) -> NamedValues:
        table = super().table()
        for name in ("gains", "start"):
            if pairs := getattr(self, name):
                table[name] = dict(pairs)
        return table


def check_order(controllers: Sequence[AnyController]) -> None:
    """Reject controllers of which each waits for the force that another gives.

    A controller that measures the force of an element comes after all others that drive it.
    """
    waits = {}
    for controller in controllers:
        parsed = (parse_measure(text) for text in controller.measures)
        forces = {item for item, quantity, _ in parsed if quantity == "force"}
        waits[controller.name] = [
            other.name
            for other in controllers
            if other is not controller and forces & {*other.drives}
        ]
    while ready := [name for name, after in waits.items() if not after]:
        waits = {k: [x for x in v if x not in ready] for k, v in waits.items() if k not in ready}
    for controller in controllers:
        if controller.name in waits:
            raise controller.fail(
                f"measures a force that controller '{waits[controller.name][0]}' gives, which "
                "depends on this one. Measure strokes and rates, or make them one "
                "controller."
            )


# --- Sensors: body points and distances that a run reports as channels


class Sensor(Description):
    kind: ClassVar[str] = "sensor"
    name: str

    @property
    def points(self) -> dict[str, Point]:
        return {}


@description
class PointSensor(Sensor):
    """Position, velocity and acceleration of a body point.

    Args:
        name: unique in the system.
        point: the point watched.
    """

    type: ClassVar[str] = "point"
    name: Name
    point: PointLike

    @property
    def points(self) -> dict[str, Point]:
        """The points by field name."""
        return {"point": self.point}


@description
class DistanceSensor(Sensor):
    """Distance between two points and its rate.

    Args:
        name: unique in the system.
        a: one end.
        b: the other end.
    """

    type: ClassVar[str] = "distance"
    name: Name
    a: PointLike
    b: PointLike

    @property
    def points(self) -> dict[str, Point]:
        """The points by field name."""
        return {"a": self.a, "b": self.b}


SENSOR_TYPES: dict[str, type[Description]] = {
    cls.type: cls for cls in (PointSensor, DistanceSensor)
}


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
