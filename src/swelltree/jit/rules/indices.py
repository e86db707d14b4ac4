"""Rules of gather, scatter and dynamic slices, with static or computed indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from swelltree.jit.graph import (
    FLOAT,
    LONG,
    TRUTH,
    UNSIGNED,
    Graph,
    UnsupportedOperationError,
    kind_of,
)
from swelltree.jit.lowering import Lowering, rule
from swelltree.jit.rules.elementwise import each
from swelltree.jit.rules.sums import extreme
from swelltree.jit.traced_types import Equation
from swelltree.jit.values import (
    Stored,
    Updated,
    Value,
    constant_values,
    constants,
    in_memory,
    value_ids,
)

COMPARE_LIMIT = 4  # numbers among which one is chosen by comparing


def _clipped(graph: Graph, index: int, high: int) -> int:
    index = graph.typed("convert", LONG, index)
    low = graph.op("max", index, graph.constant(0, LONG))
    return graph.op("min", low, graph.constant(high, LONG))


def strides_of(shape: tuple[int, ...]) -> np.ndarray:
    return np.array([int(np.prod(shape[d + 1 :], dtype=int)) for d in range(len(shape))], dtype=int)


def _sum(graph: Graph, terms: list[int]) -> int:
    total = graph.constant(0, LONG)
    for a in terms:
        total = graph.op("add", total, a)
    return total


def _start(graph: Graph, indices: list[int], room: list[int], strides: list[int]) -> int:
    return _sum(
        graph,
        [
            graph.op("mul", _clipped(graph, a, high), graph.constant(int(s), LONG))
            for a, high, s in zip(indices, room, strides, strict=True)
        ],
    )


def clipped_start(
    graph: Graph, shape: tuple[int, ...], sizes: Sequence[int], indices: Sequence[Value]
) -> int:
    """Flat index of the corner of a window, clamped so that the window is inside."""
    room = [n - m for n, m in zip(shape, sizes, strict=True)]
    corner = [int(value_ids(graph, i)) for i in indices]
    return _start(graph, corner, room, strides_of(tuple(shape)).tolist())


def looked_up(graph: Graph, x: Value, kind: str, start: np.ndarray, offsets: np.ndarray) -> Value:
    """Elements at flat indices start + offsets; start are expressions."""
    known = constant_values(graph, start)
    if known is not None:
        at = (known + offsets).astype(int)
        if isinstance(x, Stored):
            special = x.special
            out = [_of_stored(graph, x, special, j) for j in at.reshape(-1).tolist()]
            return np.array(out, dtype=int).reshape(at.shape)
        return value_ids(graph, x).reshape(-1)[at]
    if not isinstance(x, Stored) and x.size <= COMPARE_LIMIT:
        return _among_few(graph, value_ids(graph, x).reshape(-1).tolist(), start, offsets)
    x = in_memory(graph, x, kind)
    pairs = zip(start.reshape(-1).tolist(), offsets.reshape(-1).tolist(), strict=True)
    out = [graph.load_at(x.buffer, x.version, x.start + k, a, x.home) for a, k in pairs]
    return np.array(out, dtype=int).reshape(offsets.shape)


def _of_stored(graph: Graph, x: Stored, special: np.ndarray | None, j: int) -> int:
    if special is not None and special[j] == special[j]:
        return graph.constant(special[j], x.kind)
    return graph.load(x.buffer, x.version, x.start + j, x.home)


def _among_few(graph: Graph, row: list[int], start: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    out = []
    for a, k in zip(start.reshape(-1).tolist(), offsets.reshape(-1).tolist(), strict=True):
        chosen = row[-1]
        for j in reversed(range(k, len(row) - 1)):
            hit = graph.op("eq", a, graph.constant(j - k, LONG))
            chosen = graph.op("where", hit, row[j], chosen)
        out.append(chosen)
    return np.array(out, dtype=int).reshape(offsets.shape)


def window_of(shape: tuple[int, ...], sizes: Sequence[int]) -> np.ndarray:
    """Flat offsets of a window within an array."""
    offsets = (_grid(tuple(sizes)) * strides_of(shape)[:, None]).sum(0)
    return offsets.reshape(tuple(sizes)).astype(int)


def _grid(shape: tuple[int, ...]) -> np.ndarray:
    """Indices of all elements of an array, (axis, element)."""
    return np.indices(shape).reshape(len(shape), int(np.prod(shape, dtype=int)))


@rule("dynamic_slice")
def _cut(flat: Lowering, eqn: Equation, x: Value, *indices: Value) -> Value:
    graph, sizes = flat.graph, eqn.params["slice_sizes"]
    start = clipped_start(graph, x.shape, sizes, indices)
    offsets = window_of(x.shape, sizes)
    kind = kind_of(eqn.invars[0].aval.dtype)
    return looked_up(graph, x, kind, np.full(offsets.shape, start), offsets)


@rule("dynamic_update_slice")
def _replaced(flat: Lowering, eqn: Equation, x: Value, new: Value, *indices: Value) -> Value:
    graph, new = flat.graph, value_ids(flat.graph, new)
    start = clipped_start(graph, x.shape, new.shape, indices)
    kind = kind_of(eqn.invars[0].aval.dtype)
    return _put(graph, x, kind, start, window_of(x.shape, new.shape), new)


def _put(graph: Graph, x: Value, kind: str, start: int, offsets: np.ndarray, new: Value) -> Value:
    if not new.size:
        return x
    known = graph.value(start)
    order = np.argsort(offsets.reshape(-1), kind="stable")
    at, numbers_ = offsets.reshape(-1)[order], new.reshape(-1)[order]
    if known is not None:
        out = value_ids(graph, x).reshape(-1).copy()
        out[at + known] = numbers_
        return out.reshape(x.shape)
    side_by_side = np.array_equal(at, at[0] + np.arange(len(at))) and at[0] == 0
    if side_by_side and isinstance(x, Stored):
        return Updated(x, start, numbers_)
    if side_by_side:
        return value_ids(graph, Updated(in_memory(graph, x, kind), start, numbers_))
    out = value_ids(graph, x).reshape(-1).tolist()
    for k, a in zip(at.tolist(), numbers_.tolist(), strict=True):
        for j in range(k, len(out)):
            hit = graph.op("eq", start, graph.constant(j - k, LONG))
            out[j] = graph.op("where", hit, a, out[j])
    return np.array(out, dtype=int).reshape(x.shape)


@rule("gather")
def _gathered(flat: Lowering, eqn: Equation, x: Value, indices: Value) -> Value:
    """The general form: a window of the operand at every index vector."""
    graph, d = flat.graph, eqn.params["dimension_numbers"]
    sizes = tuple(eqn.params["slice_sizes"])
    shape = tuple(x.shape)
    index = value_ids(graph, indices)
    batch = index.shape[:-1]
    if int(np.prod(eqn.outvars[0].aval.shape, dtype=int)) == 0:
        return np.zeros(eqn.outvars[0].aval.shape, dtype=int)
    strides = strides_of(shape)
    starts, outside = [], []
    mode = str(eqn.params["mode"])
    room = [shape[dim] - sizes[dim] for dim in d.start_index_map]
    own = [int(strides[dim]) for dim in d.start_index_map]
    vectors = index.reshape(int(np.prod(batch, dtype=int)), index.shape[-1]).tolist()
    of_batch = _grid(batch)
    batched = np.zeros(len(vectors), dtype=int)
    for dim, axis in zip(d.operand_batching_dims, d.start_indices_batching_dims, strict=True):
        batched = batched + of_batch[axis] * strides[dim]
    for vector in vectors:
        starts.append(_start(graph, vector, room, own))
        if "FILL" in mode:
            outside.append(_outside(graph, vector, room))
    # window axes that stay, in the order of the operand
    gone = {*d.collapsed_slice_dims, *d.operand_batching_dims}
    window = window_of(shape, sizes).reshape([n for k, n in enumerate(sizes) if k not in gone])
    offsets = batched.reshape(-1, *(1,) * window.ndim) + window[None]
    start = np.broadcast_to(np.array(starts).reshape(-1, *(1,) * window.ndim), offsets.shape)
    kind = kind_of(eqn.invars[0].aval.dtype)
    found = looked_up(graph, x, kind, start, offsets)
    if outside:
        flags = np.array(outside).reshape(-1, *(1,) * window.ndim)
        fill = constants(graph, _fill(eqn, kind))
        found = each(graph, "where", np.broadcast_to(flags, found.shape), fill, found)
    found = found.reshape((*batch, *window.shape))
    return found.transpose(gathered_axes(d, found.ndim))


def gathered_axes(numbers: Any, rank: int) -> np.ndarray:
    """Order of the axes of what was gathered with its batch axes first."""
    return np.argsort(
        [*(k for k in range(rank) if k not in numbers.offset_dims), *numbers.offset_dims]
    )


def _fill(eqn: Equation, kind: str) -> np.ndarray:
    value, dtype = eqn.params["fill_value"], eqn.invars[0].aval.dtype
    if value is None:
        unsigned = kind == UNSIGNED
        value = np.nan if kind == FLOAT else kind == TRUTH or extreme(dtype, lowest=not unsigned)
    return np.asarray(value, dtype)


def _outside(graph: Graph, vector: list[int], room: list[int]) -> int:
    out = graph.false
    for a, high in zip(vector, room, strict=True):
        kind = graph.kinds[a]
        out = graph.op("or", out, graph.op("lt", a, graph.constant(0, kind)))
        out = graph.op("or", out, graph.op("gt", a, graph.constant(high, kind)))
    return out


SCATTERS = {"scatter": None, "scatter-add": "add", "scatter_add": "add", "scatter_mul": "mul"}
SCATTERS |= {"scatter-mul": "mul", "scatter_min": "min", "scatter-min": "min"}
SCATTERS |= {"scatter_max": "max", "scatter-max": "max"}


@rule(*SCATTERS)
def _scattered(flat: Lowering, eqn: Equation, x: Value, indices: Value, updates: Value) -> Value:
    """The general form: windows replaced, or combined, in sequence."""
    graph, d = flat.graph, eqn.params["dimension_numbers"]
    join = SCATTERS[eqn.primitive.name]
    if join is None and eqn.params.get("update_jaxpr") is not None:
        raise UnsupportedOperationError("a function applied to parts of an array")
    updates, index = value_ids(graph, updates), value_ids(graph, indices)
    if not updates.size:
        return x
    shape, kind = tuple(x.shape), kind_of(eqn.invars[0].aval.dtype)
    batch_axes = [k for k in range(updates.ndim) if k not in d.update_window_dims]
    windows = updates.transpose([*batch_axes, *d.update_window_dims])
    batch = tuple(updates.shape[k] for k in batch_axes)
    windows = windows.reshape(int(np.prod(batch, dtype=int)), *windows.shape[len(batch) :])
    gone = {*d.inserted_window_dims, *d.operand_batching_dims}
    rest = iter(windows.shape[1:])
    sizes = [1 if k in gone else next(rest) for k in range(len(shape))]
    strides = strides_of(shape)
    room = [shape[dim] - sizes[dim] for dim in d.scatter_dims_to_operand_dims]
    own = [int(strides[dim]) for dim in d.scatter_dims_to_operand_dims]
    of_batch = _grid(batch)
    offsets = window_of(shape, sizes).reshape(-1)
    pairs = zip(d.operand_batching_dims, d.scatter_indices_batching_dims, strict=True)
    batched = sum((of_batch[axis] * strides[dim] for dim, axis in pairs), np.zeros(1, dtype=int))
    vectors = index.reshape(int(np.prod(batch, dtype=int)), index.shape[-1]).tolist()
    batched = np.broadcast_to(batched, (len(vectors),)) if batch else np.zeros(1, dtype=int)
    for vector, window, first in zip(vectors, windows, batched.tolist(), strict=True):
        start = _start(graph, vector, room, own)
        start = graph.op("add", start, graph.constant(first, LONG))
        places_now = np.full(offsets.shape, start)
        new = window.reshape(-1)
        outside = (
            graph.false if "CLIP" in str(eqn.params["mode"]) else _outside(graph, vector, room)
        )
        if graph.value(outside):
            continue
        if join is not None or outside != graph.false:
            if isinstance(x, Updated):
                x = value_ids(graph, x)
            old = looked_up(graph, x, kind, places_now, offsets)
            new = new if join is None else each(graph, join, old, new)
            # what sticks out is left as it is
            new = each(graph, "where", np.full(new.shape, outside), old, new)
        if isinstance(x, Updated):
            x = value_ids(graph, x)
        x = _put(graph, x, kind, start, offsets, new)
    return x


@rule("argmax", "argmin")
def _place_of_largest(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    """The first maximum (minimum), or the first NaN."""
    graph = flat.graph
    (axis,) = eqn.params["axes"]
    kind = kind_of(eqn.params["index_dtype"])
    rows = np.moveaxis(value_ids(graph, x), int(axis), 0)
    if not len(rows):
        raise UnsupportedOperationError("the largest of nothing")
    name = "gt" if eqn.primitive.name == "argmax" else "lt"
    best, at = np.asarray(rows[0]), np.full(rows.shape[1:], graph.constant(0, kind))
    floats = kind_of(eqn.invars[0].aval.dtype) == "f8"
    for k in range(1, len(rows)):
        row = np.asarray(rows[k])
        better = each(graph, name, row, best)
        if floats:
            strange = each(graph, "ne", row, row)
            fine = each(graph, "eq", best, best)
            better = each(graph, "or", better, each(graph, "and", strange, fine))
        best = each(graph, "where", better, row, best)
        at = each(graph, "where", better, np.full(at.shape, graph.constant(k, kind)), at)
    return at
