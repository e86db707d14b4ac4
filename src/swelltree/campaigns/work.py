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

from swelltree.campaigns.cases import own_text
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning, warn_user
from swelltree.jit import gpu
from swelltree.studies.batch.batch import BatchPlan, reduced_block
from swelltree.studies.batch.cases import BatchCase
from swelltree.studies.batch.engines import chosen_engine


class Block(NamedTuple):
    """Stored results of consecutive cases."""

    values: dict[str, np.ndarray]  # cases first
    messages: list[str]
    seconds: float
    where: str  # the process that ran it
    warnings: tuple[str, ...] = ()  # each once


class UnfitProcess(SwelltreeError):
    """A process that can run no case of a campaign: its mistake, not the cases'."""


def here() -> str:
    """Name of this process in messages."""
    return f"{platform.node()}:{os.getpid()}"


def packed(planned: BatchPlan, names: tuple[str, ...]) -> bytes:
    """All that a process needs, as bytes.

    Args:
        planned: how cases are run.
        names: of reductions.
    """
    import pickle

    import cloudpickle

    described = planned.plan.model.described
    parts = planned, names, described.specified, described.again
    return pickle.dumps((own_text(), cloudpickle.dumps(parts)))


@functools.lru_cache(maxsize=2)
def unpacked(content: bytes) -> tuple[BatchPlan, tuple[str, ...]]:
    """Unpickled content, cached because consecutive blocks belong to one campaign."""
    import pickle

    text, parts = pickle.loads(content)
    if text != own_text():
        raise UnfitProcess(
            f"process {here()} has another version of swelltree than the driver. Install the same "
            "there and continue with --resume."
        )
    try:
        planned, names, specified, again = pickle.loads(parts)
    except Exception as error:
        raise UnfitProcess(
            f"process {here()} cannot read the model ({type(error).__name__}: {error}). Install "
            "there what its laws import, and continue with --resume."
        ) from None
    model = planned.plan.model
    described = model.described.knowing(specified, again)
    plan = replace(planned.plan, model=model.replace(described=described))
    return planned._replace(plan=plan), names


def run_block(content: bytes, cases: list[BatchCase], first: int = 0) -> Block:
    """Run some cases of a block in parallel, as many at a time as there are lanes.

    Args:
        content: from `packed`.
        cases: of the block, in order.
        first: place of the first of them in it.
    """
    planned, names = unpacked(content)
    return run_here(planned, names, cases, first)


def run_here(
    planned: BatchPlan, names: tuple[str, ...], cases: list[BatchCase], first: int = 0
) -> Block:
    """Run cases in this process."""
    begin = time.perf_counter()
    where = here()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SwelltreeWarning)
        planned = runnable_here(planned, cases[0])
        lanes = planned.plan.lanes
        parts = [
            reduced_block(planned, cases[k : k + lanes], names, (first + k) % lanes)
            for k in range(0, len(cases), lanes)
        ]
    reported = dict.fromkeys(
        str(w.message) for w in caught if issubclass(w.category, SwelltreeWarning)
    )
    for one in caught:
        if not issubclass(one.category, SwelltreeWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    values = {
        str(name): np.concatenate([np.asarray(part[name].values, float) for part in parts])
        for name in parts[0].data_vars
        if name != "message"
    }
    messages = [str(text) for part in parts for text in part["message"].values]
    return Block(values, messages, time.perf_counter() - begin, where, tuple(reported))


def runnable_here(planned: BatchPlan, case: BatchCase) -> BatchPlan:
    """The plan, or that of the CPU where it is for a GPU and there is none here.

    Args:
        planned: by the driver, maybe on another machine.
        case: one of those to run.
    """
    if not planned.engine.is_gpu:
        return planned
    why = gpu()
    if not isinstance(why, str):
        return planned
    warn_user(
        f"some cases are run on the CPU: {why}. Their results differ by rounding and by the grid "
        "of wave loads, about 1e-6. Give workers with a GPU, or device "
        "'cpu', for bitwise equal results."
    )
    return on_cpu(planned, case)


def on_cpu(planned: BatchPlan, case: BatchCase) -> BatchPlan:
    """Options of the same cases without a GPU."""
    plan = replace(planned.plan, device="cpu", short=False, channels=())
    engine, plan, _ = chosen_engine(plan, case, lambda _, __: planned.plan.channels)
    return planned._replace(plan=replace(plan, lanes=engine.most), engine=engine)


def one_thread() -> dict[str, str]:
    """Environment variables that limit a process to one thread."""
    return {
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "TF_NUM_INTEROP_THREADS": "1",
        "TF_NUM_INTRAOP_THREADS": "1",
    }
