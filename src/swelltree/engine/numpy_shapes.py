"""Rules for primitives that give arrays another shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.engine.numpy_rules import Found, indexed, out_of, reversed_index, rule
from swelltree.engine.numpy_writer import NotKnownError, Ref, Writer

LARGE = 1000  # entries above which it pays to copy an array into the order of its axes


@rule("broadcast_in_dim")
def _broadcast(w: Writer, eqn: Any, x: Ref, *_: Ref) -> Found:
    shape = out_of(eqn)[0]
    dims = tuple(int(d) for d in eqn.params["broadcast_dimensions"])
    index = [":" if d in dims else "None" for d in range(len(shape))]
    actual = [x.actual[dims.index(d)] if d in dims and x.actual else 1 for d in range(len(shape))]
    return indexed(w, x, index, shape, actual)


@rule("slice")
def _slice(w: Writer, eqn: Any, x: Ref) -> Found:
    shape, p = out_of(eqn)[0], eqn.params
    strides = p["strides"] or (1,) * len(shape)
    index, actual = [], []
    for d, size in enumerate(shape):
        first, last, stride = (
            int(v) for v in (p["start_indices"][d], p["limit_indices"][d], strides[d])
        )
        whole = (first, last, stride) == (0, x.shape[d], 1)
        if whole or (x.actual and x.actual[d] == 1 and x.shape[d] != 1 and size):
            index.append(":")
            actual.append(x.actual[d] if x.actual else 1)
        else:
            index.append(f"{first}:{last}" + (f":{stride}" if stride != 1 else ""))
            actual.append(size)
    return indexed(w, x, index, shape, actual)


@rule("squeeze")
def _squeeze(w: Writer, eqn: Any, x: Ref) -> Found:
    gone = {int(d) % len(x.shape) for d in eqn.params["dimensions"]}
    index = ["0" if d in gone else ":" for d in range(len(x.shape))]
    actual = [n for d, n in enumerate(x.actual) if d not in gone]
    return indexed(w, x, index, out_of(eqn)[0], actual)


@rule("transpose")
def _transpose(w: Writer, eqn: Any, x: Ref) -> Found:
    return _turned(w, x, tuple(int(d) for d in eqn.params["permutation"]))


def _turned(w: Writer, x: Ref, order: tuple[int, ...]) -> Ref:
    """x with its axes in another order."""
    shape = tuple(x.shape[d] for d in order)
    if x.actual == ():
        return Ref(x.number, shape, (), x.dtype, x.value)
    actual = [x.actual[d] for d in order]
    turn = tuple(len(order) - 1 - d for d in order[::-1])
    text = f"{{0}}.transpose({turn})"
    if np.prod(actual) > LARGE:
        text = f"np.ascontiguousarray({text})"
    return w.emit(text, (x,), shape, actual, x.dtype)


@rule("reshape")
def _reshape(w: Writer, eqn: Any, x: Ref) -> Found:
    shape = out_of(eqn)[0]
    if eqn.params.get("dimensions") is not None:
        x = _turned(w, x, tuple(int(d) for d in eqn.params["dimensions"]))
    if x.actual == ():
        return Ref(x.number, shape, (), x.dtype, x.value)
    ones = [d for d in range(len(x.shape)) if x.shape[d] == 1]
    if [n for n in x.shape if n != 1] == [n for n in shape if n != 1]:
        # axes of one come and go
        bare = indexed(
            w,
            x,
            ["0" if d in ones else ":" for d in range(len(x.shape))],
            [n for n in x.shape if n != 1],
            [n for d, n in enumerate(x.actual) if d not in ones],
        )
        left = iter(bare.actual)
        actual = [1 if n == 1 else next(left) for n in shape]
        return indexed(w, bare, ["None" if n == 1 else ":" for n in shape], shape, actual)
    x = w.full(x)
    text = f"np.ascontiguousarray({{0}}.T.reshape({shape}).T)"
    return w.emit(text, (x,), shape, shape, x.dtype)


def _alike(w: Writer, refs: tuple[Ref, ...], along: int | None) -> list[Ref]:
    """Arrays made equal in all dimensions but one, as small as they may be."""
    rank = len(refs[0].shape)
    common = [1] * rank
    for x in refs:
        for d, n in enumerate(x.actual):
            common[d] = max(common[d], n) if x.shape[d] else 0  # nothing stays nothing
    out = []
    for x in refs:
        wanted = list(common)
        if along is not None:
            wanted[along] = x.shape[along]
        out.append(w.full(x, wanted) if x.shape[along or 0 : rank] or rank == 0 else x)
    return out


@rule("concatenate")
def _concatenate(w: Writer, eqn: Any, *refs: Ref) -> Found:
    along = int(eqn.params["dimension"])
    shape, dtype = out_of(eqn)
    parts = _alike(w, refs, along)
    actual = list(parts[0].actual)
    actual[along] = shape[along]
    text = ", ".join(f"{{{i}}}" for i in range(len(parts)))
    axis = len(shape) - 1 - along
    return w.emit(f"np.concatenate(({text},), {axis})", tuple(parts), shape, actual, dtype)


@rule("stack")
def _stack(w: Writer, eqn: Any, *refs: Ref) -> Found:
    axis = int(eqn.params["axis"])
    shape, dtype = out_of(eqn)
    if not refs[0].shape:
        text = ", ".join(f"{{{i}}}" for i in range(len(refs)))
        return w.emit(f"np.array(({text},))", refs, shape, shape, dtype)
    parts = _alike(w, refs, None)
    index = reversed_index([":"] * axis + ["None"] + [":"] * (len(shape) - 1 - axis))
    text = ", ".join(f"{{{i}}}[{index}]" for i in range(len(parts)))
    actual = [*parts[0].actual[:axis], len(parts), *parts[0].actual[axis:]]
    along = len(shape) - 1 - axis
    return w.emit(f"np.concatenate(({text},), {along})", tuple(parts), shape, actual, dtype)


@rule("unstack")
def _unstack(w: Writer, eqn: Any, x: Ref) -> Found:
    axis = int(eqn.params["axis"])
    out = []
    for k in range(len(eqn.outvars)):
        single = bool(x.actual) and x.actual[axis] == 1
        index = [":"] * len(x.shape)
        index[axis] = "0" if single else str(k)
        actual = [n for d, n in enumerate(x.actual) if d != axis]
        out.append(indexed(w, x, index, out_of(eqn, k)[0], actual))
    return out


@rule("split")
def _split(w: Writer, eqn: Any, x: Ref) -> Found:
    axis, first, out = int(eqn.params["axis"]), 0, []
    for k, size in enumerate(eqn.params["sizes"]):
        last = first + int(size)
        single = bool(x.actual) and x.actual[axis] == 1 and x.shape[axis] != 1
        index = [":"] * len(x.shape)
        index[axis] = ":" if single else f"{first}:{last}"
        actual = list(x.actual)
        if actual and not single:
            actual[axis] = int(size)
        out.append(indexed(w, x, index, out_of(eqn, k)[0], actual))
        first = last
    return out


@rule("rev")
def _rev(w: Writer, eqn: Any, x: Ref) -> Found:
    turned = {int(d) for d in eqn.params["dimensions"]}
    index = ["::-1" if d in turned else ":" for d in range(len(x.shape))]
    return indexed(w, x, index, x.shape, x.actual)


@rule("iota")
def _iota(w: Writer, eqn: Any, *_: Ref) -> Found:
    shape, dtype = out_of(eqn)
    d = int(eqn.params["dimension"])
    run = np.arange(shape[d], dtype=dtype)
    return w.constant(run.reshape([-1 if i == d else 1 for i in range(len(shape))]), shape)


@rule("pad")
def _pad(w: Writer, eqn: Any, x: Ref, value: Ref) -> Found:
    shape, dtype = out_of(eqn)
    into, part = [], []
    for (low, high, inner), size, total in zip(
        eqn.params["padding_config"], x.shape, shape, strict=True
    ):
        stride = int(inner) + 1
        if inner and min(int(low), int(high)) < 0:
            raise NotKnownError("pad")
        first = max(int(low), 0)
        cut = max(-int(low), 0)
        length = max(min(size - cut, -(-(total - first) // stride)), 0)
        into.append(slice(first, first + stride * (length - 1) + 1 if length else first, stride))
        part.append(slice(cut, cut + length))
    kept = w.keep((shape[::-1], tuple(into[::-1]), tuple(part[::-1])))
    return w.emit(f"h.padded({{0}}, {{1}}, *{kept})", (w.full(x), value), shape, shape, dtype)
