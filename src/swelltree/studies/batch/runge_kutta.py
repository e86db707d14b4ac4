"""Fixed steps of RK4 as a scheme of batches.

Where the target can, loads of waves are summed chunk by chunk, before the steps that need them.
Seas whose loads follow the bodies, or that act on more than the data, are prepared case by case for
all times.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.data import WaveLoads
from swelltree.hydro.linear.hydro import (
    excitation_of,
    hydro_table,
    with_excitation,
    without_table,
)
from swelltree.hydro.linear.radiation import with_exact_memory
from swelltree.hydro.linear.wave_sums import WaveSums
from swelltree.integrate.problem import Options
from swelltree.integrate.problem import start as start_carry
from swelltree.integrate.runge_kutta.smooth import begin, fixed_steps, integrate
from swelltree.jit import Array, Cases, PerCase, Tree, flatten, jnp, mapped
from swelltree.jit import shapes_of as shapes_of_results
from swelltree.model.model import Model, Pose
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations.equations import (
    Phase,
    begun,
    event_count,
    observe,
    start_phase,
)
from swelltree.results.sea import finished_now
from swelltree.spatial.rotations import compact
from swelltree.studies.batch import gpu_wave_sums, lane_wave_sums
from swelltree.studies.batch.cases import BatchCase, CaseMaker, OwnLeaves, grid_step
from swelltree.studies.batch.engine import Plan, PreparedBatch, Scheme, Steps, Target, sample_of
from swelltree.studies.batch.gpu_wave_sums import DeviceLoads
from swelltree.studies.batch.lane_wave_sums import LaneLoads, LaneSums
from swelltree.studies.batch.many_seas import (
    device_seas,
    few_headings,
    identical,
    lane_seas,
    sums_of_waves,
)
from swelltree.studies.statics.relax import placed
from swelltree.studies.time.smooth import first_phase, problem, smooth_stepper
from swelltree.studies.time.task import starts_at_equilibrium


class Chunks(NamedTuple):
    """Lengths of chunks of times: a good number of instants at which waves are summed.

    Args:
        seconds: of the instants, per step of the grid with forty points in the shortest period.
        samples: min and max.
        usual: samples without waves.
    """

    seconds: float
    samples: tuple[int, int]
    usual: int


IN_LANES = Chunks(128 * lane_wave_sums.RATIO, (4, 128), 128)
ON_GPU = Chunks(64 * gpu_wave_sums.RATIO * 2, (16, 512), 64)
# in the shortest period: a cubic between is right to 3e-5 of its waves
GPU_POINTS = gpu_wave_sums.COARSE * gpu_wave_sums.RATIO


class RungeKutta(Scheme):
    """Fixed steps of RK4."""

    def shapes(self, plan: Plan) -> dict[str, tuple[int, ...]]:
        start = start_phase(plan.model, plan.formulation)
        found = shapes_of_results(_all_channels(plan.formulation), plan.model, np.zeros(()), start)
        return {name: x.shape for name, x in found.items() if name in (plan.channels or found)}

    def maker(self, plan: Plan, target: Target) -> CaseMaker:
        assert plan.step is not None
        step, summed = plan.step, target.is_gpu and hydro_table(plan.model) is not None
        return CaseMaker(
            plan.model,
            plan.end,
            prepare=lambda model: with_exact_memory(model, step),
            start=lambda model: begun(
                model,
                plan.formulation,
                np.zeros(()),
                first_phase(model, plan.formulation, plan.start),
            ),
            sums_step=grid_step(plan.model, GPU_POINTS) if summed else None,
            datum=lambda model, phase: _datum(plan, model, phase),
        )

    def has_sums_of_loads(self, plan: Plan) -> bool:
        return sums_of_waves(plan.model, [])

    def prepared(self, plan: Plan, target: Target, cases: list[BatchCase]) -> PreparedBatch:
        maker = self.maker(plan, target)
        if target.sums_loads and sums_of_waves(plan.model, cases):
            if not target.is_gpu:
                return self._for_lanes(plan, target, maker, cases)
            groups = identical(cases)
            if few_headings([cases[rows[0]] for rows in groups]):
                return self._for_gpu(plan, target, maker, cases, groups)
        return _built_sequentially(plan, maker, cases)

    def _for_lanes(
        self, plan: Plan, target: Target, maker: CaseMaker, cases: list[BatchCase]
    ) -> PreparedBatch:
        waves, runs, refused = lane_seas(maker, cases)
        if waves is None:
            return PreparedBatch([], refused)
        longest = self.chunk(plan, target) * float(np.diff(plan.times).max(initial=0.0))
        points = LaneSums.points(longest, grid_step(plan.model))
        ready = _with_loads(plan, maker, [cases[k] for k in runs], waves.step, points)
        loads = LaneLoads(waves, longest, ready.force, ready.rate)
        return PreparedBatch(runs, refused, ready.cases, ready.models, loads)

    def _for_gpu(
        self,
        plan: Plan,
        target: Target,
        maker: CaseMaker,
        cases: list[BatchCase],
        groups: list[list[int]],
    ) -> PreparedBatch:
        seas = device_seas(plan.model, maker, cases, groups)
        runs = [k for k in range(len(cases)) if k not in seas.refused]
        if not runs or seas.waves is None:
            return PreparedBatch([], seas.refused)
        step, points = grid_step(plan.model, GPU_POINTS), self._rows(plan, target)
        steps = np.full(len(runs), step)
        ready = _with_loads(plan, maker, [cases[k] for k in runs], steps, points)
        loads = DeviceLoads(seas.waves, seas.table, step, points, ready.force, ready.rate)
        return PreparedBatch(runs, seas.refused, ready.cases, ready.models, loads)

    def chunk(self, plan: Plan, target: Target) -> int:
        by = ON_GPU if target.is_gpu else IN_LANES
        if hydro_table(plan.model) is None or len(plan.times) < 2:
            return by.usual
        length = by.seconds * grid_step(plan.model)
        return int(np.clip(round(length / float(np.diff(plan.times).max())), *by.samples))

    def _rows(self, plan: Plan, target: Target) -> int:
        """Rows of a grid of loads on a GPU that covers any chunk of the times."""
        if hydro_table(plan.model) is None:
            return 0
        ends = np.append(plan.times[:: self.chunk(plan, target)], plan.times[-1])
        longest = float(np.diff(ends).max()) + float(np.diff(plan.times).max(initial=0.0))
        return int(np.ceil(longest / grid_step(plan.model, GPU_POINTS))) + 3

    def steps(self, plan: Plan, target: Target, built: PreparedBatch) -> Steps:
        how, model = plan.formulation, plan.model
        words = how, how.settling_matters(model), event_count(model) > 0, plan.channels
        rows = self._rows(plan, target) if target.is_gpu else 0
        function = chunk_of_steps(*words, built.loads is not None, rows)
        return Steps(function, chunks_of(plan.times, self.chunk(plan, target)))


def chunks_of(times: np.ndarray, length: int) -> list[np.ndarray]:
    """Times in rows of one length, each beginning where the one before ends.

    The last is filled up by its end.
    """
    count = -(-len(times) // length)
    filled = np.append(times, np.full(count * length - len(times), times[-1]))
    before = np.append(times[:1], filled[length - 1 : -1 : length])
    return [np.append(b, row) for b, row in zip(before, filled.reshape(count, length), strict=True)]


@functools.lru_cache(maxsize=16)
def _all_channels(how: Formulation) -> Callable[[Model, Array, Tree], Tree]:
    """Function of one sample; one object, so that its shapes are found once."""
    return lambda model, t, y: finished_now(model, observe(model, how, t, y))


def _datum(plan: Plan, model: Model, phase: Phase) -> Pose:
    """From where displacements of a case count, as in single runs."""
    if not starts_at_equilibrium(model, plan.start):
        return model.datum
    return mapped(np.asarray, placed(plan.formulation)(model, phase.state)[0])


@functools.lru_cache(maxsize=16)
def chunk_of_steps(
    how: Formulation,
    matters: bool,
    eventful: bool,
    names: tuple[str, ...],
    in_chunks: bool,
    rows: int,
) -> Callable[..., Tree]:
    """``run(model, options, state, times) -> (state, samples)`` of one case.

    Args:
        how: formulation.
        matters: as of `problem`.
        eventful: there are events.
        names: of channels.
        in_chunks: loads of waves are filled for one chunk after the other.
        rows: of the grid of loads on a GPU; 0: on the CPU.
    """
    equations = problem(how, matters, eventful)

    def sample(model: Model, t: Array, y: Tree) -> Tree:
        with compact():
            raw = observe(model, how, t, y)
        return sample_of(model, raw, names, "rk4")

    def run(model: Model, options: Options, state: Tree, times: Array) -> Tree:
        loads = excitation_of(model)
        if isinstance(loads, WaveSums):
            model = with_excitation(model, loads.loads(times[0], rows))
        elif in_chunks and isinstance(loads, WaveLoads):
            # in lanes the grid begins at its last point before the chunk, as in `LaneSums.fill`
            at = times[0] if rows else jnp.floor(times[0] / loads.step) * loads.step
            model = with_excitation(model, replace(loads, begin=at))
        if not eventful:
            return fixed_steps(equations, model, options, state, times, sample)
        return integrate(equations, model, state, times[1:], options, method="rk4", observe=sample)

    return run


# --- cases as programs take them ------------------------------------------------------------
def _built_sequentially(plan: Plan, maker: CaseMaker, cases: list[BatchCase]) -> PreparedBatch:
    """Cases in seas of any kind, each prepared as for a single run."""
    models, refused = {}, {}
    for k, case in enumerate(cases):
        try:
            models[k] = maker.in_sea(case)
        except SwelltreeError as error:
            refused[k] = str(error)
    if not models:
        return PreparedBatch([], refused)
    runs, many = list(models), [model for model, _ in models.values()]
    fixed = OwnLeaves(maker, cases[runs[0]]).gathered(many)
    state = _stacked([_started(plan, y) for _, y in models.values()])
    gathered = Cases(fixed, _options(plan, many[0]), state, len(many))
    return PreparedBatch(runs, refused, gathered, many)


class _WithLoads(NamedTuple):
    """Cases whose loads are filled on the way, and the arguments that these become."""

    cases: Cases
    models: list[Model]
    force: PerCase
    rate: PerCase


def _with_loads(
    plan: Plan, maker: CaseMaker, cases: Sequence[BatchCase], steps: np.ndarray, points: int
) -> _WithLoads:
    """Cases in still water with room for loads of waves on a grid.

    Args:
        plan: how they are run.
        maker: of cases.
        cases: all of which can be run.
        steps: of the grid of each case [s].
        points: of the grid in a chunk.
    """
    n = 6 * plan.model.layout.n_bodies
    step = np.array(float(steps[0]))
    empty = [np.zeros((points, n)) for _ in range(2)]
    loads = WaveLoads(step, empty[0], empty[1], np.zeros(()))

    def ready(case: BatchCase) -> tuple[Model, Tree]:
        built = maker.numbers(case)
        return without_table(with_excitation(built.stepped, loads)), built.start

    model, y = ready(cases[0])
    if any(case.values for case in cases):
        owned = OwnLeaves(maker, cases[0], model)
        many = [ready(case) for case in cases]
        models = [m for m, _ in many]
        fixed = owned.gathered(models)
        state = _stacked([_started(plan, y) for _, y in many])
    else:
        models, fixed = [model] * len(cases), model
        state = mapped(
            lambda x: np.broadcast_to(np.asarray(x), (len(cases), *np.shape(x))),
            _started(plan, y),
        )
    force, rate = (PerCase([x]) for x in empty)
    replaced: dict[int, PerCase | Array] = {id(empty[0]): force, id(empty[1]): rate}
    # as long as they are the same, all cases have the same times
    differ = bool((steps != steps[0]).any())
    replaced[id(step)] = PerCase([np.array(float(x)) for x in steps]) if differ else step
    leaves, form = flatten(fixed)
    fixed = form.unflatten([_in_place(x, replaced) for x in leaves])
    gathered = Cases(fixed, _options(plan, model), state, len(cases))
    return _WithLoads(gathered, models, force, rate)


def _in_place(x: Array, replaced: dict[int, Tree]) -> Tree:
    """An argument that is filled on the way, in place of its example."""
    example = x.arrays[0] if isinstance(x, PerCase) else x
    return replaced.get(id(example), x)


def _stacked(states: list[Tree]) -> Tree:
    return mapped(lambda *x: np.stack(x), *states)


def _started(plan: Plan, y: Tree) -> Tree:
    eventful = event_count(plan.model)
    return start_carry(0.0, y, events=eventful) if eventful else begin(y)


def _options(plan: Plan, model: Model) -> Options:
    """Numbers of the steps, with the breakpoints at which they end."""
    return smooth_stepper(plan.task(model, plan.model)).options
