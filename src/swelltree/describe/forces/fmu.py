"""Controllers in files: Functional Mock-up Units (FMUs) for co-simulation."""

import numbers
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.errors import shown
from swelltree.describe.forces.controllers import AnyController, parse_measure
from swelltree.describe.spec import description
from swelltree.describe.values import Converted, Name, NamedValues, Number, as_number, row_of

# Boolean variables of an FMU are given as truth values, texts as texts
Value = float | bool | str
Pairs = tuple[tuple[str, str], ...]
Values = tuple[tuple[str, Value], ...]


def _as_file(value: object) -> str:
    if not isinstance(value, str | Path) or not str(value):
        raise ValueError(f"{shown(value)} is not a path. Give that of an FMU.")
    return str(value)


def _as_text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"has {shown(value)}, which is not a name.")
    return value


def _table(value: object) -> dict[str, object]:
    if isinstance(value, tuple) and all(isinstance(x, tuple) and len(x) == 2 for x in value):
        value = dict(value)
    if not isinstance(value, Mapping):
        raise ValueError(f"{shown(value)} is not a table. Give {{name: ...}}.")
    return {_as_text(name): entry for name, entry in value.items()}


def _as_names(value: object) -> Pairs:
    return tuple((name, _as_text(entry)) for name, entry in _table(value).items())


def _as_value(name: str, value: object) -> Value:
    if isinstance(value, str | bool):
        return value
    if isinstance(value, numbers.Real):
        return as_number(value)
    raise ValueError(f"has {shown(value)} for '{name}'. Give a number, a truth value or a text.")


def _as_values(value: object) -> Values:
    return tuple((name, _as_value(name, entry)) for name, entry in _table(value).items())


def _as_texts(value: object) -> tuple[str, ...]:
    row = row_of(value)
    if row is None:
        raise ValueError(f"{shown(value)} is not a list. Give names in brackets.")
    return tuple(map(_as_text, row))


_LIST = WithJsonSchema({"type": "array", "items": {"type": "string"}, "default": []})


def _schema(entries: NamedValues) -> WithJsonSchema:
    return WithJsonSchema({"type": "object", "additionalProperties": entries, "default": {}})


@description
class Fmu(AnyController):
    """A Functional Mock-up Unit (FMI 2.0 or 3.0, co-simulation) as a sampled controller.

    At the times 0, sample_time, 2 sample_time, ... it makes a step with the inputs of the time
    before, receives what is measured now, and its outputs act until the next. It runs in a process
    of its own. An FMU is a program with all rights of yours: use files from sources you trust.

    Args:
        file: path of the FMU. Needs ``pip install 'swelltree[fmi]'``.
        inputs: channel for each input that is given, {"x": "pto.stroke", "v": "pto.rate"}; channels
            as in `Controller.measures`, in SI units.
        outputs: element for each output that acts, {"F": "pto"}: SpringDamper, JointForce, PTO, as
            in `Controller.drives`.
        sample_time: communication interval [s].
        parameters: values of parameters and of inputs that are not measured, {"k": 2e4}.
        reports: names of further outputs, stored as `controller_state`.
        timeout: longest time that a step may take [s of real time].
        name: unique in the system; that of the file if not given.
    """

    type: ClassVar[str] = "fmu"
    file: Annotated[Converted[str], BeforeValidator(_as_file), WithJsonSchema({"type": "string"})]
    inputs: Annotated[Converted[Pairs], BeforeValidator(_as_names), _schema({"type": "string"})]
    outputs: Annotated[Converted[Pairs], BeforeValidator(_as_names), _schema({"type": "string"})]
    sample_time: Number
    parameters: Annotated[Converted[Values], BeforeValidator(_as_values), _schema({})] = ()
    reports: Annotated[Converted[tuple[str, ...]], BeforeValidator(_as_texts), _LIST] = ()
    timeout: Number = 60.0
    name: Name | None = None  # pyright: ignore[reportIncompatibleVariableOverride]

    def __post_init__(self) -> None:
        if self.name is None:
            # '.', ':' and '__' have a meaning in labels
            object.__setattr__(self, "name", re.sub(r"[.:]|__+", "_", Path(self.file).stem))
        if not self.sample_time > 0.0:
            raise self.fail(
                f"sample_time {self.sample_time:g} s is not positive. Give the time between steps."
            )
        if not self.timeout > 0.0:
            raise self.fail(f"timeout {self.timeout:g} s is not positive. Give more than zero.")
        if not self.outputs:
            raise self.fail("outputs is empty. Name at least one output and what it drives.")
        if len(set(self.drives)) != len(self.drives):
            raise self.fail("outputs name an element twice. Drive each by one output.")
        for name in {name for name, _ in self.parameters} & {name for name, _ in self.inputs}:
            raise self.fail(f"'{name}' is in inputs and in parameters. Give it once.")
        for text in self.measures:
            try:
                parse_measure(text)
            except ValueError as error:
                raise self.fail(f"measure {error}") from None

    @property
    def measures(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Channels that go into the FMU."""
        return tuple(channel for _, channel in self.inputs)

    @property
    def drives(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Elements that its outputs drive."""
        return tuple(element for _, element in self.outputs)

    def table(self) -> NamedValues:
        """This item as a TOML table."""
        table = super().table()
        for name in ("inputs", "outputs", "parameters"):
            if name in table:
                table[name] = dict(getattr(self, name))
        return table
