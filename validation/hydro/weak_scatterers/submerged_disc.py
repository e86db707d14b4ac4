r"""Heave of a submerged thick disc by matched eigenfunctions, for the waves that it radiates.

The potential per unit of velocity is a sum of modes outside of the radius, over the disc and below
it; over and below it a polynomial takes up the motion of the disc. Potential and slope are matched
at the radius. Over and below it there are as many modes per metre of depth as outside, where the
sums converge fastest: 240 modes in 6 m are within 0.1 % of 480.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import hankel1, ive, jv, kve


def heave_coefficients(
    k: float,
    radius: float,
    above: float,
    below: float,
    depth: float,
    rho: float,
    g: float,
    modes: int = 240,
) -> tuple[float, float]:
    """Added mass [kg] and radiation damping [N s/m] in heave.

    Args:
        k: wavenumber outside of the disc [1/m].
        radius: [m].
        above: depth of its upper face [m].
        below: depth of its lower face [m].
        depth: of the water [m].
        rho: [kg/m^3].
        g: [m/s^2].
        modes: outside.
    """
    nu, gap = k * math.tanh(k * depth), depth - below
    omega = math.sqrt(nu * g)
    outer = _wavenumbers(nu, depth, modes)
    upper = _wavenumbers(nu, above, round(modes * above / depth))
    lower = np.arange(round(modes * gap / depth)) * math.pi / gap

    def outside(z: np.ndarray) -> np.ndarray:
        wave = np.cosh(k * (z + depth)) / math.cosh(k * depth)
        return np.vstack([wave, np.cos(outer[1:, None] * (z + depth))])

    def over(z: np.ndarray) -> np.ndarray:
        return np.vstack([np.cosh(upper[0] * (z + above)), np.cos(upper[1:, None] * (z + above))])

    def under(z: np.ndarray) -> np.ndarray:
        return np.cos(lower[:, None] * (z + depth))

    # slopes over values at the radius; integrals over the disc per value there
    x, a = outer * radius, radius
    slope = np.append(-k * hankel1(1, x[0]) / hankel1(0, x[0]), -outer[1:] * _ratio(kve, x[1:]))
    wave, y, w = upper[0] * a, upper[1:] * a, lower * a
    ratio = np.append(jv(1, wave) / jv(0, wave), _ratio(ive, y))
    slope_over, disc_over = upper * ratio * np.append(-1.0, np.ones(len(y))), a * ratio / upper
    slope_under = lower * _ratio(ive, w)
    disc_under = np.append(0.5 * a**2, a * _ratio(ive, w[1:]) / lower[1:])
    # projections by Gauss's rule
    z, weight = _rule(-depth, 0.0, modes)
    size = outside(z) ** 2 @ weight
    z, weight = _rule(-above, 0.0, modes)
    C_over, own_over = over(z) * weight @ outside(z).T, over(z) ** 2 @ weight
    still_over = over(z) * weight @ (z + 1.0 / nu)
    z, weight = _rule(-depth, -below, modes)
    C_under, own_under = under(z) * weight @ outside(z).T, under(z) ** 2 @ weight
    still_under = under(z) * weight @ (((z + depth) ** 2 - 0.5 * a**2) / (2.0 * gap))
    inflow = outside(z) * weight @ np.full(len(z), -0.5 * a / gap)
    inward_over, inward_under = C_over.T * (slope_over / own_over), C_under.T * slope_under
    inward_under = inward_under / own_under
    matrix = np.diag(size * slope) - inward_over @ C_over - inward_under @ C_under
    right = inflow - inward_over @ still_over - inward_under @ still_under
    found = np.linalg.solve(matrix, right)
    top = disc_over @ ((C_over @ found - still_over) / own_over) + 0.5 * a**2 * (1.0 / nu - above)
    bottom = disc_under * np.cos(lower * gap) @ ((C_under @ found - still_under) / own_under)
    bottom += (0.5 * gap**2 * a**2 - a**4 / 8.0) / (2.0 * gap)
    force = 2.0 * math.pi * rho * (bottom - top)
    return float(force.real), float(omega * force.imag)


def _ratio(bessel: object, x: np.ndarray) -> np.ndarray:
    """Of the functions of first and zeroth order."""
    return bessel(1, x) / bessel(0, x)  # type: ignore[operator]


def _wavenumbers(nu: float, depth: float, count: int) -> np.ndarray:
    """Of the wave, then of the modes that decay with the distance [1/m]."""
    wave = brentq(lambda k: k * math.tanh(k * depth) - nu, 1e-9, 10.0 * nu + 10.0 / depth)

    def vertical(x: float) -> float:
        return x * math.tan(x * depth) + nu

    ends = [((j - 0.5) * math.pi / depth + 1e-9, j * math.pi / depth) for j in range(1, count)]
    return np.array([wave, *(brentq(vertical, low, high - 1e-12) for low, high in ends)])


def _rule(low: float, high: float, modes: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of Gauss, enough for products of modes."""
    x, weight = np.polynomial.legendre.leggauss(2 * modes + 60)
    half = 0.5 * (high - low)
    return low + half * (x + 1.0), half * weight
