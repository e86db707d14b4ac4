r"""Loads of the seas of cases in SIMD lanes, in consecutive blocks of time.

.. math:: F(t) = \mathrm{Re} \sum_l F_l\, e^{-i\omega_l t}

Waves are summed at a few instants in the shortest period, each instant a rotation further; from
these come loads and their rates on the grid of single runs, by weights that are best for what has
no higher frequencies (`gpu_wave_sums.refining_weights`). Each lane has a grid of its own. With
these instants and weights the sums are right to 1e-11 of the shortest wave, and better of others.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swelltree.jit import (
    KernelBody,
    LaneKernelBody,
    Native,
    PerCase,
    Term,
    lane_kernel_text,
    object_code,
)
from swelltree.studies.batch.gpu_wave_sums import refining_weights
from swelltree.waves.ramp import ramped

COARSE = 5  # instants in the shortest period at which waves are summed
RATIO = 8  # points of the grid for each of them
TAPS = 24  # instants that make a point of the grid
BEFORE = TAPS // 2 - 1  # of them before the point
CHAINS = 4  # sums that go on at once
ROWS, AT_ONCE = 3, 6  # instants and DOFs that are summed together: measured
WIDE = 8  # lanes of processors with twice as many registers as others
OF_WAVE = 3  # numbers without forces: frequency, cosine and sine of the rotation
POINTS_PER_PERIOD = COARSE * RATIO
SIZES = ("waves", "blocks", "instants", "force", "rate")


@dataclass(frozen=True)
class LaneWaves:
    """The waves of many cases and the grids on which their loads are wanted.

    Args:
        omega: (case, l) [rad/s].
        force: (case, l, n) complex.
        step: (case,) of the grid, `POINTS_PER_PERIOD` in the shortest period [s].
        ramp: (case,) [s].
    """

    omega: np.ndarray
    force: np.ndarray
    step: np.ndarray
    ramp: np.ndarray


def _rotated(k: KernelBody, c: Term, s: Term, turn: tuple[Term, Term]) -> tuple[Term, Term]:
    """Cosine and sine after a rotation."""
    return (
        k.sub(k.mul(c, turn[0]), k.mul(s, turn[1])),
        k.add(k.mul(s, turn[0]), k.mul(c, turn[1])),
    )


def _phases(k: LaneKernelBody, begin: Term) -> None:
    """Cosine and sine of each wave at the first instant."""

    def one(wave: Term, _: list[Term]) -> list[Term]:
        omega = k.load("waves", k.times(wave, OF_WAVE))
        c, s = k.circular(k.mul(k.mul(omega, begin), 0.5 / np.pi))
        k.store("phases", k.times(wave, 2), c)
        k.store("phases", k.plus(k.times(wave, 2), 1), s)
        return []

    k.carried(k.sizes["waves"], [], one)


def _summed(k: LaneKernelBody, n: int, rows: int) -> None:
    """Sums of all waves, some instants of some DOFs at a time."""
    parts = [range(first, min(first + AT_ONCE, n)) for first in range(0, n, AT_ONCE)]

    def block(number: Term, _: list[Term]) -> list[Term]:
        for part in parts:
            last = part is parts[-1]

            def wave(
                component: Term, sums: list[Term], part: range = part, last: bool = last
            ) -> list[Term]:
                at, phase = k.times(component, OF_WAVE), k.times(component, 2)
                turn = k.load("waves", k.plus(at, 1)), k.load("waves", k.plus(at, 2))
                c, s = k.load("phases", phase), k.load("phases", k.plus(phase, 1))
                signs = []
                for _ in range(rows):
                    signs.append((c, s))
                    c, s = _rotated(k, c, s, turn)
                if last:
                    k.store("phases", phase, c)
                    k.store("phases", k.plus(phase, 1), s)
                found = []
                for j, d in enumerate(part):
                    own = k.plus(k.times(component, 2 * n), 2 * d)
                    real, imag = k.load("forces", own), k.load("forces", k.plus(own, 1))
                    for r, (c, s) in enumerate(signs):
                        total = k.add(sums[j * rows + r], k.mul(real, c))
                        found.append(k.add(total, k.mul(imag, s)))
                return found

            none = [0.0] * (rows * len(part))
            sums = k.carried(k.sizes["waves"], none, wave)
            first = k.times(number, rows)
            for j, d in enumerate(part):
                for r in range(rows):
                    place = k.plus(k.times(k.plus(first, r), n), d)
                    k.store("sums", place, sums[j * rows + r])
        return []

    k.carried(k.sizes["blocks"], [], block)


def _refined(k: LaneKernelBody, columns: tuple[int, ...], wide: int, per_second: Term) -> None:
    """Loads and rates on the grid; columns that are not read are left as they are."""
    n = len(columns)

    def instant(i: Term, _: list[Term]) -> list[Term]:
        def freedom(d: Term, column: Term) -> list[Term]:
            taps = [k.load("sums", k.plus(k.times(k.plus(i, m), n), d)) for m in range(TAPS)]

            def point(r: Term, _: list[Term]) -> list[Term]:
                weights = k.times(r, 2 * TAPS)
                totals = []
                for which in (0, 1):
                    chains: list[Term] = []
                    for m, tap in enumerate(taps):
                        one = k.mul(k.shared("weights", k.plus(weights, 2 * m + which)), tap)
                        if m < CHAINS:
                            chains.append(one)
                        else:
                            chains[m % CHAINS] = k.add(chains[m % CHAINS], one)
                    totals.append(k.add(k.add(*chains[:2]), k.add(*chains[2:])))
                place = k.plus(k.times(k.plus(k.times(i, RATIO), r), wide), column)
                k.store("lanes", k.plus(k.sizes["force"], place), totals[0])
                k.store("lanes", k.plus(k.sizes["rate"], place), k.mul(totals[1], per_second))
                return []

            k.carried(RATIO, [], point)
            return []

        if columns == tuple(range(wide)):
            k.carried(n, [], lambda d, _: freedom(d, d))
        else:
            for d, column in enumerate(columns):
                freedom(d, column)
        return []

    k.carried(k.sizes["instants"], [], instant)


ROWS_OF_MEMORY = ("numbers", "waves", "forces", "weights", "phases", "sums", "lanes")


@functools.lru_cache(maxsize=8)
def sums_text(columns: tuple[int, ...], wide: int, width: int) -> str:
    """Text of the function that fills the loads of a block of time.

    Args:
        columns: DOFs whose loads are computed.
        wide: how many there are.
        width: lanes.
    """

    def write(k: LaneKernelBody) -> None:
        begin, per_second = k.load("numbers", 0), k.load("numbers", 1)
        _phases(k, begin)
        _summed(k, len(columns), rows_at_once(width, len(columns)))
        _refined(k, columns, wide, per_second)

    return lane_kernel_text(ROWS_OF_MEMORY, SIZES, write, width)


def rows_at_once(width: int, n: int) -> int:
    """Instants that are summed together: fewer where there are half as many registers.

    Args:
        width: lanes.
        n: DOFs.
    """
    rows = ROWS if width >= WIDE else 2
    return rows * max(AT_ONCE // max(n, 2), 1)


@functools.lru_cache(maxsize=8)
def _native(columns: tuple[int, ...], wide: int, width: int) -> Native:
    text = sums_text(columns, wide, width)
    return Native(object_code(text), pointers=len(ROWS_OF_MEMORY) + 1)


@functools.lru_cache(maxsize=1)
def _weights() -> np.ndarray:
    return np.ascontiguousarray(refining_weights(RATIO, TAPS, COARSE)).reshape(-1)


class LaneSums:
    """Loads of the cases of one register.

    Args:
        waves: of all cases.
        cases: of each lane.
        longest: block of time that is asked for [s].
        columns: DOFs whose loads are wanted; None: all.
    """

    def __init__(
        self,
        waves: LaneWaves,
        cases: Sequence[int],
        longest: float,
        columns: tuple[int, ...] | None = None,
    ) -> None:
        lanes = np.asarray(cases)
        self.step, self.ramp = waves.step[lanes], waves.ramp[lanes]
        self.wide = waves.force.shape[2]
        self.columns = tuple(range(self.wide)) if columns is None else columns
        some = (
            waves.force if len(self.columns) == self.wide else waves.force[:, :, list(self.columns)]
        )
        omega, force = waves.omega[lanes], some[lanes]  # (w, l), (w, l, n)
        self.width, self.count, self.n = force.shape
        coarse = RATIO * self.step
        turn = omega * coarse[:, None]
        of_wave = np.stack([omega, np.cos(turn), np.sin(turn)])
        self.waves = np.ascontiguousarray(of_wave.transpose(2, 0, 1))
        both = np.stack([np.real(force), np.imag(force)], axis=-1)
        self.forces = np.ascontiguousarray(both.transpose(1, 2, 3, 0))
        self.instants = LaneSums.points(longest, self.step.min()) // RATIO
        rows = rows_at_once(self.width, self.n)
        self.blocks = -(-(self.instants + TAPS) // rows)
        self.phases = np.empty((self.count, 2, self.width))
        self.sums = np.empty((self.blocks * rows, self.n, self.width))
        self.native = _native(self.columns, self.wide, self.width)

    @staticmethod
    def points(longest: float, step: float) -> int:
        """Points of a grid that a block of time may need.

        Args:
            longest: block [s].
            step: shortest of all grids [s].
        """
        # one before the block and one behind it are read too, and rounding may ask for another
        return RATIO * -(-(int(np.ceil(longest / step)) + 3) // RATIO)

    def numbers(self, begins: np.ndarray) -> np.ndarray:
        """What the sums of blocks take that begin at some times [s]: a row for each.

        The grid of a lane begins at its last point before.
        """
        coarse = RATIO * self.step
        first = self._first(begins[:, None])
        rate = np.broadcast_to(1.0 / coarse, first.shape)
        return np.ascontiguousarray(np.stack([first - BEFORE * coarse, rate], axis=1))

    def _first(self, begin: np.ndarray | float) -> np.ndarray:
        """The first points of the grids of a block."""
        return np.floor(begin / self.step) * self.step

    def pointers(
        self, begins: np.ndarray, lanes: np.ndarray, starts: list[int]
    ) -> list[tuple[np.ndarray, int]]:
        """Memory of the kernel for blocks that begin at some times [s]; see `jit.LaneInputs`."""
        force, rate = starts
        sizes = np.array([self.count, self.blocks, self.instants, force, rate], np.int64)
        numbers = self.numbers(begins)
        fixed = (self.waves, self.forces, _weights(), self.phases, self.sums, lanes, sizes)
        return [(numbers, numbers.strides[0]), *((x, 0) for x in fixed)]

    def needs_python(self, begins: np.ndarray) -> np.ndarray:
        """Whether loads of blocks that begin at some times [s] have to be ramped."""
        return begins < self.ramp.max(initial=0.0)

    def fill(self, begin: float, lanes: np.ndarray, starts: list[int]) -> None:
        """Loads of a block of time into the arguments of the cases, ramped.

        Args:
            begin: of the block [s].
            lanes: arguments (offset, lane).
            starts: where loads begin, and their rates.
        """
        memory = self.pointers(np.array([begin]), lanes, starts)
        self.native(*(x for x, _ in memory))
        if (self.ramp > begin).any():
            self._ramped(self._first(begin), lanes, *starts)

    def _ramped(self, first: np.ndarray, rows: np.ndarray, force: int, rate: int) -> None:
        """Loads of a sea that grows from still water."""
        count, built = self.instants * RATIO, list(self.columns)
        t = first + self.step * np.arange(count)[:, None]
        size, shape = count * self.wide, (count, self.wide, self.width)
        values = rows[force : force + size].reshape(shape)
        rates = rows[rate : rate + size].reshape(shape)
        values[:, built], rates[:, built] = ramped(t, self.ramp, values[:, built], rates[:, built])


@dataclass(frozen=True)
class LaneLoads:
    """Loads of waves that are summed before each chunk of times; see `jit.LaneInputs`.

    Args:
        waves: of all cases.
        longest: chunk [s].
        force: the argument of the program that they become.
        rate: that of their rates.
    """

    waves: LaneWaves
    longest: float
    force: PerCase
    rate: PerCase

    @property
    def arguments(self) -> tuple[PerCase, ...]:
        return self.force, self.rate

    def of_lanes(self, cases: Sequence[int], columns: tuple[int, ...]) -> LaneSums:
        return LaneSums(self.waves, cases, self.longest, columns)
