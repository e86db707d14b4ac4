"""The engines of batches, in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from swelltree.studies.batch.cases import BatchCase
from swelltree.studies.batch.complementarity.engines import TwoStepLanes, TwoStepOnGpu, TwoStepXla
from swelltree.studies.batch.engine import Engine, Plan
from swelltree.studies.batch.gpu import OnGpu
from swelltree.studies.batch.lanes import SideBySide
from swelltree.studies.batch.sequential import OneByOne
from swelltree.studies.batch.xla import Xla
from swelltree.studies.time.task import TWO_STEP


def chosen_engine(
    plan: Plan, case: BatchCase, channels: Callable[[Plan, Engine], tuple[str, ...]]
) -> tuple[Engine, Plan, str]:
    """The first engine that can run cases like one, the plan with channels, and a word on why.

    Args:
        plan: without channels.
        case: one of them.
        channels: names of those that are kept.
    """
    two_step = plan.solver in TWO_STEP
    engines: list[Engine] = [SideBySide(), Xla(), OneByOne()]
    if two_step:
        engines = [TwoStepLanes(), TwoStepXla(), OneByOne()]
    if plan.device == "jax":
        engines = engines[1:]  # any device of JAX knows XLA alone
    if plan.device == "gpu":
        short = plan.short
        engines.insert(0, TwoStepOnGpu(short=short) if two_step else OnGpu(short=short))
    reasons = []
    for engine in engines:
        reason = engine.unsupported_reason_of(plan)
        if not reason:
            named = replace(plan, channels=channels(plan, engine))
            reason = engine.unsupported_reason(named, case)
            if not reason:
                return engine, named, "; ".join([engine.name, *reasons])
        reasons.append(f"not {engine.name}: {reason}")
    raise AssertionError("sequential runs are never refused")
