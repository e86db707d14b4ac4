"""Signals: values given as a function of time.

A signal is a number, a `Table`, a `Harmonic`, a `Polynomial`, a function f(t) that JAX can
trace, or the text "module:name" that names any of these. The text is imported only by
`resolve`, when a run needs it.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.errors import SwelltreeError, listed, shown, suggest
from swelltree.describe.spec import Description, description, within
from swelltree.describe.values import (
    Converted,
    NamedValues,
    Number,
    Numbers,
    as_number,
    one_of,
    row_of,
)

INTERPOLATIONS = ("spline", "monotone", "linear")
PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@description
class Table(Description):
    """Values at given times, joined by a curve and held beyond both ends.

    Args:
        time: increasing times [s].
        value: one value for each time.
        interpolation: "spline" (cubic, smooth to the second derivative; it overshoots the
            values beside steep flanks), "monotone" (cubic, smooth to the first derivative; it
            stays between neighbouring values) or "linear".
    """

    kind: ClassVar[str] = "table"
    type: ClassVar[str] = "table"
    time: Numbers
    value: Numbers
    interpolation: Annotated[str, *one_of(INTERPOLATIONS, "way of interpolation")] = "spline"

    def __post_init__(self) -> None:
        if len(self.time) != len(self.value):
            raise self.fail(
                f"{len(self.time)} times but {len(self.value)} values. Give as many of each."
            )
        if len(self.time) < 2:
            raise self.fail(
                f"{len(self.time)} row is too few. Give at least two, or a plain number."
            )
        for before, after in zip(self.time, self.time[1:], strict=False):
            if not after > before:
                raise self.fail(f"time {after} s follows {before} s. Give increasing times.")


@description
class Harmonic(Description):
    """offset + amplitude cos(omega t + phase).

    Args:
        amplitude: in the unit of the signal.
        omega: angular frequency [rad/s].
        phase: [rad].
        offset: mean value.
    """

    kind: ClassVar[str] = "harmonic"
    type: ClassVar[str] = "harmonic"
    amplitude: Number
    omega: Number
    phase: Number = 0.0
    offset: Number = 0.0


@description
class Polynomial(Description):
    """c0 + c1 t + c2 t^2 + ...

    Args:
        coefficients: c0, c1, c2 ... lowest power first.
    """

    kind: ClassVar[str] = "polynomial"
    type: ClassVar[str] = "polynomial"
    coefficients: Numbers

    def __post_init__(self) -> None:
        if not self.coefficients:
            raise self.fail("coefficients are empty. Give at least one number.")


# as it is stored
SignalForm = float | str | Table | Harmonic | Polynomial | Callable[[float], float]
SIGNAL_TYPES: dict[str, type[Description]] = {
    cls.type: cls for cls in (Table, Harmonic, Polynomial)
}


def as_path(value: str) -> str:
    """Validate the form of "module:name"; nothing is imported."""
    if not PATH.fullmatch(value):
        raise ValueError(
            f"{shown(value)} does not name a function. Write 'module:name', e.g. 'mylaws:push'."
        )
    return value


def as_signal(value: object) -> object:
    """Signal in its stored form, from a TOML table with a `type` if it is one."""
    if isinstance(value, str):
        return as_path(value)
    if isinstance(value, dict):
        return _from_table(value)
    if isinstance(value, tuple(SIGNAL_TYPES.values())) or callable(value):
        return value
    try:
        return as_number(value)
    except ValueError as error:
        raise ValueError(
            f"{str(error).split('. ')[0]}. Give a number, Table, Harmonic, Polynomial, "
            "function or 'module:name'."
        ) from None


def _from_table(table: dict[object, object]) -> object:
    kind = table.get("type")
    if not isinstance(kind, str) or kind not in SIGNAL_TYPES:
        raise ValueError(
            f"has signal type {shown(kind)}, which does not exist.{suggest(kind, SIGNAL_TYPES)} "
            f"The types are {listed(SIGNAL_TYPES)}."
        )
    return within(SIGNAL_TYPES[kind], {key: entry for key, entry in table.items() if key != "type"})


def as_signals(value: object) -> object:
    row = row_of(value)
    if row is None or len(row) != 3:
        raise ValueError(f"{shown(value)} is not a vector of signals. Give three: x, y, z.")
    return tuple(as_signal(entry) for entry in row)


def as_function(value: object) -> object:
    """Function, or the text "module:name" of one."""
    if isinstance(value, str):
        return as_path(value)
    if not callable(value):
        raise ValueError(f"{shown(value)} is not a function. Give a function or 'module:name'.")
    return value


def resolve(signal: Any) -> Any:
    """Import the function of a "module:name"; other values are returned unchanged."""
    if not isinstance(signal, str):
        return signal
    import importlib

    module_name, _, name = signal.partition(":")
    try:
        result: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise SwelltreeError(
            f"'{signal}': there is no module '{error.name}'. "
            "Check the spelling, or run where Python can find it."
        ) from None
    except Exception as error:
        raise SwelltreeError(
            f"'{signal}': importing '{module_name}' stopped with {type(error).__name__}: "
            f"{error}. Fix that module."
        ) from error
    for part in name.split("."):
        if not hasattr(result, part):
            raise SwelltreeError(
                f"'{signal}': module '{module_name}' has no "
                f"'{part}'.{suggest(part, dir(result)) or ' Define it there.'}"
            )
        result = getattr(result, part)
    if not callable(result) and not isinstance(result, (int, float, *SIGNAL_TYPES.values())):
        raise SwelltreeError(
            f"'{signal}' is a {type(result).__name__}, which gives no value in time. "
            "Name a function, a number or a signal."
        )
    return result


_numbers = {"type": "array", "items": {"type": "number"}}
_path_schema = {"type": "string", "pattern": f"^{PATH.pattern}$"}
SIGNAL_SCHEMA: NamedValues = {
    "anyOf": [
        {"type": "number"},
        _path_schema,
        {
            "type": "object",
            "properties": {
                "type": {"const": "table"},
                "time": _numbers,
                "value": _numbers,
                "interpolation": {"enum": list(INTERPOLATIONS)},
            },
            "required": ["type", "time", "value"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {
                "type": {"const": "harmonic"},
                **{key: {"type": "number"} for key in ("amplitude", "omega", "phase", "offset")},
            },
            "required": ["type", "amplitude", "omega"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"type": {"const": "polynomial"}, "coefficients": _numbers},
            "required": ["type", "coefficients"],
            "additionalProperties": False,
        },
    ]
}
Signal = Annotated[Converted[SignalForm], BeforeValidator(as_signal), WithJsonSchema(SIGNAL_SCHEMA)]
Signals = Annotated[
    Converted[tuple[SignalForm, ...]],
    BeforeValidator(as_signals),
    WithJsonSchema({"type": "array", "items": SIGNAL_SCHEMA, "minItems": 3, "maxItems": 3}),
]
Function = Annotated[
    Converted[str | Callable[..., object]],
    BeforeValidator(as_function),
    WithJsonSchema(_path_schema),
]
