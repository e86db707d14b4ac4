"""Spectral densities, their moments and the spreading of headings."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.environment import spectra as described
from swelltree.describe.environment.spectra import Spectrum
from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array, known, namespace

if TYPE_CHECKING:
    from swelltree.describe.environment.spectra import Cos2s, DirectionalTable, Spectrum


PM_ALPHA = 0.0081  # Phillips' constant in the spectrum of Pierson and Moskowitz (1964)
BELOW, ABOVE = 5e-4, 2e-3  # energy left outside the usual band, restored by scaling
GRID = 16384


def density(spectrum: Spectrum, omega: Array, g: Array = 9.81) -> Array:
    """Density S(omega) of a spectrum [m^2 s/rad].

    Args:
        spectrum: its description; a directional table is summed over headings.
        omega: frequencies [rad/s]; the density is zero at omega <= 0.
        g: acceleration of gravity, for the fully developed sea [m/s^2].
    """
    omega = omega if hasattr(omega, "shape") else np.asarray(omega, float)
    match spectrum:
        case described.Jonswap():
            return jonswap(omega, spectrum.Hs, spectrum.Tp, spectrum.gamma)
        case described.Bretschneider() | described.PiersonMoskowitz():
            return bretschneider(omega, *height_and_period(spectrum, g))
        case described.OchiHubble():
            return ochi_hubble(omega, spectrum.Hs1, spectrum.Tp1, spectrum.lambda1) + ochi_hubble(
                omega, spectrum.Hs2, spectrum.Tp2, spectrum.lambda2
            )
        case described.Bimodal():
            return density(spectrum.first, omega, g) + density(spectrum.second, omega, g)
        case described.WhiteNoise():
            inside = (omega >= spectrum.omega_min) & (omega <= spectrum.omega_max)
            return inside * (spectrum.Hs**2 / 16) / (spectrum.omega_max - spectrum.omega_min)
        case described.SpectrumTable():
            return np.interp(omega, spectrum.omega, spectrum.density, left=0.0, right=0.0)
        case described.DirectionalTable():
            return np.interp(omega, spectrum.omega, marginal(spectrum), left=0.0, right=0.0)
        case _:
            raise SwelltreeError(
                f"{spectrum!r} is not a spectrum. Give for example Jonswap(Hs=2.0, Tp=8.0)."
            )


def numbers_of(spectrum: Spectrum) -> list[Array]:
    """Parameters of the spectrum that JAX may trace."""
    parts = [getattr(spectrum, part) for part in ("first", "second") if hasattr(spectrum, part)]
    names = ("Hs", "Tp", "gamma", "Hs1", "Tp1", "Hs2", "Tp2")
    values = [getattr(spectrum, name, None) for name in names]
    return [x for x in values if x is not None] + [x for part in parts for x in numbers_of(part)]


def bretschneider(omega: Array, Hs: Array, Tp: Array) -> Array:
    r"""Two-parameter spectrum of Bretschneider (ISSC).

    .. math:: S = \frac{5}{16} H_s^2 \frac{\omega_p^4}{\omega^5} e^{-\frac54 (\omega_p/\omega)^4}
    """
    xp = namespace(omega, Hs, Tp)
    wp = 2 * math.pi / Tp
    ratio = wp / xp.where(omega > 0, omega, np.inf)
    return 5 / 16 * Hs**2 / wp * ratio**5 * xp.exp(-1.25 * ratio**4)


def jonswap(omega: Array, Hs: Array, Tp: Array, gamma: Array) -> Array:
    r"""Spectrum of the Joint North Sea Wave Project (Hasselmann et al. 1973), scaled to Hs.

    .. math:: S = A_\gamma S_B \gamma^{\exp(-\frac12 ((\omega/\omega_p - 1)/\sigma)^2)}

    with sigma = 0.07 below and 0.09 above the peak and S_B the spectrum of Bretschneider.
    A_gamma is found by quadrature (1 - 0.287 ln gamma is its usual approximation).
    """
    wp = 2 * math.pi / Tp
    scale = jonswap_scale(float(gamma)) if known(gamma) else _scale(gamma)
    return scale * bretschneider(omega, Hs, Tp) * _peak(omega / wp, gamma)


def _peak(ratio: Array, gamma: Array) -> Array:
    xp = namespace(ratio, gamma)
    sigma = xp.where(ratio > 1, 0.09, 0.07)
    return gamma ** xp.exp(-0.5 * ((ratio - 1) / sigma) ** 2)


@functools.lru_cache(maxsize=256)
def jonswap_scale(gamma: float) -> float:
    """A_gamma: the factor that keeps Hs when the peak is enhanced."""
    return float(_scale(gamma))


def _scale(gamma: Array) -> Array:
    # the change of variable of the energy makes the integrand of gamma = 1 flat
    F = (np.arange(200_000) + 0.5) / 200_000
    ratio = (1.25 / -np.log(F)) ** 0.25
    return 1 / _peak(ratio, gamma).mean()


def ochi_hubble(omega: Array, Hs: Array, Tp: Array, shape: float) -> Array:
    r"""One half of the spectrum of Ochi and Hubble (1976).

    .. math::
        S = \frac{H_s^2}{4\,\Gamma(\lambda)} \left(\frac{4\lambda+1}{4}\omega_p^4\right)^\lambda
            \omega^{-(4\lambda+1)} e^{-\frac{4\lambda+1}{4}(\omega_p/\omega)^4}
    """
    wp = 2 * math.pi / Tp
    n, xp = shape + 0.25, namespace(omega, Hs, Tp)
    ratio = wp / xp.where(omega > 0, omega, np.inf)
    log = (
        shape * math.log(n) - math.lgamma(shape) + (4 * shape + 1) * xp.log(ratio + 1e-300)
    ) - n * ratio**4
    return Hs**2 / 4 / wp * xp.exp(log)


WithPeak = described.Jonswap | described.Bretschneider | described.PiersonMoskowitz


def height_and_period(spectrum: WithPeak, g: Array) -> tuple[Array, Array]:
    r"""Hs and Tp; one of them may follow from the fully developed sea.

    .. math:: H_s = 4 \sqrt{\alpha / 5}\, g / \omega_p^2, \quad \alpha = 0.0081

    Pierson and Moskowitz (1964).
    """
    factor = 4 * math.sqrt(PM_ALPHA / 5) * g / (2 * math.pi) ** 2
    Hs, Tp = spectrum.Hs, spectrum.Tp
    if Tp is None:
        return Hs, (Hs / factor) ** 0.5
    return factor * Tp**2 if Hs is None else Hs, Tp


def marginal(table: DirectionalTable) -> np.ndarray:
    """Density of a directional table over frequency alone [m^2 s/rad]."""
    return np.asarray(table.density) @ heading_widths(np.asarray(table.beta))


def is_circle(beta: np.ndarray) -> bool:
    """Whether headings cover the full circle; a gap of half a turn makes them a sector."""
    return bool(beta[0] + 2 * np.pi - beta[-1] < np.pi)


def heading_widths(beta: np.ndarray) -> np.ndarray:
    """Widths of headings around the circle, or of a sector, by the trapezoidal rule [rad]."""
    gaps = np.diff(np.append(beta, beta[0] + 2 * np.pi))
    if not is_circle(beta):
        gaps[-1] = 0.0
    return 0.5 * (gaps + np.roll(gaps, 1))


def total_energy(spectrum: described.Spectrum, g: Array = 9.81) -> Array:
    """m0 of a whole spectrum [m^2]."""
    match spectrum:
        case described.OchiHubble():
            return (spectrum.Hs1**2 + spectrum.Hs2**2) / 16
        case described.Bimodal():
            return total_energy(spectrum.first, g) + total_energy(spectrum.second, g)
        case described.SpectrumTable():
            return float(np.trapezoid(spectrum.density, spectrum.omega))
        case described.DirectionalTable():
            return float(np.trapezoid(marginal(spectrum), spectrum.omega))
        case described.PiersonMoskowitz():
            return height_and_period(spectrum, g)[0] ** 2 / 16
        case described.Jonswap() | described.Bretschneider() | described.WhiteNoise():
            return spectrum.Hs**2 / 16
        case _:
            raise spectrum.fail("has no known energy. Give Jonswap(Hs=..., Tp=...) or another.")


def support(spectrum: described.Spectrum, g: Array = 9.81) -> tuple[Array, Array]:
    """Frequency range that contains the energy of a spectrum [rad/s]."""
    match spectrum:
        case described.WhiteNoise():
            return spectrum.omega_min, spectrum.omega_max
        case described.SpectrumTable() | described.DirectionalTable():
            return spectrum.omega[0], spectrum.omega[-1]
        case described.Bimodal():
            ends = [support(part, g) for part in (spectrum.first, spectrum.second)]
            xp = namespace(*ends[0], *ends[1])
            low, high = zip(*ends, strict=True)
            return xp.minimum(*low), xp.maximum(*high)
        case described.OchiHubble():
            # the tail falls as omega^-(4 lambda + 1)
            parts = ((spectrum.Tp1, spectrum.lambda1), (spectrum.Tp2, spectrum.lambda2))
            high = [2 * math.pi / Tp * 1e5 ** (0.25 / min(shape, 1.0)) for Tp, shape in parts]
            xp = namespace(*numbers_of(spectrum))
            longest = xp.maximum(spectrum.Tp1, spectrum.Tp2)
            return 0.3 * 2 * math.pi / longest, xp.maximum(*high)
        case described.Jonswap() | described.Bretschneider() | described.PiersonMoskowitz():
            wp = 2 * math.pi / height_and_period(spectrum, g)[1]
            return 0.45 * wp, 18.0 * wp
        case _:
            raise spectrum.fail("has no known band. Give Jonswap(Hs=..., Tp=...) or another.")


def cumulative(spectrum: Spectrum, g: Array = 9.81) -> tuple[Array, Array]:
    """Energy below each frequency of a fine grid: (omega [rad/s], energy [m^2])."""
    low, high = support(spectrum, g)
    xp = namespace(low, high)
    omega = xp.geomspace(low, high, GRID)
    if isinstance(spectrum, described.SpectrumTable | described.DirectionalTable):
        omega = np.union1d(omega, spectrum.omega)
    S = density(spectrum, omega, g)
    xp = namespace(omega, S)
    energy = xp.append(0.0, xp.cumsum(0.5 * (S[1:] + S[:-1]) * xp.diff(omega)))
    return omega, energy


def spreading_density(spreading: Cos2s, beta: Array) -> np.ndarray:
    r"""Spreading about the mean heading, with integral one over a turn [1/rad].

    .. math:: D = \frac{\Gamma(s+1)}{2\sqrt\pi\,\Gamma(s+\frac12)} \cos^{2s}(\beta / 2)

    Args:
        spreading: Cos2s(...).
        beta: heading relative to the mean [rad].
    """
    s = spreading.s
    scale = math.exp(math.lgamma(s + 1) - math.lgamma(s + 0.5)) / (2 * math.sqrt(math.pi))
    return scale * np.abs(np.cos(np.asarray(beta) / 2)) ** (2 * s)
