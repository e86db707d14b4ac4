"""Memory layout of ensembles: scalars of a group of cases contiguous (offset, lane).

A scalar has eight bytes. With float32 a shared scalar is split into two floats, of which most read
the first; those of a group of cases fill the first half of their slots, for coalesced access.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from swelltree.jit.arrays import Array
from swelltree.jit.ensemble.programs import Cases, Kernel, PerCase
from swelltree.jit.ensemble.threads import GROUP
from swelltree.jit.entries import Place
from swelltree.jit.program import packed, with_tables
from swelltree.jit.trees import leaves_of

PIECE = 2048  # numbers of a case that are put beside those of others at a time
AT_ONCE = 1_000_000  # scalars that one CPU thread puts in order
ARRAYS = Any  # arrays of the cases, one after the other


def packed_cases(
    program: Kernel, cases: Cases, short: bool = False
) -> tuple[np.ndarray, list[Array], list[ARRAYS]]:
    """Fixed arguments, arrays that all cases share, and per-case arrays, the state last."""
    leaves = leaves_of(cases.fixed)
    arrays = [np.asarray(x) for x in leaves if not isinstance(x, PerCase)]
    tables, transposed = [program.layout.tables], program.layout.transposed
    fixed = with_tables(packed(arrays), tables, transposed)
    if short:
        marks = packed([np.full(x.shape, float(x.dtype.kind == "f")) for x in arrays])
        ones = [np.ones(x.shape) for x in tables]
        floats = with_tables(marks, ones, transposed) == 1.0
        fixed = np.where(floats, in_two_halves(np.where(floats, fixed, 0.0)), fixed)
    per_case: list[ARRAYS] = [x.arrays for x in leaves if isinstance(x, PerCase)]
    per_case += [np.asarray(x) for x in leaves_of(cases.state)]
    return fixed, leaves_of(cases.shared), per_case


def inputs_of(shared: list[Array], times: np.ndarray, short: bool = False) -> np.ndarray:
    """Shared arguments and times as one row."""
    return np.concatenate([slots(np.asarray(x), short) for x in (*shared, times)])


def adjacent(
    program: Kernel,
    per_case: list[ARRAYS],
    cases: Sequence[int],
    width: int,
    short: bool = False,
) -> np.ndarray:
    """Per-case arrays of some cases (offset, lane); lanes without a case repeat the last.

    Arrays that are None are left empty.
    """
    rows = np.empty((program.sizes[0], width))
    lanes = [cases[min(k, len(cases) - 1)] for k in range(width)]
    for (start, shape, _), x in zip(program.per_case, per_case, strict=True):
        if x is None:
            continue
        flat = [slots(np.asarray(x[case])) for case in lanes]
        size = int(np.prod(shape, dtype=int))
        for at in range(0, size, PIECE):  # piece by piece, so that all lanes stay at hand
            end = min(at + PIECE, size)
            into = rows[start + at : start + end]
            for lane, numbers in enumerate(flat):
                into[:, lane] = numbers[at:end]
            if short and np.asarray(x[0]).dtype == np.float64:
                into[...] = in_first_half(into)
    return rows


def taken_apart(out: np.ndarray, place: Place, count: int, short: bool = False) -> np.ndarray:
    """Results of some cases from memory (offset, lane), cases first."""
    start, shape, dtype = place
    rows = out[start : start + int(np.prod(shape, dtype=int))]
    if short and dtype == np.float64:
        rows = of_first_half(rows)
    part = np.ascontiguousarray(rows[:, :count].T)
    if dtype != np.float64:
        part = part.view(np.int64).astype(dtype)
    return part.reshape(count, *shape)


def slots(x: np.ndarray, short: bool = False) -> np.ndarray:
    """Scalars of an array in slots of eight bytes."""
    x = x.reshape(-1)
    if x.dtype == np.float64:
        return in_two_halves(x) if short else x
    return x.astype(np.int64).view(np.float64)


def in_two_halves(x: np.ndarray) -> np.ndarray:
    """float64 as a sum of two float32 in one slot."""
    halves = np.zeros((x.size, 2), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        halves[:, 0] = x
        rest = x - halves[:, 0]
    halves[:, 1] = np.where(np.isfinite(halves[:, 0]), rest, 0.0)
    return halves.view(np.float64)[:, 0]


def in_first_half(rows: np.ndarray) -> np.ndarray:
    """float32 of cases (..., lane), contiguous in the first half of their slots."""
    halves = np.zeros((*rows.shape[:-1], 2 * rows.shape[-1]), np.float32)
    with np.errstate(over="ignore"):
        halves[..., : rows.shape[-1]] = rows
    return halves.view(np.float64)


def of_first_half(rows: np.ndarray) -> np.ndarray:
    halves = np.ascontiguousarray(rows).view(np.float32)
    with np.errstate(invalid="ignore"):  # lanes without a case hold anything
        return halves[..., : rows.shape[-1]].astype(np.float64)


def grouped(rows: np.ndarray, groups: int) -> np.ndarray:
    """Scalars of cases (case, offset), contiguous in groups; the last group is padded."""
    places = rows.shape[1]
    out = np.empty((groups, places, GROUP), rows.dtype)

    def some(first: int) -> None:
        part = rows[GROUP * first : GROUP * (first + at_once)]
        full, rest = divmod(len(part), GROUP)
        into = out[first : first + at_once]
        into[:full] = part[: GROUP * full].reshape(full, GROUP, places).transpose(0, 2, 1)
        if rest:
            into[full] = np.repeat(part[-1:], GROUP, axis=0).T
            into[full, :, :rest] = part[GROUP * full :].T
            full += 1
        into[full:] = rows[-1][:, None]

    at_once = max(1, AT_ONCE // max(1, places * GROUP))
    firsts = range(0, groups, at_once)
    if len(firsts) <= 1:
        list(map(some, firsts))
    else:  # copies do not wait for one another
        with ThreadPoolExecutor() as pool:
            list(pool.map(some, firsts))
    return out.reshape(-1)
