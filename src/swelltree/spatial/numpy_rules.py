"""Lines of numpy for the primitives of JAX.

A rule takes the writer, the equation and its values, and gives the values that come out. Arrays
may have ones where their shape has more: only rules that need the whole shape ask for it. Their
axes are reversed: axis d of JAX is axis rank - 1 - d here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.spatial import numpy_helpers as helpers
from swelltree.spatial.in_numpy import NotKnownError, Ref, Writer, run_of, written

CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "remat": "jaxpr"}
CALLS |= {"custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "core_call": "jaxpr"}
WRITTEN_OUT = 6  # most terms of a sum that is written out
LARGE = 1000  # entries above which it pays to copy an array into the order of its axes
MOST_PRODUCTS = 4  # in a sum that is summed again
LETTERS = "abcdefghijklmnop"
Found = Ref | list[Ref]
RULES: dict[str, Any] = {}


class Closed:
    """A program without constants of its own."""

    def __init__(self, jaxpr: Any) -> None:
        self.jaxpr, self.consts = jaxpr, ()


def inner_program(eqn: Any) -> Any:
    """The program that an equation only calls."""
    key = CALLS.get(eqn.primitive.name)
    found = None if key is None else eqn.params.get(key)
    return Closed(found) if found is not None and not hasattr(found, "consts") else found


def rule(*names: str) -> Any:
    """Register a rule."""

    def put(function: Any) -> Any:
        for name in names:
            RULES[name] = function
        return function

    return put


def _out(eqn: Any, k: int = 0) -> tuple[tuple[int, ...], Any]:
    aval = eqn.outvars[k].aval
    return tuple(aval.shape), aval.dtype


def _each(w: Writer, eqn: Any, text: str, *refs: Ref) -> Ref:
    """Element by element."""
    shape, dtype = _out(eqn)
    return w.emit(text, refs, shape, np.broadcast_shapes(*(x.actual for x in refs)), dtype)


PLAIN = {
    "neg": "-{0}",
    "max": "np.maximum({0}, {1})",
    "min": "np.minimum({0}, {1})",
    "lt": "{0} < {1}",
    "gt": "{0} > {1}",
    "le": "{0} <= {1}",
    "ge": "{0} >= {1}",
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "not": "~{0}",
    "square": "{0} * {0}",
    "sqrt": "np.sqrt({0})",
    "rsqrt": "1.0 / np.sqrt({0})",
    "cbrt": "np.cbrt({0})",
    "atan2": "np.arctan2({0}, {1})",
    "asin": "np.arcsin({0})",
    "acos": "np.arccos({0})",
    "atan": "np.arctan({0})",
    "log1p": "np.log1p({0})",
    "expm1": "np.expm1({0})",
    "pow": "{0} ** {1}",
    "is_finite": "np.isfinite({0})",
    "real": "np.real({0})",
    "imag": "np.imag({0})",
    "conj": "np.conj({0})",
    "complex": "{0} + 1j * {1}",
    "copy": "{0}",
    "stop_gradient": "{0}",
    "copy_p": "{0}",
    "clamp": "np.clip({1}, {0}, {2})",
    "logistic": "1.0 / (1.0 + np.exp(-{0}))",
}
PLAIN |= {x: f"np.{x}({{0}})" for x in ("sin", "cos", "tan", "tanh", "sinh", "cosh", "exp", "log")}
PLAIN |= {x: f"np.{x}({{0}})" for x in ("abs", "sign", "floor", "ceil", "exp2")}


def _plain(text: str) -> Any:
    def put(w: Writer, eqn: Any, *refs: Ref) -> Ref:
        return _each(w, eqn, text, *refs)

    return put


RULES |= {name: _plain(text) for name, text in PLAIN.items()}


@rule("mul")
def _mul(w: Writer, eqn: Any, x: Ref, y: Ref) -> Found:
    out = _each(w, eqn, "{0} * {1}", x, y)
    if out.value is None:
        w.products[out.number] = (("+", x, y),)
    return out


@rule("add", "add_any", "sub")
def _add(w: Writer, eqn: Any, x: Ref, y: Ref) -> Found:
    sign = "-" if eqn.primitive.name == "sub" else "+"
    out = _each(w, eqn, f"{{0}} {sign} {{1}}", x, y)
    both = w.products.get(x.number), w.products.get(y.number)
    if out.value is None and both[0] and both[1] and len(both[0]) + len(both[1]) <= MOST_PRODUCTS:
        turned = tuple((s if sign == "+" else "-+"[s == "-"], a, b) for s, a, b in both[1])
        w.products[out.number] = both[0] + turned
    return out


@rule("div")
def _div(w: Writer, eqn: Any, x: Ref, y: Ref) -> Found:
    whole = np.issubdtype(x.dtype, np.integer)
    return _each(w, eqn, "np.trunc({0} / {1}).astype({0}.dtype)" if whole else "{0} / {1}", x, y)


@rule("rem")
def _rem(w: Writer, eqn: Any, x: Ref, y: Ref) -> Found:
    return _each(w, eqn, "np.fmod({0}, {1})", x, y)


@rule("integer_pow")
def _integer_pow(w: Writer, eqn: Any, x: Ref) -> Found:
    y = int(eqn.params["y"])
    text = " * ".join(["{0}"] * abs(y)) if 0 < abs(y) <= 4 else f"{{0}} ** {float(abs(y))}"
    return _each(w, eqn, text if y > 0 else f"1.0 / ({text})", x)


@rule("round")
def _round(w: Writer, eqn: Any, x: Ref) -> Found:
    if int(eqn.params["rounding_method"]) == 1:
        return _each(w, eqn, "np.round({0})", x)
    return _each(w, eqn, "np.trunc({0} + np.copysign(0.5, {0}))", x)


@rule("select_n")
def _select(w: Writer, eqn: Any, which: Ref, *cases: Ref) -> Found:
    if which.dtype != bool or len(cases) != 2:
        raise NotKnownError("select_n")
    if which.value is not None and which.value.all() == which.value.any():
        # decided beforehand
        return _shaped(w, cases[int(which.value.all())], _out(eqn)[0])
    return _each(w, eqn, "np.where({0}, {2}, {1})", which, *cases)


def _shaped(w: Writer, ref: Ref, shape: tuple[int, ...]) -> Ref:
    return w.full(ref) if ref.shape != shape and ref.actual != () else ref


@rule("convert_element_type")
def _convert(w: Writer, eqn: Any, x: Ref) -> Found:
    dtype = np.dtype(eqn.params["new_dtype"])
    return x if dtype == x.dtype else _each(w, eqn, f"{{0}}.astype('{dtype.name}')", x)


# --- shapes ----------------------------------------------------------------------------------
def _indexed(w: Writer, x: Ref, index: list[str], shape: Any, actual: Any) -> Ref:
    """x with an index; nothing to do for a number."""
    if x.actual == ():
        return Ref(x.number, tuple(shape), (), x.dtype, x.value)
    if all(i == ":" for i in index):
        return Ref(x.number, tuple(shape), tuple(actual), x.dtype, x.value)
    return w.emit(f"{{0}}[{_reversed(index)}]", (x,), shape, actual, x.dtype)


def _reversed(index: list[str]) -> str:
    """Text of an index that has an entry for every axis."""
    return ", ".join(index[::-1])


@rule("broadcast_in_dim")
def _broadcast(w: Writer, eqn: Any, x: Ref, *_: Ref) -> Found:
    shape = _out(eqn)[0]
    dims = tuple(int(d) for d in eqn.params["broadcast_dimensions"])
    index = [":" if d in dims else "None" for d in range(len(shape))]
    actual = [x.actual[dims.index(d)] if d in dims and x.actual else 1 for d in range(len(shape))]
    return _indexed(w, x, index, shape, actual)


@rule("slice")
def _slice(w: Writer, eqn: Any, x: Ref) -> Found:
    shape, p = _out(eqn)[0], eqn.params
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
    return _indexed(w, x, index, shape, actual)


@rule("squeeze")
def _squeeze(w: Writer, eqn: Any, x: Ref) -> Found:
    gone = {int(d) % len(x.shape) for d in eqn.params["dimensions"]}
    index = ["0" if d in gone else ":" for d in range(len(x.shape))]
    actual = [n for d, n in enumerate(x.actual) if d not in gone]
    return _indexed(w, x, index, _out(eqn)[0], actual)


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
    shape = _out(eqn)[0]
    if eqn.params.get("dimensions") is not None:
        x = _turned(w, x, tuple(int(d) for d in eqn.params["dimensions"]))
    if x.actual == ():
        return Ref(x.number, shape, (), x.dtype, x.value)
    ones = [d for d in range(len(x.shape)) if x.shape[d] == 1]
    if [n for n in x.shape if n != 1] == [n for n in shape if n != 1]:
        # axes of one come and go
        bare = _indexed(
            w,
            x,
            ["0" if d in ones else ":" for d in range(len(x.shape))],
            [n for n in x.shape if n != 1],
            [n for d, n in enumerate(x.actual) if d not in ones],
        )
        left = iter(bare.actual)
        actual = [1 if n == 1 else next(left) for n in shape]
        return _indexed(w, bare, ["None" if n == 1 else ":" for n in shape], shape, actual)
    x = w.full(x)
    text = f"np.ascontiguousarray({{0}}.T.reshape({shape}).T)"
    return w.emit(text, (x,), shape, shape, x.dtype)


def _alike(w: Writer, refs: tuple[Ref, ...], along: int | None) -> list[Ref]:
    """Arrays made equal in all dimensions but one, as small as they may be."""
    rank = len(refs[0].shape)
    common = [1] * rank
    for x in refs:
        for d, n in enumerate(x.actual):
            common[d] = max(common[d], n)
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
    shape, dtype = _out(eqn)
    parts = _alike(w, refs, along)
    actual = list(parts[0].actual)
    actual[along] = shape[along]
    text = ", ".join(f"{{{i}}}" for i in range(len(parts)))
    axis = len(shape) - 1 - along
    return w.emit(f"np.concatenate(({text},), {axis})", tuple(parts), shape, actual, dtype)


@rule("stack")
def _stack(w: Writer, eqn: Any, *refs: Ref) -> Found:
    axis = int(eqn.params["axis"])
    shape, dtype = _out(eqn)
    if not refs[0].shape:
        text = ", ".join(f"{{{i}}}" for i in range(len(refs)))
        return w.emit(f"np.array(({text},))", refs, shape, shape, dtype)
    parts = _alike(w, refs, None)
    index = _reversed([":"] * axis + ["None"] + [":"] * (len(shape) - 1 - axis))
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
        out.append(_indexed(w, x, index, _out(eqn, k)[0], actual))
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
        out.append(_indexed(w, x, index, _out(eqn, k)[0], actual))
        first = last
    return out


@rule("rev")
def _rev(w: Writer, eqn: Any, x: Ref) -> Found:
    turned = {int(d) for d in eqn.params["dimensions"]}
    index = ["::-1" if d in turned else ":" for d in range(len(x.shape))]
    return _indexed(w, x, index, x.shape, x.actual)


@rule("iota")
def _iota(w: Writer, eqn: Any, *_: Ref) -> Found:
    shape, dtype = _out(eqn)
    d = int(eqn.params["dimension"])
    run = np.arange(shape[d], dtype=dtype)
    return w.constant(run.reshape([-1 if i == d else 1 for i in range(len(shape))]), shape)


@rule("pad")
def _pad(w: Writer, eqn: Any, x: Ref, value: Ref) -> Found:
    shape, dtype = _out(eqn)
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
    own = w.keep((shape[::-1], tuple(into[::-1]), tuple(part[::-1])))
    return w.emit(f"h.padded({{0}}, {{1}}, *{own})", (w.full(x), value), shape, shape, dtype)


# --- sums ------------------------------------------------------------------------------------
@rule("reduce_sum")
def _sum(w: Writer, eqn: Any, x: Ref) -> Found:
    shape, dtype = _out(eqn)
    axes = sorted(int(a) for a in eqn.params["axes"])
    # along dimensions that are not there all terms are equal
    same = [a for a in axes if not x.actual or (x.actual[a] == 1)]
    factor = int(np.prod([x.shape[a] for a in same], dtype=int))
    real = [a for a in axes if a not in same]
    index = ["0" if a in same else ":" for a in range(len(x.shape))]
    actual = [n for a, n in enumerate(x.actual) if a not in same]
    left = [n for a, n in enumerate(x.shape) if a not in same]
    ref = _indexed(w, x, index, left, actual)
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
    found = () if product is None else w.products.get(product.number, ())
    terms = ref.actual[axes[0]] if len(axes) == 1 else 0
    if 0 < terms <= WRITTEN_OUT and rank:
        pairs = found or (("+", ref, None),)
        refs = tuple(x for _, a, b in pairs for x in (a, b) if x is not None)
        texts, k = [], 0
        for sign, *factors in pairs:
            own = [x for x in factors if x is not None]
            for i in range(terms):
                parts = [
                    f"{{{k + j}}}[{_at(x, axes[0], i, rank)}]" if x.actual else f"{{{k + j}}}"
                    for j, x in enumerate(own)
                ]
                texts.append(f"{sign} {' * '.join(parts)}")
            k += len(own)
        return w.emit(" ".join(texts).removeprefix("+ "), refs, shape, rest, dtype)
    if found and rest and rank <= len(LETTERS) and np.issubdtype(dtype, np.inexact):
        texts = [_contracted(x, y, axes, 2 * k) for k, (_, x, y) in enumerate(found)]
        text = " ".join(f"{sign} {t}" for (sign, _, _), t in zip(found, texts, strict=True))
        refs = tuple(x for _, a, b in found for x in (a, b))
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
        index = _reversed([":" if a in there else "0" for a in range(len(ref.actual))])
        operands.append(f"{{{k + j}}}[{index}]" if ref.actual else f"{{{k + j}}}")
    left = [a for a in range(rank) if a not in axes]
    here = [a for a in left if any(LETTERS[a] in text for text in texts)]
    out = "".join(LETTERS[a] for a in here)[::-1]
    back = _reversed([":" if a in here else "None" for a in left])
    missing = [a for a in axes if not any(LETTERS[a] in text for text in texts)]
    factor = int(np.prod([x.shape[a] for a in missing], dtype=int))
    times = f"{factor} * " if factor != 1 else ""
    return f"{times}np.einsum('{','.join(texts)}->{out}', {', '.join(operands)})[{back}]"


def _at(x: Ref, axis: int, i: int, rank: int) -> str:
    """Index of term i along an axis."""
    own = "0" if x.actual[axis] == 1 else str(i)
    return _reversed([own if a == axis else ":" for a in range(rank)])


def _reduced(name: str) -> Any:
    def put(w: Writer, eqn: Any, x: Ref) -> Ref:
        shape, dtype = _out(eqn)
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
    shape, dtype = _out(eqn)
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
    shape, dtype = _out(eqn)
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


# --- places ----------------------------------------------------------------------------------
def _mode(eqn: Any) -> str:
    return str(eqn.params["mode"]).rsplit(".", maxsplit=1)[-1].split(":", maxsplit=1)[0]


@rule("gather")
def _gather(w: Writer, eqn: Any, x: Ref, start: Ref) -> Found:
    shape, dtype = _out(eqn)
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
    own = w.keep((x.shape, sizes, map_, batch))
    index = f"h.places({own}[0], {{1}}.T, *{own}[1:]).squeeze({drop}).transpose({final}).T"
    return w.emit(f"{{0}}.reshape(-1)[{index}]", (x, w.full(start)), shape, shape, dtype)


def _axis_take(x: Ref, n: Any, sizes: tuple[int, ...]) -> bool:
    """Whole rows along one axis, nothing else."""
    (d,) = (int(k) for k in n.start_index_map)
    whole = all(s == x.shape[k] for k, s in enumerate(sizes) if k != d)
    return whole and sizes[d] == 1 and [int(k) for k in n.collapsed_slice_dims] == [d]


def _taken(w: Writer, eqn: Any, x: Ref, start: np.ndarray, d: int, final: list[int]) -> Ref:
    shape, dtype = _out(eqn)
    if x.actual == ():
        return Ref(x.number, shape, (), x.dtype, x.value)
    index = np.clip(start[..., 0], 0, x.shape[d] - 1)
    single = x.actual[d] == 1 and x.shape[d] != 1
    if single:
        index = np.zeros_like(index)
    own = w.keep(np.ascontiguousarray(index.T))
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
    text = f"{{0}}[{':, ' * (len(x.actual) - 1 - d)}{own}]"
    if order != tuple(range(rank)):
        text += f".transpose({tuple(rank - 1 - k for k in order[::-1])})"
    return w.emit(text, (x,), shape, [sizes[k] for k in order], dtype)


@rule("scatter-add", "scatter", "scatter-mul")
def _scatter(w: Writer, eqn: Any, x: Ref, start: Ref, updates: Ref) -> Found:
    shape, dtype = _out(eqn)
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
        own = w.keep(helpers.windows(start.known(), *how))
        return w.emit(f"h.scattered({{0}}, {{1}}, '{kind}', *{own})", refs, shape, shape, dtype)
    text = f"h.scattered({{0}}, {{1}}, '{kind}', *h.windows({{2}}.T, *{w.keep(how)}))"
    return w.emit(text, (*refs, w.full(start)), shape, shape, dtype)


@rule("dynamic_slice")
def _dynamic_slice(w: Writer, eqn: Any, x: Ref, *starts: Ref) -> Found:
    shape, dtype = _out(eqn)
    x = w.full(x)
    parts = [
        f"slice(int(min(max({{{k + 1}}}, 0), {x.shape[k] - n})), "
        f"int(min(max({{{k + 1}}}, 0), {x.shape[k] - n})) + {n})"
        for k, n in enumerate(shape)
    ]
    return w.emit(f"{{0}}[({', '.join(parts[::-1])},)]", (x, *starts), shape, shape, dtype)


@rule("fft")
def _fft(w: Writer, eqn: Any, x: Ref) -> Found:
    shape, dtype = _out(eqn)
    kind = str(eqn.params["fft_type"]).rsplit(".", maxsplit=1)[-1].split(":", maxsplit=1)[0]
    lengths = eqn.params["fft_lengths"]
    names = {"FFT": "fft", "IFFT": "ifft", "RFFT": "rfft", "IRFFT": "irfft"}
    name = names.get({"0": "FFT", "1": "IFFT", "2": "RFFT", "3": "IRFFT"}.get(kind, kind))
    if len(lengths) != 1 or name is None:
        raise NotKnownError("fft")
    text = f"np.fft.{name}({{0}}, {int(lengths[0])}, axis=0)"
    return w.emit(text, (w.full(x),), shape, shape, dtype)


# --- linear algebra --------------------------------------------------------------------------
@rule("cholesky")
def _cholesky(w: Writer, eqn: Any, x: Ref) -> Found:
    shape, dtype = _out(eqn)
    return w.emit("h.cholesky({0}.T).T", (w.full(x),), shape, shape, dtype)


@rule("triangular_solve")
def _triangular(w: Writer, eqn: Any, a: Ref, b: Ref) -> Found:
    p, (shape, dtype) = eqn.params, _out(eqn)
    if not p["left_side"] or p["conjugate_a"]:
        raise NotKnownError("triangular_solve")
    how = f"{bool(p['lower'])}, {bool(p['transpose_a'])}, {bool(p['unit_diagonal'])}"
    refs = (w.full(a), w.full(b))
    return w.emit(f"h.triangular({{0}}.T, {{1}}.T, {how}).T", refs, shape, shape, dtype)


@rule("qr")
def _qr(w: Writer, eqn: Any, x: Ref) -> Found:
    if eqn.params["pivoting"]:
        raise NotKnownError("qr")
    mode = "complete" if eqn.params["full_matrices"] else "reduced"
    return _many(w, eqn, f"np.linalg.qr({{0}}.T, '{mode}')", (w.full(x),))


@rule("custom_linear_solve")
def _linear_solve(w: Writer, eqn: Any, *refs: Ref) -> Found:
    sizes, solve = eqn.params["const_lengths"], eqn.params["jaxprs"].solve
    first = sizes.matvec + sizes.vecmat
    own = refs[first : first + sizes.solve]
    b = refs[first + sizes.solve + sizes.transpose_solve :]
    return written(solve.jaxpr, solve.consts, [*own, *b], w)


# --- loops -----------------------------------------------------------------------------------
def _many(w: Writer, eqn: Any, text: str, refs: tuple[Ref, ...]) -> list[Ref]:
    """Several results of one call."""
    all_of_it = w.new((), (), float)
    w.lines.append((all_of_it, text, refs))
    out = []
    for k in range(len(eqn.outvars)):
        shape, dtype = _out(eqn, k)
        out.append(w.emit(f"h.turned({{0}}[{k}])", (all_of_it,), shape, shape, dtype))
    return out


def _listed(first: int, last: int) -> str:
    return "(" + "".join(f"{{{i}}}.T, " for i in range(first, last)) + ")"


@rule("while")
def _while(w: Writer, eqn: Any, *refs: Ref) -> Found:
    p = eqn.params
    a, b = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
    full = tuple(w.full(x) for x in refs)
    test, body = w.keep(run_of(p["cond_jaxpr"])[1]), w.keep(run_of(p["body_jaxpr"])[1])
    parts = f"{_listed(0, a)}, {_listed(a, b)}, {_listed(b, len(refs))}"
    return _many(w, eqn, f"h.looped({test}, {body}, {parts})", full)


@rule("scan")
def _scan(w: Writer, eqn: Any, *refs: Ref) -> Found:
    p = eqn.params
    a, b = p["num_consts"], p["num_consts"] + p["num_carry"]
    full = tuple(w.full(x) for x in refs)
    body = w.keep(run_of(p["jaxpr"])[1])
    parts = f"{_listed(0, a)}, {_listed(a, b)}, {_listed(b, len(refs))}"
    text = f"h.scanned({body}, {p['length']}, {bool(p['reverse'])}, {parts})"
    return _many(w, eqn, text, full)


@rule("cond")
def _cond(w: Writer, eqn: Any, index: Ref, *refs: Ref) -> Found:
    full = tuple(w.full(x) for x in refs)
    own = w.keep(tuple(run_of(branch)[1] for branch in eqn.params["branches"]))
    text = f"h.chosen({own}, {{0}}, {_listed(1, 1 + len(refs))})"
    return _many(w, eqn, text, (index, *full))
