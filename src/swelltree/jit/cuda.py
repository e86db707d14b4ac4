"""The NVIDIA driver API by ctypes: load PTX, hold device memory, launch kernels.

Only the driver library is needed, which comes with the graphics card; PTX is made by LLVM.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from swelltree.jit.ensemble.kernels import TRIPLE
from swelltree.jit.graph import UnsupportedOperationError
from swelltree.jit.native import llvm

# --- PTX, the language of NVIDIA's drivers, from LLVM's


@functools.lru_cache(maxsize=4)
def _target(architecture: str) -> Any:
    llvm().initialize_all_targets()
    llvm().initialize_all_asmprinters()
    target = llvm().Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu=architecture, features="+ptx80", opt=3)


def ptx_of(text: str, architecture: str = "sm_80", optimise: bool = False) -> str:
    """PTX of LLVM IR; needs no GPU.

    Args:
        text: of a module.
        architecture: of the processor.
        optimise: let LLVM rewrite it first, which takes long where it is long.
    """
    try:
        module = llvm().parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise UnsupportedOperationError(f"what LLVM does not read ({error})") from error
    inlined = llvm().create_new_module_pass_manager()
    inlined.add_always_inliner_pass()
    tuning = llvm().create_pipeline_tuning_options(speed_level=0)
    inlined.run(module, llvm().create_pass_builder(_target(architecture), tuning))
    if optimise:
        tuning = llvm().create_pipeline_tuning_options(speed_level=2)
        passes = llvm().create_pass_builder(_target(architecture), tuning)
        passes.getModulePassManager().run(module, passes)
    return _target(architecture).emit_assembly(module)


LIBRARIES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll")
NO_LIBRARY = "there is no driver of NVIDIA here"
COMPUTE_MAJOR, COMPUTE_MINOR = 75, 76  # CUdevice_attribute
JIT_REGISTERS, JIT_LOG, JIT_LOG_SIZE = 0, 5, 6  # CUjit_option: most registers; where errors go


class CudaError(Exception):
    """An error of the driver."""


class Copy2D(ctypes.Structure):
    """CUDA_MEMCPY2D: parts of rows of memory of the host or the device."""

    _fields_ = [
        *(
            (side + name, kind)
            for side in ("src", "dst")
            for name, kind in (
                ("XInBytes", ctypes.c_size_t),
                ("Y", ctypes.c_size_t),
                ("MemoryType", ctypes.c_int),
                ("Host", ctypes.c_void_p),
                ("Device", ctypes.c_uint64),
                ("Array", ctypes.c_void_p),
                ("Pitch", ctypes.c_size_t),
            )
        ),
        ("WidthInBytes", ctypes.c_size_t),
        ("Height", ctypes.c_size_t),
    ]


CACHE_SIZE = 64  # kernels
ON_HOST, ON_DEVICE = 1, 2  # CUmemorytype


class Device:
    on_cpu = False  # text of kernels is for it

    def __init__(self) -> None:
        self.lib = _library()
        self.kernels: dict[tuple[str, bool, int], Kernel] = {}
        self.held = self.most_held = 0  # bytes of memory
        self._do("cuInit", 0)
        count = ctypes.c_int()
        self._do("cuDeviceGetCount", ctypes.byref(count))
        if count.value == 0:
            raise CudaError("there is no NVIDIA GPU here")
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self._do("cuDeviceGet", ctypes.byref(device), 0)
        self._do("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.current()
        name = ctypes.create_string_buffer(128)
        self._do("cuDeviceGetName", name, 128, device)
        self.name = name.value.decode()
        numbers = []
        for what in (COMPUTE_MAJOR, COMPUTE_MINOR):
            number = ctypes.c_int()
            self._do("cuDeviceGetAttribute", ctypes.byref(number), what, device)
            numbers.append(number.value)
        self.architecture = "sm_{}{}".format(*numbers)

    def _do(self, name: str, *args: Any) -> None:
        code = getattr(self.lib, name)(*args)
        if code != 0:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorString(code, ctypes.byref(text))
            raise CudaError(f"{name}: {(text.value or b'').decode() or code}")

    def current(self) -> None:
        self._do("cuCtxSetCurrent", self.context)

    def free_memory(self) -> int:
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self._do("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def kernel(self, text: str, optimise: bool = True, registers: int = 255) -> Kernel:
        """The function `run` of a text in LLVM's language."""
        key = text, optimise, registers
        if key not in self.kernels:
            while len(self.kernels) >= CACHE_SIZE:
                self.kernels.pop(next(iter(self.kernels)))
            self.kernels[key] = self.loaded(ptx_of(text, self.architecture, optimise), registers)
        return self.kernels[key]

    def loaded(self, ptx: str, registers: int = 255) -> Kernel:
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 3)(JIT_LOG, JIT_LOG_SIZE, JIT_REGISTERS)
        values = (ctypes.c_void_p * 3)(ctypes.addressof(log), 8192, registers)
        try:
            self._do(
                "cuModuleLoadDataEx", ctypes.byref(module), ptx.encode() + b"\0", 3, options, values
            )
        except CudaError as error:
            raise CudaError(f"{error} {log.value.decode(errors='replace')}".strip()) from error
        function = ctypes.c_void_p()
        self._do("cuModuleGetFunction", ctypes.byref(function), module, b"run")
        return Kernel(self, function, module)

    def room(self, size: int) -> Memory:
        """Memory for scalars of eight bytes."""
        return Memory(self, size)

    def filled(self, numbers: np.ndarray) -> Memory:
        memory = Memory(self, numbers.size)
        memory.put(numbers)
        return memory

    def wait(self) -> None:
        self._do("cuCtxSynchronize")

    def copy_to(self, address: ctypes.c_uint64, numbers: np.ndarray) -> None:
        numbers = np.ascontiguousarray(numbers)
        source, size = ctypes.c_void_p(numbers.ctypes.data), ctypes.c_size_t(numbers.nbytes)
        self._do("cuMemcpyHtoD_v2", address, source, size)

    def copy_rows(self, source: Rows, target: Rows, width: int, count: int) -> None:
        """Copy `width` scalars of each of some rows."""
        copy = Copy2D(WidthInBytes=8 * width, Height=count)
        for side, (place, first, pitch) in (("src", source), ("dst", target)):
            setattr(copy, f"{side}XInBytes", 8 * first)
            setattr(copy, f"{side}Pitch", 8 * pitch)
            if isinstance(place, Memory):
                setattr(copy, f"{side}MemoryType", ON_DEVICE)
                setattr(copy, f"{side}Device", place.address.value)
            else:
                setattr(copy, f"{side}MemoryType", ON_HOST)
                setattr(copy, f"{side}Host", place.ctypes.data)
        self._do("cuMemcpy2D_v2", ctypes.byref(copy))


class Memory:
    """Memory of a device, given back with the object."""

    def __init__(self, device: Device, size: int) -> None:
        self.device, self.size, self.address = device, size, ctypes.c_uint64()
        device._do("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(max(8 * size, 8)))
        device.held += 8 * size
        device.most_held = max(device.most_held, device.held)

    def __del__(self) -> None:
        if self.address.value:
            self.device.lib.cuMemFree_v2(self.address)
            self.device.held -= 8 * self.size

    def put(self, numbers: np.ndarray) -> None:
        self.device.copy_to(self.address, numbers)

    def put_rows(self, numbers: np.ndarray, first: int, pitch: int) -> None:
        """Copy rows from the host, each into a part of a row of `pitch` scalars."""
        numbers = np.ascontiguousarray(numbers)
        count, width = numbers.shape
        self.device.copy_rows((numbers, 0, width), (self, first, pitch), width, count)

    def rows(self, first: int, width: int, pitch: int, count: int) -> np.ndarray:
        """Parts of rows: `count` rows of `pitch` numbers, `width` of each from `first` on."""
        out = np.empty((count, width))
        self.device.copy_rows((self, first, pitch), (out, 0, width), width, count)
        return out

    def move(
        self,
        at: int,
        pitch: int,
        other: Memory,
        start: int,
        other_pitch: int,
        width: int,
        count: int,
    ) -> None:
        """Copy parts of rows from other memory of the device."""
        self.device.copy_rows((other, start, other_pitch), (self, at, pitch), width, count)


Rows = tuple[Memory | np.ndarray, int, int]  # where rows lie, first scalar of each, their distance


class Kernel:
    """A kernel function: one case per thread."""

    def __init__(self, device: Device, function: ctypes.c_void_p, module: ctypes.c_void_p) -> None:
        self.device, self.function, self.module = device, function, module

    def hold(self, name: str, numbers: np.ndarray) -> None:
        """Copy numbers into a global variable of the module."""
        place, size = ctypes.c_uint64(), ctypes.c_size_t()
        where = ctypes.byref(place), ctypes.byref(size)
        self.device._do("cuModuleGetGlobal_v2", *where, self.module, name.encode())
        self.device.copy_to(place, numbers)

    def __call__(self, threads: int, block: int, *args: Memory | int) -> None:
        values = [a.address if isinstance(a, Memory) else ctypes.c_int64(a) for a in args]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        grid = -(-threads // block)
        self.device._do(
            "cuLaunchKernel", self.function, grid, 1, 1, block, 1, 1, 0, None, pointers, None
        )


def _library() -> Any:
    for name in LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise CudaError(NO_LIBRARY)


@functools.lru_cache(maxsize=1)
def device() -> Device | str:
    """The GPU, or why there is none."""
    try:
        return Device()
    except (CudaError, AttributeError) as error:
        return str(error)


def gpu() -> Device | str:
    return device()
