"""Runs with dynamic lines or contact with the seabed: the two-step scheme behind `simulate`."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from swelltree.model.forces.hydro_frame import FollowingFrame
from swelltree.model.hydrodynamics import Convolution, WaveLoads
from swelltree.model.inertia import dense_inertia, world_inertia
from swelltree.model.inner import inner_at_rest
from swelltree.model.model import Model
from swelltree.solvers.chunks import run_chunks, run_key
from swelltree.solvers.solution import Code
from swelltree.spatial.engine import jax
from swelltree.studies.watch import why_stopped
from swelltree.studies.winch_findings import (
    longest_step,
    refuse_fast_winches,
    tell_of_light_loads,
    tell_of_winches,
)
from swelltree.system.errors import SwelltreeError, SwelltreeWarning, suggest
from swelltree.two_step.relax import Rest, relaxed
from swelltree.two_step.rescue import rescued, why
from swelltree.two_step.run import compiled_run, empty_samples, going, single_step
from swelltree.two_step.start import (
    at_rest,
    begun,
    force_derivatives,
    motion_at,
    set_up,
    start_motion,
)
from swelltree.two_step.walk import Form, Walk, form_of
from swelltree.waves.airy import Components
from swelltree.waves.stream_function import StreamWave

STARTS = ("equilibrium", "described", "cold")
PER_PERIOD = 150  # steps in the peak period of a sea
PER_OWN_PERIOD = 40  # steps in the shortest period of a body
LONGEST, SHORTEST = 0.1, 1e-3  # s


class Carry(NamedTuple):
    """State of a run between chunks."""

    t: Any
    going: Any
    code: Any
    t_fail: Any
    n_outputs: Any
    n_rescued: Any


@dataclass(frozen=True)
class Plan:
    """How a run is stepped."""

    form: Form
    step: float
    every: int
    solver: str
    width: int  # samples that one program has room for


def refuse_what_jumps(model: Model) -> None:
    """Forces that switch at events, or remember by convolution, do not fit a fixed step."""
    if model.hydro is not None and isinstance(model.hydro.memory, Convolution):
        raise SwelltreeError(
            "radiation='convolution' does not run with dynamic lines. "
            "Compile with radiation='state_space'."
        )
    for group in model.forces.groups:
        if group.event_count or group.holds:
            raise SwelltreeError(
                f"{group.kind} '{group.names[0]}' switches at events, which dynamic lines do not "
                "allow. Use lines with model='quasi_static', or another machine."
            )
        if isinstance(group, FollowingFrame):
            raise SwelltreeError(
                "frame='yaw' does not run with dynamic lines. Use lines with "
                "model='quasi_static', or frame='fixed'."
            )


def plan(
    model: Model,
    formulation: str,
    solver: str,
    step: float | None,
    times: np.ndarray,
    waves: Any,
    chunk: int,
    atol: float,
) -> Plan:
    """Coordinates and step of a run."""
    gaps = np.diff(times)
    if times[0] != 0.0 or (gaps.size and np.ptp(gaps) > 1e-9 * gaps[0]):
        raise SwelltreeError(
            "times must begin at zero and be evenly spaced where there are dynamic lines. "
            "Give duration and output_step."
        )
    output = float(gaps[0]) if gaps.size else 1.0
    wanted = step
    if wanted is None:
        wanted = min(default_step(model, waves), longest_step(model, times))
    refuse_fast_winches(model, wanted, times)
    every = max(1, int(np.ceil(output / wanted - 1e-9)))
    if step is not None and abs(output / every - step) > 1e-9 * step:
        raise SwelltreeError(
            f"output_step {output:g} s is not a multiple of step {step:g} s. Change one of them."
        )
    form = replace(
        form_of(model, formulation),
        interior_point=solver == "interior_point",
        tolerance=0.1 * atol,
    )
    return Plan(form, output / every, every, solver, chunk)


def default_step(model: Model, waves: Any) -> float:
    """A step that follows the waves and the motion of the bodies in them [s]."""
    step = LONGEST
    if isinstance(waves, StreamWave):
        step = min(step, 2.0 * np.pi / float(waves.omega) / PER_PERIOD)
    if isinstance(waves, Components) and len(waves.omega):
        omega = np.asarray(waves.omega, float)
        energy = np.asarray(waves.amplitude, float).reshape(-1) ** 2
        mean = float((omega * energy).sum() / max(energy.sum(), 1e-300))
        step = min(step, 2.0 * np.pi / max(mean, 1e-9) / PER_PERIOD)
    motion, inner = start_motion(model), inner_at_rest(model)
    stiffness, _ = force_derivatives(model, motion, inner)
    M = np.asarray(dense_inertia(model, world_inertia(model, motion.pose)))
    size = np.maximum(np.diag(M), 1e-9 * np.diag(M).max(initial=1.0))
    fastest = np.sqrt(np.maximum(np.diag(stiffness) / size, 0.0)).max(initial=0.0)
    if fastest > 0:
        step = min(step, 2.0 * np.pi / fastest / PER_OWN_PERIOD)
    return max(step, SHORTEST)


def derivatives_at(model: Model) -> Any:
    """Function of a walk: stiffness and damping of the model's forces there."""
    inner = inner_at_rest(model)

    def found(walk: Walk) -> tuple[np.ndarray, np.ndarray]:
        pose = jax.tree.map(np.asarray, walk.pose)
        still = np.zeros_like(np.asarray(walk.v_minus))
        motion = motion_at(model, pose, still, np.asarray(walk.angles))
        return force_derivatives(model, motion, inner)

    return found


def without_waves(model: Model) -> Model:
    """The same model in a sea of height zero, with lines that are not released.

    All shapes stay, so the same compiled program serves.
    """
    hydro = model.hydro
    if hydro is not None:
        hydro = replace(hydro, waves=_flat(hydro.waves), drift=_flat(hydro.drift))
    waves = model.sea.waves
    # steep waves and fields on a grid cannot be made flat: they are left out
    linear = isinstance(waves, Components)
    waves = replace(waves, amplitude=0.0 * waves.amplitude) if linear else None
    lines = model.lines
    if lines is not None:
        never = np.full(lines.tie_end.shape, np.inf)
        lines = replace(lines, tie_begin=never, tie_end=never, tie_tension=never)
    return model.replace(hydro=hydro, sea=replace(model.sea, waves=waves), lines=lines)


def _flat(loads: Any) -> Any:
    if isinstance(loads, WaveLoads):
        return replace(loads, force=0.0 * loads.force, rate=0.0 * loads.rate)
    return loads


def to_rest(model: Model, form: Form, width: int = 200, *, hold: bool = False) -> Rest:
    """Bodies, lines and junctions at rest in still water with its current and wind."""
    form = replace(form, interior_point=False)
    step = single_step(form, width)
    still = without_waves(model)
    rest = relaxed(step, still, form, at_rest(still, form), derivatives_at(still), hold=hold)
    if not bool(rest.sample.solved) or not np.isfinite(rest.moved):
        raise SwelltreeError(
            f"equilibrium: bodies and lines did not come to rest; {why(still, rest.walk)} "
            "Check weights, buoyancy and the lengths of lines."
        )
    if not rest.moved < 1e-4:
        warnings.warn(
            f"equilibrium: after {rest.steps} steps something still moves by {rest.moved:.2g} m a "
            "step; what was reached is taken. Describe bodies and junctions nearer to their rest.",
            SwelltreeWarning,
            stacklevel=4,
        )
    return rest


def first_walk(model: Model, how: Plan, start: Any) -> Walk:
    """Where a run begins."""
    if isinstance(start, Walk):
        return start
    if start not in STARTS:
        raise SwelltreeError(
            f"start {start!r} is not known.{suggest(start, STARTS)} "
            "With dynamic lines a run starts from 'equilibrium', 'described' or 'cold'."
        )
    if start == "cold" or (start == "described" and model.lines is None):
        cold = at_rest(model, how.form)
        return cold if model.lines is None else replace(cold, lines=straight_lines(model, cold))
    hold = start == "described"
    rest = to_rest(model, how.form, how.width, hold=hold).walk
    if not hold:
        return rest
    moving = at_rest(model, how.form)
    h, lines = how.step, rest.lines
    # what held the bodies is gone
    rest = replace(rest, lam=0.0 * rest.lam, contact=0.0 * rest.contact)
    if lines is not None:
        lines = _carried(model, moving, lines, h)
    return replace(rest, v_minus=moving.v_minus, lines=lines)


def straight_lines(model: Model, walk: Walk) -> Any:
    """Lines drawn straight between their ends, at rest."""
    arrays, lines = model.lines.arrays, walk.lines
    if arrays is None:
        return lines
    used = np.arange(arrays.n) >= np.asarray(arrays.first)[:, None]
    length = np.asarray(arrays.rest_length) * used
    part = np.concatenate([np.zeros((len(length), 1)), np.cumsum(length, axis=1)], axis=1)
    part = (part / part[:, -1:])[:, :, None]
    q = (1.0 - part) * lines.q[:, :1] + part * lines.q[:, -1:]
    return replace(lines, q=q, q_last=q, mu=0.0 * lines.mu)


def _carried(model: Model, moving: Walk, lines: Any, h: float) -> Any:
    """Lines at rest but for ends that are on moving bodies."""
    from swelltree.two_step.attached import end_positions
    from swelltree.two_step.poses import before

    if model.lines.arrays is None:
        return lines
    last = before(moving.pose, np.asarray(moving.v_minus), np.array(h))
    ends = np.asarray(end_positions(model.lines, last, np.asarray(lines.y)))
    q = np.array(lines.q_last)
    on_body = np.array(model.lines.end_body).reshape(-1, model.lines.n_points)
    for k, node in ((0, 0), (1, -1)):
        moved = on_body[:, k] < model.layout.n_bodies
        q[moved, node] = ends[moved, k]
    return replace(lines, q_last=q)


def start_carry(model: Model, how: Plan, walk: Walk, setup: Any) -> Carry:
    """State before the first chunk."""
    walk = begun(single_step(how.form, how.width), model, setup, walk)
    zero = np.zeros((), np.int32)
    return Carry(np.zeros(()), going(walk), zero, np.asarray(np.nan), zero, zero)


def stepper(model: Model, how: Plan, setup: Any, derivatives: Any, total: int) -> Any:
    """Function that runs one chunk: (carry, times) -> (carry, samples)."""
    run = compiled_run(how.form)
    single = single_step(how.form, how.width)

    def advance(carry: Carry, _: Any) -> tuple[Carry, Any]:
        now = carry.going
        first = int(carry.n_outputs) * how.every
        wanted = min(how.width, total - int(carry.n_outputs))
        last = first + (wanted - 1) * how.every + how.every
        samples = empty_samples(model, how.form, now.walk, how.width)
        code, t_fail, helped = Code.SUCCESS, np.nan, int(carry.n_rescued)
        while True:
            limits = (np.array(i) for i in (first, last, how.every))
            now, samples = run(model, setup, now, samples, *limits)
            if bool(now.ok):
                break
            saved = rescued(single, model, how.form, how.step, now.walk, derivatives, how.width)
            if saved is None:
                code, t_fail = Code.NO_PROGRESS, float(now.walk.t)
                break
            after, sample = saved
            helped += 1
            slot, over = divmod(int(now.index) - first, how.every)
            if over == 0:
                samples = jax.tree.map(lambda a, x, k=slot: _written(a, x, k), samples, sample)
            now = now._replace(walk=after, index=now.index + 1, ok=np.array(True))
        done = (int(now.index) - first + how.every - 1) // how.every
        reached = int(carry.n_outputs) + min(done, wanted)
        end = Carry(
            np.asarray(now.walk.t),
            now,
            np.asarray(int(code), np.int32),
            np.asarray(t_fail),
            np.asarray(reached, np.int32),
            np.asarray(helped, np.int32),
        )
        return end, samples

    return advance


def _written(rows: Any, row: Any, k: int) -> np.ndarray:
    """Rows with one replaced."""
    rows = np.array(rows)
    rows[k] = row
    return rows


def set_up_run(model: Model, how: Plan, walk: Walk) -> tuple[Any, Any]:
    """Constants of the run and the derivatives they were made from."""
    found = derivatives_at(model)(walk)
    return set_up(model, how.form, how.step, found), found


def simulate_moored(
    model: Model,
    times: np.ndarray,
    *,
    formulation: str,
    solver: str,
    step: float | None,
    atol: float,
    start: Any,
    waves: Any,
    chunk: int,
    progress: bool | None,
    checkpoint: Any,
    resume: bool,
    provenance: dict[str, Any] | None,
) -> Any:
    """A run by the two-step scheme; arguments as in `simulate`."""
    from swelltree.studies.moored_results import to_result, warm_observer

    refuse_what_jumps(model)
    tell_of_light_loads(model)
    chunk = min(chunk, len(times))
    how = plan(model, formulation, solver, step, times, waves, chunk, atol)
    blank = at_rest(model, how.form)
    watch = threading.Thread(target=warm_observer, args=(model, how, blank))
    watch.start()
    usual = "described" if model.lines is None else "equilibrium"
    walk = first_walk(model, how, usual if start is None else start)
    setup, found = set_up_run(model, how, walk)
    key = run_key(*jax.tree.leaves(jax.tree.map(np.asarray, (model, walk))), how, times, chunk)
    run = run_chunks(
        stepper(model, how, setup, found, len(times)),
        start_carry(model, how, walk, setup),
        times,
        chunk=chunk,
        progress=progress,
        checkpoint=checkpoint,
        resume=resume,
        key=key,
        like=empty_samples(model, how.form, walk, chunk),
    )
    watch.join()
    message = run.message
    if run.code is Code.NO_PROGRESS:
        last = run.carry.going.walk
        pose = jax.tree.map(np.asarray, last.pose)
        loop = why_stopped(model, float(last.t), pose, np.asarray(last.angles))
        message = (
            f"time stepping stopped at t = {float(run.carry.t_fail):.6g} s: "
            f"{loop or why(model, last)}"
        )
        if len(run.times) == 0:
            raise SwelltreeError(message)
    if run.code is not Code.SUCCESS:
        warnings.warn(message, SwelltreeWarning, stacklevel=4)
    result = to_result(model, how, run, provenance, message)
    tell_of_winches(model, result)
    return result
