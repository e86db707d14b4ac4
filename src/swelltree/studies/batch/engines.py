"""Which engine runs a batch: what schemes cannot do on targets, stated before compiling.

Targets of batches: SIMD lanes on all cores, threads of a GPU, XLA on any device of JAX.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import ClassVar, NamedTuple

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
from swelltree.model.solved import coupled_effect
from swelltree.multibody.formulations.equations import event_count
from swelltree.pto.controllers.controllers import controllers_of, is_opaque
from swelltree.studies.batch.cases import BatchCase
from swelltree.studies.batch.complementarity.scheme import TwoStep
from swelltree.studies.batch.engine import (
    Engine,
    Parallel,
    Plan,
    PreparedBatch,
    Scheme,
    Steps,
    Target,
)
from swelltree.studies.batch.runge_kutta import RungeKutta
from swelltree.studies.batch.sequential import OneByOne
from swelltree.studies.batch.summaries import (
    Requested,
    Summaries,
    joined,
    summarised_in_lanes,
    summarised_on_device,
)
from swelltree.studies.time.task import TWO_STEP, required_step

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


class Limit(NamedTuple):
    """What a scheme cannot do on a target.

    Args:
        scheme: or all of them.
        target: or all of them.
        concerns: whether a batch needs it.
        reason: for the result.
    """

    scheme: type[Scheme]
    target: type[Target]
    concerns: Callable[[Plan], bool]
    reason: str


LIMITS = (
    Limit(
        RungeKutta,
        Gpu,
        lambda plan: plan.short and event_count(plan.model) > 0,
        "events are found to 1e-10 s, which float32 cannot resolve",
    ),
    Limit(
        TwoStep,
        Gpu,
        lambda plan: plan.short,
        "steps of lines and contacts are solved to 1e-10 m, which float32 cannot resolve",
    ),
    Limit(
        RungeKutta,
        Target,
        lambda plan: required_step(plan.model) is not None,
        "radiation='convolution' keeps the velocities of its own steps",
    ),
    Limit(
        RungeKutta,
        Target,
        lambda plan: any(one.preview is not None for one in controllers_of(plan.model)),
        "a controller knows its own sea ahead",
    ),
    Limit(
        Scheme,
        Target,
        lambda plan: any(map(is_opaque, controllers_of(plan.model))),
        "an FMU has one state in a process of its own",
    ),
    Limit(
        Scheme,
        Target,
        lambda plan: coupled_effect(plan.model) is not None,
        "flows that are solved for have a step of their own",
    ),
    Limit(
        TwoStep,
        Target,
        lambda plan: plan.step is None,
        "none of the cases tried for a step can be run",
    ),
)


def unsupported(plan: Plan, scheme: Scheme, target: Target) -> str:
    """The first limit that concerns a batch; empty if there is none."""
    reasons = (
        limit.reason
        for limit in LIMITS
        if isinstance(scheme, limit.scheme)
        and isinstance(target, limit.target)
        and limit.concerns(plan)
    )
    return target.unavailable() or next(reasons, "")


def chosen_engine(
    plan: Plan, case: BatchCase, channels: Callable[[Plan, Engine], tuple[str, ...]]
) -> tuple[Engine, Plan, str]:
    """The first engine that can run cases like one, the plan with channels, and the reasons.

    Args:
        plan: without channels.
        case: one of them.
        channels: names of those that are stored.
    """
    scheme = TwoStep() if plan.solver in TWO_STEP else RungeKutta()
    targets: list[Target] = [Xla()]
    if plan.device != "jax":
        targets.insert(0, Lanes())
    if plan.device == "gpu":
        targets.insert(0, Gpu(plan.short))
    reasons = []
    for target in targets:
        reason = unsupported(plan, scheme, target)
        if not reason:
            engine = Parallel(scheme, target)
            named = replace(plan, channels=channels(plan, engine))
            reason = engine.unsupported_reason(named, case)
            if not reason:
                return engine, named, "; ".join([engine.name, *reasons])
        reasons.append(f"not {target.name}: {reason}")
    engine = OneByOne()
    named = replace(plan, channels=channels(plan, engine))
    return engine, named, "; ".join([engine.name, *reasons])
