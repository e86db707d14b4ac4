"""Programs with arrays over nodes on a graphics processor: one case for each thread."""

from __future__ import annotations

from collections.abc import Callable

from swelltree.engine.arrays import Tree
from swelltree.engine.machine.graph import Graph
from swelltree.engine.machine.many_cases import cuda
from swelltree.engine.machine.many_cases.columns import read_places
from swelltree.engine.machine.many_cases.cuda import Device, Kernel
from swelltree.engine.machine.many_cases.gpu_runs import GpuProgram, Seconds
from swelltree.engine.machine.many_cases.lane_rows import ThreadRowWriter
from swelltree.engine.machine.many_cases.programs import ManyProgram, Text, Written
from swelltree.engine.machine.rows.loops import Axes

REGISTERS = 128  # of a thread: half of all, for loops over nodes wait for memory and for each other


class GpuRowProgram(GpuProgram):
    """A stepper of many cases on a graphics processor, with loops over rows.

    Args:
        function: as of `ManyProgram`.
        rows: as of `ManyProgram`.
        short: floats have four bytes.
    """

    def __init__(
        self, function: Callable[..., Tree], rows: Callable[..., Axes], short: bool = False
    ) -> None:
        self.short, self.seconds = short, Seconds()
        kind = "float" if short else "double"

        def write(graph: Graph) -> Text:
            on_cpu = bool(getattr(cuda.device(), "on_cpu", False))
            writer = ThreadRowWriter(graph, kind, on_cpu)
            text = writer.function()
            return Text(text, read_places(graph, writer.live), writer.memory())

        ManyProgram.__init__(self, function, write, rows)

    def kernel(self, device: Device, program: Written) -> Kernel:
        """The program on a device."""
        name = f"kernel of {REGISTERS} registers"
        if name not in program.loaded:
            program.loaded[name] = device.kernel(program.text, optimise=False, registers=REGISTERS)
        return program.loaded[name]
