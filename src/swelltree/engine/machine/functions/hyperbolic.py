"""Hyperbolic functions."""

from __future__ import annotations

import math
from fractions import Fraction

from swelltree.engine.machine.functions.body import Body
from swelltree.engine.machine.functions.exponentials import exp_of_pair

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
    """Hyperbolic cosine."""
    half = exp_of_pair(f, f.abs("%x"), 0.0, halved=True)
    return f.add(half, f.div(0.25, half))


def hyperbolic_tangent(f: Body) -> str:
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
