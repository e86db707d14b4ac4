"""Targets of batches: SIMD lanes on all cores, threads of a GPU, XLA on any device of JAX."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from typing import ClassVar

import numpy as np

from swelltree.jit import (
    Axes,
    GpuProgram,
    LaneProgram,
    PerCase,
    Seconds,
    Tree,
    gpu,
    jax,
    lane_width,
    mapped,
    on_first_choice,
    threads,
)
from swelltree.studies.batch.engine import PreparedBatch, Steps, Target
from swelltree.studies.batch.plan import Plan
from swelltree.studies.batch.summaries import (
    Requested,
    Summaries,
    joined,
    summarised_in_lanes,
    summarised_on_device,
)

TURNS = 2  # registers that each core runs in a batch
SHARE = 0.7  # of the free memory of a GPU that a batch takes


class Lanes(Target):
    """Several cases in each register, registers on all cores."""

    name = "lanes"
    sums_loads = True

    @property
    def most(self) -> int:
        """Cases that keep all cores busy."""
        return max(32, TURNS * lane_width() * threads())

    def numbers_of_case(self, steps: Steps, built: PreparedBatch) -> int | str:
        found = self._program(steps).program(built.cases, steps.chunks[0])
        return found if isinstance(found, str) else sum(found.sizes)

    def stepped(
        self, plan: Plan, steps: Steps, built: PreparedBatch, first: int
    ) -> tuple[Tree, Tree]:
        program = self._program(steps)
        return program.run(built.cases, steps.chunks, threads(), built.loads)

    def summed(
        self, steps: Steps, built: PreparedBatch, requested: Requested
    ) -> tuple[Tree, Summaries]:
        reduce = functools.partial(summarised_in_lanes, requested=requested)
        program = self._program(steps)
        state, found = program.reduced(built.cases, steps.chunks, reduce, threads(), built.loads)
        return state, joined(found)

    def _program(self, steps: Steps) -> LaneProgram:
        return lane_program(steps.function, steps.rows, lane_width())


class Gpu(Target):
    """A case for each thread of an NVIDIA GPU.

    Args:
        short: floats are float32.
    """

    is_gpu = True
    sums_loads = True

    def __init__(self, short: bool = False) -> None:
        self.short = short
        self.name = "gpu, float32" if short else "gpu"

    @property
    def most(self) -> int:
        """Cases that keep the processor busy: more are no faster."""
        return 131_072

    def unavailable(self) -> str:
        device = gpu()
        return device if isinstance(device, str) else ""

    def numbers_of_case(self, steps: Steps, built: PreparedBatch) -> int | str:
        found = self._program(steps).program(built.cases, steps.chunks[0])
        if isinstance(found, str):
            return found
        return sum(found.sizes) + (0 if built.loads is None else built.loads.numbers_of_case)

    def free_memory(self, room: float) -> float:
        device: Tree = gpu()
        return SHARE * device.free_memory()

    def stepped(
        self, plan: Plan, steps: Steps, built: PreparedBatch, first: int
    ) -> tuple[Tree, Tree]:
        return self._program(steps).run(built.cases, steps.chunks, built.loads)

    def summed(
        self, steps: Steps, built: PreparedBatch, requested: Requested
    ) -> tuple[Tree, Summaries]:
        program = self._program(steps)
        reduce = functools.partial(summarised_on_device, requested=requested)
        found = program.reduced(built.cases, steps.chunks, reduce, built.loads)
        LAST.append(program.seconds)
        return found

    def _program(self, steps: Steps) -> GpuProgram:
        return gpu_program(steps.function, steps.rows, self.short)


class Xla(Target):
    """One program of XLA, mapped over the cases: any device of JAX, and all that JAX traces.

    The number of lanes is fixed, so that the result of a case does not depend on the number of its
    neighbours; lanes without a case repeat one.
    """

    name = "xla"
    sums_up: ClassVar[bool] = False

    def stepped(
        self, plan: Plan, steps: Steps, built: PreparedBatch, first: int
    ) -> tuple[Tree, Tree]:
        leaves, tree = jax.tree.flatten(built.cases.fixed, is_leaf=lambda x: isinstance(x, PerCase))
        differs = tuple(isinstance(x, PerCase) for x in leaves)
        count = built.cases.count
        case_of = np.clip(np.arange(max(plan.lanes, first + count)) - first, 0, count - 1)
        fixed = [np.asarray(x.arrays)[case_of] if isinstance(x, PerCase) else x for x in leaves]
        state, parts = mapped(lambda x: np.asarray(x)[case_of], built.cases.state), []
        program = _mapped(steps.function, differs, tree)
        with on_first_choice() if plan.device == "jax" else nullcontext():
            fixed = jax.device_put(fixed)
            for chunk in steps.chunks:
                state, stored = program(fixed, built.cases.shared, state, chunk)
                parts.append(mapped(np.asarray, stored))
        here = slice(first, first + count)
        samples = mapped(lambda *x: np.concatenate(x, axis=1)[here], *parts)
        return mapped(lambda x: np.asarray(x)[here], state), samples

    def summed(
        self, steps: Steps, built: PreparedBatch, requested: Requested
    ) -> tuple[Tree, Summaries]:
        raise NotImplementedError


LAST: deque[Seconds] = deque(maxlen=1)  # where the time of the last batch on a GPU went


@functools.lru_cache(maxsize=32)
def lane_program(
    function: Callable[..., Tree], rows: Callable[..., Axes] | None, width: int
) -> LaneProgram:
    return LaneProgram(function, width, rows)


@functools.lru_cache(maxsize=32)
def gpu_program(
    function: Callable[..., Tree], rows: Callable[..., Axes] | None, short: bool
) -> GpuProgram:
    return GpuProgram(function, rows, short)


@functools.lru_cache(maxsize=32)
def _mapped(function: Callable[..., Tree], differs: tuple[bool, ...], tree: Tree) -> Tree:
    """The steps of a chunk mapped over the cases, compiled."""

    def one(leaves: list[Tree], shared: Tree, state: Tree, chunk: Tree) -> Tree:
        return function(jax.tree.unflatten(tree, leaves), shared, state, chunk)

    axes = [0 if x else None for x in differs]
    return jax.jit(jax.vmap(one, in_axes=(axes, None, 0, None)))
