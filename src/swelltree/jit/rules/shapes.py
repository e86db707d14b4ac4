"""Rules of primitives that only move elements: offsets or indices change."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from swelltree.jit.graph import kind_of
from swelltree.jit.lowering import Lowering, rule
from swelltree.jit.traced_types import Equation
from swelltree.jit.values import Stored, Updated, Value, constants, value_ids


def _shape(eqn: Equation) -> tuple[int, ...]:
    return tuple(int(n) for n in eqn.outvars[0].aval.shape)


# --- primitives that move elements of one array: as functions of arrays of NumPy
Move = Callable[[np.ndarray], np.ndarray]


def _reshape(eqn: Equation) -> Move:
    shape, order = _shape(eqn), eqn.params.get("dimensions")
    if eqn.primitive.name == "reshape" and order is not None:
        return lambda a: a.transpose(order).reshape(shape)
    return lambda a: a.reshape(shape)


def _broadcast(eqn: Equation) -> Move:
    shape = _shape(eqn)
    lengths = zip(eqn.params["broadcast_dimensions"], eqn.invars[0].aval.shape, strict=True)
    old = [1] * len(shape)
    for d, n in lengths:
        old[d] = n
    return lambda a: np.broadcast_to(a.reshape(old), shape)


def _slice(eqn: Equation) -> Move:
    bounds = _bounds(eqn)
    index = tuple(slice(*x) for x in zip(*bounds, strict=True))
    return lambda a: a[index]


def _bounds(eqn: Equation) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    start = eqn.params["start_indices"]
    return start, eqn.params["limit_indices"], eqn.params["strides"] or (1,) * len(start)


MOVES: dict[str, Callable[[Equation], Move]] = {
    "reshape": _reshape,
    "squeeze": _reshape,
    "expand_dims": _reshape,
    "broadcast_in_dim": _broadcast,
    "slice": _slice,
    "transpose": lambda eqn: lambda a: a.transpose(eqn.params["permutation"]),
    "rev": lambda eqn: lambda a: np.flip(a, eqn.params["dimensions"]),
    "tile": lambda eqn: lambda a: np.tile(a, eqn.params["reps"]),
}


@rule(*MOVES)
def _moved(flat: Lowering, eqn: Equation, x: Value, *rest: Value) -> Value:
    name, shape = eqn.primitive.name, _shape(eqn)
    ordered = name == "reshape" and eqn.params.get("dimensions") is not None
    if MOVES[name] is _reshape and not ordered:
        if isinstance(x, Updated):
            return Updated(x.base.part(0, shape), x.index, x.new)
        if isinstance(x, Stored):
            return x.part(0, shape)
    elif isinstance(x, Stored) and name == "broadcast_in_dim" and math.prod(shape) == x.size:
        return x.part(0, shape)
    elif isinstance(x, Stored) and name == "slice" and _together(x.shape, *_bounds(eqn)):
        first = int(np.ravel_multi_index(_bounds(eqn)[0], x.shape)) if shape and x.size else 0
        return x.part(first, shape)
    return MOVES[name](eqn)(value_ids(flat.graph, x))


def _together(
    shape: tuple[int, ...],
    start: Sequence[int],
    limit: Sequence[int],
    strides: Sequence[int],
) -> bool:
    complete = True  # all axes behind are taken as they are
    for n, a, b, s in reversed(list(zip(shape, start, limit, strides, strict=True))):
        if b - a < 1 or s != 1 or (not complete and b - a != 1):
            return False
        complete = complete and a == 0 and b == n
    return True


@rule("concatenate")
def _joined(flat: Lowering, eqn: Equation, *parts: Value) -> np.ndarray:
    return np.concatenate([value_ids(flat.graph, x) for x in parts], eqn.params["dimension"])


@rule("stack")
def _stacked(flat: Lowering, eqn: Equation, *parts: Value) -> np.ndarray:
    return np.stack([value_ids(flat.graph, x) for x in parts], eqn.params["axis"])


@rule("unstack")
def _unstacked(flat: Lowering, eqn: Equation, x: Value) -> list[Value]:
    rows = np.moveaxis(value_ids(flat.graph, x), int(eqn.params["axis"]), 0)
    return [np.asarray(row) for row in rows]


@rule("split")
def _split(flat: Lowering, eqn: Equation, x: Value) -> list[Value]:
    ends = np.cumsum(eqn.params["sizes"])[:-1]
    return list(np.split(value_ids(flat.graph, x), ends, eqn.params["axis"]))


@rule("pad")
def _padded(flat: Lowering, eqn: Equation, x: Value, fill: Value) -> np.ndarray:
    x, fill = value_ids(flat.graph, x), value_ids(flat.graph, fill)
    for axis, (low, high, between) in enumerate(eqn.params["padding_config"]):
        n = x.shape[axis]
        spread = np.arange(n) * (between + 1) + low
        size = low + high + n + max(n - 1, 0) * between
        shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
        out = np.full(shape, int(fill))
        stored = (spread >= 0) & (spread < size)
        at = (slice(None),) * axis
        out[(*at, spread[stored])] = x[(*at, np.flatnonzero(stored))]
        x = out
    return x


@rule("empty2")
def _empty(flat: Lowering, eqn: Equation) -> np.ndarray:
    return constants(flat.graph, np.zeros(_shape(eqn), eqn.outvars[0].aval.dtype))


@rule("iota")
def _counted(flat: Lowering, eqn: Equation, *rest: Value) -> np.ndarray:
    shape, axis = _shape(eqn), eqn.params["dimension"]
    kind = kind_of(eqn.params["dtype"])
    types = {"f8": np.float64, "i4": np.int32, "i8": np.int64, "u4": np.uint32}
    row = np.arange(shape[axis]).astype(types[kind])
    complete = np.broadcast_to(
        np.expand_dims(row, [d for d in range(len(shape)) if d != axis]), shape
    )
    return constants(flat.graph, complete)
