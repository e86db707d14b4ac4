"""Rules for primitives that take from and put at places."""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.engine import numpy_helpers as helpers
from swelltree.engine.numpy_rules import Found, out_of, rule
from swelltree.engine.numpy_writer import NotKnownError, Ref, Writer


def _mode(eqn: Any) -> str:
    return str(eqn.params["mode"]).rsplit(".", maxsplit=1)[-1].split(":", maxsplit=1)[0]


@rule("gather")
def _gather(w: Writer, eqn: Any, x: Ref, start: Ref) -> Found:
    shape, dtype = out_of(eqn)
    n, sizes = eqn.params["dimension_numbers"], tuple(int(s) for s in eqn.params["slice_sizes"])
    map_ = tuple(int(d) for d in n.start_index_map)
    batch = tuple(
        (int(a), int(b))
        for a, b in zip(n.operand_batching_dims, n.start_indices_batching_dims, strict=True)
    )
    gone = {int(d) for d in (*n.collapsed_slice_dims, *n.operand_batching_dims)}
    if _mode(eqn) == "FILL_OR_DROP" and (
        start.value is None or not helpers.inside(x.shape, start.known(), sizes, map_).all()
    ):
        raise NotKnownError("gather")
    offset = [int(d) for d in n.offset_dims]
    outer = len(start.shape) - 1
    # dimensions of the result: those of the windows at `offset`, the others run over the starts
    order, windows, starts = [], [d for d in range(len(sizes)) if d not in gone], 0
    for d in range(len(shape)):
        if d in offset:
            order.append(outer + windows[offset.index(d)])
        else:
            order.append(starts)
            starts += 1
    drop = tuple(outer + d for d in sorted(gone))
    final = [d - sum(g < d for g in drop) for d in order]
    if start.value is not None and len(map_) == 1 and not batch and _axis_take(x, n, sizes):
        return _taken(w, eqn, x, start.known(), map_[0], final)
    x = w.full(x)
    if start.value is not None:
        flat = helpers.places(x.shape, start.known(), sizes, map_, batch)
        flat = np.ascontiguousarray(flat.squeeze(drop).transpose(final).T)
        return w.emit(f"{{0}}.reshape(-1)[{w.keep(flat)}]", (x,), shape, shape, dtype)
    kept = w.keep((x.shape, sizes, map_, batch))
    index = f"h.places({kept}[0], {{1}}.T, *{kept}[1:]).squeeze({drop}).transpose({final}).T"
    return w.emit(f"{{0}}.reshape(-1)[{index}]", (x, w.full(start)), shape, shape, dtype)


def _axis_take(x: Ref, n: Any, sizes: tuple[int, ...]) -> bool:
    """Whole rows along one axis, nothing else."""
    (d,) = (int(k) for k in n.start_index_map)
    whole = all(s == x.shape[k] for k, s in enumerate(sizes) if k != d)
    return whole and sizes[d] == 1 and [int(k) for k in n.collapsed_slice_dims] == [d]


def _taken(w: Writer, eqn: Any, x: Ref, start: np.ndarray, d: int, final: list[int]) -> Ref:
    shape, dtype = out_of(eqn)
    if x.actual == ():
        return Ref(x.number, shape, (), x.dtype, x.value)
    index = np.clip(start[..., 0], 0, x.shape[d] - 1)
    single = x.actual[d] == 1 and x.shape[d] != 1
    if single:
        index = np.zeros_like(index)
    kept = w.keep(np.ascontiguousarray(index.T))
    rest = [n for k, n in enumerate(x.actual) if k != d]
    # as taken: (before, starts..., after); wanted: starts first, then in the order of the result
    before, many = d, index.ndim
    rank = many + len(rest)
    at = {}  # place in (starts..., rest...) -> place as taken
    for k in range(many):
        at[k] = before + k
    for k in range(len(rest)):
        at[many + k] = k if k < before else k + many
    order = tuple(at[k] for k in final)
    sizes = [*rest[:before], *index.shape, *rest[before:]]
    text = f"{{0}}[{':, ' * (len(x.actual) - 1 - d)}{kept}]"
    if order != tuple(range(rank)):
        text += f".transpose({tuple(rank - 1 - k for k in order[::-1])})"
    return w.emit(text, (x,), shape, [sizes[k] for k in order], dtype)


@rule("scatter-add", "scatter", "scatter-mul")
def _scatter(w: Writer, eqn: Any, x: Ref, start: Ref, updates: Ref) -> Found:
    shape, dtype = out_of(eqn)
    n = eqn.params["dimension_numbers"]
    window = [int(d) for d in n.update_window_dims]
    map_ = tuple(int(d) for d in n.scatter_dims_to_operand_dims)
    batch = tuple(
        (int(a), int(b))
        for a, b in zip(n.operand_batching_dims, n.scatter_indices_batching_dims, strict=True)
    )
    gone = {int(d) for d in (*n.inserted_window_dims, *n.operand_batching_dims)}
    kept = [d for d in range(len(shape)) if d not in gone]
    sizes = tuple(
        1 if d in gone else updates.shape[window[kept.index(d)]] for d in range(len(shape))
    )
    outer = len(start.shape) - 1
    order, starts = [], 0
    for d in range(len(updates.shape)):
        if d in window:
            order.append(outer + window.index(d))
        else:
            order.append(starts)
            starts += 1
    drop = tuple(outer + d for d in sorted(gone))
    how = (shape, sizes, map_, batch, drop, tuple(order), _mode(eqn) == "FILL_OR_DROP")
    kind, refs = eqn.primitive.name, (w.full(x), w.full(updates))
    if start.value is not None:
        windows = w.keep(helpers.windows(start.known(), *how))
        return w.emit(f"h.scattered({{0}}, {{1}}, '{kind}', *{windows})", refs, shape, shape, dtype)
    text = f"h.scattered({{0}}, {{1}}, '{kind}', *h.windows({{2}}.T, *{w.keep(how)}))"
    return w.emit(text, (*refs, w.full(start)), shape, shape, dtype)


@rule("dynamic_slice")
def _dynamic_slice(w: Writer, eqn: Any, x: Ref, *starts: Ref) -> Found:
    shape, dtype = out_of(eqn)
    x = w.full(x)
    parts = [
        f"slice(int(min(max({{{k + 1}}}, 0), {x.shape[k] - n})), "
        f"int(min(max({{{k + 1}}}, 0), {x.shape[k] - n})) + {n})"
        for k, n in enumerate(shape)
    ]
    return w.emit(f"{{0}}[({', '.join(parts[::-1])},)]", (x, *starts), shape, shape, dtype)


@rule("fft")
def _fft(w: Writer, eqn: Any, x: Ref) -> Found:
    shape, dtype = out_of(eqn)
    kind = str(eqn.params["fft_type"]).rsplit(".", maxsplit=1)[-1].split(":", maxsplit=1)[0]
    lengths = eqn.params["fft_lengths"]
    names = {"FFT": "fft", "IFFT": "ifft", "RFFT": "rfft", "IRFFT": "irfft"}
    name = names.get({"0": "FFT", "1": "IFFT", "2": "RFFT", "3": "IRFFT"}.get(kind, kind))
    if len(lengths) != 1 or name is None:
        raise NotKnownError("fft")
    text = f"np.fft.{name}({{0}}, {int(lengths[0])}, axis=0)"
    return w.emit(text, (w.full(x),), shape, shape, dtype)
