"""Runs with dynamic lines or contact with the seabed: `Stepper` of the two-step scheme."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from swelltree.compiler.functions_of_time import with_step_means
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.values import NamedValues
from swelltree.integrate.complementarity.cayley import cayley
from swelltree.integrate.complementarity.first_half_step import with_first_half_step
from swelltree.integrate.complementarity.run import (
    FAR,
    RunState,
    after_step,
    compiled_run,
    empty_samples,
    output_channels,
    run_state,
    single_step,
)
from swelltree.integrate.complementarity.samples import Sample
from swelltree.integrate.complementarity.solve.rescue import rescued, why
from swelltree.integrate.complementarity.start import (
    Wrenches,
    at_rest,
    motion_at,
    set_up,
    wrenches_one_by_one,
)
from swelltree.integrate.complementarity.state import (
    SchemeOptions,
    StepConstants,
    StepperState,
    sentences,
)
from swelltree.integrate.complementarity.step import sampled
from swelltree.integrate.problem import Code, as_channels, describe, known_now
from swelltree.integrate.stepper import Stepper
from swelltree.jit import Array, Program, Tree, jnp, mapped, switched_off
from swelltree.model.capabilities import InternalState, StartsFromEquilibrium, having
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.model.solved import where_solved
from swelltree.multibody.kinematics import Pose
from swelltree.pto.controllers.controllers import not_finite
from swelltree.pto.controllers.fmu import fault_of_fmu
from swelltree.spatial.rotations import matmul
from swelltree.studies.options import end_of
from swelltree.studies.time.complementarity.channels import observer
from swelltree.studies.time.complementarity.plan import OFF, Plan, plan
from swelltree.studies.time.complementarity.start import derivatives_at, first_state
from swelltree.studies.time.first_sample import Start, as_specified
from swelltree.studies.time.task import Task
from swelltree.studies.time.verify import A_STEP_NEAR, why_stopped

# --- A law that has no number where a run by the two-step scheme stopped

PROBES = 12  # places on the way into a failed step
FARTHEST = 4.0  # steps


def law_without_number(model: Model, last: StepperState, step: float) -> str:
    """The message about it; empty: none is found.

    Args:
        model: that was run.
        last: the last good state.
        step: of the run [s].
    """
    return fault_of_fmu(model) or not_finite(model, _moments(model, last, step))


def _moments(model: Model, last: StepperState, step: float) -> Iterator[Instant]:
    """The last good state and extrapolated states, the nearest first."""
    v, p, R = (np.asarray(x) for x in (last.v_minus, last.pose.p, last.pose.R))
    internal = InternalState(last.chi, last.elements)
    for h in (0.0, *np.geomspace(1e-3 * step, FARTHEST * step, PROBES)):
        pose = Pose(p + h * v[:, :3], matmul(np.asarray(cayley(0.5 * h * v[:, 3:])), R))
        yield Instant(
            jnp.asarray(last.t) + h, motion_at(model, pose, v, np.asarray(last.angles)), internal
        )


class TwoStepState(NamedTuple):
    """State of a run between chunks."""

    t: Array
    run_state: RunState
    end: RunState  # the same at the last sample, from where a run can go on
    derivatives: tuple[
        Array, Array
    ]  # stiffness and damping of the forces, which constants are made from
    specified: Tree  # StepperState with the velocities given at the start, or None
    code: Array
    t_fail: Array
    n_outputs: Array
    n_rescued: Array


@dataclass(frozen=True)
class TwoStepStepper(Stepper):
    """Two-step scheme with constant steps."""

    task: Task
    plan: Plan
    width: int  # samples that one program has room for
    wrenches: Wrenches = wrenches_one_by_one  # forces at many poses, of the start

    @property
    def identity(self) -> tuple[object, ...]:
        numbers = self.task.model, self.task.solver, self.plan, self.task.extremes
        return *numbers, switched_off()

    @property
    def coordinates(self) -> str:
        """Layout of its states in words."""
        return f"the two-step scheme with formulation '{self.plan.formulation}'"

    def start(self) -> TwoStepState:
        """State at the end of another run, or initial state."""
        task, form = self.task, self.plan.form
        if task.goes_on:
            now, derivatives = self._continued()
            state = now.state
            now = now._replace(extremes=run_state(task.model, form, state).extremes)
            return _state_at(now, derivatives, None)
        at_rest = bool(having(task.model, StartsFromEquilibrium))
        usual = "equilibrium" if at_rest else "described"
        word = usual if task.start is None else task.start
        self.engine(task.times)  # its program serves the start too
        specified = first_state(task.model, form, self.plan.step, self.width, word, self.wrenches)
        specified = sampled(task.model, np.asarray(self.plan.step), specified)
        derivatives = derivatives_at(task.model, self.wrenches)(specified)
        setup = set_up(task.model, form, self.plan.step, derivatives)
        single = single_step(form, self.width)
        state = with_first_half_step(single, self.stepped_model, setup, specified)
        return _state_at(run_state(task.model, form, state), derivatives, specified)

    def _continued(self) -> tuple[RunState, tuple[Array, Array]]:
        """Final state of another run, and the derivatives behind its constants."""
        task, form = self.task, self.plan.form
        none = np.zeros((6 * task.model.layout.n_bodies,) * 2)
        blank = run_state(task.model, replace(form, stored=None), at_rest(task.model, form))
        end = end_of(task.start, task.still, self.coordinates, (blank, (none, none)))
        step = float(task.start.attrs["step"])
        if abs(self.plan.step - step) > 1e-9 * step:
            raise SwelltreeError(
                f"start: that run was stepped by {step:g} s, this one would be by "
                f"{self.plan.step:g} s. Give an output_step that is a multiple of {step:g} s."
            )
        return end

    @functools.cached_property
    def stepped_model(self) -> Model:
        """The model with step means in place of loads in time."""
        return with_step_means(self.task.model, self.plan.step)

    def constants(self, derivatives: tuple[Array, Array]) -> StepConstants:
        """Constants of the steps; those of the last chunk serve where its derivatives do."""
        last = self._last_constants
        if not last or not all(map(np.array_equal, last[0], derivatives)):
            setup = set_up(self.task.model, self.plan.form, self.plan.step, derivatives)
            last[:] = derivatives, setup
        return last[1]

    @functools.cached_property
    def _room(self) -> Sample:
        model, form = self.stepped_model, self.plan.form
        return empty_samples(model, form, at_rest(model, form), self.width)

    @functools.cached_property
    def _last_constants(self) -> list[Tree]:
        return []

    def advance(self, state: TwoStepState, times: np.ndarray) -> tuple[TwoStepState, Sample]:
        """Step to the first sample of the next chunk, or just beyond the last."""
        model, form, marks = self.stepped_model, self.plan.form, self.plan.marks
        setup = self.constants(state.derivatives)
        first = int(state.n_outputs)
        requested = min(len(times), self.width, len(marks) - first)
        # the last chunk ends with the step that leaves the last sample
        closes = first + requested == len(marks)
        stops = [marks[-1], marks[-1] + 1] if closes else [marks[first + requested]]
        here = np.full(self.width, FAR)
        here[:requested] = marks[first : first + requested]
        now = end = state.run_state
        samples = self._room
        code, t_fail, helped = Code.SUCCESS, np.nan, int(state.n_rescued)
        run = compiled_run(form)
        while stops:
            with where_solved(model):
                now, samples = run(model, setup, now, samples, here, int(stops[0]))
            if bool(now.ok):
                stops = stops[1:]
                end = now if stops or not closes else end
                continue
            eased = self._eased(now, samples, here, state.derivatives)
            if eased is None:
                code, t_fail = Code.NO_PROGRESS, float(now.state.t)
                break
            now, samples = eased
            helped += 1
        if state.specified is not None and first == 0 and marks[0] == 0:
            start = Start(setup, state.specified)
            samples = _alone(
                self.task.model, form, as_specified(self.task.model, form, samples, start)
            )
        reached = first + min(int(np.searchsorted(here, int(now.index))), requested)
        return state._replace(
            t=np.asarray(now.state.t),
            run_state=now,
            end=end,
            code=np.asarray(int(code), np.int32),
            t_fail=np.asarray(t_fail),
            n_outputs=np.asarray(reached, np.int32),
            n_rescued=np.asarray(helped, np.int32),
        ), mapped(lambda x: x[: len(times)], samples)

    def continue_from(
        self, task: Task, state: TwoStepState, times: np.ndarray
    ) -> tuple[TwoStepStepper, TwoStepState]:
        """State at the last sample, from which statistics start anew."""
        task = replace(task, times=times, begin=float(times[0]))
        steps = (times - times[0]) / self.plan.step
        if np.abs(steps - np.round(steps)).max() > OFF:
            raise SwelltreeError(
                f"step {times[-1] - times[0]:.6g} s is not a multiple of {self.plan.step:g} s, the "
                "step of the two-step scheme. Give a multiple, or stepper(..., step=...)."
            )
        marks = int(state.end.index) + np.round(steps).astype(np.int64)
        if task.still is not self.task.still:
            derivatives = derivatives_at(task.model)(state.end.state)
            state = state._replace(derivatives=derivatives)
        state = state._replace(run_state=state.end, n_outputs=np.zeros((), np.int32))
        return replace(self, task=task, plan=replace(self.plan, marks=marks)), state

    def _eased(
        self, now: RunState, samples: Sample, marks: np.ndarray, derivatives: tuple[Array, Array]
    ) -> tuple[RunState, Sample] | None:
        """Continue after a failed step by other means; None if none succeeds."""
        model, form, h = self.stepped_model, self.plan.form, self.plan.step
        single = single_step(form, self.width)
        saved = rescued(single, model, form, h, now.state, derivatives, self.width)
        if saved is None:
            return None
        slot = int(np.searchsorted(marks, int(now.index)))
        requested = slot < len(marks) and marks[slot] == int(now.index)
        later, full = after_step(model, form, np.array(h), now, *saved, np.array(requested))
        if requested:
            samples = mapped(lambda a, x: _written(a, x, slot), samples, full)
        return mapped(np.asarray, later), samples

    def engine(self, times: np.ndarray) -> str:
        model, form = self.task.model, self.plan.form
        state = at_rest(model, form)
        none = np.zeros((6 * model.layout.n_bodies,) * 2)
        setup = set_up(model, form, self.plan.step, (none, none))
        samples = empty_samples(model, form, state, self.width)
        marks = np.full(self.width, FAR)
        now = run_state(model, form, state)
        return compiled_run(form).engine(self.stepped_model, setup, now, samples, marks)

    def blank(self, count: int) -> Sample:
        """Samples with bodies at their described poses."""
        model, form = self.task.model, self.plan.form
        state = at_rest(model, form)
        samples = empty_samples(model, form, state, count)
        pose = mapped(lambda x: np.broadcast_to(x, (count, *np.shape(x))), state.pose)
        return replace(samples, pose=pose)

    def observe(self, times: np.ndarray, samples: Sample) -> dict[str, Array]:
        """All channels, including recorded extremes."""
        with where_solved(self.task.model):
            return observer(self.plan.form)(self.task.model, samples)

    def end(self, state: TwoStepState) -> tuple[Tree, float]:
        """The run at the last sample, and its constants."""
        end = state.end._replace(extremes=None)
        return (end, state.derivatives), float(state.end.state.t)

    def failure(self, state: TwoStepState, code: Code) -> tuple[Code, str]:
        """The failing loop, line or body, with time and reason."""
        if code is not Code.NO_PROGRESS:
            return code, describe(code, float(state.t))
        model, last = self.task.model, state.run_state.state
        pose = mapped(np.asarray, last.pose)
        loop = why_stopped(model, float(last.t), pose, np.asarray(last.angles), A_STEP_NEAR)
        code = code if loop is None else Code.LOOP_SINGULAR
        when = f"time stepping stopped at t = {float(state.t_fail):.6g} s: "
        law = law_without_number(model, last, float(self.plan.step))
        return code, when + (loop or law or why(model, last))

    def about(self, state: TwoStepState) -> NamedValues:
        run, log = state.run_state, state.run_state.state.log
        attrs = {
            "formulation": self.plan.formulation,
            "solver": self.task.solver,
            "step": float(self.plan.step),
            "steps_accepted": int(run.index),
            "steps_rescued": int(state.n_rescued),
            "iterations_per_step": float(run.iterations) / max(int(run.index), 1),
            "engine": self.engine(self.task.times),
        }
        if log is not None:
            attrs["events"] = int(log.count)
            attrs["event_log"] = "\n".join(sentences(self.task.model, log, float(run.state.t)))
        return attrs


def two_step_stepper(task: Task, width: int) -> TwoStepStepper:
    """The stepper of a task.

    Args:
        task: of the run.
        width: samples that one program has room for.
    """
    return TwoStepStepper(task, plan(task), width)


def _state_at(
    now: RunState, derivatives: tuple[Array, Array], specified: StepperState | None
) -> TwoStepState:
    """A run that takes its next sample now."""
    zero = np.zeros((), np.int32)
    now = now._replace(index=np.zeros((), np.int64))
    t = np.asarray(now.state.t)
    return TwoStepState(t, now, now, derivatives, specified, zero, np.asarray(np.nan), zero, zero)


def _alone(model: Model, form: SchemeOptions, samples: Sample) -> Sample:
    """Samples without preceding steps: extremes are their own values."""
    if form.stored is None:
        return samples
    first = mapped(lambda x: x[0], samples)
    rows = as_channels(known_now(_cached_program(form)(model, first)))
    return replace(
        samples, extremes={name: _written(x, rows[name], 0) for name, x in samples.extremes.items()}
    )


@functools.lru_cache(maxsize=32)
def _cached_program(form: SchemeOptions) -> Program:
    """Channels of one sample whose extremes are kept."""
    return Program(output_channels(form))


def _written(rows: Array, row: Array, k: int) -> np.ndarray:
    rows = np.array(rows)
    rows[k] = row
    return rows
