"""Many cases in the lanes of registers, registers on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from swelltree.engine.backend import jax
from swelltree.engine.machine.many_cases.lanes import LaneWriter
from swelltree.engine.machine.many_cases.programs import (
    Cases,
    ManyProgram,
    Written,
    room_for_results,
)
from swelltree.engine.machine.many_cases.rows import beside, inputs_of, packed_cases, taken_apart
from swelltree.engine.machine.native import Native, lane_width, object_code


class LaneProgram(ManyProgram):
    """A stepper of many cases on this processor.

    Args:
        function: as of `ManyProgram`.
        width: cases side by side; as many as registers hold if not given.
    """

    def __init__(self, function: Callable[..., Any], width: int | None = None) -> None:
        self.width = lane_width() if width is None else width
        super().__init__(function, lambda graph: LaneWriter(graph, self.width).function())

    def run(
        self, cases: Cases, chunks: Sequence[np.ndarray], threads: int | None = None
    ) -> tuple[Any, Any]:
        """State after the last chunk, and results with axes of cases and times before theirs.

        Args:
            cases: to run.
            chunks: of times, all of one length.
            threads: that work; as many as there are cores if not given.
        """
        program = self.needed(cases, chunks[0])
        outs = room_for_results(program, cases, chunks)
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
        if "native" not in program.loaded:
            program.loaded["native"] = Native(object_code(program.text), pointers=5)
        self.program, self.native, self.width = program, program.loaded["native"], width
        self.count, self.chunks, self.outs = cases.count, chunks, outs
        self.fixed, self.shared, self.own = packed_cases(program, cases)
        self.n_state = len(jax.tree.leaves(cases.state))

    def run(self, first: int) -> None:
        """Cases of one register; lanes without a case repeat the last."""
        program, width = self.program, self.width
        count = min(width, self.count - first)
        _, n_out, n_work = program.sizes
        rows = beside(program, self.own, range(first, first + count), width)
        out, work = np.empty((n_out, width)), np.empty((n_work, width))
        for number, chunk in enumerate(self.chunks):
            self.native(self.fixed, inputs_of(self.shared, chunk), rows, out, work)
            results = zip(self.outs[self.n_state :], program.outs[self.n_state :], strict=True)
            for array, place in results:
                found = taken_apart(out, place, count)
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
            array[first : first + count] = taken_apart(out, place, count)
