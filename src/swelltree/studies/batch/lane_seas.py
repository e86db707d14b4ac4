"""Seas of many cases as lanes take them: waves with their forces, drawn together where they can be.

Forces are those of single runs, and so are the grids on which they will be summed: a case has the
same loads in a batch as alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from swelltree.effects.linear_hydro.data import LEFT_OUT, Table
from swelltree.effects.linear_hydro.excitation import excitation_at
from swelltree.effects.linear_hydro.in_sea import in_waves
from swelltree.engine.arrays import Tree
from swelltree.engine.machine.many_cases.waves.lane_sums import POINTS_PER_PERIOD, LaneWaves
from swelltree.engine.trees import leaves_of
from swelltree.model.model import Model
from swelltree.studies.batch.cases import BatchCase, CaseMaker, ramp_of_case
from swelltree.studies.batch.device_seas import alike, components_of
from swelltree.studies.seas import realised
from swelltree.system.errors import SwelltreeError, SwelltreeWarning
from swelltree.waves.components import ManySeas
from swelltree.waves.dispersion import dispersion


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
    for rows in alike([cases[k] for k in there], [id(models[k]) for k in there]):
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
    assert model.hydro is not None
    return leaves_of((model.hydro.table, model.water))


def _forces(
    model: Model, maker: CaseMaker, rows: list[int], cases: list[BatchCase]
) -> tuple[_Forces, dict[int, str]]:
    """Waves and forces of cases of one sea, and the messages of those that cannot be run."""
    assert model.hydro is not None
    table = model.hydro.table
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
            in_waves(model, _realised(model, cases[j]), maker.duration, sums_step=1.0)
        except SwelltreeError as error:
            refused[rows[j]] = str(error)
    if not lost.all():
        j = int(np.flatnonzero(~lost)[0])
        checked = waves if j == 0 else _realised(model, cases[j])
        in_waves(model, checked, maker.duration, sums_step=1.0)
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
