"""Reductions of contiguous numbers to one, in LLVM's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.engine.machine.graph import FLOAT, Buffer
from swelltree.engine.machine.number_types import Types
from swelltree.engine.machine.operations import Operations
from swelltree.engine.machine.statements import Reduction

if TYPE_CHECKING:
    from swelltree.engine.machine.text import Writer


def write_reduction(writer: Writer, item: Reduction) -> None:
    """Rows of memory, each brought together in one number."""
    for k, (buffer, start) in enumerate(item.rows):
        total = _reduced(writer, item, buffer, start)
        address = writer.address(item.out, k)
        writer.lines.append(f"  store double {total}, ptr {address}")


def _reduced(writer: Writer, item: Reduction, buffer: Buffer, start: int) -> str:
    line, width = writer.line, item.width
    several = writer.several(width)
    T, whole = several.types.of(FLOAT), item.count // width
    total, left = "", item.count - width * whole
    for k in range(whole + (left > 0)):
        address = writer.address(buffer, start + width * k)
        part = line(f"load {T}, ptr {address}, align 8")
        if k == whole:  # what lies behind the row is left out
            own = ", ".join(f"i1 {'true' if m < left else 'false'}" for m in range(width))
            empty = several.types.constant(item.empty)
            part = line(f"select <{width} x i1> <{own}>, {T} {part}, {T} {empty}")
        total = several.write(item.name, FLOAT, FLOAT, [total, part]) if total else part
    while width > 1:
        half = width // 2
        of, T = Types(width).of(FLOAT), Types(half).of(FLOAT)
        parts = []
        for first in (0, half):
            places = ", ".join(f"i32 {first + m}" for m in range(half))
            parts.append(
                line(f"shufflevector {of} {total}, {of} poison, <{half} x i32> <{places}>")
            )
        if half == 1:
            parts = [line(f"extractelement <1 x double> {x}, i32 0") for x in parts]
        operations: Operations = writer.several(half) if half > 1 else writer.operations
        total = operations.write(item.name, FLOAT, FLOAT, parts)
        width = half
    return total
