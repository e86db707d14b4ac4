"""Studies as a case file describes them; `swelltree.studies` carries them out.

`operability` has conditions, a run in time and limits of many cases: a channel of the result, one
of its statistics, and what it may be.
"""

import dataclasses
import math
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, Unpack

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.casefile.toml import SchemaOf, class_schema
from swelltree.describe.environment.hydro import OmegaRange
from swelltree.describe.environment.seas import SeaLike, StillWater
from swelltree.describe.errors import SwelltreeError, shown
from swelltree.describe.forces.signals import Function, resolve
from swelltree.describe.options import (
    EquilibriumOptions,
    ModesOptions,
    Names,
    OptimalControlOptions,
    RaoOptions,
    ResponseOptions,
    SimulateOptions,
    SteadyStateOptions,
    check_positive,
    description_with,
    limit_argument,
    options_of,
)
from swelltree.describe.spec import Description, description, within
from swelltree.describe.values import (
    Converted,
    Name,
    NamedValues,
    Number,
    Numbers,
    as_numbers,
    one_of,
)


class Study(Description):
    kind: ClassVar[str] = "study"
    options: ClassVar[type]  # of its function
    name: str

    def __post_init__(self) -> None:
        check_positive(self.options, vars(self), self.fail)

    @property
    def in_time(self) -> "SimulateStudy | None":
        """The time-domain run that the study is or repeats; None for other studies."""
        return None

    def option_names(self) -> list[str]:
        """Options besides the name."""
        fields = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return [name for name in fields if name != "name"]

    def arguments(self) -> NamedValues:
        """Arguments of the study's function."""
        return {field: getattr(self, field) for field in self.option_names()}


@description_with(SimulateOptions)
class SimulateStudy(Study):
    """A run in time.

    Args:
        name: unique among the studies.
        sea: the sea, still water by default.
    """

    type: ClassVar[str] = "simulate"
    options = SimulateOptions
    name: Name
    duration: Number
    sea: SeaLike = StillWater()

    if TYPE_CHECKING:

        def __init__(
            self, name: str, *, sea: SeaLike = ..., **options: Unpack[SimulateOptions]
        ) -> None: ...

    @property
    def in_time(self) -> Self:
        """Itself."""
        return self

    def __post_init__(self) -> None:
        super().__post_init__()
        between = self.arguments()["output_step"]
        if between is not None and between > self.duration:
            raise self.fail(
                f"output_step {between} s is longer than the duration {self.duration} s."
            )


@description_with(EquilibriumOptions)
class EquilibriumStudy(Study):
    """The equilibrium.

    Args:
        name: unique among the studies.
    """

    type: ClassVar[str] = "equilibrium"
    options = EquilibriumOptions
    name: Name

    if TYPE_CHECKING:

        def __init__(self, name: str, **options: Unpack[EquilibriumOptions]) -> None: ...


@description_with(ModesOptions)
class ModesStudy(Study):
    """Natural periods, damping and mode shapes.

    Args:
        name: unique among the studies.
    """

    type: ClassVar[str] = "modes"
    options = ModesOptions
    name: Name

    if TYPE_CHECKING:

        def __init__(self, name: str, **options: Unpack[ModesOptions]) -> None: ...


@description_with(RaoOptions)
class RaoStudy(Study):
    """Motion per metre of wave in the frequency domain.

    Args:
        name: unique among the studies.
        wave_direction_deg: headings [degrees]; those of the data by default.
        sea: for stochastic drag.
    """

    type: ClassVar[str] = "rao"
    options = RaoOptions
    name: Name
    wave_direction_deg: Numbers = ()
    sea: SeaLike = StillWater()

    if TYPE_CHECKING:

        def __init__(
            self, name: str, *, wave_direction_deg: Numbers = (), **options: Unpack[RaoOptions]
        ) -> None: ...

    def arguments(self) -> NamedValues:
        """Headings in radians."""
        specified = super().arguments()
        omega, degrees = specified.pop("omega"), specified.pop("wave_direction_deg")
        specified["omega"] = omega.values if isinstance(omega, OmegaRange) else omega
        specified["wave_direction"] = [math.radians(beta) for beta in degrees] or None
        specified["sea"] = None if isinstance(self.sea, StillWater) else self.sea
        return specified


@description_with(ResponseOptions)
class ResponseStudy(Study):
    """Standard deviations and mean powers in a sea, by the linearised system.

    Args:
        name: unique among the studies.
        sea: the sea.
    """

    type: ClassVar[str] = "response"
    options = ResponseOptions
    name: Name
    sea: SeaLike

    if TYPE_CHECKING:

        def __init__(self, name: str, sea: SeaLike, **options: Unpack[ResponseOptions]) -> None: ...


@description_with(SteadyStateOptions)
class SteadyStateStudy(Study):
    """The periodic motion in a sea that repeats.

    Args:
        name: unique among the studies.
        sea: the sea.
        harmonics: number of harmonics of the period; as many as the sea needs by default.
    """

    type: ClassVar[str] = "steady_state"
    options = SteadyStateOptions
    name: Name
    sea: SeaLike
    harmonics: int | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            sea: SeaLike,
            harmonics: int | None = None,
            **options: Unpack[SteadyStateOptions],
        ) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.harmonics is not None and not self.harmonics > 0:
            raise self.fail(f"harmonics {self.harmonics} is not positive. Give more than zero.")


@description_with(OptimalControlOptions)
class OptimalControlStudy(Study):
    """Periodic PTO forces of maximum mean power, within limits.

    Args:
        name: unique among the studies.
        sea: a sea that repeats.
        pto: names of the PTOs that are driven; all by default.
    """

    type: ClassVar[str] = "optimal_control"
    options = OptimalControlOptions
    name: Name
    sea: SeaLike
    pto: Names = None

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            sea: SeaLike,
            pto: Names = None,
            **options: Unpack[OptimalControlOptions],
        ) -> None: ...

    def arguments(self) -> NamedValues:
        """Options for the study, limits by name as a dict."""
        return {key: limit_argument(value) for key, value in super().arguments().items()}


# the runs have neither name nor type of their own
UNNAMED = ("name", "type")


# those of `swelltree.statistics`, and the maximum absolute value
STATISTICS = ("abs_max", "mean", "std", "significant", "min", "max", "crossings", "mpm")
CHOICES = ("body", "dof", "line", "pto", "spring", "joint_element", "coordinate", "sensor")

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
    statistic: Annotated[str, *one_of(STATISTICS, "statistic")] = "abs_max"
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


def as_conditions(value: object) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Values of each condition as (name, values) pairs, which are hashable."""
    rows = dict(value) if isinstance(value, tuple) else value
    if not isinstance(rows, dict) or not rows:
        raise ValueError(f"{shown(value)} is not a table. Give e.g. {{ Hs = [1, 2, 3] }}.")
    return tuple((str(name), as_numbers(values)) for name, values in rows.items())


def conditions_schema() -> NamedValues:
    values = {"type": "array", "items": {"type": "number"}, "minItems": 1}
    return {"type": "object", "additionalProperties": values, "minProperties": 1}


def as_run(value: object) -> SimulateStudy:
    """A study of type simulate, or its table without a name."""
    if isinstance(value, SimulateStudy):
        return value
    if not isinstance(value, dict):
        raise ValueError(f"{shown(value)} is not a table. Give {{ duration = ..., sea = ... }}.")
    return within(SimulateStudy, {"name": "case", **value})


def run_schema() -> NamedValues:
    """Schema of simulate without name and type."""
    full = class_schema(SimulateStudy)
    fields = {key: x for key, x in full["properties"].items() if key not in UNNAMED}
    needed = [key for key in full["required"] if key not in UNNAMED]
    return full | {"properties": fields, "required": needed}


@description
class OperabilityStudy(Study):
    """Runs in many conditions, held against limits.

    Args:
        name: unique among the studies.
        over: values of each condition, fields of the sea or its spectrum, such as
            { Hs = [1, 2], Tp = [6, 9] }.
        judge: "module:function" of a result that gives more numbers by name.
        limits: tables of `ChannelLimit`: channel, limit, statistic, and body, dof, line ...
        simulate: table of a simulate study; its sea takes the conditions.
    """

    type: ClassVar[str] = "operability"
    name: Name
    over: Annotated[
        Converted[tuple[tuple[str, tuple[float, ...]], ...]],
        BeforeValidator(as_conditions),
        SchemaOf(conditions_schema),
    ]
    judge: Function | None = None
    limits: Limits = ()
    simulate: Annotated[Converted[SimulateStudy], BeforeValidator(as_run), SchemaOf(run_schema)] = (
        None
    )

    def __post_init__(self) -> None:
        if not self.limits:
            raise self.fail("there are no limits. Give [{ channel = ..., limit = ... }].")
        if self.simulate is None:
            raise self.fail("'simulate' is missing. Give { duration = ..., sea = ... }.")

    @property
    def in_time(self) -> SimulateStudy:
        """The run of each case."""
        return self.simulate

    def option_names(self) -> list[str]:
        """Its own, and those of its runs."""
        return [*super().option_names(), *self.simulate.option_names()]

    def replace(self, **changes: object) -> Self:
        """Options of a run are those of its runs."""
        of_runs = {name: changes.pop(name) for name in {*changes} & {*options_of(SimulateOptions)}}
        run = as_run(changes.pop("simulate", self.simulate))
        return super().replace(simulate=run.replace(**of_runs), **changes)

    def table(self) -> NamedValues:
        """Conditions by name, and the runs without theirs."""
        table = super().table()
        run = {key: x for key, x in table["simulate"].items() if key not in UNNAMED}
        return table | {"over": {key: list(x) for key, x in self.over}, "simulate": run}

    def arguments(self) -> NamedValues:
        """Conditions by name, options of the runs, and the function itself."""
        specified = {field: getattr(self, field) for field in ("over", "judge", "limits")}
        return specified | {
            "over": dict(self.over),
            "simulate": self.simulate.arguments(),
            "judge": resolve(self.judge),
        }
