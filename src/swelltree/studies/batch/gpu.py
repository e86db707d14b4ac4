"""Batches on a GPU: a case for each thread, seas made and results summed up there.

Waves travel as their amplitudes (`device_seas`), a block of time of their loads is made at a time,
and what is kept of the channels is found where they lie. Seas that follow the bodies, or are felt
by more than the data, come as they do for lanes.
"""

from __future__ import annotations

import functools
import time
from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from swelltree.hydro.linear.data import WaveLoads
from swelltree.hydro.linear.hydro import excitation_of, hydro_table, with_excitation
from swelltree.hydro.linear.wave_sums import WaveSums
from swelltree.integrate.problem import Options
from swelltree.jit import Array, GpuProgram, Tree, gpu
from swelltree.jit import Seconds as RunSeconds
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations.equations import event_count
from swelltree.studies.batch.cases import BatchCase, CaseMaker, grid_step
from swelltree.studies.batch.compiled import (
    Compiled,
    PreparedBatch,
    advance,
    advance_of,
    built_sequentially,
    chunks_of,
    with_loads,
)
from swelltree.studies.batch.device_seas import (
    built_on_device,
    device_seas,
    few_headings,
    identical,
)
from swelltree.studies.batch.engine import Plan, Summary
from swelltree.studies.batch.gpu_wave_sums import COARSE, RATIO, DeviceLoads, HarmonicSums
from swelltree.studies.batch.summaries import BUDGET, Requested, summarised_on_device
from swelltree.studies.batch.xla import maker_of

POINTS = COARSE * RATIO  # in the shortest period: a cubic between is right to 3e-5 of its waves
INSTANTS = 64  # at which waves are summed in a block of time
SAMPLES = (16, 512)  # of a block, min and max


class OnGpu(Compiled):
    """Threads of an NVIDIA GPU.

    Args:
        short: floats have four bytes.
    """

    is_gpu = True

    def __init__(self, short: bool = False) -> None:
        self.short = short
        self.name = "gpu, float32" if short else "gpu"

    @property
    def most(self) -> int:
        """Cases that keep the processor busy: more are no faster."""
        return 131_072

    def unsupported_reason_of(self, plan: Plan) -> str:
        """There may be none; and events are located more closely than float32 resolves."""
        device = gpu()
        if isinstance(device, str):
            return device
        if self.short and event_count(plan.model):
            return "events are found to 1e-10 s, which float32 cannot resolve"
        return super().unsupported_reason_of(plan)

    def fitting(self, plan: Plan) -> int:
        """As many as fit into the memory of the processor."""
        device: Tree = gpu()
        numbers = sum(int(np.prod(shape)) for shape in self.shapes(plan).values()) + len(BUDGET)
        chunk = _chunk(plan)
        # samples of the run, and twice those of a block; what steps hand on
        of_case = (len(plan.times) + 2 * chunk) * numbers + STEPPING
        if hydro_table(plan.model) is not None:
            points, n = _rows(plan, chunk), 6 * plan.model.layout.n_bodies
            of_case += 2 * points * n + HarmonicSums.room_of_case(n, WAVES, points)
        return int(SHARE * device.free_memory() / (8.0 * of_case))

    def summaries(self, plan: Plan, cases: list[BatchCase], requested: Requested) -> Summary | None:
        """What is kept of all cases, and where the time went."""
        began = time.perf_counter()
        found = super().summaries(plan, cases, requested)
        if found is not None:
            note_seconds(self._program(plan).seconds, began)
        return found

    # --- how cases are made -----------------------------------------------------------------
    def maker(self, plan: Plan) -> CaseMaker:
        """Makes models whose loads of waves are summed where they are needed."""
        there = hydro_table(plan.model) is not None
        return maker_of(plan, grid_step(plan.model, POINTS) if there else None)

    def program(self, plan: Plan, built: PreparedBatch) -> GpuProgram:
        """The program of a plan."""
        return self._program(plan)

    def chunks(self, plan: Plan) -> list[np.ndarray]:
        """Times, in chunks."""
        return chunks_of(plan.times, _chunk(plan))

    def stepped(self, plan: Plan, built: PreparedBatch) -> tuple[Tree, Tree]:
        """State at the end, and samples of all cases."""
        return self._program(plan).run(built.cases, self.chunks(plan), built.loads)

    def summed(self, plan: Plan, built: PreparedBatch, requested: Requested) -> tuple[Tree, Tree]:
        """State at the end, and what is kept of all cases."""
        reduce = functools.partial(summarised_on_device, requested=requested)
        return self._program(plan).reduced(built.cases, self.chunks(plan), reduce, built.loads)

    def built(self, plan: Plan, cases: list[BatchCase]) -> PreparedBatch | None:
        """Cases that can be run; None if there are none."""
        maker = self.maker(plan)
        if not built_on_device(plan.model, cases):
            return built_sequentially(plan, maker, cases)
        groups = identical(cases)
        if not few_headings([cases[rows[0]] for rows in groups]):
            return built_sequentially(plan, maker, cases)
        seas = device_seas(plan.model, maker, cases, groups)
        refused = dict(seas.refused)
        runs = [k for k in range(len(cases)) if k not in refused]
        if not runs or seas.waves is None:
            return None
        step, points = grid_step(plan.model, POINTS), _rows(plan, _chunk(plan))
        steps = np.full(len(runs), step)
        ready = with_loads(plan, maker, [cases[k] for k in runs], steps, points)
        loads = DeviceLoads(seas.waves, seas.table, step, points, ready.force, ready.rate)
        return PreparedBatch(ready.cases, ready.models, loads, runs, refused)

    def _program(self, plan: Plan) -> GpuProgram:
        return _gpu_program(*advance_of(plan), _rows(plan, _chunk(plan)), self.short)


WAVES = 200  # of a sea, where it is not known yet
STEPPING = 4000  # numbers of a case that steps need, roughly
SHARE = 0.7  # of the free memory that a batch takes


def _chunk(plan: Plan) -> int:
    """Samples of a block of time, in which waves are summed at a good number of instants."""
    if hydro_table(plan.model) is None:
        return 64
    length = INSTANTS * RATIO * grid_step(plan.model, POINTS)
    between = float(np.diff(plan.times).max()) if len(plan.times) > 1 else length
    return int(np.clip(round(length / between), *SAMPLES))


def _rows(plan: Plan, chunk: int) -> int:
    """Rows of a grid of loads that covers any chunk of the times."""
    if hydro_table(plan.model) is None:
        return 0
    ends = np.append(plan.times[::chunk], plan.times[-1])
    longest = float(np.diff(ends).max()) + float(np.diff(plan.times).max(initial=0.0))
    return int(np.ceil(longest / grid_step(plan.model, POINTS))) + 3


@dataclass
class Seconds:
    """Where the time of a batch went [s]."""

    seas: float
    packing: float
    loads: float
    steps: float
    results: float


def last_seconds() -> Seconds | None:
    """Where the time of the last batch went."""
    return LAST[-1] if LAST else None


def note_seconds(seconds: RunSeconds, began: float) -> None:
    """Keep where the time of a batch went that began at some time; the rest went to its seas."""
    parts = (seconds.packing, seconds.inputs, seconds.calls, seconds.results)
    LAST.append(Seconds(time.perf_counter() - began - sum(parts), *parts))


LAST: deque[Seconds] = deque(maxlen=1)


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

    def run(model: Model, options: Options, state: Tree, times: Array) -> Tree:
        loads = excitation_of(model)
        if isinstance(loads, WaveSums):
            model = with_excitation(model, loads.loads(times[0], rows))
        elif isinstance(loads, WaveLoads):
            model = with_excitation(model, replace(loads, begin=times[0]))
        return step(model, options, state, times)

    return GpuProgram(run, short=short)
