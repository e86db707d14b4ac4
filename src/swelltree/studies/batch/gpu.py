"""Batches on a graphics processor: a case for each thread, the loads of waves summed there."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.effects.linear_hydro.wave_sums import WaveSums
from swelltree.engine.machine.many_cases import cuda
from swelltree.engine.machine.many_cases.gpu_runs import GpuProgram
from swelltree.engine.machine.many_cases.programs import Cases
from swelltree.formulations import Formulation
from swelltree.model.model import Model
from swelltree.solvers.problem import Options
from swelltree.studies.batch.cases import CaseMaker, grid_step
from swelltree.studies.batch.engine import Plan
from swelltree.studies.batch.lanes import Compiled, advance, advance_of
from swelltree.studies.batch.xla import maker_of

POINTS = 20  # of a grid in the shortest period: a cubic between them is right to 3e-5 of its waves


class OnGpu(Compiled):
    """Threads of a graphics processor of NVIDIA.

    Args:
        short: floats have four bytes.
    """

    chunk = 64  # samples of one kernel
    most = 131_072

    def __init__(self, short: bool = False) -> None:
        self.short = short
        self.name = "gpu, float32" if short else "gpu"

    def unable(self, plan: Plan) -> str:
        """There may be none."""
        device = cuda.device()
        return device if isinstance(device, str) else super().unable(plan)

    def maker(self, plan: Plan) -> CaseMaker:
        """Makes models whose loads of waves are summed where they are needed."""
        hydro = plan.model.hydro
        there = hydro is not None and hydro.table is not None
        return maker_of(plan, grid_step(plan.model, POINTS) if there else None)

    def program(self, plan: Plan) -> GpuProgram:
        """The program of a plan."""
        return _gpu_program(*advance_of(plan), _rows(plan, self.chunk), self.short)

    def stepped(self, plan: Plan, cases: Cases, chunks: list[np.ndarray]) -> Any:
        """State at the end, and samples of all cases."""
        return self.program(plan).run(cases, chunks)


def _rows(plan: Plan, chunk: int) -> int:
    """Rows of a grid of loads that covers any chunk of the times."""
    hydro = plan.model.hydro
    if hydro is None or hydro.table is None:
        return 0
    ends = np.append(plan.times[::chunk], plan.times[-1])
    longest = float(np.diff(ends).max()) + float(np.diff(plan.times).max(initial=0.0))
    return int(np.ceil(longest / grid_step(plan.model, POINTS))) + 3


@functools.lru_cache(maxsize=16)
def _gpu_program(
    how: Formulation,
    matters: bool,
    eventful: bool,
    names: tuple[str, ...],
    rows: int,
    short: bool,
) -> GpuProgram:
    step = advance(how, matters, eventful, names)

    def run(model: Model, options: Options, state: Any, times: Any) -> Any:
        hydro = model.hydro
        if hydro is not None and isinstance(hydro.waves, WaveSums):
            loads = hydro.waves.loads(times[0], rows)
            model = model.with_effect(replace(hydro, waves=loads))
        return step(model, options, state, times)

    return GpuProgram(run, short)
