"""Winches before and after a run: steps that can carry them, lines that went slack."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.integrate.complementarity.lines.winch_statics import CARRY
from swelltree.model.capabilities import all_winches
from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import lines_of, required_lines
from swelltree.mooring.winches import FREE, SetSpeed, Winches

if TYPE_CHECKING:
    import xarray as xr

SLACK_FOR = 1.0  # s: shorter slack is a snap, which the tension shows
SAMPLES = 2001
RELEASE = re.compile(
    r"(?P<time>\S+) s: (?:end B of )?line '(?P<line>.+)' (?P<what>is released|is caught).*"
)
UPRIGHT, SHORT = 0.3, 0.995  # of the length: a hoisting line, and one that is not straight


def validate_winch_commands(model: Model, times: np.ndarray) -> None:
    """Reject set speeds and stages that exceed the winch's limits together."""
    for winches in all_winches(model):
        for name, set_speed, limit in zip(
            winches.names, winches.speed, winches.max_speed, strict=True
        ):
            at, speed = _set_rates(set_speed, times)
            speed = speed * np.array([1.0 - float(set_speed.braked(np.asarray(t))) for t in at])
            k = int(np.argmax(np.abs(speed)))
            if abs(speed[k]) > limit * (1.0 + 1e-9):
                raise SwelltreeError(
                    f"winch '{name}': at t = {at[k]:.6g} s its set speed and its stages ask for "
                    f"{speed[k]:.6g} m/s, more than max_speed {float(limit):.6g} m/s. "
                    "Ask for less, or give a larger max_speed."
                )


def stages_until(model: Model, t: float) -> list[str]:
    """Stages of winches up to a time, one message each."""
    rows = sorted(row for winches in all_winches(model) for row in winches.stages)
    return [f"{begin:.6g} s: {text}" for begin, text in rows if begin <= t]


def _set_rates(speed: SetSpeed, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Set speed with stages at many times of a run and at all its breakpoints."""
    fine = np.linspace(times[0], times[-1], SAMPLES)
    corners = np.asarray(speed.time)
    at = np.concatenate([fine, corners[(corners >= times[0]) & (corners <= times[-1])]])
    return at, np.array([float(speed(np.asarray(t))) for t in at])


def set_speeds(winches: Winches, times: np.ndarray) -> np.ndarray:
    """Maximum set speed of every winch during a run (winch,) [m/s], within its limit."""
    largest = [np.abs(_set_rates(speed, times)[1]).max() for speed in winches.speed]
    return np.minimum(largest, winches.max_speed)


def longest_step(model: Model, times: np.ndarray) -> float:
    """Maximum step for all winches at their set and limited speeds [s]."""
    longest = np.inf
    for winches in all_winches(model):
        controlled = (winches.tension_gain > 0.0) | (winches.heave_gain > 0.0)
        limited = np.where(controlled & (winches.max_speed < FREE), winches.max_speed, 0.0)
        speed = np.maximum(set_speeds(winches, times), limited)
        steps = CARRY * winches.segment / np.maximum(speed, 1e-12)
        longest = min(longest, float(steps.min()))
    return longest


def refuse_fast_winches(model: Model, step: float, times: np.ndarray) -> None:
    """Reject winches that split or merge more than one segment per step."""
    for winches in all_winches(model):
        speeds = set_speeds(winches, times)
        for name, segment, speed in zip(winches.names, winches.segment, speeds, strict=True):
            most = CARRY * float(segment)
            if speed * step > most * (1.0 + 1e-9):
                raise SwelltreeError(
                    f"winch '{name}': at {speed:.4g} m/s it moves {speed * step:.4g} m in a step "
                    f"of {step:.4g} s, more than the {most:.4g} m that segments of "
                    f"{float(segment):.4g} m carry. Give step={most / speed:.2g} or less, or "
                    "fewer segments."
                )


def warn_light_hook_loads(model: Model) -> None:
    """Warn before a run of loads lighter than the water they displace."""
    lines = lines_of(model)
    winches = None if lines is None else lines.winches
    if lines is None or winches is None:
        return
    ends = np.array(lines.end_body).reshape(-1, lines.n_points)[:, 1]
    for name, k in zip(winches.names, winches.line, strict=True):
        body = int(ends[k])
        if body >= model.layout.n_bodies:
            continue
        mass = float(np.asarray(model.bodies.mass)[body])
        lift = float(np.asarray(model.bodies.volume)[body] * model.rho)
        if lift > mass:
            warn_user(
                f"winch '{name}': its load '{model.layout.bodies[body]}' of {mass:.4g} kg "
                f"displaces {lift:.4g} kg of water, so it rises and its line goes slack. "
                "Give more mass."
            )


def warn_winch_findings(model: Model, result: xr.Dataset) -> None:
    """Warn after a run of slack lines, failed couplings and limited speeds."""
    for text in _sentences(model, result):
        warn_user(text)


def _sentences(model: Model, result: xr.Dataset) -> list[str]:
    lines = lines_of(model)
    if lines is None:
        return []
    rows = str(result.attrs.get("event_log", "")).split("\n")
    failed = [row for row in rows if "not caught" in row or "can carry" in row]
    if lines.winches is None or result.sizes["time"] < 2:
        return failed
    time = np.asarray(result["time"])
    span = float(time[1] - time[0])
    excused = _resting(model, result) | _released(lines.lines, rows, time)
    for name, k in zip(lines.winches.names, lines.winches.line, strict=True):
        nodes = result["line_position"].sel(line=lines.pieces[k]).values
        nodes = nodes[:, ::-1] if lines.turned[k] else nodes
        way = nodes[:, -1] - nodes[:, 0]
        length = result["winch_length"].sel(winch=name).values
        # mooring lines sag; hoisting lines hang down
        hangs = np.hypot(way[:, 0], way[:, 1]) < UPRIGHT * length
        straight = np.linalg.norm(way, axis=1) >= SHORT * length
        loose = hangs & ~(straight & (way[:, 2] < 0.0)) & ~excused[:, k]
        if loose.sum() * span > SLACK_FOR:
            failed.append(
                f"winch '{name}': line '{lines.pieces[k]}' hung slack for {loose.sum() * span:.3g} "
                f"s, first at t = {time[loose.argmax()]:.6g} s; its load is lighter than water or "
                "is lowered faster than it sinks. Give more weight or less speed."
            )
    return failed


def _released(names: tuple[str, ...], log: list[str], time: np.ndarray) -> np.ndarray:
    """Times when end B of each line was released (time, line)."""
    out = np.zeros((len(time), len(names)), bool)
    for row in log:  # in time: an end that is caught again carries again
        if match := RELEASE.fullmatch(row):
            of_line = np.array([name == match["line"] for name in names])
            later = time >= float(match["time"]) - 1e-9
            out[np.ix_(later, of_line)] = match["what"] == "is released"
    return out


def _resting(model: Model, result: xr.Dataset) -> np.ndarray:
    """Times when the load of each line rested on the seabed (time, line)."""
    lines = required_lines(model)
    out = np.zeros((result.sizes["time"], len(lines.pieces)), bool)
    if "contact_force" not in result:
        return out
    force = np.linalg.norm(np.asarray(result["contact_force"]), axis=-1) > 0.0
    ends = np.array(lines.end_body).reshape(-1, lines.n_points)[:, 1]
    for k, body in enumerate(ends):
        of_body = np.array(lines.contact_body) == body
        out[:, k] = force[:, of_body].any(axis=1)
    return out
