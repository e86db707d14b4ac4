r"""Second-order force on a fixed vertical cylinder in deep water, from closed forms.

The waves diffracted by a cylinder of radius R (Havelock 1940) have on its side the potential

.. math:: \phi = \mathrm{Re} \sum_c \frac{-ig}{\omega_c} a_c\, \psi_c(\theta)\, e^{k_c z -
          i\omega_c t}, \qquad
          \psi(\theta) = \sum_n \epsilon_n i^n \frac{2i}{\pi k R H_n'(kR)} \cos n\theta .

The part of the second-order force that first-order waves make, from the varying waterline and
from the square of the velocity, is

.. math:: F(t) = R \oint \cos\theta \left[ -\tfrac12 \rho g \eta^2
          + \tfrac12 \rho \int_{-\infty}^0 |\nabla\phi|^2 dz \right] d\theta

and its transfer functions follow by putting in pairs of waves. The mean is the whole mean drift.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import h1vp

if TYPE_CHECKING:
    from swelltree.waves.airy import Components


ANGLES = np.linspace(0.0, 2.0 * np.pi, 128, endpoint=False)


def round_the_cylinder(kR: float) -> tuple[np.ndarray, np.ndarray]:
    """psi and its derivative by the angle at `ANGLES`."""
    n = np.arange(int(kR) + 15)
    c = np.where(n == 0, 1.0, 2.0) * 1j**n * 2j / (np.pi * kR * h1vp(n, kR))
    around = np.outer(n, ANGLES)
    return c @ np.cos(around), -(c * n) @ np.sin(around)


def transfer_functions(
    omega: np.ndarray, radius: float, rho: float, g: float
) -> tuple[np.ndarray, np.ndarray]:
    """Surge force per square metre of all pairs of waves: difference and sum (f, f)."""
    k = omega**2 / g
    psi, turn = (np.array(x) for x in zip(*map(round_the_cylinder, k * radius), strict=True))
    turn = turn / radius
    width = np.cos(ANGLES) * radius * 2.0 * np.pi / len(ANGLES)
    first, second = np.meshgrid(k, k, indexing="ij")
    speed = 0.25 * rho * g**2 / np.outer(omega, omega) / (first + second)

    def of(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        level = -0.25 * rho * g * np.einsum("it,jt,t->ij", a, b[0], width)
        square = first * second * np.einsum("it,jt,t->ij", a, b[0], width)
        return level, speed * (square + np.einsum("it,jt,t->ij", turn, b[1], width))

    level, square = of(psi, np.array([psi.conj(), turn.conj()]))
    level_sum, square_sum = of(psi, np.array([psi, turn]))
    return level + square, level_sum - square_sum


def force_in_time(
    waves: Components, t: np.ndarray, radius: float, rho: float, g: float
) -> np.ndarray:
    """The same force from the elevation and the velocities round the cylinder as they vary."""
    k, omega, a = waves.wavenumber, waves.omega, waves.complex_amplitude
    psi, turn = (np.array(x) for x in zip(*map(round_the_cylinder, k * radius), strict=True))
    line = a[:, None] * np.exp(-1j * np.outer(omega, t))
    eta = np.real(np.einsum("ct,cn->tn", line, psi))
    # depth by Gauss-Legendre in s = exp(2 k z) of the longest wave, where all waves are powers
    x, weight = np.polynomial.legendre.leggauss(40)
    s, scale = 0.5 * (1.0 + x), 2.0 * k.min()
    square = np.zeros_like(eta)
    flow = -1j * g / omega[:, None] * line
    for depth, w in zip(-np.log(s) / scale, 0.5 * weight / s / scale, strict=True):
        here = flow * np.exp(-k * depth)[:, None]
        up = np.real(np.einsum("ct,cn->tn", k[:, None] * here, psi))
        along = np.real(np.einsum("ct,cn->tn", here, turn / radius))
        square += w * (up**2 + along**2)
    density = -0.5 * rho * g * eta**2 + 0.5 * rho * square
    return density @ (np.cos(ANGLES) * radius * 2.0 * np.pi / len(ANGLES))
