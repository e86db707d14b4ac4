"""Compilation of an ensemble: a stepper of one case, traced once and lowered for a target.

Some arguments are shared by all cases, others are per case (`PerCase`). Nothing that is per case is
built into the program, so results do not depend on the neighbours. `lane_runs` runs such programs
on the CPU, `gpu_runs` on a GPU.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from swelltree.jit.arrays import Array, Tree
from swelltree.jit.backend import jax
from swelltree.jit.ensemble.columns import columns_read
from swelltree.jit.entries import (
    Layout,
    Place,
    Read,
    entry_of,
    known_or_lowered,
    structure_of_words,
    words_of,
)
from swelltree.jit.graph import MAX_EXPRESSIONS, Graph, UnsupportedOperationError, kind_of
from swelltree.jit.lazy_import import is_imported
from swelltree.jit.lowering import NONE, Lowering, count_numbers
from swelltree.jit.program import KernelBuilder, Key, check_size, pattern_of, switched_off
from swelltree.jit.rows.loops import Axes
from swelltree.jit.trees import TreeDef, flatten, leaves_of, mapped, structure_of
from swelltree.jit.values import Value

CACHE_SIZE = 8  # programs of one function


class Text(NamedTuple):
    """A program in LLVM IR, with what its layout says of the target."""

    text: str
    read: Read
    constants: dict[str, tuple[int, ...]] = {}  # noqa: RUF012


class Kernel:
    """A program of an ensemble.

    Args:
        layout: with its text.
        tree: of the results, the state first.
    """

    def __init__(self, layout: Layout, tree: TreeDef) -> None:
        self.tree, self.text, self.layout = tree, layout.text, layout
        self.per_case, self.outs, self.sizes = layout.per_case, layout.outs, layout.sizes
        self.loaded: dict[str, Any] = {}  # what the target has made of it

    def columns(self, *arrays: int) -> tuple[int, ...]:
        """Columns that are read of any of some arrays per case, by their numbers; one at least."""
        found = set()
        for k in arrays:
            start, shape, _ = self.per_case[k]
            found |= set(columns_read(self.layout.read, start, shape[-1]))
        return tuple(sorted(found)) or (0,)


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

    def numbers_of(self, arguments: Sequence[PerCase]) -> list[int]:
        """Positions of some arguments among those that are per case."""
        own = [x for x in leaves_of(self.fixed) if isinstance(x, PerCase)]
        return [next(k for k, x in enumerate(own) if x is one) for one in arguments]


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
        self.programs: dict[Hashable, Kernel | str] = {}

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

    def needed(self, cases: Cases, times: np.ndarray) -> Kernel:
        """The program of such cases; an error if there is none."""
        program = self.program(cases, times)
        if isinstance(program, str):
            raise UnsupportedOperationError(program)
        return program

    def program(self, cases: Cases, times: np.ndarray) -> Kernel | str:
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
            self.programs[key] = self._known_or_lowered(cases, times, shapes)
        return self.programs[key]

    def _known_or_lowered(self, cases: Cases, times: np.ndarray, shapes: object) -> Kernel | str:
        """The program from the disk, or made now; or why there is none."""
        state = mapped(lambda x: x[0], cases.state)
        specified = mapped(_one, cases.fixed), cases.shared, state, times
        names = "many cases", *self.manner, self.most
        entry = entry_of((self.function, self.rows), specified, b"", (names, shapes))
        traced: list[TreeDef] = []

        def lower() -> Layout:
            layout, tree = self._lowered(cases, specified)
            traced.append(tree)
            return layout

        layout = known_or_lowered(entry, lower, lambda layout: layout.words is not None)
        if isinstance(layout, str):
            return layout
        if traced:
            return Kernel(layout, traced[0])
        results = structure_of_words(layout.words)
        example = results.unflatten(range(results.num_leaves))
        return Kernel(layout, structure_of((state, example)))

    def _lowered(self, cases: Cases, specified: tuple[Tree, ...]) -> tuple[Layout, TreeDef]:
        traced = jax.jit(self.function).trace(*specified)
        closed = traced.jaxpr
        axes = NONE if self.rows is None else self.rows(*specified)
        check_size(count_numbers(closed.jaxpr, axes))
        builder = KernelBuilder(self.most)
        per_case: list[Place] = []

        def argument(where: str, x: Array, shapes_program: bool = False) -> Value:
            value = builder.argument(where, x, shapes_program)
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
        lowering = Lowering(builder.graph, builder.table, axes)
        lowering.rows.width = 1  # registers hold cases, not rows
        outs = lowering.run(closed.jaxpr, closed.consts, inputs)
        places = builder.results(outs, [var.aval for var in closed.jaxpr.outvars])
        transposed = builder.transposed()
        text = self.write(builder.graph)
        sizes = builder.numbers["lanes"], builder.numbers["out"], builder.graph.work
        tree = structure_of(traced.out_info)
        results = structure_of(tree.unflatten(range(tree.num_leaves))[1])
        words = words_of(results) if results.num_leaves else None
        layout = Layout("", text.text, builder.all_tables(), transposed, places, sizes, words)
        layout.per_case, layout.read, layout.constants = per_case, text.read, text.constants
        return layout, tree


def _one(x: Array) -> Array:
    return x.one if isinstance(x, PerCase) else x


def _of_one(x: Array) -> tuple[Hashable, ...]:
    if isinstance(x, PerCase):
        return "own", x.one.shape, kind_of(x.one.dtype)
    x = np.asarray(x)
    return x.shape, kind_of(x.dtype), pattern_of(x).tobytes()


def room_for_results(
    program: Kernel, cases: Cases, chunks: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Arrays of the results of all cases and chunks; of the state only the last."""
    n_state = len(leaves_of(cases.state))
    outs = [np.empty((cases.count, *shape), dtype) for _, shape, dtype in program.outs[:n_state]]
    for _, shape, dtype in program.outs[n_state:]:
        outs.append(np.empty((cases.count, len(chunks) * shape[0], *shape[1:]), dtype))
    return outs
