"""Rules for arrays whose rows are computed in loops (`rows.loops`).

A rule returns None where the array has no such rows; then the rule for scalars holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from swelltree.jit.graph import Graph, kind_of
from swelltree.jit.lowering import ROW_RULES, RULES, Lowering
from swelltree.jit.rows.loops import Looped, RowLoops
from swelltree.jit.rules.elementwise import SAME_NAME, each
from swelltree.jit.rules.indices import clipped_start, gathered_axes, strides_of, window_of
from swelltree.jit.rules.shapes import MOVES, Move
from swelltree.jit.rules.sums import REDUCED, neutral, reduced
from swelltree.jit.statements import Reduction, Stores
from swelltree.jit.traced_types import Equation
from swelltree.jit.values import (
    UNROLL_LIMIT,
    Retained,
    Stored,
    Updated,
    Value,
    View,
    constant_values,
    in_memory,
    stored,
    value_ids,
    view_of,
)

BY_NUMBER = (*SAME_NAME, "is_finite", "add_any", "select_n", "clamp", "convert_element_type")
BY_NUMBER += ("pow", "integer_pow", "square", "rsqrt", "logistic", "round", "asinh", "atanh")
BY_NUMBER += ("lt_to", "le_to", "one_minus_square")


def _rule(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def put(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            ROW_RULES[name] = function
        return function

    return put


def _shape(eqn: Equation) -> tuple[int, ...]:
    return tuple(int(n) for n in eqn.outvars[0].aval.shape)


def _kind(eqn: Equation) -> str:
    return kind_of(eqn.outvars[0].aval.dtype)


@_rule(*BY_NUMBER)
def _numbers(flat: Lowering, loops: RowLoops, eqn: Equation, *values: Value) -> Value | None:
    number = RULES[eqn.primitive.name]

    def one(*rows: np.ndarray) -> np.ndarray:
        return number(flat, eqn, *rows)

    return loops.computed(_shape(eqn), _kind(eqn), one, list(values))


@_rule(*MOVES)
def _moved(flat: Lowering, loops: RowLoops, eqn: Equation, x: Value, *rest: Any) -> Value | None:
    """Move elements; None where the array has no rows before or after."""
    if not x.size or not int(np.prod(_shape(eqn), dtype=int)):
        return None
    rows = isinstance(x, Stored) and loops.axes(_shape(eqn)) is not None
    if not rows and not isinstance(x, Retained):
        return None
    return loops.moved(x, MOVES[eqn.primitive.name](eqn))


@_rule("split")
def _split(flat: Lowering, loops: RowLoops, eqn: Equation, x: Value) -> list[Value] | None:
    if not isinstance(x, Retained) and loops.axes(tuple(x.shape)) is None:
        return None
    parts = _parts(eqn.params["sizes"], int(eqn.params["axis"]))
    return [_apply(loops, x, lambda a, part=part: a[part]) for part in parts]


def _parts(sizes: Sequence[int], axis: int) -> list[tuple[slice, ...]]:
    """Indices of consecutive parts along an axis."""
    ends = np.cumsum(sizes).tolist()
    return [
        (*(slice(None),) * axis, slice(end - n, end)) for n, end in zip(sizes, ends, strict=True)
    ]


def _apply(loops: RowLoops, x: Value, move: Move) -> Value:
    return move(x) if isinstance(x, np.ndarray) else loops.moved(x, move)


@_rule("concatenate", "stack")
def _joined(flat: Lowering, loops: RowLoops, eqn: Equation, *parts: Value) -> Value | None:
    shape, stacks = _shape(eqn), eqn.primitive.name == "stack"
    axis = int(eqn.params["axis" if stacks else "dimension"])
    count = loops.axes(shape)
    if count is None or all(isinstance(x, np.ndarray) for x in parts):
        return None
    values = [_apply(loops, x, lambda a: np.expand_dims(a, axis)) if stacks else x for x in parts]
    if axis >= count:  # every row is assembled in its loop
        loop, rows = loops.together(shape, values)
        return Looped(loops, loop, np.concatenate(rows, axis - count), shape, _kind(eqn))
    where = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
    places = [where[part] for part in _parts([x.shape[axis] for x in values], axis)]
    return loops.gathered(shape, _kind(eqn), list(zip(values, places, strict=True)))


@_rule("pad")
def _padded(flat: Lowering, loops: RowLoops, eqn: Equation, x: Value, fill: Value) -> Value | None:
    shape, config = _shape(eqn), eqn.params["padding_config"]
    count = loops.axes(shape)
    if count is None or isinstance(x, np.ndarray):
        return None
    if any(low < 0 or high < 0 or between for low, high, between in config):
        return None
    where = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
    index = tuple(slice(low, low + n) for (low, _, _), n in zip(config, x.shape, strict=True))
    filled = np.broadcast_to(value_ids(flat.graph, fill), shape)
    return loops.gathered(shape, _kind(eqn), [(filled, where), (x, where[index])])


@_rule("reduce_sum", "reduce_max", "reduce_min", "reduce_and", "reduce_or", "reduce_prod")
def _reduced(flat: Lowering, loops: RowLoops, eqn: Equation, x: Value) -> Value | None:
    """Over elements of a row in its loop; over rows from memory."""
    count, graph = loops.axes(tuple(x.shape)), flat.graph
    if count is None or not x.size or (isinstance(x, np.ndarray) and x.size <= UNROLL_LIMIT):
        return None
    if isinstance(x, np.ndarray) and constant_values(graph, x) is not None:
        return None
    axes = [int(d) for d in eqn.params["axes"]]
    behind, over = [d - count for d in axes if d >= count], [d for d in axes if d < count]
    if behind:
        loop, (row,) = loops.together(tuple(x.shape), [x])
        left = [d for d in range(row.ndim) if d not in behind]
        complete = (*x.shape[:count], *(row.shape[d] for d in left))
        row = reduced(graph, eqn, row, behind)
        x = Looped(loops, loop, row, complete, _kind(eqn))
    return _over_rows(loops, eqn, x, over, count) if over else x


def _over_rows(loops: RowLoops, eqn: Equation, x: Value, over: list[int], count: int) -> Value:
    """Reduce over rows, or over those along some axes."""
    graph, kind, (name, _) = loops.graph, _kind(eqn), REDUCED[eqn.primitive.name]
    x = x.view() if isinstance(x, Looped) else x
    view = view_of(graph, in_memory(graph, x, kind) if isinstance(x, np.ndarray) else x)
    last = count - 1
    if kind != "f8" or name not in ("add", "max", "min") or last not in over:
        return _one_by_one(loops, eqn, view, over, count)
    # the last of the axes is contiguous
    front = np.moveaxis(view.offsets, last, -1)
    starts = front[..., 0]
    if view.base is not None or not (front - starts[..., None] == np.arange(front.shape[-1])).all():
        return _one_by_one(loops, eqn, view, over, count)
    if view.buffer.where != "work" or view.special is not None:
        return _one_by_one(loops, eqn, view, over, count)
    out = graph.room(starts.size, kind)
    rows = [(view.buffer, at) for at in starts.reshape(-1).tolist()]
    width, empty = loops.width, float(neutral(eqn))
    graph.state(Reduction(out, rows, front.shape[-1], name, width, empty))
    sums = stored(out, 0, starts.shape, graph.here)
    rest = [d for d in over if d != last]
    return reduced(graph, eqn, value_ids(graph, sums), rest) if rest else sums


def _one_by_one(loops: RowLoops, eqn: Equation, view: View, over: list[int], count: int) -> Stored:
    graph, kind, shape = loops.graph, _kind(eqn), _shape(eqn)
    sizes = tuple(n for d, n in enumerate(view.shape[:count]) if d not in over)
    numbers_of = np.arange(int(np.prod(sizes, dtype=int))).reshape(sizes)
    target = np.broadcast_to(np.expand_dims(numbers_of, tuple(over)), view.shape[:count])
    width = view.size // target.size
    offsets = target.reshape(-1)[:, None] * width + np.arange(width)[None]
    total = graph.room(int(np.prod(shape, dtype=int)), kind)
    start = graph.constant(neutral(eqn), kind)
    graph.state(Stores([(total, k, start, None) for k in range(total.size)]))
    name, _ = REDUCED[eqn.primitive.name]
    loops.row_by_row(view, target.size, total, offsets, graph.here, name)
    return stored(total, 0, shape, graph.here)


@_rule("dynamic_slice")
def _cut(flat: Lowering, loops: RowLoops, eqn: Equation, x: Value, *indices: Value) -> Value | None:
    if isinstance(x, Retained) and loops.axes(_shape(eqn)) is None:
        return _row_at(flat, loops, eqn, x, indices)
    if isinstance(x, np.ndarray) or loops.axes(_shape(eqn)) is None:
        return None
    graph, sizes = flat.graph, eqn.params["slice_sizes"]
    view = view_of(
        graph, x if isinstance(x, Stored | Retained) else in_memory(graph, x, _kind(eqn))
    )
    if view.base is not None or not _in_order(view):
        view = view_of(graph, view.memory(graph))
    start = clipped_start(graph, x.shape, sizes, indices)
    known = graph.value(start)
    offsets = int(view.offsets.reshape(-1)[0]) + window_of(x.shape, sizes)
    if known is not None:
        return View(view.buffer, offsets + known, view.home, view.version).simplest()
    same = view.home, view.version
    return View(view.buffer, offsets, *same, start, lay_out=loops.in_order)


def _row_at(
    flat: Lowering, loops: RowLoops, eqn: Equation, x: Retained, indices: tuple[Value, ...]
) -> Value | None:
    if tuple(eqn.params["slice_sizes"]) != (1, *x.shape[1:]):
        return None
    view = x.view() if isinstance(x, Looped) else view_of(flat.graph, x)
    index = clipped_start(flat.graph, x.shape[:1], (1,), indices[:1])
    return loops.at(view, index, x.shape[0]).reshape(_shape(eqn))


def _in_order(x: View) -> bool:
    return isinstance(x.simplest(), Stored)


@_rule("dynamic_update_slice")
def _replaced(
    flat: Lowering, loops: RowLoops, eqn: Equation, x: Value, new: Value, *indices: Value
) -> Value | None:
    if isinstance(x, Retained) and loops.axes(tuple(x.shape)) == 1 and isinstance(new, np.ndarray):
        return _row_replaced(flat, loops, eqn, x, new, indices)
    if loops.axes(tuple(new.shape)) is None or isinstance(new, np.ndarray):
        return None
    if not isinstance(x, Stored):
        return None
    window = window_of(x.shape, new.shape).reshape(-1)
    if not np.array_equal(window, np.arange(window.size)):
        return None
    start = clipped_start(flat.graph, x.shape, new.shape, indices)
    return Updated(x, start, in_memory(flat.graph, new, _kind(eqn)))


def _row_replaced(
    flat: Lowering, loops: RowLoops, eqn: Equation, x: Retained, new: np.ndarray, indices: Any
) -> Value | None:
    """One row replaced at a computed index: every row is compared with it."""
    graph, shape = flat.graph, tuple(x.shape)
    if new.shape != (1, *shape[1:]):
        return None
    index = clipped_start(graph, shape[:1], (1,), indices[:1])
    loop, (old,) = loops.together(shape, [x])
    hit = np.full(old.shape, graph.op("eq", loop.index, index))
    return Looped(loops, loop, each(graph, "where", hit, new[0], old), shape, _kind(eqn))


@_rule("gather")
def _picked(flat: Lowering, loops: RowLoops, eqn: Equation, x: Value, indices: Value) -> Any:
    d, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    if not isinstance(x, Retained | Stored) or loops.axes(_shape(eqn)) is None:
        return None
    if d.operand_batching_dims:
        return None
    window = [n for k, n in enumerate(sizes) if k not in set(d.collapsed_slice_dims)]
    found = _windows(flat.graph, tuple(x.shape), sizes, d.start_index_map, indices, window)
    if found is None:
        return None
    found = found.transpose(gathered_axes(d, found.ndim))
    return loops.moved(x, lambda a: a.reshape(-1)[found])


@_rule("scatter")
def _set(
    flat: Lowering, loops: RowLoops, eqn: Equation, x: Value, indices: Value, new: Value
) -> Any:
    d, shape = eqn.params["dimension_numbers"], tuple(x.shape)
    if loops.axes(shape) is None or isinstance(x, np.ndarray) or not new.size:
        return None
    if d.operand_batching_dims:
        return None
    window = [new.shape[k] for k in d.update_window_dims]
    rest = iter(window)
    sizes = [1 if k in d.inserted_window_dims else next(rest) for k in range(len(shape))]
    dims = d.scatter_dims_to_operand_dims
    where = _windows(flat.graph, shape, sizes, dims, indices, window)
    if where is None:
        return None
    batch_axes = [k for k in range(len(new.shape)) if k not in d.update_window_dims]
    where = where.transpose(np.argsort([*batch_axes, *d.update_window_dims]))
    every = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
    return loops.gathered(shape, _kind(eqn), [(x, every), (new, where)])


def _windows(
    graph: Graph,
    shape: tuple[int, ...],
    sizes: Sequence[int],
    dims: Sequence[int],
    indices: Value,
    window: Sequence[int],
) -> np.ndarray | None:
    """Places of windows at index vectors that are known and inside an array; else None."""
    at = constant_values(graph, value_ids(graph, indices))
    if at is None or ((at < 0) | (at > [shape[d] - sizes[d] for d in dims])).any():
        return None
    starts = (at.astype(int) * strides_of(shape)[list(dims)]).sum(-1)
    inside = window_of(shape, sizes).reshape(window)
    return starts.reshape(*starts.shape, *(1,) * inside.ndim) + inside
