"""Exponential functions."""

from __future__ import annotations

import math
from fractions import Fraction

from swelltree.engine.machine.functions.body import LOG2, Body, in_parts


def exp_of_pair(f: Body, x: str, low: str | float, halved: bool = False) -> str:
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


def exp(f: Body) -> str:
    """e^x."""
    return exp_of_pair(f, "%x", 0.0)


def exp2(f: Body) -> str:
    """2^x."""
    k = f.call("llvm.roundeven", "%x")
    r = f.mul(f.sub("%x", k), float(LOG2))
    taylor = [float(Fraction(1, math.factorial(n))) for n in range(2, 15)]
    p = f.add(1.0, f.fma(f.mul(r, r), f.series(r, taylor), r))
    n = f.whole(k)
    first = f.integer("ashr", n, 1)
    value = f.mul(f.mul(p, f.power_of_two(first)), f.power_of_two(f.integer("sub", n, first)))
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
