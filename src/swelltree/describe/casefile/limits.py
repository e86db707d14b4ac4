"""Limits of many cases: a channel of the result, one of its statistics, and what it may be."""

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.casefile.toml import SchemaOf, class_schema
from swelltree.describe.errors import SwelltreeError, shown
from swelltree.describe.spec import Description, description
from swelltree.describe.values import Converted, Name, one_of

# those of `swelltree.statistics`, and the maximum absolute value
STATISTICS = ("abs_max", "mean", "std", "significant", "min", "max", "crossings", "mpm")
CHOICES = ("body", "dof", "line", "pto", "spring", "joint_element", "coordinate", "sensor")

_statistic = one_of(STATISTICS, "statistic")
Allowed = Annotated[
    Converted[float | tuple[float, float]],
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]}),
]


@description
class ChannelLimit(Description):
    """What a statistic of a channel may be at most, or between.

    Of what is not chosen, such as the line of a tension, the worst counts.

    Args:
        channel: a variable of the result over time, or a number that the study's `judge` gives.
        limit: the largest value that is allowed, or the lowest and the largest, in SI units.
        statistic: one of STATISTICS, over the time after the ramp; "abs_max" is max(abs).
        body: of the channel, where it has bodies; so the others.
        dof: direction; needed where the channel has one.
        line: name.
        pto: name.
        spring: name.
        joint_element: name.
        coordinate: name.
        sensor: name.
        name: of the number in the table; made of the choices by default.
    """

    kind: ClassVar[str] = "limit"
    channel: Name
    limit: Allowed
    statistic: Annotated[str, _statistic[0], _statistic[1]] = "abs_max"
    body: Name | None = None
    dof: Name | None = None
    line: Name | None = None
    pto: Name | None = None
    spring: Name | None = None
    joint_element: Name | None = None
    coordinate: Name | None = None
    sensor: Name | None = None
    name: Name | None = None

    @property
    def label(self) -> str:
        """Limits have no name before they are checked."""
        return "operability"

    @property
    def chosen(self) -> dict[str, str]:
        """What is chosen of each dimension."""
        return {key: getattr(self, key) for key in CHOICES if getattr(self, key) is not None}

    @property
    def title(self) -> str:
        """Name of the number in the table."""
        how = () if self.statistic == "abs_max" else (self.statistic,)
        words = (self.channel, *self.chosen.values(), *how)
        return self.name or " ".join(words).replace("/", "_")

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", self._checked())

    def _checked(self) -> float | tuple[float, float]:
        try:
            numbers = np.asarray(self.limit, dtype=float)
        except (TypeError, ValueError):
            numbers = np.full(0, np.nan)
        if numbers.shape not in ((), (2,)) or not np.isfinite(numbers).all():
            raise self.fail(
                f"limit {shown(self.limit)} of '{self.channel}' is neither a number nor two. "
                "Give the largest value, or (lowest, largest)."
            )
        if numbers.shape == ():
            if not numbers > 0:
                raise self.fail(
                    f"limit {float(numbers):g} of '{self.channel}' is not positive. "
                    "Give (lowest, largest) instead."
                )
            return float(numbers)
        low, high = (float(x) for x in numbers)
        if not low < high:
            raise self.fail(
                f"limits {low:g} to {high:g} of '{self.channel}' leave nothing. "
                "Give (lowest, largest)."
            )
        return low, high

    def used(self, value: Any) -> Any:
        """Part of the limit that a value uses; one is the limit."""
        if isinstance(self.limit, tuple):
            low, high = self.limit
            # how far from the middle of what is allowed
            return abs(value - 0.5 * (low + high)) / (0.5 * (high - low))
        return value / self.limit

    @property
    def sentence(self) -> str:
        """The limit in words."""
        limit = self.limit
        text = f"{limit[0]:g} to {limit[1]:g}" if isinstance(limit, tuple) else f"<= {limit:g}"
        return f"{self.title} {text}"


def as_limits(value: object) -> tuple[ChannelLimit, ...]:
    """Limits from a list of tables, or from {number of judge: limit}.

    Raises:
        SwelltreeError: for anything else.
    """
    if isinstance(value, dict):
        rows = [ChannelLimit(channel=key, limit=x, name=key) for key, x in value.items()]
    elif isinstance(value, list | tuple):
        rows = [_row(row) for row in value]
    else:
        raise SwelltreeError(
            f"operability: {shown(value)} is neither a list nor a table. "
            "Give [{ channel = ..., limit = ... }]."
        )
    if not rows:
        raise SwelltreeError(
            "operability: there are no limits. Give {number: largest value} or channels."
        )
    titles = [row.title for row in rows]
    for title in titles:
        if titles.count(title) > 1:
            raise SwelltreeError(
                f"operability: limit '{title}' is given twice. Give one, or each its name."
            )
    return tuple(rows)


def _row(row: object) -> ChannelLimit:
    if isinstance(row, ChannelLimit):
        return row
    if not isinstance(row, dict):
        raise SwelltreeError(
            f"operability: limits hold {shown(row)}. Give {{ channel = ..., limit = ... }}."
        )
    return ChannelLimit(**row)


def read_limits(value: object) -> tuple[ChannelLimit, ...]:
    """Limits as in the field of a study, with an own prefix for messages."""
    if isinstance(value, list | tuple) and not value:
        return ()  # reported by the study
    try:
        return as_limits(value)
    except SwelltreeError as error:
        raise ValueError(str(error).partition(": ")[2]) from None


Limits = Annotated[
    Converted[tuple[ChannelLimit, ...]],
    BeforeValidator(read_limits),
    SchemaOf(lambda: {"type": "array", "items": class_schema(ChannelLimit), "minItems": 1}),
]
