"""A function of JAX for many cases at once: several in each register, registers on all cores.

Some arguments are shared by all cases, others are a case's own and have an axis of cases before
their others. What a case gives does not depend on the cases beside it: which arguments are shared
is said by the caller, and nothing is built into the program from what is a case's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

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


@dataclass
class Lanes:
    """Machine code of several cases side by side.

    Args:
        native: the function.
        width: cases side by side.
        fixed: numbers of shared arguments that shape the program.
        starts: place of each argument that is a case's own.
        outs: place, shape and type of the results.
        sizes: numbers of a case's own arguments, of the results and of working memory.
        tree: of the results.
    """

    native: Native
    width: int
    fixed: np.ndarray
    starts: list[int]
    outs: list[tuple[int, tuple[int, ...], Any]]
    sizes: tuple[int, int, int]
    tree: Any


class ManyProgram:
    """A function of many cases.

    Args:
        function: of one case, as for `jax.jit`.
        fixed: so many first arguments shape the program where they are shared.
        width: cases side by side; as many as registers hold if not given.
    """

    def __init__(
        self, function: Callable[..., Any], fixed: int = 1, width: int | None = None
    ) -> None:
        self.function, self.fixed = function, fixed
        self.width = lane_width() if width is None else width
        self.programs: dict[Any, Lanes | str] = {}

    def refusal(self, args: tuple[Any, ...], own: Sequence[bool]) -> str:
        """Why such arguments cannot run side by side; empty where they can."""
        program = self._program(args, own)
        return program if isinstance(program, str) else ""

    def run(
        self, args: tuple[Any, ...], own: Sequence[bool], count: int, threads: int | None = None
    ) -> Any:
        """Results of all cases, with an axis of cases before their others.

        Args:
            args: of the function; those that are a case's own have an axis of cases first.
            own: of each array in them, in the order of `jax.tree.leaves`.
            count: of cases.
            threads: that work; as many as there are cores if not given.
        """
        program = self._program(args, own)
        if isinstance(program, str):
            raise NotFlattenedError(program)
        leaves = jax.tree.leaves(args)
        several = [np.asarray(x) for x, is_own in zip(leaves, own, strict=True) if is_own]
        n_fixed = len(jax.tree.leaves(args[: self.fixed]))
        into = packed([x for x, o in zip(leaves[n_fixed:], own[n_fixed:], strict=True) if not o])
        outs = [np.empty((count, *shape), dtype) for _, shape, dtype in program.outs]

        def block(first: int) -> None:
            self._block(program, several, into, outs, first, min(first + program.width, count))

        firsts = range(0, count, program.width)
        workers = min(len(firsts), threads or os.cpu_count() or 1)
        if workers <= 1:
            for first in firsts:
                block(first)
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(block, firsts))
        return jax.tree.unflatten(program.tree, outs)

    def _block(
        self,
        program: Lanes,
        several: list[np.ndarray],
        into: np.ndarray,
        outs: list[np.ndarray],
        first: int,
        last: int,
    ) -> None:
        """Cases of one register; lanes without a case repeat the first."""
        width = program.width
        n_own, n_out, n_work = program.sizes
        rows = np.empty((n_own, width))
        for start, x in zip(program.starts, several, strict=True):
            size = int(np.prod(x.shape[1:], dtype=int))
            flat = x[first:last].reshape(last - first, size)
            rows[start : start + size, : last - first] = _eight_bytes(flat).T
        rows[:, last - first :] = rows[:, :1]
        out, work = np.empty((n_out, width)), np.empty((n_work, width))
        program.native(program.fixed, into, rows, out, work)
        for array, (start, shape, dtype) in zip(outs, program.outs, strict=True):
            size = int(np.prod(shape, dtype=int))
            part = out[start : start + size, : last - first].T
            if dtype != np.float64:
                part = np.ascontiguousarray(part).view(np.int64).astype(dtype)
            array[first:last] = part.reshape(last - first, *shape)

    def _program(self, args: tuple[Any, ...], own: Sequence[bool]) -> Lanes | str:
        refused = switched_off()
        if refused:
            return refused
        leaves, tree = jax.tree.flatten(args)
        n_fixed = len(jax.tree.leaves(args[: self.fixed]))
        arrays = [np.asarray(x) for x in leaves]
        shapes = tuple(
            (x.shape[1:] if is_own else x.shape, x.dtype, bool(is_own))
            for x, is_own in zip(arrays, own, strict=True)
        )
        pattern = b"".join(
            pattern_of(x).tobytes()
            for x, is_own in zip(arrays[:n_fixed], own, strict=False)
            if not is_own
        )
        # fixed numbers are part of the program here: a batch has one model
        fixed = packed([x for x, o in zip(arrays[:n_fixed], own, strict=False) if not o])
        key = Key(tree, shapes, pattern, fixed.tobytes())
        if key not in self.programs:
            while len(self.programs) >= 8:
                self.programs.pop(next(iter(self.programs)))
            try:
                self.programs[key] = self._compiled(args, arrays, own, n_fixed, fixed)
            except NotFlattenedError as error:
                self.programs[key] = str(error)
        return self.programs[key]

    def _compiled(
        self,
        args: tuple[Any, ...],
        arrays: list[np.ndarray],
        own: Sequence[bool],
        n_fixed: int,
        fixed: np.ndarray,
    ) -> Lanes:
        for x in arrays:
            kind_of(x.dtype)
        one = [x[0] if is_own else x for x, is_own in zip(arrays, own, strict=True)]
        single = jax.tree.unflatten(jax.tree.structure(args), one)
        traced = jax.jit(self.function).trace(*single)
        closed = traced.jaxpr
        count = count_numbers(closed.jaxpr)
        if count > LARGEST:
            raise NotFlattenedError(f"{count} numbers, more than {LARGEST}")
        writing, inputs, starts = Writing(), [], []
        for k, (x, is_own) in enumerate(zip(one, own, strict=True)):
            shapes_program = k < n_fixed and not is_own
            where = "lanes" if is_own else ("fixed" if k < n_fixed else "in")
            value = writing.argument(where, x, shapes_program)
            inputs.append(value)
            if is_own:
                starts.append(value.buffer.start)
        flat = Flattening(writing.graph, writing.table)
        outs = flat.run(closed.jaxpr, closed.consts, inputs)
        places = writing.results(outs, [var.aval for var in closed.jaxpr.outvars])
        row = with_tables(fixed, writing.tables, writing.turns())
        text = LaneWriter(writing.graph, self.width).function()
        sizes = writing.numbers["lanes"], writing.numbers["out"], writing.graph.work
        native = Native(object_code(text), pointers=5)
        tree = jax.tree.structure(traced.out_info)
        return Lanes(native, self.width, row, starts, places, sizes, tree)


def _eight_bytes(x: np.ndarray) -> np.ndarray:
    return x if x.dtype == np.float64 else x.astype(np.int64).view(np.float64)
