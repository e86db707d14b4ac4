r"""Second-order wave loads on a time grid.

With :math:`\hat a_c = a_c e^{i\varphi_c + i k_c \cdot x}` the amplitudes at the body and r the
ramp, the methods are

- "mean": :math:`F = r^2 \sum_c |\hat a_c|^2 D_c`;
- "newman": slow forces of all pairs from D alone (Newman 1974), in the square-root form, the two
  signs of each DOF apart, :math:`D = D^+ - D^-` with :math:`D^\pm \ge 0`,

  .. math:: F(t) = r^2 \left|\sum_c \hat a_c \sqrt{D^+_c}\, e^{-i\omega_c t}\right|^2
            - r^2 \left|\sum_c \hat a_c \sqrt{D^-_c}\, e^{-i\omega_c t}\right|^2,

  which is the double sum with :math:`Q^-_{ij} = \sqrt{D^+_i D^+_j} - \sqrt{D^-_i D^-_j}`, has the
  exact mean and no sum frequencies, and costs one sum over the waves;
- "qtf": the double sums of `drift.data`. Every pair of waves is one spectral line; all lines are
  summed by one Fourier transform (`spectral_lines`).

Transfer functions are interpolated linearly: for differences in triangles whose long side lies
along :math:`\omega_1 - \omega_2 = const`, so that equal waves give the mean drift between
the frequencies of the data as well; for sums bilinearly. Between headings they follow the curve of
`headings`. Outside the data they are zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.hydro.drift.data import DriftTable, MeanDrift, Pairs, diagonal
from swelltree.hydro.linear.data import (
    NEGLIGIBLE,
    Table,
    WaveForce,
    WaveLoads,
    Window,
    good_until,
    grid_begin,
    on_grid,
)
from swelltree.hydro.linear.excitation import travelled
from swelltree.hydro.linear.headings import (
    TURN,
    Headings,
    basis,
    heading_weights,
    headings_of,
    middle,
    warn_coarse,
    within,
)
from swelltree.jit import Array, namespace, pytree
from swelltree.waves.ramp import ramped as with_ramp
from swelltree.waves.spectral_lines import centred, gridded, summed, ungridded

if TYPE_CHECKING:
    from swelltree.waves.airy import Components


# --- Second-order loads of bodies whose frame follows their mean yaw

MAX_RECORD_NUMBERS = 1.5e8  # numbers in a record: 1.2 GB


@pytree()
class TurningLoads(WaveForce):
    """Forces on a uniform time grid at several mean yaws, with their rates."""

    step: Array  # s
    yaws: Headings  # (p,)
    force: Array  # (T, p, 6N) in the axes of the frame
    rate: Array  # (T, p, 6N)
    begin: Array = 0.0  # time of the first row [s]

    @property
    def good_until(self) -> float:
        """Time up to which loads are available [s]."""
        return good_until(self)

    def acting(self, t: Array, place: Array, psi: Array) -> Array:
        now = on_grid(t - self.begin, self.step, self.force, self.rate)
        now = now.reshape(now.shape[0], -1, 6)
        # a turn counts as none; beyond the data the last yaw of them holds
        shape = basis(self.yaws, within(self.yaws, psi))  # (N, k)
        weight = shape @ namespace(t, psi).asarray(self.yaws.to_curve)  # (N, p)
        return (weight.T[:, :, None] * now).sum(0)

    def scaled(self, fraction: Array) -> TurningLoads:
        return replace(self, force=fraction * self.force, rate=fraction * self.rate)


def yaw_nodes(direction: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Mean yaws at which the data hold all relative headings [rad]."""
    direction = np.asarray(direction, dtype=float)
    if len(direction) == 1:
        return np.zeros(1)
    headings = headings_of(direction)
    first, reach = float(headings.first), float(headings.covered)
    gap = float(np.median(np.diff(headings.nodes)))
    if reach >= TURN:
        return np.linspace(0.0, TURN, round(TURN / gap), endpoint=False)
    relative = (beta - first + 1e-9) % TURN - 1e-9
    low, high = relative.max() - reach, relative.min()
    if high < low - 1e-9:
        raise SwelltreeError(
            f"the headings of the sea reach over {np.degrees(np.ptp(relative)):.3g} degrees, the "
            f"drift data only over {np.degrees(reach):.3g}. Compute data for more headings."
        )
    count = max(2, int(np.ceil((high - low) / gap - 1e-9)) + 1)
    return np.linspace(low, high, count) if high > low + 1e-9 else np.array([low])


def check_size(numbers: int) -> None:
    """Reject records that exceed the memory."""
    if numbers > MAX_RECORD_NUMBERS:
        raise SwelltreeError(
            f"the drift force at all yaws would take {16e-9 * numbers:.2g} GB. Use drift='newman', "
            "a shorter run, or data with fewer headings."
        )


POINTS_PER_PERIOD = 24  # of the fastest line: the cubic between them is exact to 1e-5
POINTS_PER_RAMP = 48
BLOCK = 200_000  # pairs of waves at a time


def mean_drift_at(mean: MeanDrift, omega: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Mean drift coefficients at pairs of frequency and heading (c, 6N); zero outside."""
    n, x, inside = cells(mean.omega, omega)
    force, x = np.asarray(mean.force), x[:, None, None]
    at = (1.0 - x) * force[n] + x * force[n + 1]
    weights = heading_weights(mean.direction, beta, "drift data")
    return inside[:, None] * np.einsum("cd,cdm->cm", weights, at)


def cells(known: np.ndarray, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Interval of each frequency, position in it from 0 to 1, and whether it is inside."""
    known = np.asarray(known)
    n = np.clip(np.searchsorted(known, omega, side="right") - 1, 0, len(known) - 2)
    x = (omega - known[n]) / (known[n + 1] - known[n])
    inside = (x >= -1e-9) & (x <= 1.0 + 1e-9)
    return n, np.clip(x, 0.0, 1.0), inside


def corner_weights(x: np.ndarray, y: np.ndarray, sum: bool) -> tuple[np.ndarray, ...]:
    """Weights of the corners 00, 10, 01, 11 of a cell of two frequencies."""
    if sum:
        return (1.0 - x) * (1.0 - y), x * (1.0 - y), (1.0 - x) * y, x * y
    # the triangle on the side of the larger difference; 00 and 11 lie along the diagonal
    first, second = np.maximum(x - y, 0.0), np.maximum(y - x, 0.0)
    return 1.0 - np.maximum(x, y), first, second, np.minimum(x, y)


def transfer_at(
    pairs: Pairs, omega: np.ndarray, beta: np.ndarray, i: np.ndarray, j: np.ndarray
) -> np.ndarray:
    """Transfer function of the pairs (i, j) of waves, phases at the body (p, 6N); zero outside."""
    if len(beta) and np.ptp(beta) == 0.0:
        pairs = at_one_heading(pairs, float(beta[0]))
    n, x, inside = cells(pairs.omega, omega)
    weights = corner_weights(x[i], x[j], pairs.sum)
    corners = ((0, 0), (1, 0), (0, 1), (1, 1))
    many = range(len(pairs.direction))
    if pairs.crossing:
        W = heading_weights(pairs.direction, beta, "drift data")
        looks = [((a, b), W[i, a] * W[j, b]) for a in many for b in many]
    else:
        W = heading_weights(pairs.direction, middle(beta[i], beta[j]), "drift data")
        looks = [((a,), W[:, a]) for a in many]
    force, known = np.asarray(pairs.force), np.asarray(pairs.known)
    total = np.zeros((len(i), force.shape[-1]), dtype=complex)
    full = inside[i] & inside[j]
    for heading, share in looks:
        if not share.any():
            continue
        for (di, dj), weight in zip(corners, weights, strict=True):
            where = (*heading, n[i] + di, n[j] + dj)
            w = share * weight
            total += w[:, None] * force[where]
            full = full & (known[where] | (w == 0.0))
    return np.where(full[:, None], total, 0.0)


def at_one_heading(pairs: Pairs, beta: float) -> Pairs:
    """The transfer function of waves of one heading."""
    share = heading_weights(pairs.direction, np.array([beta]), "drift data")[0]
    used = share != 0.0
    force, known = np.asarray(pairs.force), np.asarray(pairs.known)
    for _ in range(2 if pairs.crossing else 1):
        force = np.tensordot(share, force, (0, 0))
        known = np.all(known[used], axis=0, keepdims=True)[0]
    return Pairs(pairs.omega, np.array([beta]), force[None], known[None], False, pairs.sum)


def pair_blocks(count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All pairs i <= j, in blocks of bounded size."""
    rows = max(1, BLOCK // max(count, 1))
    for first in range(0, count, rows):
        i, j = np.meshgrid(np.arange(first, min(first + rows, count)), np.arange(count))
        keep = i <= j
        yield i[keep], j[keep]


def drift_loads(
    table: Table,
    waves: Components,
    duration: float,
    turning: bool = False,
    window: Window | None = None,
) -> WaveLoads | TurningLoads | None:
    """Second-order loads of realised components from 0 to the duration; None when there are none.

    Bodies are taken at their mean position. The number of points is rounded up to a power of
    two, so that runs of similar length share a compiled program.

    Args:
        turning: at all mean yaws of the bodies that the data allow, for frames that follow it.
        window: part of an endless run, instead of all times up to the duration.
    """
    drift: DriftTable | None = table.drift
    if drift is None:
        return None
    warn_coarse_drift(drift, np.asarray(waves.beta))
    amplitude = np.asarray(waves.complex_amplitude)
    omega, beta = np.asarray(waves.omega), np.asarray(waves.beta)
    warn_outside(drift, omega, np.abs(amplitude) ** 2)
    live = np.abs(amplitude) > 0
    amplitude, omega, beta = amplitude[live], omega[live], beta[live]
    way = travelled(table.place, np.asarray(waves.wavenumber)[live], beta)
    top = fastest(drift, waves.ends) if omega.size else 0.0
    grid = time_grid(top, float(waves.ramp), duration)
    if window is not None:
        grid = grid._replace(begin=grid_begin(window, grid.step), points=window.points)
    sea = Waves(omega, beta, (amplitude * np.exp(-1j * omega * grid.begin))[:, None] * way)
    if not turning:
        return WaveLoads(np.array(grid.step), *second_order(drift, sea, grid), np.array(grid.begin))
    known = drift.mean or drift.difference
    assert known is not None
    psi = yaw_nodes(known.direction, beta)
    check_size(grid.points * len(psi) * table.place.shape[0])
    turned = (sea._replace(beta=beta - angle) for angle in psi)
    both = [second_order(drift, one, grid) for one in turned]
    force, rate = (np.stack(part, axis=1) for part in zip(*both, strict=True))
    return TurningLoads(np.array(grid.step), headings_of(psi), force, rate, np.array(grid.begin))


class Waves(NamedTuple):
    """Frequency and heading of the waves (c,), and complex amplitude at each body (c, 6N)."""

    omega: np.ndarray
    beta: np.ndarray
    local: np.ndarray


class Grid(NamedTuple):
    """Times begin, begin + step, begin + 2 step ... and the ramp of the sea [s]."""

    step: float
    points: int
    ramp: float
    begin: float = 0.0


def second_order(drift: DriftTable, sea: Waves, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Forces and rates (T, 6N) by the chosen method."""
    if drift.method == "qtf":
        return ramped(*quadratic(drift, sea, grid), grid)
    assert drift.mean is not None
    D = mean_drift_at(drift.mean, sea.omega, sea.beta)
    if drift.method == "newman":
        return ramped(*newman(D, sea, grid), grid)
    force = np.ones((grid.points, 1)) * (np.abs(sea.local) ** 2 * D).sum(0)
    return ramped(force, 0.0 * force, grid)


def newman(D: np.ndarray, sea: Waves, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Slow forces and their rates from mean drift coefficients D (c, 6N)."""
    force, rate = np.zeros((2, grid.points, D.shape[1]))
    for sign in (1.0, -1.0):
        size = np.sqrt(np.maximum(sign * D, 0.0))
        dofs = np.flatnonzero(size.any(axis=0))
        if dofs.size == 0:
            continue
        c = (sea.local * size)[:, dofs]
        lines = np.hstack([c, -1j * sea.omega[:, None] * c])
        z = summed(sea.omega, lines, grid.step, grid.points)
        z, z_dot = z[:, : dofs.size], z[:, dofs.size :]
        force[:, dofs] += sign * np.abs(z) ** 2
        rate[:, dofs] += sign * 2.0 * np.real(z.conj() * z_dot)
    return force, rate


def quadratic(drift: DriftTable, sea: Waves, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Forces of all pairs of waves and their rates by the transfer functions."""
    omega, beta, local = sea
    step, count = grid.step, grid.points
    n = local.shape[1]
    tables = [pairs for pairs in (drift.difference, drift.sum) if pairs is not None]
    dofs = [np.flatnonzero(np.abs(p.force).reshape(-1, n).any(axis=0)) for p in tables]
    live = np.unique(np.concatenate(dofs))
    spread = np.zeros((2 * count, 2 * live.size), dtype=complex)
    for pairs in tables:
        for i, j in pair_blocks(len(omega)):
            Q = transfer_at(pairs, omega, beta, i, j)[:, live]
            other = local[j][:, live] if pairs.sum else local[j][:, live].conj()
            mu = omega[i] + omega[j] if pairs.sum else omega[i] - omega[j]
            # (j, i) gives the same real part as (i, j)
            c = np.where(i == j, 1.0, 2.0)[:, None] * local[i][:, live] * other * Q
            lines = np.hstack([c, -1j * mu[:, None] * c])
            spread += gridded(*centred(mu, lines, step, count), count)
    both = np.real(ungridded(spread, count))
    force, rate = np.zeros((2, count, n))
    force[:, live], rate[:, live] = both[:, : live.size], both[:, live.size :]
    return force, rate


def fastest(drift: DriftTable, ends: tuple[float, float]) -> float:
    if drift.method == "mean":
        return 0.0
    return 2.0 * ends[1] if drift.sum is not None else ends[1] - ends[0]


def time_grid(top: float, ramp: float, duration: float) -> Grid:
    """Step that resolves the highest frequency and the ramp, and a power of two of points."""
    step = duration / 8
    if top > 0:
        step = min(step, 2.0 * np.pi / top / POINTS_PER_PERIOD)
    if ramp > 0:
        step = min(step, ramp / POINTS_PER_RAMP)
    return Grid(step, 2 ** int(np.ceil(np.log2(duration / step + 4))), ramp)


def ramped(force: np.ndarray, rate: np.ndarray, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Forces multiplied by the square of the ramp."""
    t = grid.begin + grid.step * np.arange(grid.points)
    return with_ramp(t, grid.ramp, force, rate, power=2)


def warn_coarse_drift(drift: DriftTable, beta: np.ndarray) -> None:
    """Warn if the headings of the drift data are too coarse for those of the waves."""
    known = drift.mean or (None if drift.difference is None else diagonal(drift.difference))
    if known is not None:
        warn_coarse(known.direction, np.asarray(known.force), beta, "drift data")


def warn_outside(drift: DriftTable, omega: np.ndarray, energy: np.ndarray) -> None:
    """Warn of sea energy outside the drift data."""
    known = drift.mean or drift.difference
    assert known is not None
    outside = ~cells(known.omega, omega)[2]
    share = energy[outside].sum() / max(energy.sum(), 1e-300)
    if share > NEGLIGIBLE:
        warn_user(
            f"{100 * share:.2g} % of the sea's energy lies outside the drift data, "
            f"omega = {known.omega[0]:.4g} to {known.omega[-1]:.4g} rad/s, and gives no drift. "
            "Compute drift data there."
        )
