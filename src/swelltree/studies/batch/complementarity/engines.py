"""Batches of the two-step scheme: in lanes of registers, on GPUs, by XLA.

All take the same steps (`steps`) of cases made in the same way (`starts`). A step that Newton's
method cannot solve is taken in other ways by single runs (`two_step.solve.rescue`): such a case is
run again by itself, with the message that it has there where it fails, and the others go on.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

import numpy as np

from swelltree.hydro.linear.hydro import hydro_table
from swelltree.integrate.complementarity.run import empty_samples
from swelltree.integrate.complementarity.samples import Sample
from swelltree.integrate.complementarity.start import at_rest
from swelltree.integrate.complementarity.state import SchemeOptions
from swelltree.jit import (
    Cases,
    GpuProgram,
    LaneProgram,
    ManyProgram,
    PerCase,
    Tree,
    gpu,
    jax,
    lane_width,
    mapped,
    shapes_of,
    threads,
)
from swelltree.model.model import Model
from swelltree.model.solved import coupled_effect
from swelltree.results.sea import finished_now
from swelltree.studies.batch.cases import BatchCase, CaseMaker, grid_step
from swelltree.studies.batch.compiled import Compiled, PreparedBatch
from swelltree.studies.batch.complementarity.seeds import (
    Identical,
    built_sequentially,
    built_together,
    gathered,
    over_groups,
)
from swelltree.studies.batch.complementarity.starts import (
    Starts,
    Stepped,
    axes_of_rows,
    begins_still,
    chunk_of_steps,
)
from swelltree.studies.batch.engine import Outcome, Plan, Summary
from swelltree.studies.batch.gpu import note_seconds
from swelltree.studies.batch.sequential import OneByOne
from swelltree.studies.batch.shared import OwnLeaves
from swelltree.studies.batch.summaries import (
    BUDGET,
    Requested,
    joined,
    summarised_in_lanes,
    summarised_on_device,
)
from swelltree.studies.batch.xla import place_of
from swelltree.studies.time.complementarity.channels import observe
from swelltree.studies.time.complementarity.plan import grid

SAMPLES = 32  # of a chunk: one program serves runs of any length
TURNS = 2  # registers that each core runs in a batch
SHARE = 0.7  # of the free memory of a GPU that a batch takes


class TwoStep(Compiled):
    """What all of them do."""

    def unsupported_reason_of(self, plan: Plan) -> str:
        """Flows have steps of their own."""
        if coupled_effect(plan.model) is not None:
            return "flows that are solved for have a step of their own"
        return "" if plan.step is not None else "none of the cases tried for a step can be run"

    def shapes(self, plan: Plan) -> dict[str, tuple[int, ...]]:
        """Of one sample, traced once or from the disk."""
        model, form = plan.model, Starts(plan).form
        sample = mapped(lambda x: x[0], empty_samples(model, form, at_rest(model, form), 1))
        found = shapes_of(_all_channels(form), model, sample)
        return {name: x.shape for name, x in found.items() if name in (plan.channels or found)}

    def maker(self, plan: Plan) -> CaseMaker:
        """Makes models of cases."""
        return CaseMaker(plan.model, plan.end)

    def chunks(self, plan: Plan) -> list[np.ndarray]:
        """Steps before each sample, in chunks; the last is filled up by its end."""
        assert plan.step is not None
        _, marks = grid(plan.times, plan.step, plan.step)
        count = -(-len(marks) // SAMPLES)
        filled = np.append(marks, np.full(count * SAMPLES - len(marks), marks[-1]))
        return list(filled.reshape(count, SAMPLES))

    def built(self, plan: Plan, cases: list[BatchCase]) -> PreparedBatch | None:
        """Cases that can be run; None if there are none."""
        maker = self.maker(plan)
        groups, refused = self.groups(Starts(plan, maker), cases)
        if not groups:
            return None
        runs = [k for group in groups for k in group.rows]
        models = [group.case_start.model for group in groups for _ in group.rows]
        owned = OwnLeaves(maker, cases[runs[0]], models[0]).own_of(
            [g.case_start.model for g in groups]
        )
        fixed = gathered(groups, owned, _own_setup(cases))
        state = over_groups(groups, lambda group: group.stepped)
        return PreparedBatch(Cases(fixed, (), state, len(runs)), models, None, runs, refused)

    def groups(
        self, starts: Starts, cases: list[BatchCase]
    ) -> tuple[list[Identical], dict[int, str]]:
        """Cases that can be made, and the messages of the others."""
        return built_sequentially(starts, cases, range(len(cases)))

    def alone(self, plan: Plan, cases: list[BatchCase], stuck: list[int]) -> dict[int, Outcome]:
        """Steps that cannot be solved are taken in other ways by single runs."""
        outcomes = OneByOne().run(plan, [cases[k] for k in stuck])
        return dict(zip(stuck, outcomes, strict=True))

    def what(self, plan: Plan) -> tuple[SchemeOptions, tuple[str, ...]]:
        """What shapes the steps of a plan."""
        return Starts(plan).form, plan.channels


class TwoStepLanes(TwoStep):
    """Lanes of registers, on all cores."""

    name = "lanes"

    @property
    def most(self) -> int:
        """Cases that keep all cores busy."""
        return max(32, TURNS * lane_width() * threads())

    def program(self, plan: Plan, built: PreparedBatch) -> LaneProgram:
        """The program of a plan."""
        return _lane_program(*self.what(plan), lane_width())

    def stepped(self, plan: Plan, built: PreparedBatch) -> tuple[Tree, Tree]:
        """State at the end, and samples of all cases."""
        return self.program(plan, built).run(built.cases, self.chunks(plan), threads())

    def summed(self, plan: Plan, built: PreparedBatch, requested: Requested) -> tuple[Tree, Tree]:
        """State at the end, and what is kept of all cases."""
        program = self.program(plan, built)
        reduce = functools.partial(summarised_in_lanes, requested=requested)
        found = program.reduced(built.cases, self.chunks(plan), reduce, threads())
        return found[0], joined(found[1])


class TwoStepOnGpu(TwoStep):
    """Threads of an NVIDIA GPU.

    Args:
        short: floats have four bytes.
    """

    is_gpu = True

    def __init__(self, short: bool = False) -> None:
        self.short, self.name = short, "gpu, float32" if short else "gpu"
        self.of_case = 0  # numbers of the program of a case

    @property
    def most(self) -> int:
        """Cases that keep the processor busy: more are no faster."""
        return 131_072

    def unsupported_reason_of(self, plan: Plan) -> str:
        """There may be none; and residuals of steps are smaller than float32 resolves."""
        device = gpu()
        if isinstance(device, str):
            return device
        if self.short:
            return "steps of lines and contacts are solved to 1e-10 m, which float32 cannot resolve"
        return super().unsupported_reason_of(plan)

    def maker(self, plan: Plan) -> CaseMaker:
        """Makes models whose loads of waves are summed where they are needed."""
        summed = hydro_table(plan.model) is not None
        return CaseMaker(plan.model, plan.end, sums_step=grid_step(plan.model) if summed else None)

    def groups(
        self, starts: Starts, cases: list[BatchCase]
    ) -> tuple[list[Identical], dict[int, str]]:
        """Seeds of one sea are made together."""
        return built_together(starts, cases)

    def unsupported_reason(self, plan: Plan, case: BatchCase) -> str:
        """What cannot be flattened; how much memory a case takes is known from then on."""
        built = self.built(plan, [case])
        if built is None:
            return ""
        program = self.program(plan, built).program(built.cases, self.chunks(plan)[0])
        if isinstance(program, str):
            return program
        self.of_case = sum(program.sizes)
        return ""

    def fitting(self, plan: Plan) -> int:
        """As many as fit into the memory of the processor."""
        device: Tree = gpu()
        numbers = sum(int(np.prod(shape)) for shape in self.shapes(plan).values()) + len(BUDGET)
        of_case = self.of_case + (len(plan.times) + 2 * SAMPLES) * numbers
        return int(SHARE * device.free_memory() / (8.0 * of_case))

    def summaries(self, plan: Plan, cases: list[BatchCase], requested: Requested) -> Summary | None:
        """What is kept of all cases, and where the time went."""
        began = time.perf_counter()
        found = super().summaries(plan, cases, requested)
        if found is not None:
            note_seconds(_gpu_program(*self.what(plan)).seconds, began)
        return found

    def program(self, plan: Plan, built: PreparedBatch) -> GpuProgram:
        """The program of a plan."""
        return _gpu_program(*self.what(plan))

    def stepped(self, plan: Plan, built: PreparedBatch) -> tuple[Tree, Tree]:
        """State at the end, and samples of all cases."""
        return self.program(plan, built).run(built.cases, self.chunks(plan))

    def summed(self, plan: Plan, built: PreparedBatch, requested: Requested) -> tuple[Tree, Tree]:
        """State at the end, and what is kept of all cases."""
        reduce = functools.partial(summarised_on_device, requested=requested)
        return self.program(plan, built).reduced(built.cases, self.chunks(plan), reduce)


class TwoStepXla(TwoStep):
    """One program of XLA, mapped over the cases: for any device of JAX, and all that it traces."""

    name = "xla"

    def unsupported_reason(self, plan: Plan, case: BatchCase) -> str:
        """It runs what can be traced."""
        return ""

    def program(self, plan: Plan, built: PreparedBatch) -> ManyProgram:
        """There is none in native code."""
        raise NotImplementedError

    def summaries(self, plan: Plan, cases: list[BatchCase], requested: Requested) -> Summary | None:
        """Samples come here."""
        return None

    def summed(self, plan: Plan, built: PreparedBatch, requested: Requested) -> tuple[Tree, Tree]:
        """Samples come here."""
        raise NotImplementedError

    def stepped(self, plan: Plan, built: PreparedBatch) -> tuple[Tree, Tree]:
        """State at the end, and samples of all cases."""
        leaves, form = jax.tree.flatten(built.cases.fixed, is_leaf=lambda x: isinstance(x, PerCase))
        differs = tuple(isinstance(x, PerCase) for x in leaves)
        specified = [np.asarray(x.arrays) if isinstance(x, PerCase) else x for x in leaves]
        program = _mapped(*self.what(plan), differs, form)
        state, parts = built.cases.state, []
        with place_of(plan):
            for chunk in self.chunks(plan):
                state, stored = program(specified, state, chunk)
                parts.append(jax.tree.map(np.asarray, stored))
        state = jax.tree.map(np.asarray, state)
        return state, jax.tree.map(lambda *x: np.concatenate(x, axis=1), *parts)


def _own_setup(cases: list[BatchCase]) -> bool:
    """Have cases constants of their own: by their numbers, or by a sea that acts at the start?"""
    return any(case.values or not begins_still(case) for case in cases)


@functools.lru_cache(maxsize=16)
def _all_channels(form: SchemeOptions) -> Callable[[Model, Sample], Tree]:
    """Function of one sample; one object, so that its shapes are found once."""

    def channels(model: Model, sample: Sample) -> Tree:
        return finished_now(model, observe(model, form, sample))

    return channels


@functools.lru_cache(maxsize=16)
def _lane_program(form: SchemeOptions, names: tuple[str, ...], width: int) -> LaneProgram:
    return LaneProgram(chunk_of_steps(form, names), width, axes_of_rows)


@functools.lru_cache(maxsize=16)
def _gpu_program(form: SchemeOptions, names: tuple[str, ...]) -> GpuProgram:
    return GpuProgram(chunk_of_steps(form, names), axes_of_rows)


@functools.lru_cache(maxsize=16)
def _mapped(
    form: SchemeOptions, names: tuple[str, ...], differs: tuple[bool, ...], tree: Tree
) -> Tree:
    """The steps of a chunk mapped over the cases, compiled."""
    run = chunk_of_steps(form, names)

    def one(leaves: list[Tree], state: Stepped, marks: Tree) -> Tree:
        return run(jax.tree.unflatten(tree, leaves), (), state, marks)

    axes = [0 if x else None for x in differs]
    return jax.jit(jax.vmap(one, in_axes=(axes, 0, None)))
