"""Where the cases of a batch by the two-step scheme begin, found as single runs find it.

Rest in still water, the half step before the first and the first sample depend on the numbers of a
case, and on its sea only as far as this acts at the start. A sea with a ramp does not: all cases
with the same numbers begin alike, and one start is found for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from swelltree.engine.trees import mapped
from swelltree.model.model import Model
from swelltree.model.solved import made_ready
from swelltree.studies.batch.cases import BatchCase, CaseMaker, key_of, ramp_of_case
from swelltree.studies.batch.engine import Plan
from swelltree.studies.batch.two_step.forces import compiled_wrenches
from swelltree.studies.batch.two_step.steps import CaseStart, Stepped, stepped_from
from swelltree.studies.seas import realised
from swelltree.studies.time.first_sample import Start, as_given
from swelltree.studies.time.task import Task, starts_at_equilibrium
from swelltree.studies.time.two_step.plan import form_of_task
from swelltree.studies.time.two_step.plan import plan as stepping_plan
from swelltree.studies.time.two_step.stepper import TwoStepStepper
from swelltree.studies.time.winch_findings import refuse_what_cannot_be_obeyed
from swelltree.system.errors import SwelltreeError
from swelltree.two_step.run import single_step
from swelltree.two_step.samples import Sample
from swelltree.two_step.start import set_up
from swelltree.two_step.state import Form, Setup

WIDTH = 1  # samples that the programs of single steps have room for


class Beginning(NamedTuple):
    """What cases with the same start share."""

    setup: Setup
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

    def made(self, case: BatchCase) -> tuple[CaseStart, Stepped]:
        """A case, ready to step."""
        model = made_ready(self.maker.in_sea(case)[0])
        key = key_of(case.values), None if begins_still(case) else (case.sea, case.case)
        if self._known is None or self._known[0] != key:
            self._known = key, self._beginning(case)
        beginning = self._known[1]
        if starts_at_equilibrium(model, self.plan.start):
            model = model.replace(datum=beginning.first.pose)
        return CaseStart(model, beginning.setup, beginning.first), beginning.stepped

    def own_step(self, case: BatchCase) -> float:
        """The step that a single run of a case would take [s]."""
        return stepping_plan(self._task(case, made_ready(self.usual.in_sea(case)[0]))).step

    @property
    def form(self) -> Form:
        """Coordinates and equations of all cases."""
        return form_of_task(self._task(BatchCase(), self.plan.model))

    def _task(self, case: BatchCase, model: Model) -> Task:
        still = self.maker.numbers(case).still
        waves = None if case.sea is None else realised(still, case.sea, case.case)
        return self.plan.task(model, still, waves)

    def _beginning(self, case: BatchCase) -> Beginning:
        task = self._task(case, made_ready(self.usual.in_sea(case)[0]))
        refuse_what_cannot_be_obeyed(task.model, task.times)
        stepper = TwoStepStepper(task, stepping_plan(task), WIDTH, compiled_wrenches)
        form, step = stepper.plan.form, stepper.plan.step
        started = stepper.start()
        setup = set_up(task.model, form, step, started.derivatives)
        state = started.run_state.state
        sample = single_step(form, WIDTH)(stepper.stepped_model, setup, state)[1]
        rows = mapped(lambda x: np.asarray(x)[None], sample)
        if started.given is not None:
            rows = as_given(task.model, form, rows, Start(setup, started.given))
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
