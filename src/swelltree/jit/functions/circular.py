"""Trigonometric functions and their inverses."""

from __future__ import annotations

import math
from fractions import Fraction

from swelltree.jit.functions.body import PI, Body, in_parts
from swelltree.jit.number_types import shorter

SINE = [float(Fraction((-1) ** n, math.factorial(2 * n + 1))) for n in range(1, 10)]
COSINE = [float(Fraction((-1) ** n, math.factorial(2 * n))) for n in range(2, 11)]


# below this angle the reduction by subtraction loses nothing; beyond it libm takes over on the CPU,
# and on a GPU the result is NaN: neighbouring floats are 1/128 rad apart there
FAR = 2.0**45


def _rest(f: Body) -> tuple[str, str, str]:
    """Quarter turns of the angle %x, remainder and its tail [rad] (Cody and Waite, three parts)."""
    k = f.call("llvm.roundeven", f.mul("%x", float(2 / PI)))
    first, second, third = in_parts(PI / 2, 3)
    r1 = f.fma(f.neg(k), first, "%x")
    w = f.mul(k, second)
    w_low = f.fma(k, second, f.neg(w))
    r = f.sub(r1, w)
    tail = f.sub(f.sub(f.sub(r1, r), w), f.fma(k, third, w_low))
    return f.full(k), r, tail


def _quarter(f: Body) -> tuple[str, str, str]:
    k, r, tail = _rest(f)
    z = f.mul(r, r)
    cube = f.mul(f.mul(z, r), f.series(z, SINE))
    turn = f.fma(f.mul(z, -0.5), tail, tail)
    sine = f.add(r, f.add(cube, turn))
    half = f.mul(z, 0.5)
    w1 = f.sub(1.0, half)
    left = f.sub(f.sub(1.0, w1), half)
    fourth = f.fma(f.mul(z, z), f.series(z, COSINE), f.neg(f.mul(r, tail)))
    cosine = f.add(w1, f.add(left, fourth))
    return k, sine, cosine


def _of_quarter(f: Body, shift: int) -> str:
    k, sine, cosine = _quarter(f)
    q = f.integer("and", f.integer("add", k, shift), 3)
    odd = f.integer("icmp ne", f.integer("and", q, 1), 0)
    value = f.pick(odd, cosine, sine)
    negative = f.integer("icmp uge", q, 2)
    return f.pick(negative, f.neg(value), value)


def sine(f: Body) -> str:
    value = _of_quarter(f, 0)
    return f.pick(f.test("olt", f.abs("%x"), 1e-150), "%x", value)  # the sign of zero


def cosine(f: Body) -> str:
    return _of_quarter(f, 1)


def tangent(f: Body) -> str:
    k, sine, cosine = _quarter(f)
    odd = f.integer("icmp ne", f.integer("and", k, 1), 0)
    top, bottom = f.pick(odd, f.neg(cosine), sine), f.pick(odd, sine, cosine)
    value = f.div(top, bottom)
    return f.pick(f.test("olt", f.abs("%x"), 1e-150), "%x", value)


SHORT_SINE, SHORT_COSINE = SINE[:4], COSINE[:4]  # to the last digit of four bytes


def _short_quarter(f: Body, shift: int) -> str:
    k = f.call("llvm.roundeven", f.mul("%x", float(2 / PI)))
    r, rest = "%x", PI / 2
    for _ in range(3):
        part = shorter(float(rest))
        r, rest = f.fma(f.neg(k), part, r), rest - Fraction(part)
    z = f.mul(r, r)
    sine = f.fma(f.mul(z, r), f.series(z, SHORT_SINE), r)
    cosine = f.fma(f.mul(z, z), f.series(z, SHORT_COSINE), f.fma(z, -0.5, 1.0))
    q = f.integer("and", f.integer("add", f.full(k), shift), 3)
    odd = f.integer("icmp ne", f.integer("and", q, 1), 0)
    value = f.pick(odd, cosine, sine)
    return f.pick(f.integer("icmp uge", q, 2), f.neg(value), value)


def short_sine(f: Body) -> str:
    return _short_quarter(f, 0)


def short_cosine(f: Body) -> str:
    return _short_quarter(f, 1)


ATAN = [float(Fraction((-1) ** n, 2 * n + 1)) for n in range(1, 8)]


def _atan_fraction(x: Fraction) -> Fraction:
    total, term, n = Fraction(0), x / (1 + x * x), 0
    while term > Fraction(1, 10**60):
        total += term
        term *= Fraction(2 * (n + 1), 2 * (n + 1) + 1) * (x * x / (1 + x * x))
        term = Fraction(int(term * 10**80), 10**80)
        n += 1
    return total


def _atan_quotient(f: Body, top: str, bottom: str) -> str:
    """atan(top / bottom) for 0 <= top, bottom, not both zero and not both infinite."""
    swap = f.test("ogt", top, bottom)
    a, b = f.pick(swap, bottom, top), f.pick(swap, top, bottom)  # a <= b
    # atan(a / b) = atan(c) + atan((a - c b) / (b + c a)), c the nearest eighth
    q = f.div(a, b)
    n = f.call("llvm.roundeven", f.mul(q, 8.0))
    c = f.mul(n, 0.125)
    over = f.fma(f.neg(c), b, a)
    under = f.fma(c, a, b)
    zero = f.test("oeq", n, 0.0)
    t = f.pick(zero, q, f.div(over, under))
    z = f.mul(t, t)
    rest = f.mul(f.mul(z, t), f.series(z, ATAN))
    base: str | float = 0.0
    base_low: str | float = 0.0
    for k in range(1, 9):
        high, low = in_parts(_atan_fraction(Fraction(k, 8)), 2)
        hit = f.test("oeq", n, float(k))
        base, base_low = f.pick(hit, high, base), f.pick(hit, low, base_low)
    # what lies above the quarter turn is taken from a right angle
    right, right_low = in_parts(PI / 2, 2)
    sign = f.pick(swap, -1.0, 1.0)
    origin, origin_low = f.pick(swap, right, 0.0), f.pick(swap, right_low, 0.0)
    big = f.fma(sign, base, origin)
    lost = f.sub(f.fma(sign, base, f.sub(origin, big)), 0.0)
    small = f.add(f.fma(sign, rest, origin_low), f.fma(sign, base_low, lost))
    sum_ = f.fma(sign, t, big)
    under_sum = f.fma(sign, t, f.sub(big, sum_))
    return f.add(sum_, f.add(under_sum, small))


def arc_tangent(f: Body) -> str:
    size = f.abs("%x")
    value = _atan_quotient(f, size, f.name(1.0))
    value = f.pick(f.test("olt", size, 1e-150), size, value)
    value = f.pick(f.test("oeq", size, math.inf), float(PI / 2), value)
    value = f.pick(f.test("uno", size, size), size, value)
    return f.call("llvm.copysign", value, "%x")


def arc_tangent_of_two(f: Body) -> str:
    """Angle of the vector (%y, %x): %x, the first argument, is the ordinate."""
    y, x = "%x", "%y"
    a, b = f.abs(y), f.abs(x)
    largest = f.call("llvm.maximum", a, b)
    none = f.test("oeq", largest, 0.0)
    endless = f.test("oeq", largest, math.inf)
    # infinite ones point along an axis or halfway
    one_a = f.pick(f.test("oeq", a, math.inf), 1.0, 0.0)
    one_b = f.pick(f.test("oeq", b, math.inf), 1.0, 0.0)
    a, b = f.pick(endless, one_a, a), f.pick(endless, one_b, b)
    b = f.pick(none, 1.0, b)
    # away from the ends of the range
    small, large = f.test("olt", largest, 1e-280), f.test("ogt", largest, 1e280)
    scale = f.pick(small, 2.0**300, f.pick(large, 2.0**-300, 1.0))
    scale = f.pick(endless, 1.0, f.pick(none, 1.0, scale))
    a, b = f.mul(a, scale), f.mul(b, scale)
    angle = _atan_quotient(f, a, b)
    left = f.integer("icmp slt", f.bits(x), 0)
    pi, pi_low = in_parts(PI, 2)
    angle = f.pick(left, f.add(f.sub(pi, angle), pi_low), angle)
    value = f.call("llvm.copysign", angle, y)
    return f.pick(f.test("uno", x, y), math.nan, value)


def _adjacent(f: Body) -> str:
    """sqrt(1 - x^2)."""
    product = f.mul(f.sub(1.0, "%x"), f.add(1.0, "%x"))
    return f.call("llvm.sqrt", product)


def arc_sine(f: Body) -> str:
    return f.call("atan2", "%x", _adjacent(f))


def arc_cosine(f: Body) -> str:
    return f.call("atan2", _adjacent(f), "%x")
