"""Products of matrices in memory with vectors, kept whole where matrices are large and full."""

from __future__ import annotations

import numpy as np

from swelltree.engine.machine.graph import Buffer, Graph
from swelltree.engine.machine.statements import Combination
from swelltree.engine.machine.values import Product, Stored, Value, places, stored

LARGE = 96  # numbers of a matrix whose product with a vector is kept whole
FULL = 0.5  # share of numbers that are not known to be zero


def is_block(x: Value) -> bool:
    """Is it a matrix worth keeping whole?"""
    if not isinstance(x, Stored) or len(x.shape) != 2 or x.kind != "f8" or x.size < LARGE:
        return False
    return x.special is None or float(np.mean(x.special != 0.0)) > FULL


def lazy_product(x: Value, y: Value) -> Product | None:
    """The product of a matrix and a vector that was broadcast; None where it is no such thing."""
    for matrix, other in ((x, y), (y, x)):
        if not is_block(matrix) or not isinstance(other, np.ndarray):
            continue
        if other.shape != matrix.shape or 1 in matrix.shape:
            continue
        for axis in (0, 1):
            # a broadcast axis has no stride
            if other.strides[1 - axis] == 0 and other.strides[axis] != 0 and _lies(matrix, axis):
                vector = np.take(other, 0, axis=1 - axis)
                return Product(matrix, vector, axis)
    return None


def _lies(matrix: Stored, axis: int) -> bool:
    """Do the rows that are summed lie in memory, or can they be put there beforehand?"""
    return axis == 0 or matrix.buffer.where == "fixed"


def times_columns(graph: Graph, x: Value, y: Value, cx: int, cy: int) -> np.ndarray | None:
    """Product of a matrix that is a block and another matrix or vector; None: there is no block.

    Args:
        graph: of the program.
        x: first factor.
        y: second.
        cx: axis of the first that is summed over.
        cy: axis of the second.
    """
    for matrix, other, c, d, first in ((x, y, cx, cy, True), (y, x, cy, cx, False)):
        if not is_block(matrix) or not _lies(matrix, c) or len(other.shape) > 2:
            continue
        columns = np.moveaxis(places(graph, other), d, -1)
        many = columns.reshape(-1, columns.shape[-1])
        if not len(many):
            continue
        sums = [places(graph, combined(graph, Product(matrix, v, c))) for v in many]
        if columns.ndim == 1:
            return sums[0]
        return np.stack(sums, axis=1 if first else 0)
    return None


def combined(graph: Graph, x: Product) -> Stored:
    """The product summed along the axis of its vector."""
    matrix = x.matrix
    rows, columns = matrix.shape
    if x.axis == 0:
        buffer, start, count, many = matrix.buffer, matrix.start, columns, rows
    else:
        buffer, start = _turned(graph, matrix), 0
        count, many = rows, columns
    weights = x.vector.tolist()
    kept = [k for k in range(many) if graph.value(weights[k]) != 0.0]
    out = graph.room(count, "f8")
    regions = [matrix.home, *(graph.home[weights[k]] for k in kept)]
    home = max(regions, key=lambda region: region.depth)
    rows_kept = [(buffer, start + k * count) for k in kept]
    if not kept:
        kept, rows_kept = [0], [(buffer, start)]
    home.items.append(Combination(out, rows_kept, [weights[k] for k in kept], count))
    return stored(out, 0, (count,), home)


def _turned(graph: Graph, matrix: Stored) -> Buffer:
    """The matrix with its columns side by side."""
    return graph.turned(matrix.buffer, matrix.start, matrix.shape)
