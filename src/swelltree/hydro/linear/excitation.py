"""Excitation of plane waves by the data: at any frequency and heading, for bodies at rest."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.hydro.linear.data import LEFT_OUT, NEGLIGIBLE, RadiationMemory, Table
from swelltree.hydro.linear.frame import turned_six
from swelltree.hydro.linear.headings import heading_weights, warn_coarse
from swelltree.jit import Array, namespace, pytree
from swelltree.spatial.cubic_spline import CubicSpline
from swelltree.spatial.rotations import matvec
from swelltree.waves.dispersion import dispersion
from swelltree.waves.spectral_lines import real_sum

if TYPE_CHECKING:
    from swelltree.waves.airy import Components
    from swelltree.waves.dispersion import AnyWater, WaterNumbers

SPLINES: deque[tuple[np.ndarray, np.ndarray, tuple[CubicSpline, ...]]] = deque(
    maxlen=8
)  # arrays and their splines


def interpolated(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Values along the first axis by a cubic spline through the data (real or complex)."""
    if len(x) < 4:
        i = np.clip(np.searchsorted(x, at) - 1, 0, len(x) - 2)
        part = ((at - x[i]) / (x[i + 1] - x[i])).reshape(-1, *(1,) * (y.ndim - 1))
        return (1 - part) * y[i] + part * y[i + 1]
    splines = _splines(x, y)
    return splines[0](at) + 1j * splines[-1](at) if np.iscomplexobj(y) else splines[0](at)


def _splines(x: np.ndarray, y: np.ndarray) -> tuple[CubicSpline, ...]:
    """Cubic splines of real and imaginary parts, cached for the latest arrays."""
    for own_x, own_y, result in SPLINES:
        if own_y is y and own_x is x:
            return result
    parts = (np.real(y), np.imag(y)) if np.iscomplexobj(y) else (y,)
    result = tuple(CubicSpline(x, part) for part in parts)
    SPLINES.append((x, y, result))
    return result


def travelled(place: np.ndarray, k: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Phase factor exp(i k.x) of waves at the places (p, 2), relative to the origin (c, p)."""
    along = np.stack([np.cos(beta), np.sin(beta)], axis=1) @ place.T
    return np.exp(1j * np.asarray(k)[:, None] * along)


def excitation_at(
    table: Table,
    omega: np.ndarray,
    beta: np.ndarray,
    k: np.ndarray,
    amplitude: Array = 1.0,
    yaw: np.ndarray | None = None,
) -> np.ndarray:
    """Excitation per metre of a crest at the origin, at pairs of frequency and heading, (c, 6N).

    Args:
        table: the data.
        omega: of each wave [rad/s].
        beta: of each wave [rad].
        k: wavenumber of each wave [rad/m].
        amplitude: of each wave where it is known [m]: a warning about headings that are too far
            apart then looks where the waves are.
        yaw: of every body from where the data hold, (N,): its data turn with it.
    """
    way = travelled(table.place, k, beta)
    force = interpolated(np.asarray(table.omega), np.asarray(table.excitation), omega)
    size = np.abs(amplitude) * np.ones(len(omega))
    # with the crest at each body it changes slowly and can be interpolated
    if yaw is None:
        weights = heading_weights(table.direction, beta)
        warn_coarse(table.direction, size[:, None, None] * force, beta, "hydro data")
        return np.einsum("cd,cdm->cm", weights, force) * way
    for i, psi in enumerate(yaw):
        warn_coarse(table.direction, size[:, None, None] * force, beta - psi, "hydro data")
        weights = heading_weights(table.direction, beta - psi)
        body = slice(6 * i, 6 * i + 6)
        six = np.einsum("cd,cdm->cm", weights, force[:, :, body])
        way[:, body] *= turned_six(np.full(len(omega), psi), six)
    return way


def in_band(table: Table, waves: Components) -> np.ndarray:
    """Components covered by the data; others are dropped, and rejected if they matter."""
    low, high = float(table.omega[0]), float(table.omega[-1])
    inside, part = covered_by(low, high, waves)
    if part > NEGLIGIBLE:
        warn_user(
            f"hydro data reach from omega = {low:.4g} to {high:.4g} rad/s: {100 * part:.2g} % of "
            f"the energy of the sea lies outside and is left out. Give omega_max={high:.4g} for "
            "the sea, or data up to its end."
        )
    return inside


def covered_by(low: float, high: float, waves: Components) -> tuple[np.ndarray, float]:
    """Which components lie between two frequencies [rad/s], and the part of the energy beside them.

    An error where that is more than a sea can lose.
    """
    omega = np.asarray(waves.omega)
    inside = (omega >= low * (1 - 1e-9)) & (omega <= high * (1 + 1e-9))
    energy = np.asarray(waves.amplitude) ** 2
    part = float(energy[~inside].sum() / max(float(energy.sum()), 1e-300))
    if part > LEFT_OUT:
        worst = omega[~inside][energy[~inside].argmax()]
        cut = f"omega_max={high:.4g}" if worst > high else f"omega_min={low:.4g}"
        raise SwelltreeError(
            f"hydro data reach from omega = {low:.4g} to {high:.4g} rad/s but {100 * part:.3g} % "
            f"of the energy of the wave lies outside, most at {worst:.4g} rad/s. Run run_bem(..., "
            f"omega=...) up to there, give {cut} for the sea, or change the wave."
        )
    return inside, part


@dataclass(frozen=True)
class DataExcitation:
    """Force of plane waves on all bodies by the data."""

    table: Table
    water: WaterNumbers  # waves.water.WaterNumbers
    yaw: Array | None  # (N,) of the bodies from where the data hold; None: fixed axes

    def __call__(self, omega: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Force per metre of wave amplitude at the origin, exp(-iwt), world axes, (c, 6N)."""
        k = dispersion(omega, float(self.water.depth), float(self.water.g))
        yaw = None if self.yaw is None else np.asarray(self.yaw)
        return excitation_at(self.table, omega, beta, np.asarray(k), yaw=yaw)

    def in_band(self, waves: Components) -> np.ndarray:
        """Which components of a sea the data cover, (c,) bool."""
        return in_band(self.table, waves)

    def wet(self) -> np.ndarray:
        size = np.abs(np.asarray(self.table.excitation)).max(axis=(0, 1), initial=0.0)
        return size.reshape(-1, 6).max(axis=1) > 0


# --- Excitation from a record of the elevation, by the impulse response of the data


class Record(NamedTuple):
    """Components with sampled elevation; amplitudes are those at the origin."""

    omega: np.ndarray
    amplitude: np.ndarray
    step: float
    points: int


def excitation_kernel(
    table: Table, water: AnyWater, beta: float, step: float
) -> tuple[np.ndarray, np.ndarray]:
    r"""Impulse response of the excitation (Paparella 001, eq. 10).

    .. math:: k(\tau) = \frac1\pi \mathrm{Re} \int_0^\infty \hat F(\omega)
              e^{-i\omega\tau} d\omega

    It acts on the elevation at each body and is not causal: the wave acts on a hull before its
    crest passes the reference point. With the elevation at the origin it would also hold the
    travel time of the waves, which differs between frequencies and is longer than the lags that
    data of this spacing determine. Beyond the data the excitation is continued to zero frequency
    and tapered off above.

    Returns:
        lags, from minus the look-ahead on [s], and k at each of them (lag, 6N).
    """
    high = float(table.omega[-1])
    spacing = float(np.median(np.diff(table.omega))) / 8
    omega = np.arange(0.5 * spacing, 1.25 * high, spacing)
    inner = np.clip(omega, table.omega[0], high)
    wavenumber = np.asarray(dispersion(inner, float(water.depth), float(water.g)))
    at_bodies = replace(table, place=np.zeros_like(table.place))
    F = excitation_at(at_bodies, inner, np.full(len(omega), beta), wavenumber)
    # below the data: magnitude and phase of the lowest frequency, phase going to its mean value
    taper = np.where(omega > high, np.cos(0.5 * np.pi * (omega - high) / (0.25 * high)) ** 2, 1.0)
    F = F * taper[:, None]
    reach = np.pi / (8 * spacing) * 2
    ahead = int(reach / step)
    lag = step * np.arange(-ahead, ahead + 1)
    begin = F * np.exp(1j * omega * step * ahead)[:, None]
    k = real_sum(omega, begin, step, 2 * ahead + 2)[:-1] * spacing / np.pi
    return lag, k


def look_ahead(lag: np.ndarray, k: np.ndarray, part: float = 1e-2) -> float:
    """Time by which the kernel precedes the elevation [s]; it is negligible before."""
    size = np.abs(k / np.maximum(np.abs(k).max(axis=0), 1e-300)).max(axis=1)
    early = lag[(size > part) & (lag < 0)]
    return float(-early.min()) if early.size else 0.0


def convolved_loads(
    table: Table, water: AnyWater, beta: np.ndarray, record: Record
) -> tuple[np.ndarray, np.ndarray]:
    """Excitation and its rate from the elevation at each body, by the impulse response."""
    if np.ptp(beta) > 1e-9:
        raise SwelltreeError(
            "excitation='convolution' works on one elevation record, but the sea has several "
            "headings. Use excitation='components'."
        )
    from scipy.signal import fftconvolve

    lag, k = excitation_kernel(table, water, float(beta[0]), record.step)
    reach = len(lag) // 2
    a = record.amplitude * np.exp(1j * record.omega * record.step * reach)
    wavenumber = np.asarray(dispersion(record.omega, float(water.depth), float(water.g)))
    # bodies at the same place share a record
    places, body = np.unique(np.asarray(table.place), axis=0, return_inverse=True)
    a = a[:, None] * travelled(places, wavenumber, np.full(len(a), beta[0]))
    out = []
    for x in (a, -1j * record.omega[:, None] * a):
        elevation = real_sum(record.omega, x, record.step, record.points + 2 * reach)
        at_body = elevation[:, body.ravel()]
        force = record.step * fftconvolve(at_body, k, mode="valid", axes=0)
        out.append(force[: record.points])
    return out[0], out[1]


# --- Radiation memory as a convolution with past velocities


@pytree()
class Past:
    """Velocities at the last L steps, newest first, and the time of the newest."""

    velocity: Array  # (L, m)
    time: Array  # s


@pytree("live")
class Convolution(RadiationMemory):
    """Radiation memory as a convolution with the kernel, on a fixed step."""

    kernel: Array  # (2L + 2, m, m) K at multiples of half a step
    step: Array  # s
    live: tuple[int, ...]  # which of the 6N velocities radiate

    @property
    def required_step(self) -> float:
        return float(self.step)

    @property
    def records(self) -> bool:
        return True

    def start(self) -> Past:
        length = self.kernel.shape[0] // 2 - 1
        return Past(np.zeros((length, len(self.live))), np.zeros(()))

    def force_at(self, t: Array, v: Array, chi: Past) -> Array:
        r"""Memory force of the kernel by the trapezoidal rule.

        .. math:: \int_0^\infty K(\tau)\, v(t - \tau)\, d\tau

        The nodes are now and the past steps; at the stages of a Runge-Kutta step
        the first interval is a part of a step.
        """
        xp = namespace(v)
        live = np.array(self.live)
        length = chi.velocity.shape[0]
        h = self.step
        part = (t - chi.time) / h
        first = xp.round(2.0 * part).astype(int)
        K = xp.asarray(self.kernel)[first + 2 * np.arange(length)]
        weight = xp.where(np.arange(length) == 0, 0.5 * (1.0 + part), 1.0) * h
        force = (K * chi.velocity[:, None, :] * weight[:, None, None]).sum((0, 2))
        force = force + 0.5 * part * h * matvec(xp.asarray(self.kernel)[0], v[live])
        place = (np.arange(v.shape[0])[:, None] == live[None, :]).astype(float)
        return (place * force[None, :]).sum(1)

    def rate(self, chi: Past, v: Array) -> Past:
        return Past(0.0 * chi.velocity, 0.0 * chi.time)

    def after_step(self, t: Array, v: Array, chi: Past) -> Past:
        xp = namespace(v)
        newest = v[np.array(self.live)][None]
        return Past(xp.concatenate([newest, chi.velocity[:-1]]), t + 0.0 * chi.time)
