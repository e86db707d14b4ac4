"""Batches in machine code: several cases in each register, registers on all cores.

`gpu` runs the same steps on graphics processors.
"""

from __future__ import annotations

import functools
import os
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from swelltree.effects.controllers.controllers import raise_faults
from swelltree.engine.backend import jax
from swelltree.engine.machine.many_cases.lane_runs import LaneProgram
from swelltree.engine.machine.many_cases.programs import Cases, ManyProgram
from swelltree.engine.machine.native import lane_width
from swelltree.formulations import Formulation
from swelltree.formulations.equations import event_count
from swelltree.model.model import Model
from swelltree.solvers.problem import Options
from swelltree.solvers.problem import start as start_carry
from swelltree.solvers.solution import Code
from swelltree.solvers.stepping.side_by_side import begin, fixed_steps
from swelltree.solvers.stepping.smooth import integrate
from swelltree.studies.batch.budget import judged
from swelltree.studies.batch.cases import BatchCase, CaseMaker
from swelltree.studies.batch.engine import Engine, Outcome, Plan
from swelltree.studies.batch.shared import OwnLeaves
from swelltree.studies.batch.xla import maker_of, options_of, outcome, sampler, shapes_of
from swelltree.studies.time.smooth import problem
from swelltree.studies.time.watch_traced import ended_with_loops
from swelltree.system.errors import SwelltreeError


class Compiled(Engine):
    """Machine code of our own for many cases."""

    chunk: int

    @abstractmethod
    def program(self, plan: Plan) -> ManyProgram:
        """The program of a plan."""

    @abstractmethod
    def stepped(self, plan: Plan, cases: Cases, chunks: list[np.ndarray]) -> Any:
        """State at the end, and samples of all cases."""

    def maker(self, plan: Plan) -> CaseMaker:
        """Makes models of cases."""
        return maker_of(plan)

    def refusal(self, plan: Plan, case: BatchCase) -> str:
        """What cannot be flattened."""
        maker = self.maker(plan)
        try:
            made = [maker.in_sea(case)]
        except SwelltreeError:
            return ""  # said again where the case is run
        cases = gathered_cases(plan, maker, case, made)
        return self.program(plan).refusal(cases, chunks_of(plan.times, self.chunk)[0])

    def shapes(self, plan: Plan) -> dict[str, tuple[int, ...]]:
        """By tracing one sample."""
        return shapes_of(plan)

    def run(self, plan: Plan, cases: list[BatchCase], first: int = 0) -> list[Outcome]:
        """All cases side by side; those that cannot be made have their sentence."""
        maker, made = self.maker(plan), {}
        outcomes: dict[int, Outcome] = {}
        for k, case in enumerate(cases):
            try:
                made[k] = maker.in_sea(case)
            except SwelltreeError as error:
                outcomes[k] = Outcome(None, str(error))
        if made:
            example = cases[next(iter(made))]
            gathered = gathered_cases(plan, maker, example, list(made.values()))
            found = self._outcomes(plan, gathered, [model for model, _ in made.values()])
            outcomes |= dict(zip(made, found, strict=True))
        return [outcomes[k] for k in range(len(cases))]

    def _outcomes(self, plan: Plan, cases: Cases, models: list[Model]) -> list[Outcome]:
        chunks = chunks_of(plan.times, self.chunk)
        state, (channels, budget) = self.stepped(plan, cases, chunks)
        return self.judged_outcomes(plan, models, state, channels, budget)

    def judged_outcomes(
        self, plan: Plan, models: list[Model], state: Any, channels: Any, budget: Any
    ) -> list[Outcome]:
        """What became of cases by their samples, (case, time, ...)."""
        raise_faults(plan.model)
        n = len(plan.times)
        channels = {name: x[:, :n] for name, x in channels.items()}
        budget = {name: x[:, :n] for name, x in budget.items()}
        codes = np.asarray(state.code)
        if plan.model.cut_rows:
            budget["time"] = np.broadcast_to(plan.times, (len(models), n))
            codes = ended_with_loops(models, budget, codes, "rk4")
        else:
            codes = judged(budget, codes, "rk4")
        failed = np.where(np.asarray(state.code) == Code.SUCCESS, np.nan, state.t_fail)
        return [
            outcome({name: x[k] for name, x in channels.items()}, codes[k], failed[k])
            for k in range(len(models))
        ]


class SideBySide(Compiled):
    """Lanes of registers, on all cores."""

    name = "lanes"
    chunk = 128  # samples of one call: one program serves runs of any length

    def program(self, plan: Plan) -> LaneProgram:
        """The program of a plan."""
        return _lane_program(*advance_of(plan), lane_width())

    def stepped(self, plan: Plan, cases: Cases, chunks: list[np.ndarray]) -> Any:
        """State at the end, and samples of all cases."""
        return self.program(plan).run(cases, chunks, threads=_cores())


@functools.lru_cache(maxsize=16)
def _lane_program(
    how: Formulation, matters: bool, eventful: bool, names: tuple[str, ...], width: int
) -> LaneProgram:
    return LaneProgram(advance(how, matters, eventful, names), width)


def _cores() -> int:
    """Cores of this process: what OMP_NUM_THREADS allows, or all."""
    asked = os.environ.get("OMP_NUM_THREADS", "").strip()
    return int(asked) if asked.isdigit() and int(asked) > 0 else os.cpu_count() or 1


def chunks_of(times: np.ndarray, length: int) -> list[np.ndarray]:
    """Times in rows of one length, each beginning where the one before ends.

    The last is filled up by its end.
    """
    count = -(-len(times) // length)
    filled = np.append(times, np.full(count * length - len(times), times[-1]))
    before = np.append(times[:1], filled[length - 1 : -1 : length])
    return [np.append(b, row) for b, row in zip(before, filled.reshape(count, length), strict=True)]


def gathered_cases(
    plan: Plan, maker: CaseMaker, example: BatchCase, made: list[tuple[Model, Any]]
) -> Cases:
    """Cases as a program takes them."""
    fixed = OwnLeaves(maker, example).gathered([model for model, _ in made])
    options = options_of(plan, made[0][0])
    eventful = event_count(plan.model)
    states: list[Any] = [
        start_carry(0.0, y, events=eventful) if eventful else begin(y) for _, y in made
    ]
    state = jax.tree.map(lambda *x: np.stack(x), *states)
    return Cases(fixed, options, state, len(made))


def advance_of(plan: Plan) -> tuple[Formulation, bool, bool, tuple[str, ...]]:
    """What shapes the stepper of a plan."""
    how = plan.formulation
    return how, how.settling_matters(plan.model), event_count(plan.model) > 0, plan.channels


def advance(
    how: Formulation, matters: bool, eventful: bool, names: tuple[str, ...]
) -> Callable[..., Any]:
    """``advance(model, options, state, times) -> (state, samples)``."""
    equations, sample = problem(how, matters, eventful), sampler(how, names, short=True)

    def run(model: Model, options: Options, state: Any, times: Any) -> Any:
        if not eventful:
            return fixed_steps(equations, model, options, state, times, sample)
        how = {"method": "rk4", "observe": sample}
        return integrate(equations, model, state, times[1:], options, **how)

    return run
