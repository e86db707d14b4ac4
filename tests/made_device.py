"""Exported devices: compiled by the system's C compiler and called as a program in C would."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from swelltree.interop.fmi.c_code import write_c

COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="skipped: there is no C compiler (cc)")
STRICT = ("-O1", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def compile_c(folder, sources, output, *flags):
    """Compile in a folder; warnings are errors."""
    command = [COMPILER, *STRICT, *flags, *sources, "-lm", "-o", output]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / output


class CDevice:
    """A device of an exported folder, called by ctypes."""

    def __init__(self, device, folder):
        write_c(device, folder)
        self.prefix, name = device.prefix, f"lib{device.prefix}.so"
        sources = [f"{device.prefix}.c", f"{device.prefix}_model.o"]
        self.library = ctypes.CDLL(str(compile_c(folder, sources, name, "-shared", "-fPIC")))
        pointer, number, index = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
        for name, result, *arguments in (
            ("size", ctypes.c_size_t),
            ("saved", ctypes.c_size_t),
            ("count", index),
            ("init", pointer, pointer),
            ("name", ctypes.c_char_p, index),
            ("message", ctypes.c_char_p, pointer),
            ("set", index, pointer, index, number),
            ("get", index, pointer, index, pointer),
            ("step", index, pointer, number),
            ("step_to", index, pointer, number),
            ("save", None, pointer, pointer),
            ("restore", index, pointer, pointer),
            ("states", index),
            ("get_states", None, pointer, pointer),
            ("set_states", index, pointer, number, pointer),
            ("derivative", index, pointer, pointer, pointer),
        ):
            function = self(name)
            function.restype, function.argtypes = result, arguments
        self.names = [self("name")(i).decode() for i in range(self("count")())]
        self.memory = np.zeros(self("size")() // 8 + 1)
        self.restart()

    def __call__(self, name):
        return getattr(self.library, f"{self.prefix}_{name}")

    def restart(self):
        self.at = self("init")(self.memory.ctypes.data)
        assert self.at is not None
        return self

    def set(self, name, value):
        return self("set")(self.at, self.names.index(name), value)

    def get(self, name):
        value = ctypes.c_double()
        assert self("get")(self.at, self.names.index(name), ctypes.byref(value)) == 0, self.message
        return value.value

    def step(self, duration):
        return self("step")(self.at, duration)

    def step_to(self, time):
        return self("step_to")(self.at, time)

    def save(self):
        saved = np.zeros(self("saved")())
        self("save")(self.at, saved.ctypes.data)
        return saved

    def restore(self, saved):
        return self("restore")(self.at, saved.ctypes.data)

    @property
    def message(self):
        return self("message")(self.at).decode()

    def run(self, times, names, inputs=None):
        """Outputs at times; inputs are (name, values held from each time on)."""
        rows = [[self.get(name) for name in names]]
        for k, time in enumerate(times[1:]):
            for name, values in inputs or ():
                assert self.set(name, values[k]) == 0
            assert self.step_to(time) == 0, self.message
            rows.append([self.get(name) for name in names])
        return np.array(rows)
