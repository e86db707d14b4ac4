"""A stepper of JAX for many cases at once, traced and written.

Some arguments are shared by all cases, others are a case's own. What a case gives does not depend
on the cases beside it: which arguments are shared is said by the caller, and nothing is built into
the program from what is a case's own. `lane_runs` runs such programs on the CPU, `gpu_runs` on a
GPU.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from swelltree.jit.arrays import Array, Tree
from swelltree.jit.backend import jax
from swelltree.jit.ensemble.written import (
    GeneratedKernel,
    Place,
    Text,
    read_program,
    write_program,
)
from swelltree.jit.entries import Entry, entry_of
from swelltree.jit.graph import MAX_EXPRESSIONS, Graph, UnsupportedOperationError, kind_of
from swelltree.jit.lazy_import import is_imported
from swelltree.jit.lowering import NONE, Lowering, count_numbers
from swelltree.jit.program import KernelBuilder, Key, pattern_of, switched_off
from swelltree.jit.rows.loops import Axes
from swelltree.jit.trees import flatten, leaves_of, mapped, structure_of
from swelltree.jit.values import Value

# numbers of a program, counted before it is written: more than of single runs, because many cases
# earn the time back; `graph.MOST` expressions are the limit that is met
MAX_NUMBERS = 200_000
CACHE_SIZE = 8  # programs of one function


@dataclass(frozen=True)
class PerCase:
    """An array of each case, in a list or as rows of one, in place of an array that all share."""

    arrays: list[np.ndarray] | np.ndarray

    @property
    def one(self) -> np.ndarray:
        return np.asarray(self.arrays[0])


@dataclass(frozen=True)
class Cases:
    """What many cases start from.

    Args:
        fixed: tree of arrays; the zeros and ones of those that are shared shape the program. In
            place of an array that is a case's own stands an `Own`.
        shared: tree of arrays that all cases share.
        state: tree of arrays, all with an axis of cases first.
        count: of cases.
    """

    fixed: Tree
    shared: Tree
    state: Tree
    count: int


class ManyProgram(ABC):
    """A stepper of many cases, from the disk where it was made before.

    Args:
        function: ``function(fixed, shared, state, times) -> (state, results)`` of one case.
        rows: gives, for the arguments of one case, lengths of the first axes of arrays whose rows
            are computed in loops, as of `Program`.
        most: expressions that it may have.
    """

    def __init__(
        self,
        function: Callable[..., Tree],
        rows: Callable[..., Axes] | None = None,
        most: int = MAX_EXPRESSIONS,
    ) -> None:
        self.function, self.rows, self.most = function, rows, most
        self.programs: dict[Hashable, GeneratedKernel | str] = {}

    @property
    @abstractmethod
    def manner(self) -> tuple[object, ...]:
        """What shapes the text of a graph, in words and numbers."""

    @abstractmethod
    def write(self, graph: Graph) -> Text:
        """Text of a graph."""

    def unsupported_reason(self, cases: Cases, times: np.ndarray) -> str:
        """Why such cases cannot run in parallel; empty where they can."""
        program = self.program(cases, times)
        return program if isinstance(program, str) else ""

    def needed(self, cases: Cases, times: np.ndarray) -> GeneratedKernel:
        """The program of such cases; an error if there is none."""
        program = self.program(cases, times)
        if isinstance(program, str):
            raise UnsupportedOperationError(program)
        return program

    def program(self, cases: Cases, times: np.ndarray) -> GeneratedKernel | str:
        """The program of such cases, or why there is none."""
        refused = switched_off()
        if refused:
            return refused
        fixed, tree = flatten(cases.fixed)
        rest, rest_tree = flatten((cases.shared, times))
        states, state_tree = flatten(cases.state)
        try:
            shapes = (
                tuple((np.shape(x), kind_of(np.asarray(x).dtype)) for x in rest),
                tuple((np.shape(x)[1:], kind_of(x.dtype)) for x in states),
                tuple(map(_of_one, fixed)),
            )
        except UnsupportedOperationError as error:
            return str(error)
        # structures have other words once JAX is imported
        key = Key(is_imported("jax"), *shapes, (tree, rest_tree, state_tree))
        if key not in self.programs:
            while len(self.programs) >= CACHE_SIZE:
                self.programs.pop(next(iter(self.programs)))
            self.programs[key] = self._known_or_written(cases, times, shapes)
        return self.programs[key]

    def _known_or_written(
        self, cases: Cases, times: np.ndarray, shapes: object
    ) -> GeneratedKernel | str:
        """The program from the disk, or made now; or why there is none."""
        state = mapped(lambda x: x[0], cases.state)
        specified = mapped(_one, cases.fixed), cases.shared, state, times
        entry = self._entry(specified, shapes)
        found = None if entry is None else read_program(entry, state)
        if found is not None:
            return found
        try:
            program = self._written(cases, specified)
        except UnsupportedOperationError as error:
            if entry is not None:
                entry.refuse(str(error))
            return str(error)
        if entry is not None:
            write_program(entry, program)
        return program

    def _entry(self, specified: tuple[Tree, ...], shapes: object) -> Entry | None:
        """The place of a program on disk; None where it has none."""
        names = "many cases", *self.manner, self.most
        return entry_of((self.function, self.rows), specified, b"", (names, shapes))

    def _written(self, cases: Cases, specified: tuple[Tree, ...]) -> GeneratedKernel:
        traced = jax.jit(self.function).trace(*specified)
        closed = traced.jaxpr
        named = NONE if self.rows is None else self.rows(*specified)
        count = count_numbers(closed.jaxpr, named)
        if count > MAX_NUMBERS:
            raise UnsupportedOperationError(f"{count} numbers, more than {MAX_NUMBERS}")
        writing = KernelBuilder(self.most)
        per_case: list[Place] = []

        def argument(where: str, x: Array, shapes_program: bool = False) -> Value:
            value = writing.argument(where, x, shapes_program)
            if where == "lanes":
                per_case.append((value.buffer.start, np.shape(x), np.asarray(x).dtype))
            return value

        _, shared, state, times = specified
        inputs = [
            argument("lanes", x.one) if isinstance(x, PerCase) else argument("fixed", x, True)
            for x in leaves_of(cases.fixed)
        ]
        inputs += [argument("in", x) for x in leaves_of(shared)]
        inputs += [argument("lanes", x) for x in leaves_of(state)]
        inputs.append(argument("in", times))
        flat = Lowering(writing.graph, writing.table, named)
        flat.rows.width = 1  # registers hold cases, not rows
        outs = flat.run(closed.jaxpr, closed.consts, inputs)
        places = writing.results(outs, [var.aval for var in closed.jaxpr.outvars])
        turns = writing.turns()
        text = self.write(writing.graph)
        sizes = writing.numbers["lanes"], writing.numbers["out"], writing.graph.work
        tree = structure_of(traced.out_info)
        return GeneratedKernel(*text, writing.tables, turns, per_case, places, sizes, tree)


def _one(x: Array) -> Array:
    return x.one if isinstance(x, PerCase) else x


def _of_one(x: Array) -> tuple[Hashable, ...]:
    if isinstance(x, PerCase):
        return "own", x.one.shape, kind_of(x.one.dtype)
    x = np.asarray(x)
    return x.shape, kind_of(x.dtype), pattern_of(x).tobytes()


def room_for_results(
    program: GeneratedKernel, cases: Cases, chunks: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Arrays of the results of all cases and chunks; of the state only the last."""
    n_state = len(leaves_of(cases.state))
    outs = [np.empty((cases.count, *shape), dtype) for _, shape, dtype in program.outs[:n_state]]
    for _, shape, dtype in program.outs[n_state:]:
        outs.append(np.empty((cases.count, len(chunks) * shape[0], *shape[1:]), dtype))
    return outs
