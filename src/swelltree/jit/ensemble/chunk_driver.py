"""Goes through chunks of times in native code: loads, steps, and what is kept of their results.

``void run(ptr table, ptr copies)``: addresses and sizes of eight bytes each, in the order of
`TABLE`; copies are (from, to, bytes, bytes further with each chunk), as many as the table says.
Python is asked once for a run instead of twice for each chunk: many cores need not wait for it.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from swelltree.jit.ensemble.kernels import Register
from swelltree.jit.ensemble.waves.lane_sums import ROWS_OF_MEMORY
from swelltree.jit.native import Native, object_code

SUMMED = (*ROWS_OF_MEMORY, "sizes")  # what the sums take
STEPPED = ("fixed", "inputs", "rows", "out", "work")  # what steps take
TABLE = (
    "sum", "step", "chunks", "copies", "of_numbers", "of_inputs", *STEPPED, *SUMMED
)  # fmt: skip
OF_COPY = 4


@functools.lru_cache(maxsize=1)
def driver_text() -> str:
    """Text of the function."""
    from llvmlite import ir

    module, long, pointer = ir.Module(), ir.IntType(64), ir.PointerType()
    void = ir.VoidType()
    run = ir.Function(module, ir.FunctionType(void, [pointer] * 2), "run")
    entry, head, body, sums, step, copy, copied, end, done = (
        run.append_basic_block(name)
        for name in ("entry", "head", "body", "sums", "step", "copy", "copied", "end", "done")
    )
    b: Any = ir.IRBuilder(entry)

    def loaded(base: Register, at: Register) -> Register:
        return b.load(b.gep(base, [at], source_etype=long), typ=long)

    specified = {name: loaded(run.args[0], long(j)) for j, name in enumerate(TABLE)}

    def address(name: str, further: Register | None = None) -> Register:
        place = specified[name] if further is None else b.add(specified[name], further)
        return b.inttoptr(place, pointer)

    zero, one = long(0), long(1)
    b.branch(head)
    b.position_at_end(head)
    chunk = b.phi(long)
    chunk.add_incoming(zero, entry)
    b.cbranch(b.icmp_signed("<", chunk, specified["chunks"]), body, done)
    b.position_at_end(body)
    b.cbranch(b.icmp_signed("!=", specified["sum"], zero), sums, step)

    def called(name: str, arguments: list[Register]) -> None:
        kind = ir.FunctionType(void, [pointer] * len(arguments))
        target = b.inttoptr(specified[name], kind.as_pointer())
        b.call(target, arguments)

    b.position_at_end(sums)
    further = b.mul(chunk, specified["of_numbers"])
    rows = [address(name, further if name == "numbers" else None) for name in ROWS_OF_MEMORY]
    called("sum", [*rows, address("sizes")])
    b.branch(step)
    b.position_at_end(step)
    further = b.mul(chunk, specified["of_inputs"])
    called("step", [address(x, further if x == "inputs" else None) for x in STEPPED])
    b.branch(copy)
    b.position_at_end(copy)
    number = b.phi(long)
    number.add_incoming(zero, step)
    b.cbranch(b.icmp_signed("<", number, specified["copies"]), copied, end)
    b.position_at_end(copied)
    at = b.mul(number, long(OF_COPY))
    source, into, size, moved = (loaded(run.args[1], b.add(at, long(j))) for j in range(OF_COPY))
    into = b.add(into, b.mul(chunk, moved))
    kinds = [pointer, pointer, long, ir.IntType(1)]
    name = "llvm.memcpy.p0.p0.i64"
    memcpy = ir.Function(module, ir.FunctionType(void, kinds), name)
    flat = [b.inttoptr(into, pointer), b.inttoptr(source, pointer), size, ir.IntType(1)(0)]
    b.call(memcpy, flat)
    number.add_incoming(b.add(number, one), copied)
    b.branch(copy)
    b.position_at_end(end)
    chunk.add_incoming(b.add(chunk, one), end)
    b.branch(head)
    b.position_at_end(done)
    b.ret_void()
    module.triple = ""
    return str(module)


@functools.lru_cache(maxsize=1)
def _native() -> Native:
    return Native(object_code(driver_text()), pointers=2)


def go_through(
    chunks: int,
    step: Native,
    stepped: dict[str, np.ndarray],
    sums: tuple[Native, dict[str, np.ndarray]] | None,
    copies: list[tuple[np.ndarray, np.ndarray, int]],
) -> None:
    """All of some chunks.

    Args:
        chunks: how many.
        step: the program.
        stepped: its memory, by the names of `STEPPED`; inputs have a row for each chunk.
        sums: function of the loads and its memory, by the names of `SUMMED`; numbers have a row for
            each chunk. None without loads.
        copies: from, to, and bytes further with each chunk: what is done with results.
    """
    table = {"step": step.address, "chunks": chunks, "copies": len(copies), "sum": 0}
    table |= {"of_inputs": stepped["inputs"].strides[0], "of_numbers": 0}
    table |= {name: stepped[name].ctypes.data for name in STEPPED}
    table |= dict.fromkeys(SUMMED, 0)
    if sums is not None:
        native, memory = sums
        table |= {"sum": native.address, "of_numbers": memory["numbers"].strides[0]}
        table |= {name: memory[name].ctypes.data for name in SUMMED}
    rows = [(a.ctypes.data, b.ctypes.data, a.nbytes, moved) for a, b, moved in copies]
    full = np.array([table[name] for name in TABLE], np.int64)
    _native()(full, np.array(rows, np.int64).reshape(-1, OF_COPY))
