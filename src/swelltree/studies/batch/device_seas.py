"""Seas of many cases as a GPU takes them: their waves, and one table of forces.

Seeds of one sea are drawn together. Forces per metre of crest lie in a table over the frequency for
each heading, fine enough for a cubic between its rows; the processor looks them up.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter

import numpy as np

from swelltree.describe.environment.seas import FocusedWave, IrregularSea, RegularWave
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.hydro.linear.data import LEFT_OUT, Table
from swelltree.hydro.linear.excitation import excitation_at
from swelltree.hydro.linear.frame import follows_yaw
from swelltree.hydro.linear.hydro import hydro_table
from swelltree.jit import Array, Tree, leaves_of, structure_of
from swelltree.model.capabilities import feels
from swelltree.model.model import Model
from swelltree.studies.batch.cases import BatchCase, CaseMaker
from swelltree.studies.batch.gpu_drawn_waves import DrawnWaves
from swelltree.studies.batch.gpu_wave_sums import AnyWaves, Waves
from swelltree.studies.seas import realised
from swelltree.waves.airy import Components
from swelltree.waves.component_sums import case_number
from swelltree.waves.components import ManySeas, SeedWaves, irregular_by_seed, seed_waves
from swelltree.waves.dispersion import AnyWater, dispersion

LINEAR = (IrregularSea, FocusedWave, RegularWave)  # kinds that are taken apart here
MOST_HEADINGS = 64
LEAST_ROWS, MOST_ROWS = 1024, 65_536
TURN = 0.05  # rad by which the phase of a force may change from row to row
CACHE_SIZE = 4  # tables of models
MARGIN = 2  # rows outside the data, at each end


@dataclass(frozen=True)
class DeviceSeas:
    """Waves of the cases that can be run, and why others cannot.

    Args:
        waves: of those cases.
        table: (row, 2 n).
        refused: error message by number of the case.
    """

    waves: AnyWaves | None
    table: np.ndarray
    refused: dict[int, str]


def built_on_device(model: Model, cases: Sequence[BatchCase]) -> bool:
    """Whether the loads of such cases are sums of waves that do not follow the bodies."""
    table = hydro_table(model)
    if table is None or table.drift is not None:
        return False
    if feels(model, "waves") or follows_yaw(model):
        return False
    return all(isinstance(case.sea, LINEAR) for case in cases)


def device_seas(
    model: Model,
    maker: CaseMaker,
    cases: Sequence[BatchCase],
    groups: list[list[int]] | None = None,
) -> DeviceSeas:
    """The waves of cases.

    Args:
        model: with its data.
        maker: of cases, which reports what is wrong with one.
        cases: to run.
        groups: of them by `alike`, where they are known.
    """
    groups = identical(cases) if groups is None else groups
    data = hydro_table(model)
    assert data is not None
    excitation = data.excitation if data.remaining is None else data.remaining
    drawn = _drawn_there(model, maker, data, excitation, cases, groups)
    if drawn is not None:
        return drawn
    parts: list[tuple[list[int], ManySeas]] = []
    refused: dict[int, str] = {}
    for rows in groups:
        try:
            # once as in a single run: what is wrong, or worth a warning, is reported there
            maker.in_sea(cases[rows[0]])
            parts.append((rows, components_of(model, [cases[k] for k in rows])))
        except SwelltreeError as error:
            refused |= dict.fromkeys(rows, str(error))
    low, high = float(data.omega[0]), float(data.omega[-1])
    for rows, many in parts:
        energy = many.amplitude**2
        outside = (many.omega < low * (1 - 1e-9)) | (many.omega > high * (1 + 1e-9))
        lost = (energy * outside).sum(1) > LEFT_OUT * energy.sum(1)
        for k in np.flatnonzero(lost):
            try:
                maker.in_sea(cases[rows[k]])
            except SwelltreeError as error:
                refused[rows[k]] = str(error)
    parts = [(rows, many) for rows, many in parts if any(k not in refused for k in rows)]
    if not parts:
        return DeviceSeas(None, np.zeros((0, 0)), refused)
    beta = np.unique(np.concatenate([np.unique(many.beta) for _, many in parts]))
    table, step, count = _tables(model, data, excitation, beta)
    width = max(many.omega.shape[1] for _, many in parts)
    total = len(cases)
    omega, place = np.full((total, width), low), np.full((total, width), float(MARGIN))
    amplitude, ramp = np.zeros((total, width), complex), np.zeros(total)
    for rows, many in parts:
        size = many.omega.shape[1]
        within = np.clip(many.omega, low, high)
        inside = (many.omega >= low * (1 - 1e-9)) & (many.omega <= high * (1 + 1e-9))
        omega[rows, :size] = many.omega
        heading = count * np.searchsorted(beta, many.beta)
        place[rows, :size] = heading + MARGIN + (within - low) / step
        complex_amplitude = many.amplitude * np.exp(1j * many.phase)
        amplitude[rows, :size] = np.where(inside, complex_amplitude, 0.0)
        ramp[rows] = _ramp(cases[rows[0]])
    stored = [k for k in range(total) if k not in refused]
    some = (omega, place, amplitude, ramp) if not refused else (
        omega[stored], place[stored], amplitude[stored], ramp[stored]
    )  # fmt: skip
    return DeviceSeas(Waves(*some), table, refused)


def _tables(
    model: Model, data: Table, excitation: Array, beta: np.ndarray
) -> tuple[np.ndarray, float, int]:
    """Tables of all headings, the step of their frequency, and the rows of each.

    Those of the last models are remembered.
    """
    specified = (data, excitation, model.water, beta)
    key = hashlib.sha256()
    for leaf in leaves_of(specified):
        key.update(f"{np.shape(leaf)}".encode())
        key.update(np.ascontiguousarray(leaf).tobytes())
    name = key.digest(), str(structure_of(specified))
    if name not in TABLES:
        while len(TABLES) >= CACHE_SIZE:
            TABLES.pop(next(iter(TABLES)))
        TABLES[name] = _built_tables(*specified)
    return TABLES[name]


TABLES: dict[tuple[bytes, str], tuple[np.ndarray, float, int]] = {}


def _built_tables(
    data: Table, excitation: Array, water: Tree, beta: np.ndarray
) -> tuple[np.ndarray, float, int]:
    step, count = _frequency_grid(data, water)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)  # reported for the cases themselves
        table = np.concatenate([_table(data, excitation, water, one, step, count) for one in beta])
    return table, step, count


def _drawn_there(
    model: Model,
    maker: CaseMaker,
    data: Table,
    excitation: Array,
    cases: Sequence[BatchCase],
    groups: list[list[int]],
) -> DeviceSeas | None:
    """Seas of which only the seeds travel; None where more is to be drawn, or is refused."""
    if not all(isinstance(cases[rows[0]].sea, IrregularSea) for rows in groups):
        return None
    low, high = float(data.omega[0]), float(data.omega[-1])
    shared: list[SeedWaves] = []
    for rows in groups:
        sea: Tree = cases[rows[0]].sea
        waves = seed_waves(sea, model.water)
        if waves is None:
            return None
        ends = waves.ends
        outside = (ends[0] < low * (1 - 1e-9)) | (ends[1] > high * (1 + 1e-9))
        energy = waves.amplitude**2
        # whatever is drawn, what the data do not cover is a trifle
        if (energy * outside).sum() > LEFT_OUT * energy.sum():
            return None
        try:
            maker.in_sea(cases[rows[0]])
        except SwelltreeError:
            return None  # reported case by case
        shared.append(waves)
    beta = np.unique(np.concatenate([np.unique(waves.headings) for waves in shared]))
    table, step, count = _tables(model, data, excitation, beta)
    shapes = np.array([(*x.headings.shape, x.curve.shape[1]) for x in shared])
    width, ranks, points = shapes.max(0)
    bins, turns = np.zeros((len(shared), width, 3)), np.zeros((len(shared), width, ranks))
    curves = np.zeros((len(shared), points, 2))
    seas, ramp = np.empty(len(cases)), np.empty(len(cases))
    for k, (rows, waves) in enumerate(zip(groups, shared, strict=True)):
        n, r, g = shapes[k]
        bins[k, :n] = np.stack(waves[:3], axis=1)
        turns[k, :n, :r] = count * np.searchsorted(beta, waves.headings)
        curves[k, :g] = waves.curve.T
        seas[rows], ramp[rows] = k, _ramp(cases[rows[0]])
    keys = np.empty((len(cases), 2), np.uint64)
    keys[:, 0] = [case.sea.seed for case in cases]  # type: ignore[union-attr]
    names = {name: case_number(name) for name in {case.case for case in cases}}
    keys[:, 1] = [names[case.case] for case in cases]
    grid = (low, high, float(MARGIN), step)
    return DeviceSeas(DrawnWaves(keys, seas, shapes, bins, turns, curves, grid, ramp), table, {})


def few_headings(cases: Sequence[BatchCase]) -> bool:
    """Whether the headings of some cases are few enough for tables."""
    seas = [case.sea for case in cases]
    headings = {float(sea.beta) for sea in seas if isinstance(sea, LINEAR)}
    spread = max(
        (
            sea.spreading.directions if sea.spreading is not None else 1
            for sea in seas
            if isinstance(sea, IrregularSea)
        ),
        default=1,
    )
    table = any(isinstance(sea, IrregularSea) and hasattr(sea.spectrum, "beta") for sea in seas)
    # a last block of components that is not full has headings of its own
    return not table and 2 * spread * len(headings) <= MOST_HEADINGS


def _ramp(case: BatchCase) -> float:
    return 0.0 if case.sea is None else float(case.sea.ramp)


def identical(
    cases: Sequence[BatchCase], besides: Sequence[Hashable] | None = None
) -> list[list[int]]:
    """Numbers of cases whose seas differ by their seed only.

    Args:
        cases: with seas.
        besides: what else must be the same.
    """
    found: dict[Hashable, list[int]] = {}
    # keys by what a sea holds: the same things make the same key
    known: dict[tuple[int, ...], Hashable] = {}
    held = attrgetter(*(field.name for field in fields(IrregularSea) if field.name != "seed"))
    for k, case in enumerate(cases):
        sea = case.sea
        if isinstance(sea, IrregularSea):
            specified = held(sea)
            same = tuple(map(id, specified))
            key: Tree = known.get(same)
            if key is None:
                key = tuple(x if isinstance(x, Hashable) else id(x) for x in specified)
                known[same] = key
        else:
            key = (k,)
        if besides is not None:
            key = (key, besides[k])
        found.setdefault(key, []).append(k)
    return list(found.values())


def components_of(model: Model, cases: list[BatchCase]) -> ManySeas:
    """Components of cases whose seas differ by their seed only."""
    sea: Tree = cases[0].sea
    if isinstance(sea, IrregularSea):
        seeds = [case.sea.seed for case in cases]  # type: ignore[union-attr]
        return irregular_by_seed(sea, model.water, seeds, [case.case for case in cases])
    waves = realised(model, sea, cases[0].case)
    assert isinstance(waves, Components)
    rows = (waves.omega, waves.amplitude, waves.beta, waves.phase)
    return ManySeas(*(np.asarray(x, float)[None] for x in rows))


def _frequency_grid(data: Table, water: AnyWater) -> tuple[float, int]:
    """Step and number of rows of the tables: phases change little from row to row."""
    low, high = float(data.omega[0]), float(data.omega[-1])
    omega = np.linspace(low, high, 4096)
    k = np.asarray(dispersion(omega, float(water.depth), float(water.g)))
    far = float(np.linalg.norm(np.asarray(data.place), axis=1).max(initial=0.0))
    fastest = far * float(np.abs(np.gradient(k, omega)).max())
    rows = int(np.clip((high - low) * fastest / TURN, LEAST_ROWS, MOST_ROWS))
    return (high - low) / rows, rows + 1 + 2 * MARGIN


def _table(
    data: Table, excitation: Array, water: AnyWater, beta: float, step: float, count: int
) -> np.ndarray:
    """Forces per metre of a crest at the origin, over the frequency."""
    omega = float(data.omega[0]) + step * (np.arange(count) - MARGIN)
    positive = np.maximum(omega, 1e-6)
    k = np.asarray(dispersion(positive, float(water.depth), float(water.g)))
    source = data
    if excitation is not data.excitation:
        source = replace(data, excitation=excitation)
    force = excitation_at(source, omega, np.full(count, beta), k)
    return np.stack([np.real(force), np.imag(force)], axis=2).reshape(count, -1)
