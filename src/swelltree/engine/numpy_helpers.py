"""Operations of traced programs that take more than one line of numpy."""

from __future__ import annotations

from typing import Any

import numpy as np


def turned(x: Any) -> np.ndarray:
    """An array with its axes in reverse order, also in memory."""
    x = np.asarray(x)
    return np.ascontiguousarray(x.T) if x.ndim > 1 else x


def whole(x: Any, kind: str) -> np.ndarray:
    """Whole numbers, towards zero; what is too large becomes the largest, as in XLA."""
    ends, x = np.iinfo(kind), np.asarray(x)
    result = np.where(np.isnan(x), 0.0, x).astype(kind)
    result = np.where(x >= float(ends.max), ends.max, result)
    return np.where(x <= float(ends.min), ends.min, result)


def before(x: Any, y: Any) -> Any:
    """Is x before y in the order of all numbers: -0 before 0, what is no number last?"""
    signs = (x == y) & np.signbit(x) & ~np.signbit(y)
    return (x < y) | signs | (np.isnan(y) & ~np.isnan(x))


def padded(x: np.ndarray, value: Any, shape: tuple[int, ...], into: Any, part: Any) -> np.ndarray:
    """An array inside a larger one."""
    out = np.zeros(shape, x.dtype)
    if value != 0:
        out[...] = value
    out[into] = x[part]
    return out


def places(
    shape: tuple[int, ...], start: np.ndarray, sizes: tuple[int, ...], map_: Any, batch: Any
) -> np.ndarray:
    """Flat places of windows: (starts..., windows...) with all dimensions kept, first axis fastest.

    Args:
        shape: of the array.
        start: (starts..., k) first places in the dimensions `map_`.
        sizes: of a window.
        map_: dimensions that `start` tells.
        batch: pairs (dimension of the array, dimension of the starts) that run together.
    """
    strides = [int(np.prod(shape[:d], dtype=int)) for d in range(len(shape))]
    outer = start.shape[:-1]
    flat = np.zeros(outer + (1,) * len(shape), dtype=np.int64)
    for k, d in enumerate(map_):
        first = np.clip(start[..., k], 0, shape[d] - sizes[d]).astype(np.int64)
        flat = flat + (first * strides[d]).reshape(outer + (1,) * len(shape))
    for d, at in batch:
        run = np.arange(outer[at]).reshape([-1 if i == at else 1 for i in range(len(outer))])
        flat = flat + (run * strides[d]).reshape(run.shape + (1,) * len(shape))
    for d, size in enumerate(sizes):
        window = np.arange(size).reshape([-1 if i == d else 1 for i in range(len(shape))])
        flat = flat + window * strides[d]
    return flat


def inside(shape: Any, start: np.ndarray, sizes: Any, map_: Any) -> np.ndarray:
    """Which windows lie in the array, (starts...)."""
    good = np.ones(start.shape[:-1], bool)
    for k, d in enumerate(map_):
        good &= (start[..., k] >= 0) & (start[..., k] <= shape[d] - sizes[d])
    return good


def windows(
    start: np.ndarray,
    shape: Any,
    sizes: Any,
    map_: Any,
    batch: Any,
    drop: Any,
    order: Any,
    skips: bool,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Flat places of the windows of a scatter, and which of them count; None: all."""
    flat = places(shape, start, sizes, map_, batch).squeeze(drop).transpose(order).T
    good = inside(shape, start, sizes, map_) if skips else None
    if good is None or good.all():
        return np.ascontiguousarray(flat), None
    good = good.reshape(good.shape + (1,) * len(sizes)).squeeze(drop).transpose(order).T
    return flat, np.broadcast_to(good, flat.shape)


def scattered(
    x: np.ndarray, updates: np.ndarray, kind: str, flat: np.ndarray, good: np.ndarray | None
) -> np.ndarray:
    """x with updates put, added or multiplied at flat places."""
    out = np.array(x, order="C")
    if good is not None:
        flat, updates = flat[good], np.broadcast_to(updates, good.shape)[good]
    if kind == "scatter":
        out.reshape(-1)[flat] = updates
    else:
        ufunc = np.add if kind == "scatter-add" else np.multiply
        ufunc.at(out.reshape(-1), flat.reshape(-1), updates.reshape(-1))
    return out


def cholesky(x: np.ndarray) -> np.ndarray:
    """Lower factor; not a number where there is none."""
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        return np.full(x.shape, np.nan)


def triangular(a: np.ndarray, b: np.ndarray, lower: bool, turned: bool, unit: bool) -> np.ndarray:
    """Solve with one triangle of a, by substitution over all of a batch."""
    if turned:
        a, lower = np.swapaxes(a, -1, -2), not lower
    n = a.shape[-1]
    x = np.array(np.broadcast_to(b, np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:]))
    for i in range(n) if lower else range(n - 1, -1, -1):
        known = slice(0, i) if lower else slice(i + 1, n)
        x[..., i, :] -= (a[..., i, known, None] * x[..., known, :]).sum(-2)
        if not unit:
            x[..., i, :] /= a[..., i, i, None]
    return x


def looped(condition: Any, body: Any, first: Any, second: Any, state: Any) -> Any:
    """`while_loop`; of a batch, members whose condition has failed stay as they are."""
    while True:
        going = np.asarray(condition(*first, *state)[0])
        if not going.any():
            return state
        new = body(*second, *state)
        if going.all():
            state = new
            continue
        state = tuple(
            np.where(going.reshape(going.shape + (1,) * (a.ndim - going.ndim)), a, b)
            for a, b in zip(map(np.asarray, new), state, strict=True)
        )


def scanned(body: Any, length: int, backwards: bool, fixed: Any, carry: Any, xs: Any) -> Any:
    """`scan`: the carry at the end, and what every step gave."""
    out: list[Any] = [None] * length
    carried = len(carry)
    for i in range(length - 1, -1, -1) if backwards else range(length):
        result = body(*fixed, *carry, *(x[i] for x in xs))
        carry, out[i] = result[:carried], result[carried:]
    return (*carry, *(np.stack(y) for y in zip(*out, strict=True)))


def chosen(branches: Any, index: Any, args: Any) -> Any:
    """`cond` and `switch`."""
    return branches[int(np.clip(index, 0, len(branches) - 1))](*args)
