"""Batches in lanes: several cases in each register, registers on all cores.

Waves of all cases are drawn first; their loads are summed for one chunk of times after the other,
beside the steps that need them. Seas that follow the bodies, or are felt by more than the data, are
made case by case, for the whole run. `gpu` runs the same steps on GPUs.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.hydro.linear.data import LEFT_OUT, Table, WaveLoads
from swelltree.hydro.linear.excitation import excitation_at
from swelltree.hydro.linear.hydro import excitation_of, hydro_table, with_excitation
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.integrate.problem import Options
from swelltree.jit import Array, LaneProgram, Tree, jnp, lane_width, leaves_of, threads
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.studies.batch.cases import BatchCase, CaseMaker, grid_step, ramp_of_case
from swelltree.studies.batch.compiled import (
    Compiled,
    PreparedBatch,
    advance,
    advance_of,
    built_sequentially,
    chunks_of,
    with_loads,
)
from swelltree.studies.batch.device_seas import built_on_device, components_of, identical
from swelltree.studies.batch.engine import Plan
from swelltree.studies.batch.lane_wave_sums import (
    POINTS_PER_PERIOD,
    RATIO,
    LaneLoads,
    LaneSums,
    LaneWaves,
)
from swelltree.studies.batch.summaries import Requested, joined, summarised_in_lanes
from swelltree.studies.batch.xla import maker_of
from swelltree.studies.seas import realised
from swelltree.waves.components import ManySeas
from swelltree.waves.dispersion import dispersion

# --- Seas of many cases as lanes take them: waves with their forces, drawn together where they
# can be


class LaneSeas(NamedTuple):
    """Waves of the cases that can be run, and why others cannot.

    Args:
        waves: of those cases; None where there are none.
        runs: their numbers.
        refused: error message by number of the case.
    """

    waves: LaneWaves | None
    runs: list[int]
    refused: dict[int, str]


class _Forces(NamedTuple):
    """Of cases of one sea with different seeds."""

    rows: list[int]
    omega: np.ndarray  # (case, l)
    force: np.ndarray  # (case, l, n)
    step: np.ndarray  # (case,)


def lane_seas(maker: CaseMaker, cases: Sequence[BatchCase]) -> LaneSeas:
    """The waves of cases.

    Args:
        maker: of cases.
        cases: for which `device_seas.made_on_device` holds.
    """
    models, refused = _models(maker, cases)
    there = [k for k in range(len(cases)) if k not in refused]
    parts: list[_Forces] = []
    for rows in identical([cases[k] for k in there], [id(models[k]) for k in there]):
        some = [there[j] for j in rows]
        try:
            part = _forces(models[some[0]], maker, some, [cases[k] for k in some])
        except SwelltreeError as error:
            refused |= dict.fromkeys(some, str(error))
            continue
        refused |= part[1]
        parts.append(part[0])
    runs = [k for k in range(len(cases)) if k not in refused]
    if not runs:
        return LaneSeas(None, runs, refused)
    width, n = max(part.omega.shape[1] for part in parts), parts[0].force.shape[2]
    omega, step = np.zeros((len(cases), width)), np.ones(len(cases))
    force = np.zeros((len(cases), width, n), complex)
    for part in parts:
        count = part.omega.shape[1]
        omega[part.rows, :count], step[part.rows] = part.omega, part.step
        force[part.rows, :count] = part.force
    ramp = np.array([ramp_of_case(case) for case in cases])
    if refused:
        omega, force, step, ramp = (x[runs] for x in (omega, force, step, ramp))
    return LaneSeas(LaneWaves(omega, force, step, ramp), runs, refused)


def _models(
    maker: CaseMaker, cases: Sequence[BatchCase]
) -> tuple[dict[int, Model], dict[int, str]]:
    """The model in whose water and by whose data each case has its waves; one where it can be."""
    found: dict[int, Model] = {}
    refused: dict[int, str] = {}
    water = _of_waves(maker.model)
    for k, case in enumerate(cases):
        try:
            still = maker.numbers(case).still
        except SwelltreeError as error:
            refused[k] = str(error)
            continue
        same = still is maker.model or all(
            x is y or np.array_equal(x, y) for x, y in zip(_of_waves(still), water, strict=True)
        )
        found[k] = maker.model if same else still
    return found, refused


def _of_waves(model: Model) -> list[Tree]:
    return leaves_of((hydro_table(model), model.water))


def _forces(
    model: Model, maker: CaseMaker, rows: list[int], cases: list[BatchCase]
) -> tuple[_Forces, dict[int, str]]:
    """Waves and forces of cases of one sea, and the messages of those that cannot be run."""
    table = hydro_table(model)
    assert table is not None
    data: Table = table if table.remaining is None else replace(table, excitation=table.remaining)
    # once as in a single run: what is wrong, or worth a warning, is reported there
    waves = _realised(model, cases[0])
    low, high = float(data.omega[0]), float(data.omega[-1])
    many = components_of(model, cases)
    inside = (many.omega >= low * (1 - 1e-9)) & (many.omega <= high * (1 + 1e-9))
    energy = many.amplitude**2
    refused: dict[int, str] = {}
    lost = (energy * ~inside).sum(1) > LEFT_OUT * energy.sum(1)
    for j in np.flatnonzero(lost):
        try:
            apply_sea(model, _realised(model, cases[j]), maker.duration, sums_step=1.0)
        except SwelltreeError as error:
            refused[rows[j]] = str(error)
    if not lost.all():
        j = int(np.flatnonzero(~lost)[0])
        checked = waves if j == 0 else _realised(model, cases[j])
        apply_sea(model, checked, maker.duration, sums_step=1.0)
    ends = many.omega.max(1) if waves.band is None else np.full(len(rows), waves.ends[1])
    step = 2.0 * np.pi / np.minimum(ends, high) / POINTS_PER_PERIOD
    return _Forces(rows, many.omega, _of_components(model, data, many, inside), step), refused


def _realised(model: Model, case: BatchCase) -> Tree:
    """Components of the sea of a case."""
    assert case.sea is not None
    return realised(model, case.sea, case.case)


def _of_components(model: Model, data: Table, many: ManySeas, inside: np.ndarray) -> np.ndarray:
    """Forces of all components (case, l, n); those outside the data have none."""
    amplitude = many.amplitude * np.exp(1j * many.phase)
    force = np.zeros((*many.omega.shape, data.excitation.shape[-1]), complex)
    one = len(many.omega) > 1 and (np.ptp(many.omega, axis=0) == 0).all()
    one = one and (np.ptp(many.beta, axis=0) == 0).all()
    # waves of the same frequencies and headings have the same forces per metre
    some = slice(0, 1) if one else slice(None)
    there, size = inside[some], np.abs(amplitude[some])
    omega, beta = many.omega[some][there], many.beta[some][there]
    k = np.asarray(dispersion(omega, float(model.water.depth), float(model.water.g)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)  # reported for one of them already
        per_metre = excitation_at(data, omega, beta, k, size[there])
    if one:
        force[:, there[0]] = amplitude[:, there[0], None] * per_metre
    else:
        force[inside] = amplitude[inside][:, None] * per_metre
    return force


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
        return 0 if built_on_device(plan.model, []) else super().room_of_loads(plan)

    def maker(self, plan: Plan) -> CaseMaker:
        """Makes models of cases."""
        return maker_of(plan)

    def built(self, plan: Plan, cases: list[BatchCase]) -> PreparedBatch | None:
        """Cases that can be run; None if there are none."""
        maker = self.maker(plan)
        if not built_on_device(plan.model, cases):
            return built_sequentially(plan, maker, cases)
        seas = lane_seas(maker, cases)
        if seas.waves is None:
            return None
        longest = _longest(plan)
        points = LaneSums.points(longest, grid_step(plan.model))
        some = [cases[k] for k in seas.runs]
        ready = with_loads(plan, maker, some, seas.waves.step, points)
        loads = LaneLoads(seas.waves, longest, ready.force, ready.rate)
        return PreparedBatch(ready.cases, ready.models, loads, seas.runs, seas.refused)

    def program(self, plan: Plan, built: PreparedBatch) -> LaneProgram:
        """The program of a plan."""
        return _lane_program(*advance_of(plan), built.loads is not None, lane_width())

    def chunks(self, plan: Plan) -> list[np.ndarray]:
        """Times, in chunks."""
        return chunks_of(plan.times, _samples(plan))

    def stepped(self, plan: Plan, built: PreparedBatch) -> tuple[Tree, Tree]:
        """State at the end, and samples of all cases."""
        program = self.program(plan, built)
        return program.run(built.cases, self.chunks(plan), threads(), built.loads)

    def summed(self, plan: Plan, built: PreparedBatch, requested: Requested) -> tuple[Tree, Tree]:
        """State at the end, and what is kept of all cases."""
        program, loads = self.program(plan, built), built.loads
        reduce = functools.partial(summarised_in_lanes, requested=requested)
        found = program.reduced(built.cases, self.chunks(plan), reduce, threads(), loads)
        return found[0], joined(found[1])


def _samples(plan: Plan) -> int:
    """Samples of a chunk."""
    if hydro_table(plan.model) is None or len(plan.times) < 2:
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
        loads = excitation_of(model)
        if in_chunks and isinstance(loads, WaveLoads):
            # the grid of a chunk begins at its last point before it, as in `LaneSums.fill`
            begin = jnp.floor(times[0] / loads.step) * loads.step
            model = with_excitation(model, replace(loads, begin=begin))
        return step(model, options, state, times)

    return LaneProgram(run, width)
