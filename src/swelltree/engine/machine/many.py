"""A stepper of JAX for many cases at once: several in each register, registers on all cores.

Some arguments are shared by all cases, others are a case's own and have an axis of cases before
their others. What a case gives does not depend on the cases beside it: which arguments are shared
is said by the caller, and nothing is built into the program from what is a case's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from swelltree.engine.backend import jax
from swelltree.engine.machine.flatten import Flattening, count_numbers
from swelltree.engine.machine.graph import NotFlattenedError, kind_of
from swelltree.engine.machine.lanes import LaneWriter
from swelltree.engine.machine.native import Native, lane_width, object_code
from swelltree.engine.machine.program import (
    LARGEST,
    Key,
    Writing,
    packed,
    pattern_of,
    switched_off,
    with_tables,
)

KEPT = 8  # programs of one function
PIECE = 2048  # numbers of a case that are put beside those of others at a time
Place = tuple[int, tuple[int, ...], Any]  # where an array begins, its shape and type


@dataclass(frozen=True)
class Own:
    """One array of each case, in place of an array that all share."""

    arrays: list[np.ndarray]

    @property
    def one(self) -> np.ndarray:
        """That of the first."""
        return np.asarray(self.arrays[0])


class Cases(NamedTuple):
    """What many cases start from.

    Args:
        fixed: tree of arrays; the zeros and ones of those that are shared shape the program. In
            place of an array that is a case's own stands an `Own`.
        shared: tree of arrays that all cases share.
        state: tree of arrays, all with an axis of cases first.
        count: of cases.
    """

    fixed: Any
    shared: Any
    state: Any
    count: int


@dataclass
class Written:
    """Text of a program of many cases, and where its numbers lie.

    Args:
        text: in LLVM's language.
        tables: large constants, behind the fixed numbers.
        turns: matrices that follow transposed.
        own: places of what is a case's own, the state last.
        outs: places of the results, the state first.
        sizes: numbers of a case's own, of the results and of working memory.
        tree: of the results.
    """

    text: str
    tables: list[np.ndarray]
    turns: list[tuple[int, tuple[int, ...]]]
    own: list[Place]
    outs: list[Place]
    sizes: tuple[int, int, int]
    tree: Any
    native: Native | None = None


class ManyProgram:
    """A stepper of many cases.

    Args:
        function: ``function(fixed, shared, state, times) -> (state, results)`` of one case.
        width: cases side by side; as many as registers hold if not given.
    """

    def __init__(self, function: Callable[..., Any], width: int | None = None) -> None:
        self.function = function
        self.width = lane_width() if width is None else width
        self.programs: dict[Any, Written | str] = {}

    def refusal(self, cases: Cases, times: np.ndarray) -> str:
        """Why such cases cannot run side by side; empty where they can."""
        program = self.program(cases, times)
        return program if isinstance(program, str) else ""

    def run(
        self, cases: Cases, chunks: Sequence[np.ndarray], threads: int | None = None
    ) -> tuple[Any, Any]:
        """State after the last chunk, and results with axes of cases and times before theirs.

        Args:
            cases: to run.
            chunks: of times, all of one length.
            threads: that work; as many as there are cores if not given.
        """
        program = self.program(cases, chunks[0])
        if isinstance(program, str):
            raise NotFlattenedError(program)
        outs = _room(program, cases, chunks)
        blocks = _Blocks(program, self.width, cases, list(chunks), outs)
        firsts = range(0, cases.count, self.width)
        workers = min(len(firsts), threads or os.cpu_count() or 1)
        if workers <= 1:
            for first in firsts:
                blocks.run(first)
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(blocks.run, firsts))
        return jax.tree.unflatten(program.tree, outs)

    def program(self, cases: Cases, times: np.ndarray) -> Written | str:
        """The program of such cases, or why there is none."""
        refused = switched_off()
        if refused:
            return refused
        fixed, tree = jax.tree.flatten(cases.fixed)
        rest, rest_tree = jax.tree.flatten((cases.shared, cases.state, times))
        try:
            key = Key(
                (tree, rest_tree),
                tuple((np.shape(x), kind_of(np.asarray(x).dtype)) for x in rest),
                tuple(map(_of_one, fixed)),
            )
            if key not in self.programs:
                while len(self.programs) >= KEPT:
                    self.programs.pop(next(iter(self.programs)))
                self.programs[key] = self._written(cases, times)
        except NotFlattenedError as error:
            return str(error)
        return self.programs[key]

    def _written(self, cases: Cases, times: np.ndarray) -> Written | str:
        fixed, tree = jax.tree.flatten(cases.fixed)
        one = [x.one if isinstance(x, Own) else x for x in fixed]
        state = jax.tree.map(lambda x: x[0], cases.state)
        try:
            traced = jax.jit(self.function).trace(
                jax.tree.unflatten(tree, one), cases.shared, state, times
            )
            closed = traced.jaxpr
            count = count_numbers(closed.jaxpr)
            if count > LARGEST:
                raise NotFlattenedError(f"{count} numbers, more than {LARGEST}")
            writing = Writing()
            own: list[Place] = []

            def argument(where: str, x: Any, shapes_program: bool = False) -> Any:
                value = writing.argument(where, x, shapes_program)
                if where == "lanes":
                    own.append((value.buffer.start, np.shape(x), np.asarray(x).dtype))
                return value

            inputs = [
                argument("lanes", x.one) if isinstance(x, Own) else argument("fixed", x, True)
                for x in fixed
            ]
            inputs += [argument("in", x) for x in jax.tree.leaves(cases.shared)]
            inputs += [argument("lanes", x) for x in jax.tree.leaves(state)]
            inputs.append(argument("in", times))
            flat = Flattening(writing.graph, writing.table)
            outs = flat.run(closed.jaxpr, closed.consts, inputs)
            places = writing.results(outs, [var.aval for var in closed.jaxpr.outvars])
            turns = writing.turns()
            text = LaneWriter(writing.graph, self.width).function()
        except NotFlattenedError as error:
            return str(error)
        sizes = writing.numbers["lanes"], writing.numbers["out"], writing.graph.work
        tree = jax.tree.structure(traced.out_info)
        return Written(text, writing.tables, turns, own, places, sizes, tree)


def _of_one(x: Any) -> tuple[Any, ...]:
    """What shapes the program of an array of the fixed argument."""
    if isinstance(x, Own):
        return "own", x.one.shape, kind_of(x.one.dtype)
    x = np.asarray(x)
    return x.shape, kind_of(x.dtype), pattern_of(x).tobytes()


def _room(program: Written, cases: Cases, chunks: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Arrays of the results of all cases and chunks; of the state only the last."""
    n_state = len(jax.tree.leaves(cases.state))
    outs = [np.empty((cases.count, *shape), dtype) for _, shape, dtype in program.outs[:n_state]]
    for _, shape, dtype in program.outs[n_state:]:
        outs.append(np.empty((cases.count, len(chunks) * shape[0], *shape[1:]), dtype))
    return outs


class _Blocks:
    """Runs cases of one register after the other."""

    def __init__(
        self,
        program: Written,
        width: int,
        cases: Cases,
        chunks: list[np.ndarray],
        outs: list[np.ndarray],
    ) -> None:
        if program.native is None:
            program.native = Native(object_code(program.text), pointers=5)
        self.program, self.native, self.width = program, program.native, width
        self.count, self.chunks, self.outs = cases.count, chunks, outs
        leaves = jax.tree.leaves(cases.fixed)
        fixed = packed([x for x in leaves if not isinstance(x, Own)])
        self.fixed = with_tables(fixed, program.tables, program.turns)
        states = jax.tree.leaves(cases.state)
        self.n_state = len(states)
        self.own: list[Any] = [x.arrays for x in leaves if isinstance(x, Own)]
        self.own += [np.asarray(x) for x in states]
        self.shared = jax.tree.leaves(cases.shared)

    def run(self, first: int) -> None:
        """Cases of one register; lanes without a case repeat the last."""
        program, width = self.program, self.width
        count = min(width, self.count - first)
        n_own, n_out, n_work = program.sizes
        rows = np.empty((n_own, width))
        for (start, shape, _), x in zip(program.own, self.own, strict=True):
            flat = [_eight_bytes(np.asarray(x[first + min(k, count - 1)])) for k in range(width)]
            size = int(np.prod(shape, dtype=int))
            for at in range(0, size, PIECE):  # piece by piece, so that all lanes stay at hand
                end = min(at + PIECE, size)
                into = rows[start + at : start + end]
                for lane, numbers in enumerate(flat):
                    into[:, lane] = numbers[at:end]
        out, work = np.empty((n_out, width)), np.empty((n_work, width))
        for number, chunk in enumerate(self.chunks):
            self.native(self.fixed, packed([*self.shared, chunk]), rows, out, work)
            results = zip(self.outs[self.n_state :], program.outs[self.n_state :], strict=True)
            for array, place in results:
                found = _unpacked(out, place, count)
                begin = number * place[1][0]
                array[first : first + count, begin : begin + place[1][0]] = found
            # the state at the end of a chunk is that at the beginning of the next
            for (start, shape, _), (at, _, _) in zip(
                program.own[-self.n_state :], program.outs[: self.n_state], strict=True
            ):
                size = int(np.prod(shape, dtype=int))
                rows[start : start + size] = out[at : at + size]
        for array, place in zip(
            self.outs[: self.n_state], program.outs[: self.n_state], strict=True
        ):
            array[first : first + count] = _unpacked(out, place, count)


def _unpacked(out: np.ndarray, place: Place, count: int) -> np.ndarray:
    start, shape, dtype = place
    part = np.ascontiguousarray(out[start : start + int(np.prod(shape, dtype=int)), :count].T)
    if dtype != np.float64:
        part = part.view(np.int64).astype(dtype)
    return part.reshape(count, *shape)


def _eight_bytes(x: np.ndarray) -> np.ndarray:
    x = x.reshape(-1)
    return x if x.dtype == np.float64 else x.astype(np.int64).view(np.float64)
