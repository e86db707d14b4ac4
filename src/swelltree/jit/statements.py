"""Statements of a region: loops, branches, stores, reductions, products kept whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from swelltree.jit.graph import Buffer, Region, Statement


class MovedRow(NamedTuple):
    """A whole row of memory that goes behind a place that is computed.

    Args:
        buffer: where it goes.
        at: first place there.
        behind: expression of the number of places behind it; None: none.
        origin: where it comes from, not overlapping.
        start: first place there.
        size: numbers of the row.
    """

    buffer: Buffer
    at: int
    behind: int | None
    origin: Buffer
    start: int
    size: int


@dataclass
class Stores(Statement):
    """Numbers that go to memory, all read before the first is written.

    Args:
        single: (buffer, place, number).
        moving: (buffer, place, number of the index behind it, number).
        rows: (buffer, place, from buffer, from place, count): whole rows, not overlapping.
        moving_rows: whole rows that go behind computed places.
    """

    single: list[tuple[Buffer, int, int]] = field(default_factory=list)
    moving: list[tuple[Buffer, int, int, int]] = field(default_factory=list)
    rows: list[tuple[Buffer, int, Buffer, int, int]] = field(default_factory=list)
    moving_rows: list[MovedRow] = field(default_factory=list)

    def numbers(self) -> list[int]:
        out = [x[2] for x in self.single]
        out += [row.behind for row in self.moving_rows if row.behind is not None]
        return out + [a for x in self.moving for a in x[2:]]


@dataclass
class Leave(Statement):
    """The loop around this place ends unless a condition holds."""

    condition: int

    def numbers(self) -> list[int]:
        return [self.condition]


@dataclass
class Loop(Statement):
    """A region again and again, until one of its `Leave`."""

    body: Region

    def numbers(self) -> list[int]:
        return []


@dataclass
class Rows(Loop):
    """A region for every row of some arrays; see `machine.rows.loops`.

    Rows that may go together do not depend on each other: what the region stores is the row's own,
    or memory that is used nowhere else; only its `Adds` bring rows together.

    Args:
        body: without a `Leave`.
        index: number of the expression of the number of the row.
        count: of rows.
        width: rows that may go together in a SIMD register; 1: sequential.
        beyond: memory has room for rows behind the last, which the last register may hold too.
    """

    index: int
    count: int
    width: int
    excess: bool = False


@dataclass
class Adds(Statement):
    """Numbers that are added to places of memory: sums over the rows of a loop.

    Args:
        terms: (buffer, place, number).
    """

    terms: list[tuple[Buffer, int, int]]

    def numbers(self) -> list[int]:
        return [a for _, _, a in self.terms]


@dataclass
class Reduction(Statement):
    """Contiguous numbers reduced to one, for each of some rows of memory.

    Args:
        name: "add", "max" or "min".
        out: where the results go, one for each row.
        rows: (buffer, place) of each row.
        count: numbers of a row.
        width: numbers at once.
        empty: what leaves every number as it is.
    """

    name: str
    out: Buffer
    rows: list[tuple[Buffer, int]]
    count: int
    width: int
    empty: float

    def numbers(self) -> list[int]:
        return []


@dataclass
class Choice(Statement):
    """One of several regions, by a number from zero on."""

    which: int
    branches: list[Region]

    def numbers(self) -> list[int]:
        return [self.which]


@dataclass
class Combination(Statement):
    """A sum of rows of memory, each times a number: a matrix times a vector, kept whole.

    Args:
        out: where the sum goes, `count` numbers.
        rows: (buffer, place) of each row.
        weights: number of the expression of each.
        count: numbers of a row.
        full: (row, number) which are not known to be zero; None: all.
    """

    out: Buffer
    rows: list[tuple[Buffer, int]]
    weights: list[int]
    count: int
    full: np.ndarray | None = None

    def numbers(self) -> list[int]:
        return list(self.weights)


def arguments(op: tuple[Any, ...]) -> tuple[int, ...]:
    """Expressions that an expression is made of."""
    if op[0] in ("is", "load", "row"):
        return ()
    return (op[3],) if op[0] == "load_at" else op[1:]


def inner_regions(item: object) -> list[Region]:
    """Regions of a statement."""
    if isinstance(item, Loop):
        return [item.body]
    return item.branches if isinstance(item, Choice) else []
