"""Matrices in working memory that change in place, and loops around what changes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from swelltree.jit.graph import FLOAT, LONG, Buffer, Graph
from swelltree.jit.native import lane_width
from swelltree.jit.statements import Leave, Loop, Number, Row, Rows, Stores
from swelltree.jit.values import Value, View, in_memory, stored


class PaddedMatrix:
    """A matrix whose rows are padded to whole registers."""

    def __init__(self, graph: Graph, rows: int, columns: int, buffer: Buffer | None = None) -> None:
        width = lane_width()
        self.graph, self.shape = graph, (rows, columns)
        self.stride = -(-columns // width) * width
        self.buffer = graph.room(rows * self.stride, FLOAT) if buffer is None else buffer

    def fill(self, x: Value) -> None:
        rows, columns = self.shape
        x = in_memory(self.graph, x, FLOAT)
        source = [(x.buffer, x.start + i * columns, columns) for i in range(rows)]
        self.graph.state(
            Stores(rows=[Row(self.buffer, i * self.stride, *row) for i, row in enumerate(source)])
        )

    def at(self, i: int, j: int) -> int:
        graph = self.graph
        return graph.load_at(
            self.buffer, _now(graph, self.buffer), 0, self._index(i, j), graph.here
        )

    def into(self, i: int, j: int, value: int) -> Number:
        return self.buffer, 0, value, self._index(i, j)

    def _index(self, i: int, j: int) -> int:
        op = self.graph.op
        return op("add", op("mul", i, self.graph.constant(self.stride, LONG)), j)

    def view(self) -> View:
        return View(self.buffer, self.offsets, self.graph.here, _now(self.graph, self.buffer))

    @property
    def offsets(self) -> np.ndarray:
        rows, columns = self.shape
        return self.stride * np.arange(rows)[:, None] + np.arange(columns)


def padded_matrix(graph: Graph, x: Value) -> PaddedMatrix:
    """A padded matrix that is only read: where it is, or a copy."""
    rows, columns = x.shape
    if isinstance(x, View) and x.base is None and x.special is None:
        there = PaddedMatrix(graph, rows, columns, x.buffer)
        if x.buffer.size == rows * there.stride and np.array_equal(x.offsets, there.offsets):
            return there
    copy = PaddedMatrix(graph, rows, columns)
    copy.fill(x)
    return copy


def slot(graph: Graph, kind: str, value: int) -> Buffer:
    """Memory of one scalar with a first value."""
    buffer = graph.room(1, kind)
    graph.state(Stores([(buffer, 0, value, None)]))
    return buffer


def in_slot(graph: Graph, buffer: Buffer) -> int:
    return graph.load(buffer, _now(graph, buffer), 0, graph.here)


def looked_up(graph: Graph, buffer: Buffer, index: int) -> int:
    return graph.load_at(buffer, _now(graph, buffer), 0, index, graph.here)


def _now(graph: Graph, buffer: Buffer) -> int:
    return stored(buffer, 0, (buffer.size,), graph.here).version


@contextmanager
def scalar_loop(graph: Graph, count: int) -> Iterator[int]:
    """A sequential loop; yields its induction variable."""
    with graph.inside() as region:
        index = graph.row_number(region)
        yield index
    graph.state(Rows(region, index, count, 1))


@contextmanager
def vector_loop(graph: Graph, count: int) -> Iterator[int]:
    """A vectorised loop over the columns of padded matrices; yields its induction variable."""
    with graph.inside() as region:
        index = graph.row_number(region)
        yield index
    graph.state(Rows(region, index, count, lane_width(), excess=True))


@contextmanager
def counted_from(graph: Graph, first: int, end: int) -> Iterator[int]:
    """A sequential loop from a computed number to a known one."""
    counter = slot(graph, LONG, first)
    with graph.inside() as region:
        i = in_slot(graph, counter)
        graph.state(Leave(graph.op("lt", i, graph.constant(end, LONG))))
        yield i
        following = graph.op("add", i, graph.constant(1, LONG))
        graph.state(Stores([(counter, 0, following, None)]))
    graph.state(Loop(region))
