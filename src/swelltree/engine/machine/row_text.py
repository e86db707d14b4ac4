"""Loops over rows in LLVM's language, several rows in a register; see `row_loops`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.engine.machine.graph import FLOAT, LONG, Buffer
from swelltree.engine.machine.number_types import NOT_NEGATIVE, SINGLE, Types
from swelltree.engine.machine.operations import Operations
from swelltree.engine.machine.statements import Reduction, Rows, Stores

if TYPE_CHECKING:
    from swelltree.engine.machine.text import Writer


def write_rows(writer: Writer, rows: Rows) -> None:
    """A loop over rows, one after another or several at once."""

    def body(j: str) -> None:
        if rows.width == 1:
            writer.region_with(rows.body, {rows.index: j})
        else:
            SeveralRows(writer, rows, j).write()

    writer.counted(rows.count, rows.width, body)


class SeveralRows:
    """The body of a loop over several rows at once.

    Args:
        writer: of the function.
        rows: the loop.
        j: name of the number of the first of them.
    """

    def __init__(self, writer: Writer, rows: Rows, j: str) -> None:
        self.writer, self.rows, self.j = writer, rows, j
        self.graph, self.line = writer.graph, writer.line
        self.operations = writer.several(rows.width)
        self.types = self.operations.types
        self.names: dict[int, str] = {}
        self.single: dict[int, str] = {}  # numbers from outside

    def write(self) -> None:
        """All that happens in it."""
        writer = self.writer
        outer, writer.region = writer.region, self.rows.body
        for item in self.rows.body.items:
            if isinstance(item, int):
                if item in writer.live and item not in writer.late:
                    self._expression(item)
            else:
                assert isinstance(item, Stores)
                for buffer, at, index, a in item.moving:
                    assert index == self.rows.index
                    self._store(self.graph.kinds[a], self._name(a), buffer, at)
        writer.region = outer

    def _name(self, a: int) -> str:
        """Name of a number in all rows."""
        if a in self.names:
            return self.names[a]
        op, kind = self.graph.ops[a], self.graph.kinds[a]
        if op[0] == "is":
            return self.types.constant(op[1], kind)
        if self.graph.home[a] is self.rows.body:
            self._expression(a)
        else:
            self.names[a] = self._splat(SINGLE.of(kind), self._outside(a))
        return self.names[a]

    def _outside(self, a: int) -> str:
        """Name of a number that is the same in all rows."""
        return self.writer.name(a, self.single)

    def _expression(self, a: int) -> None:
        graph = self.graph
        op, kind = graph.ops[a], graph.kinds[a]
        if op[0] == "row":
            own = ", ".join(f"i64 {k}" for k in range(self.rows.width))
            first = self._splat("i64", self.j)
            self.names[a] = self.line(f"add {self.types.of(LONG)} {first}, <{own}>")
        elif op[0] == "load_at":
            self.names[a] = self._looked_up(kind, *op[1:])
        else:
            args = [self._name(b) for b in op[1:]]
            self.names[a] = self.operations.write(op[0], kind, graph.kinds[op[1]], args)

    def _looked_up(self, kind: str, buffer: Buffer, at: int, index: int) -> str:
        """Numbers of several rows, side by side or one by one."""
        first = self._first(index)
        if first is not None:
            whole = self.types.of(FLOAT if kind == FLOAT else LONG)
            address = self.writer.address(buffer, at, first)
            value = self.line(f"load {whole}, ptr {address}, align 8")
        else:
            value = self._one_by_one(kind, buffer, at, self._name(index))
        if kind in (FLOAT, LONG):
            return value
        return self.line(f"trunc {self.types.of(LONG)} {value} to {self.types.of(kind)}")

    def _first(self, index: int) -> str | None:
        """Where numbers that lie side by side begin; None where they do not."""
        body, op = self.rows.body, self.graph.ops[index]
        if index == self.rows.index:
            return self.j
        if op[0] == "add" and self.rows.index in op[1:]:
            (other,) = [b for b in op[1:] if b != self.rows.index] or [self.rows.index]
            if self.graph.home[other] is not body:
                return self.line(f"add i64 {self._outside(other)}, {self.j}")
        return None

    def _one_by_one(self, kind: str, buffer: Buffer, at: int, index: str) -> str:
        one = "double" if kind == FLOAT else "i64"
        T, last = self.types.several(one), "poison"
        for k in range(self.rows.width):
            place = self.line(f"extractelement {self.types.of(LONG)} {index}, i32 {k}")
            value = self.line(f"load {one}, ptr {self.writer.address(buffer, at, place)}")
            last = self.line(f"insertelement {T} {last}, {one} {value}, i32 {k}")
        return last

    def _store(self, kind: str, name: str, buffer: Buffer, at: int) -> None:
        T = self.types.of(kind)
        if kind not in (FLOAT, LONG):
            how, T = "zext" if kind in NOT_NEGATIVE else "sext", self.types.of(LONG)
            name = self.line(f"{how} {self.types.of(kind)} {name} to {T}")
        address = self.writer.address(buffer, at, self.j)
        self.writer.lines.append(f"  store {T} {name}, ptr {address}, align 8")

    def _splat(self, T: str, name: str) -> str:
        """A number in all rows."""
        vector, zeros = self.types.several(T), f"<{self.rows.width} x i32> zeroinitializer"
        one = self.line(f"insertelement {vector} poison, {T} {name}, i32 0")
        return self.line(f"shufflevector {vector} {one}, {vector} poison, {zeros}")


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
