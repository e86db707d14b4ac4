r"""Frequencies at which radiation data jump: irregular frequencies, panels too large, misprints.

Added mass and damping are smooth, :math:`Z = B + i\omega A` with them. Every frequency is compared
with the cubic through two neighbours on each side (a constant A is a straight line of Z and drops
out). The one that is off most is left out and its neighbours are judged again without it, less
sharply where the cubic then spans a wider gap (its error grows as the product of the distances).
What half of the frequencies miss is not resolved by this grid. A narrow resonance, as between two
hulls, looks like a jump: it is true, and stays, when A follows from B there as well as elsewhere
(Kramers-Kronig), or when an oscillator that takes energy explains what the neighbours do not. A
spike has no such shape in the frequencies beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swelltree.hydro.radiation.damping_band import extend_damping
from swelltree.hydro.radiation.memory import added_mass_change
from swelltree.jit import Array

JUMP = 0.04  # of the largest damping, DOFs scaled by it
STANDS_OUT = 8.0  # times what half of the frequencies miss: a coarse grid misses everywhere
CERTAIN = 0.15  # a single frequency so far off is not a resonance, which has a shape
CONTRADICTS = 6.0  # times the usual contradiction of added mass and damping
MAX_FRACTION = 0.2  # of the frequencies may be left out
MIN_FREQUENCIES = 12  # frequencies below which a jump and a coarse grid look alike
MASS_ALONE = 4.0  # times the jump of the damping: more is an error of the added mass alone
NEIGHBOURS = 4  # frequencies on each side in which a resonance shows
NARROWEST = (
    0.2  # damping rate of a resonance in steps of the grid: a spike would fit a narrower one
)
WIDEST = 3.0
# of a jump may be left over by a resonance: 0.13 between two hulls, 0.25 and more at spikes
UNEXPLAINED = 0.18


def jumps(omega: Array, A: Array, B: Array, unit: Array) -> Array:
    """How far each frequency is off the curve of the others where it jumps, else zero (f,).

    Args:
        omega: rising [rad/s].
        A: added mass (f, m, m).
        B: damping (f, m, m).
        unit: size of each DOF, the root of its largest damping.
    """
    count = omega.size
    result = np.zeros(count)
    if count < MIN_FREQUENCIES:
        return result
    outer = np.outer(unit, unit)
    Z = ((B + 1j * omega[:, None, None] * A) / outer).reshape(count, -1)
    left = np.arange(count)
    full = None
    while count - left.size < MAX_FRACTION * count:
        off, reach = _off(omega[left], Z[left])
        full = reach if full is None else full
        off = off / np.maximum(reach / full[left], 1.0)
        usual = float(np.median(off))
        damping = _damping_off(omega[left], Z[left])
        # added mass alone, times omega, is the noise of high frequencies
        bad = (off > max(JUMP, STANDS_OUT * usual)) & (damping > 0.5 * JUMP)
        if not bad.any():
            break
        worst = _most_guilty(np.where(bad, damping, 0.0))
        result[left[worst]] = off[worst]
        left = np.delete(left, worst)
    # nothing judges the ends: they go with a neighbour that jumps
    for end, near in ((0, 1), (-1, -2)):
        result[end] = result[near]
    rows = [row for row in _rows_of(result) if row.size > 1 or result[row[0]] < CERTAIN]
    if rows:
        gap = _contradiction(omega, A / outer, B / outer)
        least = max(JUMP, CONTRADICTS * float(np.median(gap)))
        for row in rows:
            # damping that is off alone shows in the added mass beside it
            near = slice(max(int(row[0]) - 1, 0), int(row[-1]) + 2)
            if gap[near].max() <= least:
                result[row] = 0.0
    for row in _rows_of(result, apart=NEIGHBOURS):
        if unexplained(omega, Z, row) <= UNEXPLAINED:
            result[row] = 0.0
    for row in _rows_of(result):
        if unexplained(omega, Z, row) <= UNEXPLAINED:
            result[row] = 0.0
    return result


def unexplained(omega: Array, Z: Array, row: Array) -> float:
    r"""What an oscillator leaves of a jump, of the jump itself: nearly nothing at a resonance.

    .. math:: Z \approx Z_0 + \frac{2 \gamma s}{s^2 + 2 \gamma s + \Omega^2} R, \quad R \ge 0

    with a parabola :math:`Z_0` over the frequencies beside it; :math:`\Omega, \gamma` are tried on
    a grid, R is the nearest matrix that takes energy from every motion. Entries whose damping
    does not jump carry no information: omega times a small error of the added mass is large.

    Args:
        omega: rising [rad/s].
        Z: scaled B + i omega A, flattened (f, m m).
        row: adjacent frequencies that jump.
    """
    first, last = max(int(row[0]) - NEIGHBOURS, 0), min(int(row[-1]) + NEIGHBOURS, omega.size - 1)
    w, m = omega[first : last + 1], round(np.sqrt(Z.shape[1]))
    step = np.diff(omega[max(int(row[0]) - 1, 0) : int(row[-1]) + 2]).max()
    basis = np.linalg.qr(np.vander((w - w.mean()) / (w[-1] - w[0]), 3))[0]

    def excess(values: Array) -> Array:
        return values - basis @ (basis.T @ values)

    jump = excess(Z[first : last + 1])
    telling = np.abs(jump.real).max(axis=0) > 0.5 * JUMP
    telling &= np.abs(jump.imag).max(axis=0) <= MASS_ALONE * np.abs(jump.real).max(axis=0)
    if not telling.any():
        return 1.0
    least, count = np.inf, 8 * int(row[-1] - row[0] + 2) + 1
    for natural in np.linspace(omega[row[0]] - step, omega[row[-1]] + step, count):
        for rate in step * np.geomspace(NARROWEST, WIDEST, 12):
            shape = excess(2j * w * rate / (natural**2 - w**2 + 2j * w * rate))
            R = (shape.conj() @ jump).real / (np.abs(shape) ** 2).sum()
            size, direction = np.linalg.eigh(R.reshape(m, m))
            R = (direction * size.clip(min=0.0)) @ direction.T
            left = np.abs(jump - np.outer(shape, R.ravel()))[:, telling].max()
            least = min(least, float(left))
    return least / float(np.abs(jump[:, telling]).max())


def _rows_of(result: Array, apart: int = 1) -> list[Array]:
    """Frequencies with jumps, grouped if adjacent or within this distance."""
    bad = np.flatnonzero(result > 0)
    return np.split(bad, np.flatnonzero(np.diff(bad) > apart) + 1) if bad.size else []


def _contradiction(omega: Array, A: Array, B: Array) -> Array:
    """Deviation of omega A from the value implied by damping, up to a constant A_inf (f,)."""
    data = extend_damping(omega, B)
    rest = A - added_mass_change(data.omega, data.damping, omega)
    off = np.diagonal(rest - np.median(rest, axis=0), axis1=1, axis2=2)
    return np.abs(omega[:, None] * off).max(axis=1)


def _off(omega: Array, Z: Array) -> tuple[Array, Array]:
    """Distance of every frequency from the cubic through four neighbours, and their reach (f,)."""
    off, reach = np.zeros(omega.size), np.ones(omega.size)
    for i, near, weight in _cubics(omega):
        gap = Z[i] - weight @ Z[near]
        # at the ends the cubic runs ahead of itself
        size = np.minimum(np.abs(gap), MASS_ALONE * np.abs(gap.real)).max()
        off[i] = size / max(1.0, float(np.abs(weight).max()))
        reach[i] = np.prod(np.abs(omega[i] - omega[near]))
    return off, reach


def _damping_off(omega: Array, Z: Array) -> Array:
    """Distance of the damping alone from the cubic through four neighbours (f,)."""
    off = np.zeros(omega.size)
    for i, near, weight in _cubics(omega):
        off[i] = np.abs((Z[i] - weight @ Z[near]).real).max()
    return off


def _cubics(omega: Array) -> Iterator[tuple[int, Array, Array]]:
    """For every frequency but the ends: four neighbours and their Lagrange weights."""
    for i in range(1, omega.size - 1):
        first = min(max(i - 2, 0), omega.size - 5)
        near = np.array([j for j in range(first, first + 5) if j != i])
        x = omega[near]
        yield i, near, np.array([np.prod((omega[i] - x[x != a]) / (a - x[x != a])) for a in x])


def _most_guilty(off: Array) -> int:
    """The frequency that spoils its neighbours: off itself, with others off on both sides."""
    padded = np.pad(off, 1)
    return int((off + 0.25 * (padded[:-2] + padded[2:])).argmax())
