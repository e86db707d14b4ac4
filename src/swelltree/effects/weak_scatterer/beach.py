r"""How much a beach shall damp: enough that waves do not come back, and no more.

A beach :math:`\nu = \nu_0 s^2` on the part s of its length L leaves
:math:`e^{-2\nu_0 L/(3 c_g)}` of a wave on its way to the rim and back. One that is
stiffer reflects at its foot: with :math:`\nu_0 = \omega` on one wavelength (an exponent of 8) the
added mass in heave between two barges, 4 m apart, was a fifth off.
"""

from __future__ import annotations

import math

from swelltree.waves.dispersion import dispersion, group_speed

TAKEN = 6.5  # exponent: 0.15 % of a wave comes back
FIRST = 0.25  # of the radius of a tank: where its beach begins


def wanted_beach(omega: float, length: float, depth: float, g: float) -> float:
    """Damping at the rim [1/s].

    Args:
        omega: of the waves [rad/s].
        length: of the beach [m].
        depth: of the tank [m].
        g: [m/s^2].
    """
    speed = float(group_speed(omega, dispersion(omega, depth, g), depth))
    return 1.5 * TAKEN * speed / length


def longest_wave(radius: float, g: float) -> float:
    """Frequency of the longest wave that a tank should hold, 1.5 to its radius [rad/s]."""
    return math.sqrt(1.5 * 2.0 * math.pi * g / radius)
