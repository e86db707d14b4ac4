"""Lengths of the steps of smooth solvers, and where they end."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from swelltree.compiler.breakpoints import (
    corner_times,
    detected_breakpoints,
    functions_of_time,
    jumps,
    pulses,
    sampled,
)
from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.integrate.problem import Carry, Options, padded_corners
from swelltree.integrate.solution import Code, describe
from swelltree.jit import Array, Tree, is_traced, jax, jnp
from swelltree.model.capabilities import ChecksStep, FluidSolver, Impulsive, having
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.model.solved import coupled_effect, fixed_step
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations.equations import event_count, rates
from swelltree.multibody.formulations.latches import dead_latches
from swelltree.pto.controllers.fmu import fault_of_fmu
from swelltree.pto.controllers.missing_numbers import not_finite
from swelltree.studies.time.task import Task, required_step
from swelltree.studies.time.verify import why_stopped

# What steps of given length do not see of a user's function: their rule against samples
# between.
#
# A step of the classical Runge-Kutta method asks for a load at its ends and in its middle, and
# takes Simpson's rule for the mean. Where samples within the step give another one, the step is
# divided at these samples and where the function jumps. Pulses between the samples are looked for
# as with adaptive steps.

WITHIN = 16  # parts of a step
MISSED = 0.02  # of the range of a function: what a step may leave out of its mean
MAX_DIVIDED_STEPS = 200  # steps that are divided; beyond this the step itself is wrong


def aliased_times(model: Model, times: np.ndarray, step: float) -> tuple[np.ndarray, int]:
    """Times at which steps have to end besides their own [s], and in how many steps.

    Args:
        model: compiled; not traced.
        times: samples of the run [s].
        step: longest step between them [s].
    """
    functions = functions_of_time(model)
    ends = step_ends(times, step)
    if not functions or len(ends) < 2:
        return np.zeros(0), 0
    share = np.arange(WITHIN + 1) / WITHIN
    at = ends[:-1, None] + np.diff(ends)[:, None] * share
    result, divided = [np.zeros(0)], np.zeros(len(at), dtype=bool)
    for function in functions:
        values = sampled(function, at.ravel())
        for k in np.flatnonzero(np.isfinite(values).all(0) & (np.ptp(values, axis=0) > 0.0)):
            rows = values[:, k].reshape(at.shape)
            simpson = (rows[:, 0] + 4.0 * rows[:, WITHIN // 2] + rows[:, -1]) / 6.0
            trapezoidal = rows[:, :-1].mean(1) + 0.5 * (rows[:, -1] - rows[:, 0]) / WITHIN
            off = np.abs(simpson - trapezoidal) > MISSED * np.ptp(rows)
            divided |= off
            if divided.sum() > MAX_DIVIDED_STEPS:
                return np.zeros(0), int(divided.sum())
            if off.any():
                one = lambda t, k=k, f=function: sampled(f, t)[:, k]  # noqa: E731
                result += [at[off, 1:-1].ravel(), jumps(one, at[off].ravel(), rows[off].ravel())]
        result.append(pulses(function, at.ravel(), values))
    return np.unique(np.concatenate(result)), int(divided.sum())


def step_ends(times: np.ndarray, step: float) -> np.ndarray:
    """Ends of equal steps between samples, none longer than the step."""
    gaps = np.diff(times)
    counts = np.maximum(np.ceil(gaps / step * (1.0 - 1e-9)).astype(int), 1)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    number = np.arange(counts.sum()) - first  # of a step between two samples
    of = np.repeat(np.arange(len(gaps)), counts)
    return np.append(times[of] + gaps[of] * number / counts[of], times[-1:])


SAME_STEP = 1e-6  # of a step: how far samples may lie from its multiples


def options_of(task: Task) -> Options:
    """Tolerances and steps of a task, with the breakpoints at which steps end."""
    step, parts = task.stepping.step, 1
    if required_step(task.model) is not None:
        step = _convolution_step(task)
    full = fixed_step(task.model)
    if full is not None:
        step = full if step is None else step
        for effect in having(task.model, ChecksStep):
            effect.check_step(min(step, task.stepping.longest))
        # flows that are solved for keep their own, longer step
        parts = max(1, math.ceil(full / step * (1 - 1e-9)))
        step = parts * step
    gaps = np.diff(task.times, prepend=task.begin)
    numbers = task.stepping
    options = Options(
        rtol=numbers.rtol,
        atol=numbers.atol,
        step=float(gaps.max()) if step is None else step,
        max_step=numbers.longest,
        parts=parts,
        free_until=_free_until(task, step),
    )
    return options._replace(corners=_corners(task, options))


def _free_until(task: Task, step: float | None) -> float:
    """Until when steps pass over samples: to the end of the run, or never [s].

    Events are found between the ends of steps, and a body that dips into the water could do so
    within one: where a run has such things no step is longer than the time between samples. Fixed
    steps land on samples that are multiples of them, and so do those that are as long as the
    samples are apart.
    """
    never, model = -np.inf, task.model
    if (
        task.solver == "stiff"
        or coupled_effect(model) is not None
        or required_step(model) is not None
    ):
        return never
    if event_count(model) or task.by_hand:
        return never
    if having(model, Impulsive):
        return never
    if task.solver == "rk4" and (step is None or _lie_on_steps(task, step)):
        return never
    return float(task.times[-1])


def _lie_on_steps(task: Task, step: float) -> bool:
    """Whether the times between samples are multiples of a step [s]."""
    counts = np.diff(task.times, prepend=task.begin) / step
    return bool(np.abs(counts - np.round(counts)).max() < SAME_STEP)


def _convolution_step(task: Task) -> float:
    """Required step of the convolution."""
    stored, step = required_step(task.model), task.stepping.step
    assert stored is not None
    if event_count(task.model):
        raise SwelltreeError(
            "radiation='convolution' has a fixed step, and this model switches at events "
            "(latching, declutching) between steps. Compile with radiation='state_space'."
        )
    if task.solver != "rk4":
        raise SwelltreeError(
            f"radiation='convolution' needs solver='rk4' with its step of {stored:g} s, "
            f"not '{task.solver}'. Use radiation='state_space' with adaptive solvers."
        )
    if step is not None and abs(step - stored) > 1e-9 * stored:
        raise SwelltreeError(
            f"step {step:g} s is not the {stored:g} s that the convolution was compiled for. "
            f"Compile with step={step:g}."
        )
    ratio = np.diff(task.times - task.begin, prepend=0.0) / stored
    if np.abs(ratio - np.round(ratio)).max() > 1e-6:
        raise SwelltreeError(
            f"output times must be multiples of the convolution's step of {stored:g} s. "
            "Choose output_step accordingly."
        )
    return stored


def _corners(task: Task, options: Options) -> Tree:
    """Breakpoints besides the samples."""
    model, step = task.model, options.step / options.parts
    times = np.union1d(task.begin, task.times)
    if required_step(model) is not None:  # means over the steps stand for loads in time
        return padded_corners(())
    known = corner_times(model)
    if is_traced(model):
        return padded_corners(known)
    if task.solver != "rk4":
        return padded_corners(np.concatenate([known, detected_breakpoints(model, times)]))
    if np.isfinite(options.free_until):  # the steps themselves, which pass over samples
        times = np.append(np.arange(times[0], times[-1], step), times[-1])
    aliased, divided = aliased_times(model, times, step)
    if divided and not aliased.size:
        warn_user(
            f"step {step:g} s is too long for a function of time in this model: in {divided} steps "
            "its values at the ends and midpoints of the steps do not resolve it. Give a shorter "
            "step."
        )
    return padded_corners(np.concatenate([known, aliased]))


# --- Where and why a smooth run stopped: which loop, body or law

PROBES = 40  # states on the way into a failed step
AHEAD = 0.1  # s: at least so far they are looked for; methods of fixed steps keep no step


def failure(model: Model, how: Formulation, last: Carry, code: Code) -> tuple[Code, str]:
    """Which body or loop, when and why.

    Args:
        model: that was run.
        how: its formulation.
        last: the last good state.
        code: how it ended.
    """
    when = float(last.sampled) if code is Code.STOPPED_BY_USER else float(last.t_fail)
    sentence = describe(code, when)
    if code is Code.STOPPED_BY_USER:
        return code, sentence
    if fault := fault_of_fmu(model):
        return code, f"time stepping stopped at t = {when:.6g} s. {fault}"
    # the body that moves fastest at the last good state is where to look
    phase = jax.tree.map(jnp.asarray, last.y)
    kin = how.kinematics(model, jnp.asarray(last.t), phase.state)
    pose, coordinate = jax.tree.map(np.asarray, (kin.motion.pose, kin.motion.coordinate))
    angles = coordinate[np.array(model.layout.angle_dofs, dtype=int)]
    dead = dead_latches(model, how, kin, phase.internal, jnp.asarray(last.t))
    if dead:
        return Code.LOOP_SINGULAR, (
            f"time stepping stopped at t = {when:.6g} s. {', '.join(dead).capitalize()} locked at "
            "a dead centre of the loop: the stroke stands still there while the other joints move, "
            "and no force on it can hold them. Put the latch on a joint that turns there, or give "
            "a longer rearm time, so that it does not lock there."
        )
    loop = why_stopped(model, float(last.t), pose, angles)
    if loop is not None:
        return Code.LOOP_SINGULAR, f"time stepping stopped at t = {when:.6g} s. {loop}"
    speed = np.abs(np.asarray(kin.motion.v)).max(axis=1)
    body = model.layout.bodies[int(np.nanargmax(np.where(np.isnan(speed), np.inf, speed)))]
    law = not_finite(model, _moments(model, how, last, when))
    elements = phase.internal.elements
    reasons = [e.why_stopped(elements[e.kind]) for e in having(model, FluidSolver)]
    reasons = [why for why in reasons if why]
    if reasons and code is Code.NOT_FINITE:
        # what an effect knows is better than advice in general
        sentence = f"time stepping stopped at t = {when:.6g} s: a number is not finite."
    sentence += f" Look at body '{body}', which moves fastest there."
    sentence = " ".join([sentence, *reasons])
    return code, sentence + (f" {law}" * bool(law))


def _moments(model: Model, how: Formulation, last: Carry, when: float) -> Iterator[Instant]:
    """The last good state, a time just behind it, and where the motion was going from there.

    A step that failed met a law at a state that was not kept: the states on the tangent of the
    motion lead there, the nearest first.
    """
    y = jax.tree.map(jnp.asarray, last.y)
    t = float(last.t)

    def at(later: Array, h: Array, rate: Tree) -> Instant:
        moved = y if rate is None else jax.tree.map(lambda a, b: a + h * b, y, rate)
        kin = how.kinematics(model, jnp.asarray(later), moved.state)
        return Instant(jnp.asarray(later), kin.motion, moved.internal)

    yield at(t, 0.0, None)
    yield at(when + 1e-9, 0.0, None)
    rate = rates(model, how, jnp.asarray(t), y)
    probe = jax.jit(lambda h: at(t + h, h, rate))
    longest = max(float(last.step), when - t, AHEAD)
    for h in np.geomspace(1e-9, longest, PROBES):
        yield probe(h)
