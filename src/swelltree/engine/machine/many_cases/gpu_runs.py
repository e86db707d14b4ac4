"""Many cases on a graphics processor: one for each thread, all steps of a chunk in one kernel."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from swelltree.engine.backend import jax
from swelltree.engine.machine.graph import NotFlattenedError
from swelltree.engine.machine.many_cases import cuda
from swelltree.engine.machine.many_cases.programs import (
    Cases,
    ManyProgram,
    Written,
    room_for_results,
)
from swelltree.engine.machine.many_cases.rows import beside, inputs_of, packed_cases, taken_apart
from swelltree.engine.machine.many_cases.threads import GROUP, TRIPLE, ThreadWriter
from swelltree.engine.machine.native import llvm

BLOCK = 64  # threads that share a processor's resources: few, since each needs all its registers


@functools.lru_cache(maxsize=4)
def _target(architecture: str) -> Any:
    llvm().initialize_all_targets()
    llvm().initialize_all_asmprinters()
    target = llvm().Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu=architecture, features="+ptx80", opt=3)


def ptx_of(text: str, architecture: str = "sm_80") -> str:
    """PTX of a text in LLVM's language; needs no graphics processor."""
    try:
        module = llvm().parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise NotFlattenedError(f"what LLVM does not read ({error})") from error
    return _target(architecture).emit_assembly(module)


class GpuProgram(ManyProgram):
    """A stepper of many cases on a graphics processor.

    Args:
        function: as of `ManyProgram`.
        short: floats have four bytes.
    """

    def __init__(self, function: Callable[..., Any], short: bool = False) -> None:
        self.short = short
        self.kernel_seconds = 0.0  # of the last run
        kind = "float" if short else "double"
        super().__init__(function, lambda graph: ThreadWriter(graph, kind).function())

    def run(self, cases: Cases, chunks: Sequence[np.ndarray]) -> tuple[Any, Any]:
        """State after the last chunk, and results with axes of cases and times before theirs.

        Args:
            cases: to run.
            chunks: of times, all of one length.
        """
        device = cuda.device()
        if isinstance(device, str):
            raise cuda.CudaError(device)
        device.current()
        program = self.needed(cases, chunks[0])
        kernel = self._kernel(device, program)
        outs = room_for_results(program, cases, chunks)
        fixed, shared, own = packed_cases(program, cases, self.short)
        groups = -(-cases.count // BLOCK) * (BLOCK // GROUP)
        n_own, n_out, n_work = (GROUP * n for n in program.sizes)
        lanes, out = device.room(groups * n_own), device.room(groups * n_out)
        work, constant = device.room(groups * n_work), device.room(len(fixed))
        constant.put(fixed)
        for group in range(groups):
            first = min(group * GROUP, cases.count - 1)
            some = range(first, min(first + GROUP, cases.count))
            lanes.put(beside(program, own, some, GROUP, self.short), group * n_own)
        n_state, self.kernel_seconds = len(jax.tree.leaves(cases.state)), 0.0
        for number, chunk in enumerate(chunks):
            numbers = inputs_of(shared, chunk, self.short)
            into = device.room(len(numbers))
            into.put(numbers)
            began = time.perf_counter()
            kernel(GROUP * groups, BLOCK, constant, into, lanes, out, work, *program.sizes)
            device.wait()
            self.kernel_seconds += time.perf_counter() - began
            for array, place in zip(outs[n_state:], program.outs[n_state:], strict=True):
                begin = number * place[1][0]
                self._fetch(out, n_out, place, array[:, begin : begin + place[1][0]])
            for (start, shape, _), (at, _, _) in zip(
                program.own[-n_state:], program.outs[:n_state], strict=True
            ):
                width = GROUP * int(np.prod(shape, dtype=int))
                lanes.move(GROUP * start, n_own, out, GROUP * at, n_out, width, groups)
        for array, place in zip(outs[:n_state], program.outs[:n_state], strict=True):
            self._fetch(out, n_out, place, array)
        return jax.tree.unflatten(program.tree, outs)

    def _kernel(self, device: cuda.Device, program: Written) -> cuda.Kernel:
        if "kernel" not in program.loaded:
            text = ptx_of(program.text, device.architecture)
            program.loaded["kernel"] = device.loaded(text)
        return program.loaded["kernel"]

    def _fetch(self, out: cuda.Memory, pitch: int, place: Any, into: np.ndarray) -> None:
        """Results of all cases."""
        start, shape, _ = place
        size = int(np.prod(shape, dtype=int))
        count = len(into)
        groups = -(-count // GROUP)
        rows = out.rows(GROUP * start, GROUP * size, pitch, groups).reshape(groups, size, GROUP)
        lanes = rows.transpose(1, 0, 2).reshape(size, -1)
        into[...] = taken_apart(lanes, (0, *place[1:]), count, self.short)
