"""Seas of many cases: components of seeds drawn together, and their forces by the data.

Seeds of one sea are drawn together, and what is wrong with one, or worth a warning, is reported as
in a single run. Lanes take the forces of all components. A GPU takes the waves as their amplitudes,
or as seeds alone, and looks their forces up: forces per metre of crest lie in a table over the
frequency for each heading, fine enough for a cubic between its rows.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import NamedTuple, TypeVar

import numpy as np

from swelltree.describe.environment.seas import FocusedWave, IrregularSea, RegularWave
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.hydro.linear.data import LEFT_OUT, Table
from swelltree.hydro.linear.excitation import excitation_at, interpolated
from swelltree.hydro.linear.frame import follows_yaw
from swelltree.hydro.linear.headings import heading_weights
from swelltree.hydro.linear.hydro import hydro_table
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.jit import Array, Tree, leaves_of, structure_of, threads
from swelltree.model.capabilities import feels
from swelltree.model.model import Model
from swelltree.studies.batch.cases import BatchCase, CaseMaker, ramp_of_case
from swelltree.studies.batch.gpu_wave_sums import AnyWaves, DrawnWaves, Waves
from swelltree.studies.batch.lane_wave_sums import POINTS_PER_PERIOD, LaneWaves
from swelltree.studies.options import Remembered, realised
from swelltree.waves.airy import Components
from swelltree.waves.component_sums import case_number
from swelltree.waves.components import ManySeas, SeedWaves, irregular_by_seed, seed_waves
from swelltree.waves.dispersion import AnyWater, dispersion

T = TypeVar("T")

LINEAR = (IrregularSea, FocusedWave, RegularWave)  # kinds that are taken apart here
MOST_HEADINGS = 64
LEAST_ROWS, MOST_ROWS = 1024, 65_536
TURN = 0.05  # rad by which the phase of a force may change from row to row
CACHE_SIZE = 4  # tables of models
MARGIN = 2  # rows outside the data, at each end
AT_ONCE = 20_000  # components whose forces are looked up at a time
DRAWN = 2048  # cases whose components are drawn at a time


def sums_of_waves(model: Model, cases: Sequence[BatchCase]) -> bool:
    """Whether the loads of such cases are sums of waves that do not follow the bodies."""
    table = hydro_table(model)
    if table is None or table.drift is not None:
        return False
    if feels(model, "waves") or follows_yaw(model):
        return False
    return all(isinstance(case.sea, LINEAR) for case in cases)


def identical(
    cases: Sequence[BatchCase], besides: Sequence[Hashable] | None = None
) -> list[list[int]]:
    """Numbers of cases whose seas differ by their seed only.

    Args:
        cases: with seas.
        besides: further keys that must be equal.
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


def rows_of_all(parts: Sequence[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def in_blocks(function: Callable[[int], T], starts: range) -> list[T]:
    """Results for all starts, in threads if there are several: starting these takes 0.5 ms."""
    if len(starts) < 2:
        return [function(start) for start in starts]
    with ThreadPoolExecutor(threads()) as pool:
        return list(pool.map(function, starts))


def drawn(still: Model, cases: list[BatchCase]) -> tuple[ManySeas, np.ndarray]:
    """Components of cases whose seas differ by their seed only, and their wavenumbers."""
    depth, g = float(still.water.depth), float(still.water.g)

    def some(first: int) -> tuple[ManySeas, np.ndarray]:
        many = components_of(still, cases[first : first + DRAWN])
        return many, np.asarray(dispersion(many.omega.reshape(-1), depth, g))

    parts = in_blocks(some, range(0, len(cases), DRAWN))
    many = ManySeas(*map(rows_of_all, zip(*(part for part, _ in parts), strict=True)))
    return many, rows_of_all([k for _, k in parts]).reshape(many.omega.shape)


def undisturbed_by_hulls(table: Table) -> Table:
    """The data with the excitation without the part that nonlinear hulls compute."""
    return table if table.remaining is None else replace(table, excitation=table.remaining)


def covered(table: Table, omega: np.ndarray) -> np.ndarray:
    """Which frequencies lie within the data."""
    return (omega >= float(table.omega[0]) * (1 - 1e-9)) & (
        omega <= float(table.omega[-1]) * (1 + 1e-9)
    )


def forces_of(
    table: Table, many: ManySeas, k: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which components the data cover, and their forces, real and imaginary (case, l, 6N)."""
    inside = covered(table, many.omega)
    count, width = many.omega.shape
    real = np.zeros((count, width, table.excitation.shape[-1]))
    imag = np.zeros_like(real)

    from_one_side = _from_one_side(table, many.beta)

    def block(first: int) -> None:
        some = slice(first, first + max(1, AT_ONCE // width))
        specified = many.omega[some], k[some], many.amplitude[some], many.phase[some]
        at = inside[some]
        if from_one_side is not None and at.all():
            found = from_one_side(*(x.reshape(-1) for x in specified))
            real[some], imag[some] = (x.reshape(real[some].shape) for x in found)
            return
        omega, number, size, phase = (x[at] for x in specified)
        if from_one_side is not None:
            real[some][at], imag[some][at] = from_one_side(omega, number, size, phase)
            return
        beta = many.beta[some][at]
        a = size * np.exp(1j * phase)
        force = excitation_at(table, omega, beta, number, a) * a[:, None]
        real[some][at], imag[some][at] = np.real(force), np.imag(force)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)  # reported for the first case
        in_blocks(block, range(0, count, max(1, AT_ONCE // width)))
    return inside, real, imag


AT_HEADINGS = Remembered()  # data interpolated to one heading
Forces = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def _from_one_side(table: Table, beta: np.ndarray) -> Forces | None:
    """Function of waves that all come from one side; None where they come from several.

    Data are interpolated between headings and frequencies by sums with weights, in any order: those
    of the heading are taken first. Of frequencies, wavenumbers, amplitudes and phases (c,) it gives
    the real and imaginary forces (c, 6N).
    """
    one = float(beta.flat[0])
    if not (beta == one).all():
        return None
    known = AT_HEADINGS.about((table.direction, table.excitation, table.omega, table.place))
    if one not in known:
        if len(known) >= MOST_HEADINGS:
            known.clear()
        weights = heading_weights(table.direction, np.array([one]))[0]
        data = np.einsum("d,wdm->wm", weights, np.asarray(table.excitation))
        along = np.asarray(table.place) @ np.array([np.cos(one), np.sin(one)])
        # all DOFs of a body have one place
        known[one] = (
            np.real(data).copy(),
            np.imag(data).copy(),
            *np.unique(along, return_inverse=True),
        )
    grid, (*parts, apart, back) = np.asarray(table.omega), known[one]

    def forces(
        omega: np.ndarray, k: np.ndarray, amplitude: np.ndarray, phase: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        angle = phase[:, None] + k[:, None] * apart
        c, s = ((amplitude[:, None] * f(angle))[:, back] for f in (np.cos, np.sin))
        x, y = (interpolated(grid, part, omega) for part in parts)
        return x * c - y * s, x * s + y * c

    return forces


# --- for lanes ------------------------------------------------------------------------------
class _Forces(NamedTuple):
    """Of cases of one sea with different seeds."""

    rows: list[int]
    omega: np.ndarray  # (case, l)
    force: np.ndarray  # (case, l, n)
    step: np.ndarray  # (case,)


def lane_seas(
    maker: CaseMaker, cases: Sequence[BatchCase]
) -> tuple[LaneWaves | None, list[int], dict[int, str]]:
    """Waves of the cases that can be run, their numbers, and the error messages of the others.

    Args:
        maker: of cases.
        cases: for which `sums_of_waves` holds.
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
        return None, runs, refused
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
    return LaneWaves(omega, force, step, ramp), runs, refused


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
    table = undisturbed_by_hulls(table)
    # once as in a single run: what is wrong, or worth a warning, is reported there
    waves = _realised(model, cases[0])
    many, k = drawn(model, cases)
    inside, real, imag = forces_of(table, many, k)
    refused: dict[int, str] = {}
    energy = many.amplitude**2
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
    step = 2.0 * np.pi / np.minimum(ends, float(table.omega[-1])) / POINTS_PER_PERIOD
    return _Forces(rows, many.omega, real + 1j * imag, step), refused


def _realised(model: Model, case: BatchCase) -> Tree:
    assert case.sea is not None
    return realised(model, case.sea, case.case)


# --- for GPUs -------------------------------------------------------------------------------
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
    excitation = undisturbed_by_hulls(data).excitation
    there = _drawn_there(model, maker, data, excitation, cases, groups)
    if there is not None:
        return there
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
        lost = (energy * ~covered(data, many.omega)).sum(1) > LEFT_OUT * energy.sum(1)
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
        inside = covered(data, many.omega)
        omega[rows, :size] = many.omega
        heading = count * np.searchsorted(beta, many.beta)
        place[rows, :size] = heading + MARGIN + (within - low) / step
        complex_amplitude = many.amplitude * np.exp(1j * many.phase)
        amplitude[rows, :size] = np.where(inside, complex_amplitude, 0.0)
        ramp[rows] = ramp_of_case(cases[rows[0]])
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
        energy, inside = waves.amplitude**2, np.logical_and(*(covered(data, x) for x in waves.ends))
        # the data cover nearly all of it, whatever is drawn
        if (energy * ~inside).sum() > LEFT_OUT * energy.sum():
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
        seas[rows], ramp[rows] = k, ramp_of_case(cases[rows[0]])
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
