"""Winches and operations against the lines and bodies of their system."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from swelltree.describe.errors import listed, suggest
from swelltree.describe.mooring.line import Line, OnJunction, OnLine
from swelltree.describe.mooring.operations import (
    SWITCHES,
    Operation,
    Schedule,
    Stage,
    Winch,
    couplings,
    winch_schedule,
)

if TYPE_CHECKING:
    from swelltree.describe.system import System

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
