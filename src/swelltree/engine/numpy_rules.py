"""Lines of numpy for the primitives of JAX.

A rule takes the writer, the equation and its values, and gives the values that come out. Arrays
may have ones where their shape has more: only rules that need the whole shape ask for it. Their
axes are reversed: axis d of JAX is axis rank - 1 - d here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.engine.numpy_writer import RULES, NotKnownError, Ref, Writer

MOST_PRODUCTS = 4  # in a sum that is summed again
Found = Ref | list[Ref]


def rule(*names: str) -> Any:
    """Register a rule."""

    def put(function: Any) -> Any:
        for name in names:
            RULES[name] = function
        return function

    return put


def out_of(eqn: Any, k: int = 0) -> tuple[tuple[int, ...], Any]:
    """Shape and type of a result."""
    aval = eqn.outvars[k].aval
    return tuple(aval.shape), aval.dtype


def each(w: Writer, eqn: Any, text: str, *refs: Ref) -> Ref:
    """Element by element."""
    shape, dtype = out_of(eqn)
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
    "lt_to": "h.before({0}, {1})",
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
        return each(w, eqn, text, *refs)

    return put


RULES |= {name: _plain(text) for name, text in PLAIN.items()}


@rule("mul")
def _mul(w: Writer, eqn: Any, x: Ref, y: Ref) -> Found:
    out = each(w, eqn, "{0} * {1}", x, y)
    if out.value is None:
        w.products[out.number] = (("+", x, y),)
    return out


@rule("add", "add_any", "sub")
def _add(w: Writer, eqn: Any, x: Ref, y: Ref) -> Found:
    sign = "-" if eqn.primitive.name == "sub" else "+"
    out = each(w, eqn, f"{{0}} {sign} {{1}}", x, y)
    both = w.products.get(x.number), w.products.get(y.number)
    if out.value is None and both[0] and both[1] and len(both[0]) + len(both[1]) <= MOST_PRODUCTS:
        turned = tuple((s if sign == "+" else "-+"[s == "-"], a, b) for s, a, b in both[1])
        w.products[out.number] = both[0] + turned
    return out


@rule("div")
def _div(w: Writer, eqn: Any, x: Ref, y: Ref) -> Found:
    whole = np.issubdtype(x.dtype, np.integer)
    return each(w, eqn, "np.trunc({0} / {1}).astype({0}.dtype)" if whole else "{0} / {1}", x, y)


@rule("rem")
def _rem(w: Writer, eqn: Any, x: Ref, y: Ref) -> Found:
    return each(w, eqn, "np.fmod({0}, {1})", x, y)


@rule("integer_pow")
def _integer_pow(w: Writer, eqn: Any, x: Ref) -> Found:
    y = int(eqn.params["y"])
    exponent = abs(y) if x.dtype.kind in "iu" else float(abs(y))
    text = " * ".join(["{0}"] * abs(y)) if 0 < abs(y) <= 4 else f"{{0}} ** {exponent}"
    return each(w, eqn, text if y > 0 else f"1.0 / ({text})", x)


@rule("round")
def _round(w: Writer, eqn: Any, x: Ref) -> Found:
    if int(eqn.params["rounding_method"]) == 1:
        return each(w, eqn, "np.round({0})", x)
    return each(w, eqn, "np.trunc({0} + np.copysign(0.5, {0}))", x)


@rule("select_n")
def _select(w: Writer, eqn: Any, which: Ref, *cases: Ref) -> Found:
    if which.dtype != bool or len(cases) != 2:
        raise NotKnownError("select_n")
    if which.value is not None and which.value.all() == which.value.any():
        # decided beforehand
        return _shaped(w, cases[int(which.value.all())], out_of(eqn)[0])
    return each(w, eqn, "np.where({0}, {2}, {1})", which, *cases)


def _shaped(w: Writer, ref: Ref, shape: tuple[int, ...]) -> Ref:
    return w.full(ref) if ref.shape != shape and ref.actual != () else ref


@rule("convert_element_type")
def _convert(w: Writer, eqn: Any, x: Ref) -> Found:
    dtype = np.dtype(eqn.params["new_dtype"])
    if dtype == x.dtype:
        return x
    if dtype.kind in "iu" and x.dtype.kind == "f":
        return each(w, eqn, f"h.whole({{0}}, '{dtype.name}')", x)
    if x.dtype.kind == "c" and dtype.kind != "c":
        return each(w, eqn, f"np.real({{0}}).astype('{dtype.name}')", x)
    return each(w, eqn, f"{{0}}.astype('{dtype.name}')", x)


def indexed(w: Writer, x: Ref, index: list[str], shape: Any, actual: Any) -> Ref:
    """x with an index; nothing to do for a number."""
    if x.actual == ():
        return Ref(x.number, tuple(shape), (), x.dtype, x.value)
    if all(i == ":" for i in index):
        return Ref(x.number, tuple(shape), tuple(actual), x.dtype, x.value)
    return w.emit(f"{{0}}[{reversed_index(index)}]", (x,), shape, actual, x.dtype)


def reversed_index(index: list[str]) -> str:
    """Text of an index that has an entry for every axis."""
    return ", ".join(index[::-1])


def many(w: Writer, eqn: Any, text: str, refs: tuple[Ref, ...]) -> list[Ref]:
    """Several results of one call."""
    all_of_it = w.new((), (), float)
    w.lines.append((all_of_it, text, refs))
    out = []
    for k in range(len(eqn.outvars)):
        shape, dtype = out_of(eqn, k)
        out.append(w.emit(f"h.turned({{0}}[{k}])", (all_of_it,), shape, shape, dtype))
    return out
