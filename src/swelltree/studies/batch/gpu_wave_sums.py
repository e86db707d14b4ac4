r"""Loads of many seas on a grid in time, summed on the GPU from the waves of each.

.. math:: F(t) = r(t)\, \mathrm{Re} \sum_l A_l\, X(\omega_l)\, e^{-i\omega_l t}

Each case has waves of its own; the transfer function X lies in a table that all share. Three
kernels: forces of all waves, once; their sums at a few instants in the shortest period, with one
rotation for each instant; and from these the loads and their rates on the fine grid, by weights
that are best for what has no higher frequencies.
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
