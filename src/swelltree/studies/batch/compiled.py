"""Batches in native code: what SIMD lanes and GPUs share.

A batch is made ready (cases as programs take them, and the waves whose loads are summed on the
way), stepped through chunks of time, and either brought here sample by sample or summed up where
it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.data import WaveLoads
from swelltree.hydro.linear.hydro import with_excitation, without_table
from swelltree.integrate.problem import Options
from swelltree.integrate.problem import start as start_carry
from swelltree.integrate.runge_kutta.batched import begin, fixed_steps
from swelltree.integrate.runge_kutta.smooth import integrate
from swelltree.integrate.solution import Code
from swelltree.jit import Array, Cases, ManyProgram, PerCase, Tree, flatten, mapped
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations.equations import event_count
from swelltree.pto.controllers.controllers import raise_faults
from swelltree.studies.batch.cases import BatchCase, CaseMaker
from swelltree.studies.batch.engine import (
    Engine,
    Outcome,
    Plan,
    Summary,
    judged,
    judged_by_extremes,
)
from swelltree.studies.batch.shared import OwnLeaves, SeveralLayoutsError, in_groups
from swelltree.studies.batch.summaries import EXTREMES, Requested, Retained
from swelltree.studies.batch.xla import options_of, outcome, sampler, shapes_of
from swelltree.studies.time.smooth import problem
from swelltree.studies.time.verify import ended_with_loops

JOINT_ANGLES = ("joint_coordinate",)  # whose turns need more than the last sample


class PreparedBatch(NamedTuple):
    """Cases as a program takes them.

    Args:
        cases: that can be run.
        models: of each of them.
        loads: made on the way, as the program takes them; None if there are none.
        runs: numbers of the cases that can be run.
        refused: error messages of the others.
    """

    cases: Cases
    models: list[Model]
    loads: Tree
    runs: list[int]
    refused: dict[int, str]


class Compiled(Engine):
    """Native code for many cases."""

    # --- what each of them does in its own way ----------------------------------------------
    @abstractmethod
    def maker(self, plan: Plan) -> CaseMaker:
        """Makes models of cases."""

    @abstractmethod
    def built(self, plan: Plan, cases: list[BatchCase]) -> PreparedBatch | None:
        """Cases that can be run; None if there are none."""

    @abstractmethod
    def program(self, plan: Plan, built: PreparedBatch) -> ManyProgram:
        """The program of a plan."""

    @abstractmethod
    def chunks(self, plan: Plan) -> list[np.ndarray]:
        """Times, in chunks."""

    @abstractmethod
    def stepped(self, plan: Plan, built: PreparedBatch) -> tuple[Tree, Tree]:
        """State at the end, and samples of all cases."""

    @abstractmethod
    def summed(self, plan: Plan, built: PreparedBatch, requested: Requested) -> tuple[Tree, Tree]:
        """State at the end, and what is kept of all cases."""

    # --- what is the same in all ------------------------------------------------------------
    def unsupported_reason(self, plan: Plan, case: BatchCase) -> str:
        """What cannot be flattened."""
        try:
            built = self.built(plan, [case])
        except SwelltreeError:
            return ""  # said again where the case is run
        if built is None:
            return ""
        return self.program(plan, built).unsupported_reason(built.cases, self.chunks(plan)[0])

    def shapes(self, plan: Plan) -> dict[str, tuple[int, ...]]:
        """By tracing one sample."""
        return shapes_of(plan)

    def run(self, plan: Plan, cases: list[BatchCase], first: int = 0) -> list[Outcome]:
        """All cases in parallel, where they have one layout; else in groups of one layout."""
        return in_groups(lambda some: self._run(plan, some), self.maker(plan), cases)

    def _run(self, plan: Plan, cases: list[BatchCase]) -> list[Outcome]:
        """Cases of one layout; those that cannot be made have their message."""
        built = self.built(plan, cases)
        if built is None:
            return [Outcome(None, text) for text in self._refusals(plan, cases)]
        outcomes = {k: Outcome(None, text) for k, text in built.refused.items()}
        state, (channels, budget) = self.stepped(plan, built)
        found = _judged_outcomes(plan, built.models, state, channels, budget)
        outcomes |= dict(zip(built.runs, found, strict=True))
        outcomes |= self.alone(plan, cases, self._stuck(built, state))
        return [outcomes[k] for k in range(len(cases))]

    def summaries(self, plan: Plan, cases: list[BatchCase], requested: Requested) -> Summary | None:
        """What is kept of all cases; statistics of cases that turn fast are left to their samples.

        Runs with loops are judged by their samples, and so are the turns of joints.
        """
        if plan.model.cut_rows or any(name in JOINT_ANGLES for name in plan.channels):
            return None
        try:
            built = self.built(plan, cases)
        except SeveralLayoutsError:
            return None  # they are run one layout after the other
        if built is None:
            return None
        state, (channels, budget) = self.summed(plan, built, requested)
        raise_faults(plan.model)
        codes = np.asarray(state.code)
        failed = np.where(codes == Code.SUCCESS, np.nan, state.t_fail)
        extremes: dict[str, np.ndarray] = {
            str(name): row for name, row in zip(EXTREMES, budget.T, strict=True)
        }
        codes = judged_by_extremes(extremes, codes, plan.solver)
        messages = np.full(len(cases), "", dtype=object)
        for k in np.flatnonzero(codes != Code.SUCCESS):
            messages[built.runs[k]] = outcome({}, codes[k], failed[k]).message
        for k, text in built.refused.items():
            messages[k] = text
        again = self.alone(plan, cases, self._stuck(built, state))
        for k, one in again.items():
            messages[k] = one.message
        shapes = self.shapes(plan)

        def placed(name: str, found: np.ndarray | None) -> np.ndarray | None:
            """Numbers of the cases that have run among all, entries in their shape."""
            if found is None:
                return None
            complete = np.full((len(cases), *shapes[name], *found.shape[2:]), np.nan)
            complete[built.runs] = found.reshape(len(built.runs), *complete.shape[1:])
            complete[(messages != "") | np.isin(np.arange(len(cases)), list(again))] = np.nan
            return complete

        values = {}
        for name, stored in channels.items():
            statistics, peaks, damage = (placed(name, part) for part in stored)
            assert statistics is not None
            values[name] = Retained(statistics, peaks, damage)
        return Summary(values, messages, again)

    def alone(self, plan: Plan, cases: list[BatchCase], stuck: list[int]) -> dict[int, Outcome]:
        """Cases that are run once more by themselves, of those whose steps could not be solved."""
        return {}

    def _stuck(self, built: PreparedBatch, state: Tree) -> list[int]:
        """Numbers of cases whose steps could not be solved."""
        codes = np.asarray(state.code)
        return [built.runs[k] for k in np.flatnonzero(codes == Code.NO_PROGRESS)]

    def _refusals(self, plan: Plan, cases: list[BatchCase]) -> list[str]:
        maker, reported = self.maker(plan), []
        for case in cases:
            try:
                maker.in_sea(case)
                reported.append("")
            except SwelltreeError as error:
                reported.append(str(error))
        return reported


def _judged_outcomes(
    plan: Plan, models: list[Model], state: Tree, channels: Tree, budget: dict[str, Array]
) -> list[Outcome]:
    """What became of cases by their samples, (case, time, ...)."""
    raise_faults(plan.model)
    n = len(plan.times)
    channels = {name: x[:, :n] for name, x in channels.items()}
    budget = {name: x[:, :n] for name, x in budget.items()}
    codes = np.asarray(state.code)
    if plan.model.cut_rows:
        budget["time"] = np.broadcast_to(plan.times, (len(models), n))
        codes = ended_with_loops(models, budget, codes, plan.solver)
    else:
        codes = judged(budget, codes, plan.solver)
    failed = np.where(np.asarray(state.code) == Code.SUCCESS, np.nan, state.t_fail)
    return [
        outcome({name: x[k] for name, x in channels.items()}, codes[k], failed[k])
        for k in range(len(models))
    ]


def chunks_of(times: np.ndarray, length: int) -> list[np.ndarray]:
    """Times in rows of one length, each beginning where the one before ends.

    The last is filled up by its end.
    """
    count = -(-len(times) // length)
    filled = np.append(times, np.full(count * length - len(times), times[-1]))
    before = np.append(times[:1], filled[length - 1 : -1 : length])
    return [np.append(b, row) for b, row in zip(before, filled.reshape(count, length), strict=True)]


# --- cases as programs take them ------------------------------------------------------------
def built_sequentially(
    plan: Plan, maker: CaseMaker, cases: list[BatchCase]
) -> PreparedBatch | None:
    """Cases in seas of any kind, each made as for a single run; None if none can be run."""
    models, refused = {}, {}
    for k, case in enumerate(cases):
        try:
            models[k] = maker.in_sea(case)
        except SwelltreeError as error:
            refused[k] = str(error)
    if not models:
        return None
    example = cases[next(iter(models))]
    fixed = OwnLeaves(maker, example).gathered([model for model, _ in models.values()])
    options = options_of(plan, next(iter(models.values()))[0])
    states = [_started(plan, y) for _, y in models.values()]
    state = mapped(lambda *x: np.stack(x), *states)
    gathered = Cases(fixed, options, state, len(models))
    return PreparedBatch(gathered, [m for m, _ in models.values()], None, list(models), refused)


class WithLoads(NamedTuple):
    """Cases whose loads are made on the way, and the arguments that these become."""

    cases: Cases
    models: list[Model]
    force: PerCase
    rate: PerCase


def with_loads(
    plan: Plan, maker: CaseMaker, cases: Sequence[BatchCase], steps: np.ndarray, points: int
) -> WithLoads:
    """Cases in still water with room for loads of waves on a grid.

    Args:
        plan: how they are run.
        maker: of cases.
        cases: all of which can be run.
        steps: of the grid of each case [s].
        points: of the grid in a chunk.
    """
    n = 6 * plan.model.layout.n_bodies
    step = np.array(float(steps[0]))
    empty = [np.zeros((points, n)) for _ in range(2)]
    loads = WaveLoads(step, empty[0], empty[1], np.zeros(()))

    def ready(case: BatchCase) -> tuple[Model, Tree]:
        built = maker.numbers(case)
        return without_table(with_excitation(built.stepped, loads)), built.start

    model, y = ready(cases[0])
    if any(case.values for case in cases):
        owned = OwnLeaves(maker, cases[0], model)
        many = [ready(case) for case in cases]
        models = [m for m, _ in many]
        fixed = owned.gathered(models)
        states = [_started(plan, y) for _, y in many]
        state = mapped(lambda *x: np.stack(x), *states)
    else:
        models, fixed = [model] * len(cases), model
        state = mapped(
            lambda x: np.broadcast_to(np.asarray(x), (len(cases), *np.shape(x))),
            _started(plan, y),
        )
    force, rate = (PerCase([x]) for x in empty)
    replaced: dict[int, PerCase | Array] = {id(empty[0]): force, id(empty[1]): rate}
    # as long as they are the same, all cases have the same times
    differ = bool((steps != steps[0]).any())
    replaced[id(step)] = PerCase([np.array(float(x)) for x in steps]) if differ else step
    leaves, form = flatten(fixed)
    fixed = form.unflatten([_in_place(x, replaced) for x in leaves])
    gathered = Cases(fixed, options_of(plan, model), state, len(cases))
    return WithLoads(gathered, models, force, rate)


def _in_place(x: Array, replaced: dict[int, Tree]) -> Tree:
    """An argument that is made on the way, in place of its example."""
    example = x.arrays[0] if isinstance(x, PerCase) else x
    return replaced.get(id(example), x)


def _started(plan: Plan, y: Tree) -> Tree:
    eventful = event_count(plan.model)
    return start_carry(0.0, y, events=eventful) if eventful else begin(y)


# --- the stepper ----------------------------------------------------------------------------
def advance_of(plan: Plan) -> tuple[Formulation, bool, bool, tuple[str, ...]]:
    """What shapes the stepper of a plan."""
    how = plan.formulation
    return how, how.settling_matters(plan.model), event_count(plan.model) > 0, plan.channels


def advance(
    how: Formulation, matters: bool, eventful: bool, names: tuple[str, ...]
) -> Callable[..., Tree]:
    """``advance(model, options, state, times) -> (state, samples)``."""
    equations, sample = problem(how, matters, eventful), sampler(how, names, short=True)

    def run(model: Model, options: Options, state: Tree, times: Array) -> Tree:
        if not eventful:
            return fixed_steps(equations, model, options, state, times, sample)
        how = {"method": "rk4", "observe": sample}
        return integrate(equations, model, state, times[1:], options, **how)

    return run
