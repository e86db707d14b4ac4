"""Angles of many turns: their quarter turn and the rest, for every float there is.

An angle m 2^e (m of 53 bits) is multiplied by 2/pi in fixed point (Payne and Hanek, 1983): digits
of 2/pi that give whole turns are left out, and 192 of those behind them are enough, as no float
lies nearer to a multiple of pi/2 than some 2^-62. The fraction of a quarter turn comes back as the
sum of two floats.
"""

from __future__ import annotations

from swelltree.engine.machine.functions.body import PI, Body, in_parts
from swelltree.engine.machine.number_types import literal

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
    whole = _two_over_pi(digits)
    return [whole >> 64 * k & (1 << 64) - 1 for k in reversed(range(WORDS))]


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
