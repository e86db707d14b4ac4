"""Batches in lanes: several cases in each register, registers on all cores.

Waves of all cases are drawn first; their loads are summed for one chunk of times after the other,
beside the steps that need them. Seas that follow the bodies, or are felt by more than the data, are
made case by case, for the whole run. `gpu` runs the same steps on GPUs.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from swelltree.effects.linear_hydro.data import WaveLoads
from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jnp
from swelltree.engine.cores import threads
from swelltree.engine.machine.many_cases.lane_runs import LaneLoads, LaneProgram
from swelltree.engine.machine.many_cases.summaries import Wanted
from swelltree.engine.machine.many_cases.waves.lane_sums import RATIO, LaneSums
from swelltree.engine.machine.native import lane_width
from swelltree.formulations import Formulation
from swelltree.model.model import Model
from swelltree.solvers.problem import Options
from swelltree.studies.batch.cases import BatchCase, CaseMaker, grid_step
from swelltree.studies.batch.compiled import (
    Compiled,
    Made,
    advance,
    advance_of,
    chunks_of,
    made_one_by_one,
    with_loads,
)
from swelltree.studies.batch.device_seas import made_on_device
from swelltree.studies.batch.engine import Plan
from swelltree.studies.batch.lane_seas import lane_seas
from swelltree.studies.batch.xla import maker_of

INSTANTS = 128  # at which waves are summed in a chunk
SAMPLES = (4, 128)  # of a chunk, min and max: one program serves runs of any length
TURNS = 2  # registers that each core runs in a batch


class SideBySide(Compiled):
    """Lanes of registers, on all cores."""

    name = "lanes"

    @property
    def most(self) -> int:
        """Cases that keep all cores busy."""
        return max(32, TURNS * lane_width() * threads())

    def room_of_loads(self, plan: Plan) -> int:
        """None where loads are made chunk by chunk."""
        return 0 if made_on_device(plan.model, []) else super().room_of_loads(plan)

    def maker(self, plan: Plan) -> CaseMaker:
        """Makes models of cases."""
        return maker_of(plan)

    def made(self, plan: Plan, cases: list[BatchCase]) -> Made | None:
        """Cases that can be run; None if there are none."""
        maker = self.maker(plan)
        if not made_on_device(plan.model, cases):
            return made_one_by_one(plan, maker, cases)
        seas = lane_seas(maker, cases)
        if seas.waves is None:
            return None
        longest = _longest(plan)
        points = LaneSums.points(longest, grid_step(plan.model))
        some = [cases[k] for k in seas.runs]
        ready = with_loads(plan, maker, some, seas.waves.step, points)
        loads = LaneLoads(seas.waves, longest, ready.force, ready.rate)
        return Made(ready.cases, ready.models, loads, seas.runs, seas.refused)

    def program(self, plan: Plan, made: Made) -> LaneProgram:
        """The program of a plan."""
        return _lane_program(*advance_of(plan), made.loads is not None, lane_width())

    def chunks(self, plan: Plan) -> list[np.ndarray]:
        """Times, in chunks."""
        return chunks_of(plan.times, _samples(plan))

    def stepped(self, plan: Plan, made: Made) -> tuple[Tree, Tree]:
        """State at the end, and samples of all cases."""
        program = self.program(plan, made)
        return program.run(made.cases, self.chunks(plan), threads(), made.loads)

    def summed(self, plan: Plan, made: Made, wanted: Wanted) -> tuple[Tree, Tree]:
        """State at the end, and what is kept of all cases."""
        program = self.program(plan, made)
        return program.summaries(made.cases, self.chunks(plan), wanted, threads(), made.loads)


def _samples(plan: Plan) -> int:
    """Samples of a chunk."""
    hydro = plan.model.hydro
    if hydro is None or hydro.table is None or len(plan.times) < 2:
        return SAMPLES[1]
    length = INSTANTS * RATIO * grid_step(plan.model)
    return int(np.clip(round(length / float(np.diff(plan.times).max())), *SAMPLES))


def _longest(plan: Plan) -> float:
    """Time that a chunk may take [s]."""
    return _samples(plan) * float(np.diff(plan.times).max(initial=0.0))


@functools.lru_cache(maxsize=16)
def _lane_program(
    how: Formulation,
    matters: bool,
    eventful: bool,
    names: tuple[str, ...],
    in_chunks: bool,
    width: int,
) -> LaneProgram:
    """Program of a stepper.

    Args:
        how: formulation.
        matters: as of `problem`.
        eventful: there are events.
        names: of channels.
        in_chunks: loads are made for one chunk after the other.
        width: lanes.
    """
    step = advance(how, matters, eventful, names)

    def run(model: Model, options: Options, state: Tree, times: Array) -> Tree:
        hydro = model.hydro
        if in_chunks and hydro is not None and isinstance(hydro.waves, WaveLoads):
            loads = hydro.waves
            # the grid of a chunk begins at its last point before it, as in `LaneSums.fill`
            begin = jnp.floor(times[0] / loads.step) * loads.step
            model = model.with_effect(replace(hydro, waves=replace(loads, begin=begin)))
        return step(model, options, state, times)

    return LaneProgram(run, width)
