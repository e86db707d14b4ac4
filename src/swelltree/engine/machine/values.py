"""Arrays while a program is written: numbers of expressions, or rows of memory."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from swelltree.engine.machine.graph import Buffer, Graph, NotFlattenedError, Region, kind_of
from swelltree.engine.machine.statements import Stores

LARGEST = 20_000  # numbers of one array that become expressions
_versions = itertools.count()


@dataclass(eq=False)
class Stored:
    """An array in memory, its last axis quickest.

    Args:
        buffer: where it lies.
        start: place of its first number in the buffer.
        shape: of the array.
        home: region in which it holds these values.
        version: numbers of one buffer that change have versions.
        special: numbers that are known beforehand, NaN where they are not; or None.
    """

    buffer: Buffer
    start: int
    shape: tuple[int, ...]
    home: Region
    version: int
    special: np.ndarray | None = None

    @property
    def size(self) -> int:
        """Count of its numbers."""
        return int(np.prod(self.shape, dtype=int))

    @property
    def kind(self) -> str:
        """Of its numbers."""
        return self.buffer.kind

    def part(self, start: int, shape: tuple[int, ...]) -> Stored:
        """Some of it that lie together, in another shape."""
        special = self.special
        if special is not None:
            special = special[start : start + int(np.prod(shape, dtype=int))]
        return Stored(self.buffer, self.start + start, shape, self.home, self.version, special)


@dataclass(eq=False)
class Shifted:
    """An array in memory that begins at a place that is computed.

    Args:
        base: the array as it would be at the place zero.
        index: number of the expression (LONG) of the place.
    """

    base: Stored
    index: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return self.base.shape

    @property
    def size(self) -> int:
        """Count of its numbers."""
        return self.base.size


@dataclass(eq=False)
class Updated:
    """An array in memory but for some numbers that lie together.

    Args:
        base: the array.
        index: number of the expression (LONG) of the first place that differs.
        new: expressions that stand there.
    """

    base: Stored
    index: int
    new: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return self.base.shape

    @property
    def size(self) -> int:
        """Count of its numbers."""
        return self.base.size


@dataclass(eq=False)
class Product:
    """A matrix in memory times a vector along one of its axes, not written out yet.

    Args:
        matrix: two axes.
        vector: expressions.
        axis: of the matrix, along which the vector goes.
    """

    matrix: Stored
    vector: np.ndarray
    axis: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return self.matrix.shape

    @property
    def size(self) -> int:
        """Count of its numbers."""
        return self.matrix.size


Value = Any  # np.ndarray of places, Stored, Shifted, Updated or Product


def stored(buffer: Buffer, start: int, shape: Any, home: Region, special: Any = None) -> Stored:
    """An array in memory as it is from now on."""
    return Stored(buffer, start, tuple(shape), home, next(_versions), special)


def places(graph: Graph, x: Value) -> np.ndarray:
    """Expressions of all numbers of an array."""
    if isinstance(x, np.ndarray):
        return x
    if x.size > LARGEST:
        raise NotFlattenedError(f"an array of {x.size} numbers")
    if isinstance(x, Shifted):
        row = x.base
        out = [
            graph.load_at(row.buffer, row.version, row.start + j, x.index, row.home)
            for j in range(x.size)
        ]
        return np.array(out, dtype=int).reshape(x.shape)
    if isinstance(x, Updated):
        old = places(graph, x.base).reshape(-1).tolist()
        out = [_new_or_old(graph, x, j, a) for j, a in enumerate(old)]
        return np.array(out, dtype=int).reshape(x.shape)
    if isinstance(x, Product):
        matrix = places(graph, x.matrix)
        vector = np.broadcast_to(np.expand_dims(x.vector, 1 - x.axis), x.shape)
        pairs = zip(matrix.reshape(-1).tolist(), vector.reshape(-1).tolist(), strict=True)
        return np.array([graph.op("mul", a, b) for a, b in pairs], dtype=int).reshape(x.shape)
    buffer, version, home = x.buffer, x.version, x.home
    if x.special is None:
        out = [graph.load(buffer, version, x.start + j, home) for j in range(x.size)]
    else:
        out = [
            graph.load(buffer, version, x.start + j, home)
            if value != value
            else graph.constant(value, buffer.kind)
            for j, value in enumerate(x.special.tolist())
        ]
    return np.array(out, dtype=int).reshape(x.shape)


def _new_or_old(graph: Graph, x: Updated, j: int, old: int) -> int:
    """Number j of an updated array."""
    chosen = old
    for k, new in enumerate(x.new.reshape(-1).tolist()):
        if 0 <= j - k <= x.base.size - x.new.size:
            hit = graph.op("eq", x.index, graph.constant(j - k, "i8"))
            chosen = graph.op("where", hit, new, chosen)
    return chosen


def constants(graph: Graph, value: Any) -> np.ndarray:
    """Places of known numbers."""
    value = np.asarray(value)
    kind = kind_of(value.dtype)
    if value.size > LARGEST:
        raise NotFlattenedError(f"a constant of {value.size} numbers")
    flat = [graph.constant(v, kind) for v in value.reshape(-1).tolist()]
    return np.array(flat, dtype=int).reshape(value.shape)


def numbers(graph: Graph, x: Value) -> np.ndarray | None:
    """Values of an array whose numbers are all known; else None."""
    if not isinstance(x, np.ndarray):
        if not isinstance(x, Stored) or x.special is None:
            return None
        x = places(graph, x)
    values = [graph.value(a) for a in x.reshape(-1).tolist()]
    if any(v is None for v in values):
        return None
    return np.array(values).reshape(x.shape)


def in_memory(graph: Graph, x: Value, kind: str) -> Stored:
    """The array in memory: where it is, or in new working memory from here on."""
    if isinstance(x, Stored):
        return x
    flat = places(graph, x).reshape(-1)
    buffer = graph.room(flat.size, kind)
    # what is known outside of a loop is stored outside of it
    home = max((graph.home[a] for a in flat.tolist()), key=lambda r: r.depth, default=graph.root)
    home.items.append(Stores([(buffer, j, a) for j, a in enumerate(flat.tolist())]))
    return stored(buffer, 0, x.shape, home)


def stores(graph: Graph, buffer: Buffer, x: Value, into: Stores, start: int = 0) -> None:
    """Let an array be stored at a place of a buffer."""
    if isinstance(x, Stored) and x.special is None:
        into.rows.append((buffer, start, x.buffer, x.start, x.size))
        return
    for j, a in enumerate(places(graph, x).reshape(-1).tolist()):
        into.single.append((buffer, start + j, a))
