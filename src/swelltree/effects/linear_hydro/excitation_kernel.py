"""Excitation from a record of the elevation, by the impulse response of the data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.effects.linear_hydro.data import Table
from swelltree.effects.linear_hydro.excitation import excitation_at, travelled
from swelltree.system.errors import SwelltreeError
from swelltree.waves.dispersion import dispersion
from swelltree.waves.spectral_lines import real_sum

if TYPE_CHECKING:
    from swelltree.waves.water import AnyWater


class Record(NamedTuple):
    """Components whose elevation is sampled; amplitudes are those at the origin."""

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
    """Time by which the kernel runs ahead of the elevation [s]; before it k is a trifle."""
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
