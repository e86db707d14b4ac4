"""Runs with dynamic lines or contact with the seabed: the two-step scheme behind `simulate`."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from swelltree.compiler.step_means import with_step_means
from swelltree.effects.linear_hydro.data import Convolution
from swelltree.effects.linear_hydro.frame import FollowingFrame
from swelltree.engine.backend import jax
from swelltree.model.inertia import dense_inertia, world_inertia
from swelltree.model.internal_state import internal_at_rest
from swelltree.model.model import Model
from swelltree.solvers.chunks import run_chunks
from swelltree.solvers.fingerprint import run_key
from swelltree.solvers.solution import Code
from swelltree.studies.time.continuing import end_of, end_time, is_run, keep_end, refuse_start
from swelltree.studies.time.imbalance import seen_at, told, unbalanced
from swelltree.studies.time.watch import A_STEP_NEAR, why_stopped
from swelltree.studies.time.winch_findings import (
    longest_step,
    refuse_fast_winches,
    tell_of_light_loads,
    tell_of_winches,
)
from swelltree.system.errors import SwelltreeError, SwelltreeWarning, listed, suggest
from swelltree.two_step.first_half_step import with_first_half_step
from swelltree.two_step.relax import Rest, relaxed
from swelltree.two_step.run import compiled_run, empty_samples, run_state, single_step
from swelltree.two_step.solve.rescue import rescued, too_short, why
from swelltree.two_step.start import (
    at_rest,
    force_derivatives,
    motion_at,
    set_up,
    start_motion,
)
from swelltree.two_step.state import Form, StepperState, form_of
from swelltree.waves.airy import Components
from swelltree.waves.stream_function import StreamWave

STARTS = ("equilibrium", "described", "cold")
PER_PERIOD = 150  # steps in the peak period of a sea
PER_OWN_PERIOD = 40  # steps in the shortest period of a body
LONGEST, SHORTEST = 0.1, 1e-3  # s


class Carry(NamedTuple):
    """State of a run between chunks."""

    t: Any
    run_state: Any
    end: Any  # the same at the last sample, from where a run can go on
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
    for group in model.effects:
        if group.switching():
            raise SwelltreeError(
                f"{group.switching()} switches at events, which dynamic lines do not "
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
    max_step: float,
    times: np.ndarray,
    waves: Any,
    chunk: int,
    atol: float,
    begin: float = 0.0,
) -> Plan:
    """Coordinates and step of a run."""
    gaps = np.diff(times)
    if abs(times[0] - begin) > 1e-9 * max(1.0, begin) or (
        gaps.size and np.ptp(gaps) > 1e-9 * gaps[0]
    ):
        raise SwelltreeError(
            f"times must begin at {begin:g} s and be evenly spaced where there are dynamic lines. "
            "Give duration and output_step."
        )
    output = float(gaps[0]) if gaps.size else 1.0
    wanted = step
    if wanted is None:
        wanted = min(default_step(model, waves), longest_step(model, times))
    wanted = min(wanted, max_step)
    refuse_fast_winches(model, wanted, times)
    every = max(1, int(np.ceil(output / wanted - 1e-9)))
    h = output / every
    if step is not None and step <= max_step:
        h = step  # without the rounding of the output times
    if abs(output / every - h) > 1e-9 * h:
        raise SwelltreeError(
            f"output_step {output:g} s is not a multiple of step {step:g} s. Change one of them."
        )
    form = replace(
        form_of(model, formulation),
        interior_point=solver == "interior_point",
        tolerance=0.1 * atol,
    )
    return Plan(form, h, every, solver, chunk)


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
    motion, internal = start_motion(model), internal_at_rest(model)
    stiffness, _ = force_derivatives(model, motion, internal)
    M = np.asarray(dense_inertia(model, world_inertia(model, motion.pose)))
    size = np.maximum(np.diag(M), 1e-9 * np.diag(M).max(initial=1.0))
    fastest = np.sqrt(np.maximum(np.diag(stiffness) / size, 0.0)).max(initial=0.0)
    if fastest > 0:
        step = min(step, 2.0 * np.pi / fastest / PER_OWN_PERIOD)
    return max(step, SHORTEST)


def derivatives_at(model: Model) -> Any:
    """Function of a walk: stiffness and damping of the model's forces there."""
    internal = internal_at_rest(model)

    def found(state: StepperState) -> tuple[np.ndarray, np.ndarray]:
        pose = jax.tree.map(np.asarray, state.pose)
        still = np.zeros_like(np.asarray(state.v_minus))
        motion = motion_at(model, pose, still, np.asarray(state.angles))
        return force_derivatives(model, motion, internal)

    return found


def without_waves(model: Model) -> Model:
    """The same model in a sea of height zero, with lines that are not released.

    All shapes stay, so the same compiled program serves.
    """
    model = model.replace(effects=tuple(effect.in_still_water() for effect in model.effects))
    waves = model.sea.waves
    # steep waves and fields on a grid cannot be made flat: they are left out
    linear = isinstance(waves, Components)
    waves = replace(waves, amplitude=0.0 * waves.amplitude) if linear else None
    return model.replace(sea=replace(model.sea, waves=waves))


def to_rest(model: Model, form: Form, width: int = 200, *, hold: bool = False) -> Rest:
    """Bodies, lines and junctions at rest in still water with its current and wind."""
    form = replace(form, interior_point=False)
    step = single_step(form, width)
    still = without_waves(model)

    def stepped(state: StepperState, hold: bool) -> Rest:
        return relaxed(step, still, form, state, derivatives_at(still), hold=hold)

    rest = stepped(at_rest(still, form), hold)
    if not hold and not _came(rest):
        # lines and junctions first, which may be described far from their rest
        rest = stepped(stepped(at_rest(still, form), True).state, False)
    if not bool(rest.sample.solved) or not np.isfinite(rest.moved):
        raise SwelltreeError(
            f"equilibrium: bodies and lines did not come to rest. {_cause(still, form, rest, hold)}"
            "Check weights, buoyancy and the lengths of lines."
        )
    if not _came(rest):
        warnings.warn(
            f"equilibrium: after {rest.steps} steps something still moves by {rest.moved:.2g} m a "
            "step; what was reached is taken. Describe bodies and junctions nearer to their rest.",
            SwelltreeWarning,
            stacklevel=4,
        )
    return rest


def _came(rest: Rest) -> bool:
    """Did all come to rest, but for what is not worth a word?"""
    return bool(rest.sample.solved) and bool(rest.moved < 1e-4)


def _cause(model: Model, form: Form, rest: Rest, hold: bool) -> str:
    """Why nothing came to rest: a line at its end, or what is furthest from its balance."""
    short = too_short(model, rest.state)
    if short is not None:
        return f"{short[0].upper()}{short[1:]} "
    if hold:
        return ""
    # lines at rest, bodies as described: what then pulls them is out of balance
    found = seen_at(model, form, to_rest(model, form, 1, hold=True).sample)
    return f"{told(*unbalanced(model, found))} ".lstrip()


def first_state(model: Model, how: Plan, start: Any) -> StepperState:
    """Where a run begins."""
    if isinstance(start, StepperState):
        return start
    if not isinstance(start, str):
        raise refuse_start(start, listed(STARTS))
    if start not in STARTS:
        raise SwelltreeError(
            f"start {start!r} is not known.{suggest(start, STARTS)} "
            "With dynamic lines a run starts from 'equilibrium', 'described' or 'cold', or from "
            "the result of another run."
        )
    if start == "cold" or (start == "described" and not model.has_unknowns):
        cold = at_rest(model, how.form)
        return replace(cold, lines=straight_lines(model, cold)) if model.has_unknowns else cold
    hold = start == "described"
    rest = to_rest(model, how.form, how.width, hold=hold).state
    if not hold:
        return rest
    moving = at_rest(model, how.form)
    h, lines = how.step, rest.lines
    # what held the bodies is gone
    rest = replace(rest, lam=0.0 * rest.lam, contact=0.0 * rest.contact)
    if lines is not None:
        lines = _carried(model, moving, lines, h)
    return replace(rest, v_minus=moving.v_minus, lines=lines)


def straight_lines(model: Model, state: StepperState) -> Any:
    """Lines drawn straight between their ends, at rest."""
    arrays, lines = model.lines.arrays, state.lines
    if arrays is None:
        return lines
    used = np.arange(arrays.n) >= np.asarray(arrays.first)[:, None]
    length = np.asarray(arrays.rest_length) * used
    part = np.concatenate([np.zeros((len(length), 1)), np.cumsum(length, axis=1)], axis=1)
    part = (part / part[:, -1:])[:, :, None]
    q = (1.0 - part) * lines.q[:, :1] + part * lines.q[:, -1:]
    return replace(lines, q=q, q_last=q, mu=0.0 * lines.mu)


def _carried(model: Model, moving: StepperState, lines: Any, h: float) -> Any:
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


def start_carry(model: Model, how: Plan, state: StepperState, setup: Any) -> Carry:
    """State before the first chunk."""
    return _carry_at(
        run_state(with_first_half_step(single_step(how.form, how.width), model, setup, state))
    )


def _carry_at(now: Any) -> Carry:
    """A run that takes its next sample now."""
    zero = np.zeros((), np.int32)
    now = now._replace(index=np.zeros((), np.int64))
    return Carry(np.asarray(now.state.t), now, now, zero, np.asarray(np.nan), zero, zero)


def stepper(
    model: Model, how: Plan, setup: Any, derivatives: Any, total: int, given: Any = None
) -> Any:
    """Function that runs one chunk: (carry, times) -> (carry, samples).

    With the walk `given` at the start the first sample has its velocities.
    """
    from swelltree.studies.time.first_sample import Start, as_given

    described, model = model, with_step_means(model, how.step)
    run = compiled_run(how.form)
    single = single_step(how.form, how.width)

    def advance(carry: Carry, _: Any) -> tuple[Carry, Any]:
        now = end = carry.run_state
        first = int(carry.n_outputs) * how.every
        wanted = min(how.width, total - int(carry.n_outputs))
        # the last chunk ends with the step that leaves the last sample
        closes = int(carry.n_outputs) + wanted == total
        stops = [first + wanted * how.every]
        if closes:
            sample_at = first + (wanted - 1) * how.every
            stops = [sample_at, sample_at + 1]
        samples = empty_samples(model, how.form, now.state, how.width)
        code, t_fail, helped = Code.SUCCESS, np.nan, int(carry.n_rescued)
        while True:
            limits = (np.array(i) for i in (first, stops[0], how.every))
            now, samples = run(model, setup, now, samples, *limits)
            if bool(now.ok):
                stops = stops[1:]
                end = now if stops or not closes else end
                if not stops:
                    break
                continue
            saved = rescued(single, model, how.form, how.step, now.state, derivatives, how.width)
            if saved is None:
                code, t_fail = Code.NO_PROGRESS, float(now.state.t)
                break
            after, sample = saved
            helped += 1
            slot, over = divmod(int(now.index) - first, how.every)
            if over == 0:
                samples = jax.tree.map(lambda a, x, k=slot: _written(a, x, k), samples, sample)
            now = now._replace(state=after, index=now.index + 1, ok=np.array(True))
        if given is not None and first == 0:
            samples = as_given(described, how.form, samples, Start(setup, given))
        done = (int(now.index) - first + how.every - 1) // how.every
        reached = int(carry.n_outputs) + min(done, wanted)
        after = Carry(
            np.asarray(now.state.t),
            now,
            end,
            np.asarray(int(code), np.int32),
            np.asarray(t_fail),
            np.asarray(reached, np.int32),
            np.asarray(helped, np.int32),
        )
        return after, samples

    return advance


def _written(rows: Any, row: Any, k: int) -> np.ndarray:
    """Rows with one replaced."""
    rows = np.array(rows)
    rows[k] = row
    return rows


def set_up_run(model: Model, how: Plan, state: StepperState) -> tuple[Any, Any]:
    """Constants of the run and the derivatives they were made from."""
    found = derivatives_at(model)(state)
    return set_up(model, how.form, how.step, found), found


def _coordinates(how: Plan) -> str:
    name = "path_matrix" if how.form.joint_coordinates else "lagrange"
    return f"the two-step scheme with formulation '{name}'"


def _continued(model: Model, how: Plan, run: Any, blank: StepperState) -> tuple[Any, Any]:
    """Where another run ended, and the derivatives its constants were made from."""
    none = np.zeros((6 * model.layout.n_bodies,) * 2)
    found = end_of(run, model, _coordinates(how), (run_state(blank), (none, none)))
    own = float(run.attrs["step"])
    if abs(how.step - own) > 1e-9 * own:
        raise SwelltreeError(
            f"start: that run was stepped by {own:g} s, this one would be by {how.step:g} s. "
            f"Give an output_step that is a multiple of {own:g} s."
        )
    return found


def simulate_moored(
    model: Model,
    times: np.ndarray,
    *,
    formulation: str,
    solver: str,
    step: float | None,
    max_step: float,
    atol: float,
    start: Any,
    still: Model,
    waves: Any,
    chunk: int,
    progress: bool | None,
    checkpoint: Any,
    resume: bool,
    provenance: dict[str, Any] | None,
) -> Any:
    """A run by the two-step scheme; arguments as in `simulate`."""
    from swelltree.studies.time.moored_results import to_result, warm_observer

    refuse_what_jumps(model)
    tell_of_light_loads(model)
    chunk = min(chunk, len(times))
    goes_on = is_run(start)
    if goes_on and step is None:
        step = start.attrs.get("step")
    begin = end_time(start) if goes_on else 0.0
    how = plan(model, formulation, solver, step, max_step, times, waves, chunk, atol, begin)
    blank = at_rest(model, how.form)
    watch = threading.Thread(target=warm_observer, args=(model, how, blank))
    watch.start()
    if goes_on:
        now, found = _continued(still, how, start, blank)
        state, setup = now.state, set_up(model, how.form, how.step, found)
        carry = _carry_at(now)
    else:
        at_rest_first = any(effect.begins_at_rest for effect in model.effects)
        usual = "equilibrium" if at_rest_first else "described"
        state = first_state(model, how, usual if start is None else start)
        setup, found = set_up_run(model, how, state)
        carry = start_carry(with_step_means(model, how.step), how, state, setup)
    key = "" if checkpoint is None else run_key(model, state, how, times, chunk)
    run = run_chunks(
        stepper(
            model,
            how,
            setup,
            found,
            len(times),
            None if goes_on else state,
        ),
        carry,
        times,
        chunk=chunk,
        progress=progress,
        checkpoint=checkpoint,
        resume=resume,
        key=key,
        like=empty_samples(model, how.form, state, chunk),
    )
    watch.join()
    code, message = run.code, run.message
    if code is Code.NO_PROGRESS:
        last = run.carry.run_state.state
        pose = jax.tree.map(np.asarray, last.pose)
        loop = why_stopped(model, float(last.t), pose, np.asarray(last.angles), A_STEP_NEAR)
        code = code if loop is None else Code.LOOP_SINGULAR
        message = (
            f"time stepping stopped at t = {float(run.carry.t_fail):.6g} s: "
            f"{loop or why(model, last)}"
        )
        if len(run.times) == 0:
            raise SwelltreeError(message)
    if code is not Code.SUCCESS:
        warnings.warn(message, SwelltreeWarning, stacklevel=4)
    near = None if start is None or not goes_on else start.joint_coordinate.values[-1]
    result = to_result(model, how, run, (code, message), provenance, near)
    end = run.carry.end
    result = keep_end(result, still, _coordinates(how), (end, found), float(end.state.t))
    tell_of_winches(model, result)
    return result
