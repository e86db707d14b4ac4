"""Cases whose seas differ by their seed only, made together: arrays with a row for each of them.

All but the waves is the same in such cases; components are drawn for all seeds at once, and the
forces of the data are looked up for many of them at a time. The last case is made as single runs
make it, too: if any of its arrays differs, the cases are made individually.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from swelltree.describe.environment.seas import IrregularSea
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.hydro.linear.data import NEGLIGIBLE
from swelltree.hydro.linear.excitation import excitation_at, interpolated
from swelltree.hydro.linear.headings import heading_weights
from swelltree.hydro.linear.hydro import excitation_of
from swelltree.hydro.linear.wave_sums import WaveSums
from swelltree.jit import PerCase, Tree, leaves_of, mapped, structure_of, threads
from swelltree.model.model import Model
from swelltree.studies.batch.cases import BatchCase
from swelltree.studies.batch.complementarity.starts import CaseStart, Starts, Stepped
from swelltree.studies.batch.device_seas import components_of, identical
from swelltree.waves.airy import Components
from swelltree.waves.components import ManySeas
from swelltree.waves.dispersion import dispersion

SEQUENTIAL_LIMIT = 4  # cases that are made individually
AT_ONCE = 20_000  # components whose forces are looked up at a time
DRAWN = 2048  # cases whose components are drawn at a time
SAME = 1e-9  # of the largest number of an array


class Identical(NamedTuple):
    """Cases with one start.

    Args:
        rows: their numbers.
        case_start: the first of them.
        stepped: where all begin.
        columns: arrays with a row for each case in place of its leaves, by their number.
    """

    rows: list[int]
    case_start: CaseStart
    stepped: Stepped
    columns: dict[int, np.ndarray]


def built_together(
    starts: Starts, cases: Sequence[BatchCase]
) -> tuple[list[Identical], dict[int, str]]:
    """All cases that can be made, and the messages of the others.

    Args:
        starts: makes single cases.
        cases: of a batch.
    """
    built: list[Identical] = []
    refused: dict[int, str] = {}
    for rows in _groups(cases):
        group = _by_seed(starts, cases, rows) if len(rows) > SEQUENTIAL_LIMIT else None
        if group is not None:
            built.append(group[0])
            refused |= group[1]
            continue
        singly, reported = built_sequentially(starts, cases, rows)
        built += singly
        refused |= reported
    return built, refused


def built_sequentially(
    starts: Starts, cases: Sequence[BatchCase], rows: Sequence[int]
) -> tuple[list[Identical], dict[int, str]]:
    """Some of the cases as single runs make them, and the messages of the others."""
    built, refused = [], {}
    for k in rows:
        try:
            built.append(Identical([k], *starts.built(cases[k]), {}))
        except SwelltreeError as error:
            refused[k] = str(error)
    return built, refused


def _groups(cases: Sequence[BatchCase]) -> list[list[int]]:
    """Numbers of cases that differ by their seed only."""
    if not all(isinstance(case.sea, IrregularSea) for case in cases):
        return [[k] for k in range(len(cases))]
    return identical(cases, [repr(case.values) for case in cases])


def _by_seed(
    starts: Starts, cases: Sequence[BatchCase], rows: list[int]
) -> tuple[Identical, dict[int, str]] | None:
    """Cases of some seeds, and those that the data do not cover; None if they are not so alike."""
    try:
        case_start, stepped = starts.built(cases[rows[0]])
        last = starts.built(cases[rows[-1]])[0]
    except SwelltreeError:
        return None  # reported case by case
    waves = case_start.model.sea.waves
    sums = excitation_of(case_start.model)
    if not isinstance(waves, Components) or not isinstance(sums, WaveSums | None):
        return None
    still = starts.maker.numbers(cases[rows[0]]).still
    many, k = _drawn(still, [cases[k] for k in rows])
    found = {
        id(waves.omega): many.omega,
        id(waves.amplitude): many.amplitude,
        id(waves.beta): many.beta,
        id(waves.phase): many.phase,
        id(waves.wavenumber): k,
    }
    inside = np.ones(many.omega.shape, bool)
    if sums is not None:
        inside, real, imag = _forces(still, many, k)
        found |= {id(sums.omega): many.omega, id(sums.real): real, id(sums.imag): imag}
    columns = {j: found[id(x)] for j, x in enumerate(leaves_of(case_start)) if id(x) in found}
    if not _same(columns, case_start, last):
        return None
    energy = many.amplitude**2
    lost = (energy * ~inside).sum(1) > NEGLIGIBLE * energy.sum(1)
    refused = {}
    for j in np.flatnonzero(lost):
        try:
            starts.built(cases[rows[j]])
        except SwelltreeError as error:
            refused[rows[j]] = str(error)
    stored = [j for j, row in enumerate(rows) if row not in refused]
    some = columns if not refused else {j: x[stored] for j, x in columns.items()}
    return Identical([rows[j] for j in stored], case_start, stepped, some), refused


def _drawn(still: Model, cases: list[BatchCase]) -> tuple[ManySeas, np.ndarray]:
    """Components of cases whose seas differ by their seed only, and their wavenumbers."""
    depth, g = float(still.water.depth), float(still.water.g)

    def some(first: int) -> tuple[ManySeas, np.ndarray]:
        many = components_of(still, cases[first : first + DRAWN])
        return many, np.asarray(dispersion(many.omega.reshape(-1), depth, g))

    with ThreadPoolExecutor(threads()) as pool:
        parts = list(pool.map(some, range(0, len(cases), DRAWN)))
    many = ManySeas(*map(_joined, zip(*(part for part, _ in parts), strict=True)))
    return many, _joined([k for _, k in parts]).reshape(many.omega.shape)


def _forces(
    still: Model, many: ManySeas, k: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which components the data cover, and their forces, real and imaginary (case, l, 6N)."""
    assert still.hydro is not None
    table: Any = still.hydro.table
    if table.remaining is not None:
        table = replace(table, excitation=table.remaining)
    low, high = float(table.omega[0]), float(table.omega[-1])
    inside = (many.omega >= low * (1 - 1e-9)) & (many.omega <= high * (1 + 1e-9))
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

    with warnings.catch_warnings(), ThreadPoolExecutor(threads()) as pool:
        warnings.simplefilter("ignore", SwelltreeWarning)  # reported for the first case
        list(pool.map(block, range(0, count, max(1, AT_ONCE // width))))
    return inside, real, imag


Forces = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def _from_one_side(table: Any, beta: np.ndarray) -> Forces | None:
    """Function of waves that all come from one side; None where they come from several.

    Data are interpolated between headings and frequencies by sums with weights, in any order: those
    of the heading are taken first. Of frequencies, wavenumbers, amplitudes and phases (c,) it gives
    the real and imaginary forces (c, 6N).
    """
    one = float(beta.flat[0])
    if not (beta == one).all():
        return None
    weights = heading_weights(table.direction, np.array([one]))[0]
    data = np.einsum("d,wdm->wm", weights, np.asarray(table.excitation))
    grid, parts = np.asarray(table.omega), (np.real(data).copy(), np.imag(data).copy())
    along = np.asarray(table.place) @ np.array([np.cos(one), np.sin(one)])
    apart, back = np.unique(along, return_inverse=True)  # all DOFs of a body have one place

    def forces(
        omega: np.ndarray, k: np.ndarray, amplitude: np.ndarray, phase: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        angle = phase[:, None] + k[:, None] * apart
        c, s = ((amplitude[:, None] * f(angle))[:, back] for f in (np.cos, np.sin))
        x, y = (interpolated(grid, part, omega) for part in parts)
        return x * c - y * s, x * s + y * c

    return forces


def _same(columns: dict[int, np.ndarray], case_start: CaseStart, last: CaseStart) -> bool:
    """Is the last case what its row says, and in all else the first?"""
    waves = case_start.model.sea.waves
    unused = {id(waves.width)} if isinstance(waves, Components) else set()
    pairs = zip(leaves_of(case_start), leaves_of(last), strict=True)
    for j, (first, x) in enumerate(pairs):
        if id(first) in unused:
            continue
        requested = columns[j][-1] if j in columns else np.asarray(first)
        if requested.shape != np.shape(x):
            return False
        size = 0.0
        if requested.dtype.kind == "f":
            size = np.abs(requested[np.isfinite(requested)]).max(initial=0.0)
        if not np.allclose(requested, x, rtol=0.0, atol=SAME * size, equal_nan=True):
            return False
    return True


def over_groups(groups: Sequence[Identical], tree_of: Callable[[Identical], Tree]) -> Tree:
    """A tree of arrays with a row for each case, from one tree of each group."""

    def rows(*leaves: Tree) -> np.ndarray:
        return _joined([_repeated(x, g) for x, g in zip(leaves, groups, strict=True)])

    return mapped(rows, *map(tree_of, groups))


def gathered(
    groups: Sequence[Identical], own_of_model: Sequence[bool], own_setup: bool
) -> CaseStart:
    """All cases as one, with an `Own` in place of each array that is a case's own.

    Args:
        groups: of cases.
        own_of_model: of each array of the model, whether it is.
        own_setup: whether constants of the steps are.
    """
    example = groups[0].case_start
    many = len(leaves_of(example.setup))
    first = len(leaves_of(example.first))
    own = [*own_of_model, *[own_setup] * many, *[True] * first]
    leaves = [leaves_of(group.case_start) for group in groups]
    found: list[Any] = []
    for j, is_own in enumerate(own):
        if is_own or any(j in group.columns for group in groups):
            pairs = zip(groups, leaves, strict=True)
            rows = [g.columns[j] if j in g.columns else _repeated(x[j], g) for g, x in pairs]
            found.append(PerCase(_joined(rows)))
        else:
            found.append(leaves[0][j])
    return structure_of(example).unflatten(found)


def _repeated(leaf: Tree, group: Identical) -> np.ndarray:
    x = np.asarray(leaf)
    return np.broadcast_to(x, (len(group.rows), *x.shape))


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
