"""Batches on a graphics processor: a case for each thread, seas made and results summed up there.

Waves travel as their amplitudes (`device_seas`), a block of time of their loads is made at a time,
and what is kept of the channels is found where they lie. Seas that follow the bodies, or are felt
by more than the data, come as they do for lanes.
"""

from __future__ import annotations

import functools
import time
from collections import deque
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from swelltree.effects.controllers.controllers import raise_faults
from swelltree.effects.linear_hydro.data import WaveLoads, without_table
from swelltree.effects.linear_hydro.wave_sums import WaveSums
from swelltree.engine.backend import jax
from swelltree.engine.machine.many_cases import cuda
from swelltree.engine.machine.many_cases.gpu_runs import DeviceLoads, GpuProgram, Seconds
from swelltree.engine.machine.many_cases.harmonic_sums import COARSE, RATIO, HarmonicSums
from swelltree.engine.machine.many_cases.programs import Cases, Own
from swelltree.engine.machine.many_cases.summaries import BUDGET, EXTREMES
from swelltree.formulations import Formulation
from swelltree.formulations.equations import event_count
from swelltree.model.model import Model
from swelltree.results.statistics import time_weights
from swelltree.solvers.problem import Options
from swelltree.solvers.problem import start as start_carry
from swelltree.solvers.solution import Code
from swelltree.solvers.stepping.side_by_side import begin
from swelltree.studies.batch.budget import judged_by_extremes
from swelltree.studies.batch.cases import BatchCase, CaseMaker, grid_step
from swelltree.studies.batch.device_seas import device_seas, fits, made_on_device
from swelltree.studies.batch.engine import Outcome, Plan, Summary
from swelltree.studies.batch.lanes import (
    Compiled,
    advance,
    advance_of,
    chunks_of,
    gathered_cases,
)
from swelltree.studies.batch.shared import OwnLeaves
from swelltree.studies.batch.xla import maker_of, options_of, outcome
from swelltree.system.errors import SwelltreeError

POINTS = COARSE * RATIO  # in the shortest period: a cubic between is right to 3e-5 of its waves
INSTANTS = 64  # at which waves are summed in a block of time
SAMPLES = (16, 512)  # of a block, least and most
JOINT_ANGLES = ("joint_coordinate",)  # whose turns are told apart by more than the last sample


class Made(NamedTuple):
    """Cases as a program takes them."""

    cases: Cases
    models: list[Model]
    loads: DeviceLoads | None
    runs: list[int]  # numbers of the cases that can be run
    refused: dict[int, str]


class OnGpu(Compiled):
    """Threads of a graphics processor of NVIDIA.

    Args:
        short: floats have four bytes.
    """

    is_gpu = True
    most = 131_072

    def __init__(self, short: bool = False) -> None:
        self.short = short
        self.name = "gpu, float32" if short else "gpu"

    def unable(self, plan: Plan) -> str:
        """There may be none."""
        device = cuda.device()
        return device if isinstance(device, str) else super().unable(plan)

    def refusal(self, plan: Plan, case: BatchCase) -> str:
        """What cannot be flattened."""
        try:
            made = self._made(plan, [case])
        except SwelltreeError:
            return ""  # said again where the case is run
        if made is None:
            return ""
        return self._program(plan).refusal(made.cases, self._chunks(plan)[0])

    def fitting(self, plan: Plan) -> int:
        """As many as fit into the memory of the processor."""
        device: Any = cuda.device()
        numbers = sum(int(np.prod(shape)) for shape in self.shapes(plan).values()) + len(BUDGET)
        chunk = _chunk(plan)
        # samples of the run, and twice those of a block; what steps hand on
        of_case = (len(plan.times) + 2 * chunk) * numbers + STEPPING
        hydro = plan.model.hydro
        if hydro is not None and hydro.table is not None:
            points, n = _rows(plan, chunk), 6 * plan.model.layout.n_bodies
            of_case += 2 * points * n + HarmonicSums.room_of_case(n, WAVES, points)
        return int(SHARE * device.free_memory() / (8.0 * of_case))

    def run(self, plan: Plan, cases: list[BatchCase], first: int = 0) -> list[Outcome]:
        """All cases side by side; those that cannot be made have their sentence."""
        made = self._made(plan, cases)
        if made is None:
            return [Outcome(None, text) for text in self._refusals(plan, cases)]
        outcomes = {k: Outcome(None, text) for k, text in made.refused.items()}
        state, (channels, budget) = self._program(plan).run(
            made.cases, self._chunks(plan), made.loads
        )
        found = self.judged_outcomes(plan, made.models, state, channels, budget)
        outcomes |= dict(zip(made.runs, found, strict=True))
        return [outcomes[k] for k in range(len(cases))]

    def summaries(self, plan: Plan, cases: list[BatchCase], start: float) -> Summary | None:
        """Statistics of all cases; those of cases that turn fast are left to their samples."""
        if plan.model.cut_rows or any(name in JOINT_ANGLES for name in plan.channels):
            return None
        began = time.perf_counter()
        made = self._made(plan, cases)
        if made is None:
            return None
        making = time.perf_counter() - began
        kept = plan.times >= start
        shares = np.zeros(len(plan.times))
        weights = time_weights(plan.times[kept])
        shares[kept] = weights / weights.sum()
        state, (channels, budget) = self._program(plan).summaries(
            made.cases, self._chunks(plan), shares, made.loads
        )
        LAST.append(replace(self._program(plan).seconds, seas=making))
        raise_faults(plan.model)
        codes = np.asarray(state.code)
        failed = np.where(codes == Code.SUCCESS, np.nan, state.t_fail)
        extremes: dict[str, np.ndarray] = {
            str(name): row for name, row in zip(EXTREMES, budget.T, strict=True)
        }
        codes = judged_by_extremes(extremes, codes, "rk4")
        messages = np.full(len(cases), "", dtype=object)
        for k in np.flatnonzero(codes != Code.SUCCESS):
            messages[made.runs[k]] = outcome({}, codes[k], failed[k]).message
        for k, text in made.refused.items():
            messages[k] = text
        shapes = self.shapes(plan)
        values = {}
        for name, found in channels.items():
            whole = np.full((len(cases), *found.shape[1:]), np.nan)
            whole[made.runs] = found
            whole[messages != ""] = np.nan
            values[name] = whole.reshape(len(cases), *shapes[name], -1)
        return Summary(values, messages)

    # --- how cases are made -----------------------------------------------------------------
    def maker(self, plan: Plan) -> CaseMaker:
        """Makes models whose loads of waves are summed where they are needed."""
        hydro = plan.model.hydro
        there = hydro is not None and hydro.table is not None
        return maker_of(plan, grid_step(plan.model, POINTS) if there else None)

    def program(self, plan: Plan) -> GpuProgram:
        """The program of a plan."""
        return self._program(plan)

    def stepped(self, plan: Plan, cases: Cases, chunks: list[np.ndarray]) -> Any:
        """State at the end, and samples of all cases."""
        return self._program(plan).run(cases, chunks)

    def _program(self, plan: Plan) -> GpuProgram:
        return _gpu_program(*advance_of(plan), _rows(plan, _chunk(plan)), self.short)

    def _chunks(self, plan: Plan) -> list[np.ndarray]:
        return chunks_of(plan.times, _chunk(plan))

    def _refusals(self, plan: Plan, cases: list[BatchCase]) -> list[str]:
        maker, told = self.maker(plan), []
        for case in cases:
            try:
                maker.in_sea(case)
                told.append("")
            except SwelltreeError as error:
                told.append(str(error))
        return told

    def _made(self, plan: Plan, cases: list[BatchCase]) -> Made | None:
        """Cases that can be run; None if there are none."""
        maker = self.maker(plan)
        if made_on_device(plan.model, cases) and fits(plan.model, cases):
            return self._with_loads(plan, maker, cases)
        models, refused = {}, {}
        for k, case in enumerate(cases):
            try:
                models[k] = maker.in_sea(case)
            except SwelltreeError as error:
                refused[k] = str(error)
        if not models:
            return None
        gathered = gathered_cases(plan, maker, cases[next(iter(models))], list(models.values()))
        return Made(gathered, [m for m, _ in models.values()], None, list(models), refused)

    def _with_loads(self, plan: Plan, maker: CaseMaker, cases: list[BatchCase]) -> Made | None:
        """Cases whose loads are made on the processor."""
        seas = device_seas(plan.model, maker, cases)
        refused = dict(seas.refused)
        runs = [k for k in range(len(cases)) if k not in refused]
        if not runs or seas.waves is None:
            return None
        assert plan.model.hydro is not None
        step, points = grid_step(plan.model, POINTS), _rows(plan, _chunk(plan))
        n = 6 * plan.model.layout.n_bodies
        empty = [np.zeros((points, n)) for _ in range(2)]
        loads = WaveLoads(np.array(step), empty[0], empty[1], np.zeros(()))
        example = cases[runs[0]]
        varied = any(case.values for case in cases)

        def ready(case: BatchCase) -> tuple[Model, Any]:
            made = maker.numbers(case)
            assert made.stepped.hydro is not None
            hydro = replace(made.stepped.hydro, waves=loads)
            return without_table(made.stepped.with_effect(hydro)), made.start

        model, y = ready(example)
        if varied:
            many = [ready(cases[k]) for k in runs]
            models = [m for m, _ in many]
            fixed = OwnLeaves(maker, example, model).gathered(models)
            states = [_started(plan, y) for _, y in many]
            state = jax.tree.map(lambda *x: np.stack(x), *states)
        else:
            models, fixed = [model] * len(runs), model
            state = jax.tree.map(
                lambda x: np.broadcast_to(np.asarray(x), (len(runs), *np.shape(x))),
                _started(plan, y),
            )
        force, rate = (Own([x]) for x in empty)
        leaves, form = jax.tree.flatten(fixed)
        own = {id(empty[0]): force, id(empty[1]): rate}
        fixed = jax.tree.unflatten(form, [_in_place(x, own) for x in leaves])
        gathered = Cases(fixed, options_of(plan, model), state, len(runs))
        made = DeviceLoads(seas.waves, seas.table, step, points, force, rate)
        return Made(gathered, models, made, runs, refused)


WAVES = 200  # of a sea, where it is not known yet
STEPPING = 4000  # numbers of a case that steps need, roughly
SHARE = 0.7  # of the free memory that a batch takes


def _in_place(x: Any, own: dict[int, Own]) -> Any:
    """An argument that the processor makes, in place of its example."""
    example = x.arrays[0] if isinstance(x, Own) else x
    return own.get(id(example), x)


def _started(plan: Plan, y: Any) -> Any:
    eventful = event_count(plan.model)
    return start_carry(0.0, y, events=eventful) if eventful else begin(y)


def _chunk(plan: Plan) -> int:
    """Samples of a block of time, in which waves are summed at a good number of instants."""
    hydro = plan.model.hydro
    if hydro is None or hydro.table is None:
        return 64
    length = INSTANTS * RATIO * grid_step(plan.model, POINTS)
    between = float(np.diff(plan.times).max()) if len(plan.times) > 1 else length
    return int(np.clip(round(length / between), *SAMPLES))


def _rows(plan: Plan, chunk: int) -> int:
    """Rows of a grid of loads that covers any chunk of the times."""
    hydro = plan.model.hydro
    if hydro is None or hydro.table is None:
        return 0
    ends = np.append(plan.times[::chunk], plan.times[-1])
    longest = float(np.diff(ends).max()) + float(np.diff(plan.times).max(initial=0.0))
    return int(np.ceil(longest / grid_step(plan.model, POINTS))) + 3


def last_seconds() -> Seconds | None:
    """Where the time of the last batch went."""
    return LAST[-1] if LAST else None


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

    def run(model: Model, options: Options, state: Any, times: Any) -> Any:
        hydro = model.hydro
        if hydro is not None and isinstance(hydro.waves, WaveSums):
            loads: Any = hydro.waves.loads(times[0], rows)
            model = model.with_effect(replace(hydro, waves=loads))
        elif hydro is not None and isinstance(hydro.waves, WaveLoads):
            model = model.with_effect(replace(hydro, waves=replace(hydro.waves, begin=times[0])))
        return step(model, options, state, times)

    return GpuProgram(run, short)
