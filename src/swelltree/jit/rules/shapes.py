"""Rules of primitives that only move elements: offsets or indices change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swelltree.jit.graph import kind_of
from swelltree.jit.lowering import Lowering, rule
from swelltree.jit.traced_types import Equation
from swelltree.jit.values import Stored, Updated, Value, constants, value_ids


def _shape(eqn: Equation) -> tuple[int, ...]:
    return tuple(int(n) for n in eqn.outvars[0].aval.shape)


@rule("reshape", "squeeze", "expand_dims")
def _reshaped(flat: Lowering, eqn: Equation, x: Value, *rest: Value) -> Value:
    shape, turned = _shape(eqn), eqn.params.get("dimensions")
    if eqn.primitive.name == "reshape" and turned is not None:
        return value_ids(flat.graph, x).transpose(turned).reshape(shape)
    if isinstance(x, Updated):
        return Updated(x.base.part(0, shape), x.index, x.new)
    return x.part(0, shape) if isinstance(x, Stored) else value_ids(flat.graph, x).reshape(shape)


@rule("broadcast_in_dim")
def _broadcast(flat: Lowering, eqn: Equation, x: Value, *rest: Value) -> Value:
    shape, dims = _shape(eqn), eqn.params["broadcast_dimensions"]
    old = [1] * len(shape)
    for d, n in zip(dims, x.shape, strict=True):
        old[d] = n
    if isinstance(x, Stored) and int(np.prod(shape, dtype=int)) == x.size:
        return x.part(0, shape)
    return np.broadcast_to(value_ids(flat.graph, x).reshape(old), shape)


@rule("transpose")
def _transposed(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    return value_ids(flat.graph, x).transpose(eqn.params["permutation"])


@rule("rev")
def _reversed(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    return np.flip(value_ids(flat.graph, x), eqn.params["dimensions"])


@rule("slice")
def _sliced(flat: Lowering, eqn: Equation, x: Value) -> Value:
    start, limit = eqn.params["start_indices"], eqn.params["limit_indices"]
    strides = eqn.params["strides"] or (1,) * len(start)
    if isinstance(x, Stored) and _together(x.shape, start, limit, strides):
        first = int(np.ravel_multi_index(start, x.shape)) if _shape(eqn) and x.size else 0
        return x.part(first, _shape(eqn))
    index = tuple(slice(a, b, s) for a, b, s in zip(start, limit, strides, strict=True))
    return value_ids(flat.graph, x)[index]


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


@rule("tile")
def _tiled(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    return np.tile(value_ids(flat.graph, x), eqn.params["reps"])


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
