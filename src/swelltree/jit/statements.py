"""Statements of a region: loops, branches, stores, reductions, products kept whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from swelltree.jit.graph import Buffer, Region, Statement, Written

# buffer, place, expression that is stored, expression of the index behind the place or None
Number = tuple[Buffer, int, int, int | None]


class Row(NamedTuple):
    """A contiguous copy of memory that does not overlap with its source."""

    buffer: Buffer
    at: int
    origin: Buffer
    start: int
    size: int
    offset: int | None = None  # expression of the distance behind the place


@dataclass
class Stores(Statement):
    """Numbers and rows stored to memory, all read before the first is written."""

    written: list[Number] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def numbers(self) -> list[int]:
        out = [b for _, _, a, index in self.written for b in (index, a) if b is not None]
        return out + [row.offset for row in self.rows if row.offset is not None]

    def reads(self) -> list[Buffer]:
        return [row.origin for row in self.rows]

    def writes(self) -> Iterator[Written]:
        for buffer, _, a, index in self.written:
            yield buffer, (a,) if index is None else (index, a), ()
        for row in self.rows:
            yield row.buffer, () if row.offset is None else (row.offset,), (row.origin,)


@dataclass
class Leave(Statement):
    """The enclosing loop ends unless a condition holds."""

    condition: int

    def numbers(self) -> list[int]:
        return [self.condition]


@dataclass
class Loop(Statement):
    """A region repeated until one of its `Leave`."""

    body: Region

    def regions(self) -> list[Region]:
        return [self.body]


@dataclass
class Rows(Loop):
    """A region for every row of some arrays; see `rows.loops`.

    Iterations are independent: what the region stores belongs to the row, or is memory that is used
    nowhere else; only `Adds` combine rows.

    Args:
        body: without a `Leave`.
        index: expression of the number of the row.
        count: of rows.
        width: rows that may share a SIMD register; 1: sequential.
        excess: memory has room for rows behind the last, which the last register may hold too.
    """

    index: int
    count: int
    width: int
    excess: bool = False


@dataclass
class Adds(Statement):
    """Values added to places of memory, (buffer, place, expression): sums over rows of a loop."""

    terms: list[tuple[Buffer, int, int]]

    def numbers(self) -> list[int]:
        return [a for _, _, a in self.terms]

    def writes(self) -> Iterator[Written]:
        return ((buffer, (a,), ()) for buffer, _, a in self.terms)


@dataclass
class Choice(Statement):
    """One of several regions, by an index from zero on."""

    which: int
    branches: list[Region]

    def numbers(self) -> list[int]:
        return [self.which]

    def regions(self) -> list[Region]:
        return self.branches


@dataclass
class OfRows(Statement):
    """What is computed from rows of memory.

    Args:
        out: where the result goes.
        rows: (buffer, place) of each row.
        count: scalars of a row.
    """

    out: Buffer
    rows: list[tuple[Buffer, int]]
    count: int

    def reads(self) -> list[Buffer]:
        return [buffer for buffer, _ in self.rows]

    def writes(self) -> Iterator[Written]:
        yield self.out, tuple(self.numbers()), tuple(self.reads())


@dataclass
class Reduction(OfRows):
    """Every row reduced to one scalar.

    Args:
        name: "add", "max" or "min".
        width: scalars of a SIMD register.
        empty: the neutral element.
    """

    name: str
    width: int
    empty: float


@dataclass
class Combination(OfRows):
    """A weighted sum of rows: a matrix times a vector that is not unrolled.

    Args:
        weights: expression of the weight of each row.
        full: (row, scalar) which are not known to be zero; None: all.
    """

    weights: list[int]
    full: np.ndarray | None = None

    def numbers(self) -> list[int]:
        return list(self.weights)


def arguments(op: tuple[Any, ...]) -> tuple[int, ...]:
    if op[0] in ("is", "load", "row"):
        return ()
    return (op[3],) if op[0] == "load_at" else op[1:]


def statements(region: Region) -> Iterator[Statement]:
    """Statements of a region, without those of regions within it."""
    return (item for item in region.items if not isinstance(item, int))


def nested(region: Region) -> Iterator[Region]:
    yield region
    for item in statements(region):
        for inner in item.regions():
            yield from nested(inner)
