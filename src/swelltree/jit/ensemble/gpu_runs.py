"""Many cases on a GPU: one for each thread, all steps of a chunk in one kernel."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swelltree.jit.arrays import Tree
from swelltree.jit.ensemble import cuda
from swelltree.jit.ensemble.columns import read_places
from swelltree.jit.ensemble.cuda import Device, Kernel, Memory
from swelltree.jit.ensemble.programs import Cases, ManyProgram, PerCase, room_for_results
from swelltree.jit.ensemble.rows import (
    in_first_half,
    inputs_of,
    of_first_half,
    packed_cases,
    slots,
    taken_apart,
)
from swelltree.jit.ensemble.summaries import (
    BUDGET,
    EXTREMES,
    STATISTICS,
    Requested,
    Retained,
    damage_text,
    extremes_text,
    peaks_of_cells,
    peaks_text,
    statistics_text,
)
from swelltree.jit.ensemble.threads import GROUP, SLOTS, ThreadWriter
from swelltree.jit.ensemble.waves.harmonic_sums import AnyWaves, HarmonicSums, grouped
from swelltree.jit.ensemble.written import GeneratedKernel, Place, Text
from swelltree.jit.graph import Graph
from swelltree.jit.rows.loops import Axes
from swelltree.jit.trees import leaves_of

SUMMING = 128  # the same, of threads that sum up
REGISTERS = 255  # of a thread that steps, at most
# threads that share a processor's resources, by the cases there are at least: as many as there are
# registers for, and fewer where some processors would have nothing to do
BLOCKS = ((32_768, 256), (16_384, 128), (0, 64))


@dataclass(frozen=True)
class DeviceLoads:
    """Loads of waves that the processor makes for each block of time.

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


@dataclass
class Seconds:
    """Where the time of a run went [s]."""

    seas: float = 0.0
    packing: float = 0.0
    loads: float = 0.0
    steps: float = 0.0
    results: float = 0.0


class GpuProgram(ManyProgram):
    """A stepper of many cases on a GPU.

    Args:
        function: as of `ManyProgram`.
        rows: as of `ManyProgram`.
        short: floats have four bytes.
    """

    writer: type[ThreadWriter] = ThreadWriter

    def __init__(
        self,
        function: Callable[..., Tree],
        rows: Callable[..., Axes] | None = None,
        short: bool = False,
    ) -> None:
        self.short = short
        self.seconds = Seconds()  # of the last run
        super().__init__(function, rows)

    @property
    def manner(self) -> tuple[object, ...]:
        """Threads, of which floats, and whether this processor plays the other."""
        on_cpu = bool(getattr(cuda.device(), "on_cpu", False))
        return self.writer.__name__, "float" if self.short else "double", on_cpu

    def write(self, graph: Graph) -> Text:
        """Text of a graph."""
        _, kind, on_cpu = self.manner
        writer = self.writer(graph, str(kind), bool(on_cpu))
        text = writer.function()
        return Text(text, read_places(graph, writer.live), writer.memory())

    def run(
        self, cases: Cases, chunks: Sequence[np.ndarray], loads: DeviceLoads | None = None
    ) -> tuple[Tree, Tree]:
        """State after the last chunk, and results with axes of cases and times before theirs.

        Args:
            cases: to run.
            chunks: of times, all of one length.
            loads: that are made on the way.
        """
        stepping = Stepping(self, cases, chunks, loads)
        program, n_state = stepping.program, stepping.n_state
        outs = room_for_results(program, cases, chunks)
        for number in stepping.each():
            for array, place in zip(outs[n_state:], program.outs[n_state:], strict=True):
                begin = number * place[1][0]
                stepping.fetch(place, array[:, begin : begin + place[1][0]])
        stepping.fetch_state(outs[:n_state])
        return program.tree.unflatten(outs)

    def summaries(
        self,
        cases: Cases,
        chunks: Sequence[np.ndarray],
        requested: Requested,
        loads: DeviceLoads | None = None,
    ) -> tuple[Tree, tuple[dict[str, Retained], np.ndarray]]:
        """State after the last chunk, and summaries of the results instead of themselves.

        Results are a pair: what is kept of each channel, and the sums of the energy budget (case,
        number) with the numbers of `EXTREMES`.

        Args:
            cases: to run.
            chunks: of times, all of one length.
            wanted: what is kept.
            loads: that are made on the way.
        """
        stepping = Stepping(self, cases, chunks, loads)
        stored = Series(stepping, requested)
        for number in stepping.each():
            stored.take(number)
        n_state, program = stepping.n_state, stepping.program
        state = [np.empty((cases.count, *x[1]), x[2]) for x in program.outs[:n_state]]
        stepping.fetch_state(state)
        began = time.perf_counter()
        filler: list[Any] = [None] * (len(program.outs) - n_state)
        tree = program.tree.unflatten([*state, *filler])
        names = program.tree.unflatten([*state, *range(len(filler))])[1]
        channels = {name: stored.of_channel(k) for name, k in names[0].items()}
        budget = stored.budget([names[1][name] for name in BUDGET])
        self.seconds.results += time.perf_counter() - began
        return tree[0], (channels, budget)

    def kernel(self, device: Device, program: GeneratedKernel) -> Kernel:
        """The program on a device."""
        name = f"kernel of {REGISTERS} registers"
        if name not in program.loaded:
            program.loaded[name] = device.kernel(program.text, optimise=False, registers=REGISTERS)
        return program.loaded[name]


@dataclass
class Stepping:
    """Cases on their way through chunks of time."""

    owner: GpuProgram
    cases: Cases
    chunks: Sequence[np.ndarray]
    loads: DeviceLoads | None
    program: GeneratedKernel = field(init=False)

    def __post_init__(self) -> None:
        began = time.perf_counter()
        self.device = device = _device()
        device.current()
        cases, short = self.cases, self.owner.short
        self.program = program = self.owner.needed(cases, self.chunks[0])
        self.kernel = self.owner.kernel(device, program)
        self.n_state = len(leaves_of(cases.state))
        self.block = next(block for least, block in BLOCKS if cases.count >= least)
        self.groups = groups = -(-cases.count // self.block) * (self.block // GROUP)
        self.n_own, self.n_out, n_work = (GROUP * n for n in program.sizes)
        self.lanes, self.out = device.room(groups * self.n_own), device.room(groups * self.n_out)
        self.work = device.room(groups * n_work)
        fixed, self.shared, per_case = packed_cases(program, cases, short)
        self.constant = device.filled(fixed)
        for name, places in program.constants.items():
            numbers = fixed[list(places)]
            packs = short and name != SLOTS
            self.kernel.hold(name, numbers.view(np.float32)[::2] if packs else numbers)
        leaves = [x for x in leaves_of(cases.fixed) if isinstance(x, PerCase)]
        built = () if self.loads is None else (self.loads.force, self.loads.rate)
        self.places = {id(x): place[0] for x, place in zip(leaves, program.per_case, strict=False)}
        for k, (place, arrays) in enumerate(zip(program.per_case, per_case, strict=True)):
            if k < len(leaves) and any(leaves[k] is x for x in built):
                continue
            if not np.prod(place[1], dtype=int):
                continue
            numbers = np.asarray(arrays).reshape(cases.count, -1)
            rows = grouped(slots(numbers).reshape(cases.count, -1), groups)
            if short and numbers.dtype == np.float64:
                rows = in_first_half(rows.reshape(-1, GROUP))
            self.lanes.put_rows(rows.reshape(groups, -1), GROUP * place[0], self.n_own)
        self.sums = None
        if self.loads is not None:
            x = self.loads
            columns = program.columns(
                *(k for k, y in enumerate(leaves) if any(y is z for z in built))
            )
            self.sums = HarmonicSums(
                device, x.waves, x.table, x.step, x.points, groups, short, columns
            )
        device.wait()
        self.owner.seconds = Seconds(packing=time.perf_counter() - began)

    def each(self) -> Iterator[int]:
        """One chunk after the other; their numbers."""
        device, program, seconds = self.device, self.program, self.owner.seconds
        for number, chunk in enumerate(self.chunks):
            began = time.perf_counter()
            if self.sums is not None and self.loads is not None:
                force, rate = (self.places[id(x)] for x in (self.loads.force, self.loads.rate))
                begin = float(chunk[0])
                self.sums.fill(begin, self.lanes, program.sizes[0], force, rate)
            into = device.filled(inputs_of(self.shared, chunk, self.owner.short))
            device.wait()
            summed = time.perf_counter()
            self.kernel(
                GROUP * self.groups, self.block,
                self.constant, into, self.lanes, self.out, self.work, *program.sizes,
            )  # fmt: skip
            device.wait()
            stepped = time.perf_counter()
            yield number
            for (start, shape, _), (at, _, _) in zip(
                program.per_case[-self.n_state :], program.outs[: self.n_state], strict=True
            ):
                width = GROUP * int(np.prod(shape, dtype=int))
                if not width:
                    continue
                self.lanes.move(
                    GROUP * start, self.n_own, self.out, GROUP * at, self.n_out, width, self.groups
                )
            seconds.loads += summed - began
            seconds.steps += stepped - summed
            seconds.results += time.perf_counter() - stepped

    def fetch(self, place: Place, into: np.ndarray) -> None:
        """Results of all cases."""
        start, shape, _ = place
        size = int(np.prod(shape, dtype=int))
        if not size:
            return
        count = len(into)
        groups = -(-count // GROUP)
        rows = self.out.rows(GROUP * start, GROUP * size, self.n_out, groups)
        rows = rows.reshape(groups, size, GROUP)
        if self.owner.short and place[2] == np.float64:
            rows = of_first_half(rows)
        lanes = rows.transpose(1, 0, 2).reshape(size, -1)
        into[...] = taken_apart(lanes, (0, *place[1:]), count)

    def fetch_numbers(self, memory: Memory, size: int) -> np.ndarray:
        """Floats of all cases from memory with so many of each (case, number)."""
        rows = memory.rows(0, GROUP * size, GROUP * size, self.groups)
        lanes = rows.reshape(self.groups, size, GROUP).transpose(0, 2, 1)
        return np.ascontiguousarray(lanes.reshape(-1, size)[: self.cases.count])

    def fetch_state(self, into: list[np.ndarray]) -> None:
        """The state at the end."""
        for array, place in zip(into, self.program.outs, strict=False):
            self.fetch(place, array)


class Series:
    """Samples of all cases that stay on the processor until they are summed up there.

    Args:
        stepping: that makes them.
        wanted: what is kept of them.
    """

    def __init__(self, stepping: Stepping, requested: Requested) -> None:
        self.stepping, self.requested = stepping, requested
        self.samples = len(requested.shares)
        self.device, self.groups = stepping.device, stepping.groups
        self.places = stepping.program.outs[stepping.n_state :]
        self.sizes = [int(np.prod(shape[1:], dtype=int)) for _, shape, _ in self.places]
        count = len(stepping.chunks) * self.places[0][1][0]
        self.rooms = [count * size for size in self.sizes]
        self.memory = [self.device.room(self.groups * GROUP * room) for room in self.rooms]

    def take(self, number: int) -> None:
        """Samples of a chunk."""
        s = self.stepping
        for place, size, room, memory in zip(
            self.places, self.sizes, self.rooms, self.memory, strict=True
        ):
            width = GROUP * place[1][0] * size
            memory.move(
                number * width, GROUP * room, s.out, GROUP * place[0], s.n_out, width, self.groups
            )

    def of_channel(self, k: int) -> Retained:
        """What is kept of a channel; its samples are lost."""
        requested, size = self.requested, self.sizes[k]
        short, here = self.stepping.owner.short, self.device.on_cpu
        shares = self.device.filled(requested.shares)
        statistics = self._found(statistics_text(short, here), k, len(STATISTICS), shares)
        peaks = damage = None
        if requested.peaks:
            found = self._found(peaks_text(requested.peaks, short, here), k, 2 * requested.peaks)
            peaks = peaks_of_cells(found.reshape(-1, size, 2, requested.peaks))
        if requested.exponents:
            text = damage_text(requested.exponents, short, here)
            damage = self._found(text, k, 1 + len(requested.exponents))
        return Retained(statistics, peaks, damage)

    def _found(self, text: str, k: int, count: int, *more: Memory | int) -> np.ndarray:
        """Numbers of each entry of a channel by a kernel, (case, entry, number)."""
        size = self.sizes[k]
        out = self.device.room(self.groups * GROUP * size * count)
        threads = self.groups * GROUP * size
        self.device.kernel(text)(
            threads, SUMMING, self.memory[k], *more, out, size, self.rooms[k],
            self.requested.first, self.samples, threads,
        )  # fmt: skip
        found = self.stepping.fetch_numbers(out, size * count)
        return found.reshape(-1, size, count)

    def budget(self, rows: list[int]) -> np.ndarray:
        """Extremes of the energy budget, (case, number)."""
        text = extremes_text(self.stepping.owner.short, self.device.on_cpu)
        out = self.device.room(self.groups * GROUP * len(EXTREMES))
        threads = self.groups * GROUP
        memory = [self.memory[k] for k in rows]
        self.device.kernel(text)(
            threads, SUMMING, *memory, out, self.rooms[rows[0]], self.samples, threads
        )
        return self.stepping.fetch_numbers(out, len(EXTREMES))


def _device() -> Device:
    device = cuda.device()
    if isinstance(device, str):
        raise cuda.CudaError(device)
    return device
