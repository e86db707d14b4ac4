"""Ensembles on the CPU: a case in each SIMD lane, groups of lanes on all cores."""

from __future__ import annotations

import functools
import itertools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from swelltree.jit.arrays import Tree
from swelltree.jit.ensemble.lanes import LaneWriter
from swelltree.jit.ensemble.programs import (
    Cases,
    Kernel,
    ManyProgram,
    PerCase,
    Text,
    read_places,
    room_for_results,
    room_for_state,
)
from swelltree.jit.ensemble.rows import adjacent, inputs_of, packed_cases, taken_apart
from swelltree.jit.graph import MAX_EXPRESSIONS, Graph
from swelltree.jit.native import Native, cores, lane_width, object_code
from swelltree.jit.rows.loops import Axes

# Native calls in a loop: functions whose pointers advance, and copies of what they have stored.
#
# An ensemble goes through its calls without returning to Python between them, so that the
# threads of many cores do not wait for the interpreter.


class Call(NamedTuple):
    """A native function and its pointers, each with its advance per call [bytes]."""

    function: Native
    pointers: list[tuple[np.ndarray, int]]


class Copy(NamedTuple):
    """Memory that is copied after each round; `target` advances by `stride` bytes."""

    source: np.ndarray
    target: np.ndarray
    stride: int


def loop_text(pointers: tuple[int, ...], copies: int) -> str:
    """LLVM IR of ``run(ptr table)`` for functions with so many pointers each, and so many copies.

    The table holds integers: the number of rounds; for each function its address and a pair
    (address, bytes further) per pointer; then (to, bytes further, from, bytes) per copy.
    """
    lines, slots = list[str](), itertools.count(1)

    def loaded(kind: str) -> str:
        at = next(slots)
        lines.append(f"  %s{at} = getelementptr i64, ptr %table, i64 {at}")
        lines.append(f"  %v{at} = load {kind}, ptr %s{at}")
        return f"%v{at}"

    def advanced() -> str:
        first, stride = loaded("ptr"), loaded("i64")
        lines.append(f"  {first}.by = mul i64 %round, {stride}")
        lines.append(f"  {first}.now = getelementptr i8, ptr {first}, i64 {first}.by")
        return f"ptr {first}.now"

    for count in pointers:
        function = loaded("ptr")
        lines.append(f"  call void {function}({', '.join(advanced() for _ in range(count))})")
    for _ in range(copies):
        both = f"{advanced()}, ptr {loaded('ptr')}"
        size = f"i64 {loaded('i64')}, i1 false"
        lines.append(f"  call void @llvm.memcpy.p0.p0.i64({both}, {size})")
    body = "\n".join(lines)
    return f"""
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @run(ptr %table) nounwind {{
entry:
  %rounds = load i64, ptr %table
  br label %next
next:
  %round = phi i64 [ 0, %entry ], [ %more, %call ]
  %on = icmp slt i64 %round, %rounds
  br i1 %on, label %call, label %end
call:
{body}
  %more = add i64 %round, 1
  br label %next
end:
  ret void
}}
"""


@functools.lru_cache(maxsize=32)
def _loop(pointers: tuple[int, ...], copies: int) -> Native:
    return Native(object_code(loop_text(pointers, copies)), pointers=1)


def repeat(rounds: int, calls: list[Call], copies: list[Copy]) -> None:
    """Call functions in sequence and copy, `rounds` times."""
    table = [rounds]
    for call in calls:
        table.append(call.function.address)
        table += [x for a, stride in call.pointers for x in (a.ctypes.data, stride)]
    for source, target, stride in copies:
        table += [target.ctypes.data, stride, source.ctypes.data, source.nbytes]
    loop = _loop(tuple(len(call.pointers) for call in calls), len(copies))
    loop(np.array(table, np.int64))


R = TypeVar("R")
MOST_WITH_ROWS = 120_000  # expressions of programs with loops over rows, which are longer


class Samples(NamedTuple):
    """An array that all calls have returned, in the memory of the target.

    Args:
        memory: (call, entry) of each case: on the CPU an array (..., lane), else device memory.
        entries: scalars of one row of the array.
        shape: of the array that one call returns.
    """

    memory: Tree
    entries: int
    shape: tuple[int, ...]


class LaneFiller(Protocol):
    """Kernel of the caller that computes arguments of a group of lanes before each call."""

    native: Native

    def pointers(
        self, begins: np.ndarray, lanes: np.ndarray, starts: list[int]
    ) -> list[tuple[np.ndarray, int]]:
        """Its memory and the advance of each pointer [bytes] for calls that begin so."""
        ...

    def needs_python(self, begins: np.ndarray) -> np.ndarray:
        """The first calls, for which `fill` is used instead of the kernel."""
        ...

    def fill(self, begin: float, lanes: np.ndarray, starts: list[int]) -> None:
        """Compute the arguments of one call (offset, lane), at `starts`."""
        ...


class LaneInputs(Protocol):
    """Arguments of a case that a kernel computes before each call."""

    @property
    def arguments(self) -> tuple[PerCase, ...]: ...

    @abstractmethod
    def of_lanes(self, cases: Sequence[int], columns: tuple[int, ...]) -> LaneFiller:
        """The kernel for some cases; only these columns of the last axis are read."""


class LaneProgram(ManyProgram):
    """An ensemble in SIMD lanes.

    Args:
        function: as of `ManyProgram`.
        width: lanes; those of the processor if not given.
        rows: as of `ManyProgram`.
    """

    def __init__(
        self,
        function: Callable[..., Tree],
        width: int | None = None,
        rows: Callable[..., Axes] | None = None,
    ) -> None:
        self.width = lane_width() if width is None else width
        super().__init__(function, rows, MAX_EXPRESSIONS if rows is None else MOST_WITH_ROWS)

    @property
    def manner(self) -> tuple[object, ...]:
        return "lanes", self.width

    def write(self, graph: Graph) -> Text:
        writer = LaneWriter(graph, self.width)
        return Text(writer.function(), read_places(graph, writer.live))

    def run(
        self,
        cases: Cases,
        calls: Sequence[np.ndarray],
        threads: int | None = None,
        inputs: LaneInputs | None = None,
    ) -> tuple[Tree, Tree]:
        """Final state, and results of all calls, with an axis of cases first.

        Args:
            cases: to run.
            calls: last argument of each call, all of one shape; results follow one another.
            threads: that work; as many as there are cores if not given.
            inputs: arguments that are filled before each call.
        """
        program = self.needed(cases, calls[0])
        outs = room_for_results(program, cases, calls)

        def keep(first: int, samples: list[Samples]) -> None:
            count = min(self.width, cases.count - first)
            for array, one in zip(outs, samples, strict=True):
                place = 0, array.shape[1:], array.dtype
                array[first : first + count] = taken_apart(one.memory, place, count)

        state, _ = self._reduced(cases, calls, keep, threads, inputs)
        return program.tree.unflatten([*state, *outs])

    def reduced(
        self,
        cases: Cases,
        calls: Sequence[np.ndarray],
        reduce: Callable[[Tree, int], R],
        threads: int | None = None,
        inputs: LaneInputs | None = None,
    ) -> tuple[Tree, list[R]]:
        """Final state, and a reduction of the results of each group of lanes.

        Args:
            cases: to run.
            calls: as of `run`.
            reduce: function of the tree of `Samples` of a group of lanes and of the lanes in use.
            threads: as of `run`.
            inputs: as of `run`.
        """
        program = self.needed(cases, calls[0])
        tree, n = program.tree, len(program.states)

        def one(first: int, samples: list[Samples]) -> R:
            found = tree.unflatten([*[None] * n, *samples])[1]
            return reduce(found, min(self.width, cases.count - first))

        state, parts = self._reduced(cases, calls, one, threads, inputs)
        return tree.unflatten([*state, *[None] * (tree.num_leaves - n)])[0], parts

    def _reduced(
        self,
        cases: Cases,
        calls: Sequence[np.ndarray],
        reduce: Callable[[int, list[Samples]], R],
        threads: int | None,
        inputs: LaneInputs | None,
    ) -> tuple[list[np.ndarray], list[R]]:
        program = self.needed(cases, calls[0])
        groups = _LaneGroups(program, self.width, cases, list(calls), inputs)
        state = room_for_state(program, cases)
        found: dict[int, R] = {}

        def one(first: int) -> None:
            samples = groups.samples()
            groups.take_state(first, groups.run(first, samples), state)
            found[first] = reduce(first, samples)

        firsts = range(0, cases.count, self.width)
        _on_cores(one, firsts, threads)
        return state, [found[first] for first in firsts]


def _on_cores(one: Callable[[int], None], firsts: range, threads: int | None) -> None:
    workers = min(len(firsts), threads or cores())
    if workers <= 1:
        for first in firsts:
            one(first)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, firsts))


class _LaneGroups:
    def __init__(
        self,
        program: Kernel,
        width: int,
        cases: Cases,
        calls: list[np.ndarray],
        inputs: LaneInputs | None,
    ) -> None:
        if "native" not in program.loaded:
            program.loaded["native"] = Native(object_code(program.text), pointers=5)
        self.program, self.native, self.width = program, program.loaded["native"], width
        self.count, self.calls, self.inputs = cases.count, calls, inputs
        self.fixed, shared, self.per_case = packed_cases(program, cases)
        self.shared = np.stack([inputs_of(shared, call) for call in calls])
        self.begins = np.array([float(np.ravel(call)[0]) for call in calls])
        self.filled = cases.numbers_of(() if inputs is None else inputs.arguments)
        for k in self.filled:
            self.per_case[k] = None

    def samples(self) -> list[Samples]:
        found = []
        for _, shape, _ in self.program.results:
            size = int(np.prod(shape, dtype=int))
            memory = np.empty((len(self.calls) * size, self.width))
            found.append(Samples(memory, int(np.prod(shape[1:], dtype=int)), shape))
        return found

    def run(self, first: int, samples: list[Samples]) -> np.ndarray:
        """All calls of some cases; gives what the last has returned (offset, lane).

        Lanes without a case repeat the last case.
        """
        program, width = self.program, self.width
        count = min(width, self.count - first)
        _, n_out, n_work = program.sizes
        lanes = adjacent(program, self.per_case, range(first, first + count), width)
        out, work = np.empty((n_out, width)), np.empty((n_work, width))
        results = []
        for (at, shape, _), into in zip(program.results, samples, strict=True):
            part = out[at : at + int(np.prod(shape, dtype=int))]
            results.append((part, into.memory))
        # the state that a call returns is that with which the next one begins
        back = []
        for (start, shape, _), (at, _, _) in program.back:
            size = int(np.prod(shape, dtype=int))
            back.append(Copy(out[at : at + size], lanes[start : start + size], 0))

        def through(begin: int, end: int, *before: Call) -> None:
            memory = (self.fixed, self.shared[begin:end], lanes, out, work)
            strides = (0, self.shared.strides[0], 0, 0, 0)
            call = Call(self.native, list(zip(memory, strides, strict=True)))
            copies = [Copy(a, b[begin * len(a) :], a.nbytes) for a, b in results]
            repeat(end - begin, [*before, call], [*copies, *back])

        if self.inputs is None:
            through(0, len(self.calls))
            return out
        cases = [first + min(k, count - 1) for k in range(width)]
        filler = self.inputs.of_lanes(cases, program.columns(*self.filled))
        starts = [program.per_case[k][0] for k in self.filled]
        by_python = int(filler.needs_python(self.begins).sum())
        for number in range(by_python):
            filler.fill(float(self.begins[number]), lanes, starts)
            through(number, number + 1)
        fill = Call(filler.native, filler.pointers(self.begins[by_python:], lanes, starts))
        through(by_python, len(self.calls), fill)
        return out

    def take_state(self, first: int, out: np.ndarray, into: list[np.ndarray]) -> None:
        count = min(self.width, self.count - first)
        for array, place in zip(into, self.program.outs, strict=False):
            array[first : first + count] = taken_apart(out, place, count)
