r"""Loads of many seas on a grid in time, summed on the GPU from the waves of each.

.. math:: F(t) = r(t)\, \mathrm{Re} \sum_l A_l\, X(\omega_l)\, e^{-i\omega_l t}

Each case has waves of its own; the transfer function X lies in a table that all share. Three
kernels: forces of all waves, once; their sums at a few instants in the shortest period, with one
rotation for each instant; and from these the loads and their rates on the fine grid, by weights
that are best for what has no higher frequencies.

Waves of many seeds, drawn where their loads are summed: what travels of a case is its seed.

Random numbers are those of `waves.random_numbers`: Philox 4x64 with ten rounds (Salmon et al.
2011), one block of four numbers for each component: the first for the phase, the second for the
frequency in its bin, the last for the rank of its heading among neighbours.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from swelltree.jit import (
    GROUP,
    Array,
    Device,
    KernelBody,
    Memory,
    PerCase,
    Register,
    Term,
    grouped,
    kernel_text,
)

COARSE = 5  # instants in the shortest period at which waves are summed
RATIO = 4  # points of the fine grid for each of them
TAPS = 14  # instants that make a point of the fine grid
ROWS = 8  # instants that a thread sums, twice as many where it has few loads
SIX, FEW = 6, 3  # loads that it sums, at most
NUMBERS = 4  # of a wave: frequency, place in the table, real and imaginary amplitude
BLOCK = 128


class AnyWaves(ABC):
    ramp: np.ndarray  # (case,) s

    @property
    @abstractmethod
    def count(self) -> int:
        """Waves of a case."""

    @abstractmethod
    def rows(self, device: Device, groups: int) -> Memory:
        """Numbers of all waves in the memory of a device: `NUMBERS` of each, cases in groups."""


@dataclass(frozen=True)
class Waves(AnyWaves):
    """The waves of many cases, drawn before.

    Args:
        omega: (case, l) [rad/s].
        place: (case, l) row of the table, with its part to the next.
        amplitude: (case, l) complex, of crests at the origin.
        ramp: (case,) [s].
    """

    omega: np.ndarray
    place: np.ndarray
    amplitude: np.ndarray
    ramp: np.ndarray

    @property
    def count(self) -> int:
        return self.omega.shape[1]

    def rows(self, device: Device, groups: int) -> Memory:
        """Numbers of all waves in the memory of a device."""
        rows = np.stack(
            [self.omega, self.place, np.real(self.amplitude), np.imag(self.amplitude)], axis=2
        )
        return device.filled(grouped(rows.reshape(len(rows), -1), groups))


def refining_weights(ratio: int = RATIO, taps: int = TAPS, coarse: int = COARSE) -> np.ndarray:
    """Weights of instants for values and rates at each point behind the middle (ratio, taps, 2).

    Rates are for a step of one between instants. Least squares over all frequencies up to the one
    with `coarse` instants in its period.
    """
    w = np.linspace(0.0, 2.0 * np.pi / coarse, 8 * taps)[:, None]
    at = np.arange(taps) - (taps // 2 - 1)
    basis = np.vstack([np.cos(w * at), np.sin(w * at)])
    result = np.empty((ratio, taps, 2))
    for r in range(ratio):
        t = r / ratio
        value = np.vstack([np.cos(w * t), np.sin(w * t)])[:, 0]
        rate = np.vstack([-w * np.sin(w * t), w * np.cos(w * t)])[:, 0]
        both = np.stack([value, rate], axis=1)
        result[r] = np.linalg.lstsq(basis, both, rcond=1e-15)[0]
    return result


# --- kernels --------------------------------------------------------------------------------
@functools.lru_cache(maxsize=8)
def forces_text(n: int, on_cpu: bool = False) -> str:
    """Force of each wave on all DOFs, and its rotation from instant to instant.

    A thread has one wave of one case. Numbers of a wave: cosine and sine of the rotation, then the
    real and imaginary parts of the forces.

    Args:
        n: DOFs.
        on_cpu: as of `kernel_text`.
    """

    def write(k: KernelBody) -> None:
        warp, lane = k.split(k.thread, GROUP)

        def wave(j: int) -> Register:
            at = k.plus(k.times(k.plus(k.times(warp, NUMBERS), j), GROUP), lane)
            return k.load("waves", at)

        omega, place, a, b = (wave(j) for j in range(NUMBERS))
        first = k.floor(place)
        x = k.sub(place, k.as_real(first))
        weights = _lagrange(k, x)
        turn = k.mul(k.mul(omega, k.load("numbers", 0)), 0.5 / np.pi)
        out = k.times(warp, 2 * n + 2)

        def put(j: Term, value: Register) -> None:
            k.store("forces", k.plus(k.times(k.plus(out, j), GROUP), lane), value)

        for j, value in enumerate(k.circular(turn)):
            put(j, value)
        row = k.times(k.plus(first, -1), 2 * n)
        with k.loop(n) as d:
            parts = []
            for part in (0, 1):
                at = k.plus(row, k.times(d, 2), part)
                total = k.real(0.0)
                for m, weight in enumerate(weights):
                    one = k.load("table", k.plus(at, 2 * n * m))
                    total = k.add(total, k.mul(weight, one))
                parts.append(total)
            real, imag = parts
            j = k.plus(k.times(d, 2), 2)
            put(j, k.sub(k.mul(a, real), k.mul(b, imag)))
            put(k.plus(j, 1), k.add(k.mul(a, imag), k.mul(b, real)))

    return kernel_text(("numbers", "waves", "table", "forces"), (), write, on_cpu)


def _lagrange(k: KernelBody, x: Array) -> list[Register]:
    less, more, far = k.sub(x, 1.0), k.add(x, 1.0), k.sub(x, 2.0)
    return [
        k.mul(k.mul(k.mul(x, less), far), -1.0 / 6.0),
        k.mul(k.mul(k.mul(more, less), far), 0.5),
        k.mul(k.mul(k.mul(more, x), far), -0.5),
        k.mul(k.mul(k.mul(more, x), less), 1.0 / 6.0),
    ]


def loads_at_once(n: int) -> int:
    """Loads that a thread sums, of so many."""
    return min(n, SIX)


def filled_up(columns: tuple[int, ...]) -> tuple[int, ...]:
    """Columns such that all threads have as many: the last again where some are missing."""
    missing = -len(columns) % loads_at_once(len(columns))
    return columns + columns[-1:] * missing


def rows_at_once(n: int) -> int:
    """Instants that a thread sums of so many loads."""
    return 2 * ROWS if loads_at_once(n) <= FEW else ROWS


@functools.lru_cache(maxsize=8)
def sums_text(n: int, on_cpu: bool = False) -> str:
    """Sums of all waves: a thread has some instants and some loads of a case.

    Args:
        n: DOFs.
        on_cpu: as of `kernel_text`.
    """
    six, at_once = loads_at_once(n), rows_at_once(n)

    def write(k: KernelBody) -> None:
        warp, lane = k.split(k.thread, GROUP)
        rest, rows = k.split(warp, k.sizes["blocks"])
        group, body = k.split(rest, n // six)
        step, begin = k.load("numbers", 0), k.load("numbers", 1)
        t = k.add(begin, k.mul(k.as_real(k.times(rows, at_once)), step))
        sums = [[k.variable(0.0) for _ in range(six)] for _ in range(at_once)]
        waves = k.sizes["waves"]
        first = k.times(group, waves)
        with k.loop(waves) as l:  # noqa: E741
            wave = k.plus(first, l)
            at = k.plus(k.times(k.times(wave, 2 * n + 2), GROUP), lane)
            omega = k.load("waves", k.plus(k.times(k.times(wave, NUMBERS), GROUP), lane))
            c, s = k.circular(k.mul(k.mul(omega, t), 0.5 / np.pi))
            turn_c, turn_s = (k.load("forces", k.plus(at, GROUP * j)) for j in (0, 1))
            own = k.plus(at, k.times(k.plus(k.times(body, 2 * six), 2), GROUP))
            force = [
                tuple(k.load("forces", k.plus(own, GROUP * (2 * d + j))) for j in (0, 1))
                for d in range(six)
            ]
            for row in sums:
                for place, (real, imag) in zip(row, force, strict=True):
                    total = k.add(k.get(place), k.mul(real, c))
                    k.set(place, k.add(total, k.mul(imag, s)))
                c, s = (
                    k.sub(k.mul(c, turn_c), k.mul(s, turn_s)),
                    k.add(k.mul(s, turn_c), k.mul(c, turn_s)),
                )
        instants = k.times(k.sizes["blocks"], at_once)
        for r, row in enumerate(sums):
            instant = k.plus(k.times(group, instants), k.times(rows, at_once), r)
            out = k.plus(k.times(instant, n), k.times(body, six))
            for d, place in enumerate(row):
                k.store("sums", k.plus(k.times(k.plus(out, d), GROUP), lane), k.get(place))

    return kernel_text(("numbers", "waves", "forces", "sums"), ("waves", "blocks"), write, on_cpu)


@functools.lru_cache(maxsize=8)
def refined_text(columns: tuple[int, ...], wide: int, short: bool, on_cpu: bool = False) -> str:
    """Loads and rates on the fine grid: a thread has one point of a case.

    Args:
        columns: DOFs whose loads are computed.
        wide: how many there are.
        short: floats have four bytes.
        on_cpu: as of `kernel_text`.
    """

    n = len(columns)

    def write(k: KernelBody) -> None:
        warp, lane = k.split(k.thread, GROUP)
        group, point = k.split(warp, k.sizes["points"])
        instant, r = k.split(point, RATIO)
        step = k.load("numbers", 0)
        begin = k.add(k.load("numbers", 1), k.mul(step, float(TAPS // 2 - 1)))
        t = k.add(begin, k.mul(k.as_real(point), k.mul(step, 1.0 / RATIO)))
        ramp = k.load("ramps", k.plus(k.times(group, GROUP), lane))
        grows = k.b.and_(k.greater(ramp, 0.0), k.greater(ramp, t))
        length = k.choose(k.greater(ramp, 0.0), ramp, 1.0)
        cosine, sine = k.circular(k.choose(grows, k.div(k.mul(t, 0.5), length), 0.5))
        r_now = k.mul(k.sub(1.0, cosine), 0.5)
        r_rate = k.choose(grows, k.mul(k.div(sine, length), 0.5 * np.pi), 0.0)
        weights = k.times(r, 2 * TAPS)
        pairs = [
            tuple(k.load("weights", k.plus(weights, 2 * m + j)) for j in (0, 1))
            for m in range(TAPS)
        ]
        first = k.plus(k.times(group, k.sizes["instants"]), instant)
        own = k.times(group, k.sizes["own"])

        def freedom(d: Term, column: Term) -> None:
            at = k.plus(k.times(k.plus(k.times(first, n), d), GROUP), lane)
            value, rate = k.real(0.0), k.real(0.0)
            for m, (w, w_rate) in enumerate(pairs):
                one = k.load("sums", k.plus(at, GROUP * n * m))
                value, rate = k.add(value, k.mul(w, one)), k.add(rate, k.mul(w_rate, one))
            rate = k.div(rate, step)
            rate = k.add(k.mul(r_now, rate), k.mul(r_rate, value))
            place = k.plus(k.times(point, wide), column)
            for start, number in (("force", k.mul(r_now, value)), ("rate", rate)):
                into = k.plus(own, k.sizes[start], place)
                k.store_of_case("lanes", into, lane, number, short)

        if columns == tuple(range(wide)):
            with k.loop(n) as d:
                freedom(d, d)
        else:
            for d, column in enumerate(columns):
                freedom(d, column)

    return kernel_text(
        ("numbers", "weights", "ramps", "sums", "lanes"),
        ("points", "instants", "own", "force", "rate"),
        write,
        on_cpu,
        GROUP,
    )


class HarmonicSums:
    """Loads of many cases, block of time after block.

    Args:
        device: that makes them.
        waves: of all cases.
        table: (row, 2 n) real and imaginary transfer function, adjacent for each DOF.
        step: of the fine grid [s].
        points: of the fine grid in one block of time.
        groups: of cases, the last of which may be filled up.
        short: floats of the loads have four bytes.
        columns: DOFs whose loads are wanted; None: all.
    """

    def __init__(
        self,
        device: Device,
        waves: AnyWaves,
        table: np.ndarray,
        step: float,
        points: int,
        groups: int,
        short: bool = False,
        columns: tuple[int, ...] | None = None,
    ) -> None:
        self.device, self.points, self.step, self.groups = device, points, RATIO * step, groups
        wide = table.shape[1] // 2
        columns = filled_up(tuple(range(wide)) if columns is None else columns)
        table = table.reshape(len(table), wide, 2)[:, list(columns)]
        self.n, self.count = len(columns), waves.count
        here = device.on_cpu
        self.sum = device.kernel(sums_text(self.n, here))
        self.refine = device.kernel(refined_text(columns, wide, short, here))
        self.rows = rows_at_once(self.n)
        self.blocks = -(-(-(-points // RATIO) + TAPS) // self.rows)
        self.numbers = device.room(2)
        self.weights = device.filled(refining_weights().reshape(-1))
        self.waves = waves.rows(device, groups)
        self.ramps = device.filled(grouped(waves.ramp[:, None], groups))
        self.forces = device.room(self.groups * self.count * (2 * self.n + 2) * GROUP)
        self.sums = device.room(self.groups * self.blocks * self.rows * self.n * GROUP)
        self.numbers.put(np.array([self.step, 0.0]))
        threads = self.groups * self.count * GROUP
        device.kernel(forces_text(self.n, here))(
            threads, BLOCK, self.numbers, self.waves, device.filled(table.reshape(-1)),
            self.forces, threads,
        )  # fmt: skip
        device.wait()

    def fill(self, begin: float, memory: Memory, per_case: int, starts: list[int]) -> None:
        """Loads of a block of time into the arguments of the cases.

        Args:
            begin: of the block [s].
            memory: of the arguments.
            per_case: scalars of a case.
            starts: where its loads begin, and their rates.
        """
        self.numbers.put(np.array([self.step, begin - (TAPS // 2 - 1) * self.step]))
        threads = self.groups * (self.n // loads_at_once(self.n)) * self.blocks * GROUP
        self.sum(
            threads, BLOCK, self.numbers, self.waves, self.forces, self.sums,
            self.count, self.blocks, threads,
        )  # fmt: skip
        threads = self.groups * self.points * GROUP
        self.refine(
            threads, BLOCK, self.numbers, self.weights, self.ramps, self.sums, memory,
            self.points, self.blocks * self.rows, per_case, *starts, threads,
        )  # fmt: skip


@dataclass(frozen=True)
class DeviceLoads:
    """Loads of waves that the GPU sums before each chunk of times; see `jit.DeviceInputs`.

    Args:
        waves: of all cases.
        table: (row, 2 n), as of `HarmonicSums`.
        step: of the grid [s].
        points: of the grid in a chunk of times.
        force: the argument of the program that they become.
        rate: that of their rates.
    """

    waves: AnyWaves
    table: np.ndarray
    step: float
    points: int
    force: PerCase
    rate: PerCase

    @property
    def arguments(self) -> tuple[PerCase, ...]:
        return self.force, self.rate

    @property
    def numbers_of_case(self) -> int:
        """Numbers that one case needs, without its loads."""
        n, waves = self.table.shape[1] // 2, self.waves.count
        instants = ROWS * -(-(-(-self.points // RATIO) + TAPS) // ROWS)
        return waves * (2 * n + 2 + NUMBERS) + instants * n

    def on_device(
        self, device: Device, groups: int, short: bool, columns: tuple[int, ...]
    ) -> HarmonicSums:
        grid = self.step, self.points
        return HarmonicSums(device, self.waves, self.table, *grid, groups, short, columns)


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
