"""A stepper of JAX for many cases at once, traced and written.

Some arguments are shared by all cases, others are a case's own. What a case gives does not depend
on the cases beside it: which arguments are shared is said by the caller, and nothing is built into
the program from what is a case's own. `lane_runs` runs such programs on the CPU, `gpu_runs` on a
graphics processor.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jax
from swelltree.engine.machine.flatten import NONE, Flattening, count_numbers
from swelltree.engine.machine.graph import MOST, Graph, NotFlattenedError, kind_of
from swelltree.engine.machine.many_cases.columns import Read, columns_read
from swelltree.engine.machine.program import Key, Writing, pattern_of, switched_off
from swelltree.engine.machine.rows.loops import Axes
from swelltree.engine.machine.traced_types import DType
from swelltree.engine.machine.values import Value
from swelltree.engine.trees import Form

# numbers of a program, counted before it is written: more than of single runs, because many cases
# earn the time back; `graph.MOST` expressions are the limit that is met
LARGEST = 200_000
KEPT = 8  # programs of one function
Place = tuple[int, tuple[int, ...], DType]  # where an array begins, its shape and type


@dataclass(frozen=True)
class Own:
    """An array of each case, in a list or as rows of one, in place of an array that all share."""

    arrays: list[np.ndarray] | np.ndarray

    @property
    def one(self) -> np.ndarray:
        """That of the first."""
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


class Text(NamedTuple):
    """A program in LLVM's language.

    Args:
        text: of it.
        read: what it reads of a case's own tables.
        constants: by the name of memory of its own, places of the fixed numbers that are put there.
    """

    text: str
    read: Read
    constants: dict[str, tuple[int, ...]] = {}  # noqa: RUF012


@dataclass
class Written:
    """Text of a program of many cases, and where its numbers lie.

    Args:
        text: in LLVM's language.
        read: as of `Text`.
        constants: the same.
        tables: large constants, behind the fixed numbers.
        turns: matrices that follow transposed.
        per_case: places of what is a case's own, the state last.
        outs: places of the results, the state first.
        sizes: numbers of a case's own, of the results and of working memory.
        tree: of the results.
    """

    text: str
    read: Read
    constants: dict[str, tuple[int, ...]]
    tables: list[np.ndarray]
    turns: list[tuple[int, tuple[int, ...]]]
    per_case: list[Place]
    outs: list[Place]
    sizes: tuple[int, int, int]
    tree: Form
    loaded: dict[str, Any] = field(default_factory=dict)  # what ran it keeps here

    def columns(self, *tables: int) -> tuple[int, ...]:
        """Columns that are read of any of some tables, by their numbers in `own`; one at least."""
        found = set()
        for k in tables:
            start, shape, _ = self.per_case[k]
            found |= set(columns_read(self.read, start, shape[-1]))
        return tuple(sorted(found)) or (0,)


class ManyProgram:
    """A stepper of many cases.

    Args:
        function: ``function(fixed, shared, state, times) -> (state, results)`` of one case.
        write: text of a graph.
        rows: gives, for the arguments of one case, lengths of the first axes of arrays whose rows
            are computed in loops, as of `Program`.
        most: expressions that it may have.
    """

    def __init__(
        self,
        function: Callable[..., Tree],
        write: Callable[[Graph], Text],
        rows: Callable[..., Axes] | None = None,
        most: int = MOST,
    ) -> None:
        self.function, self.write, self.rows, self.most = function, write, rows, most
        self.programs: dict[Hashable, Written | str] = {}

    def refusal(self, cases: Cases, times: np.ndarray) -> str:
        """Why such cases cannot run side by side; empty where they can."""
        program = self.program(cases, times)
        return program if isinstance(program, str) else ""

    def needed(self, cases: Cases, times: np.ndarray) -> Written:
        """The program of such cases; an error if there is none."""
        program = self.program(cases, times)
        if isinstance(program, str):
            raise NotFlattenedError(program)
        return program

    def program(self, cases: Cases, times: np.ndarray) -> Written | str:
        """The program of such cases, or why there is none."""
        refused = switched_off()
        if refused:
            return refused
        fixed, tree = jax.tree.flatten(cases.fixed)
        rest, rest_tree = jax.tree.flatten((cases.shared, times))
        states, state_tree = jax.tree.flatten(cases.state)
        try:
            key = Key(
                (tree, rest_tree, state_tree),
                tuple((np.shape(x), kind_of(np.asarray(x).dtype)) for x in rest),
                tuple((np.shape(x)[1:], kind_of(x.dtype)) for x in states),
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
            given = jax.tree.unflatten(tree, one), cases.shared, state, times
            traced = jax.jit(self.function).trace(*given)
            closed = traced.jaxpr
            named = NONE if self.rows is None else self.rows(*given)
            count = count_numbers(closed.jaxpr, named)
            if count > LARGEST:
                raise NotFlattenedError(f"{count} numbers, more than {LARGEST}")
            writing = Writing(self.most)
            per_case: list[Place] = []

            def argument(where: str, x: Array, shapes_program: bool = False) -> Value:
                value = writing.argument(where, x, shapes_program)
                if where == "lanes":
                    per_case.append((value.buffer.start, np.shape(x), np.asarray(x).dtype))
                return value

            inputs = [
                argument("lanes", x.one) if isinstance(x, Own) else argument("fixed", x, True)
                for x in fixed
            ]
            inputs += [argument("in", x) for x in jax.tree.leaves(cases.shared)]
            inputs += [argument("lanes", x) for x in jax.tree.leaves(state)]
            inputs.append(argument("in", times))
            flat = Flattening(writing.graph, writing.table, named)
            flat.rows.width = 1  # registers hold cases, not rows
            outs = flat.run(closed.jaxpr, closed.consts, inputs)
            places = writing.results(outs, [var.aval for var in closed.jaxpr.outvars])
            turns = writing.turns()
            text = self.write(writing.graph)
        except NotFlattenedError as error:
            return str(error)
        sizes = writing.numbers["lanes"], writing.numbers["out"], writing.graph.work
        tree = jax.tree.structure(traced.out_info)
        return Written(*text, writing.tables, turns, per_case, places, sizes, tree)


def _of_one(x: Array) -> tuple[Hashable, ...]:
    """What shapes the program of an array of the fixed argument."""
    if isinstance(x, Own):
        return "own", x.one.shape, kind_of(x.one.dtype)
    x = np.asarray(x)
    return x.shape, kind_of(x.dtype), pattern_of(x).tobytes()


def room_for_results(
    program: Written, cases: Cases, chunks: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Arrays of the results of all cases and chunks; of the state only the last."""
    n_state = len(jax.tree.leaves(cases.state))
    outs = [np.empty((cases.count, *shape), dtype) for _, shape, dtype in program.outs[:n_state]]
    for _, shape, dtype in program.outs[n_state:]:
        outs.append(np.empty((cases.count, len(chunks) * shape[0], *shape[1:]), dtype))
    return outs
