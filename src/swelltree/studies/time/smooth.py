"""Runs by Runge-Kutta methods and by the implicit method: `Stepper` of smooth systems.

Lengths of the steps of smooth solvers, and where they end.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from swelltree.compiler.functions_of_time import (
    corner_times,
    detected_breakpoints,
    functions_of_time,
    jumps,
    pulses,
    sampled,
    with_step_means,
)
from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.radiation import with_exact_memory
from swelltree.integrate.problem import (
    Code,
    LinearBlock,
    as_channels,
    describe,
    nothing_known,
    padded_corners,
)
from swelltree.integrate.runge_kutta.smooth import (
    Carry,
    Options,
    Problem,
    compiled,
    integrate,
    value_at,
)
from swelltree.integrate.runge_kutta.smooth import start as start_carry
from swelltree.integrate.stepper import Stepper
from swelltree.jit import (
    BY_LLVM,
    Array,
    Program,
    Tree,
    is_traced,
    jax,
    jnp,
    mapped,
    shapes_of,
    switched_off,
)
from swelltree.model.capabilities import (
    ChecksStep,
    FluidSolver,
    Impulsive,
    InternalState,
    StartsFromEquilibrium,
    all_winches,
    having,
)
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.model.solved import coupled_effect, fixed_step, where_solved
from swelltree.multibody.formulations import Formulation, State
from swelltree.multibody.formulations.equations import (
    Phase,
    begun,
    event_count,
    event_values,
    exact_stages_of,
    matrix_of,
    memory_of,
    next_due,
    observe,
    partners_of,
    ports_of,
    rates,
    resolved,
    settle,
    settled_at,
    start_phase,
    step_model,
    switched,
    with_memory,
)
from swelltree.multibody.formulations.latches import dead_latches
from swelltree.pto.actuators.forces import stroke_forces
from swelltree.pto.controllers.controllers import not_finite
from swelltree.pto.controllers.fmu import fault_of_fmu, steering_states
from swelltree.results.sea import chosen
from swelltree.spatial.rotations import compact
from swelltree.studies.options import end_of, refuse_start
from swelltree.studies.statics.equilibrium import equilibrium_state, find_rest
from swelltree.studies.time.task import Task, required_step
from swelltree.studies.time.verify import stages_until, why_stopped, with_watch

FAST = 1e6  # m/s, rad/s: beyond this a motion has diverged


@functools.lru_cache(maxsize=64)
def problem(
    formulation: Formulation,
    matters: bool,
    eventful: bool = False,
    coupled: bool = False,
    steering: tuple[tuple[str, tuple[bool, ...]], ...] = (),
) -> Problem:
    """Initial-value problem of a formulation; cached, so that it is compiled once.

    Args:
        formulation: of the equations.
        matters: whether settling changes rates.
        eventful: whether there are events.
        coupled: whether a flow is solved for.
        steering: of each kind of internal states, which of them steer the steps; all if empty.
    """

    def event(model: Model, t: Array, y: Phase) -> Array:
        return event_values(model, formulation, t, y)

    def switch(model: Model, t: Array, y: Phase, hit: Array) -> Phase:
        return switched(model, formulation, t, y, hit)

    def in_step(model: Model, t: Array, y: Phase, h: Array) -> Model:
        return step_model(model, formulation, t, y, h)

    masks = {kind: np.array(mask) for kind, mask in steering}
    internal = InternalState(True, masks) if masks else True
    return Problem(
        rate=lambda model, t, y: rates(model, formulation, t, y),
        settle=lambda model, t, y: settle(model, formulation, t, y),
        limit=out_of_range,
        weights=Phase(State(True, True, True), False, internal),  # the work steers no step
        settle_changes_rate=matters,
        event=event if eventful else None,
        switch=switch if eventful else None,
        due=next_due if eventful else None,
        block=LinearBlock(
            memory_of, with_memory, exact_stages_of, matrix_of, ports_of, partners_of
        ),
        in_step=in_step if coupled else None,
    )


def out_of_range(model: Model, t: Array, y: Phase) -> Array:
    """Whether a motion or internal state diverged."""
    lost = jnp.abs(y.state.s).max(initial=0.0) > FAST
    for effect in having(model, FluidSolver):
        lost = lost | effect.out_of_range(y.internal.elements[effect.kind])
    return lost


def problem_of(model: Model, how: Formulation) -> Problem:
    """The initial-value problem of a model."""
    coupled = coupled_effect(model) is not None
    steering = steering_states(model)
    return problem(how, how.settling_matters(model), event_count(model) > 0, coupled, steering)


@functools.lru_cache(maxsize=64)
def observer(formulation: Formulation, shaped: bool) -> Program:
    """Compiled observation of a stack of phases.

    Args:
        formulation: of the phases.
        shaped: False where numbers of the model change on the way (`Program`).
    """

    def one(model: Model, t: Array, y: Phase) -> dict[str, Array]:
        with compact():
            return observe(model, formulation, t, y)

    def if_requested(model: Model, t: Array, y: Phase) -> dict[str, Array]:
        if coupled_effect(model) is None:
            return one(model, t, y)
        # an observation solves for the flow: samples that only fill a chunk are left out
        like = jax.eval_shape(one, model, t, y)
        nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), like)
        return jax.lax.cond(jnp.isfinite(t), lambda: one(model, t, y), lambda: nothing)

    def stack(model: Model, t: Array, y: Phase) -> dict[str, Array]:
        return jax.lax.map(lambda x: if_requested(model, *x), (t, y))

    return Program(stack, shaped=shaped)


@functools.lru_cache(maxsize=64)
def output_channels(
    formulation: Formulation, names: tuple[str, ...]
) -> Callable[[Model, Array, Phase], dict[str, Array]] | None:
    """Function of the channels whose extremes are recorded; None without any."""

    def stored(model: Model, t: Array, y: Phase) -> dict[str, Array]:
        return chosen(model, observe(model, formulation, t, y), names)

    return stored if names else None


@dataclass(frozen=True)
class SmoothStepper(Stepper):
    """Stepper of Runge-Kutta and implicit methods."""

    task: Task
    options: Options
    ran: dict[str, str] = field(default_factory=dict, compare=False)  # which engine, and why
    observed: dict[str, str] = field(default_factory=dict, compare=False)  # the same of samples

    @property
    def identity(self) -> tuple[object, ...]:
        task = self.task
        numbers = task.model, task.formulation, task.solver, self.options, task.extremes
        return *numbers, switched_off()

    @property
    def coordinates(self) -> str:
        """Layout of its states in words."""
        return f"a smooth solver with formulation '{self.task.formulation.name}'"

    def start(self) -> Carry:
        """State at the end of another run, or initial state."""
        task = self.task
        model, how = task.still, task.formulation
        if task.goes_on:
            like = start_carry(0.0, start_phase(model, how), events=event_count(model))
            return end_of(task.start, model, self.coordinates, like)
        y = begun(task.model, how, np.zeros(()), first_phase(model, how, task.start))
        return start_carry(0.0, y, events=event_count(model))

    def advance(self, state: Carry, times: np.ndarray) -> tuple[Carry, Tree]:
        args = self.stepped, self.options, state, times
        with where_solved(self.task.model):
            self.ran["engine"], out = self._program.run(*args)
        return out

    def engine(self, times: np.ndarray) -> str:
        return self._program.engine(self.stepped, self.options, self.start(), times)

    @property
    def _program(self) -> Program:
        task = self.task
        stored = output_channels(task.formulation, task.extremes)
        equations = problem_of(task.model, task.formulation)
        shaped = not task.by_hand
        return compiled(equations, task.solver, stored=stored, free=self.free, shaped=shaped)

    @property
    def free(self) -> bool:
        """Whether steps pass over samples."""
        return bool(np.isfinite(self.options.free_until))

    def continue_from(
        self, task: Task, state: Carry, times: np.ndarray
    ) -> tuple[SmoothStepper, Carry]:
        """The same state; if parameters changed, its rate is unknown."""
        if task.model is not self.task.model:
            unknown = np.zeros((), bool)
            state = state._replace(rate_known=unknown, crossing=np.asarray(np.inf))
        stepper = smooth_stepper(replace(task, times=times, begin=float(times[0])))
        return replace(stepper, ran=self.ran), state

    @functools.cached_property
    def stepped(self) -> Model:
        """The stepped model: fixed steps integrate the radiation memory exactly."""
        model = self.task.model
        if self.task.solver == "rk4":
            model = with_exact_memory(model, self.step)
        return model if required_step(model) is None else with_step_means(model, self.step)

    @property
    def step(self) -> float:
        """Length of fixed steps, or of their parts [s]."""
        return float(self.options.step) / self.options.parts

    def blank(self, count: int) -> Tree:
        """Repeated initial sample."""
        task = self.task
        y = start_carry(0.0, start_phase(task.still, task.formulation)).y
        if task.extremes:
            stored = output_channels(task.formulation, task.extremes)
            assert stored is not None
            y = y, as_channels(nothing_known(shapes_of(stored, task.model, np.zeros(()), y)))
        return mapped(lambda x: np.broadcast_to(x, (count, *np.shape(x))), y)

    def observe(self, times: np.ndarray, samples: Tree) -> dict[str, Array]:
        """All channels, including recorded extremes."""
        phases, extremes = samples if self.task.extremes else (samples, {})
        if coupled_effect(self.task.model) is None:
            # laws of users are asked at times only; those that fill a chunk repeat the last
            last = np.max(times, where=np.isfinite(times), initial=0.0)
            times = np.where(np.isfinite(times), times, last)
        program = observer(self.task.formulation, not self.task.by_hand)
        with where_solved(self.task.model):
            self.observed["engine"], channels = program.run(self.task.model, times, phases)
        return channels | extremes

    def end(self, state: Carry) -> tuple[Carry, float]:
        """The whole state, at the last sample.

        Steps end there, but a run that was stopped may have gone a part of a step further.
        """
        time = float(state.sampled)
        if time < state.t:
            task = self.task
            equations = problem_of(task.model, task.formulation)
            y = value_at(equations, self.stepped, jax.tree.map(jnp.asarray, state), time)
            y = mapped(np.asarray, y)
            unknown = np.zeros((), bool)
            state = state._replace(t=np.asarray(time), y=y, rate_known=unknown)
        return state, time

    def failure(self, state: Carry, code: Code) -> tuple[Code, str]:
        """The failing body or loop, with time and reason."""
        return failure(self.task.model, self.task.formulation, state, code)

    def about(self, state: Carry) -> NamedValues:
        task = self.task
        attrs = {
            "formulation": task.formulation.name,
            "solver": task.solver,
            "rtol": float(self.options.rtol),
            "atol": float(self.options.atol),
            "steps_accepted": int(state.n_accepted),
            "steps_rejected": int(state.n_rejected),
            "rate_evaluations": int(state.n_rate),
            **self.ran,
        }
        steps, samples = self.ran.get("engine"), self.observed.get("engine", BY_LLVM)
        if steps == BY_LLVM != samples:
            attrs["engine"] = f"{BY_LLVM}, observation by {samples}"
        if event_count(task.model):
            attrs["events"] = int(state.n_events)
        if all_winches(task.model):
            attrs["event_log"] = "\n".join(stages_until(task.model, float(state.t)))
        if task.solver == "rk4":
            attrs["step"] = self.step
        return attrs


def smooth_stepper(task: Task) -> SmoothStepper:
    """The stepper of a task, with the breakpoints at which its steps end."""
    return SmoothStepper(task, options_of(task))


def first_phase(model: Model, how: Formulation, start: Tree) -> Phase:
    """Initial phase of a smooth run, after the stick decision."""
    phase = _specified_phase(model, how, start)
    if not stroke_forces(model).sticks:
        return phase
    if is_traced(model) or is_traced(phase):
        return resolved(model, how, jnp.zeros(()), phase)
    return _decided(how)(model, phase)


@functools.lru_cache(maxsize=16)
def _decided(how: Formulation) -> Program:
    """Compiled stick decision at the start."""
    return Program(lambda model, y: resolved(model, how, jnp.zeros(()), y))


def _specified_phase(model: Model, how: Formulation, start: Tree) -> Phase:
    if isinstance(start, Phase):
        return start
    if start is not None and not isinstance(start, str):
        raise refuse_start(start, "'equilibrium' or 'described'")
    at_rest = bool(having(model, StartsFromEquilibrium))
    word = start or ("equilibrium" if at_rest else "described")
    if word not in ("equilibrium", "described"):
        raise SwelltreeError(
            f"start '{word}' is not known. A run starts from 'equilibrium' or 'described'."
        )
    begin = start_phase(model, how)
    if word == "described":
        return begin
    rest = equilibrium_state(model, how)[0] if is_traced(model) else find_rest(model, how)[0]
    state = State(rest.q, begin.state.s, rest.chart)
    return Phase(state, begin.work, settled_at(model, how, state))


def smooth_traced(task: Task, max_steps: int) -> dict[str, Array]:
    """The whole run in one graph, differentiable in both modes: channels of `observe`."""
    if task.goes_on:
        raise SwelltreeError(
            "start: inside jit, grad or vmap a run cannot continue from a result. Give a phase."
        )
    stepper, model, how = smooth_stepper(task), task.model, task.formulation
    if task.solver == "rk4":
        model = with_exact_memory(model, stepper.step)
    y = begun(model, how, np.zeros(()), first_phase(task.still, how, task.start))
    carry, samples = integrate(
        problem_of(model, how),
        model,
        start_carry(0.0, y, events=event_count(model)),
        task.times,
        stepper.options,
        method=task.solver,
        stored=output_channels(how, task.extremes),
        differentiable=True,
        max_steps_per_output=max_steps,
        free=stepper.free,
    )
    phases, extremes = samples if task.extremes else (samples, {})
    times = jnp.asarray(task.times)
    channels = jax.vmap(lambda t, y: observe(model, how, t, y))(times, phases) | extremes
    channels = channels | {"time": times, "phase": phases}
    return with_watch(model, channels, carry.code, task.solver, float(stepper.options.rtol))


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
