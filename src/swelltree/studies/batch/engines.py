"""Which engine runs a batch: what schemes cannot do on targets, stated before compiling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from swelltree.model.solved import coupled_effect
from swelltree.multibody.formulations.equations import event_count
from swelltree.pto.controllers.controllers import controllers_of, is_opaque
from swelltree.studies.batch.cases import BatchCase
from swelltree.studies.batch.complementarity.scheme import TwoStep
from swelltree.studies.batch.engine import Engine, Parallel, Scheme, Target
from swelltree.studies.batch.plan import Plan
from swelltree.studies.batch.runge_kutta import RungeKutta
from swelltree.studies.batch.sequential import OneByOne
from swelltree.studies.batch.targets import Gpu, Lanes, Xla
from swelltree.studies.time.task import TWO_STEP, required_step


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
