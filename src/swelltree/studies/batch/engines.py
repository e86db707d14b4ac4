"""The engines of batches, in the order in which they are asked."""

from __future__ import annotations

from typing import Any

from swelltree.studies.batch.engine import Engine, Plan
from swelltree.studies.batch.one_by_one import OneByOne
from swelltree.studies.batch.xla import Xla


def chosen_engine(plan: Plan) -> tuple[Engine, str]:
    """The first engine that can run a batch, and a word on why."""
    engines: tuple[Any, ...] = (Xla(), OneByOne())
    reasons = []
    for engine in engines:
        reason = engine.refusal(plan)
        if not reason:
            return engine, "; ".join([engine.name, *reasons])
        reasons.append(f"not {engine.name}: {reason}")
    raise AssertionError("runs one by one are never refused")
