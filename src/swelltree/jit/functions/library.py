"""Which functions there are, and their text with all they use."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

from swelltree.jit.functions.body import LOG2, Body, function_name, in_parts, shortened
from swelltree.jit.functions.circular import (
    FAR,
    arc_cosine,
    arc_sine,
    arc_tangent,
    arc_tangent_of_two,
    cosine,
    short_cosine,
    short_sine,
    sine,
    tangent,
)
from swelltree.jit.graph import FLOAT, TRUTH
from swelltree.jit.native import LIBM
from swelltree.jit.number_types import SINGLE, Types

# --- Exponential functions

TAYLOR = [float(Fraction(1, math.factorial(n))) for n in range(2, 15)]


def _scaled(f: Body, p: str, n: str) -> str:
    """p 2^n in two steps, so that the ends of the range are reached."""
    first = f.integer("ashr", n, 1)
    second = f.integer("sub", n, first)
    return f.mul(f.mul(p, f.power_of_two(first)), f.power_of_two(second))


def exp_of_pair(f: Body, x: str, low: str | float, halved: bool = False) -> str:
    """exp(x + low), |low| small; or half of it, for arguments up to 711."""
    k = f.call("llvm.roundeven", f.mul(x, float(1 / LOG2)))
    high, rest = in_parts(LOG2, 2)
    r = f.fma(f.neg(k), high, x)
    r = f.add(r, f.fma(f.neg(k), rest, low))
    p = f.add(1.0, f.fma(f.mul(r, r), f.series(r, TAYLOR), r))
    n = f.full(k)
    value = _scaled(f, p, f.integer("sub", n, 1) if halved else n)
    value = f.pick(f.test("ogt", x, 711.0 if halved else 709.9), math.inf, value)
    return f.pick(f.test("olt", x, -745.5), 0.0, value)


def exp(f: Body) -> str:
    return exp_of_pair(f, "%x", 0.0)


def exp2(f: Body) -> str:
    k = f.call("llvm.roundeven", "%x")
    r = f.mul(f.sub("%x", k), float(LOG2))
    p = f.add(1.0, f.fma(f.mul(r, r), f.series(r, TAYLOR), r))
    value = _scaled(f, p, f.full(k))
    value = f.pick(f.test("oge", "%x", 1024.0), math.inf, value)
    return f.pick(f.test("olt", "%x", -1075.5), 0.0, value)


def expm1(f: Body) -> str:
    """2^k (exp(r) - 1) + (2^k - 1)."""
    x = f.pick(f.test("ogt", "%x", 710.0), 710.0, "%x")
    x = f.pick(f.test("olt", x, -40.0), -40.0, x)
    k = f.call("llvm.roundeven", f.mul(x, float(1 / LOG2)))
    high, rest = in_parts(LOG2, 2)
    r = f.fma(f.neg(k), high, x)
    tail = f.mul(f.neg(k), rest)
    s = f.add(r, tail)
    tail = f.add(f.sub(r, s), tail)
    p = f.add(s, f.fma(f.mul(s, s), f.series(s, TAYLOR), f.fma(tail, s, tail)))
    n = f.full(k)
    # 2^1024 is out of range: half of it, twice
    large = f.integer("icmp sgt", n, 1000)
    less = f.pick_integer(large, f.integer("sub", n, 1), n)
    two = f.power_of_two(less)
    value = f.fma(two, p, f.sub(two, 1.0))
    twice = f.mul(f.fma(two, p, two), 2.0)
    value = f.pick(large, twice, value)
    zero = f.integer("icmp eq", n, 0)
    value = f.pick(zero, p, value)
    value = f.pick(f.test("ogt", "%x", 709.9), math.inf, value)
    small = f.test("olt", f.abs("%x"), 1e-300)  # the sign of zero, too
    return f.pick(small, "%x", value)


# --- Logarithms, powers and the cube root

ROOT_BITS = struct.unpack("<Q", struct.pack("<d", math.sqrt(0.5)))[0]


def _mantissa(f: Body, x: str) -> tuple[str, str]:
    """x = m 2^k with m about one: m - 1 and k as floats, for x > 0."""
    tiny = f.test("olt", x, 2.2250738585072014e-308)
    x = f.pick(tiny, f.mul(x, 2.0**54), x)
    bits = f.bits(x)
    # counted from the root of one half on
    k = f.integer("ashr", f.integer("sub", bits, ROOT_BITS), 52)
    m = f.number(f.integer("sub", bits, f.integer("shl", k, 52)))
    k = f.line(f"sitofp {f.I} {k} to {f.F}")
    return f.sub(m, 1.0), f.sub(k, f.pick(tiny, 54.0, 0.0))


ARTANH = [2.0 / (2 * j + 1) for j in range(1, 13)]


def log(f: Body) -> str:
    d, k = _mantissa(f, "%x")
    s = f.div(d, f.add(d, 2.0))
    z = f.mul(s, s)
    half = f.mul(f.mul(d, d), 0.5)
    R = f.mul(z, f.series(z, ARTANH))
    high, low = shortened(LOG2, 40)
    inner = f.fma(s, f.add(half, R), f.mul(k, low))
    value = f.sub(f.mul(k, high), f.sub(f.sub(half, inner), d))
    return _log_ends(f, "%x", value)


def _log_ends(f: Body, x: str, value: str) -> str:
    value = f.pick(f.test("oeq", x, math.inf), math.inf, value)
    value = f.pick(f.test("oeq", x, 0.0), -math.inf, value)
    value = f.pick(f.test("olt", x, 0.0), math.nan, value)
    return f.pick(f.test("uno", x, x), x, value)


def log1p(f: Body) -> str:
    """log(1 + x), with the rounding error of the sum."""
    u = f.add(1.0, "%x")
    lost = f.sub("%x", f.sub(u, 1.0))
    value = f.add(f.call("log", u), f.div(lost, u))
    far = f.test("ogt", f.abs("%x"), 1e17)
    value = f.pick(far, f.call("log", "%x"), value)
    small = f.test("olt", f.abs("%x"), 1e-17)
    value = f.pick(small, "%x", value)
    value = f.pick(f.test("oeq", "%x", -1.0), -math.inf, value)
    return f.pick(f.test("olt", "%x", -1.0), math.nan, value)


def _log_pair(f: Body, x: str) -> tuple[str, str]:
    d, k = _mantissa(f, x)
    e = f.add(d, 2.0)
    e_low = f.add(f.sub(2.0, e), d)
    s = f.div(d, e)
    s_low = f.div(f.sub(f.fma(f.neg(s), e, d), f.mul(s, e_low)), e)
    z = f.mul(s, s)
    z_low = f.fma(s, s, f.neg(z))
    # the first term of the series in two parts as well
    third = in_parts(Fraction(2, 3), 2)
    c = f.mul(z, third[0])
    c_low = f.add(f.fma(z, third[0], f.neg(c)), f.fma(z_low, third[0], f.mul(z, third[1])))
    t = f.mul(s, c)
    t_low = f.add(f.fma(s, c, f.neg(t)), f.fma(s, c_low, f.mul(s_low, f.mul(c, 3.0))))
    rest = f.mul(f.mul(s, f.mul(z, z)), f.series(z, ARTANH[1:]))
    high, low = shortened(LOG2, 40)
    a, b = f.mul(k, high), f.mul(s, 2.0)
    top = f.add(a, b)
    under = f.add(f.sub(a, top), b)
    sum_ = f.add(top, t)
    under = f.add(under, f.add(f.sub(top, sum_), t))
    small = f.add(f.mul(s_low, 2.0), f.add(t_low, f.fma(k, low, rest)))
    under = f.add(under, small)
    out = f.add(sum_, under)
    return out, f.add(f.sub(sum_, out), under)


def power(f: Body) -> str:
    size = f.abs("%x")
    inside = f.test("ogt", size, 0.0)
    finite = f.test("olt", size, math.inf)
    safe = f.pick(inside, f.pick(finite, size, 2.0), 0.5)
    high, low = _log_pair(f, safe)
    p = f.mul("%y", high)
    huge = f.test("ogt", f.abs(p), 1000.0)
    bounded = f.pick(huge, 0.0, "%y")
    p_low = f.fma(bounded, low, f.fma(bounded, high, f.neg(f.mul(bounded, high))))
    value = exp_of_pair(f, p, p_low)
    # ends
    up, down = f.test("ogt", "%y", 0.0), f.test("olt", "%y", 0.0)
    value = f.pick(inside, value, f.pick(up, 0.0, math.inf))
    value = f.pick(finite, value, f.pick(up, math.inf, 0.0))
    endless = f.test("oeq", f.abs("%y"), math.inf)
    grows = f.line(f"xor {f.B} {f.test('ogt', size, 1.0)}, {down}")
    value = f.pick(endless, f.pick(grows, math.inf, 0.0), value)
    value = f.pick(f.test("oeq", size, 1.0), 1.0, value)
    # negative numbers to whole powers
    floor = f.call("llvm.floor", "%y")
    full = f.test("oeq", floor, "%y")
    half = f.mul("%y", 0.5)
    even = f.test("oeq", f.call("llvm.floor", half), half)
    sign_bit = f.integer("icmp slt", f.bits("%x"), 0)
    odd = f.both(full, f.negated(even))
    turn = f.both(sign_bit, odd)
    value = f.pick(turn, f.neg(value), value)
    root = f.both(f.test("olt", "%x", 0.0), f.negated(full))
    undefined = f.both(root, finite)
    value = f.pick(undefined, math.nan, value)
    strange = f.test("uno", "%x", "%y")
    value = f.pick(strange, math.nan, value)
    value = f.pick(f.test("oeq", "%x", 1.0), 1.0, value)
    return f.pick(f.test("oeq", "%y", 0.0), 1.0, value)


def cube_root(f: Body) -> str:
    size = f.abs("%x")
    tiny = f.test("olt", size, 1e-250)
    size = f.pick(tiny, f.mul(size, 2.0**300), size)
    t = f.call("pow", size, 1.0 / 3.0)
    square = f.mul(t, t)
    error = f.fma(square, t, f.neg(size))
    better = f.sub(t, f.div(error, f.mul(square, 3.0)))
    usual = f.both(f.test("ogt", size, 0.0), f.test("olt", size, math.inf))
    value = f.pick(usual, better, t)
    value = f.pick(tiny, f.mul(value, 2.0**-100), value)
    return f.call("llvm.copysign", value, "%x")


# --- Hyperbolic functions

SINE = [float(Fraction(1, math.factorial(2 * n + 1))) for n in range(1, 10)]


def hyperbolic_sine(f: Body) -> str:
    """Hyperbolic sine: its series up to one, then the half difference of exponentials."""
    size = f.abs("%x")
    z = f.mul(size, size)
    near = f.fma(f.mul(z, size), f.series(z, SINE), size)
    half = exp_of_pair(f, size, 0.0, halved=True)
    far = f.sub(half, f.div(0.25, half))
    value = f.pick(f.test("ogt", size, 1.0), far, near)
    return f.call("llvm.copysign", value, "%x")


def hyperbolic_cosine(f: Body) -> str:
    half = exp_of_pair(f, f.abs("%x"), 0.0, halved=True)
    return f.add(half, f.div(0.25, half))


def hyperbolic_tangent(f: Body) -> str:
    """e / (e + 2) with e = exp(2 x) - 1, corrected by the rounding errors of sum and quotient."""
    size = f.abs("%x")
    bounded = f.pick(f.test("ogt", size, 22.0), 22.0, size)
    e = f.call("expm1", f.mul(bounded, 2.0))
    large = f.test("ogt", e, 2.0)
    more, less = f.pick(large, e, 2.0), f.pick(large, 2.0, e)
    s = f.add(more, less)
    lost = f.add(f.sub(more, s), less)
    q = f.div(e, s)
    rest = f.sub(f.fma(f.neg(q), s, e), f.mul(q, lost))
    value = f.add(q, f.div(rest, s))
    return f.call("llvm.copysign", value, "%x")


def _nextafter(f: Body) -> str:
    bits = f.bits("%x")
    up = f.test("olt", "%x", "%y")
    positive = f.test("ogt", "%x", 0.0)
    away = f.line(f"icmp eq {f.B} {up}, {positive}")
    step = f.pick_integer(away, 1, -1)
    value = f.number(f.integer("add", bits, step))
    tiny = f.call("llvm.copysign", 5e-324, "%y")
    value = f.pick(f.test("oeq", "%x", 0.0), tiny, value)
    value = f.pick(f.test("oeq", "%x", "%y"), "%y", value)
    return f.pick(f.test("uno", "%x", "%y"), math.nan, value)


def _rem(f: Body) -> str:
    return f.line(f"frem {f.F} %x, %y")


WRITERS: dict[str, Callable[[Body], str]] = {
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "pow": power,
    "cbrt": cube_root,
    "sin": sine,
    "cos": cosine,
    "tan": tangent,
    "atan": arc_tangent,
    "atan2": arc_tangent_of_two,
    "asin": arc_sine,
    "acos": arc_cosine,
    "sinh": hyperbolic_sine,
    "cosh": hyperbolic_cosine,
    "tanh": hyperbolic_tangent,
    "nextafter": _nextafter,
    "rem": _rem,
}
SHORT: dict[str, Callable[[Body], str]] = {"sin": short_sine, "cos": short_cosine}
OF_TWO = {"pow", "atan2", "nextafter", "rem"}
FAR_SHORT = 2.0**16  # angle from which on that of four bytes is found in eight
REDUCED = "sin", "cos", "tan"  # whose angles are reduced


def function_text(names: set[str], types: Types = SINGLE, libm: bool = True) -> str:
    """LLVM IR of functions and all that they call.

    Args:
        names: of functions.
        types: of their arguments, float64.
        libm: the target has the C library, which takes angles beyond `FAR`; vectors go through it
            lane by lane.
    """
    done: dict[str, str] = {}
    todo = sorted(names)
    while todo:
        name = todo.pop()
        if name not in done:
            f = Body(types)
            done[name] = _defined(name, f, WRITERS[name](f), libm)
            todo += sorted(f.uses)
    return "\n".join(done[name] for name in sorted(done))


def short_function_text(names: set[str]) -> str:
    """float32 functions of `SHORT`. Large arguments go to a function that is not inlined."""
    types, found = Types(1, "float"), []
    for name in sorted(names):
        long, short = function_name(name, SINGLE), function_name(name, types)
        found += [
            f"define internal float @{short}_far(float %x) noinline nounwind {{",
            "  %long = fpext float %x to double",
            f"  %there = call double @{long}(double %long)",
            "  %short = fptrunc double %there to float",
            "  ret float %short",
            "}",
        ]
        f = Body(types)
        near = f.test("ult", f.abs("%x"), FAR_SHORT)
        test = [*f.lines, f"  br i1 {near}, label %own, label %far"]
        there = [f"  %there = call float @{short}_far(float %x)", "  ret float %there"]
        begun = len(f.lines)
        result = SHORT[name](f)
        own = [*f.lines[begun:], f"  ret float {result}", "}"]
        head = f"define internal float @{short}(float %x) alwaysinline nounwind {{"
        found += [head, *test, "far:", *there, "own:", *own]
    return "\n".join(found)


def _defined(name: str, f: Body, result: str, libm: bool) -> str:
    arguments = f"{f.F} %x, {f.F} %y" if name in OF_TWO else f"{f.F} %x"
    head = f"define internal {f.F} @{function_name(name, f.types)}({arguments}) nounwind {{"
    tail: list[str] = []
    if name in REDUCED:
        close = f.test("olt", f.abs("%x"), FAR)
        if libm:
            tail = _far(name, f.types, close, result)
        else:
            result = f.pick(close, result, math.nan)
    return "\n".join([head, *f.lines, *(tail or [f"  ret {f.F} {result}"]), "}"])


def _far(name: str, types: Types, close: str, result: str) -> list[str]:
    """Call libm for arguments beyond `FAR`, lane by lane."""
    T, flags, reduced = types.of(FLOAT), types.of(TRUTH), types.suffix_of("i1")
    lines, near = [], close
    if types.width > 1:
        near = "%near"
        lines.append(f"  %near = call i1 @llvm.vector.reduce.and.{reduced}({flags} {close})")
    lines += [f"  br i1 {near}, label %own, label %far", "own:", f"  ret {T} {result}", "far:"]
    if types.width == 1:
        call = f"  %found = call double @{LIBM}{name}(double %x)"
        return [*lines, call, f"  ret {T} %found"]
    vector = "poison"
    for k in range(types.width):
        lines += [
            f"  %x{k} = extractelement {T} %x, i32 {k}",
            f"  %y{k} = call double @{LIBM}{name}(double %x{k})",
            f"  %z{k} = insertelement {T} {vector}, double %y{k}, i32 {k}",
        ]
        vector = f"%z{k}"
    lines.append(f"  %found = select {flags} {close}, {T} {result}, {T} {vector}")
    return [*lines, f"  ret {T} %found"]
