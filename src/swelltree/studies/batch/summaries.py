"""Summaries of the samples of many cases, computed where the samples are.

Kernels for GPUs, and for lanes of this one: `statistics_text` and `extremes_text`
serve all lanes of a register at once, `peaks_text` and `damage_text` one lane at a time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from swelltree.jit import (
    GROUP,
    Array,
    DeviceRun,
    KernelBody,
    Native,
    Register,
    Samples,
    Slot,
    Term,
    kernel_text,
    lane_kernel_text,
    object_code,
)

# of one channel: the last are the largest change from sample to sample, and the number of gaps
STATISTICS = ("mean", "std", "min", "max", "crossings", "change", "gaps")
# samples of the energy budget, and their extremes
BUDGET = ("kinetic", "stored", "done", "largest_work", "allowed", "closure", "extent")
EXTREMES = ("kinetic", "moved", "largest_work", "allowed", "closure", "gap", "extent")
INFINITE, NAN = float(np.inf), float(np.nan)


@dataclass(frozen=True)
class Requested:
    """What is computed from the samples of each channel, in addition to statistics.

    Args:
        shares: of each sample in a mean; zero of the first ones, which do not count.
        peaks: number of the largest crests, and of the deepest troughs.
        exponents: of Woehler curves, integers: for each the damage.
    """

    shares: np.ndarray
    peaks: int = 0
    exponents: tuple[int, ...] = ()

    @property
    def first(self) -> int:
        return int(np.flatnonzero(self.shares > 0)[0])


class Retained(NamedTuple):
    """Summaries of a channel of many cases.

    Args:
        statistics: (case, entry, number), those of `STATISTICS`.
        peaks: (case, entry, 2, rank) crests and troughs, gaps behind them; or None.
        damage: (case, entry, number), those of `damage_text`; or None.
    """

    statistics: np.ndarray
    peaks: np.ndarray | None
    damage: np.ndarray | None


def peaks_of_cells(found: np.ndarray) -> np.ndarray:
    """Crests and troughs (..., 2, rank) from the numbers of `peaks_text`."""
    found = np.where(np.isfinite(found), found, np.nan)
    found[..., 1, :] *= -1.0
    return found


Write = Callable[[KernelBody], None]


def _text(
    rows: tuple[str, ...], sizes: tuple[str, ...], write: Write, on_cpu: bool, lanes: int
) -> str:
    """For all lanes of registers at once, or thread after thread."""
    if lanes:
        return lane_kernel_text(rows, sizes, write, lanes, threads=True)
    return kernel_text(rows, sizes, write, on_cpu, GROUP)


def _gap(k: KernelBody, x: Array) -> Register:
    """Whether a sample is not a number."""
    return k.b.fcmp_unordered("uno", x, x)


def _finite(k: KernelBody, x: Array) -> Register:
    """Whether a sample is a finite number."""
    return k.greater(INFINITE, k.intrinsic("fabs", x))


class _Samples:
    """Samples of one entry of a case, which a thread has.

    Args:
        k: the kernel that is written.
        short: they have four bytes.
    """

    def __init__(self, k: KernelBody, short: bool) -> None:
        self.k, self.short = k, short
        self.number, self.lane = k.group_and_lane()
        group, entry = k.split(self.number, k.sizes["entries"])
        self.start = k.plus(k.times(group, k.sizes["room"]), entry)

    def __call__(self, i: Term) -> Register:
        return self.k.load_of_case("series", self._place(i), self.lane, self.short)

    def replace(self, i: Term, value: Term) -> None:
        """Put something else in the place of one."""
        self.k.store_of_case("series", self._place(i), self.lane, value, self.short)

    def _place(self, i: Term) -> Register:
        return self.k.plus(self.start, self.k.times(i, self.k.sizes["entries"]))


@functools.lru_cache(maxsize=8)
def statistics_text(short: bool, on_cpu: bool = False, lanes: int = 0) -> str:
    """Kernel of the statistics of a channel: a thread has one entry of a case.

    Gaps do not count, as in `results.statistics.of_samples`.

    Args:
        short: samples have four bytes.
        on_cpu: as of `kernel_text`.
        lanes: of registers, for all of which the function is; 0: of none.
    """

    def write(k: KernelBody) -> None:
        sample = _Samples(k, short)
        number, lane = sample.number, sample.lane

        def share(i: Term) -> Register:
            return k.shared("shares", i)

        first, samples = k.sizes["first"], k.sizes["samples"]
        begin = sample(first)
        last = k.variable(begin)
        begin = k.choose(_gap(k, begin), 0.0, begin)
        total, used, change, gaps = (k.variable(0.0) for _ in range(4))
        least, greatest = k.variable(INFINITE), k.variable(-INFINITE)
        with k.loop(samples, first) as i:
            x = sample(i)
            gap = _gap(k, x)
            part = k.choose(gap, 0.0, share(i))
            k.set(used, k.add(k.get(used), part))
            k.set(gaps, k.add(k.get(gaps), k.choose(gap, 1.0, 0.0)))
            # from the first sample, so that a large mean takes nothing of what varies
            away = k.choose(gap, 0.0, k.sub(x, begin))
            k.set(total, k.add(k.get(total), k.mul(part, away)))
            k.set(least, k.choose(k.greater(k.get(least), x), x, k.get(least)))
            k.set(greatest, k.choose(k.greater(x, k.get(greatest)), x, k.get(greatest)))
            step = k.intrinsic("fabs", k.sub(x, k.get(last)))
            k.set(change, k.choose(k.greater(step, k.get(change)), step, k.get(change)))
            k.set(last, k.choose(gap, k.get(last), x))
        mean = k.add(begin, k.div(k.get(total), k.get(used)))
        square, crossings, below = k.variable(0.0), k.variable(0.0), k.variable(0.0)
        with k.loop(samples, first) as i:
            x = sample(i)
            gap = _gap(k, x)
            away = k.choose(gap, 0.0, k.sub(x, mean))
            k.set(square, k.add(k.get(square), k.mul(share(i), k.mul(away, away))))
            is_below = k.greater(0.0, away)
            up = k.choose(k.b.or_(gap, is_below), 0.0, k.get(below))
            k.set(crossings, k.add(k.get(crossings), up))
            k.set(below, k.choose(gap, k.get(below), k.choose(is_below, 1.0, 0.0)))
        std = k.intrinsic("sqrt", k.div(k.get(square), k.get(used)))
        rows = (mean, std, k.get(least), k.get(greatest), k.get(crossings))
        some = k.greater(k.get(used), 0.0)
        values = (*(k.choose(some, x, NAN) for x in rows), k.get(change), k.get(gaps))
        out = k.times(number, len(STATISTICS))
        for j, value in enumerate(values):
            k.store("out", k.place_of_case(k.plus(out, j), lane), value)

    sizes = ("entries", "room", "first", "samples")
    return _text(("series", "shares", "out"), sizes, write, on_cpu, lanes)


@functools.lru_cache(maxsize=8)
def extremes_text(short: bool, on_cpu: bool = False, lanes: int = 0) -> str:
    """Kernel of the extremes of an energy budget: a thread has one case.

    A gap counts as far as it is still there a sample later. NaN counts as infinite.

    Args:
        short: samples have four bytes.
        on_cpu: as of `kernel_text`.
        lanes: as of `statistics_text`.
    """

    def write(k: KernelBody) -> None:
        group, lane = k.group_and_lane()

        def known(x: Array) -> Register:
            return k.choose(_gap(k, x), INFINITE, x)

        def sample(name: str, i: Term) -> Register:
            at = k.plus(k.times(group, k.sizes["room"]), i)
            return known(k.load_of_case(name, at, lane, short))

        def balance(i: Term) -> Register:
            energy = k.add(sample("kinetic", i), sample("stored", i))
            return k.sub(energy, sample("done", i))

        stored, open_at_first = sample("stored", k.full(0)), balance(k.full(0))
        found = {name: k.variable(0.0) for name in EXTREMES[:-1]}
        before = k.variable(0.0)

        def larger(name: str, x: Array) -> None:
            now = k.get(found[name])
            k.set(found[name], k.choose(k.greater(x, now), x, now))

        with k.loop(k.sizes["samples"]) as i:
            larger("kinetic", sample("kinetic", i))
            moved = k.intrinsic("fabs", k.sub(sample("stored", i), stored))
            larger("moved", known(moved))
            for name in ("largest_work", "allowed", "closure"):
                larger(name, sample(name, i))
            gap = known(k.intrinsic("fabs", k.sub(balance(i), open_at_first)))
            earlier = k.get(before)
            larger("gap", k.choose(k.greater(gap, earlier), earlier, gap))
            k.set(before, gap)
        larger("gap", k.get(before))
        values = [k.get(found[name]) for name in EXTREMES[:-1]]
        values.append(sample("extent", k.full(0)))
        for j, value in enumerate(values):
            k.store("out", k.place_of_case(k.plus(k.times(group, len(EXTREMES)), j), lane), value)

    return _text((*BUDGET, "out"), ("room", "samples"), write, on_cpu, lanes)


@functools.lru_cache(maxsize=8)
def peaks_text(most: int, short: bool, on_cpu: bool = False, side: int = GROUP) -> str:
    """Kernel of the largest crests between upward crossings of the mean, falling.

    A thread has one entry of a case: first its crests, then its troughs as crests of what has the
    other sign; minus infinity behind the last. A record with gaps has none: its largest may lie
    there.

    Args:
        most: crests that are stored.
        short: samples have four bytes.
        on_cpu: as of `kernel_text`.
        side: cases whose samples are contiguous.
    """

    def write(k: KernelBody) -> None:
        sample = _Samples(k, short)
        number, lane = sample.number, sample.lane
        first, samples = k.sizes["first"], k.sizes["samples"]
        begin, total = sample(first), k.variable(0.0)
        with k.loop(samples, first) as i:
            # from the first sample, so that a large mean takes nothing of what varies
            k.set(total, k.add(k.get(total), k.sub(sample(i), begin)))
        count = k.sub(k.as_real(samples), k.as_real(first))
        mean = k.add(begin, k.div(k.get(total), count))
        # nothing rises above what is not a number
        mean = k.choose(_finite(k, mean), mean, NAN)
        for which, sign in enumerate((1.0, -1.0)):
            out = k.times(k.plus(k.times(number, 2), which), most)

            def kept(rank: int, out: Term = out) -> Register:
                return k.place_of_case(k.plus(out, rank), lane)

            for rank in range(most):
                k.store("out", kept(rank), -INFINITE)
            # 0: before the first rise; else within a crest
            crest, within = k.variable(-INFINITE), k.variable(0.0)
            # above from the start: the first rise comes after a sample that is not above
            above = k.variable(1.0)
            least = k.variable(-INFINITE)

            def insert(
                kept: Callable[[int], Register] = kept, crest: Slot = crest, least: Slot = least
            ) -> None:
                value = k.get(crest)
                with k.b.if_then(k.greater(value, k.get(least))):
                    for rank in range(most):
                        there = k.load("out", kept(rank))
                        larger = k.greater(value, there)
                        k.store("out", kept(rank), k.choose(larger, value, there))
                        value = k.choose(larger, there, value)
                    k.set(least, k.load("out", kept(most - 1)))

            with k.loop(samples, first) as i:
                x = k.mul(sample(i), sign)
                is_above = k.greater(x, k.mul(mean, sign))
                flag = k.choose(is_above, 1.0, 0.0)
                rises = k.greater(k.sub(flag, k.get(above)), 0.5)
                with k.b.if_then(rises):
                    with k.b.if_then(k.greater(k.get(within), 0.5)):
                        insert()
                    k.set(crest, -INFINITE)
                    k.set(within, 1.0)
                k.set(above, flag)
                k.set(crest, k.choose(k.greater(x, k.get(crest)), x, k.get(crest)))
            # a crest that is cut off by the end counts too: it may be the largest
            with k.b.if_then(k.greater(k.get(within), 0.5)):
                insert()

    sizes = ("entries", "room", "first", "samples")
    return kernel_text(("series", "out"), sizes, write, on_cpu, side)


def _power(k: KernelBody, x: Array, exponent: int) -> Register:
    result: Register | None = None
    while exponent:
        if exponent % 2:
            result = x if result is None else k.mul(result, x)
        exponent //= 2
        if exponent:
            x = k.mul(x, x)
    assert result is not None
    return result


class _Cycles:
    """Cycles of a series by rainflow: points that are open, and damage so far.

    Args:
        k: the kernel that is written.
        samples: open points lie where samples were that have been read.
        first: sample that counts.
        scale: one over the largest range.
        exponents: of the Woehler curve.
    """

    def __init__(
        self,
        k: KernelBody,
        samples: _Samples,
        first: Term,
        scale: Term,
        exponents: Sequence[int],
    ) -> None:
        self.k, self.samples, self.first = k, samples, first
        self.scale, self.exponents = scale, exponents
        self.sums = [k.variable(0.0) for _ in exponents]
        self.depth = k.variable(k.full(0))

    def push(self, point: Term) -> None:
        """A turning point: ranges that are closed by it count."""
        k = self.k
        self._deepen(1)
        self.samples.replace(self._open_at(0), point)
        with k.again() as leave:
            leave(self._fewer_than(3))
            c, b, a = (self.samples(self._open_at(back)) for back in range(3))
            last, before = (k.intrinsic("fabs", k.sub(*pair)) for pair in ((c, b), (b, a)))
            leave(k.greater(before, last))
            with k.b.if_else(self._fewer_than(4)) as (at_first, enclosed):
                with at_first:  # the range holds the first point: half a cycle
                    self._count(a, b, 0.5)
                    self.samples.replace(self._open_at(2), b)
                    self.samples.replace(self._open_at(1), c)
                    self._deepen(-1)
                with enclosed:
                    self._count(a, b, 1.0)
                    self.samples.replace(self._open_at(2), c)
                    self._deepen(-2)

    def leave_over(self) -> None:
        """Ranges that are open at the end are half cycles."""
        k = self.k
        with k.loop(k.plus(k.get(self.depth), -1)) as j:
            a = self.samples(k.plus(self.first, j))
            b = self.samples(k.plus(self.first, j, 1))
            self._count(a, b, 0.5)

    def _open_at(self, back: int) -> Register:
        """Number of the sample in whose place an open point lies, counted from the last."""
        return self.k.plus(self.first, self.k.get(self.depth), -1 - back)

    def _fewer_than(self, count: int) -> Register:
        return self.k.b.icmp_signed("<", self.k.get(self.depth), self.k.full(count))

    def _deepen(self, by: int) -> None:
        self.k.set(self.depth, self.k.plus(self.k.get(self.depth), by))

    def _count(self, a: Term, b: Term, often: float) -> None:
        k = self.k
        part = k.mul(k.intrinsic("fabs", k.sub(a, b)), self.scale)
        for place, exponent in zip(self.sums, self.exponents, strict=True):
            k.set(place, k.add(k.get(place), k.mul(_power(k, part, exponent), often)))


@functools.lru_cache(maxsize=8)
def damage_text(
    exponents: tuple[int, ...], short: bool, on_cpu: bool = False, side: int = GROUP
) -> str:
    """Kernel of the damage of a channel: cycles by rainflow, in one pass (ASTM E1049-85, 5.4.4).

    A thread has one entry of a case. Numbers: the largest range, and for each exponent the sum of
    cycles times the power of their ranges, of the largest; a record with gaps has no number. Ranges
    that are still open lie where samples were that have been read: these are lost, and no memory is
    needed besides.

    Args:
        exponents: of the Woehler curve, integers.
        short: samples have four bytes.
        on_cpu: as of `kernel_text`.
        side: cases whose samples are contiguous.
    """

    def write(k: KernelBody) -> None:
        sample = _Samples(k, short)
        number, lane = sample.number, sample.lane
        first, samples = k.sizes["first"], k.sizes["samples"]
        least, greatest, gaps = k.variable(INFINITE), k.variable(-INFINITE), k.variable(0.0)
        with k.loop(samples, first) as i:
            x = sample(i)
            k.set(gaps, k.add(k.get(gaps), k.choose(_finite(k, x), 0.0, 1.0)))
            k.set(least, k.choose(k.greater(k.get(least), x), x, k.get(least)))
            k.set(greatest, k.choose(k.greater(x, k.get(greatest)), x, k.get(greatest)))
        top = k.sub(k.get(greatest), k.get(least))
        varies = k.greater(top, 0.0)
        scale = k.div(1.0, k.choose(varies, top, 1.0))
        cycles = _Cycles(k, sample, first, scale, exponents)
        # -1: no sample yet, 0: one value only, 1: falling, 2: rising
        state, before = k.variable(-1.0), k.variable(0.0)
        with k.loop(samples, first) as i:
            x = sample(i)
            now, last = k.get(state), k.get(before)
            begins = k.greater(-0.5, now)
            rises = k.choose(k.greater(x, last), 2.0, 1.0)
            same = k.b.fcmp_ordered("==", x, last)
            turns = k.b.and_(k.b.fcmp_ordered("!=", rises, now), k.b.not_(k.b.or_(same, begins)))
            # what is pushed is read before it is written over: it lies behind this sample
            with k.b.if_then(turns):
                cycles.push(last)
            k.set(before, x)
            moved = k.choose(same, now, rises)
            k.set(state, k.choose(begins, 0.0, moved))
        with k.b.if_then(k.greater(k.get(state), 0.5)):
            cycles.push(k.get(before))
        cycles.leave_over()
        out = k.times(number, 1 + len(exponents))
        top = k.choose(k.greater(k.get(gaps), 0.5), NAN, k.choose(varies, top, 0.0))
        numbers = [top, *(k.get(place) for place in cycles.sums)]
        for j, value in enumerate(numbers):
            k.store("out", k.place_of_case(k.plus(out, j), lane), value)

    sizes = ("entries", "room", "first", "samples")
    return kernel_text(("series", "out"), sizes, write, on_cpu, side)


# --- where the kernels run --------------------------------------------------------------------
SUMMING = 128  # threads of a block
Find = Callable[..., np.ndarray]


def _retained(requested: Requested, text: Callable[..., str], found: Find, all_lanes: bool) -> Any:
    """Summaries of a channel.

    Args:
        requested: statistics, and what else.
        text: makes a kernel: its function and what shapes it.
        found: runs a kernel that gives so many numbers of each entry (case, entry, number).
        all_lanes: the kernel of statistics serves all lanes at once.
    """
    statistics = found(text(statistics_text), len(STATISTICS), all_lanes, requested.shares)
    peaks = damage = None
    if requested.peaks:
        cells = found(text(peaks_text, requested.peaks), 2 * requested.peaks, False)
        peaks = peaks_of_cells(cells.reshape(*cells.shape[:2], 2, requested.peaks))
    if requested.exponents:
        exponents = requested.exponents
        damage = found(text(damage_text, exponents), 1 + len(exponents), False)
    return Retained(statistics, peaks, damage)


@functools.lru_cache(maxsize=16)
def _native(text: str, rows: int) -> Native:
    return Native(object_code(text), pointers=rows + 1)


def of_lanes(samples: Samples, requested: Requested) -> Retained:
    """Summaries of a channel of the cases of one register, lanes first; samples are lost."""
    memory, entries = samples.memory, samples.entries
    width = memory.shape[1]

    def found(text: str, count: int, all_lanes: bool, *more: np.ndarray) -> np.ndarray:
        out = np.empty((entries, count, width))
        threads = entries if all_lanes else entries * width
        sizes = [entries, len(memory), requested.first, len(requested.shares), threads]
        rows = (memory, *map(np.ascontiguousarray, more), out)
        _native(text, len(rows))(*rows, np.array(sizes, np.int64))
        return out.transpose(2, 0, 1)

    return _retained(requested, lambda f, *x: f(*x, False, True, width), found, all_lanes=True)


def budget_of_lanes(samples: Sequence[Samples], count: int) -> np.ndarray:
    """Extremes of the energy budget of the cases of one register, (lane, number).

    Args:
        samples: by the names of `BUDGET`.
        count: of samples.
    """
    memory = [x.memory for x in samples]
    out = np.empty((len(EXTREMES), memory[0].shape[1]))
    text = extremes_text(False, True, out.shape[1])
    _native(text, len(memory) + 1)(*memory, out, np.array([len(memory[0]), count, 1], np.int64))
    return out.T


def on_device(run: DeviceRun, samples: Samples, requested: Requested) -> Retained:
    """Summaries of a channel of all cases; its samples are lost."""
    device, entries, short = run.device, samples.entries, run.owner.short
    threads = run.groups * GROUP * entries
    room = samples.memory.size // (run.groups * GROUP)

    def found(text: str, count: int, all_lanes: bool, *more: np.ndarray) -> np.ndarray:
        out = device.room(threads * count)
        device.kernel(text)(
            threads, SUMMING, samples.memory, *map(device.filled, more), out, entries, room,
            requested.first, len(requested.shares), threads,
        )  # fmt: skip
        return run.scalars(out, entries * count).reshape(-1, entries, count)

    return _retained(requested, lambda f, *x: f(*x, short, device.on_cpu), found, all_lanes=False)


def budget_on_device(run: DeviceRun, samples: Sequence[Samples], count: int) -> np.ndarray:
    """Extremes of the energy budget of all cases, (case, number)."""
    device, threads = run.device, run.groups * GROUP
    out, memory = device.room(threads * len(EXTREMES)), [x.memory for x in samples]
    room = memory[0].size // threads
    device.kernel(extremes_text(run.owner.short, device.on_cpu))(
        threads, SUMMING, *memory, out, room, count, threads
    )
    return run.scalars(out, len(EXTREMES))


Summaries = tuple[dict[str, Retained], np.ndarray]


def summarised_on_device(run: DeviceRun, samples: Any, requested: Requested) -> Summaries:
    """Summaries of the channels of all cases, and the extremes of their energy budget."""
    channels, budget = samples
    kept = {name: on_device(run, x, requested) for name, x in channels.items()}
    rows = [budget[name] for name in BUDGET]
    return kept, budget_on_device(run, rows, len(requested.shares))


def summarised_in_lanes(samples: Any, lanes: int, requested: Requested) -> Summaries:
    channels, budget = samples
    rows = [budget[name] for name in BUDGET]
    energies = budget_of_lanes(rows, len(requested.shares))
    kept = {name: of_lanes(x, requested) for name, x in channels.items()}
    parts = {name: Retained(*(_first(x, lanes) for x in found)) for name, found in kept.items()}
    return parts, energies[:lanes]


def _first(found: Any, count: int) -> Any:
    return None if found is None else found[:count]


def joined(parts: Sequence[Summaries]) -> Summaries:
    def together(rows: Sequence[Any]) -> Any:
        return None if rows[0] is None else np.concatenate(rows)

    kept = {
        name: Retained(*map(together, zip(*(part[0][name] for part in parts), strict=True)))
        for name in parts[0][0]
    }
    return kept, np.concatenate([part[1] for part in parts])
