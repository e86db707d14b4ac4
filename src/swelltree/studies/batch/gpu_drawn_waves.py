"""Waves of many seeds, drawn where their loads are summed: what travels of a case is its seed.

Random numbers are those of `waves.random_numbers`: Philox 4x64 with ten rounds (Salmon et al.
2011), one block of four numbers for each component: the first for the phase, the second for the
frequency in its bin, the last for the rank of its heading among neighbours.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swelltree.jit import GROUP, Array, KernelBody, Register, Term, grouped, kernel_text
from swelltree.studies.batch.gpu_wave_sums import BLOCK, NUMBERS, AnyWaves

if TYPE_CHECKING:
    from swelltree.jit import Device, Memory

ROUNDS = 10
FACTORS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
KEYS = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B  # added to the key after each round
OF_CASE = 3  # numbers: key of two, and which sea
OF_BIN = 3  # numbers: lower end, width, amplitude
OF_SEA = 3  # numbers: components, those that share headings, points of the curve
PHASE, JITTER, HEADING = 0, 1, 3


@dataclass(frozen=True)
class DrawnWaves(AnyWaves):
    """The seeds of many cases.

    Args:
        keys: (case, 2) seed and number of the run, unsigned.
        seas: (case,) which sea.
        sizes: (sea, 3) components, those that share headings, points of the curve.
        bins: (sea, l, 3) lower end and width on the scale of the curve, amplitude; an amplitude of
            zero fills up.
        turns: (sea, l, r) row of the table at which the heading of a rank begins.
        curves: (sea, g, 2) rising values and their frequencies.
        grid: lowest and highest frequency of the table, rows before the lowest, and its step.
        ramp: (case,) [s].
    """

    keys: np.ndarray
    seas: np.ndarray
    sizes: np.ndarray
    bins: np.ndarray
    turns: np.ndarray
    curves: np.ndarray
    grid: tuple[float, float, float, float]
    ramp: np.ndarray

    @property
    def count(self) -> int:
        return self.bins.shape[1]

    def rows(self, device: Device, groups: int) -> Memory:
        """Numbers of all waves in the memory of a device."""
        keys = np.ascontiguousarray(self.keys.astype(np.uint64)).view(np.float64)
        of_case = np.concatenate([keys, self.seas[:, None].astype(float)], axis=1)
        out = device.room(groups * self.count * NUMBERS * GROUP)
        threads = groups * self.count * GROUP
        tables = (np.array(self.grid), self.sizes, self.bins, self.turns, self.curves)
        held = [device.filled(np.ascontiguousarray(x, float).reshape(-1)) for x in tables]
        device.kernel(drawing_text(device.on_cpu))(
            threads, BLOCK, *held, device.filled(grouped(of_case, groups)), out,
            self.count, self.turns.shape[2], self.curves.shape[1], threads,
        )  # fmt: skip
        device.wait()
        return out


def philox(k: KernelBody, number: Term, key: tuple[Term, Term]) -> list[Register]:
    """The four random words of a block.

    Args:
        k: lines of a thread.
        number: of the block.
        key: two integers.
    """
    ir, long = k.ir, k.long
    double = ir.IntType(128)
    zero = k.full(0)
    counter = [k.plus(number, 1), zero, zero, zero]

    def product(factor: int, x: Array) -> tuple[Register, Register]:
        """High and low half of a product."""
        full = k.b.mul(ir.Constant(double, factor), k.b.zext(x, double))
        return k.b.trunc(k.b.lshr(full, ir.Constant(double, 64)), long), k.b.trunc(full, long)

    a, b = key
    for _ in range(ROUNDS):
        high_0, low_0 = product(FACTORS[0], counter[0])
        high_1, low_1 = product(FACTORS[1], counter[2])
        counter = [
            k.b.xor(k.b.xor(high_1, counter[1]), a),
            low_1,
            k.b.xor(k.b.xor(high_0, counter[3]), b),
            low_0,
        ]
        a, b = (k.b.add(x, ir.Constant(long, y)) for x, y in zip((a, b), KEYS, strict=True))
    return counter


def uniform(k: KernelBody, word: Term) -> Register:
    """A random word as a number from 0 up to 1."""
    high = k.b.lshr(word, k.full(11))
    return k.mul(k.as_real(high), 2.0**-53)


@functools.lru_cache(maxsize=2)
def drawing_text(on_cpu: bool = False) -> str:
    """Kernel of the waves of many seeds: a thread has one wave of one case.

    Args:
        on_cpu: as of `kernel_text`.
    """

    def write(k: KernelBody) -> None:
        warp, lane = k.group_and_lane()
        group, wave = k.split(warp, k.sizes["waves"])

        def of_case(j: int) -> Register:
            return k.place_of_case(k.plus(k.times(group, OF_CASE), j), lane)

        a, b = (k.b.load(k.address("cases", of_case(j)), typ=k.long) for j in (0, 1))
        sea = k.floor(k.load("cases", of_case(2)))
        components, sharing, points = (
            k.floor(k.load("sizes", k.plus(k.times(sea, OF_SEA), j))) for j in range(OF_SEA)
        )
        words = philox(k, wave, (a, b))
        of_wave = k.plus(k.times(sea, k.sizes["waves"]), wave)
        low, width, amplitude = (
            k.load("bins", k.plus(k.times(of_wave, OF_BIN), j)) for j in range(OF_BIN)
        )
        x = k.add(low, k.mul(width, uniform(k, words[JITTER])))
        omega = _on_curve(k, x, k.times(sea, k.sizes["points"]), points)
        rank = _rank(k, (a, b), wave, words[HEADING], components, sharing)
        row = k.load("turns", k.plus(k.times(of_wave, k.sizes["ranks"]), rank))
        least, most, before, step = (k.load("numbers", j) for j in range(4))
        outside = k.b.or_(
            k.greater(k.mul(least, 1.0 - 1e-9), omega), k.greater(omega, k.mul(most, 1.0 + 1e-9))
        )
        amplitude = k.choose(outside, 0.0, amplitude)
        within = k.choose(k.greater(least, omega), least, omega)
        within = k.choose(k.greater(within, most), most, within)
        place = k.add(k.add(row, before), k.div(k.sub(within, least), step))
        cosine, sine = k.circular(uniform(k, words[PHASE]))
        values = (omega, place, k.mul(amplitude, cosine), k.mul(amplitude, sine))
        out = k.times(warp, NUMBERS)
        for j, value in enumerate(values):
            k.store("waves", k.place_of_case(k.plus(out, j), lane), value)

    rows = ("numbers", "sizes", "bins", "turns", "curves", "cases", "waves")
    return kernel_text(rows, ("waves", "ranks", "points"), write, on_cpu, GROUP)


def _on_curve(k: KernelBody, x: Array, first: Term, points: Term) -> Register:
    """Frequency of a value, between two points of a curve that are sought by halves."""

    def point(at: Term, j: int) -> Register:
        return k.load("curves", k.plus(k.times(k.plus(first, at), 2), j))

    left, right = k.variable(k.full(0)), k.variable(k.plus(points, -1))
    with k.again() as leave:
        apart = k.b.sub(k.get(right), k.get(left))
        leave(k.b.icmp_signed("<", apart, k.full(2)))
        middle = k.plus(k.get(left), k.b.lshr(apart, k.full(1)))
        excess = k.greater(point(middle, 0), x)
        k.set(left, k.b.select(excess, k.get(left), middle))
        k.set(right, k.b.select(excess, middle, k.get(right)))
    x0, y0, x1, y1 = (point(k.get(at), j) for at in (left, right) for j in (0, 1))
    return k.add(y0, k.mul(k.div(k.sub(y1, y0), k.sub(x1, x0)), k.sub(x, x0)))


def _rank(
    k: KernelBody, key: tuple[Term, Term], wave: Term, stream: Term, count: Term, sharing: Term
) -> Register:
    """Place of a component among those that share headings, by what was drawn for each."""
    first = k.times(k.split(wave, sharing)[0], sharing)
    end = k.plus(first, sharing)
    end = k.b.select(k.b.icmp_signed("<", end, count), end, k.full(count))
    rank = k.variable(k.full(0))
    # words that differ in their last bits only give the same number
    mine = uniform(k, stream)
    with k.loop(end, first) as other:
        theirs = uniform(k, philox(k, other, key)[HEADING])
        earlier = k.b.icmp_signed("<", other, wave)
        same = k.b.and_(k.b.fcmp_ordered("==", theirs, mine), earlier)
        before = k.b.or_(k.greater(mine, theirs), same)
        k.set(rank, k.plus(k.get(rank), k.b.zext(before, k.long)))
    return k.get(rank)
