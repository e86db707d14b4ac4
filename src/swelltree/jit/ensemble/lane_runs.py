"""Many cases in the lanes of registers, registers on all cores."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from swelltree.jit.arrays import Tree
from swelltree.jit.cores import cores
from swelltree.jit.ensemble.chunk_driver import go_through
from swelltree.jit.ensemble.columns import read_places
from swelltree.jit.ensemble.lane_rows import LaneRowWriter
from swelltree.jit.ensemble.programs import Cases, ManyProgram, PerCase, room_for_results
from swelltree.jit.ensemble.rows import adjacent, inputs_of, packed_cases, taken_apart
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
from swelltree.jit.ensemble.waves.lane_sums import LaneSums, LaneWaves
from swelltree.jit.ensemble.written import GeneratedKernel, Place, Text
from swelltree.jit.graph import MAX_EXPRESSIONS, Graph
from swelltree.jit.native import Native, lane_width, object_code
from swelltree.jit.rows.loops import Axes
from swelltree.jit.trees import leaves_of

# --- Samples of the cases of one register, summed up where they are


@functools.lru_cache(maxsize=16)
def _native(text: str, rows: int) -> Native:
    return Native(object_code(text), pointers=rows + 1)


class LaneSeries:
    """Samples of all channels of some cases, chunk after chunk.

    Args:
        places: of the channels in the results of a chunk.
        chunks: how many.
        width: lanes.
        wanted: what is kept.
    """

    def __init__(self, places: list[Place], chunks: int, width: int, requested: Requested) -> None:
        self.places, self.width, self.requested = places, width, requested
        self.samples = len(requested.shares)
        self.sizes = [int(np.prod(shape[1:], dtype=int)) for _, shape, _ in places]
        self.memory = [
            np.empty((chunks * shape[0] * size, width))
            for (_, shape, _), size in zip(places, self.sizes, strict=True)
        ]

    def of_channel(self, k: int) -> Retained:
        """What is kept of a channel, lanes first; its samples are lost."""
        requested, width, size = self.requested, self.width, self.sizes[k]
        sizes = [size, len(self.memory[k]), requested.first, self.samples]
        shares = np.ascontiguousarray(requested.shares)
        statistics = self._found(
            statistics_text(False, True, width), k, len(STATISTICS), sizes, size, shares
        )
        peaks = damage = None
        if requested.peaks:
            text = peaks_text(requested.peaks, False, True, width)
            found = self._found(text, k, 2 * requested.peaks, sizes, size * width)
            peaks = peaks_of_cells(found.reshape(width, size, 2, requested.peaks))
        if requested.exponents:
            text = damage_text(requested.exponents, False, True, width)
            damage = self._found(text, k, 1 + len(requested.exponents), sizes, size * width)
        return Retained(statistics, peaks, damage)

    def _found(
        self, text: str, k: int, count: int, sizes: list[int], threads: int, *more: np.ndarray
    ) -> np.ndarray:
        """Numbers of each entry of a channel, (lane, entry, number)."""
        out = np.empty((self.sizes[k], count, self.width))
        rows = (self.memory[k], *more, out)
        _native(text, len(rows))(*rows, np.array([*sizes, threads], np.int64))
        return out.transpose(2, 0, 1)

    def budget(self, rows: list[int]) -> np.ndarray:
        """Extremes of the energy budget, (lane, number).

        Args:
            rows: its samples by their number among all, in the order of `summaries.BUDGET`.
        """
        out = np.empty((len(EXTREMES), self.width))
        memory = [self.memory[k] for k in rows]
        text = extremes_text(False, True, self.width)
        sizes = np.array([len(memory[0]), self.samples, 1], np.int64)
        _native(text, len(rows) + 1)(*memory, out, sizes)
        return out.T


MOST_WITH_ROWS = 120_000  # expressions, as of single runs of the two-step scheme


@dataclass(frozen=True)
class LaneLoads:
    """Loads of waves that are summed for each chunk of times.

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


class LaneProgram(ManyProgram):
    """A stepper of many cases on this processor.

    Args:
        function: as of `ManyProgram`.
        width: cases in parallel (SIMD lanes); as many as registers hold if not given.
        rows: as of `ManyProgram`.
    """

    def __init__(
        self,
        function: Callable[..., Tree],
        width: int | None = None,
        rows: Callable[..., Axes] | None = None,
    ) -> None:
        self.width = lane_width() if width is None else width
        # loops over rows make programs of many bodies long
        most = MAX_EXPRESSIONS if rows is None else MOST_WITH_ROWS
        super().__init__(function, rows, most)

    @property
    def manner(self) -> tuple[object, ...]:
        """Lanes, and how many."""
        return "lanes", self.width

    def write(self, graph: Graph) -> Text:
        """Text of a graph."""
        writer = LaneRowWriter(graph, self.width)
        return Text(writer.function(), read_places(graph, writer.live))

    def run(
        self,
        cases: Cases,
        chunks: Sequence[np.ndarray],
        threads: int | None = None,
        loads: LaneLoads | None = None,
    ) -> tuple[Tree, Tree]:
        """State after the last chunk, and results with axes of cases and times before theirs.

        Args:
            cases: to run.
            chunks: of times, all of one length.
            threads: that work; as many as there are cores if not given.
            loads: that are made on the way.
        """
        program = self.needed(cases, chunks[0])
        outs = room_for_results(program, cases, chunks)
        registers = _Registers(program, self.width, cases, list(chunks), loads)
        n = registers.n_state

        def one(first: int) -> None:
            count = min(self.width, cases.count - first)
            memory = registers.room()
            out = registers.run(first, memory)
            registers.take_state(first, out, outs[:n])
            for array, place, rows in zip(outs[n:], program.outs[n:], memory, strict=True):
                full = (0, array.shape[1:], place[2])
                array[first : first + count] = taken_apart(rows, full, count)

        _on_cores(one, range(0, cases.count, self.width), threads)
        return program.tree.unflatten(outs)

    def summaries(
        self,
        cases: Cases,
        chunks: Sequence[np.ndarray],
        requested: Requested,
        threads: int | None = None,
        loads: LaneLoads | None = None,
    ) -> tuple[Tree, tuple[dict[str, Retained], np.ndarray]]:
        """State after the last chunk, and summaries of the results, as of `GpuProgram`.

        Args:
            cases: to run.
            chunks: of times, all of one length.
            wanted: what is kept.
            threads: that work; as many as there are cores if not given.
            loads: that are made on the way.
        """
        program = self.needed(cases, chunks[0])
        registers = _Registers(program, self.width, cases, list(chunks), loads)
        n = registers.n_state
        state = [np.empty((cases.count, *x[1]), x[2]) for x in program.outs[:n]]
        numbers = range(len(program.outs) - n)
        names = program.tree.unflatten([*state, *numbers])[1]
        found: dict[int, tuple[dict[str, Retained], np.ndarray]] = {}

        def one(first: int) -> None:
            series = LaneSeries(program.outs[n:], len(chunks), self.width, requested)
            registers.take_state(first, registers.run(first, series.memory), state)
            budget = series.budget([names[1][name] for name in BUDGET])
            found[first] = {name: series.of_channel(k) for name, k in names[0].items()}, budget

        firsts = range(0, cases.count, self.width)
        _on_cores(one, firsts, threads)
        parts = [found[first] for first in firsts]
        channels = {
            name: Retained(
                *map(_joined(cases.count), zip(*(part[0][name] for part in parts), strict=True))
            )
            for name in names[0]
        }
        budget = np.concatenate([part[1] for part in parts])[: cases.count]
        tree = program.tree.unflatten([*state, *numbers])
        return tree[0], (channels, budget)


def _joined(count: int) -> Callable[[Sequence[Any]], Any]:
    """Function that puts the numbers of all registers into one array, where there are any."""
    return lambda rows: None if rows[0] is None else np.concatenate(rows)[:count]


def _on_cores(one: Callable[[int], None], firsts: range, threads: int | None) -> None:
    """Registers, by the number of their first case, on all cores."""
    workers = min(len(firsts), threads or cores())
    if workers <= 1:
        for first in firsts:
            one(first)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, firsts))


class _Registers:
    """Runs the cases of one register after those of another."""

    def __init__(
        self,
        program: GeneratedKernel,
        width: int,
        cases: Cases,
        chunks: list[np.ndarray],
        loads: LaneLoads | None,
    ) -> None:
        if "native" not in program.loaded:
            program.loaded["native"] = Native(object_code(program.text), pointers=5)
        self.program, self.native, self.width = program, program.loaded["native"], width
        self.count, self.chunks, self.loads = cases.count, chunks, loads
        self.fixed, self.shared, self.per_case = packed_cases(program, cases)
        self.n_state = len(leaves_of(cases.state))
        self.inputs = np.stack([inputs_of(self.shared, chunk) for chunk in chunks])
        self.begins = np.array([float(np.ravel(chunk)[0]) for chunk in chunks])
        if loads is not None:
            own = [x for x in leaves_of(cases.fixed) if isinstance(x, PerCase)]
            self.force, self.rate = (
                next(k for k, x in enumerate(own) if x is built)
                for built in (loads.force, loads.rate)
            )
            for k in (self.force, self.rate):
                self.per_case[k] = None  # made for each chunk

    def room(self) -> list[np.ndarray]:
        """Memory for the results of a register (place, lane), chunk after chunk."""
        sizes = [
            int(np.prod(shape, dtype=int)) for _, shape, _ in self.program.outs[self.n_state :]
        ]
        return [np.empty((len(self.chunks) * size, self.width)) for size in sizes]

    def run(self, first: int, memory: list[np.ndarray]) -> np.ndarray:
        """All chunks of some cases; lanes without a case repeat the last.

        Args:
            first: of the cases.
            memory: that results go to, one after the other, as of `room`.

        Returns what the last chunk has given (place, lane).
        """
        program, width = self.program, self.width
        count = min(width, self.count - first)
        _, n_out, n_work = program.sizes
        rows = adjacent(program, self.per_case, range(first, first + count), width)
        out, work = np.empty((n_out, width)), np.empty((n_work, width))
        copies = []
        for (at, shape, _), into in zip(program.outs[self.n_state :], memory, strict=True):
            size = int(np.prod(shape, dtype=int))
            copies.append((out[at : at + size], into, 8 * size * width))
        # the state at the end of a chunk is that at the beginning of the next
        for (start, shape, _), (at, _, _) in zip(
            program.per_case[-self.n_state :], program.outs[: self.n_state], strict=True
        ):
            size = int(np.prod(shape, dtype=int))
            copies.append((out[at : at + size], rows[start : start + size], 0))
        stepped = {"fixed": self.fixed, "rows": rows, "out": out, "work": work}
        if self.loads is None:
            self._through(0, len(self.chunks), stepped, None, copies)
            return out
        lanes = [first + min(k, count - 1) for k in range(width)]
        columns = program.columns(self.force, self.rate)
        sums = LaneSums(self.loads.waves, lanes, self.loads.longest, columns)
        force, rate = (program.per_case[k][0] for k in (self.force, self.rate))
        growing = int(sums.grows(self.begins).sum())
        for number in range(growing):
            sums.fill(float(self.begins[number]), rows, force, rate)
            self._through(number, number + 1, stepped, None, copies)
        summed = sums.native, sums.memory(self.begins[growing:], rows, force, rate)
        self._through(growing, len(self.chunks), stepped, summed, copies)
        return out

    def _through(self, first: int, end: int, stepped: Any, sums: Any, copies: Any) -> None:
        """Some of the chunks."""
        moved = [(a, b[first * (by // (8 * self.width)) :] if by else b, by) for a, b, by in copies]
        inputs = {"inputs": self.inputs[first:end]}
        go_through(end - first, self.native, stepped | inputs, sums, moved)

    def take_state(self, first: int, out: np.ndarray, into: list[np.ndarray]) -> None:
        """The state at the end of a chunk."""
        count = min(self.width, self.count - first)
        for array, place in zip(into, self.program.outs, strict=False):
            array[first : first + count] = taken_apart(out, place, count)
