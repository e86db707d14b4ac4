"""Logarithms, powers and the cube root."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from swelltree.engine.machine.functions.body import LOG2, Body, in_parts, shortened
from swelltree.engine.machine.functions.exponentials import exp_of_pair

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
    """Natural logarithm."""
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
    """log(1 + x), what the sum loses added."""
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
    """log x in two parts, for finite x > 0."""
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
    """x^y."""
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
    whole = f.test("oeq", floor, "%y")
    half = f.mul("%y", 0.5)
    even = f.test("oeq", f.call("llvm.floor", half), half)
    sign_bit = f.integer("icmp slt", f.bits("%x"), 0)
    odd = f.both(whole, f.negated(even))
    turn = f.both(sign_bit, odd)
    value = f.pick(turn, f.neg(value), value)
    root = f.both(f.test("olt", "%x", 0.0), f.negated(whole))
    undefined = f.both(root, finite)
    value = f.pick(undefined, math.nan, value)
    strange = f.test("uno", "%x", "%y")
    value = f.pick(strange, math.nan, value)
    value = f.pick(f.test("oeq", "%x", 1.0), 1.0, value)
    return f.pick(f.test("oeq", "%y", 0.0), 1.0, value)


def cube_root(f: Body) -> str:
    """Cube root."""
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
