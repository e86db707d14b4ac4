"""Cases one after the other by `simulate`: for what no other engine can run side by side."""

from __future__ import annotations

import warnings

import numpy as np

from swelltree.studies.batch.cases import BatchCase, CaseMaker
from swelltree.studies.batch.engine import Engine, Outcome, Plan
from swelltree.studies.time.simulate import simulate
from swelltree.system.errors import SwelltreeError, SwelltreeWarning


class OneByOne(Engine):
    """Single runs."""

    name = "one by one"

    def unable(self, plan: Plan) -> str:
        """It runs all that `simulate` runs."""
        return ""

    def shapes(self, plan: Plan) -> dict[str, tuple[int, ...]]:
        """By one sample of a run in still water."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SwelltreeWarning)
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
        """Each case by itself."""
        maker = CaseMaker(plan.model, plan.end)
        return [self._one(plan, maker, case) for case in cases]

    def _one(self, plan: Plan, maker: CaseMaker, case: BatchCase) -> Outcome:
        try:
            with warnings.catch_warnings():
                # the message of a run that ended early is its warning
                warnings.simplefilter("ignore", SwelltreeWarning)
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
