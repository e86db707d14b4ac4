"""Compilation of an ensemble: a stepper of one case, traced once and lowered for a target.

Some arguments are shared by all cases, others are per case (`PerCase`). Nothing that is per case is
built into the program, so results do not depend on the neighbours. `lane_runs` runs such programs
on the CPU, `gpu_runs` on a GPU.
"""

from __future__ import annotations

import functools
import math
import zlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from swelltree.jit.arrays import Array, Tree
from swelltree.jit.entries import Layout, Read
from swelltree.jit.graph import Graph, UnsupportedOperationError, kind_of
from swelltree.jit.lazy_import import is_imported
from swelltree.jit.program import Driver, Key, numbered, pattern_of, switched_off
from swelltree.jit.statements import nested, statements
from swelltree.jit.trees import flatten, leaves_of, mapped, structure_of


class Text(NamedTuple):
    """A program in LLVM IR, with what its layout says of the target."""

    text: str
    read: Read
    constants: dict[str, tuple[int, ...]] = {}  # noqa: RUF012


class Kernel:
    """A program of an ensemble."""

    def __init__(self, layout: Layout, state: Tree) -> None:
        self.layout, self.text = layout, zlib.decompress(layout.text).decode()
        self.tree = structure_of((state, layout.results))  # of the results, the state first
        self.per_case, self.outs, self.sizes = layout.per_case, layout.outs, layout.sizes
        n = len(leaves_of(state))
        self.states, self.results = self.outs[:n], self.outs[n:]
        # where the state lies that a call takes, and that which it returns
        own = self.per_case[len(self.per_case) - n :]
        self.back = list(zip(own, self.states, strict=True))
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


class ManyProgram(Driver[Kernel], ABC):
    """A stepper of many cases.

    Args:
        function: ``function(fixed, shared, state, times) -> (state, results)`` of one case.
        more: as of `Driver`, for the arguments of one case.
    """

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
        if key in self.programs:
            return self.programs[key]
        state = mapped(lambda x: x[0], cases.state)
        args = mapped(_one, cases.fixed), cases.shared, state, times
        about = args, b"", ("many cases", *self.manner, self.most, shapes)
        lower = functools.partial(self._lowered, cases.fixed, args)
        return self.found(key, about, lower, lambda layout: Kernel(layout, state))

    def _lowered(self, fixed: Tree, args: tuple[Tree, ...]) -> Layout:
        _, shared, state, times = args
        own = [isinstance(x, PerCase) for x in leaves_of(fixed)]
        first = zip(own, leaves_of(args[0]), strict=True)
        arguments = [("lanes", x, False) if is_own else ("fixed", x, True) for is_own, x in first]
        arguments += [("in", x, False) for x in leaves_of(shared)]
        arguments += [("lanes", x, False) for x in leaves_of(state)]
        arguments.append(("in", times, False))
        # registers hold cases, not rows
        builder, places, tree = self.built(args, arguments, width=1)
        transposed, text = builder.transposed(), self.write(builder.graph)
        sizes = builder.numbers["lanes"], builder.numbers["out"], builder.graph.work
        per_case, at = [], 0
        for x in (np.asarray(x) for where, x, _ in arguments if where == "lanes"):
            per_case.append((at, x.shape, x.dtype))
            at += x.size
        full, results = zlib.compress(text.text.encode(), 1), numbered(tree)[1]
        layout = Layout("", full, builder.all_tables(), transposed, places, sizes, results)
        layout.per_case, layout.read, layout.constants = per_case, text.read, text.constants
        return layout


def _one(x: Array) -> Array:
    return x.one if isinstance(x, PerCase) else x


def _of_one(x: Array) -> tuple[Hashable, ...]:
    if isinstance(x, PerCase):
        return "own", x.one.shape, kind_of(x.one.dtype)
    x = np.asarray(x)
    return x.shape, kind_of(x.dtype), pattern_of(x).tobytes()


def room_for_state(program: Kernel, cases: Cases) -> list[np.ndarray]:
    return [np.empty((cases.count, *shape), dtype) for _, shape, dtype in program.states]


def room_for_results(
    program: Kernel, cases: Cases, chunks: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Arrays of the results of all cases and chunks, the state excluded."""
    return [
        np.empty((cases.count, len(chunks) * shape[0], *shape[1:]), dtype)
        for _, shape, dtype in program.results
    ]


# --- columns of per-case tables that a program reads ---
OWN = "lanes"  # memory of what is a case's own
ANYWHERE = 1  # step of places that are not known


def read_places(graph: Graph, live: set[int]) -> Read:
    """Places of per-case tables that are read."""
    found = set()
    for a in live:
        op = graph.ops[a]
        if op[0] == "load" and op[1].where == OWN:
            found.add((op[1].start, op[2], 0))
        elif op[0] == "load_at" and op[1].where == OWN:
            found.add((op[1].start, op[2], multiple(graph, op[3])))
    for region in nested(graph.root):
        for item in statements(region):
            for buffer in item.reads():
                if buffer.where == OWN:
                    found.add((buffer.start, 0, ANYWHERE))
    return frozenset(found)


def columns_read(read: Read, start: int, width: int) -> tuple[int, ...]:
    """Columns of a per-case table that are read."""
    found = set()
    for table, at, step in read:
        if table == start:
            if step % width:
                return tuple(range(width))
            found.add(at % width)
    return tuple(sorted(found))


def multiple(graph: Graph, a: int) -> int:
    """An integer that divides every value of an expression; zero if it is always zero."""
    op = graph.ops[a]
    if op[0] == "is":
        return abs(int(op[1]))
    if op[0] == "mul":
        return multiple(graph, op[1]) * multiple(graph, op[2])
    if op[0] in ("add", "sub", "min", "max"):
        return math.gcd(multiple(graph, op[1]), multiple(graph, op[2]))
    if op[0] == "where":
        return math.gcd(multiple(graph, op[2]), multiple(graph, op[3]))
    return ANYWHERE
