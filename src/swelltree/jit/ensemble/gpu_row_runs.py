"""Programs with arrays over nodes on a GPU: one case for each thread."""

from __future__ import annotations

from swelltree.jit.ensemble.cuda import Device, Kernel
from swelltree.jit.ensemble.gpu_runs import GpuProgram
from swelltree.jit.ensemble.lane_rows import ThreadRowWriter
from swelltree.jit.ensemble.written import GeneratedKernel

REGISTERS = 128  # of a thread: half of all, for loops over nodes wait for memory and for each other


class GpuRowProgram(GpuProgram):
    """A stepper of many cases on a GPU, with loops over rows."""

    writer = ThreadRowWriter

    def kernel(self, device: Device, program: GeneratedKernel) -> Kernel:
        """The program on a device."""
        name = f"kernel of {REGISTERS} registers"
        if name not in program.loaded:
            program.loaded[name] = device.kernel(program.text, optimise=False, registers=REGISTERS)
        return program.loaded[name]
