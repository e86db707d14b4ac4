"""Mathematical functions in LLVM's language: polynomials of our own.

Arguments are brought into a small range in which a Taylor series is short, with the lost digits
kept beside where it matters. Results are within 2 units in the last place.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

from swelltree.engine.machine.graph import FLOAT, LONG, TRUTH
from swelltree.engine.machine.number_types import SINGLE, Types

PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
LOG2 = Fraction(
    "0.69314718055994530941723212145817656807550013436025525412068000949339362196969471"
)


def in_parts(value: Fraction, count: int) -> list[float]:
    """A number as the sum of some floats, the largest first."""
    out = []
    for _ in range(count):
        out.append(float(value))
        value -= Fraction(out[-1])
    return out


def shortened(value: Fraction, bits: int) -> tuple[float, float]:
    """A number as a float with few bits, and the rest."""
    scale = 2**bits
    high = Fraction(int(value * scale), scale)
    return float(high), float(value - high)


class Body:
    """Lines of one function; every method gives the name of its result.

    Args:
        types: of its numbers.
    """

    def __init__(self, types: Types) -> None:
        self.types = types
        self.F, self.I, self.B = types.of(FLOAT), types.of(LONG), types.of(TRUTH)
        self.lines: list[str] = []
        self.uses: set[str] = set()

    def line(self, text: str) -> str:
        """A line whose result has a new name."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def name(self, x: str | float) -> str:
        """A name, or a number."""
        return self.types.constant(x) if isinstance(x, int | float) else x

    def two(self, op: str, x: str | float, y: str | float) -> str:
        return self.line(f"{op} {self.F} {self.name(x)}, {self.name(y)}")

    def add(self, x: str | float, y: str | float) -> str:
        return self.two("fadd", x, y)

    def sub(self, x: str | float, y: str | float) -> str:
        return self.two("fsub", x, y)

    def mul(self, x: str | float, y: str | float) -> str:
        return self.two("fmul", x, y)

    def div(self, x: str | float, y: str | float) -> str:
        return self.two("fdiv", x, y)

    def neg(self, x: str) -> str:
        return self.line(f"fneg {self.F} {x}")

    def fma(self, x: str | float, y: str | float, z: str | float) -> str:
        """x y + z, rounded once."""
        return self.call("llvm.fma", x, y, z)

    def call(self, name: str, *args: str | float) -> str:
        """Another function, of this file or of LLVM."""
        if name.startswith("llvm."):
            name = f"{name}.{self.types.suffix}"
        else:
            self.uses.add(name)
            name = function_name(name, self.types)
        return self.line(
            f"call {self.F} @{name}({', '.join(f'{self.F} {self.name(a)}' for a in args)})"
        )

    def abs(self, x: str) -> str:
        return self.call("llvm.fabs", x)

    def test(self, how: str, x: str | float, y: str | float) -> str:
        return self.line(f"fcmp {how} {self.F} {self.name(x)}, {self.name(y)}")

    def pick(self, flag: str, x: str | float, y: str | float) -> str:
        both = f"{self.F} {self.name(x)}, {self.F} {self.name(y)}"
        return self.line(f"select {self.B} {flag}, {both}")

    def bits(self, x: str) -> str:
        return self.line(f"bitcast {self.F} {x} to {self.I}")

    def number(self, bits: str) -> str:
        return self.line(f"bitcast {self.I} {bits} to {self.F}")

    def whole(self, x: str) -> str:
        """A float that is an integer, as one."""
        name = f"llvm.fptosi.sat.{self.types.suffix_of('i64')}.{self.types.suffix}"
        return self.line(f"call {self.I} @{name}({self.F} {x})")

    def int_name(self, x: str | int) -> str:
        """A name, or an integer."""
        return self.types.constant(x, LONG) if isinstance(x, int) else x

    def integer(self, op: str, x: str, y: str | int) -> str:
        return self.line(f"{op} {self.I} {x}, {self.int_name(y)}")

    def pick_integer(self, flag: str, x: str | int, y: str | int) -> str:
        both = f"{self.I} {self.int_name(x)}, {self.I} {self.int_name(y)}"
        return self.line(f"select {self.B} {flag}, {both}")

    def both(self, x: str, y: str) -> str:
        """Two conditions."""
        return self.line(f"and {self.B} {x}, {y}")

    def negated(self, x: str) -> str:
        """A condition that does not hold."""
        return self.line(f"xor {self.B} {x}, {self.types.constant(True, TRUTH)}")

    def series(self, z: str, coefficients: list[float]) -> str:
        """Polynomial in z, constant first."""
        total: str | float = coefficients[-1]
        for c in reversed(coefficients[:-1]):
            total = self.fma(total, z, c)
        return self.name(total)

    def power_of_two(self, k: str) -> str:
        """2^k for -1022 <= k <= 1023."""
        return self.number(self.integer("shl", self.integer("add", k, 1023), 52))


# --- exponentials -----------------------------------------------------------------------------
def _exp_of_pair(f: Body, x: str, low: str | float, halved: bool = False) -> str:
    """exp(x + low), |low| small; or half of it, which reaches further."""
    k = f.call("llvm.roundeven", f.mul(x, float(1 / LOG2)))
    high, rest = in_parts(LOG2, 2)
    r = f.fma(f.neg(k), high, x)
    r = f.add(r, f.fma(f.neg(k), rest, low))
    taylor = [float(Fraction(1, math.factorial(n))) for n in range(2, 15)]
    p = f.add(1.0, f.fma(f.mul(r, r), f.series(r, taylor), r))
    # in two steps, so that the ends of the range are reached
    n = f.whole(k)
    n = f.integer("sub", n, 1) if halved else n
    first = f.integer("ashr", n, 1)
    second = f.integer("sub", n, first)
    value = f.mul(f.mul(p, f.power_of_two(first)), f.power_of_two(second))
    value = f.pick(f.test("ogt", x, 711.0 if halved else 709.9), math.inf, value)
    return f.pick(f.test("olt", x, -745.5), 0.0, value)


def _exp(f: Body) -> str:
    return _exp_of_pair(f, "%x", 0.0)


def _exp2(f: Body) -> str:
    k = f.call("llvm.roundeven", "%x")
    r = f.mul(f.sub("%x", k), float(LOG2))
    taylor = [float(Fraction(1, math.factorial(n))) for n in range(2, 15)]
    p = f.add(1.0, f.fma(f.mul(r, r), f.series(r, taylor), r))
    n = f.whole(k)
    first = f.integer("ashr", n, 1)
    value = f.mul(f.mul(p, f.power_of_two(first)), f.power_of_two(f.integer("sub", n, first)))
    value = f.pick(f.test("oge", "%x", 1024.0), math.inf, value)
    return f.pick(f.test("olt", "%x", -1075.5), 0.0, value)


def _expm1(f: Body) -> str:
    """2^k (exp(r) - 1) + (2^k - 1)."""
    x = f.pick(f.test("ogt", "%x", 710.0), 710.0, "%x")
    x = f.pick(f.test("olt", x, -40.0), -40.0, x)
    k = f.call("llvm.roundeven", f.mul(x, float(1 / LOG2)))
    high, rest = in_parts(LOG2, 2)
    r = f.fma(f.neg(k), high, x)
    tail = f.mul(f.neg(k), rest)
    taylor = [float(Fraction(1, math.factorial(n))) for n in range(2, 15)]
    s = f.add(r, tail)
    tail = f.add(f.sub(r, s), tail)
    p = f.add(s, f.fma(f.mul(s, s), f.series(s, taylor), f.fma(tail, s, tail)))
    n = f.whole(k)
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


# --- logarithms -------------------------------------------------------------------------------
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


def _log(f: Body) -> str:
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


def _log1p(f: Body) -> str:
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


def _pow(f: Body) -> str:
    size = f.abs("%x")
    inside = f.test("ogt", size, 0.0)
    finite = f.test("olt", size, math.inf)
    safe = f.pick(inside, f.pick(finite, size, 2.0), 0.5)
    high, low = _log_pair(f, safe)
    p = f.mul("%y", high)
    huge = f.test("ogt", f.abs(p), 1000.0)
    bounded = f.pick(huge, 0.0, "%y")
    p_low = f.fma(bounded, low, f.fma(bounded, high, f.neg(f.mul(bounded, high))))
    value = _exp_of_pair(f, p, p_low)
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


def _cbrt(f: Body) -> str:
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


# --- circular functions -----------------------------------------------------------------------
SINE = [float(Fraction((-1) ** n, math.factorial(2 * n + 1))) for n in range(1, 10)]
COSINE = [float(Fraction((-1) ** n, math.factorial(2 * n))) for n in range(2, 11)]
FAR = 2.0**30  # up to here angles are reduced without loss


def _quarter(f: Body) -> tuple[str, str, str]:
    """Which quarter turn an angle is in, and sine and cosine of the rest."""
    k = f.call("llvm.roundeven", f.mul("%x", float(2 / PI)))
    first, second, third = in_parts(PI / 2, 3)
    r1 = f.fma(f.neg(k), first, "%x")
    w = f.mul(k, second)
    w_low = f.fma(k, second, f.neg(w))
    r = f.sub(r1, w)
    tail = f.sub(f.sub(f.sub(r1, r), w), f.fma(k, third, w_low))
    z = f.mul(r, r)
    cube = f.mul(f.mul(z, r), f.series(z, SINE))
    turn = f.fma(f.mul(z, -0.5), tail, tail)
    sine = f.add(r, f.add(cube, turn))
    half = f.mul(z, 0.5)
    w1 = f.sub(1.0, half)
    left = f.sub(f.sub(1.0, w1), half)
    fourth = f.fma(f.mul(z, z), f.series(z, COSINE), f.neg(f.mul(r, tail)))
    cosine = f.add(w1, f.add(left, fourth))
    return f.whole(k), sine, cosine


def _of_quarter(f: Body, shift: int) -> str:
    k, sine, cosine = _quarter(f)
    q = f.integer("and", f.integer("add", k, shift), 3)
    odd = f.integer("icmp ne", f.integer("and", q, 1), 0)
    value = f.pick(odd, cosine, sine)
    negative = f.integer("icmp uge", q, 2)
    return f.pick(negative, f.neg(value), value)


def _sin(f: Body) -> str:
    value = _of_quarter(f, 0)
    return f.pick(f.test("olt", f.abs("%x"), 1e-150), "%x", value)  # the sign of zero


def _cos(f: Body) -> str:
    return _of_quarter(f, 1)


def _tan(f: Body) -> str:
    k, sine, cosine = _quarter(f)
    odd = f.integer("icmp ne", f.integer("and", k, 1), 0)
    top, bottom = f.pick(odd, f.neg(cosine), sine), f.pick(odd, sine, cosine)
    value = f.div(top, bottom)
    return f.pick(f.test("olt", f.abs("%x"), 1e-150), "%x", value)


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


def _atan(f: Body) -> str:
    size = f.abs("%x")
    value = _atan_quotient(f, size, f.name(1.0))
    value = f.pick(f.test("olt", size, 1e-150), size, value)
    value = f.pick(f.test("oeq", size, math.inf), float(PI / 2), value)
    value = f.pick(f.test("uno", size, size), size, value)
    return f.call("llvm.copysign", value, "%x")


def _atan2(f: Body) -> str:
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


def _beside(f: Body) -> str:
    """sqrt(1 - x^2)."""
    product = f.mul(f.sub(1.0, "%x"), f.add(1.0, "%x"))
    return f.call("llvm.sqrt", product)


def _asin(f: Body) -> str:
    return f.call("atan2", "%x", _beside(f))


def _acos(f: Body) -> str:
    return f.call("atan2", _beside(f), "%x")


# --- hyperbolic functions ---------------------------------------------------------------------
def _sinh(f: Body) -> str:
    size = f.abs("%x")
    e = f.call("expm1", size)
    near = f.mul(0.5, f.add(e, f.div(e, f.add(e, 1.0))))
    far = _exp_of_pair(f, size, 0.0, halved=True)
    value = f.pick(f.test("ogt", size, 22.0), far, near)
    return f.call("llvm.copysign", value, "%x")


def _cosh(f: Body) -> str:
    half = _exp_of_pair(f, f.abs("%x"), 0.0, halved=True)
    return f.add(half, f.div(0.25, half))


def _tanh(f: Body) -> str:
    """e / (e + 2) with e = exp(2 x) - 1, the quotient corrected by what its sum and it lose."""
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
    "exp": _exp,
    "exp2": _exp2,
    "expm1": _expm1,
    "log": _log,
    "log1p": _log1p,
    "pow": _pow,
    "cbrt": _cbrt,
    "sin": _sin,
    "cos": _cos,
    "tan": _tan,
    "atan": _atan,
    "atan2": _atan2,
    "asin": _asin,
    "acos": _acos,
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "nextafter": _nextafter,
    "rem": _rem,
}
OF_TWO = {"pow", "atan2", "nextafter", "rem"}
REDUCED = {"sin", "cos", "tan"}  # large angles go to the library of the system


def function_name(name: str, types: Types) -> str:
    """Of one of these functions."""
    return f"st_{name}" if types.width == 1 else f"st{types.width}_{name}"


def written(names: set[str], types: Types = SINGLE, far: bool = True) -> str:
    """The functions of some names and all they use.

    Args:
        names: of functions.
        types: of their numbers, of eight bytes each.
        far: the library of the system has the sine of large angles; else it is not a number.
    """
    done: dict[str, str] = {}
    todo = sorted(names)
    while todo:
        name = todo.pop()
        if name in done:
            continue
        f = Body(types)
        result = WRITERS[name](f)
        if name in REDUCED and not far:
            near = f.test("ult", f.abs("%x"), FAR)
            result = f.pick(near, result, math.nan)
        done[name] = _defined(name, f, result, far and name in REDUCED)
        todo += sorted(f.uses)
    return "\n".join(done[name] for name in sorted(done))


def _defined(name: str, f: Body, result: str, reduced: bool) -> str:
    arguments = f"{f.F} %x, {f.F} %y" if name in OF_TWO else f"{f.F} %x"
    head = f"define internal {f.F} @{function_name(name, f.types)}({arguments}) nounwind {{"
    body = [*f.lines, f"  ret {f.F} {result}", "}"]
    if not reduced:
        return "\n".join([head, *body])
    size = f"  %size = call {f.F} @llvm.fabs.{f.types.suffix}({f.F} %x)"
    close = f"fcmp ult {f.F} %size, {f.types.constant(FAR)}"
    if f.types.width == 1:
        test = [f"  %near = {close}"]
        there = [f"  %there = call double @{name}(double %x)", "  ret double %there"]
    else:
        test = [
            f"  %close = {close}",
            f"  %near = call i1 @llvm.vector.reduce.and.{f.types.suffix_of('i1')}({f.B} %close)",
        ]
        there = _one_by_one(name, f.types)
    branch = "  br i1 %near, label %own, label %far"
    declared = f"declare double @{name}(double)" if f.types.width == 1 else ""
    return "\n".join([declared, head, size, *test, branch, "far:", *there, "own:", *body])


def _one_by_one(name: str, types: Types) -> list[str]:
    """Each place by the function of one number."""
    T, lines, last = types.of(FLOAT), [], "poison"
    for k in range(types.width):
        lines += [
            f"  %x{k} = extractelement {T} %x, i32 {k}",
            f"  %y{k} = call double @st_{name}(double %x{k})",
            f"  %z{k} = insertelement {T} {last}, double %y{k}, i32 {k}",
        ]
        last = f"%z{k}"
    return [*lines, f"  ret {T} {last}"]
