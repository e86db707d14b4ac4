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
from swelltree.jit.lowering import Lowering, number_rule, rule
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


def converted(graph: Graph, kind: str, x: np.ndarray) -> np.ndarray:
    new = [graph.typed("convert", kind, a) for a in x.reshape(-1).tolist()]
    return np.array(new, dtype=int).reshape(x.shape)


@rule(*SAME_NAME, "is_finite", "add_any")
def _each(flat: Lowering, eqn: Equation, *values: Value) -> Value:
    primitive = str(eqn.primitive.name)
    name = {"is_finite": "finite", "add_any": "add"}.get(primitive, primitive)
    product = lazy_product(flat.graph, *values) if name == "mul" else None
    if product is not None:
        return product
    return each(flat.graph, name, *(value_ids(flat.graph, x) for x in values))


@number_rule("lt_to", "le_to")
def _in_total_order(graph: Graph, eqn: Equation, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Less in the order of sorting: -0 before 0, NaN last."""
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
    return converted(flat.graph, kind, value_ids(flat.graph, x))


@number_rule("select_n")
def _selected(graph: Graph, eqn: Equation, which: np.ndarray, *cases: np.ndarray) -> np.ndarray:
    kind = kind_of(eqn.invars[0].aval.dtype)
    if kind == TRUTH:
        return each(graph, "where", which, cases[1], cases[0])
    out = cases[-1]
    for k in reversed(range(len(cases) - 1)):
        # indices out of range are those of the nearest case
        hit = each(graph, "le", which, filled(graph, which, k, kind))
        out = each(graph, "where", hit, cases[k], out)
    return out


@number_rule("clamp")
def _clamped(
    graph: Graph, eqn: Equation, low: np.ndarray, x: np.ndarray, high: np.ndarray
) -> np.ndarray:
    return each(graph, "min", each(graph, "max", x, low), high)


@number_rule("pow")
def _power(graph: Graph, eqn: Equation, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if kind_of(eqn.invars[0].aval.dtype) != FLOAT:
        raise UnsupportedOperationError("powers of integers")
    return each(graph, "pow", x, converted(graph, FLOAT, y))


@number_rule("integer_pow", "square")
def _integer_power(graph: Graph, eqn: Equation, x: np.ndarray) -> np.ndarray:
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


@number_rule("one_minus_square")
def _one_minus_square(graph: Graph, eqn: Equation, x: np.ndarray) -> np.ndarray:
    """(1 - x)(1 + x), a primitive from JAX 0.12 on."""
    one = filled(graph, x, 1.0)
    return each(graph, "mul", each(graph, "sub", one, x), each(graph, "add", one, x))


@number_rule("log2")
def _binary_logarithm(graph: Graph, eqn: Equation, x: np.ndarray) -> np.ndarray:
    """log(x) / log(2), a primitive from JAX 0.12 on."""
    return each(graph, "div", each(graph, "log", x), filled(graph, x, float(np.log(2.0))))


@number_rule("polynomial")
def _polynomial(graph: Graph, eqn: Equation, x: np.ndarray, *factors: np.ndarray) -> np.ndarray:
    """By Horner's scheme, the constant term first; a primitive from JAX 0.12 on."""
    *rest, total = factors
    for factor in reversed(rest):
        total = each(graph, "add", each(graph, "mul", total, x), factor)
    return np.broadcast_to(total, x.shape)


@number_rule("rsqrt")
def _inverse_root(graph: Graph, eqn: Equation, x: np.ndarray) -> np.ndarray:
    return each(graph, "div", filled(graph, x, 1.0), each(graph, "sqrt", x))


@number_rule("logistic")
def _logistic(graph: Graph, eqn: Equation, x: np.ndarray) -> np.ndarray:
    one, small = filled(graph, x, 1.0), each(graph, "exp", each(graph, "neg", x))
    return each(graph, "div", one, each(graph, "add", one, small))


@number_rule("round")
def _rounded(graph: Graph, eqn: Equation, x: np.ndarray) -> np.ndarray:
    even = int(eqn.params["rounding_method"]) == 1
    return each(graph, "round_even" if even else "round_away", x)


@number_rule("asinh")
def _asinh(graph: Graph, eqn: Equation, x: np.ndarray) -> np.ndarray:
    """sign(x) log(1 + |x| + x^2 / (1 + sqrt(1 + x^2))); the quotient is |x| where x^2 overflows."""
    one, size = filled(graph, x, 1.0), each(graph, "abs", x)
    root = each(graph, "sqrt", each(graph, "add", one, each(graph, "mul", x, x)))
    part = each(graph, "div", size, each(graph, "add", one, root))
    rise = each(graph, "add", size, each(graph, "mul", size, part))
    large = each(graph, "gt", size, filled(graph, x, 1e150))
    log2 = filled(graph, x, float(np.log(2.0)))
    far = each(graph, "add", each(graph, "log", size), log2)
    value = each(graph, "where", large, far, each(graph, "log1p", rise))
    return each(graph, "mul", value, each(graph, "sign", x))


@number_rule("atanh")
def _atanh(graph: Graph, eqn: Equation, x: np.ndarray) -> np.ndarray:
    """sign(x) log(1 + 2 |x| / (1 - |x|)) / 2."""
    size = each(graph, "abs", x)
    rest = each(graph, "sub", filled(graph, x, 1.0), size)
    quotient = each(graph, "div", each(graph, "add", size, size), rest)
    value = each(graph, "mul", filled(graph, x, 0.5), each(graph, "log1p", quotient))
    return each(graph, "mul", value, each(graph, "sign", x))


# --- sort: odd-even transposition, for short rows ---
MAX_SORTED = 32  # numbers of a row: exchanges grow with their square


@rule("sort")
def _sorted(flat: Lowering, eqn: Equation, *values: Value) -> list[np.ndarray]:
    """Rows in the order of the first of them, of equal ones in that of the next.

    Neighbours change places in as many rounds as there are numbers, every other pair in each; equal
    ones never do, so that their order stays.
    """
    graph, keys = flat.graph, int(eqn.params["num_keys"])
    axis = int(eqn.params["dimension"])
    arrays = [np.moveaxis(value_ids(graph, x), axis, 0).copy() for x in values]
    count = len(arrays[0])
    if count > MAX_SORTED:
        raise UnsupportedOperationError(f"{count} numbers put in order, more than {MAX_SORTED}")
    for turn in range(count):
        for k in range(turn % 2, count - 1, 2):
            pairs = [(np.array(x[k]), np.array(x[k + 1])) for x in arrays]
            change = _sorted_before(graph, [(b, a) for a, b in pairs[:keys]])
            for x, (a, b) in zip(arrays, pairs, strict=True):
                x[k] = each(graph, "where", change, b, a)
                x[k + 1] = each(graph, "where", change, a, b)
    return [np.moveaxis(x, 0, axis) for x in arrays]


def _sorted_before(graph: Graph, pairs: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Order of sorting: zeros of both signs are equal, NaN is last."""
    (a, b), *rest = pairs
    kind = graph.kinds[int(a.reshape(-1)[0])] if a.size else FLOAT
    if kind == TRUTH:
        less, same = each(graph, "and", each(graph, "not", a), b), each(graph, "eq", a, b)
    else:
        less, same = each(graph, "lt", a, b), each(graph, "eq", a, b)
    if kind == FLOAT:
        strange_a, strange_b = each(graph, "ne", a, a), each(graph, "ne", b, b)
        number = each(graph, "not", strange_a)
        less = each(graph, "or", less, each(graph, "and", number, strange_b))
        same = each(graph, "or", same, each(graph, "and", strange_a, strange_b))
    if not rest:
        return less
    return each(graph, "or", less, each(graph, "and", same, _sorted_before(graph, rest)))
