"""Object code for this CPU from LLVM IR, cached on disk and loaded by MCJIT."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from swelltree.jit import cache
from swelltree.jit.backend import cache_folder
from swelltree.jit.graph import UnsupportedOperationError

if TYPE_CHECKING:
    import llvmlite.binding

LIBM = "libm_"  # prefix of functions of the C library that native code calls
CALLED = "sin", "cos", "tan"
_lock = threading.Lock()  # LLVM's compiler is asked by one thread at a time


@functools.lru_cache(maxsize=1)
def llvm() -> ModuleType:
    import llvmlite.binding

    llvmlite.binding.initialize_native_target()
    llvmlite.binding.initialize_native_asmprinter()
    library = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)
    for name in CALLED:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvmlite.binding.add_symbol(LIBM + name, address)
    return llvmlite.binding


@functools.lru_cache(maxsize=1)
def _processor() -> tuple[str, str, str]:
    features = llvm().get_host_cpu_features().flatten()
    return llvm().get_default_triple(), llvm().get_host_cpu_name(), features


def _machine(optimise: int) -> llvmlite.binding.TargetMachine:
    triple, name, features = _processor()
    target = llvm().Target.from_triple(triple)
    return target.create_target_machine(cpu=name, features=features, opt=optimise, jit=True)


def compiler() -> tuple[str, ...]:
    """All that object code depends on besides its text: LLVM and the CPU."""
    import llvmlite

    return llvmlite.__version__, ".".join(map(str, llvm().llvm_version_info)), *_processor()


def object_name(text: str, optimise: int = 2) -> str:
    """Name of the object code of a module on disk."""
    return cache.hashed(text, str(optimise), *compiler())


def object_code(text: str, optimise: int = 2) -> bytes:
    """Object code of a module, from the disk if it is there; `optimise` is 0 to 3."""
    name = object_name(text, optimise)
    declared = [f"declare double @{LIBM}{x}(double)\n" for x in CALLED if f"@{LIBM}{x}(" in text]
    folder = cache.private_folder(cache_folder())
    code = cache.read(folder, name)
    if code is None:
        with _lock:
            try:
                module = llvm().parse_assembly("".join([*declared, text]))
                module.verify()
            except RuntimeError as error:
                raise UnsupportedOperationError(f"what LLVM does not read ({error})") from error
            code = _machine(optimise).emit_object(module)
        cache.write(folder, name, code)
    return code


BASELINE = {"x86_64": "x86-64-v3", "aarch64": "generic", "arm64": "generic"}  # of object files


def object_file(
    programs: Mapping[str, str], tables: Mapping[str, np.ndarray], triple: str = ""
) -> tuple[bytes, str]:
    """Relocatable object with programs and constants, and its CPU.

    On x86 it needs AVX2 and FMA (2013), unless it is for this system and this CPU has neither.

    Args:
        programs: LLVM IR of the function ``run`` of each, by the name it gets.
        tables: numbers, by name.
        triple: of another system, in LLVM's words; this one if not given.
    """
    if triple:
        llvm().initialize_all_targets()
        llvm().initialize_all_asmprinters()
    features = dict(llvm().get_host_cpu_features())
    lacking = not (triple or (features.get("avx2") and features.get("fma")))
    triple = triple or llvm().get_default_triple()
    architecture = triple.partition("-")[0]
    cpu = BASELINE.get(architecture, "")
    if architecture == "x86_64" and lacking:
        cpu = "x86-64"
    parts = [_constants(tables), *programs.values()]
    with _lock:
        machine = llvm().Target.from_triple(triple)
        machine = machine.create_target_machine(cpu=cpu, opt=2, reloc="pic", codemodel="default")
        declared = "".join(f"declare double @{LIBM}{x}(double)\n" for x in CALLED)
        merged, *modules = (llvm().parse_assembly(declared + text) for text in parts)
        for name, module in zip(programs, modules, strict=True):
            module.get_function("run").name = name
            merged.link_in(module)
        for name in CALLED:
            merged.get_function(LIBM + name).name = name
        for name in programs:
            merged.get_function(name).visibility = "hidden"
        merged.triple, merged.data_layout = triple, str(machine.target_data)
        merged.verify()
        return machine.emit_object(merged), cpu


def _constants(tables: Mapping[str, np.ndarray]) -> str:
    lines = []
    for name, values in tables.items():
        bits = ", ".join(f"i64 {x}" for x in np.ascontiguousarray(values).view(np.int64))
        lines.append(f"@{name} = hidden constant [{len(values)} x i64] [{bits}], align 64\n")
    return "".join(lines)


@functools.cache  # LLVM answers one thread at a time: asking waits for what another compiles
def lane_width() -> int:
    """Float64 lanes of a SIMD register of this CPU."""
    features = dict(llvm().get_host_cpu_features())
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx") else 2


class Native:
    """Loaded object code."""

    def __init__(self, code: bytes, pointers: int = 4) -> None:
        with _lock:
            self.engine = llvm().create_mcjit_compiler(llvm().parse_assembly(""), _machine(0))
            self.engine.add_object_file(llvm().object_file.ObjectFileRef.from_data(code))
            self.engine.finalize_object()
            self.address = self.engine.get_function_address("run")
        self.call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * pointers)(self.address)

    def __call__(self, *rows: np.ndarray) -> None:
        self.call(*(row.ctypes.data for row in rows))


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """Threads that this process may start: OMP_NUM_THREADS, or one for each core."""
    requested = os.environ.get("OMP_NUM_THREADS", "").strip()
    return int(requested) if requested.isdigit() and int(requested) > 0 else cores()
