r"""Frequencies at which radiation data jump: irregular frequencies, panels too large, misprints.

Added mass and damping are smooth, :math:`Z = B + i\omega A` with them. Every frequency is compared
with the cubic through two neighbours on each side (a constant A is a straight line of Z and drops
out). The one that is off most is left out and its neighbours are judged again without it. Three and
more frequencies in a row show a shape: a narrow resonance, as between two hulls, is true when A
follows from B there as well as elsewhere (Kramers-Kronig), and stays.
"""

from __future__ import annotations

import numpy as np

from swelltree.hydro.damping_band import extend_damping
from swelltree.hydro.memory import added_mass_change
from swelltree.spatial.arrays import Array

JUMP = 0.04  # of the largest damping, freedoms scaled by it
STANDS_OUT = 6.0  # times what a third of the frequencies miss: a coarse grid misses everywhere
MOST = 0.2  # of the frequencies may be left out
WIDE = 3  # frequencies side by side
FEWEST = 12  # frequencies below which a jump and a coarse grid look alike


def jumps(omega: Array, A: Array, B: Array, unit: Array) -> Array:
    """How far each frequency is off the curve of the others where it jumps, else zero (f,).

    Args:
        omega: rising [rad/s].
        A: added mass (f, m, m).
        B: damping (f, m, m).
        unit: size of each freedom, the root of its largest damping.
    """
    count = omega.size
    found = np.zeros(count)
    if count < FEWEST:
        return found
    outer = np.outer(unit, unit)
    Z = ((B + 1j * omega[:, None, None] * A) / outer).reshape(count, -1)
    left = list(range(count))
    usual = None
    while count - len(left) < MOST * count:
        off = _off(omega[left], Z[left])
        if usual is None:
            # of the quieter frequencies, so that the spikes themselves do not count
            usual = float(np.quantile(off, 0.67))
        worst = _most_guilty(off)
        if off[worst] <= max(JUMP, STANDS_OUT * usual):
            break
        found[left[worst]] = off[worst]
        del left[worst]
    wide = [row for row in _rows_of(found) if len(row) >= WIDE]
    if wide:
        gap = _contradiction(omega, A / outer, B / outer)
        usual = float(np.median(gap))
        for row in wide:
            if gap[row].max() <= max(JUMP, STANDS_OUT * usual):
                found[row] = 0.0
    return found


def _rows_of(found: Array) -> list[Array]:
    """Frequencies that jump, those side by side together."""
    bad = np.flatnonzero(found > 0)
    return np.split(bad, np.flatnonzero(np.diff(bad) > 1) + 1) if bad.size else []


def _contradiction(omega: Array, A: Array, B: Array) -> Array:
    """How far omega A is from what the damping asks for, but for a constant A_inf (f,)."""
    data = extend_damping(omega, B)
    rest = A - added_mass_change(data.omega, data.damping, omega)
    off = np.diagonal(rest - np.median(rest, axis=0), axis1=1, axis2=2)
    return np.abs(omega[:, None] * off).max(axis=1)


def _off(omega: Array, Z: Array) -> Array:
    """Distance of every frequency from the cubic through four neighbours (f,)."""
    count = omega.size
    off = np.zeros(count)
    for i in range(1, count - 1):
        first = min(max(i - 2, 0), count - 5)
        near = np.array([j for j in range(first, first + 5) if j != i])
        x = omega[near]
        weight = np.array([np.prod((omega[i] - x[x != a]) / (a - x[x != a])) for a in x])
        # at the ends the cubic runs ahead of itself
        gap = np.abs(Z[i] - weight @ Z[near]) / max(1.0, float(np.abs(weight).max()))
        damping = np.abs((Z[i] - weight @ Z[near]).real).max()
        # added mass alone, times omega, is the noise of high frequencies
        off[i] = gap.max() if damping > 0.5 * JUMP else 0.0
    return off


def _most_guilty(off: Array) -> int:
    """The frequency that spoils its neighbours: off itself, with others off on both sides."""
    padded = np.pad(off, 1)
    return int((off + 0.25 * (padded[:-2] + padded[2:])).argmax())
