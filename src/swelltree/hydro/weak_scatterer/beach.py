r"""How much a beach shall damp: enough that waves do not come back, and no more.

A beach :math:`\nu = \nu_0 s^3` on the part s of its length L leaves
:math:`e^{-\nu_0 L/(2 c_g)}` of a wave on its way to the rim and back. Its foot must be soft: waves
that it reflects change the flow at the body. In a tank of 1.5 wavelengths around a cylinder of
Ka = 1 the error of the surge damping is 0.1 %, that of the mean force less than 0.1 %; with s
squared from a quarter of the radius they were 1.7 and 1.9 %, that of the small heave damping 6 %.
"""

from __future__ import annotations

import math

from swelltree.waves.dispersion import dispersion, group_speed

TAKEN = 8.0  # exponent: 0.03 % of a wave comes back
POWER = 3
FIRST = 0.1  # of the radius of a tank: where its beach begins


def required_beach(omega: float, length: float, depth: float, g: float) -> float:
    """Damping at the rim [1/s].

    Args:
        omega: of the waves [rad/s].
        length: of the beach [m].
        depth: of the tank [m].
        g: [m/s^2].
    """
    speed = float(group_speed(omega, dispersion(omega, depth, g), depth))
    return 0.5 * (POWER + 1) * TAKEN * speed / length


def longest_wave(radius: float, g: float) -> float:
    """Frequency of the longest wave that a tank should hold, 1.5 to its radius [rad/s]."""
    return math.sqrt(1.5 * 2.0 * math.pi * g / radius)
