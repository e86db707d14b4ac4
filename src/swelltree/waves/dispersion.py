"""The dispersion relation of water waves, and the decay of their motion with depth."""

from __future__ import annotations

import math

import numpy as np

from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array, known, namespace, pytree

GUO = 2.4908  # Guo (2002): exponent of the first guess, right to 0.75 %


def is_deep(depth: Array) -> bool:
    """Whether the water is infinitely deep; a traced depth is finite."""
    return known(depth) and bool(np.isinf(depth))


def dispersion(omega: Array, depth: Array, g: Array) -> Array:
    r"""Wavenumber of a frequency.

    .. math:: \omega^2 = g k \tanh(k h)

    Newton's iteration on x tanh x = omega^2 h / g from the guess of Guo (2002), to rounding.
    Zero frequency has wavenumber zero.

    Args:
        omega: frequency, any shape [rad/s].
        depth: h, infinite allowed [m].
        g: acceleration of gravity [m/s^2].

    Returns:
        k [1/m], of the shape of omega.
    """
    if known(g) and not g > 0 and np.size(omega):
        raise SwelltreeError(f"g {g} m/s^2 carries no waves. Give a positive g, or no sea.")
    if known(depth) and not depth > 0:
        raise SwelltreeError(f"depth {depth} m is not positive. Give metres or inf.")
    xp = namespace(omega, depth, g)
    omega = xp.asarray(omega) * 1.0
    deep = omega**2 / g
    if is_deep(depth):
        return deep
    # beyond y = 40 the bottom is not felt in double precision
    y = xp.where((deep > 0) & (deep * depth < 40.0), deep * depth, 1.0)
    x = y * (-xp.expm1(-(y ** (GUO / 2)))) ** (-1 / GUO)
    for _ in range(4):
        th = xp.tanh(x)
        x = x - (x * th - y) / (th + x * (1 - th**2))
    return xp.where(deep * depth < 40.0, xp.where(deep > 0, x / depth, 0.0), deep)


def group_speed(omega: Array, wavenumber: Array, depth: Array) -> Array:
    r"""Speed of the energy, :math:`c_g = \frac{\omega}{2k}(1 + 2kh / \sinh 2kh)` [m/s]."""
    xp = namespace(omega, wavenumber, depth)
    if is_deep(depth):
        return omega / (2 * wavenumber)
    x = xp.minimum(2 * wavenumber * depth, 700.0)
    return omega / (2 * wavenumber) * (1 + x / xp.sinh(x))


def depth_decay(wavenumber: Array, z: Array, depth: Array) -> tuple[Array, Array]:
    r"""How the motion falls off below the surface.

    .. math:: C = \frac{\cosh k(z+h)}{\cosh kh}, \qquad S = \frac{\sinh k(z+h)}{\cosh kh}

    Written with exponentials that only decay, so that no depth overflows; both are
    :math:`e^{kz}` in deep water.
    """
    xp = namespace(wavenumber, z, depth)
    down = xp.exp(wavenumber * z)
    if is_deep(depth):
        return down, down
    mirror = xp.exp(-wavenumber * (z + 2 * depth))
    full = 1 + xp.exp(-2 * wavenumber * depth)
    return (down + mirror) / full, (down - mirror) / full


def wavelength(omega: Array, depth: Array, g: Array) -> Array:
    """Length of a wave of a frequency [m]."""
    return 2 * np.pi / dispersion(omega, depth, g)


# --- The water of a compiled model: density, gravity and depth, the one place of each


@pytree()
class WaterNumbers:
    """Parameters of the water; whether it is deep is part of the layout."""

    rho: Array  # kg/m^3
    g: Array  # m/s^2, downwards
    bottom: Array = None  # depth [m], None: deep

    @property
    def depth(self) -> Array:
        """Depth, infinite in deep water [m]."""
        return math.inf if self.bottom is None else self.bottom

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity in world axes (3,) [m/s^2]."""
        xp = namespace(self.g)
        return xp.asarray(self.g) * np.array([0.0, 0.0, -1.0])


def compile_water(water: Water) -> WaterNumbers:
    """Water as arrays."""
    bottom = None if math.isinf(water.depth) else np.float64(water.depth)
    return WaterNumbers(np.float64(water.rho), np.float64(water.g), bottom)


AnyWater = Water | WaterNumbers  # described or compiled
