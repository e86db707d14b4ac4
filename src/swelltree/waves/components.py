"""From the description of a sea to its plane waves."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.describe.environment import seas
from swelltree.describe.environment.spectra import DirectionalTable
from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.describe.values import warn_suspicious_units
from swelltree.jit import Array, known, namespace
from swelltree.waves import spectra
from swelltree.waves.airy import Components
from swelltree.waves.component_sums import (
    AMPLITUDE,
    HEADING,
    JITTER,
    PHASE,
    uniforms,
    uniforms_of_many,
)
from swelltree.waves.dispersion import AnyWater, dispersion

if TYPE_CHECKING:
    from swelltree.describe.environment.seas import FocusedWave, IrregularSea, Sea


BREAKING = 0.142  # height over length of a regular wave in deep water
STEEPEST = 0.1  # significant height over length of the mean wave of a sea
HEADINGS = 16  # different headings in a block of components of a directional table


def components(sea: Sea, water: AnyWater, case: int | str = 0) -> Components:
    """The plane waves of a sea.

    Args:
        sea: RegularWave(...), IrregularSea(...) ...
        water: depth and g.
        case: number or name of the run; another case of the same seed is another sea.
    """
    result = _train(sea, water, case, 0)
    specified = [getattr(train, "beta", 0.0) for train in getattr(sea, "trains", (sea,))]
    if known(water.rho, *specified):
        warn_suspicious_units(max(map(abs, specified), default=0.0), float(water.rho), sea.label)
    if result.is_known and not isinstance(sea, seas.StreamFunctionWave):  # which knows its limit
        warn_breaking(sea, result, water)
    return dataclasses.replace(result, ramp=float(sea.ramp))


def warn_breaking(sea: Sea, waves: Components, water: AnyWater) -> None:
    r"""Warn of waves that would break.

    A regular wave breaks at :math:`H / L = 0.142 \tanh kh` (Miche 1944); the significant height of
    a sea stays below a tenth of the length of its mean wave (DNV-RP-C205, 3.5.5), with the same
    factor in shallow water.
    """
    a, k = np.asarray(waves.amplitude), np.asarray(waves.wavenumber)
    if not len(a) or not np.any(a):
        return
    one = len(a) == 1
    energy = a**2 / (a**2).sum()
    mean = float((energy * k).sum())
    height = float(2.0 * a[0] if one else waves.Hs)
    limit = (BREAKING if one else STEEPEST) * math.tanh(mean * water.depth)
    steepness = height * mean / (2.0 * math.pi)
    if steepness > limit:
        what = "height" if one else "significant height"
        warn_user(
            f"{sea.label}: a {what} of {height:.4g} m on a length of {2 * math.pi / mean:.4g} m is "
            f"a steepness of {steepness:.3g}; waves break at about {limit:.3g}. Give a lower or "
            "longer wave."
        )


def _train(sea: Sea, water: AnyWater, case: int | str, number: int) -> Components:
    match sea:
        case seas.StillWater():
            return _waves(water, [], [], [], [])
        case seas.RegularWave():
            return dataclasses.replace(
                _waves(water, [sea.amplitude], [sea.omega], [sea.beta], [sea.phase]),
                repeat_period=sea.period,
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


def _waves(water: AnyWater, a: Array, omega: Array, beta: Array, phase: Array) -> Components:
    a, omega, beta, phase = (_row(values) for values in (a, omega, beta, phase))
    return Components(a, omega, dispersion(omega, water.depth, water.g), beta, phase)


def _row(values: Array) -> Array:
    """Numbers as a row, a JAX array if one of them is traced."""
    if not isinstance(values, list):
        return values
    xp = namespace(*values)
    return xp.stack([xp.asarray(x, dtype=float) for x in values]) if values else np.zeros(0)


def joined(trains: list[Components]) -> Components:
    rows = ("amplitude", "omega", "wavenumber", "beta", "phase")
    # waves of different length repeat together only by chance
    live = [train for train in trains if len(train)]
    periods = {train.repeat_period for train in live} if all(t.is_known for t in live) else set()
    xp = namespace(*(getattr(train, row) for train in trains for row in rows))
    known_bands = live and all(train.is_known for train in live)
    ends = np.array([train.ends for train in live]) if known_bands else None
    return Components(
        *(xp.concatenate([getattr(train, row) for train in trains]) for row in rows),
        repeat_period=periods.pop() if len(periods) == 1 else math.inf,
        band=None if ends is None else np.array([ends[:, 0].min(), ends[:, 1].max()]),
        residual=max(train.residual for train in trains),
        mean=sum(train.mean for train in trains),
        width=xp.concatenate([xp.broadcast_to(train.width, len(train)) for train in trains]),
    )


def irregular(
    sea: IrregularSea, water: AnyWater, case: int | str = 0, train: int = 0
) -> Components:
    r"""A random sea, :math:`a_i = \sqrt{2 S \Delta\omega}`.

    S d_omega is the energy of the bin, integrated. The usual band leaves out 0.25 % of the
    energy; the rest is scaled so that Hs is kept. What a band given by the user leaves out stays
    out.
    """
    draws = uniforms(sea.seed, case, sea.components, train)
    result = bins(sea, water.g, draws[:, JITTER] if sea.jitter else None)
    energy, omega = result.energy, result.omega
    xp = namespace(energy, omega, draws)
    beta = sea.beta + headings(sea, omega, draws[:, HEADING])
    waves = _waves(water, _amplitudes(sea, energy, draws), omega, beta, 2 * np.pi * draws[:, PHASE])
    # where the density of the spectrum has the energy of the bin
    S = spectra.density(sea.spectrum, omega, water.g)
    return dataclasses.replace(
        waves,
        repeat_period=result.repeat_period,
        width=xp.where(S > 0, energy / xp.where(S > 0, S, 1.0), 0.0),
        band=result.band,
    )


def _amplitudes(sea: IrregularSea, energy: Array, draws: Array) -> Array:
    """Amplitudes of all components, from draws (..., n, 4)."""
    xp = namespace(energy, draws)
    amplitude = xp.sqrt(2 * energy)
    if sea.amplitudes == "rayleigh":
        amplitude = amplitude * xp.sqrt(-xp.log1p(-draws[..., AMPLITUDE]))
    return amplitude


class ManySeas(NamedTuple):
    """Components of many seas (sea, n): frequency [rad/s], amplitude [m], heading and phase."""

    omega: np.ndarray
    amplitude: np.ndarray
    beta: np.ndarray
    phase: np.ndarray


def irregular_by_seed(
    sea: IrregularSea, water: AnyWater, seeds: Sequence[int], cases: Sequence[int | str]
) -> ManySeas:
    """The components of `irregular` for many seeds of one sea at once.

    Args:
        sea: IrregularSea(...); its own seed does not matter.
        water: depth and g.
        seeds: of the seas.
        cases: number or name of each run.
    """
    draws = uniforms_of_many(seeds, cases, sea.components)
    result = bins(sea, water.g, draws[..., JITTER] if sea.jitter else None)
    shape = draws.shape[:2]
    omega = np.broadcast_to(result.omega, shape)
    amplitude = np.broadcast_to(_amplitudes(sea, result.energy, draws), shape)
    if sea.spreading is None and not isinstance(sea.spectrum, DirectionalTable):
        beta = np.full(shape, float(sea.beta))
    else:
        beta = float(sea.beta) + headings(sea, omega, draws[..., HEADING])
    return ManySeas(omega, amplitude, beta, 2 * np.pi * draws[..., PHASE])


class SeedWaves(NamedTuple):
    """What all seeds of a sea share: of component i a seed draws u, and the rank of its heading.

    Args:
        low: (n,) of a bin, on the scale of the curve.
        width: (n,) of it; the frequency is that of ``low + u * width`` by the curve.
        amplitude: (n,) [m].
        curve: (2, g) rising values and their frequencies [rad/s].
        headings: (n, r) for each rank among r components that follow one another [rad].
    """

    low: np.ndarray
    width: np.ndarray
    amplitude: np.ndarray
    curve: np.ndarray
    headings: np.ndarray

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Minimum and maximum frequency of each component [rad/s]."""
        x, y = self.curve
        return np.interp(self.low, x, y), np.interp(self.low + self.width, x, y)


def seed_waves(sea: IrregularSea, water: AnyWater) -> SeedWaves | None:
    """What all seeds of a sea share; None where they draw amplitudes, or headings from a table.

    Args:
        sea: IrregularSea(...).
        water: depth and g.
    """
    if sea.amplitudes == "rayleigh" or isinstance(sea.spectrum, DirectionalTable):
        return None
    n = sea.components
    ends = (np.zeros(n), np.ones(n)) if sea.jitter else (np.full(n, 0.5), np.full(n, 0.5))
    if sea.spacing == "equal_energy":
        grid, below = spectra.cumulative(sea.spectrum, water.g)
        low, high = np.interp(band(sea, grid, below), grid, below)
        first, last = (low + (np.arange(n) + u) / n * (high - low) for u in ends)
        rising = np.append(True, np.diff(below) > 0)
        curve = np.stack([below[rising], grid[rising]])
        energy = bins(sea, water.g, ends[0]).energy
    else:
        one, other = (bins(sea, water.g, u if sea.jitter else None) for u in ends)
        first, last, energy = one.omega, other.omega, one.energy
        top = 2.0 * float(last[-1])
        curve = np.array([[0.0, top], [0.0, top]])
    count = 1 if sea.spreading is None else sea.spreading.directions
    ranks, i = np.zeros((n, count)), np.arange(n)
    sizes = np.minimum(count, n - count * (i // count))
    for r in range(count):  # all ranks of a block in turn
        rank = (i % count + r) % sizes
        ranks[i, rank] = headings(sea, first, rank / count)
    return SeedWaves(first, last - first, np.sqrt(2.0 * energy), curve, float(sea.beta) + ranks)


class Bins(NamedTuple):
    """Frequency bins of a spectrum."""

    energy: Array  # (n,) m^2
    omega: Array  # (n,) rad/s
    width: Array | None  # rad/s, where the sea repeats
    band: Array  # (2,) lowest and highest frequency that can come, rad/s

    @property
    def repeat_period(self) -> Array:
        """Repeat period of the sea [s]."""
        return math.inf if self.width is None else 2 * math.pi / self.width


def bins(sea: IrregularSea | FocusedWave, g: Array, jitter: Array | None) -> Bins:
    """Energy and frequency of the components of a sea."""
    grid, below = spectra.cumulative(sea.spectrum, g)
    complete = spectra.total_energy(sea.spectrum, g)
    low, high = band(sea, grid, below)
    xp = namespace(grid, below, *(() if jitter is None else (jitter,)))
    inside = xp.interp(xp.stack([xp.asarray(low), xp.asarray(high)]), grid, below)
    share = (inside[1] - inside[0]) / below[-1]
    if known(share) and not share > 1e-9:
        raise sea.fail(
            f"the spectrum has no energy between {low:.4g} and {high:.4g} rad/s. Widen the band."
        )
    specified_band = sea.omega_min is not None or sea.omega_max is not None
    if specified_band and known(share) and share < 0.95:
        warn_user(
            f"{sea.label}: the band from {low:.4g} to {high:.4g} rad/s holds {100 * share:.3g} % "
            "of the energy of the spectrum; the rest is left out."
        )
    stored = complete * share if specified_band else complete
    n = sea.components
    shift = 0.5 if jitter is None else jitter
    if getattr(sea, "spacing", "equal") == "equal_energy":
        part = inside[0] + (np.arange(n) + shift) / n * (inside[1] - inside[0])
        ends = xp.stack([xp.asarray(low), xp.asarray(high)])
        return Bins(xp.ones(n) * (stored / n), _invert(part, grid, below), None, ends)
    width = (high - low) / n
    first = low + 0.5 * width
    if jitter is None:
        # multiples of the width: the sea repeats exactly after 2 pi / width
        first = width * xp.ceil(low / width - 1e-9)
    edges = first + width * (np.arange(n + 1) - 0.5)
    energy = xp.diff(xp.interp(edges, grid, below))
    omega = edges[:-1] + width * shift
    ends = xp.stack([edges[0], edges[-1]])
    return Bins(energy * stored / energy.sum(), omega, None if jitter is not None else width, ends)


def _invert(part: Array, grid: Array, below: Array) -> Array:
    """Frequencies at which the cumulative energy reaches given values."""
    xp = namespace(part, grid, below)
    if not known(part, grid, below):
        return xp.interp(part, below, grid)
    rising = np.append(True, np.diff(below) > 0)
    return np.interp(part, below[rising], grid[rising])


def band(sea: IrregularSea | FocusedWave, grid: Array, below: Array) -> tuple[Array, Array]:
    """Lowest and highest frequency of a sea [rad/s]."""
    # spectra with ends of their own are used up to these
    ends = hasattr(sea.spectrum, "omega_max") or hasattr(sea.spectrum, "omega")
    usual = (
        (grid[0], grid[-1])
        if ends
        else _invert(np.array([spectra.BELOW, 1 - spectra.ABOVE]) * below[-1], grid, below)
    )
    low = usual[0] if sea.omega_min is None else sea.omega_min
    high = usual[1] if sea.omega_max is None else sea.omega_max
    if not known(low, high):
        return low, high
    if not high > low:
        raise sea.fail(
            f"the band from {low:.4g} to {high:.4g} rad/s is empty. Give both ends, or none."
        )
    return float(low), float(high)


def headings(sea: IrregularSea, omega: Array, draw: Array) -> Array:
    """Heading of each component relative to `sea.beta` [rad], (..., n).

    Neighbouring components share out the headings among them: every block holds each of the
    equally probable headings once, in random order. No two components have the same frequency,
    so that the sea is the same on average everywhere (Jefferys 1987).

    Args:
        sea: IrregularSea(...).
        omega: frequencies of the components (..., n) [rad/s].
        draw: a random number for each, (..., n).
    """
    table, n = isinstance(sea.spectrum, DirectionalTable), omega.shape[-1]
    if sea.spreading is None and not table:
        return np.zeros(omega.shape)
    xp = namespace(draw)
    count: int = HEADINGS if table else sea.spreading.directions  # pyright: ignore
    rank = xp.concatenate(
        [
            xp.argsort(xp.argsort(draw[..., k : k + count], stable=True), stable=True)
            for k in range(0, n, count)
        ],
        axis=-1,
    )
    sizes = np.minimum(count, n - count * (np.arange(n) // count))
    part = (rank + 0.5) / sizes
    if table and not known(draw):
        raise sea.fail(
            "the headings of a directional table are drawn for known seeds only. Realise it "
            "outside of jit, grad and vmap: sw.realise(sea, model.water)."
        )
    if table:
        rows = zip(omega.reshape(-1, n), part.reshape(-1, n), strict=True)
        assert isinstance(sea.spectrum, DirectionalTable)
        by_row = [_table_headings(sea.spectrum, w, one, sizes) for w, one in rows]
        return np.stack(by_row).reshape(omega.shape)
    assert sea.spreading is not None
    beta = np.linspace(-np.pi, np.pi, 8193)
    spread = Spread.of(beta, spectra.spreading_density(sea.spreading, beta))
    apart = np.array([spread.factor(int(size)) for size in sizes])
    return spread.mean + apart * spread.off(part)


@dataclasses.dataclass
class Spread:
    """A distribution over the headings, and equally probable headings that stand for it.

    The headings in the middle of each part of the energy lie too close together: their resultant
    R1 = |mean of exp(i beta)| is too large, the more the fewer they are. They are moved apart from
    the mean heading until R1 is that of the distribution.
    """

    beta: np.ndarray
    below: np.ndarray  # part of the energy below each
    mean: float
    resultant: float
    apart: dict[int, float] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, beta: np.ndarray, density: np.ndarray) -> Spread:
        """The distribution of a density over increasing headings [rad]."""
        steps = 0.5 * (density[1:] + density[:-1]) * np.diff(beta)
        below = np.append(0.0, np.cumsum(steps))
        centre = (steps * np.exp(0.5j * (beta[1:] + beta[:-1]))).sum() / max(below[-1], 1e-300)
        return cls(beta, below / max(below[-1], 1e-300), float(np.angle(centre)), abs(centre))

    def heading(self, part: float, count: int) -> float:
        """Heading of `count` below which that fraction of the energy lies [rad]."""
        return self.mean + self.factor(count) * float(self.off(np.array([part]))[0])

    def factor(self, count: int) -> float:
        """Factor that spreads this number of headings."""
        if count not in self.apart:
            self.apart[count] = self._factor(count)
        return self.apart[count]

    def off(self, part: Array) -> Array:
        """Headings below which given fractions of the energy lie, relative to the mean [rad]."""
        result = namespace(part).interp(part, self.below, self.beta) - self.mean
        return (result + np.pi) % (2.0 * np.pi) - np.pi

    def _factor(self, count: int) -> float:
        from scipy.optimize import brentq

        off = self.off((np.arange(count) + 0.5) / count)

        def short(factor: float) -> float:
            return float(np.cos(factor * off).mean() - self.resultant)

        widest = np.pi / max(float(np.abs(off).max()), 1e-12)
        # one heading, or a distribution so wide that nothing can be moved, stays as it is
        if count < 2 or widest <= 1.0 or short(1.0) <= 0.0 or short(widest) >= 0.0:
            return 1.0
        root: Array = brentq(short, 1.0, widest, xtol=1e-12)
        return float(root)


def _table_headings(
    table: DirectionalTable, omega: np.ndarray, part: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Headings of a directional table below which given fractions of the energy lie."""
    beta = np.asarray(table.beta)
    rows = np.asarray(table.density)
    if spectra.is_circle(beta):
        # begin where least energy comes, so that the ends of the row do not matter
        first = int(rows.sum(0).argmin())
        beta = np.append(beta[first:], beta[:first] + 2 * np.pi)
        rows = np.roll(rows, -first, axis=1)
        beta, rows = np.append(beta, beta[0] + 2 * np.pi), np.hstack([rows, rows[:, :1]])
    fine = np.linspace(beta[0], beta[-1], 2049)
    result = np.empty(len(omega))
    for i, w in enumerate(omega):
        row = [np.interp(w, table.omega, column) for column in rows.T]
        spread = Spread.of(fine, np.interp(fine, beta, row))
        result[i] = spread.heading(part[i], int(sizes[i]))
    return result


def focused(sea: FocusedWave, water: AnyWater) -> Components:
    r"""NewWave (Tromans, Anaturk and Hagemeijer 1991).

    .. math:: a_i = A \frac{S_i \Delta\omega}{\sum S \Delta\omega}

    with all crests together at one place and time.
    """
    result = bins(sea, water.g, None)
    energy, omega = result.energy, result.omega
    a, n = sea.amplitude * energy / energy.sum(), sea.components
    xp = namespace(a, omega, sea.beta)
    waves = _waves(water, a, omega, sea.beta + xp.zeros(n), np.zeros(n))
    along = sea.x * xp.cos(sea.beta) + sea.y * xp.sin(sea.beta)
    return dataclasses.replace(
        waves,
        phase=omega * sea.t - waves.wavenumber * along,
        repeat_period=result.repeat_period,
        width=xp.zeros(n) + (0.0 if result.width is None else result.width),
        band=result.band,
    )
