"""Rules for sums, other reductions and products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.engine.numpy_rules import Found, indexed, out_of, reversed_index, rule
from swelltree.engine.numpy_writer import RULES, Ref, Writer

WRITTEN_OUT = 6  # most terms of a sum that is written out
LETTERS = "abcdefghijklmnop"


@rule("reduce_sum")
def _sum(w: Writer, eqn: Any, x: Ref) -> Found:
    shape, dtype = out_of(eqn)
    axes = sorted(int(a) for a in eqn.params["axes"])
    # along dimensions that are not there all terms are equal
    same = [a for a in axes if not x.actual or (x.actual[a] == 1)]
    factor = int(np.prod([x.shape[a] for a in same], dtype=int))
    real = [a for a in axes if a not in same]
    index = ["0" if a in same else ":" for a in range(len(x.shape))]
    actual = [n for a, n in enumerate(x.actual) if a not in same]
    left = [n for a, n in enumerate(x.shape) if a not in same]
    ref = indexed(w, x, index, left, actual)
    real = [a - sum(s < a for s in same) for a in real]
    if real:
        ref = _added(w, ref, x if not same else None, real, shape, dtype)
    if factor != 1:
        ref = w.emit(f"{{0}} * {factor}", (ref,), shape, ref.actual, dtype)
    return Ref(ref.number, shape, ref.actual, ref.dtype, ref.value)


def _added(
    w: Writer, ref: Ref, product: Ref | None, axes: list[int], shape: Any, dtype: Any
) -> Ref:
    """Sum along axes that are there; a sum of products is not multiplied out first."""
    rest = [n for a, n in enumerate(ref.actual) if a not in axes]
    rank = len(ref.actual)
    known = () if product is None else w.products.get(product.number, ())
    terms = ref.actual[axes[0]] if len(axes) == 1 else 0
    if 0 < terms <= WRITTEN_OUT and rank:
        pairs = known or (("+", ref, None),)
        refs = tuple(x for _, a, b in pairs for x in (a, b) if x is not None)
        texts, k = [], 0
        for sign, *factors in pairs:
            present = [x for x in factors if x is not None]
            for i in range(terms):
                parts = [
                    f"{{{k + j}}}[{_at(x, axes[0], i, rank)}]" if x.actual else f"{{{k + j}}}"
                    for j, x in enumerate(present)
                ]
                texts.append(f"{sign} {' * '.join(parts)}")
            k += len(present)
        return w.emit(" ".join(texts).removeprefix("+ "), refs, shape, rest, dtype)
    if known and rest and rank <= len(LETTERS) and np.issubdtype(dtype, np.inexact):
        texts = [_contracted(x, y, axes, 2 * k) for k, (_, x, y) in enumerate(known)]
        text = " ".join(f"{sign} {t}" for (sign, _, _), t in zip(known, texts, strict=True))
        refs = tuple(x for _, a, b in known for x in (a, b))
        return w.emit(text.removeprefix("+ "), refs, shape, rest, dtype)
    places = tuple(rank - 1 - a for a in axes)
    return w.emit(f"np.add.reduce({{0}}, {places})", (ref,), shape, rest, dtype)


def _contracted(x: Ref, y: Ref, axes: list[int], k: int) -> str:
    """Sum over the axes of a product; axes that are not there take no part."""
    rank = len(x.shape)
    texts, operands = [], []
    for j, ref in enumerate((x, y)):
        there = [a for a in range(len(ref.actual)) if ref.actual[a] != 1]
        texts.append("".join(LETTERS[a] for a in there)[::-1])
        index = reversed_index([":" if a in there else "0" for a in range(len(ref.actual))])
        operands.append(f"{{{k + j}}}[{index}]" if ref.actual else f"{{{k + j}}}")
    left = [a for a in range(rank) if a not in axes]
    here = [a for a in left if any(LETTERS[a] in text for text in texts)]
    out = "".join(LETTERS[a] for a in here)[::-1]
    back = reversed_index([":" if a in here else "None" for a in left])
    missing = [a for a in axes if not any(LETTERS[a] in text for text in texts)]
    factor = int(np.prod([x.shape[a] for a in missing], dtype=int))
    times = f"{factor} * " if factor != 1 else ""
    return f"{times}np.einsum('{','.join(texts)}->{out}', {', '.join(operands)})[{back}]"


def _at(x: Ref, axis: int, i: int, rank: int) -> str:
    """Index of term i along an axis."""
    index = "0" if x.actual[axis] == 1 else str(i)
    return reversed_index([index if a == axis else ":" for a in range(rank)])


def _reduced(name: str) -> Any:
    def put(w: Writer, eqn: Any, x: Ref) -> Ref:
        shape, dtype = out_of(eqn)
        axes = tuple(len(x.shape) - 1 - int(a) for a in eqn.params["axes"])
        return w.emit(f"np.{name}.reduce({{0}}, {axes})", (w.full(x),), shape, shape, dtype)

    return put


RULES |= {
    "reduce_max": _reduced("maximum"),
    "reduce_min": _reduced("minimum"),
    "reduce_prod": _reduced("multiply"),
    "reduce_and": _reduced("logical_and"),
    "reduce_or": _reduced("logical_or"),
}


@rule("argmax", "argmin")
def _arg(w: Writer, eqn: Any, x: Ref) -> Found:
    (axis,) = eqn.params["axes"]
    shape, dtype = out_of(eqn)
    along, kind = len(x.shape) - 1 - int(axis), np.dtype(dtype).name
    text = f"{{0}}.{eqn.primitive.name}({along}).astype('{kind}')"
    return w.emit(text, (w.full(x),), shape, shape, dtype)


@rule("cumsum")
def _cumsum(w: Writer, eqn: Any, x: Ref) -> Found:
    axis = len(x.shape) - 1 - int(eqn.params["axis"])
    turn = f"[{':, ' * axis}::-1]" if eqn.params.get("reverse") else ""
    text = f"np.cumsum({{0}}{turn}, {axis}){turn}"
    return w.emit(text, (w.full(x),), x.shape, x.shape, x.dtype)


@rule("dot_general")
def _dot(w: Writer, eqn: Any, x: Ref, y: Ref) -> Found:
    shape, dtype = out_of(eqn)
    (cx, cy), (bx, by) = (
        tuple(tuple(int(d) for d in dims) for dims in pair)
        for pair in eqn.params["dimension_numbers"]
    )
    x, y = w.full(x), w.full(y)
    fx = tuple(d for d in range(len(x.shape)) if d not in cx + bx)
    fy = tuple(d for d in range(len(y.shape)) if d not in cy + by)
    batch = tuple(x.shape[d] for d in bx)

    def size(ref: Ref, dims: tuple[int, ...]) -> int:
        return int(np.prod([ref.shape[d] for d in dims], dtype=int))

    k = size(x, cx)
    left = f"{{0}}.T.transpose({bx + fx + cx}).reshape({(*batch, size(x, fx), k)})"
    right = f"{{1}}.T.transpose({by + cy + fy}).reshape({(*batch, k, size(y, fy))})"
    return w.emit(f"np.matmul({left}, {right}).reshape({shape}).T", (x, y), shape, shape, dtype)
