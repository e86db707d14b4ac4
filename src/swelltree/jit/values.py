"""Arrays during lowering: arrays of expressions, or memory with offsets."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from swelltree.jit.arrays import Array
from swelltree.jit.graph import Buffer, Graph, Region, UnsupportedOperationError, kind_of
from swelltree.jit.statements import Row, Stores

MAX_ARRAY_SIZE = 20_000  # numbers of one array that become expressions
UNROLL_LIMIT = 24  # numbers that are stored individually where they could be in a loop
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
        return int(np.prod(self.shape, dtype=int))

    @property
    def kind(self) -> str:
        return self.buffer.kind

    def part(self, start: int, shape: tuple[int, ...]) -> Stored:
        """Contiguous elements, in another shape."""
        special = self.special
        if special is not None:
            special = special[start : start + int(np.prod(shape, dtype=int))]
        return Stored(self.buffer, self.start + start, shape, self.home, self.version, special)


@dataclass(eq=False)
class Updated:
    """An array in memory but for a window.

    Args:
        base: the array.
        index: expression (LONG) of the first place of the window.
        new: the window: expressions, or memory.
    """

    base: Stored
    index: int
    new: np.ndarray | Stored

    @property
    def shape(self) -> tuple[int, ...]:
        return self.base.shape

    @property
    def size(self) -> int:
        return self.base.size


@dataclass(eq=False)
class Product:
    """A matrix in memory times a broadcast vector, not expanded.

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
        return self.matrix.shape

    @property
    def size(self) -> int:
        return self.matrix.size


class Retained(ABC):
    """An array that is not contiguous memory but can be stored there."""

    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    @abstractmethod
    def memory(self, graph: Graph) -> Stored:
        """The array in contiguous memory, row-major."""


@dataclass(eq=False)
class View(Retained):
    """Scalars of a buffer at any offsets.

    Args:
        buffer: where they lie.
        offsets: place of each in the buffer, in the shape of the array.
        home: region in which they hold their values.
        version: of the buffer.
        base: expression (LONG) of a place that is added to all; or None.
        special: numbers that are known beforehand, NaN where they are not; or None.
        lay_out: stores many numbers contiguously in a loop; None: individually.
    """

    buffer: Buffer
    offsets: np.ndarray
    home: Region
    version: int
    base: int | None = None
    special: np.ndarray | None = None
    lay_out: Callable[[View], Stored] | None = None

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.offsets.shape

    @property
    def kind(self) -> str:
        return self.buffer.kind

    def moved(self, move: Callable[[np.ndarray], np.ndarray]) -> View | Stored:
        """Elements moved by a function of NumPy arrays."""
        special = None if self.special is None else move(self.special)
        after = move(self.offsets)
        same = self.home, self.version, self.base
        return View(self.buffer, after, *same, special, self.lay_out).simplest()

    def with_offsets(self, offsets: np.ndarray) -> View:
        return View(self.buffer, offsets, self.home, self.version, self.base)

    def simplest(self) -> View | Stored:
        """`Stored` where the elements are contiguous."""
        flat = self.offsets.reshape(-1)
        if self.base is not None or not flat.size:
            return self
        if not np.array_equal(flat, flat[0] + np.arange(flat.size)):
            return self
        special = None if self.special is None else self.special.reshape(-1)
        start = int(flat[0])
        return Stored(self.buffer, start, self.shape, self.home, self.version, special)

    def memory(self, graph: Graph) -> Stored:
        x = self.simplest()
        if isinstance(x, Stored):
            return x
        if self.lay_out is not None and self.size > UNROLL_LIMIT:
            return self.lay_out(self)
        return in_memory(graph, self.value_ids(graph), self.kind)

    def value_ids(self, graph: Graph) -> np.ndarray:
        known = [np.nan] * self.size if self.special is None else self.special.reshape(-1).tolist()
        out = []
        for at, value in zip(self.offsets.reshape(-1).tolist(), known, strict=True):
            if value == value:
                out.append(graph.constant(value, self.kind))
            elif self.base is None:
                out.append(graph.load(self.buffer, self.version, at, self.home))
            else:
                out.append(graph.load_at(self.buffer, self.version, at, self.base, self.home))
        return np.array(out, dtype=int).reshape(self.shape)


def view_of(graph: Graph, x: Value, lay_out: Callable[[View], Stored] | None = None) -> View:
    if isinstance(x, View):
        return x
    if not isinstance(x, Stored):
        x = x.memory(graph)
    offsets = x.start + np.arange(x.size).reshape(x.shape)
    special = None if x.special is None else x.special.reshape(x.shape)
    return View(x.buffer, offsets, x.home, x.version, None, special, lay_out)


Value = Any  # np.ndarray of places, Stored, Updated, Product or Kept


def stored(
    buffer: Buffer,
    start: int,
    shape: tuple[int, ...],
    home: Region,
    special: np.ndarray | None = None,
) -> Stored:
    """An array in memory with a new version."""
    return Stored(buffer, start, tuple(shape), home, next(_versions), special)


def value_ids(graph: Graph, x: Value) -> np.ndarray:
    if isinstance(x, np.ndarray):
        return x
    if x.size > MAX_ARRAY_SIZE:
        raise UnsupportedOperationError(f"an array of {x.size} numbers")
    if isinstance(x, View):
        return x.value_ids(graph)
    if isinstance(x, Retained):
        x = x.memory(graph)
    if isinstance(x, Updated):
        old, new = value_ids(graph, x.base).reshape(-1), value_ids(graph, x.new).reshape(-1)
        pairs = enumerate(old.tolist())
        out = [_new_or_old(graph, x.index, new.tolist(), old.size, j, a) for j, a in pairs]
        return np.array(out, dtype=int).reshape(x.shape)
    if isinstance(x, Product):
        matrix = value_ids(graph, x.matrix)
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


def _new_or_old(graph: Graph, index: int, new: list[int], size: int, j: int, old: int) -> int:
    chosen = old
    for k, a in enumerate(new):
        if 0 <= j - k <= size - len(new):
            hit = graph.op("eq", index, graph.constant(j - k, "i8"))
            chosen = graph.op("where", hit, a, chosen)
    return chosen


def constants(graph: Graph, value: Array) -> np.ndarray:
    value = np.asarray(value)
    kind = kind_of(value.dtype)
    if value.size > MAX_ARRAY_SIZE:
        raise UnsupportedOperationError(f"a constant of {value.size} numbers")
    flat = [graph.constant(v, kind) for v in value.reshape(-1).tolist()]
    return np.array(flat, dtype=int).reshape(value.shape)


def constant_values(graph: Graph, x: Value) -> np.ndarray | None:
    """Values of an array of constants; else None."""
    if not isinstance(x, np.ndarray):
        if not isinstance(x, Stored) or x.special is None:
            return None
        x = value_ids(graph, x)
    values = [graph.value(a) for a in x.reshape(-1).tolist()]
    if any(v is None for v in values):
        return None
    return np.array(values).reshape(x.shape)


def in_memory(graph: Graph, x: Value, kind: str) -> Stored:
    """The array in contiguous memory, stored there if it is not."""
    if isinstance(x, Stored):
        return x
    if isinstance(x, Retained):
        return x.memory(graph)
    flat = value_ids(graph, x).reshape(-1)
    buffer = graph.room(flat.size, kind)
    # what is known outside of a loop is stored outside of it
    home = max((graph.home[a] for a in flat.tolist()), key=lambda r: r.depth, default=graph.root)
    home.items.append(Stores([(buffer, j, a, None) for j, a in enumerate(flat.tolist())]))
    return stored(buffer, 0, x.shape, home)


def stores(graph: Graph, buffer: Buffer, x: Value, into: Stores, start: int = 0) -> None:
    """Add the stores of an array to a statement."""
    if isinstance(x, Retained) and x.size > UNROLL_LIMIT:
        x = x.memory(graph)
    if isinstance(x, Stored) and x.special is None:
        into.rows.append(Row(buffer, start, x.buffer, x.start, x.size))
        return
    for j, a in enumerate(value_ids(graph, x).reshape(-1).tolist()):
        into.written.append((buffer, start + j, a, None))
