"""The two-step scheme of dynamic lines, contacts and winches as a scheme of batches.

All targets take the same steps (`starts`) of cases prepared in the same way. A step that Newton's
method cannot solve is solved in other ways by single runs (`complementarity.solve.rescue`): such a
case is run again sequentially, and the others go on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from swelltree.hydro.linear.hydro import hydro_table
from swelltree.integrate.complementarity.run import empty_samples
from swelltree.integrate.complementarity.samples import Sample
from swelltree.integrate.complementarity.start import at_rest
from swelltree.integrate.complementarity.state import SchemeOptions
from swelltree.jit import Cases, Tree, mapped, shapes_of
from swelltree.model.model import Model
from swelltree.results.sea import finished_now
from swelltree.studies.batch.cases import BatchCase, CaseMaker, OwnLeaves, grid_step
from swelltree.studies.batch.complementarity.seeds import (
    built_sequentially,
    built_together,
    gathered,
    over_groups,
)
from swelltree.studies.batch.complementarity.starts import (
    Starts,
    axes_of_rows,
    begins_still,
    chunk_of_steps,
)
from swelltree.studies.batch.engine import Outcome, Plan, PreparedBatch, Scheme, Steps, Target
from swelltree.studies.batch.sequential import OneByOne
from swelltree.studies.time.complementarity.channels import observe
from swelltree.studies.time.complementarity.plan import grid

SAMPLES = 32  # of a chunk: one program serves runs of any length


class TwoStep(Scheme):
    """Steps of one length, each solved by Newton's method."""

    def shapes(self, plan: Plan) -> dict[str, tuple[int, ...]]:
        """Of one sample, traced once or from the disk."""
        model, form = plan.model, Starts(plan).form
        sample = mapped(lambda x: x[0], empty_samples(model, form, at_rest(model, form), 1))
        found = shapes_of(_all_channels(form), model, sample)
        return {name: x.shape for name, x in found.items() if name in (plan.channels or found)}

    def maker(self, plan: Plan, target: Target) -> CaseMaker:
        """On a GPU loads of waves are summed in the steps."""
        summed = target.is_gpu and hydro_table(plan.model) is not None
        return CaseMaker(plan.model, plan.end, sums_step=grid_step(plan.model) if summed else None)

    def prepared(self, plan: Plan, target: Target, cases: list[BatchCase]) -> PreparedBatch:
        maker = self.maker(plan, target)
        starts = Starts(plan, maker)
        if target.is_gpu:
            groups, refused = built_together(starts, cases)
        else:
            groups, refused = built_sequentially(starts, cases, range(len(cases)))
        if not groups:
            return PreparedBatch([], refused)
        runs = [k for group in groups for k in group.rows]
        models = [group.case_start.model for group in groups for _ in group.rows]
        owned = OwnLeaves(maker, cases[runs[0]], models[0]).own_of(
            [g.case_start.model for g in groups]
        )
        # by numbers of their own, or a sea that acts at the start
        own_setup = any(case.values or not begins_still(case) for case in cases)
        fixed = gathered(groups, owned, own_setup)
        state = over_groups(groups, lambda group: group.stepped)
        return PreparedBatch(runs, refused, Cases(fixed, (), state, len(runs)), models)

    def chunk(self, plan: Plan, target: Target) -> int:
        return SAMPLES

    def steps(self, plan: Plan, target: Target, built: PreparedBatch) -> Steps:
        """Chunks are steps before each sample; the last is filled up by its end."""
        assert plan.step is not None
        _, marks = grid(plan.times, plan.step, plan.step)
        count = -(-len(marks) // SAMPLES)
        filled = np.append(marks, np.full(count * SAMPLES - len(marks), marks[-1]))
        function = chunk_of_steps(Starts(plan).form, plan.channels)
        return Steps(function, list(filled.reshape(count, SAMPLES)), axes_of_rows)

    def stepped_alone(
        self, plan: Plan, cases: list[BatchCase], stuck: list[int]
    ) -> dict[int, Outcome]:
        outcomes = OneByOne().run(plan, [cases[k] for k in stuck])
        return dict(zip(stuck, outcomes, strict=True))


@functools.lru_cache(maxsize=16)
def _all_channels(form: SchemeOptions) -> Callable[[Model, Sample], Tree]:
    """Function of one sample; one object, so that its shapes are found once."""

    def channels(model: Model, sample: Sample) -> Tree:
        return finished_now(model, observe(model, form, sample))

    return channels
