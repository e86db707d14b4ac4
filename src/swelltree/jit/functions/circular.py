"""Circular functions and their inverses."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from swelltree.jit.functions.body import PI, Body, in_parts
from swelltree.jit.number_types import literal, shorter

Rest = Callable[[Body], tuple[str, str, str]]  # quarter turns of %x, the rest and its tail [rad]
SINE = [float(Fraction((-1) ** n, math.factorial(2 * n + 1))) for n in range(1, 10)]
COSINE = [float(Fraction((-1) ** n, math.factorial(2 * n))) for n in range(2, 11)]


def near_rest(f: Body) -> tuple[str, str, str]:
    """Quarter turns of the angle %x below `FAR`, the rest and its tail [rad]."""
    k = f.call("llvm.roundeven", f.mul("%x", float(2 / PI)))
    first, second, third = in_parts(PI / 2, 3)
    r1 = f.fma(f.neg(k), first, "%x")
    w = f.mul(k, second)
    w_low = f.fma(k, second, f.neg(w))
    r = f.sub(r1, w)
    tail = f.sub(f.sub(f.sub(r1, r), w), f.fma(k, third, w_low))
    return f.full(k), r, tail


def _quarter(f: Body, rest: Rest) -> tuple[str, str, str]:
    """Which quarter turn an angle is in, and sine and cosine of the rest."""
    k, r, tail = rest(f)
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


def _of_quarter(f: Body, shift: int, rest: Rest) -> str:
    k, sine, cosine = _quarter(f, rest)
    q = f.integer("and", f.integer("add", k, shift), 3)
    odd = f.integer("icmp ne", f.integer("and", q, 1), 0)
    value = f.pick(odd, cosine, sine)
    negative = f.integer("icmp uge", q, 2)
    return f.pick(negative, f.neg(value), value)


def sine(f: Body, rest: Rest = near_rest) -> str:
    """Sine."""
    value = _of_quarter(f, 0, rest)
    return f.pick(f.test("olt", f.abs("%x"), 1e-150), "%x", value)  # the sign of zero


def cosine(f: Body, rest: Rest = near_rest) -> str:
    """Cosine."""
    return _of_quarter(f, 1, rest)


def tangent(f: Body, rest: Rest = near_rest) -> str:
    """Tangent."""
    k, sine, cosine = _quarter(f, rest)
    odd = f.integer("icmp ne", f.integer("and", k, 1), 0)
    top, bottom = f.pick(odd, f.neg(cosine), sine), f.pick(odd, sine, cosine)
    value = f.div(top, bottom)
    return f.pick(f.test("olt", f.abs("%x"), 1e-150), "%x", value)


SHORT_SINE, SHORT_COSINE = SINE[:4], COSINE[:4]  # to the last digit of four bytes


def _short_quarter(f: Body, shift: int) -> str:
    """Sine of an angle and some quarter turns, in float32."""
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
    """Sine of four bytes."""
    return _short_quarter(f, 0)


def short_cosine(f: Body) -> str:
    """Cosine of four bytes."""
    return _short_quarter(f, 1)


ATAN = [float(Fraction((-1) ** n, 2 * n + 1)) for n in range(1, 8)]


def _atan_fraction(x: Fraction) -> Fraction:
    """By Euler's series."""
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
    """Arc tangent."""
    size = f.abs("%x")
    value = _atan_quotient(f, size, f.name(1.0))
    value = f.pick(f.test("olt", size, 1e-150), size, value)
    value = f.pick(f.test("oeq", size, math.inf), float(PI / 2), value)
    value = f.pick(f.test("uno", size, size), size, value)
    return f.call("llvm.copysign", value, "%x")


def arc_tangent_of_two(f: Body) -> str:
    """Angle of the vector (%y, %x); %x is the first argument of the function, so the ordinate."""
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
    """Arc sine."""
    return f.call("atan2", "%x", _adjacent(f))


def arc_cosine(f: Body) -> str:
    """Arc cosine."""
    return f.call("atan2", _adjacent(f), "%x")


# --- Angles of many turns: their quarter turn and the rest, for every float there is

FAR = 2.0**30  # angles below are reduced by subtraction, without loss
NAME = "st_far_angle"
PARTS = "{ i64, double, double }"  # of its result: quarter turns, the rest and its tail [rad]
BEFORE = 64  # zeros before the digits of 2/pi
WORDS = 21  # of 64 digits: as many as the largest float asks for


def _two_over_pi(digits: int) -> int:
    """Binary digits of 2/pi behind the point, by Machin's formula."""
    more = digits + 64

    def arc_cotangent(n: int) -> int:
        term, total, k = (1 << more) // n, 0, 1
        while term:
            total += term // k if k % 4 == 1 else -(term // k)
            term, k = term // (n * n), k + 2
        return total

    pi = 4 * (4 * arc_cotangent(5) - arc_cotangent(239))
    return (1 << (more + 1 + digits)) // pi


def _table() -> list[int]:
    digits = 64 * WORDS - BEFORE
    full = _two_over_pi(digits)
    return [full >> 64 * k & (1 << 64) - 1 for k in reversed(range(WORDS))]


def far_angle() -> str:
    """Text of the function that reduces an angle of at least FAR."""
    words = ", ".join(f"i64 {word}" for word in _table())
    first, second = (literal(part) for part in in_parts(PI / 2, 2))
    return f"""
@st_two_over_pi = internal constant [{WORDS} x i64] [{words}]
define internal {PARTS} @{NAME}(double %x) noinline nounwind {{
  %bits = bitcast double %x to i64
  %raised = lshr i64 %bits, 52
  %exponent = and i64 %raised, 2047
  %fraction = and i64 %bits, {2**52 - 1}
  %m = or i64 %fraction, {2**52}
  ; x = m 2^e, e = exponent - 1075; digits from the one of 2^(1 - e) on count
  %place = sub i64 %exponent, {1075 + 2 - BEFORE}
  %k = lshr i64 %place, 6
  %by = and i64 %place, 63
  %p0 = getelementptr i64, ptr @st_two_over_pi, i64 %k
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %d0 = load i64, ptr %p0
  %d1 = load i64, ptr %p1
  %d2 = load i64, ptr %p2
  %d3 = load i64, ptr %p3
  %w0 = call i64 @llvm.fshl.i64(i64 %d0, i64 %d1, i64 %by)
  %w1 = call i64 @llvm.fshl.i64(i64 %d1, i64 %d2, i64 %by)
  %w2 = call i64 @llvm.fshl.i64(i64 %d2, i64 %d3, i64 %by)
  ; the product, of which what exceeds four quarter turns is lost
  %wide = zext i64 %m to i128
  %wide1 = zext i64 %w1 to i128
  %wide2 = zext i64 %w2 to i128
  %low = mul i128 %wide, %wide2
  %carry = lshr i128 %low, 64
  %product = mul i128 %wide, %wide1
  %middle = add i128 %product, %carry
  %up = lshr i128 %middle, 64
  %over = trunc i128 %up to i64
  %top = mul i64 %m, %w0
  %high = add i64 %top, %over
  %mid = trunc i128 %middle to i64
  %end = trunc i128 %low to i64
  ; the nearest quarter turn, and the fraction beside it, from -1/2 to 1/2, in four exact floats
  %f0 = call i64 @llvm.fshl.i64(i64 %high, i64 %mid, i64 2)
  %f1 = call i64 @llvm.fshl.i64(i64 %mid, i64 %end, i64 2)
  %below = lshr i64 %high, 62
  %nearer = lshr i64 %f0, 63
  %quarter = add i64 %below, %nearer
  %i0 = ashr i64 %f0, 32
  %i1 = and i64 %f0, 4294967295
  %i2 = lshr i64 %f1, 32
  %i3 = and i64 %f1, 4294967295
  %n0 = sitofp i64 %i0 to double
  %n1 = sitofp i64 %i1 to double
  %n2 = sitofp i64 %i2 to double
  %n3 = sitofp i64 %i3 to double
  %g0 = fmul double %n0, {literal(2.0**-32)}
  %g1 = fmul double %n1, {literal(2.0**-64)}
  %g2 = fmul double %n2, {literal(2.0**-96)}
  %g3 = fmul double %n3, {literal(2.0**-128)}
  ; their sum as two floats
  %s = fadd double %g0, %g1
  %s0 = fsub double %s, %g0
  %s1 = fsub double %s, %s0
  %lost0 = fsub double %g0, %s1
  %lost1 = fsub double %g1, %s0
  %lost = fadd double %lost0, %lost1
  %small = fadd double %g2, %g3
  %tail = fadd double %lost, %small
  %h = fadd double %s, %tail
  %h0 = fsub double %h, %s
  %l = fsub double %tail, %h0
  ; times pi/2
  %r = fmul double %h, {first}
  %minus = fneg double %r
  %error = call double @llvm.fma.f64(double %h, double {first}, double %minus)
  %more = call double @llvm.fma.f64(double %h, double {second}, double %error)
  %rest = call double @llvm.fma.f64(double %l, double {first}, double %more)
  %sum = fadd double %r, %rest
  %sum0 = fsub double %sum, %r
  %sum1 = fsub double %rest, %sum0
  ; as for the angle without its sign
  %negative = icmp slt i64 %bits, 0
  %turned = sub i64 0, %quarter
  %back = fneg double %sum
  %back1 = fneg double %sum1
  %kk = select i1 %negative, i64 %turned, i64 %quarter
  %rr = select i1 %negative, double %back, double %sum
  %tt = select i1 %negative, double %back1, double %sum1
  ; what is infinite or no number has no angle
  %none = icmp eq i64 %exponent, 2047
  %there = select i1 %none, double {literal(float("nan"))}, double %rr
  %one = insertvalue {PARTS} poison, i64 %kk, 0
  %two = insertvalue {PARTS} %one, double %there, 1
  %three = insertvalue {PARTS} %two, double %tt, 2
  ret {PARTS} %three
}}"""


def far_rest(f: Body) -> tuple[str, str, str]:
    """Quarter turns of the angle %x, the rest and its tail [rad]."""
    parts = f.line(f"call {PARTS} @{NAME}(double %x)")
    k, r, tail = (f.line(f"extractvalue {PARTS} {parts}, {i}") for i in range(3))
    return k, r, tail
