"""Cases whose seas differ by their seed only, prepared together: arrays with a row for each.

All but the waves is the same in such cases; components are drawn for all seeds at once, and the
forces of the data are looked up for many of them at a time. The last case is also prepared as a
single run: if any of its arrays differs, the cases are prepared individually.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from swelltree.describe.environment.seas import IrregularSea
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.data import NEGLIGIBLE
from swelltree.hydro.linear.hydro import excitation_of, hydro_table
from swelltree.hydro.linear.wave_sums import WaveSums
from swelltree.jit import PerCase, Tree, leaves_of, mapped, structure_of
from swelltree.studies.batch.cases import BatchCase
from swelltree.studies.batch.complementarity.starts import CaseStart, Starts, Stepped
from swelltree.studies.batch.many_seas import (
    drawn,
    forces_of,
    identical,
    rows_of_all,
    undisturbed_by_hulls,
)
from swelltree.waves.airy import Components

SEQUENTIAL_LIMIT = 4  # cases that are prepared individually
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
    """All cases that can be run, and the messages of the others.

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
    many, k = drawn(still, [cases[k] for k in rows])
    found = {
        id(waves.omega): many.omega,
        id(waves.amplitude): many.amplitude,
        id(waves.beta): many.beta,
        id(waves.phase): many.phase,
        id(waves.wavenumber): k,
    }
    inside = np.ones(many.omega.shape, bool)
    if sums is not None:
        table = hydro_table(still)
        assert table is not None
        inside, real, imag = forces_of(undisturbed_by_hulls(table), many, k)
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
        return rows_of_all([_repeated(x, g) for x, g in zip(leaves, groups, strict=True)])

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
            found.append(PerCase(rows_of_all(rows)))
        else:
            found.append(leaves[0][j])
    return structure_of(example).unflatten(found)


def _repeated(leaf: Tree, group: Identical) -> np.ndarray:
    x = np.asarray(leaf)
    return np.broadcast_to(x, (len(group.rows), *x.shape))
