r"""Steep waves of permanent form: the stream function as a Fourier series (Fenton 1988; Dean 1965).

In axes that travel with the wave,

.. math::
    \psi = -c z + \sqrt{g/k^3} \sum_j B_j \frac{\sinh jk(z+h)}{\cosh jkh} \cos j\theta

solves the field equation and the bottom condition exactly. The coefficients and the surface follow
from the two conditions at the surface by Newton's method, the height growing in steps from a small
wave. There is no mean current (Eulerian).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from swelltree.jit import Array, known, namespace, pytree
from swelltree.waves.airy import Components, Kinematics
from swelltree.waves.dispersion import AnyWater, depth_decay, dispersion, is_deep
from swelltree.waves.quick_trig import sin_cos
from swelltree.waves.ramp import ramp

if TYPE_CHECKING:
    from swelltree.describe.environment.seas import StreamFunctionWave


ACCEPTED = 1e-3  # the same, when more harmonics find no solution
ORDERS = (8, 12, 18, 27, 40, 60)
CONVERGED = 1e-6  # last term of surface and potential, as a part of the height


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
    """Maximum height of a steady wave of a length [m]: Fenton (1990), fit to Williams (1981)."""
    if is_deep(depth):
        return 0.141063 * wavelength
    r = wavelength / depth
    top = 0.141063 * r + 0.0095721 * r**2 + 0.0077829 * r**3
    return depth * top / (1 + 0.0788340 * r + 0.0317567 * r**2 + 0.0093407 * r**3)


def stream_wave(sea: StreamFunctionWave, water: AnyWater) -> StreamWave:
    """Solve for a steep wave; one that would break is rejected.

    Args:
        sea: StreamFunctionWave(...).
        water: depth and g.
    """
    if not known(water.depth, water.g):
        raise sea.fail(
            "a steep wave is solved for known water only. Let the function close over the model "
            "inside jit, grad and vmap."
        )
    k0 = float(dispersion(sea.omega, water.depth, water.g))
    best, missing, reached = None, math.inf, k0
    for order in ORDERS if sea.order is None else (sea.order,):
        if best is None:
            if order > ORDERS[2] and sea.order is None:
                break  # heights that few harmonics cannot reach are out of reach for more
            u, k = _climb(sea, water, order, k0)
            reached = min(reached, k)
        else:
            # more harmonics start from the solution with fewer
            u = _newton(_refined(best, order), sea.height * k0, sea, water, k0)
        if u is None or not _rises_to_one_crest(u):
            continue
        best, missing = u, _last_term(u) / (sea.height * k0)
        if missing < CONVERGED:
            break
    if best is None or (missing > ACCEPTED and sea.order is None):
        raise sea.fail(_too_high(sea, water, reached))
    order = (len(best) - 4) // 2
    k = float(best[-1] * k0)
    E, B = _surface_harmonics(best[: order + 1]) / k, best[order + 1 : 2 * order + 1]
    assert sea.omega is not None
    return StreamWave(
        wavenumber=k,
        omega=float(sea.omega),
        beta=float(sea.beta),
        phase=float(sea.phase),
        harmonics=E,
        coefficients=B,
        bernoulli=float(best[2 * order + 2] * water.g / k),
        ramp=float(sea.ramp),
    )


def _last_term(u: np.ndarray) -> float:
    """Size of the last harmonic of the surface and of the potential at the crest, times k."""
    n = (len(u) - 4) // 2
    last = abs(u[2 * n]) * math.exp(n * u[0])
    return max(last, abs(_surface_harmonics(u[: n + 1])[-1])) / u[-1]


def _refined(u: np.ndarray, order: int) -> np.ndarray:
    """Unknowns interpolated to a finer surface and more coefficients."""
    n = (len(u) - 4) // 2
    E = _surface_harmonics(u[: n + 1])
    theta = np.pi * np.outer(np.arange(order + 1), np.arange(1, n + 1)) / order
    return np.concatenate([np.cos(theta) @ E, u[n + 1 : 2 * n + 1], np.zeros(order - n), u[-3:]])


def _climb(
    sea: StreamFunctionWave, water: AnyWater, order: int, k0: float
) -> tuple[np.ndarray | None, float]:
    """Raise the height in steps from a small wave, each solved from the ones before.

    Returns:
        the unknowns, None if the wave cannot be reached, and the last wavenumber [1/m].
    """
    target = sea.height * k0
    steepness = sea.height / highest(2 * math.pi / k0, water.depth)
    first = target / (1 + math.ceil(10 * min(steepness, 4.0)))
    done = [(0.0, _small_wave(0.0, order, sea, water, k0))]
    at, stride = 0.0, first
    while at < target * (1 - 1e-12):
        height = min(at + stride, target)
        u = _newton(_guess(done, height, order, sea, water, k0), height, sea, water, k0)
        if (
            u is None
            or not _rises_to_one_crest(u)
            or height / k0 > highest(2 * math.pi / (u[-1] * k0), water.depth)
        ):
            stride /= 2
            if stride < first / 32:
                return None, float(done[-1][1][-1] * k0)
            continue
        at = height
        done = [*done[-2:], (height, u)]
    return done[-1][1], float(done[-1][1][-1] * k0)


def _rises_to_one_crest(u: np.ndarray) -> bool:
    """Whether the surface falls monotonically from crest to trough and the speed is plausible."""
    surface = u[: (len(u) - 2) // 2]
    # Longuet-Higgins (1975): no wave is longer than 1.3 times the small wave of its period
    return bool(np.diff(surface).max() < 0.05 * (surface[0] - surface[-1]) and u[-1] > 1 / 1.3)


def _too_high(sea: StreamFunctionWave, water: AnyWater, k: float) -> str:
    limit = highest(2 * math.pi / k, water.depth)
    where = "deep water" if is_deep(water.depth) else f"{water.depth:g} m of water"
    about = f"the highest wave of {sea.period:.4g} s in {where} is about {limit:.3g} m"
    if sea.height > 0.999 * limit:
        return f"height {sea.height} m breaks: {about}. Lower the height or lengthen the period."
    return (
        f"height {sea.height} m has too sharp a crest for {ORDERS[-1]} harmonics: {about}. Lower "
        "the height, shorten the period, or give `order` to accept a rounded crest."
    )


def _small_wave(
    height: float, order: int, sea: StreamFunctionWave, water: AnyWater, k0: float
) -> np.ndarray:
    """Unknowns of a sine wave: surface, coefficients, flux, Bernoulli constant, wavenumber."""
    assert sea.omega is not None
    a = height / 2
    w = sea.omega / math.sqrt(water.g * k0)  # = sqrt(tanh kh) in units of g and k
    surface = a * np.cos(np.pi * np.arange(order + 1) / order)
    B = np.zeros(order)
    B[0] = a / w
    return np.concatenate([surface, B, [0.0, 0.5 * w**2, 1.0]])


def _guess(
    done: list[tuple[float, np.ndarray]],
    height: float,
    order: int,
    sea: StreamFunctionWave,
    water: AnyWater,
    k0: float,
) -> np.ndarray:
    """Extrapolate previous steps; initially a sine wave."""
    if len(done) == 1:
        return _small_wave(height, order, sea, water, k0)
    # Lagrange's polynomial through the last two or three
    guess = np.zeros_like(done[0][1])
    for i, (h, u) in enumerate(done):
        weight = np.prod([(height - g) / (h - g) for j, (g, _) in enumerate(done) if j != i])
        guess = guess + weight * u
    return guess


def conditions(
    u: np.ndarray, height: float, sea: StreamFunctionWave, water: AnyWater, k0: float
) -> tuple[np.ndarray, np.ndarray]:
    """The conditions of a steady wave in units of g and k, and their derivative.

    Fenton (1988), eqs. 3.4-3.9: the surface is a streamline, its pressure is constant, its mean is
    zero, its height is as asked; the period gives the speed.

    Args:
        u: surface at n + 1 points from crest to trough, n coefficients, flux, Bernoulli's
            constant, wavenumber over k0: 2 n + 4 unknowns.
        height: of this step times k0.
        sea: for its frequency.
        water: depth and g.
        k0: wavenumber of the small wave.
    """
    n = (len(u) - 4) // 2
    surface, B, (flux, bernoulli, kappa) = u[: n + 1], u[n + 1 : 2 * n + 1], u[2 * n + 1 :]
    c = sea.omega / np.sqrt(water.g * k0 * kappa)
    j, point = np.arange(1, n + 1), np.arange(n + 1)
    theta = np.pi * np.outer(point, j) / n
    cos, sin = np.cos(theta), np.sin(theta)
    C, S = depth_decay(j, surface[:, None], k0 * kappa * water.depth)
    # derivative of the two by the wavenumber, through the depth
    dC, dS = np.zeros_like(C), np.zeros_like(S)
    if math.isfinite(water.depth):
        bed = np.exp(-2 * j * k0 * kappa * water.depth)
        slope, mirror = 2 * j * k0 * water.depth, np.exp(-j * surface[:, None]) * bed
        dC = slope * (bed * C - mirror) / (1 + bed)
        dS = slope * (bed * S + mirror) / (1 + bed)
    dc = -0.5 * c / kappa
    ux, uz = -c + (j * C * cos) @ B, (j * S * sin) @ B
    ends = np.where((point == 0) | (point == n), 0.5, 1.0)
    f = np.concatenate(
        [
            -c * surface + (S * cos) @ B - flux,
            0.5 * (ux**2 + uz**2) + surface - bernoulli,
            [surface @ ends / n, surface[0] - surface[-1] - height * kappa],
        ]
    )
    J = np.zeros((2 * n + 4, 2 * n + 4))
    top, low = slice(0, n + 1), slice(n + 1, 2 * n + 2)
    J[point, point] = ux
    J[n + 1 + point, point] = ux * ((j**2 * S * cos) @ B) + uz * ((j**2 * C * sin) @ B) + 1
    J[top, n + 1 : 2 * n + 1] = S * cos
    J[low, n + 1 : 2 * n + 1] = ux[:, None] * j * C * cos + uz[:, None] * j * S * sin
    J[top, 2 * n + 1] = J[low, 2 * n + 2] = -1.0
    J[top, -1] = -dc * surface + (dS * cos) @ B
    J[low, -1] = ux * (-dc + (j * dC * cos) @ B) + uz * ((j * dS * sin) @ B)
    J[-2, : n + 1] = ends / n
    J[-1, 0], J[-1, n], J[-1, -1] = 1.0, -1.0, -height
    return f, J


def _newton(
    u: np.ndarray, height: float, sea: StreamFunctionWave, water: AnyWater, k0: float
) -> np.ndarray | None:
    """Newton's iteration; None if it does not converge."""
    with np.errstate(all="ignore"):
        f, J = conditions(u, height, sea, water, k0)
        for _ in range(20):
            if not (np.isfinite(f).all() and np.isfinite(J).all()):
                return None
            try:
                step = np.linalg.solve(J, -f)
            except np.linalg.LinAlgError:
                return None
            # sharp crests: go only as far as the conditions improve
            size = np.abs(f).max()
            for part in (1.0, 0.5, 0.25, 0.125):
                f, J = conditions(u + part * step, height, sea, water, k0)
                if np.abs(f).max() < size:
                    break
            u = u + part * step
            if not 0.3 < u[-1] < 3.0:
                return None
            # the last coefficients are poorly determined: test the conditions, not the coefficients
            if np.abs(f).max() < 1e-15 + 1e-10 * height:
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


def _powers(coefficients: list[Array], re: Array, im: Array) -> tuple[Array, Array]:
    """Real and imaginary part of sum_j c_j q^j, j from one, of a complex q (Estrin's scheme).

    Neighbours are joined in pairs, and these again. In Horner's scheme every step uses both parts
    of the one before twice: XLA of JAX 0.11 and later, which computes again what goes into each row
    of a stack, would take twice as long with every harmonic.
    """
    even, odd = coefficients[::2], [*coefficients[1::2], *[0.0] * (len(coefficients) % 2)]
    terms = [(a + b * re, b * im) for a, b in zip(even, odd, strict=True)]
    f, g = re, im
    while len(terms) > 1:
        f, g = f * f - g * g, 2.0 * f * g
        alone = terms[-1:] if len(terms) % 2 else []
        pairs = zip(terms[::2], terms[1::2], strict=False)
        terms = [(a + c * f - d * g, b + c * g + d * f) for (a, b), (c, d) in pairs] + alone
    f, g = terms[0]
    return f * re - g * im, f * im + g * re


def elevation(wave: StreamWave, t: Array, x: Array = 0.0, y: Array = 0.0) -> Array:
    """Free surface [m]; arguments broadcast."""
    sin, cos = sin_cos(_theta(wave, t, x, y))
    E = [wave.harmonics[j] for j in range(len(wave.harmonics))]
    return ramp(t, wave.ramp) * _powers(E, cos, sin)[0]


def _series(
    wave: StreamWave, t: Array, x: Array, y: Array, z: Array, water: AnyWater
) -> Callable[[np.ndarray], tuple[Array, Array, Array, Array]]:
    """Function of weights w_j: the sums of w_j b_j C_j exp(i j theta) and w_j b_j S_j exp(...)."""
    xp = namespace(wave.harmonics, t, x, y, z, water.depth, water.g)
    k, depth = wave.wavenumber, water.depth
    sin, cos = sin_cos(_theta(wave, t, x, y))
    z = xp.minimum(xp.asarray(z), wave.crest)
    down = xp.exp(k * z)
    up = 0.0 * down if is_deep(depth) else xp.exp(-k * (z + 2.0 * depth))
    j = np.arange(1, len(wave.harmonics) + 1)
    b = (water.g / k) ** 0.5 * j * wave.coefficients
    b = b if is_deep(depth) else b / (1.0 + xp.exp(-2.0 * k * depth * j))

    def sums(weight: np.ndarray) -> tuple[Array, Array, Array, Array]:
        c = [weight[n] * b[n] for n in range(len(j))]
        f, g = _powers(c, down * cos, down * sin)
        if is_deep(depth):
            return f, g, f, g
        f_up, g_up = _powers(c, up * cos, up * sin)
        return f + f_up, g + g_up, f - f_up, g - g_up

    return sums


def pressure(wave: StreamWave, t: Array, x: Array, y: Array, z: Array, water: AnyWater) -> Array:
    """Dynamic pressure under a steep wave [Pa]; arguments broadcast."""
    u, _, _, w = _series(wave, t, x, y, z, water)(np.ones(len(wave.harmonics)))
    r = ramp(t, wave.ramp)
    return r * water.rho * (wave.bernoulli - 0.5 * ((u - wave.speed) ** 2 + w**2))


def kinematics(
    wave: StreamWave, t: Array, x: Array, y: Array, z: Array, water: AnyWater
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
    k, c = wave.wavenumber, wave.speed
    j = np.arange(1, len(wave.harmonics) + 1)
    # sums over exp(i j theta): real parts go with cosines, imaginary parts with sines
    sums = _series(wave, t, x, y, z, water)
    u, _, _, w = sums(np.ones(len(j)))
    _, slope_u, slope_w, _ = sums(1.0 * j)
    # steady in axes that travel: d/dt = -c d/dx; and u_z = w_x, w_z = -u_x
    u_x, w_x = -k * slope_u, k * slope_w
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
