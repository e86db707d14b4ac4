"""Winches, which pay out and haul in a line at one of its ends, and how they are controlled.

Winches and operations against the lines and bodies of their system.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import Point
from swelltree.describe.casefile.toml import SchemaOf, choice_schema
from swelltree.describe.errors import listed, shown, suggest
from swelltree.describe.forces.signals import Signal
from swelltree.describe.mooring.line import END_SCHEMA, Line, OnJunction, OnLine
from swelltree.describe.mooring.operations import (
    SWITCHES,
    Operation,
    Schedule,
    Stage,
    couplings,
    winch_schedule,
)
from swelltree.describe.pto.kinds import MaybePoint
from swelltree.describe.spec import Converted, Description, description, within
from swelltree.describe.values import Name, Number, as_name

if TYPE_CHECKING:
    from swelltree.describe.system import System


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


MODELS = ("dynamic", "multibody", "quasi_static")


def from_winch(line: Line, winch: Winch) -> Line:
    """The line described from the winch on, which is at its end A then."""
    return line.reversed() if winch.end == "B" else line


def lines_from_winches(system: System) -> dict[str, Line]:
    """Lines by name, those of winches described from the winch on."""
    lines = {line.name: line for line in system.lines}
    return lines | {w.line: from_winch(lines[w.line], w) for w in system.winches}


def first_segment(line: Line) -> float:
    """Unstretched length of the segment at end A as described [m]."""
    part = line.parts[0]
    return part.length / line.segment_counts[0]


def drum_length(line: Line, winch: Winch, schedule: Schedule) -> float:
    """Maximum unstretched length paid out [m]."""
    needed = line.rest_length + schedule.most + first_segment(line)
    return needed if winch.drum is None else winch.drum


def shortest_length(line: Line, winch: Winch) -> float:
    """Minimum unstretched length paid out [m]."""
    others = line.rest_length - line.parts[0].length
    return others + first_segment(line) if winch.min_length is None else winch.min_length


def check_winches(system: System) -> None:
    """Every winch has its own line, and enough rope for its commands."""
    lines = {line.name: line for line in system.lines}
    taken: dict[str, str] = {}
    for winch in system.winches:
        if winch.line not in lines:
            raise winch.fail(_unknown("line", winch.line, lines))
        if winch.line in taken:
            raise winch.fail(
                f"line '{winch.line}' has winch '{taken[winch.line]}' already. Use one of them."
            )
        taken[winch.line] = winch.name
        line = lines[winch.line]
        if line.model not in MODELS:
            raise winch.fail(
                f"line '{line.name}' has the model '{line.model}', which cannot change its "
                "length. Give model='dynamic', 'multibody' or 'quasi_static'."
            )
        _check_end(system, winch, line)
        line = from_winch(line, winch)
        for other in system.lines:
            if any(isinstance(e, OnLine) and e.line == line.name for e in (other.A, other.B)):
                raise winch.fail(
                    f"line '{other.name}' ends along line '{line.name}', which changes its length. "
                    "End both on a Junction."
                )
        schedule = winch_schedule(system.operations, winch.name)
        _check_lengths(line, winch, schedule)
        _check_sum(winch, schedule)


def _check_end(system: System, winch: Winch, line: Line) -> None:
    """The end on the drum is not released and not coupled."""
    other = "A" if winch.end == "B" else "B"
    released = line.release_time is not None or line.release_tension is not None
    switched = any(row.line == line.name for row in couplings(system.operations))
    if line.release_end == winch.end and (released or switched or winch.end == "A"):
        raise winch.fail(
            f"it is at end {winch.end} of line '{line.name}', which that line releases. Give "
            f"release_end='{other}', or the winch end='{other}'."
        )
    if switched and winch.end == "B":
        raise winch.fail(
            f"it is at end B of line '{line.name}', which operations couple or release. Give the "
            "winch end='A'."
        )


def _check_lengths(line: Line, winch: Winch, schedule: Schedule) -> None:
    steady = isinstance(winch.speed, float)
    growing = winch.speed > 0.0 if isinstance(winch.speed, float) else True
    if winch.drum is None and (winch.control is not None or growing):
        why = "is controlled" if winch.control else "pays out" if steady else "has a speed in time"
        raise winch.fail(f"it {why}, but 'drum' is missing. Give the longest length out in metres.")
    if winch.drum is not None and winch.drum < line.rest_length:
        raise winch.fail(
            f"drum {winch.drum} m is shorter than the {line.rest_length} m of line "
            f"'{line.name}' that are out at first. Give a longer drum."
        )
    others = line.rest_length - line.parts[0].length
    least = others + winch.alpha_merge * first_segment(line)
    if winch.min_length is not None and winch.min_length < least * (1.0 - 1e-9):
        raise winch.fail(
            f"min_length {winch.min_length} m leaves a first segment below its shortest; "
            f"with segments of {first_segment(line):.6g} m it is {least:.6g} m. "
            "Give more, or more segments."
        )
    shortest = shortest_length(line, winch)
    if shortest > line.rest_length * (1.0 + 1e-9):
        raise winch.fail(
            f"min_length {shortest:.6g} m is more than the {line.rest_length} m of line "
            f"'{line.name}'. Give less."
        )
    drum = drum_length(line, winch, schedule)
    if line.rest_length + schedule.most > drum * (1.0 + 1e-9):
        raise winch.fail(
            f"operations pay out {schedule.most:.6g} m, but only {drum - line.rest_length:.6g} m "
            "are left on the drum. Give a longer drum or pay out less."
        )
    if line.rest_length + schedule.least < shortest * (1.0 - 1e-9):
        raise winch.fail(
            f"operations haul in {-schedule.least:.6g} m, but line '{line.name}' of "
            f"{line.rest_length:.6g} m may not be shorter than {shortest:.6g} m. Haul in less."
        )


def _check_sum(winch: Winch, schedule: Schedule) -> None:
    """Set speed and stages together do not exceed the maximum speed of the winch."""
    set_speed = winch.speed if isinstance(winch.speed, float) else 0.0
    limit = float("inf") if winch.max_speed is None else winch.max_speed
    for t, speed in zip(schedule.time, schedule.speed, strict=True):
        if abs(set_speed + speed) > limit * (1.0 + 1e-9):
            raise winch.fail(
                f"at t = {t:.6g} s its set speed of {set_speed:.6g} m/s and its stages of "
                f"{speed:.6g} m/s together are more than max_speed {limit} m/s. Give the stages "
                "more time."
            )


def _check_couplings(system: System) -> None:
    """Every line end that is coupled is free then, and every end that is released is held."""
    for line in system.lines:
        changes = [
            (row.time, row.to is not None)
            for row in couplings(system.operations)
            if row.line == line.name
        ]
        if line.release_end == "A" and any(couples for _, couples in changes):
            raise line.fail(
                "operations couple its end B, but it releases its end A. Give release_end='B'."
            )
        if line.release_time is not None:
            changes = sorted([*changes, (line.release_time, False)], key=lambda row: row[0])
        coupled, last = not isinstance(line.B, OnJunction), -1.0
        for time, couples in changes if len(changes) > 1 else ():
            if abs(time - last) <= 1e-9:
                raise line.fail(
                    f"operations couple or release it twice at t = {time:.6g} s, so that the order "
                    "is not known. Give them different times."
                )
            if not couples and not coupled:
                raise line.fail(
                    f"operations release it at t = {time:.6g} s, when nothing holds its end B. "
                    "Couple it before, or leave the release out."
                )
            if couples and coupled:
                raise line.fail(
                    f"operations couple it at t = {time:.6g} s, while it is coupled since "
                    f"{last:.6g} s. Release it before, or leave one of the two out."
                )
            coupled, last = couples, time


def check_operations(system: System) -> None:
    """Stages refer to existing winches and lines and are feasible."""
    for operation in system.operations:
        for number, stage in enumerate(operation.stages, 1):
            if stage.action in SWITCHES:
                _check_switch(system, operation, number, stage)
            else:
                _check_run(system, operation, number, stage)
    _check_couplings(system)


def _check_run(system: System, operation: Operation, number: int, stage: Stage) -> None:
    winches = {winch.name: winch for winch in system.winches}
    if stage.target not in winches:
        raise operation.fail(f"stage {number}: {_unknown('winch', stage.target, winches)}")
    limit = winches[stage.target].max_speed
    if limit is not None and abs(stage.rate) > limit * (1.0 + 1e-9):
        raise operation.fail(
            f"stage {number} runs at {abs(stage.rate):.6g} m/s, more than max_speed {limit} m/s "
            f"of winch '{stage.target}'. Give it more time."
        )


def _check_switch(system: System, operation: Operation, number: int, stage: Stage) -> None:
    lines = {line.name: line for line in system.lines}
    if stage.target not in lines:
        raise operation.fail(f"stage {number}: {_unknown('line', stage.target, lines)}")
    line = lines[stage.target]
    if line.model != "dynamic":
        raise operation.fail(
            f"stage {number}: line '{line.name}' has the model '{line.model}'; only ends of "
            "dynamic lines are coupled and released. Give model='dynamic'."
        )
    if stage.to is None:
        return
    bodies = [body.name for body in system.bodies]
    if stage.to.body not in bodies:
        raise operation.fail(f"stage {number}: {_unknown('body', stage.to.body, bodies)}")
    if not isinstance(line.B, OnJunction):
        raise operation.fail(
            f"stage {number}: end B of line '{line.name}' is not free to be caught. "
            "End the line on a Junction, its hook."
        )


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    names = list(known)
    rest = suggest(name, names) or (
        f" There are {listed(names)}." if names else f" There is no {kind} at all."
    )
    return f"{kind} '{name}' is not in the system.{rest}"
