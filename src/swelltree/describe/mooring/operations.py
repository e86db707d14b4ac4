"""Marine operations: stages in time that drive winches, catch and let go of loads.

`schedules` turns all operations into what each winch and each line does when.

Winches, which pay out and haul in a line at one of its ends, and how they are controlled.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import Point
from swelltree.describe.casefile.toml import SchemaOf, choice_schema
from swelltree.describe.errors import listed, shown, suggest
from swelltree.describe.forces.signals import Signal
from swelltree.describe.mooring.line import END_SCHEMA
from swelltree.describe.pto import MaybePoint
from swelltree.describe.spec import Description, description, parts_of, within
from swelltree.describe.values import Converted, Name, Number, as_name, one_of

if TYPE_CHECKING:
    pass


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


ACTIONS = ("hold", "brake", "pay_out", "haul_in", "couple", "release")
SWITCHES = ("couple", "release")


@description
class Stage(Description):
    """One stage of an operation.

    Args:
        action: "pay_out" or "haul_in" (a winch runs), "hold" (its set speed is zero, control goes
            on), "brake" (its drum is held, control is off), "couple" (connects the free end B of a
            line to a body), "release" (a line releases its `release_end`). A hold or brake without
            duration lasts until the next stage of its winch.
        target: the winch, or for couple and release the line.
        start: [s]; when the stage before ends if not given, zero for the first.
        duration: with both ramps [s].
        length: unstretched length to pay out or haul in [m].
        speed: of the rope between the ramps [m/s], positive.
        ramp: time to accelerate and to stop [s].
        to: body point to which the end is coupled.
        reach: max distance at which it is coupled [m].
    """

    kind: ClassVar[str] = "stage"
    action: Annotated[str, *one_of(ACTIONS, "stage action")]
    target: LineName
    start: Number | None = None
    duration: Number | None = None
    length: Number | None = None
    speed: Number | None = None
    ramp: Number = 0.0
    to: MaybePoint = None
    reach: Number = 1.0

    def __post_init__(self) -> None:
        for field in ("duration", "length", "speed", "reach"):
            value = getattr(self, field)
            if value is not None and not value > 0:
                raise self.fail(f"{field} {value} is not positive. Give more than zero.")
        for field in ("start", "ramp"):
            if (getattr(self, field) or 0.0) < 0:
                raise self.fail(f"{field} {getattr(self, field)} s is negative. Give 0 or more.")
        if (self.to is not None) != (self.action == "couple"):
            raise self.fail(
                "needs the body point to which the end is coupled. Give to=body.at(...)."
                if self.to is None
                else f"'to' belongs to the action 'couple', not '{self.action}'. Leave it out."
            )
        specified = [f for f in ("duration", "length", "speed") if getattr(self, f) is not None]
        if self.action in ("pay_out", "haul_in"):
            if len(specified) != 2:
                raise self.fail(
                    f"'{self.action}' needs two of duration, length and speed, "
                    f"not {len(specified)}. Give two."
                )
            if self.seconds < 2.0 * self.ramp:
                raise self.fail(
                    f"two ramps of {self.ramp} s do not fit into its {self.seconds:.6g} s. "
                    "Give a shorter ramp."
                )
            if not self.seconds > self.ramp:
                raise self.fail(f"duration {self.seconds:.6g} s is not longer than the ramp.")
        elif [field for field in specified if field != "duration"]:
            raise self.fail(f"'{self.action}' has no length and no speed. Leave them out.")
        elif self.action in SWITCHES and specified:
            raise self.fail(f"'{self.action}' happens at once. Leave the duration out.")

    @property
    def seconds(self) -> float:
        """How long it takes."""
        if self.duration is not None:
            return self.duration
        if self.length is None or self.speed is None:
            return 0.0
        return self.length / self.speed + self.ramp

    @property
    def rope(self) -> float:
        """Unstretched length that is paid out, negative when hauled in [m]."""
        if self.action not in ("pay_out", "haul_in"):
            return 0.0
        length = self.length
        if length is None:
            assert self.speed is not None
            length = self.speed * (self.seconds - self.ramp)
        return length if self.action == "pay_out" else -length

    @property
    def rate(self) -> float:
        """Speed between the ramps, positive when paying out [m/s]."""
        if self.action not in ("pay_out", "haul_in"):
            return 0.0
        return self.rope / (self.seconds - self.ramp)


@description
class Operation(Description):
    """Stages one after the other; several operations run in parallel.

    Args:
        name: unique in the system.
        stages: in their order in time.
    """

    kind: ClassVar[str] = "operation"
    name: Name
    stages: Annotated[
        Converted[tuple[Stage, ...]],
        parts_of(Stage, "Stage(action, target)"),
        WithJsonSchema({"type": "array"}),
    ]

    def __post_init__(self) -> None:
        if not self.stages:
            raise self.fail("has no stages. Give at least one Stage.")
        _ = self.times

    @property
    def times(self) -> tuple[tuple[float, float], ...]:
        """Begin and end of every stage [s]."""
        result: list[tuple[float, float]] = []
        ends: dict[str, float] = {}
        now = 0.0
        for number, stage in enumerate(self.stages, 1):
            begin = now if stage.start is None else stage.start
            if begin < ends.get(stage.target, 0.0) - 1e-9:
                raise self.fail(
                    f"stage {number} starts at {begin:.6g} s, while '{stage.target}' is in its "
                    f"stage before until {ends[stage.target]:.6g} s. Start it later."
                )
            now = ends[stage.target] = begin + stage.seconds
            result.append((begin, now))
        return tuple(result)


# --- What operations ask of each winch and each line: one order of all stages, one sum of speeds

RUNS = ("pay_out", "haul_in")
WORDS = {"pay_out": "pays out", "haul_in": "hauls in", "hold": "holds", "brake": "brakes"}


@dataclasses.dataclass(frozen=True)
class Placed:
    """A stage of a winch with its place in time.

    Args:
        operation: it belongs to.
        number: in that operation, from one.
        stage: as described.
        begin: [s].
        end: [s]; infinite where nothing ends it.
    """

    operation: Operation
    number: int
    stage: Stage
    begin: float
    end: float

    @property
    def text(self) -> str:
        """Description of the stage in messages."""
        stage = self.stage
        length = f" {abs(stage.rope):.6g} m" if stage.action in RUNS else ""
        until = "" if self.end == float("inf") else f" until {self.end:.6g} s"
        return (
            f"operation '{self.operation.name}' stage {self.number} {WORDS[stage.action]}"
            f"{length} at winch '{stage.target}'{until}"
        )


@dataclasses.dataclass(frozen=True)
class Schedule:
    """What operations ask of one winch.

    Args:
        stages: of this winch in time.
        time: breakpoints of the sum of the stages' speeds [s]; a jump is the same time twice.
        speed: at these times, linear in between and zero beyond [m/s].
        brakes: begin and end of the times when the drum is held [s].
        holds: begin and end of the times when its own set speed counts as zero [s].
        most: longest rope that is out beyond the first length at any time [m].
        least: the same, shortest; negative when it hauls in.
    """

    stages: tuple[Placed, ...] = ()
    time: tuple[float, ...] = ()
    speed: tuple[float, ...] = ()
    brakes: tuple[tuple[float, float], ...] = ()
    holds: tuple[tuple[float, float], ...] = ()
    most: float = 0.0
    least: float = 0.0


@dataclasses.dataclass(frozen=True)
class Coupling:
    """A line end caught by a body point, or let go.

    Args:
        line: its name.
        time: [s].
        to: body point, None for a release.
        reach: [m].
    """

    line: str
    time: float
    to: Point | None = None
    reach: float = 1.0


def winch_stages(operations: Sequence[Operation], winch: str) -> tuple[Placed, ...]:
    """Stages of a winch by all operations, in time; what has no duration ends with the next."""
    rows = [
        Placed(operation, number, stage, begin, end)
        for operation in operations
        for number, (stage, (begin, end)) in enumerate(
            zip(operation.stages, operation.times, strict=True), 1
        )
        if stage.target == winch and stage.action not in SWITCHES
    ]
    rows.sort(key=lambda row: row.begin)
    for k, row in enumerate(rows):
        if row.stage.duration is None and row.stage.action not in RUNS:
            end = rows[k + 1].begin if k + 1 < len(rows) else float("inf")
            rows[k] = dataclasses.replace(row, end=end)
    return tuple(rows)


def refuse_conflicts(stages: Sequence[Placed]) -> None:
    """Reject contradictory stages of one winch."""
    for k, row in enumerate(stages):
        if not row.end > row.begin:
            raise row.operation.fail(
                f"stage {row.number} '{row.stage.action}' of winch '{row.stage.target}' has zero "
                "duration, because another stage follows at once. Give it a duration, or the next "
                "one a start."
            )
        for other in stages[k + 1 :]:
            kinds = {row.stage.action in RUNS, other.stage.action in RUNS}
            if other.begin < row.end - 1e-9 and kinds == {True, False}:
                raise other.operation.fail(
                    f"stage {other.number} '{other.stage.action}' starts at {other.begin:.6g} s, "
                    f"while {row.text}. Start it later."
                )


def winch_schedule(operations: Sequence[Operation], winch: str) -> Schedule:
    """Speed, brakes and holds of a winch by all operations."""
    stages = winch_stages(operations, winch)
    refuse_conflicts(stages)
    time, speed = _summed([row for row in stages if row.stage.rate])
    spans = {
        word: tuple((row.begin, row.end) for row in stages if row.stage.action == word)
        for word in ("brake", "hold")
    }
    most, least = _extremes(time, speed)
    return Schedule(stages, tuple(time), tuple(speed), spans["brake"], spans["hold"], most, least)


def _summed(rows: Sequence[Placed]) -> tuple[list[float], list[float]]:
    """Breakpoints of a sum of trapezoids."""
    corners = {
        t
        for row in rows
        for t in (row.begin, row.begin + row.stage.ramp, row.end - row.stage.ramp, row.end)
    }
    time: list[float] = []
    speed: list[float] = []
    for t in sorted(corners):
        left, right = (sum(_speed(row, t, after) for row in rows) for after in (False, True))
        time += [t] if left == right else [t, t]
        speed += [left] if left == right else [left, right]
    return time, speed


def _speed(row: Placed, t: float, after: bool) -> float:
    """Speed of one stage just before or just after a time."""
    if not row.begin <= t <= row.end:
        return 0.0
    if row.stage.ramp > 0.0:
        share = min(t - row.begin, row.end - t) / row.stage.ramp
        return row.stage.rate * min(max(share, 0.0), 1.0)
    runs = t < row.end if after else t > row.begin
    return row.stage.rate if runs else 0.0


def _extremes(time: Sequence[float], speed: Sequence[float]) -> tuple[float, float]:
    """Maximum and minimum rope length relative to the initial length."""
    out = most = least = 0.0
    for t0, t1, v0, v1 in zip(time, time[1:], speed, speed[1:], strict=False):
        # the length turns where the speed passes through zero
        if v0 * v1 < 0.0:
            turn = out + 0.5 * v0 * (t1 - t0) * v0 / (v0 - v1)
            most, least = max(most, turn), min(least, turn)
        out += 0.5 * (v0 + v1) * (t1 - t0)
        most, least = max(most, out), min(least, out)
    return most, least


def couplings(operations: Sequence[Operation]) -> tuple[Coupling, ...]:
    """Line ends that are coupled or released by all operations, sorted by time."""
    result = [
        Coupling(stage.target, begin, stage.to, stage.reach)
        for operation in operations
        for stage, (begin, _) in zip(operation.stages, operation.times, strict=True)
        if stage.action in SWITCHES
    ]
    return tuple(sorted(result, key=lambda row: row.time))
