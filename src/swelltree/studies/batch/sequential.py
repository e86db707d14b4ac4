"""Sequential cases by `simulate`: for what no other engine can run in parallel."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np

from swelltree.describe.errors import SwelltreeError, SwelltreeWarning, warn_user
from swelltree.studies.batch.cases import BatchCase, CaseMaker
from swelltree.studies.batch.engine import Engine, Outcome, Plan
from swelltree.studies.time.simulate import simulate


class OneByOne(Engine):
    name = "sequential"
    one_at_a_time = True

    def shapes(self, plan: Plan) -> dict[str, tuple[int, ...]]:
        """By one sample of a run in still water."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SwelltreeWarning)  # reported again by the cases
            run = simulate(
                plan.model,
                times=plan.times[:1],
                solver=plan.solver,
                formulation=plan.formulation,
                step=plan.step,
                start=plan.start,
                progress=False,
            )
        found = {str(n): x.shape[1:] for n, x in run.data_vars.items() if x.dims[:1] == ("time",)}
        return {name: shape for name, shape in found.items() if name in (plan.channels or found)}

    def run(self, plan: Plan, cases: list[BatchCase], first: int = 0) -> list[Outcome]:
        """Each case by itself; a warning of several of them is given once."""
        maker = CaseMaker(plan.model, plan.end)
        outcomes: list[Outcome] = []
        warned: Counter[str] = Counter()
        for case in cases:
            outcome, reported = self._one(plan, maker, case)
            outcomes.append(outcome)
            warned.update(reported)
        for text, count in warned.items():
            warn_user(f"{count} of {len(cases)} cases: {text}")
        return outcomes

    def _one(self, plan: Plan, maker: CaseMaker, case: BatchCase) -> tuple[Outcome, set[str]]:
        """The result of a case, and its other warnings."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SwelltreeWarning)
            outcome = self._outcome(plan, maker, case)
        reported = set()
        for one in caught:
            if not issubclass(one.category, SwelltreeWarning):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
            elif str(one.message) != outcome.message:  # reported in the result
                reported.add(str(one.message))
        return outcome, reported

    def _outcome(self, plan: Plan, maker: CaseMaker, case: BatchCase) -> Outcome:
        try:
            run = simulate(
                maker.numbers(case).still,
                case.sea,
                times=plan.times,
                solver=plan.solver,
                formulation=plan.formulation,
                step=plan.step,
                start=plan.start,
                case=case.case,
                progress=False,
            )
        except SwelltreeError as error:
            return Outcome(None, str(error))
        if run.attrs["result"] == "stopped_by_user":
            raise KeyboardInterrupt
        if run.attrs["result"] != "success":
            return Outcome(None, str(run.attrs["message"]))
        return Outcome({name: np.asarray(run[name].values) for name in plan.channels}, "")
