"""`operability` as a case file describes it: conditions, limits, and a run in time."""

from typing import Annotated, ClassVar, Self

from pydantic import BeforeValidator

from swelltree.describe.casefile.limits import Limits
from swelltree.describe.casefile.schema import SchemaOf, class_schema
from swelltree.describe.casefile.studies import SimulateStudy, Study
from swelltree.describe.errors import shown
from swelltree.describe.forces.signals import Function, resolve
from swelltree.describe.options import SimulateOptions, options_of
from swelltree.describe.read_as import Converted
from swelltree.describe.spec import description, within
from swelltree.describe.values import Name, NamedValues, as_numbers

# the runs have neither name nor type of their own
UNNAMED = ("name", "type")


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
