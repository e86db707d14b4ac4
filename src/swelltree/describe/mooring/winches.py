"""Winches, which pay out and haul in a line at one of its ends, and how they are controlled."""

from typing import Annotated, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import Point
from swelltree.describe.casefile.schema import SchemaOf, choice_schema
from swelltree.describe.errors import listed, shown, suggest
from swelltree.describe.forces.signals import Signal
from swelltree.describe.mooring.line import END_SCHEMA
from swelltree.describe.pto.base import MaybePoint
from swelltree.describe.read_as import Converted
from swelltree.describe.spec import Description, description, within
from swelltree.describe.values import Name, Number, as_name


@description
class ConstantTension(Description):
    """The winch pays out when the tension at it is above a set value, and hauls in below it.

    Its speed is the set speed plus gain (tension - set tension).

    Args:
        tension: to be kept at the winch [N].
        gain: speed for each newton off [m/s/N].
        band: half width of the band around the tension where it does nothing [N].
    """

    kind: ClassVar[str] = "constant tension"
    type: ClassVar[str] = "constant_tension"
    tension: Number
    gain: Number
    band: Number = 0.0

    def __post_init__(self) -> None:
        for field in ("tension", "gain"):
            if not getattr(self, field) > 0:
                raise self.fail(f"{field} {getattr(self, field)} is not positive.")
        if self.band < 0:
            raise self.fail(f"band {self.band} N is negative. Give zero or more.")


@description
class HeaveCompensation(Description):
    """The winch pays out as fast as the crane tip rises, so that the load hangs still.

    Its speed is the set speed plus gain times the upward velocity of the tip, seen with a lag.
    What is left of a harmonic motion of the tip is abs(1 - gain / (1 + i omega T)) with T the lag.

    Args:
        gain: fraction of the motion that is compensated, 1 for all.
        time_constant: lag of the measured velocity [s].
        stroke: longest rope that compensation may pay out and haul in again [m]; no limit if not
            given.
        at: point whose motion is taken out; the end of the line at the winch if not given.
    """

    kind: ClassVar[str] = "heave compensation"
    type: ClassVar[str] = "heave_compensation"
    gain: Number = 1.0
    time_constant: Number = 0.0
    stroke: Number | None = None
    at: MaybePoint = None

    def __post_init__(self) -> None:
        if not self.gain > 0:
            raise self.fail(f"gain {self.gain} is not positive. Give 1 for full compensation.")
        if self.time_constant < 0:
            raise self.fail(f"time_constant {self.time_constant} s is negative. Give 0 or more.")
        if self.stroke is not None and not self.stroke > 0:
            raise self.fail(f"stroke {self.stroke} m is not positive. Leave it out for no limit.")


CONTROL_TYPES: dict[str, type[Description]] = {
    cls.type: cls for cls in (ConstantTension, HeaveCompensation)
}


def _as_control(value: object) -> object:
    if isinstance(value, dict):
        kind = value.get("type")
        if not isinstance(kind, str) or kind not in CONTROL_TYPES:
            raise ValueError(
                f"type {shown(kind)} is not a winch control.{suggest(kind, CONTROL_TYPES)} "
                f"The types are {listed(CONTROL_TYPES)}."
            )
        return within(CONTROL_TYPES[kind], {k: x for k, x in value.items() if k != "type"})
    if value is not None and not isinstance(value, tuple(CONTROL_TYPES.values())):
        raise ValueError(
            f"{shown(value)} is not a winch control. Give ConstantTension or HeaveCompensation."
        )
    return value


LineName = Annotated[
    Converted[str],
    BeforeValidator(lambda value: as_name(getattr(value, "name", value))),
    WithJsonSchema({"type": "string"}),
]


@description
class Winch(Description):
    """A winch at an end of a line.

    Args:
        name: unique in the system.
        line: the line or its name.
        end: of the line at which it is, "A" or "B".
        speed: of paying out, a number or a signal [m/s]; negative hauls in. Operations add theirs.
        control: `ConstantTension` or `HeaveCompensation`; none by default.
        max_speed: limit of the speed [m/s].
        time_constant: lag of the drive [s]; the rope follows at once if zero.
        drum: longest unstretched length of line that can be out [m]; the line's own length,
            what operations pay out and one segment more if not given.
        min_length: shortest unstretched length out [m]; one segment if not given.
        stopping_time: before the end of the drum and the shortest length the speed is at most the
            length left over this time [s].
        alpha_split: the first segment is split when it is longer than this times its first length.
        alpha_merge: it is joined with the next when it is shorter than this times that length.
    """

    kind: ClassVar[str] = "winch"
    name: Name
    line: LineName
    end: Annotated[str, END_SCHEMA[0], END_SCHEMA[1]] = "A"
    speed: Signal = 0.0
    control: Annotated[
        Converted[ConstantTension | HeaveCompensation | None],
        BeforeValidator(_as_control),
        SchemaOf(lambda: choice_schema(CONTROL_TYPES)),
    ] = None
    max_speed: Number | None = None
    time_constant: Number = 0.0
    drum: Number | None = None
    min_length: Number | None = None
    stopping_time: Number = 0.5
    alpha_split: Number = 1.5
    alpha_merge: Number = 0.5

    def __post_init__(self) -> None:
        for field in ("max_speed", "drum", "min_length", "stopping_time"):
            value = getattr(self, field)
            if value is not None and not value > 0:
                raise self.fail(f"{field} {value} is not positive. Give more than zero.")
        if self.time_constant < 0:
            raise self.fail(f"time_constant {self.time_constant} s is negative. Give 0 or more.")
        if not 0.0 < self.alpha_merge < 1.0:
            raise self.fail(f"alpha_merge {self.alpha_merge} is not between 0 and 1. Give 0.5.")
        if not 1.0 < self.alpha_split <= 2.0:
            raise self.fail(f"alpha_split {self.alpha_split} is not between 1 and 2. Give 1.5.")
        if self.alpha_split - 1.0 < 0.1 or self.alpha_merge > self.alpha_split - 0.2:
            raise self.fail(
                f"alpha_split {self.alpha_split} and alpha_merge {self.alpha_merge} are so near "
                "that segments would split and merge at once. Give 1.5 and 0.5."
            )
        if self.drum is not None and self.min_length is not None and self.drum <= self.min_length:
            raise self.fail(
                f"drum {self.drum} m is not longer than min_length {self.min_length} m."
            )
        limit = float("inf") if self.max_speed is None else self.max_speed
        if isinstance(self.speed, float) and abs(self.speed) > limit:
            raise self.fail(f"speed {self.speed} m/s is more than max_speed {limit} m/s.")

    @property
    def points(self) -> dict[str, Point]:
        """Points on bodies by field name."""
        at = getattr(self.control, "at", None)
        return {} if at is None else {"control at": at}
