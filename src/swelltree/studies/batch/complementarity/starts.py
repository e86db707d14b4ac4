"""Where the cases of a batch by the two-step scheme begin, found as single runs find it.

Equilibrium in still water, the half step before the first and the first sample depend on the
numbers of a case, and on its sea only if it acts at the start. A sea with a ramp does not: all
cases with the same numbers have one start.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from swelltree.compiler.functions_of_time import with_step_means
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.hydro import excitation_of, with_excitation
from swelltree.hydro.linear.wave_sums import WaveSums
from swelltree.integrate.complementarity.lines.node_axes import node_axes
from swelltree.integrate.complementarity.run import RunState, after_step, room_for, single_step
from swelltree.integrate.complementarity.samples import Sample
from swelltree.integrate.complementarity.start import set_up, wrench_at, wrenches_one_by_one
from swelltree.integrate.complementarity.state import SchemeOptions, StepConstants
from swelltree.integrate.complementarity.step import advance
from swelltree.integrate.problem import Code
from swelltree.jit import BY_LLVM, Array, Axes, Program, Tree, jax, jnp, mapped
from swelltree.model.capabilities import InternalState
from swelltree.model.model import Model
from swelltree.model.solved import prepared
from swelltree.multibody.kinematics import Pose
from swelltree.spatial.rotations import compact
from swelltree.studies.batch.cases import BatchCase, CaseMaker, key_of, ramp_of_case
from swelltree.studies.batch.engine import Plan, sample_of
from swelltree.studies.options import realised
from swelltree.studies.time.complementarity.channels import observe
from swelltree.studies.time.complementarity.plan import form_of_task
from swelltree.studies.time.complementarity.plan import plan as stepping_plan
from swelltree.studies.time.complementarity.stepper import TwoStepStepper
from swelltree.studies.time.first_sample import Start, as_specified
from swelltree.studies.time.task import Task, starts_at_equilibrium
from swelltree.studies.time.verify import validate_winch_commands

# --- Forces at many poses by one program: the stiffness of each design of a batch needs dozens


def compiled_wrenches(
    model: Model, poses: Pose, v: np.ndarray, angles: np.ndarray, internal: InternalState
) -> np.ndarray:
    """Forces at many poses (k, 6N) in native code; in numpy where there is none."""
    args = model, poses, v, angles, internal
    if _program().engine(*args) != BY_LLVM:
        return wrenches_one_by_one(*args)
    return _program()(*args)["wrench"]


@functools.lru_cache(maxsize=1)
def _program() -> Program:
    def wrenches(
        model: Model, poses: Pose, v: Array, angles: Array, internal: InternalState
    ) -> dict[str, Array]:
        def one(x: tuple[Pose, Array]) -> Array:
            return wrench_at(model, *x, angles, internal)

        return {"wrench": jax.lax.map(one, (poses, v))}

    return Program(wrenches)


# --- Steps of one case of a batch by the two-step scheme, from one sample to the next


class CaseStart(NamedTuple):
    """What a case is run with.

    Args:
        model: in its sea.
        setup: constants of its steps.
        first: its first sample, with the velocities given.
    """

    model: Model
    setup: StepConstants
    first: Sample


class Stepped(NamedTuple):
    run: RunState
    code: Array  # `Code`
    t_fail: Array  # s, where it could not be stepped on


def stepped_from(run: RunState) -> Stepped:
    """A case before its first step."""
    return Stepped(run, np.array(int(Code.SUCCESS), np.int64), np.array(np.nan))


@functools.lru_cache(maxsize=16)
def chunk_of_steps(form: SchemeOptions, names: tuple[str, ...]) -> Callable[..., Tree]:
    """``run(case_start, none, stepped, marks) -> (stepped, (channels, budget))`` of one case.

    Args:
        form: of the steps.
        names: of the channels.

    Marks are numbers of steps before each sample of a chunk (sample,).
    """

    def run(case_start: CaseStart, none: tuple[()], at: Stepped, marks: Array) -> Tree:
        model, setup, first = case_start
        averaged = with_step_means(model, setup.h)

        def one(now: RunState, mark: Array) -> tuple[RunState, Sample]:
            here = _with_loads_now(averaged, now.state.t)
            after, sample = advance(here, form, setup, now.state)
            requested = now.index == mark
            later, full = after_step(here, form, setup.h, now, after, sample, requested)
            later = jax.tree.map(lambda a, b: jnp.where(sample.solved, a, b), later, now)
            return later._replace(ok=sample.solved), full

        shapes = jax.eval_shape(one, at.run, marks[0])[1]
        nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)

        def to_sample(now: RunState, mark: Array) -> tuple[RunState, Tree]:
            def more(carry: tuple[RunState, Sample]) -> Array:
                return (carry[0].index <= mark) & carry[0].ok

            now, sample = jax.lax.while_loop(more, lambda x: one(x[0], mark), (now, nothing))
            sample = jax.tree.map(lambda a, b: jnp.where(mark == 0, a, b), first, sample)
            return now, _stored(model, form, sample, names)

        now, stored = jax.lax.scan(to_sample, at.run, marks)
        code = jnp.where(now.ok, int(Code.SUCCESS), int(Code.NO_PROGRESS)).astype(jnp.int64)
        failed = jnp.where(now.ok, jnp.nan, now.state.t)
        return Stepped(now, code, failed), stored

    return run


def _with_loads_now(model: Model, t: Array) -> Model:
    """The model with loads of waves that are summed once for a step, where they are not known."""
    sums = excitation_of(model)
    return with_excitation(model, sums.loads(t, 2)) if isinstance(sums, WaveSums) else model


def _stored(model: Model, form: SchemeOptions, sample: Sample, names: tuple[str, ...]) -> Tree:
    """Channels that are wanted, and those by which a run looks at itself."""
    with compact():
        raw = observe(model, form, sample)
    return sample_of(model, raw, names, "two_step")


def axes_of_rows(case_start: CaseStart, none: tuple[()], at: Stepped, marks: Array) -> Axes:
    """First axes of arrays that are computed in loops, of one case."""
    state = at.run.state
    axes: dict[tuple[int, ...], int] = {}
    if state.log is not None:
        k = len(state.log.rows)
        axes |= {(k,): k, (1, k): k}
    if state.lines is not None:
        lines = state.lines
        points = lines.q.shape[0] * lines.q.shape[1] + lines.y.shape[0]
        axes |= node_axes(case_start.model, lines.mu.shape) | {(points,): points}
    return axes


class Beginning(NamedTuple):
    """What cases with the same start share."""

    setup: StepConstants
    first: Sample
    stepped: Stepped


class Starts:
    """Makes the cases of a batch, and finds where they begin.

    Args:
        plan: of the batch.
        maker: of the models that are stepped; as single runs have them if not given.
    """

    def __init__(self, plan: Plan, maker: CaseMaker | None = None) -> None:
        self.plan = plan
        self.maker = CaseMaker(plan.model, plan.end) if maker is None else maker
        self.usual = self.maker.as_alone()  # that of single runs, which find starts
        self._known: tuple[Any, Beginning] | None = None

    def built(self, case: BatchCase) -> tuple[CaseStart, Stepped]:
        model = prepared(self.maker.in_sea(case)[0])
        key = key_of(case.values), None if begins_still(case) else (case.sea, case.case)
        if self._known is None or self._known[0] != key:
            self._known = key, self._beginning(case)
        beginning = self._known[1]
        if starts_at_equilibrium(model, self.plan.start):
            model = model.replace(datum=beginning.first.pose)
        return CaseStart(model, beginning.setup, beginning.first), beginning.stepped

    def own_step(self, case: BatchCase) -> float:
        """The step that a single run of a case would take [s]."""
        return stepping_plan(self._task(case, prepared(self.usual.in_sea(case)[0]))).step

    @property
    def form(self) -> SchemeOptions:
        return form_of_task(self._task(BatchCase(), self.plan.model))

    def _task(self, case: BatchCase, model: Model) -> Task:
        still = self.maker.numbers(case).still
        waves = None if case.sea is None else realised(still, case.sea, case.case)
        return self.plan.task(model, still, waves)

    def _beginning(self, case: BatchCase) -> Beginning:
        task = self._task(case, prepared(self.usual.in_sea(case)[0]))
        validate_winch_commands(task.model, task.times)
        room = room_for(task.model)
        stepper = TwoStepStepper(task, stepping_plan(task), room, compiled_wrenches)
        form, step = stepper.plan.form, stepper.plan.step
        started = stepper.start()
        setup = set_up(task.model, form, step, started.derivatives)
        state = started.run_state.state
        sample = single_step(form)(stepper.stepped_model, setup, state)[1]
        rows = mapped(lambda x: np.asarray(x)[None], sample)
        if started.specified is not None:
            rows = as_specified(task.model, form, rows, Start(setup, started.specified))
        first = mapped(lambda x: np.asarray(x)[0], rows)
        setup = mapped(np.asarray, setup)
        run = mapped(np.asarray, started.run_state)
        return Beginning(setup, first, stepped_from(run))


TRIED = 32  # cases whose own steps are looked at


def shared_step(plan: Plan, cases: Sequence[BatchCase]) -> float | None:
    """The shortest of the steps that single runs of some cases would take [s].

    None where none of them can be run.

    Args:
        plan: of the batch, without a step.
        cases: of which the first few are looked at.
    """
    starts, steps = Starts(plan), []
    for case in cases[:TRIED]:
        try:
            steps.append(starts.own_step(case))
        except SwelltreeError:  # reported where the case is run
            continue
    return min(steps, default=None)


def begins_still(case: BatchCase) -> bool:
    """Does the sea of a case not act at its start?"""
    return case.sea is None or ramp_of_case(case) > 0.0
