"""Winches of a compiled system: their commands, what they measure, how fast they run.

One object for all winches of lines of one model; every number is a row (winch,). The rope speed is
positive when it pays out. The same functions serve fixed steps (`after_step`) and smooth solvers
(`rates`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

import numpy as np

from swelltree.describe import System
from swelltree.describe.bodies.body import Point
from swelltree.describe.mooring.line import OnJunction
from swelltree.describe.mooring.operations import (
    ConstantTension,
    HeaveCompensation,
    Schedule,
    Winch,
    winch_schedule,
)
from swelltree.describe.mooring.winch_checks import (
    drum_length,
    first_segment,
    lines_from_winches,
    shortest_length,
)
from swelltree.describe.topology import WORLD_NAME
from swelltree.jit import Array, Tree, namespace, pytree
from swelltree.model.effect import Coordinate
from swelltree.model.signals import compile_signal
from swelltree.multibody.build_layout import local_point
from swelltree.multibody.layout import Layout

FREE = 1e30  # no limit
SLOWED = 0.05  # of the stopping time, in which a drive loses what a stop takes from the rope
STOPPED = 0.02  # of the speed asked for: a winch this slow stands at its stop


@pytree()
class SetSpeed:
    """A signal and the straight pieces of operations; zero where the drum is held.

    Args:
        signal: compiled, the winch's own.
        time: breakpoints of the pieces (k,) [s].
        speed: at the breakpoints (k,) [m/s].
        brakes: begin and end of the times when the drum is held (b, 2) [s].
        holds: begin and end of the times when the signal counts as zero (b, 2) [s].
        width: time about an instant of which the mean is taken; zero for the value there [s].
    """

    signal: Tree
    time: Array
    speed: Array
    brakes: Array
    holds: Array
    width: Array = field(default_factory=lambda: np.zeros(()))

    def __call__(self, t: Array) -> Array:
        return sum(self.commanded(t, 0.0 * t)[:2])

    def corners(self) -> Array:
        """Times at which set speed or brake change [s]."""
        of_signal = getattr(self.signal, "corners", lambda: np.zeros(0))()
        xp = namespace(of_signal, self.time, self.brakes, self.holds)
        spans = [x.reshape(-1) for x in (self.brakes, self.holds)]
        return xp.concatenate([of_signal, self.time, *spans])

    def commanded(self, t: Array, h: Array) -> tuple[Array, Array, Array]:
        """Speed of the stages, of the winch's own signal, and fraction of time it is held.

        All are means over a time h about t, so that the rope is right however short a ramp is;
        over `width` where h is zero, and those at t itself where both are.
        """
        xp = namespace(t, h, self.time, self.brakes, self.holds, self.width)
        h = xp.where(h > 0.0, h, self.width)
        some = xp.where(h > 0.0, h, 1.0)
        ends = t - 0.5 * h, t + 0.5 * h

        def mean(value: Array, integral: Callable[[Array], Array]) -> Array:
            return xp.where(h > 0.0, (integral(ends[1]) - integral(ends[0])) / some, value)

        stages = 0.0 * t
        if len(self.time):
            stages = mean(self._stages(t)[0], lambda x: self._stages(x)[1])
        set_speed, full = self.signal(t), getattr(self.signal, "integral", None)
        set_speed = set_speed if full is None else mean(set_speed, full)
        braked, resting = (
            mean(_within(t, spans), lambda x, spans=spans: _time_within(x, spans))
            for spans in (self.brakes, self.holds)
        )
        return stages, (1.0 - resting) * set_speed, braked

    def _stages(self, t: Array) -> tuple[Array, Array]:
        """Speed of the stages and the rope paid out by them."""
        xp = namespace(t, self.time, self.speed)
        time, speed = xp.asarray(self.time), xp.asarray(self.speed)
        paid = xp.cumsum(0.5 * (speed[1:] + speed[:-1]) * xp.diff(time))
        paid = xp.concatenate([xp.zeros(1), paid])
        # a jump at t counts as done
        k = xp.clip(xp.searchsorted(self.time, t, side="right"), 1, len(self.time) - 1)
        t0, t1, v0, v1 = time[k - 1], time[k], speed[k - 1], speed[k]
        share = xp.clip((t - t0) / xp.maximum(t1 - t0, 1e-12), 0.0, 1.0)
        rope = paid[k - 1] + (t1 - t0) * share * (v0 + 0.5 * share * (v1 - v0))
        return v0 + share * (v1 - v0), rope

    def braked(self, t: Array) -> Array:
        """One while the brake is on, else zero."""
        return _within(t, self.brakes)


def _within(t: Array, spans: Array) -> Array:
    """One while a time is within one of the spans (b, 2), else zero."""
    xp = namespace(t, spans)
    on = (t >= spans[:, 0]) & (t < spans[:, 1])
    return xp.where(on.any(), 1.0, 0.0) if len(spans) else 0.0 * t


def _time_within(t: Array, spans: Array) -> Array:
    """Time spent within the spans (b, 2), which do not overlap [s]."""
    xp = namespace(t, spans)
    passed = xp.minimum(xp.maximum(t - spans[:, 0], 0.0), spans[:, 1] - spans[:, 0])
    return passed.sum() if len(spans) else 0.0 * t


@pytree("names", "lines", "ends", "line", "tip_body", "tip_junction", "stages")
class Winches:
    """Winches of the lines of one model, (winch,) unless said otherwise.

    Args:
        speed: what each is set to, `SetSpeed`.
        length: unstretched length that is out at first [m].
        segment: unstretched length of a whole first segment [m].
        drum: longest length out [m].
        shortest: shortest length out [m].
        split: first segments longer than this are split [m].
        merge: first segments shorter than this are joined with the next [m].
        max_speed: [m/s].
        time_constant: lag of the drive [s].
        stopping_time: [s].
        tension: that constant tension keeps [N].
        tension_gain: zero without constant tension [m/s/N].
        tension_band: half width of the band where it does nothing [N].
        heave_gain: zero without heave compensation.
        heave_lag: of the measured velocity [s].
        heave_half: half of the stroke of heave compensation [m].
        tip_point: point whose upward velocity is measured (winch, 3), in body axes.
        names: of the winches.
        lines: of their lines.
        ends: of the lines at which they are, "A" or "B".
        line: number of each one's line, or of the piece at the winch.
        tip_body: body of that point, N: the world.
        tip_junction: name of the junction that is measured instead, empty for none.
        stages: begin of every stage and what it does, of all winches in time.
    """

    speed: tuple[SetSpeed, ...]
    length: Array
    segment: Array
    drum: Array
    shortest: Array
    split: Array
    merge: Array
    max_speed: Array
    time_constant: Array
    stopping_time: Array
    tension: Array
    tension_gain: Array
    tension_band: Array
    heave_gain: Array
    heave_lag: Array
    heave_half: Array
    tip_point: Array
    names: tuple[str, ...]
    lines: tuple[str, ...]
    ends: tuple[str, ...]
    line: tuple[int, ...]
    tip_body: tuple[int, ...]
    tip_junction: tuple[str, ...]
    stages: tuple[tuple[float, str], ...]

    @property
    def count(self) -> int:
        return len(self.names)


@pytree()
class WinchState:
    """What winches remember, (winch,).

    Args:
        length: unstretched length out [m].
        speed: of the rope, behind the lag of the drive [m/s].
        heave: upward velocity of the tip behind its lag [m/s].
        stroke: rope that compensation has paid out [m].
        compensated: part of the speed that compensation asked for, behind the lag too [m/s].
    """

    length: Array
    speed: Array
    heave: Array
    stroke: Array
    compensated: Array


def build_winches(
    system: System, layout: Layout, lines: Sequence[str], model: str = "dynamic"
) -> Winches | None:
    """Winches of the lines of one model; None where there are none.

    Args:
        system: checked.
        layout: of its bodies.
        lines: names of lines in the order of their numbers, each at its first piece.
        model: "dynamic", "multibody" or "quasi_static".
    """
    by_name = lines_from_winches(system)
    described = [winch for winch in system.winches if by_name[winch.line].model == model]
    if not described:
        return None
    plans = [winch_schedule(system.operations, winch.name) for winch in described]
    pairs = [
        (by_name[winch.line], winch, plan) for winch, plan in zip(described, plans, strict=True)
    ]
    full = np.array([first_segment(line) for line, _, _ in pairs])
    hold = [w.control if isinstance(w.control, ConstantTension) else None for w in described]
    heave = [w.control if isinstance(w.control, HeaveCompensation) else None for w in described]

    def column(items: Sequence[object], name: str, usual: float) -> np.ndarray:
        values = [None if item is None else getattr(item, name) for item in items]
        return np.array([usual if x is None else x for x in values], float)

    bodies, points, junctions = _tips(system, layout, described)
    stages = [(row.begin, row.text) for plan in plans for row in plan.stages]
    return Winches(
        speed=tuple(_set_speed(w, plan) for w, plan in zip(described, plans, strict=True)),
        length=np.array([line.rest_length for line, _, _ in pairs]),
        segment=full,
        drum=np.array([drum_length(line, w, plan) for line, w, plan in pairs]),
        shortest=np.array([shortest_length(line, w) for line, w, _ in pairs]),
        split=full * column(described, "alpha_split", 1.5),
        merge=full * column(described, "alpha_merge", 0.5),
        max_speed=column(described, "max_speed", FREE),
        time_constant=column(described, "time_constant", 0.0),
        stopping_time=column(described, "stopping_time", 0.5),
        tension=column(hold, "tension", 0.0),
        tension_gain=column(hold, "gain", 0.0),
        tension_band=column(hold, "band", 0.0),
        heave_gain=column(heave, "gain", 0.0),
        heave_lag=column(heave, "time_constant", 0.0),
        heave_half=0.5 * column(heave, "stroke", FREE),
        tip_point=points,
        names=tuple(w.name for w in described),
        lines=tuple(w.line for w in described),
        ends=tuple(w.end for w in described),
        line=tuple(list(lines).index(w.line) for w in described),
        tip_body=bodies,
        tip_junction=junctions,
        stages=tuple(sorted(stages, key=lambda row: row[0])),
    )


def _set_speed(winch: Winch, plan: Schedule) -> SetSpeed:
    return SetSpeed(
        compile_signal(winch.speed),
        np.array(plan.time, float),
        np.array(plan.speed, float),
        *(
            np.array([(a, min(b, FREE)) for a, b in spans], float).reshape(-1, 2)
            for spans in (plan.brakes, plan.holds)
        ),
    )


def _tips(
    system: System, layout: Layout, winches: Sequence[Winch]
) -> tuple[tuple[int, ...], np.ndarray, tuple[str, ...]]:
    """Body and point, or junction, whose upward velocity each winch measures; else the world."""
    lines = lines_from_winches(system)
    bodies, points, junctions = [], [], []
    for winch in winches:
        at = getattr(winch.control, "at", None) or lines[winch.line].A
        body = getattr(at, "body", WORLD_NAME)
        fixed = body == WORLD_NAME
        bodies.append(layout.n_bodies if fixed else layout.bodies.index(body))
        points.append(
            local_point(system, at) if isinstance(at, Point) and not fixed else np.zeros(3)
        )
        junctions.append(at.junction if isinstance(at, OnJunction) else "")
    return tuple(bodies), np.array(points, float).reshape(-1, 3), tuple(junctions)


def winch_coordinates(winches: Winches) -> dict[str, Coordinate]:
    """What names the rows of winches in results."""
    return {
        "winch": ("winch", winches.names, "winch"),
        "winch_line": ("winch", winches.lines, "line of the winch"),
        "winch_end": ("winch", winches.ends, "end of the line at the winch"),
    }


def winch_start(winches: Winches) -> WinchState:
    zero = np.zeros(winches.count)
    return WinchState(np.array(winches.length, float), zero, zero, zero, zero)


def _commanded(winches: Winches, t: Array, h: Array) -> tuple[Array, Array, Array]:
    """Speed of the stages, set speed, and fraction of time with the brake on."""
    rows = [s.commanded(t, h) for s in winches.speed]
    xp = namespace(*(x for row in rows for x in row), t)
    stages, set_speed, braked = (xp.stack([xp.asarray(row[k]) for row in rows]) for k in range(3))
    return stages, set_speed, braked


def within_stroke(winches: Winches, speed: Array, stroke: Array) -> Array:
    """Compensation speed reduced before the ends of the stroke (winch,) [m/s]."""
    xp = namespace(speed, stroke)
    half, time = winches.heave_half, winches.stopping_time
    return xp.clip(speed, -(half + stroke) / time, (half - stroke) / time)


def demand(
    winches: Winches, t: Array, h: Array, tension: Array, heave: Array, stroke: Array
) -> tuple[Array, Array]:
    """Speed that the drive is asked for, before the stops, and the part of compensation in it.

    Args:
        winches: all.
        t: time [s].
        h: step about it, over which the mean is asked for; zero for the value at t [s].
        tension: of the line at the winch (winch,) [N].
        heave: measured upward velocity behind its lag [m/s].
        stroke: of heave compensation so far [m].
    """
    stages, set_speed, braked = _commanded(winches, t, h)
    xp = namespace(stages, set_speed, tension, heave, stroke)
    off = tension - winches.tension
    over = xp.sign(off) * xp.maximum(xp.abs(off) - winches.tension_band, 0.0)
    others = set_speed + winches.tension_gain * over
    more = within_stroke(winches, winches.heave_gain * heave, stroke)
    limit = winches.max_speed
    # no stage runs a winch that another brakes
    without, full = (
        xp.clip(stages + (1.0 - braked) * x, -limit, limit) for x in (others, others + more)
    )
    return full, full - without


def obeyed(
    winches: Winches, speed: Array, compensated: Array, length: Array, stroke: Array, most: Array
) -> tuple[Array, Array]:
    """Speed of the rope within all stops, and the part of compensation that is left in it.

    Args:
        winches: all.
        speed: behind the lag of the drive (winch,) [m/s].
        compensated: the part of compensation in it.
        length: out [m].
        stroke: of compensation so far [m].
        most: speed that the step can carry [m/s].
    """
    xp = namespace(speed, compensated, length)
    without = speed - compensated
    full = without + within_stroke(winches, compensated, stroke)
    done, others = (xp.clip(within_stops(winches, x, length), -most, most) for x in (full, without))
    return done, done - others


def within_stops(winches: Winches, speed: Array, length: Array) -> Array:
    """Speed reduced before the end of the drum and the minimum length (winch,) [m/s]."""
    xp = namespace(speed, length)
    out = xp.maximum(winches.drum - length, 0.0) / winches.stopping_time
    back = xp.maximum(length - winches.shortest, 0.0) / winches.stopping_time
    return xp.clip(speed, -back, out)


def at_stop(winches: Winches, t: Array, state: WinchState, tension: Array) -> Array:
    """Winches stopped at the end of the drum (1) or at the minimum length (-1)."""
    requested, _ = demand(winches, t, 0.0 * t, tension, state.heave, state.stroke)
    xp = namespace(requested, state.length)
    allowed = within_stops(winches, requested, state.length)
    stands = xp.abs(allowed) < STOPPED * xp.abs(requested)
    return xp.where(stands, xp.sign(requested), 0.0)


def rates(
    winches: Winches, t: Array, state: WinchState, tip: Array, tension: Array
) -> tuple[Array, WinchState]:
    """Rope speed now and rates of the states, for smooth solvers.

    Args:
        winches: all.
        t: time [s].
        state: now.
        tip: upward velocity of the measured points (winch,) [m/s].
        tension: of the line at the winch (winch,) [N].
    """
    xp = namespace(tip, tension, state.length, state.speed)
    quick = winches.heave_lag <= 0.0
    lag = xp.where(quick, 1.0, winches.heave_lag)
    heave = xp.where(quick, tip, state.heave)
    requested, part = demand(winches, t, 0.0 * t, tension, heave, state.stroke)
    direct = winches.time_constant <= 0.0
    drive = xp.where(direct, 1.0, winches.time_constant)
    behind = xp.where(direct, requested, state.speed), xp.where(direct, part, state.compensated)
    speed, done = obeyed(winches, *behind, state.length, state.stroke, FREE)

    def driven(requested: Array, set_speed: Array, now: Array) -> Array:
        """Rate of the drive, which a stop decelerates together with the rope."""
        return xp.where(direct, 0.0, (requested - now) / drive - (set_speed - now) / slowed)

    slowed = SLOWED * winches.stopping_time
    return speed, WinchState(
        length=speed,
        speed=driven(requested, state.speed, speed),
        heave=xp.where(quick, 0.0, (tip - state.heave) / lag),
        stroke=done,
        compensated=driven(part, state.compensated, done),
    )


def after_step(
    winches: Winches,
    t: Array,
    h: Array,
    state: WinchState,
    tip: tuple[Array, Array],
    tension: Array,
    most: Array,
) -> WinchState:
    """States after a step of fixed length, with the rope speed during it.

    Args:
        winches: all.
        t: middle of the step [s].
        h: step; zero while time stands still [s].
        state: before it.
        tip: upward velocity of the measured points half a step ago and half a step ahead [m/s].
        tension: of the line at the winch (winch,) [N].
        most: speed that the step can carry (winch,) [m/s].
    """
    xp = namespace(tip[0], tip[1], tension, state.length, h)

    def followed(time: Array, old: Array, over: Array, now: Array) -> Array:
        """First-order lag over a step; without lag the value itself."""
        stored = xp.exp(-h / xp.maximum(time, 1e-9))
        return xp.where(time > 0.0, stored * old + (1.0 - stored) * over, now)

    heave = followed(winches.heave_lag, state.heave, 0.5 * (tip[0] + tip[1]), tip[1])
    requested, part = demand(winches, t, h, tension, heave, state.stroke)
    speed = followed(winches.time_constant, state.speed, requested, requested)
    part = followed(winches.time_constant, state.compensated, part, part)
    speed, done = obeyed(winches, speed, part, state.length, state.stroke, most)
    moves = xp.where(h > 0.0, 1.0, 0.0)
    return WinchState(
        length=state.length + h * speed,
        speed=moves * speed,
        heave=moves * heave + (1.0 - moves) * state.heave,
        stroke=state.stroke + h * done,
        compensated=moves * done,
    )
