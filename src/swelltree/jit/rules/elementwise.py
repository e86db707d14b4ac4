"""Rules of elementwise primitives."""

from __future__ import annotations

import numpy as np

from swelltree.jit.blocks import lazy_product
from swelltree.jit.graph import (
    COMPARISONS,
    FLOAT,
    TRUTH,
    Graph,
    UnsupportedOperationError,
    kind_of,
)
from swelltree.jit.lowering import Lowering, rule
from swelltree.jit.traced_types import Equation
from swelltree.jit.values import Value, value_ids

SAME_NAME = ("add", "sub", "mul", "div", "rem", "neg", "abs", "sign", "max", "min", "atan2")
SAME_NAME += ("nextafter", "and", "or", "xor", "not", "sqrt", "sin", "cos", "tan", "asin", "acos")
SAME_NAME += ("atan", "sinh", "cosh", "tanh", "exp", "exp2", "log", "log1p", "expm1", "cbrt")
SAME_NAME += ("shift_left", "shift_right_arithmetic", "shift_right_logical")
SAME_NAME += ("floor", "ceil", *sorted(COMPARISONS))


def each(graph: Graph, name: str, *arrays: np.ndarray) -> np.ndarray:
    """An operation on all elements of arrays, broadcast."""
    shape = np.broadcast_shapes(*(x.shape for x in arrays))
    flat = [
        x.reshape(-1).tolist() if x.shape == shape else np.broadcast_to(x, shape).ravel().tolist()
        for x in arrays
    ]
    op = graph.op
    return np.array([op(name, *x) for x in zip(*flat, strict=True)], dtype=int).reshape(shape)


def filled(graph: Graph, like: np.ndarray, value: float, kind: str = FLOAT) -> np.ndarray:
    return np.full(like.shape, graph.constant(value, kind))


@rule(*SAME_NAME, "is_finite", "add_any")
def _each(flat: Lowering, eqn: Equation, *values: Value) -> Value:
    primitive = str(eqn.primitive.name)
    name = {"is_finite": "finite", "add_any": "add"}.get(primitive, primitive)
    product = lazy_product(flat.graph, *values) if name == "mul" else None
    if product is not None:
        return product
    return each(flat.graph, name, *(value_ids(flat.graph, x) for x in values))


@rule("lt_to", "le_to")
def _in_total_order(flat: Lowering, eqn: Equation, x: Value, y: Value) -> np.ndarray:
    """Less in the order of sorting: -0 before 0, NaN last."""
    graph, x, y = flat.graph, value_ids(flat.graph, x), value_ids(flat.graph, y)
    if kind_of(eqn.invars[0].aval.dtype) != FLOAT:
        return each(graph, str(eqn.primitive.name)[:2], x, y)
    if eqn.primitive.name == "lt_to":
        return _before(graph, x, y)
    return each(graph, "not", _before(graph, y, x))


def _before(graph: Graph, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    one = filled(graph, x, 1.0)
    signs = each(graph, "lt", each(graph, "div", one, x), each(graph, "div", one, y))
    less = each(graph, "where", each(graph, "eq", x, y), signs, each(graph, "lt", x, y))
    last = each(graph, "and", each(graph, "eq", x, x), each(graph, "ne", y, y))
    return each(graph, "or", less, last)


@rule("copy", "copy_p", "stop_gradient", "optimization_barrier")
def _same(flat: Lowering, eqn: Equation, *values: Value) -> list[Value]:
    return list(values)


@rule("reduce_precision")
def _precision(flat: Lowering, eqn: Equation, x: Value) -> Value:
    if eqn.params["exponent_bits"] < 11 or eqn.params["mantissa_bits"] < 52:
        raise UnsupportedOperationError("numbers of reduced precision")
    return x


@rule("convert_element_type")
def _converted(flat: Lowering, eqn: Equation, x: Value) -> Value:
    kind = kind_of(eqn.params["new_dtype"])
    if not isinstance(x, np.ndarray) and kind == kind_of(eqn.invars[0].aval.dtype):
        return x
    graph, x = flat.graph, value_ids(flat.graph, x)
    new = [graph.typed("convert", kind, a) for a in x.reshape(-1).tolist()]
    return np.array(new, dtype=int).reshape(x.shape)


@rule("select_n")
def _selected(flat: Lowering, eqn: Equation, which: Value, *cases: Value) -> np.ndarray:
    graph = flat.graph
    which, arrays = value_ids(graph, which), [value_ids(graph, x) for x in cases]
    if kind_of(eqn.invars[0].aval.dtype) == TRUTH:
        return each(graph, "where", which, arrays[1], arrays[0])
    out = arrays[-1]
    kind = kind_of(eqn.invars[0].aval.dtype)
    for k in reversed(range(len(arrays) - 1)):
        # indices out of range are those of the nearest case
        hit = each(graph, "le", which, filled(graph, which, k, kind))
        out = each(graph, "where", hit, arrays[k], out)
    return out


@rule("clamp")
def _clamped(flat: Lowering, eqn: Equation, low: Value, x: Value, high: Value) -> np.ndarray:
    graph = flat.graph
    low, x, high = (value_ids(graph, v) for v in (low, x, high))
    return each(graph, "min", each(graph, "max", x, low), high)


@rule("pow")
def _power(flat: Lowering, eqn: Equation, x: Value, y: Value) -> np.ndarray:
    graph = flat.graph
    x, y = value_ids(graph, x), value_ids(graph, y)
    if kind_of(eqn.invars[0].aval.dtype) != FLOAT:
        raise UnsupportedOperationError("powers of integers")
    y = np.array(
        [graph.typed("convert", FLOAT, a) for a in y.reshape(-1).tolist()], dtype=int
    ).reshape(y.shape)
    return each(graph, "pow", x, y)


@rule("integer_pow", "square")
def _integer_power(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    graph, x = flat.graph, value_ids(flat.graph, x)
    kind = kind_of(eqn.invars[0].aval.dtype)
    y = 2 if eqn.primitive.name == "square" else int(eqn.params["y"])
    power, square, left = filled(graph, x, 1, kind), x, abs(y)
    while left:
        if left % 2:
            power = each(graph, "mul", power, square)
        left //= 2
        if left:
            square = each(graph, "mul", square, square)
    return power if y >= 0 else each(graph, "div", filled(graph, x, 1, kind), power)


@rule("one_minus_square")
def _one_minus_square(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    """(1 - x)(1 + x), a primitive from JAX 0.12 on."""
    graph, x = flat.graph, value_ids(flat.graph, x)
    one = filled(graph, x, 1.0)
    return each(graph, "mul", each(graph, "sub", one, x), each(graph, "add", one, x))


@rule("log2")
def _binary_logarithm(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    """log(x) / log(2), a primitive from JAX 0.12 on."""
    graph, x = flat.graph, value_ids(flat.graph, x)
    return each(graph, "div", each(graph, "log", x), filled(graph, x, float(np.log(2.0))))


@rule("polynomial")
def _polynomial(flat: Lowering, eqn: Equation, x: Value, *factors: Value) -> np.ndarray:
    """By Horner's scheme, the constant term first; a primitive from JAX 0.12 on."""
    graph, x = flat.graph, value_ids(flat.graph, x)
    *rest, total = (value_ids(graph, factor) for factor in factors)
    for factor in reversed(rest):
        total = each(graph, "add", each(graph, "mul", total, x), factor)
    return np.broadcast_to(total, x.shape)


@rule("rsqrt")
def _inverse_root(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    graph, x = flat.graph, value_ids(flat.graph, x)
    return each(graph, "div", filled(graph, x, 1.0), each(graph, "sqrt", x))


@rule("logistic")
def _logistic(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    graph, x = flat.graph, value_ids(flat.graph, x)
    one = filled(graph, x, 1.0)
    return each(
        graph, "div", one, each(graph, "add", one, each(graph, "exp", each(graph, "neg", x)))
    )


@rule("round")
def _rounded(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    even = int(eqn.params["rounding_method"]) == 1
    return each(flat.graph, "round_even" if even else "round_away", value_ids(flat.graph, x))


@rule("asinh")
def _asinh(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    """sign(x) log(1 + |x| + x^2 / (1 + sqrt(1 + x^2))); the quotient is |x| where x^2 overflows."""
    graph, x = flat.graph, value_ids(flat.graph, x)
    one, size = filled(graph, x, 1.0), each(graph, "abs", x)
    root = each(graph, "sqrt", each(graph, "add", one, each(graph, "mul", x, x)))
    part = each(graph, "div", size, each(graph, "add", one, root))
    rise = each(graph, "add", size, each(graph, "mul", size, part))
    large = each(graph, "gt", size, filled(graph, x, 1e150))
    log2 = filled(graph, x, float(np.log(2.0)))
    far = each(graph, "add", each(graph, "log", size), log2)
    value = each(graph, "where", large, far, each(graph, "log1p", rise))
    return each(graph, "mul", value, each(graph, "sign", x))


@rule("atanh")
def _atanh(flat: Lowering, eqn: Equation, x: Value) -> np.ndarray:
    """sign(x) log(1 + 2 |x| / (1 - |x|)) / 2."""
    graph, x = flat.graph, value_ids(flat.graph, x)
    size = each(graph, "abs", x)
    rest = each(graph, "sub", filled(graph, x, 1.0), size)
    quotient = each(graph, "div", each(graph, "add", size, size), rest)
    value = each(graph, "mul", filled(graph, x, 0.5), each(graph, "log1p", quotient))
    return each(graph, "mul", value, each(graph, "sign", x))
