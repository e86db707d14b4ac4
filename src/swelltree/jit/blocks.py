"""Matrix-vector products kept whole: large dense matrices in memory are not unrolled."""

from __future__ import annotations

import numpy as np

from swelltree.jit.graph import Buffer, Graph, Region
from swelltree.jit.statements import Combination
from swelltree.jit.values import Product, Stored, Value, in_memory, stored, value_ids

LARGE = 96  # numbers of a matrix whose product with a vector is kept whole
FULL = 0.25  # share of numbers that are not known to be zero
MANY = 1500  # multiplications of a product of matrices that is kept whole
NARROW = 6  # numbers of its rows, at least


def is_block(x: Value) -> bool:
    """Is it a large matrix in memory, too full to be unrolled?"""
    if not isinstance(x, Stored) or len(x.shape) != 2 or x.kind != "f8" or x.size < LARGE:
        return False
    return x.special is None or float(np.mean(x.special != 0.0)) > FULL


def lazy_product(graph: Graph, x: Value, y: Value) -> Product | None:
    """A matrix times a broadcast vector; None if the operands are not of this form."""
    for matrix, other in ((x, y), (y, x)):
        if not is_block(matrix) or 1 in matrix.shape:
            continue
        axis = _along(other, matrix.shape)
        if axis is not None and _lies(matrix, axis):
            vector = np.take(value_ids(graph, other), 0, axis=1 - axis)
            return Product(matrix, vector, axis)
    return None


def _along(x: Value, shape: tuple[int, ...]) -> int | None:
    """The axis along which an array varies, if it is broadcast along the other; else None."""
    if len(x.shape) != 2:
        return None
    for axis in (0, 1):
        if x.shape[axis] != shape[axis]:
            continue
        if x.shape[1 - axis] == 1:
            return axis
        # a broadcast axis has no stride
        same = isinstance(x, np.ndarray) and x.shape == shape
        if same and x.strides[1 - axis] == 0 and x.strides[axis] != 0:
            return axis
    return None


def _lies(matrix: Stored, axis: int) -> bool:
    """Are the rows that are summed contiguous, or can they be transposed beforehand?"""
    return axis == 0 or matrix.buffer.where == "fixed"


def times_columns(graph: Graph, x: Value, y: Value, cx: int, cy: int) -> np.ndarray | None:
    """Product of a matrix that is a block and a matrix or vector, summed over axes cx and cy."""
    for matrix, other, c, d, first in ((x, y, cx, cy, True), (y, x, cy, cx, False)):
        if not is_block(matrix) or not _lies(matrix, c) or len(other.shape) > 2:
            continue
        columns = np.moveaxis(value_ids(graph, other), d, -1)
        many = columns.reshape(-1, columns.shape[-1])
        if not len(many):
            continue
        sums = [value_ids(graph, combined(graph, Product(matrix, v, c))) for v in many]
        if columns.ndim == 1:
            return sums[0]
        return np.stack(sums, axis=1 if first else 0)
    return None


def dense_product(graph: Graph, A: np.ndarray, B: np.ndarray) -> np.ndarray | None:
    """Product of matrices of expressions (m, k) and (k, n), row by row; None if small or sparse."""
    (m, k), n = A.shape, B.shape[1]
    full_A, full_B = (float(np.mean(x != graph.zero)) for x in (A, B))
    if m * k * n * full_A * full_B < MANY or min(full_A, full_B) < FULL or max(m, n) < NARROW:
        return None
    if m > n:
        turned = dense_product(graph, B.T, A.T)
        return None if turned is None else turned.T
    rows = in_memory(graph, B, "f8")
    return np.stack([value_ids(graph, combined(graph, Product(rows, a, 0))) for a in A])


def combined(graph: Graph, x: Product) -> Stored:
    """The product, summed along the axis of its vector."""
    matrix = x.matrix
    rows, columns = matrix.shape
    if x.axis == 0:
        buffer, start, count, many = matrix.buffer, matrix.start, columns, rows
    else:
        buffer, start = _turned(graph, matrix), 0
        count, many = rows, columns
    places_of_rows = [(buffer, start + k * count, matrix.home) for k in range(many)]
    full = None
    if matrix.special is not None:
        full = (matrix.special != 0.0).reshape(matrix.shape)
        full = full if x.axis == 0 else full.T
    return _summed(graph, places_of_rows, x.vector.tolist(), count, full)


def combination(graph: Graph, rows: list[Stored], weights: list[int]) -> list[int]:
    """Elements of the weighted sum of rows in memory."""
    where = [(row.buffer, row.start, row.home) for row in rows]
    return value_ids(graph, _summed(graph, where, weights, rows[0].size)).tolist()


def _summed(
    graph: Graph,
    rows: list[tuple[Buffer, int, Region]],
    weights: list[int],
    count: int,
    full: np.ndarray | None = None,
) -> Stored:
    retained = [k for k, a in enumerate(weights) if graph.value(a) != 0.0] or [0]
    homes = [home for k in retained for home in (rows[k][2], graph.home[weights[k]])]
    home = max(homes, key=lambda region: region.depth)
    out = graph.room(count, "f8")
    where = [rows[k][:2] for k in retained]
    full = None if full is None else full[retained]
    home.items.append(Combination(out, where, count, [weights[k] for k in retained], full))
    return stored(out, 0, (count,), home)


def _turned(graph: Graph, matrix: Stored) -> Buffer:
    return graph.transpose_of(matrix.buffer, matrix.start, matrix.shape)
