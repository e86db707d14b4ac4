"""From the description of a sea to its plane waves."""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import Any

import numpy as np

from swelltree.system import seas
from swelltree.system.errors import SwelltreeError, SwelltreeWarning
from swelltree.system.spectra import DirectionalTable
from swelltree.system.water import Water
from swelltree.waves import spectra
from swelltree.waves.airy import Components
from swelltree.waves.dispersion import dispersion
from swelltree.waves.random_numbers import AMPLITUDE, HEADING, JITTER, PHASE, uniforms

HEADINGS = 16  # different headings in a block of components of a directional table


def components(sea: Any, water: Water, case: int | str = 0) -> Components:
    """The plane waves of a sea.

    Args:
        sea: RegularWave(...), IrregularSea(...) ...
        water: depth and g.
        case: number or name of the run; another case of the same seed is another sea.
    """
    found = _train(sea, water, case, 0)
    return dataclasses.replace(found, ramp=float(sea.ramp))


def _train(sea: Any, water: Water, case: int | str, number: int) -> Components:
    match sea:
        case seas.StillWater():
            return _waves(water, [], [], [], [])
        case seas.RegularWave():
            return dataclasses.replace(
                _waves(water, [sea.amplitude], [sea.omega], [sea.beta], [sea.phase]),
                repeat_period=float(sea.period or 0.0),
            )
        case seas.IrregularSea():
            return irregular(sea, water, case, number)
        case seas.FocusedWave():
            return focused(sea, water)
        case seas.MeasuredWave():
            from swelltree.waves.measured import measured

            return measured(sea, water)
        case seas.StreamFunctionWave():
            from swelltree.waves.stream_function import bound_components, stream_wave

            return bound_components(stream_wave(sea, water))
        case seas.GriddedSea():
            raise sea.fail(
                "a field on a grid has no components and no linear excitation. Use it with "
                "compile(..., nonlinear=True) and without hydro data."
            )
        case seas.SeaOf():
            return joined([_train(part, water, case, k) for k, part in enumerate(sea.trains)])
        case _:
            raise SwelltreeError(
                f"{sea!r} is not a sea. Give for example RegularWave(amplitude=1.0, period=8.0)."
            )


def _waves(water: Water, a: Any, omega: Any, beta: Any, phase: Any) -> Components:
    a, omega, beta, phase = (np.array(row, float) for row in (a, omega, beta, phase))
    return Components(a, omega, dispersion(omega, water.depth, water.g), beta, phase)


def joined(trains: list[Components]) -> Components:
    """Several trains as one."""
    rows = ("amplitude", "omega", "wavenumber", "beta", "phase")
    # waves of different length repeat together only by chance
    periods = {train.repeat_period for train in trains if len(train)}
    return Components(
        *(np.concatenate([getattr(train, row) for train in trains]) for row in rows),
        repeat_period=periods.pop() if len(periods) == 1 else math.inf,
        residual=max(train.residual for train in trains),
        mean=sum(train.mean for train in trains),
        width=np.concatenate([np.broadcast_to(train.width, len(train)) for train in trains]),
    )


def irregular(sea: Any, water: Water, case: int | str = 0, train: int = 0) -> Components:
    r"""A random sea, :math:`a_i = \sqrt{2 S \Delta\omega}`.

    S d_omega is the energy of the bin, integrated. The usual band leaves out 0.25 % of the
    energy; the rest is scaled so that Hs is kept. What a band given by the user leaves out stays
    out.
    """
    draws = uniforms(sea.seed, case, sea.components, train)
    energy, omega, width = bins(sea, water.g, draws[:, JITTER] if sea.jitter else None)
    amplitude = np.sqrt(2 * energy)
    if sea.amplitudes == "rayleigh":
        amplitude = amplitude * np.sqrt(-np.log1p(-draws[:, AMPLITUDE]))
    beta = sea.beta + headings(sea, omega, draws[:, HEADING])
    waves = _waves(water, amplitude, omega, beta, 2 * np.pi * draws[:, PHASE])
    # where the density of the spectrum has the energy of the bin
    S = spectra.density(sea.spectrum, omega, water.g)
    return dataclasses.replace(
        waves,
        repeat_period=2 * math.pi / width if width else math.inf,
        width=np.divide(energy, S, out=np.zeros(len(omega)), where=S > 0),
    )


def bins(sea: Any, g: float, jitter: np.ndarray | None) -> tuple[Any, Any, float | None]:
    """Energy [m^2], frequency [rad/s] and, where the sea repeats, width of the bins of a sea."""
    grid, below = spectra.cumulative(sea.spectrum, g)
    whole = spectra.total_energy(sea.spectrum, g)
    low, high = band(sea, grid, below)
    inside = np.interp([low, high], grid, below)
    share = (inside[1] - inside[0]) / below[-1]
    if not share > 1e-9:
        raise sea.fail(
            f"the spectrum has no energy between {low:.4g} and {high:.4g} rad/s. Widen the band."
        )
    own = sea.omega_min is not None or sea.omega_max is not None
    if own and share < 0.95:
        warnings.warn(
            f"{sea.label}: the band from {low:.4g} to {high:.4g} rad/s holds {100 * share:.3g} % "
            "of the energy of the spectrum; the rest is left out.",
            SwelltreeWarning,
            stacklevel=4,
        )
    kept = whole * share if own else whole
    n = sea.components
    shift = 0.5 if jitter is None else jitter
    if getattr(sea, "spacing", "equal") == "equal_energy":
        part = inside[0] + (np.arange(n) + shift) / n * (inside[1] - inside[0])
        return np.full(n, kept / n), _invert(part, grid, below), None
    width = (high - low) / n
    first = low + 0.5 * width
    if jitter is None:
        # multiples of the width: the sea repeats exactly after 2 pi / width
        first = width * math.ceil(low / width - 1e-9)
    edges = first + width * (np.arange(n + 1) - 0.5)
    energy = np.diff(np.interp(edges, grid, below))
    omega = edges[:-1] + width * shift
    return energy * kept / energy.sum(), omega, None if jitter is not None else width


def _invert(part: Any, grid: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Frequencies at which the energy below reaches given values."""
    rising = np.append(True, np.diff(below) > 0)
    return np.interp(part, below[rising], grid[rising])


def band(sea: Any, grid: np.ndarray, below: np.ndarray) -> tuple[float, float]:
    """Lowest and highest frequency of a sea [rad/s]."""
    # spectra that end by themselves are used whole
    ends = hasattr(sea.spectrum, "omega_max") or hasattr(sea.spectrum, "omega")
    usual = (
        (grid[0], grid[-1])
        if ends
        else _invert(np.array([spectra.BELOW, 1 - spectra.ABOVE]) * below[-1], grid, below)
    )
    low = usual[0] if sea.omega_min is None else sea.omega_min
    high = usual[1] if sea.omega_max is None else sea.omega_max
    if not high > low:
        raise sea.fail(
            f"the band from {low:.4g} to {high:.4g} rad/s is empty. Give both ends, or none."
        )
    return float(low), float(high)


def headings(sea: Any, omega: np.ndarray, draw: np.ndarray) -> np.ndarray:
    """Heading of each component relative to `sea.beta` [rad].

    Neighbouring components share out the headings among them: every block holds each of the
    equally probable headings once, in random order. No two components have the same frequency,
    so that the sea is the same on average everywhere (Jefferys 1987).
    """
    table = isinstance(sea.spectrum, DirectionalTable)
    if sea.spreading is None and not table:
        return np.zeros(len(omega))
    count: int = HEADINGS if table else sea.spreading.directions  # pyright: ignore
    rank = np.concatenate(
        [
            np.argsort(np.argsort(draw[k : k + count], kind="stable"), kind="stable")
            for k in range(0, len(omega), count)
        ]
    )
    sizes = np.minimum(count, len(omega) - count * (np.arange(len(omega)) // count))
    part = (rank + 0.5) / sizes
    if table:
        return _table_headings(sea.spectrum, omega, part)
    beta = np.linspace(-np.pi, np.pi, 8193)
    D = spectra.spreading_density(sea.spreading, beta)
    below = np.append(0.0, np.cumsum(0.5 * (D[1:] + D[:-1]) * np.diff(beta)))
    return np.interp(part * below[-1], below, beta)


def _table_headings(table: Any, omega: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Headings of a directional table that leave given parts of the energy on one side."""
    beta = np.asarray(table.beta)
    rows = np.asarray(table.density)
    if spectra.is_circle(beta):
        # begin where least energy comes, so that the ends of the row do not matter
        first = int(rows.sum(0).argmin())
        beta = np.append(beta[first:], beta[:first] + 2 * np.pi)
        rows = np.roll(rows, -first, axis=1)
        beta, rows = np.append(beta, beta[0] + 2 * np.pi), np.hstack([rows, rows[:, :1]])
    fine = np.linspace(beta[0], beta[-1], 2049)
    found = np.empty(len(omega))
    for i, w in enumerate(omega):
        row = [np.interp(w, table.omega, column) for column in rows.T]
        D = np.interp(fine, beta, row)
        below = np.append(0.0, np.cumsum(0.5 * (D[1:] + D[:-1]) * np.diff(fine)))
        found[i] = np.interp(part[i] * below[-1], below, fine)
    return found


def focused(sea: Any, water: Water) -> Components:
    r"""NewWave (Tromans, Anaturk and Hagemeijer 1991).

    .. math:: a_i = A \frac{S_i \Delta\omega}{\sum S \Delta\omega}

    with all crests together at one place and time.
    """
    energy, omega, width = bins(sea, water.g, None)
    a = sea.amplitude * energy / energy.sum()
    waves = _waves(water, a, omega, np.full(len(omega), sea.beta), np.zeros(len(omega)))
    along = sea.x * math.cos(sea.beta) + sea.y * math.sin(sea.beta)
    return dataclasses.replace(
        waves,
        phase=omega * sea.t - waves.wavenumber * along,
        repeat_period=2 * math.pi / width if width else math.inf,
        width=np.full(len(omega), width or 0.0),
    )
