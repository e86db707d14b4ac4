"""Rules of Cholesky factors, triangular systems and QR: unrolled if small, else by rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from swelltree.jit.blocks import NARROW, combination
from swelltree.jit.graph import FLOAT, LONG, Graph, UnsupportedOperationError
from swelltree.jit.lowering import Lowering, rule
from swelltree.jit.rules.padded import (
    PaddedMatrix,
    in_slot,
    padded_matrix,
    scalar_loop,
    slot,
    vector_loop,
)
from swelltree.jit.statements import Adds, Stores
from swelltree.jit.traced_types import Equation
from swelltree.jit.values import Stored, Value, in_memory, value_ids

LARGEST_MATRIX = 24  # rows written out
BY_ROWS = 12  # rows from which on whole rows are combined
LARGEST_BY_ROWS = 128


Rows = list[list[int]]  # of a matrix


def _each_matrix(x: np.ndarray) -> list[list[list[int]]]:
    return x.reshape(-1, *x.shape[-2:]).tolist()


def _less(graph: Graph, a: int, pairs: Iterable[tuple[int, int]]) -> int:
    for p, q in pairs:
        a = graph.op("sub", a, graph.op("mul", p, q))
    return a


@rule("cholesky")
def _cholesky(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    """Lower factor; NaN where the matrix is not positive definite."""
    graph, x = flat.graph, value_ids(flat.graph, x)
    n = x.shape[-1]
    if n > LARGEST_BY_ROWS:
        raise UnsupportedOperationError(f"the factors of a matrix of {n} rows")
    factor = _lower_factor if n < BY_ROWS else _factor_by_rows
    out = [factor(graph, A, n) for A in _each_matrix(x)]
    return np.array(out, dtype=int).reshape(x.shape)


def _lower_factor(graph: Graph, A: list[list[int]], n: int) -> list[list[int]]:
    L = [[graph.zero] * n for _ in range(n)]
    for j in range(n):
        for i in range(j, n):
            L[i][j] = _less(graph, A[i][j], ((L[i][k], L[j][k]) for k in range(j)))
        L[j][j] = graph.op("sqrt", L[j][j])
        for i in range(j + 1, n):
            L[i][j] = graph.op("div", L[i][j], L[j][j])
    return L


def _factor_by_rows(graph: Graph, A: list[list[int]], n: int) -> list[list[int]]:
    op = graph.op
    L = [[graph.zero] * n for _ in range(n)]
    above: list[Stored] = []  # rows of the transposed factor, each from its diagonal on
    for j in range(n):
        column = [A[i][j] for i in range(j, n)]
        if j:
            rows = [row.part(j - k, (n - j,)) for k, row in enumerate(above)]
            taken = combination(graph, rows, L[j][:j])
            column = [op("sub", a, b) for a, b in zip(column, taken, strict=True)]
        root = op("sqrt", column[0])
        column = [root, *(op("div", a, root) for a in column[1:])]
        for i, a in enumerate(column, j):
            L[i][j] = a
        above.append(in_memory(graph, np.array(column), "f8"))
    return L


@rule("triangular_solve")
def _triangular(flat: Lowering, eqn: Equation, a: Value, b: Value) -> np.ndarray:
    graph, p = flat.graph, eqn.params
    n = a.shape[-1]
    if n > LARGEST_BY_ROWS:
        raise UnsupportedOperationError(f"a triangular system of {n} rows")
    plain = p["left_side"] and not p["transpose_a"] and len(a.shape) == 2
    if plain and n > LARGEST_MATRIX and b.shape[-1] < NARROW:
        return _solved_in_loops(graph, a, b, bool(p["lower"]), bool(p["unit_diagonal"]))
    a, b = value_ids(graph, a), value_ids(graph, b)
    if p["transpose_a"]:
        a = np.swapaxes(a, -1, -2)
    lower = bool(p["lower"]) != bool(p["transpose_a"])
    if not p["left_side"]:  # x a = b: a^T x^T = b^T
        a, b, lower = np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2), not lower
    order = list(range(n)) if lower else list(range(n))[::-1]
    out = []
    unit = bool(p["unit_diagonal"])
    for A, B in zip(_each_matrix(a), _each_matrix(b), strict=True):
        if n >= BY_ROWS and b.shape[-1] >= NARROW:
            out.append(_solved_by_rows(graph, A, B, order, unit))
            continue
        X = [list(row) for row in B]
        for k, i in enumerate(order):
            for col in range(b.shape[-1]):
                value = _less(graph, B[i][col], ((A[i][j], X[j][col]) for j in order[:k]))
                X[i][col] = value if unit else graph.op("div", value, A[i][i])
        out.append(X)
    x = np.array(out, dtype=int).reshape(b.shape)
    return x if p["left_side"] else np.swapaxes(x, -1, -2)


def _solved_by_rows(
    graph: Graph, A: list[list[int]], B: list[list[int]], order: list[int], unit: bool
) -> list[list[int]]:
    op, X = graph.op, [list(row) for row in B]
    rows: list[Stored] = []
    for k, i in enumerate(order):
        if k:
            taken = combination(graph, rows, [A[i][j] for j in order[:k]])
            X[i] = [op("sub", a, b) for a, b in zip(B[i], taken, strict=True)]
        if not unit:
            X[i] = [op("div", a, A[i][i]) for a in X[i]]
        rows.append(in_memory(graph, np.array(X[i]), "f8"))
    return X


def _solved_in_loops(graph: Graph, A: Value, B: Value, lower: bool, unit: bool) -> np.ndarray:
    n, op = A.shape[0], graph.op
    padded, right = padded_matrix(graph, A), in_memory(graph, B, FLOAT)
    columns, last = B.shape[1], graph.constant(n - 1, LONG)
    found = PaddedMatrix(graph, columns, n)
    found.fill(np.full((columns, n), graph.zero))
    with scalar_loop(graph, n) as k:
        i = k if lower else op("sub", last, k)
        first = op("mul", i, graph.constant(columns, LONG))
        sums = [slot(graph, FLOAT, graph.zero) for _ in range(columns)]
        lines = [graph.constant(c, LONG) for c in range(columns)]
        with vector_loop(graph, n) as j:
            known, own = op("lt" if lower else "gt", j, i), padded.at(i, j)
            terms = [op("mul", own, found.at(c, j)) for c in lines]
            terms = [op("where", known, a, graph.zero) for a in terms]
            graph.state(Adds([(s, 0, a) for s, a in zip(sums, terms, strict=True)]))
        new = []
        for c, total in enumerate(sums):
            b = graph.load_at(right.buffer, right.version, right.start + c, first, right.home)
            value = op("sub", b, in_slot(graph, total))
            value = value if unit else op("div", value, padded.at(i, i))
            new.append(found.into(lines[c], i, value))
        graph.state(Stores(new))
    return value_ids(graph, found.view()).T


@rule("qr")
def _orthogonal(flat: Lowering, eqn: Equation, x: Value) -> list[np.ndarray]:
    graph, p = flat.graph, eqn.params
    x = value_ids(graph, x)
    m, n = x.shape[-2:]
    if p.get("pivoting") or max(m, n) > LARGEST_MATRIX:
        raise UnsupportedOperationError(f"Q and R of a matrix of {m} x {n}")
    wide = m if p["full_matrices"] else min(m, n)
    Qs, Rs = [], []
    for A in _each_matrix(x):
        Q, R = _reflected(graph, A, m, n)
        Qs.append([row[:wide] for row in Q])
        Rs.append(R[:wide])
    return [
        np.array(Qs, dtype=int).reshape(*x.shape[:-2], m, wide),
        np.array(Rs, dtype=int).reshape(*x.shape[:-2], wide, n),
    ]


def _total(graph: Graph, terms: Iterable[int]) -> int:
    total = graph.zero
    for a in terms:
        total = graph.op("add", total, a)
    return total


def _reflected(graph: Graph, A: Rows, m: int, n: int) -> tuple[Rows, Rows]:
    op, one, zero = graph.op, graph.one, graph.zero
    R = [list(row) for row in A]
    Q = [[one if i == j else zero for j in range(m)] for i in range(m)]
    for k in range(min(m - 1, n)):
        rest = _total(graph, (op("mul", R[i][k], R[i][k]) for i in range(k + 1, m)))
        sizes = _total(graph, (op("abs", R[i][k]) for i in range(k + 1, m)))
        none = op("eq", sizes, zero)  # nothing to reflect; squares may be too small to be seen
        alpha = R[k][k]
        size = op("sqrt", op("add", op("mul", alpha, alpha), rest))
        beta = op("where", op("ge", alpha, zero), op("neg", size), size)
        beta = op("where", none, alpha, beta)
        scale = op("where", none, one, op("sub", alpha, beta))
        tau = op("where", none, zero, op("div", op("sub", beta, alpha), beta))
        v = {i: op("div", R[i][k], scale) for i in range(k + 1, m)}
        for j in range(k + 1, n):
            w = op(
                "mul", tau, op("add", R[k][j], _total(graph, (op("mul", v[i], R[i][j]) for i in v)))
            )
            R[k][j] = op("sub", R[k][j], w)
            for i in v:
                R[i][j] = op("sub", R[i][j], op("mul", v[i], w))
        R[k][k] = beta
        for i in v:
            R[i][k] = zero
        for row in Q:
            w = op(
                "mul", tau, op("add", row[k], _total(graph, (op("mul", v[i], row[i]) for i in v)))
            )
            row[k] = op("sub", row[k], w)
            for i in v:
                row[i] = op("sub", row[i], op("mul", v[i], w))
    return Q, R
