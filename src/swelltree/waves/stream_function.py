r"""Steep waves of permanent form: the stream function as a Fourier series (Fenton 1988; Dean 1965).

In axes that travel with the wave,

.. math::
    \psi = -c z + \sqrt{g/k^3} \sum_j B_j \frac{\sinh jk(z+h)}{\cosh jkh} \cos j\theta

solves the field equation and the bottom condition exactly. The coefficients and the surface follow
from the two conditions at the surface by Newton's method, the height growing in steps from a small
wave. There is no mean current (Eulerian).
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from swelltree.spatial.arrays import Array, namespace, pytree
from swelltree.system.water import Water
from swelltree.waves.airy import Components, Kinematics
from swelltree.waves.dispersion import depth_decay, dispersion
from swelltree.waves.ramp import ramp

ORDERS = (8, 12, 18, 27, 40, 60)
CONVERGED = 1e-9  # last coefficient of potential and surface, as a part of the height


@pytree()
class StreamWave:
    """A solved steep wave.

    Args:
        wavenumber: k [1/m].
        omega: [rad/s].
        beta: heading [rad].
        phase: [rad].
        harmonics: amplitudes E_j of the surface, first harmonic first [m].
        coefficients: B_j of the stream function.
        bernoulli: R, half the square of speed plus g z along the surface [m^2/s^2].
        ramp: [s].
    """

    wavenumber: Array
    omega: Array
    beta: Array
    phase: Array
    harmonics: Array
    coefficients: Array
    bernoulli: Array
    ramp: Array = 0.0

    @property
    def speed(self) -> Array:
        """Speed c of the wave [m/s]."""
        return self.omega / self.wavenumber

    @property
    def crest(self) -> Array:
        """Elevation of the crest [m]."""
        return self.harmonics.sum()


def highest(wavelength: float, depth: float) -> float:
    """Height of the highest steady wave of a length [m]: Fenton (1990), fit to Williams (1981)."""
    if math.isinf(depth):
        return 0.141063 * wavelength
    r = wavelength / depth
    top = 0.141063 * r + 0.0095721 * r**2 + 0.0077829 * r**3
    return depth * top / (1 + 0.0788340 * r + 0.0317567 * r**2 + 0.0093407 * r**3)


def stream_wave(sea: Any, water: Water) -> StreamWave:
    """Solve for a steep wave; one that would break is refused.

    Args:
        sea: StreamFunctionWave(...).
        water: depth and g.
    """
    orders = ORDERS if sea.order is None else (sea.order,)
    for order in orders:
        u = _climb(sea, water, order)
        k = u[-1] * _scale(sea, water)
        E = np.array(_surface_harmonics(u[: order + 1])) / k
        B = u[order + 1 : 2 * order + 1]
        if max(abs(B[-1]), k * abs(E[-1])) < CONVERGED * k * sea.height:
            break
    else:
        if sea.order is None:
            limit = highest(2 * math.pi / k, water.depth)
            raise sea.fail(
                f"height {sea.height} m is {100 * sea.height / limit:.3g} % of the highest wave "
                f"({limit:.4g} m), too sharp for {ORDERS[-1]} harmonics. Lower it, or give `order` "
                "to accept the rounding of the crest."
            )
    return StreamWave(
        wavenumber=float(k),
        omega=float(sea.omega),
        beta=float(sea.beta),
        phase=float(sea.phase),
        harmonics=E,
        coefficients=np.array(B),
        bernoulli=float(u[2 * order + 2] * water.g / k),
        ramp=float(sea.ramp),
    )


def _scale(sea: Any, water: Water) -> float:
    """Wavenumber of the small wave, the unit of the unknown wavenumber."""
    return float(dispersion(sea.omega, water.depth, water.g))


def _climb(sea: Any, water: Water, order: int) -> np.ndarray:
    """Raise the height in steps from a small wave, each solved from the ones before."""
    k0 = _scale(sea, water)
    target = sea.height * k0
    # the height of the first step is small both to the length and to the depth
    steepness = sea.height / highest(2 * math.pi / k0, water.depth)
    steps = 1 + math.ceil(10 * steepness)
    done = [(0.0, _small_wave(0.0, order, sea, water, k0))]
    at, stride = 0.0, target / steps
    while at < target * (1 - 1e-12):
        height = min(at + stride, target)
        guess = _guess(done, height, order, sea, water, k0)
        u = _newton(guess, height, sea, water, k0)
        if u is None or height / k0 > highest(2 * math.pi / (u[-1] * k0), water.depth):
            stride /= 2
            if stride < target / steps / 32 or steepness > 4:
                raise sea.fail(_breaking(sea, water, done[-1][1][-1] * k0))
            continue
        at = height
        done = [*done[-2:], (height, u)]
    return done[-1][1]


def _breaking(sea: Any, water: Water, k: float) -> str:
    limit = highest(2 * math.pi / k, water.depth)
    where = "deep water" if math.isinf(water.depth) else f"{water.depth:g} m of water"
    return (
        f"height {sea.height} m breaks: the highest wave of {sea.period:.4g} s in {where} is about "
        f"{limit:.3g} m. Lower the height or lengthen the period."
    )


def _small_wave(height: float, order: int, sea: Any, water: Water, k0: float) -> np.ndarray:
    """Unknowns of a sine wave: surface, coefficients, flux, Bernoulli constant, wavenumber."""
    a = height / 2
    w = sea.omega / math.sqrt(water.g * k0)  # = sqrt(tanh kh) in units of g and k
    surface = a * np.cos(np.pi * np.arange(order + 1) / order)
    B = np.zeros(order)
    B[0] = a / w
    return np.concatenate([surface, B, [0.0, 0.5 * w**2, 1.0]])


def _guess(
    done: list[Any], height: float, order: int, sea: Any, water: Water, k0: float
) -> np.ndarray:
    """Extrapolate earlier steps; from still water alone take the sine wave."""
    if len(done) == 1:
        return _small_wave(height, order, sea, water, k0)
    # Lagrange's polynomial through the last two or three
    guess = np.zeros_like(done[0][1])
    for i, (h, u) in enumerate(done):
        weight = np.prod([(height - g) / (h - g) for j, (g, _) in enumerate(done) if j != i])
        guess = guess + weight * u
    return guess


def _residual(u: np.ndarray, height: float, sea: Any, water: Water, k0: float) -> np.ndarray:
    """The conditions of a steady wave in units of g and k; Fenton (1988), eqs. 3.4-3.9.

    Args:
        u: (..., 2 n + 4): surface at n + 1 points, n coefficients, flux, Bernoulli's constant,
            wavenumber over k0.
        height: of this step times k0.
        sea: for its frequency.
        water: depth and g.
        k0: wavenumber of the small wave.
    """
    n = (u.shape[-1] - 4) // 2
    surface, B = u[..., : n + 1], u[..., n + 1 : 2 * n + 1]
    flux, bernoulli, kappa = u[..., 2 * n + 1], u[..., 2 * n + 2], u[..., 2 * n + 3]
    c = sea.omega / np.sqrt(water.g * k0 * kappa)
    j = np.arange(1, n + 1)
    theta = np.pi * np.outer(np.arange(n + 1), j) / n
    kh = k0 * kappa[..., None, None] * water.depth if np.isfinite(water.depth) else None
    z = surface[..., :, None]
    down = np.exp(j * z)
    if kh is None:
        C = S = down
    else:
        mirror, whole = np.exp(-j * (z + 2 * kh)), 1 + np.exp(-2 * j * kh)
        C, S = (down + mirror) / whole, (down - mirror) / whole
    b = B[..., None, :]
    psi = -c[..., None] * surface + (b * S * np.cos(theta)).sum(-1)
    ux = -c[..., None] + (j * b * C * np.cos(theta)).sum(-1)
    uz = (j * b * S * np.sin(theta)).sum(-1)
    ends = np.ones(n + 1)
    ends[0] = ends[-1] = 0.5
    return np.concatenate(
        [
            psi - flux[..., None],
            0.5 * (ux**2 + uz**2) + surface - bernoulli[..., None],
            (surface @ ends / n)[..., None],
            (surface[..., 0] - surface[..., -1] - height * kappa)[..., None],
        ],
        axis=-1,
    )


def _newton(u: np.ndarray, height: float, sea: Any, water: Water, k0: float) -> np.ndarray | None:
    """Newton's iteration with the derivative by complex steps; None if it does not settle."""
    eye = 1e-30j * np.eye(len(u))
    for _ in range(25):
        with np.errstate(all="ignore"):
            f = _residual(u, height, sea, water, k0)
            J = _residual(u + eye, height, sea, water, k0).imag.T / 1e-30
        if not (np.isfinite(f).all() and np.isfinite(J).all()):
            return None
        step = np.linalg.lstsq(J, -f, rcond=1e-14)[0]
        u = u + step
        if not 0.3 < u[-1] < 3.0:
            return None
        if np.abs(step).max() < 1e-13 + 1e-11 * height:
            return u
    return None


def _surface_harmonics(surface: np.ndarray) -> np.ndarray:
    """Cosine series of the surface from its values at equal spacing, without the mean."""
    n = len(surface) - 1
    ends = np.ones(n + 1)
    ends[0] = ends[-1] = 0.5
    j = np.arange(1, n + 1)
    E = 2 / n * np.cos(np.pi * np.outer(j, np.arange(n + 1)) / n) @ (ends * surface)
    E[-1] /= 2
    return E


def _theta(wave: StreamWave, t: Array, x: Array, y: Array) -> Array:
    xp = namespace(wave.harmonics, t, x, y)
    t, x, y = (xp.asarray(value) for value in (t, x, y))
    along = x * xp.cos(wave.beta) + y * xp.sin(wave.beta)
    return wave.wavenumber * along - wave.omega * t + wave.phase


def elevation(wave: StreamWave, t: Array, x: Array = 0.0, y: Array = 0.0) -> Array:
    """Free surface [m]; arguments broadcast."""
    xp = namespace(wave.harmonics, t, x, y)
    j = np.arange(1, len(wave.harmonics) + 1)
    eta = (wave.harmonics * xp.cos(j * _theta(wave, t, x, y)[..., None])).sum(-1)
    return ramp(t, wave.ramp) * eta


def kinematics(
    wave: StreamWave, t: Array, x: Array, y: Array, z: Array, water: Water
) -> Kinematics:
    r"""Velocity, acceleration and dynamic pressure of the water under a steep wave.

    .. math::
        u = \sqrt{g/k} \sum_j j B_j C_j \cos j\theta, \quad
        p = \rho\left(R - \tfrac12[(u - c)^2 + w^2]\right)

    The acceleration follows the water (Du/Dt), as is right for steep waves. Above the highest
    crest the formulas are held. A ramp multiplies everything.

    Args:
        wave: solved wave.
        t: [s].
        x: [m].
        y: [m].
        z: height above the still water [m].
        water: rho, g and depth.
    """
    xp = namespace(wave.harmonics, t, x, y, z)
    theta = _theta(wave, t, x, y)[..., None]
    k, c = wave.wavenumber, wave.speed
    z = xp.minimum(xp.asarray(z), wave.crest)[..., None]
    j = np.arange(1, len(wave.harmonics) + 1)
    C, S = depth_decay(j * k, z, water.depth)
    b = (water.g / k) ** 0.5 * j * wave.coefficients
    cos, sin = xp.cos(j * theta), xp.sin(j * theta)
    u, w = (b * C * cos).sum(-1), (b * S * sin).sum(-1)
    # steady in axes that travel: d/dt = -c d/dx; and u_z = w_x, w_z = -u_x
    u_x, w_x = -k * (j * b * C * sin).sum(-1), k * (j * b * S * cos).sum(-1)
    ahead = (u - c) * u_x + w * w_x
    up = (u - c) * w_x - w * u_x
    r = ramp(t, wave.ramp)
    pressure = r * water.rho * (wave.bernoulli - 0.5 * ((u - c) ** 2 + w**2))
    cb, sb = xp.cos(wave.beta), xp.sin(wave.beta)
    return Kinematics(
        xp.stack([r * u * cb, r * u * sb, r * w], -1),
        xp.stack([r * ahead * cb, r * ahead * sb, r * up], -1),
        pressure,
    )


def bound_components(wave: StreamWave) -> Components:
    """The harmonics of the surface as components; they travel together, k_j = j k."""
    E = np.asarray(wave.harmonics)
    j = np.arange(1, len(E) + 1)
    return Components(
        amplitude=np.abs(E),
        omega=j * wave.omega,
        wavenumber=j * wave.wavenumber,
        beta=np.full(len(E), wave.beta),
        phase=j * wave.phase + np.where(E < 0, np.pi, 0.0),
        ramp=wave.ramp,
        repeat_period=2 * math.pi / wave.omega,
    )


def with_ramp(wave: StreamWave, seconds: float) -> StreamWave:
    """The same wave with another ramp."""
    return dataclasses.replace(wave, ramp=seconds)
