"""What a process does for a campaign: unpack the model once, run blocks of cases.

The driver compiles the model, so that boundary elements and radiation fits are computed once; what
travels is the compiled model with the description and the data it came from.
"""

from __future__ import annotations

import functools
import os
import platform
import time
import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from swelltree.studies.batch.batch import BatchPlan, reduced_block
from swelltree.studies.batch.cases import BatchCase
from swelltree.system.errors import SwelltreeWarning


class Block(NamedTuple):
    """What is kept of some cases."""

    values: dict[str, np.ndarray]  # cases first
    messages: list[str]
    seconds: float
    where: str  # the process that ran it


def packed(planned: BatchPlan, names: tuple[str, ...]) -> bytes:
    """All that a process needs, as bytes.

    Args:
        planned: how cases are run.
        names: of reductions.
    """
    import cloudpickle

    described = planned.plan.model.described
    parts = planned, names, described.given, described.again
    return cloudpickle.dumps(parts)


@functools.lru_cache(maxsize=2)
def unpacked(content: bytes) -> tuple[BatchPlan, tuple[str, ...]]:
    """The same again; kept, because many blocks of one campaign follow one another."""
    import pickle

    planned, names, given, again = pickle.loads(content)
    model = planned.plan.model
    described = model.described.knowing(given, again)
    plan = replace(planned.plan, model=model.replace(described=described))
    return planned._replace(plan=plan), names


def run_block(content: bytes, cases: list[BatchCase], first: int = 0) -> Block:
    """Run some cases side by side.

    Args:
        content: from `packed`.
        cases: at most as many as there are lanes.
        first: lane of the first of them.
    """
    planned, names = unpacked(content)
    return run_here(planned, names, cases, first)


def run_here(
    planned: BatchPlan, names: tuple[str, ...], cases: list[BatchCase], first: int = 0
) -> Block:
    """The same in this process."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)  # cases tell what matters themselves
        result = reduced_block(planned, cases, names, first)
    values = {
        str(name): np.ascontiguousarray(x.values, dtype=float)
        for name, x in result.data_vars.items()
        if name != "message"
    }
    messages = [str(text) for text in result["message"].values]
    seconds = time.perf_counter() - begin
    return Block(values, messages, seconds, f"{platform.node()}:{os.getpid()}")


def one_thread() -> dict[str, str]:
    """Environment of a process that owns one core."""
    return {
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "TF_NUM_INTEROP_THREADS": "1",
        "TF_NUM_INTRAOP_THREADS": "1",
    }
