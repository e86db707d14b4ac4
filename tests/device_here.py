"""A graphics processor that is this processor: its kernels run here, thread after thread."""

import numpy as np

from swelltree.jit import Device, Memory, Native, object_code
from swelltree.jit.cuda import ptx_of


class MemoryHere(Memory):
    """Numbers of eight bytes, as `cuda.Memory`."""

    def __init__(self, size):
        self.size, self.numbers = size, np.full(max(size, 1), np.nan)

    def __del__(self):
        """Nothing to give back."""

    def put(self, numbers, at=0):
        numbers = np.ascontiguousarray(numbers).reshape(-1)
        self.numbers[at : at + numbers.size] = numbers.view(np.float64)

    def put_rows(self, numbers, first, pitch):
        for k, row in enumerate(np.ascontiguousarray(numbers)):
            self.put(row, first + k * pitch)

    def rows(self, first, width, pitch, count):
        complete = np.stack([self.numbers[first + k * pitch :][:width] for k in range(count)])
        return complete.copy()

    def move(self, at, pitch, other, start, other_pitch, width, count):
        for k in range(count):
            source = other.numbers[start + k * other_pitch :][:width]
            self.numbers[at + k * pitch : at + k * pitch + width] = source


class DeviceHere(Device):
    """As `cuda.Device`."""

    on_cpu = True
    name = "this processor"

    def __init__(self):
        self.kernels = {}

    def current(self):
        """Nothing to do."""

    def wait(self):
        """Nothing to wait for."""

    def free_memory(self):
        return 10**9

    def room(self, size):
        return MemoryHere(size)

    def filled(self, numbers):
        memory = MemoryHere(np.size(numbers))
        memory.put(numbers)
        return memory

    def kernel(self, text, optimise=True, registers=255):
        if text in self.kernels:
            return self.kernels[text]
        pointers = text.split("@run(" if "@run(" in text else '@"run"(')[1].split(")")[0]
        native = Native(object_code(text), pointers=pointers.count("ptr"))

        def run(threads, block, *args):
            rows = [a.numbers for a in args if isinstance(a, MemoryHere)]
            sizes = [a for a in args if not isinstance(a, MemoryHere)]
            native(*rows, np.array([*sizes, threads], np.int64))

        self.kernels[text] = run
        return run


def as_ptx(text):
    """PTX of a text for graphics processors."""
    return ptx_of(text, optimise=True)
