"""Ensembles on a GPU: a case for each thread, all steps of a call in one kernel."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np

from swelltree.jit import cuda
from swelltree.jit.arrays import Tree
from swelltree.jit.cuda import CudaError, Device, Kernel, Memory
from swelltree.jit.ensemble.lane_runs import Samples
from swelltree.jit.ensemble.programs import (
    Cases,
    ManyProgram,
    PerCase,
    Text,
    read_places,
    room_for_results,
    room_for_state,
)
from swelltree.jit.ensemble.programs import Kernel as Program
from swelltree.jit.ensemble.rows import (
    grouped,
    in_first_half,
    inputs_of,
    of_first_half,
    packed_cases,
    slots,
    taken_apart,
)
from swelltree.jit.ensemble.threads import GROUP, SLOTS, ThreadWriter
from swelltree.jit.entries import Place
from swelltree.jit.graph import Graph
from swelltree.jit.rows.loops import Axes

R = TypeVar("R")
REGISTERS = 255  # of a thread, at most
ROW_REGISTERS = 128  # the same with loops over rows, which wait for memory and for each other
# threads of a block by the min number of cases: as many as there are registers for, and fewer
# where some multiprocessors would have nothing to do
BLOCKS = ((32_768, 256), (16_384, 128), (0, 64))


class DeviceFiller(Protocol):
    """Kernels of the caller that compute arguments of all cases before each call."""

    def fill(self, begin: float, memory: Memory, per_case: int, starts: list[int]) -> None:
        """Fill the arrays at `starts` among `per_case` scalars of each case."""
        ...


class DeviceInputs(Protocol):
    """Arguments of a case that a kernel computes before each call."""

    @property
    def arguments(self) -> tuple[PerCase, ...]: ...

    def on_device(
        self, device: Device, groups: int, short: bool, columns: tuple[int, ...]
    ) -> DeviceFiller:
        """The kernels; only these columns of the last axis are read."""
        ...


@dataclass
class Seconds:
    """Wall time of the parts of a run [s]."""

    packing: float = 0.0
    inputs: float = 0.0
    calls: float = 0.0
    results: float = 0.0


class GpuProgram(ManyProgram):
    """An ensemble on a GPU.

    Args:
        function: as of `ManyProgram`.
        rows: as of `ManyProgram`.
        short: floats are float32.
    """

    def __init__(
        self,
        function: Callable[..., Tree],
        rows: Callable[..., Axes] | None = None,
        short: bool = False,
    ) -> None:
        self.short, self.seconds = short, Seconds()  # of the last run
        super().__init__(function, rows)

    @property
    def manner(self) -> tuple[object, ...]:
        on_cpu = bool(getattr(cuda.device(), "on_cpu", False))
        return "threads", "float" if self.short else "double", on_cpu

    def write(self, graph: Graph) -> Text:
        _, kind, on_cpu = self.manner
        writer = ThreadWriter(graph, str(kind), bool(on_cpu))
        text = writer.function()
        return Text(text, read_places(graph, writer.live), writer.memory())

    def run(
        self, cases: Cases, calls: Sequence[np.ndarray], inputs: DeviceInputs | None = None
    ) -> tuple[Tree, Tree]:
        """Final state, and results of all calls, with an axis of cases first.

        Args:
            cases: to run.
            calls: last argument of each call, all of one shape; results follow one another.
            inputs: arguments that are filled before each call.
        """
        steps = DeviceRun(self, cases, calls, inputs)
        program = steps.program
        outs = room_for_results(program, cases, calls)
        for number in steps.each():
            for array, place in zip(outs, program.results, strict=True):
                begin = number * place[1][0]
                steps.fetch(place, array[:, begin : begin + place[1][0]])
        return program.tree.unflatten([*steps.state(), *outs])

    def reduced(
        self,
        cases: Cases,
        calls: Sequence[np.ndarray],
        reduce: Callable[[DeviceRun, Tree], R],
        inputs: DeviceInputs | None = None,
    ) -> tuple[Tree, R]:
        """Final state, and a reduction of the results in device memory.

        Args:
            cases: to run.
            calls: as of `run`.
            reduce: function of the run and of the tree of `Samples` in the memory of the device.
            inputs: as of `run`.
        """
        steps = DeviceRun(self, cases, calls, inputs)
        samples = steps.samples()
        for number in steps.each():
            steps.keep(number, samples)
        state = steps.state()
        began = time.perf_counter()
        tree = steps.program.tree.unflatten([*state, *samples])
        found = reduce(steps, tree[1])
        self.seconds.results += time.perf_counter() - began
        return tree[0], found

    def kernel(self, device: Device, program: Program) -> Kernel:
        most = REGISTERS if self.rows is None else ROW_REGISTERS
        name = f"kernel of {most} registers"
        if name not in program.loaded:
            program.loaded[name] = device.kernel(program.text, optimise=False, registers=most)
        return program.loaded[name]


@dataclass
class DeviceRun:
    owner: GpuProgram
    cases: Cases
    calls: Sequence[np.ndarray]
    inputs: DeviceInputs | None
    program: Program = field(init=False)

    def __post_init__(self) -> None:
        began = time.perf_counter()
        device = cuda.device()
        if isinstance(device, str):
            raise CudaError(device)
        self.device, cases, short = device, self.cases, self.owner.short
        device.current()
        self.program = program = self.owner.needed(cases, self.calls[0])
        self.kernel = self.owner.kernel(device, program)
        self.block = next(block for least, block in BLOCKS if cases.count >= least)
        self.groups = groups = -(-cases.count // self.block) * (self.block // GROUP)
        self.n_own, self.n_out, n_work = (GROUP * n for n in program.sizes)
        self.lanes, self.out = device.room(groups * self.n_own), device.room(groups * self.n_out)
        self.work = device.room(groups * n_work)
        fixed, self.shared, per_case = packed_cases(program, cases, short)
        self.constant = device.filled(fixed)
        for name, places in program.layout.constants.items():
            numbers = fixed[list(places)]
            packs = short and name != SLOTS
            self.kernel.hold(name, numbers.view(np.float32)[::2] if packs else numbers)
        filled = cases.numbers_of(() if self.inputs is None else self.inputs.arguments)
        self.starts = [program.per_case[k][0] for k in filled]
        for k, (place, arrays) in enumerate(zip(program.per_case, per_case, strict=True)):
            if k not in filled and np.prod(place[1], dtype=int):
                self._put(place, np.asarray(arrays).reshape(cases.count, -1))
        self.filler = None
        if self.inputs is not None:
            columns = program.columns(*filled)
            self.filler = self.inputs.on_device(device, groups, short, columns)
        device.wait()
        self.owner.seconds = Seconds(packing=time.perf_counter() - began)

    def _put(self, place: Place, numbers: np.ndarray) -> None:
        """Copy an argument of all cases (case, entry) to the device."""
        rows = grouped(slots(numbers).reshape(len(numbers), -1), self.groups)
        if self.owner.short and numbers.dtype == np.float64:
            rows = in_first_half(rows.reshape(-1, GROUP))
        self.lanes.put_rows(rows.reshape(self.groups, -1), GROUP * place[0], self.n_own)

    def each(self) -> Iterator[int]:
        """Make the calls; yields the number of each after it."""
        device, program, seconds = self.device, self.program, self.owner.seconds
        for number, call in enumerate(self.calls):
            began = time.perf_counter()
            if self.filler is not None:
                self.filler.fill(
                    float(np.ravel(call)[0]), self.lanes, program.sizes[0], self.starts
                )
            into = device.filled(inputs_of(self.shared, call, self.owner.short))
            device.wait()
            filled = time.perf_counter()
            self.kernel(
                GROUP * self.groups, self.block,
                self.constant, into, self.lanes, self.out, self.work, *program.sizes,
            )  # fmt: skip
            device.wait()
            called = time.perf_counter()
            yield number
            for (start, shape, _), (at, _, _) in program.back:
                width = GROUP * int(np.prod(shape, dtype=int))
                if width:
                    self.lanes.move(
                        GROUP * start, self.n_own, self.out, GROUP * at, self.n_out, width,
                        self.groups,
                    )  # fmt: skip
            seconds.inputs += filled - began
            seconds.calls += called - filled
            seconds.results += time.perf_counter() - called

    def samples(self) -> list[Samples]:
        found = []
        for _, shape, _ in self.program.results:
            room = len(self.calls) * int(np.prod(shape, dtype=int))
            memory = self.device.room(self.groups * GROUP * room)
            found.append(Samples(memory, int(np.prod(shape[1:], dtype=int)), shape))
        return found

    def keep(self, number: int, samples: list[Samples]) -> None:
        for (at, shape, _), into in zip(self.program.results, samples, strict=True):
            width = GROUP * int(np.prod(shape, dtype=int))
            pitch = len(self.calls) * width
            into.memory.move(
                number * width, pitch, self.out, GROUP * at, self.n_out, width, self.groups
            )

    def fetch(self, place: Place, into: np.ndarray) -> None:
        start, shape, _ = place
        size = int(np.prod(shape, dtype=int))
        if not size:
            return
        count = len(into)
        groups = -(-count // GROUP)
        rows = self.out.rows(GROUP * start, GROUP * size, self.n_out, groups)
        rows = rows.reshape(groups, size, GROUP)
        if self.owner.short and place[2] == np.float64:
            rows = of_first_half(rows)
        lanes = rows.transpose(1, 0, 2).reshape(size, -1)
        into[...] = taken_apart(lanes, (0, *place[1:]), count)

    def state(self) -> list[np.ndarray]:
        found = room_for_state(self.program, self.cases)
        for array, place in zip(found, self.program.states, strict=True):
            self.fetch(place, array)
        return found

    def scalars(self, memory: Memory, size: int) -> np.ndarray:
        """Floats from device memory (case, scalar)."""
        rows = memory.rows(0, GROUP * size, GROUP * size, self.groups)
        lanes = rows.reshape(self.groups, size, GROUP).transpose(0, 2, 1)
        return np.ascontiguousarray(lanes.reshape(-1, size)[: self.cases.count])
