"""Products with long fixed matrices on a GPU: loops over coefficients in shared memory.

Unrolled they would exceed the instruction cache. Rows of the result with the same pattern of zeros
go together, as in `products`. On the CPU the matrix is read where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.jit.ensemble.products import identical, pattern
from swelltree.jit.graph import FLOAT, Buffer
from swelltree.jit.operations import FLAGS
from swelltree.jit.statements import Combination

if TYPE_CHECKING:
    from swelltree.jit.ensemble.threads import ThreadWriter

SHORT = 400  # products that are written out all the same
PAIR = 2  # numbers that are loaded at once
CHAINS = 4  # sums of one result
ROOM = 48 * 1024  # bytes of memory that the threads of a block share


class LongProducts:
    """Writes them, and knows what they need.

    Args:
        writer: of the program.
    """

    def __init__(self, writer: ThreadWriter) -> None:
        self.writer = writer
        # places of fixed numbers in the order of use: what threads share, and what is far away
        self.near: list[int] = []
        self.far: list[int] = []
        self.lists: list[str] = []  # text of lists of places

    def _fits(self, count: int) -> bool:
        """Is there room for so many numbers more in the memory that a block shares?"""
        size = 4 if self.writer.float == "float" else 8
        return size * (len(self.near) + count) <= ROOM

    def suits(self, item: Combination) -> bool:
        return int(pattern(item).sum()) > SHORT and item.rows[0][0].where == "fixed"

    def globals(self) -> str:
        text = "".join(self.lists)
        for name, places in (("near", self.near), ("far", self.far)):
            kind = f"[{len(places)} x {self.writer.float}]"
            if places:
                built = f"externally_initialized global {kind} zeroinitializer, align 16\n"
                text += f"@{name} = addrspace(1) {built}"
        if self.near:
            kind = f"[{len(self.near)} x {self.writer.float}]"
            text += f"@shared = internal addrspace(3) global {kind} undef, align 16\n"
        return text

    def filling(self) -> list[str]:
        """Lines of a kernel that bring numbers near: each thread of a block takes a part."""
        if not self.near:
            return []
        T, count = self.writer.float, len(self.near)
        return [
            "  br label %bring",
            "bring:",
            "  %j = phi i32 [ %t, %entry ], [ %j.next, %brought ]",
            f"  %j.in = icmp slt i32 %j, {count}",
            "  br i1 %j.in, label %brought, label %there",
            "brought:",
            f"  %j.from = getelementptr {T}, ptr addrspace(1) @near, i32 %j",
            f"  %j.to = getelementptr {T}, ptr addrspace(3) @shared, i32 %j",
            f"  %j.value = load {T}, ptr addrspace(1) %j.from",
            f"  store {T} %j.value, ptr addrspace(3) %j.to",
            "  %j.next = add i32 %j, %d",
            "  br label %bring",
            "there:",
            "  call void @llvm.nvvm.barrier0()",
        ]

    # --- one product --------------------------------------------------------------------------
    def write(self, item: Combination, names: dict[int, str]) -> None:
        weights = self._in_memory(item, names)
        for rows, places in identical(pattern(item)):
            starts = [item.rows[k][0].start + item.rows[k][1] for k in rows]
            own = [weights[k] for k in rows]
            if not rows:
                for at in places:
                    zero = self.writer.types.constant(0.0, FLOAT)
                    self.writer._store(FLOAT, zero, self.writer.address(item.out, at))
            elif len(places) <= len(rows):
                for first in range(0, len(places), self.writer.most):
                    some = places[first : first + self.writer.most]
                    self._sums_held(item.out, some, starts, own)
            else:
                for first in range(0, len(rows), self.writer.most):
                    part = slice(first, first + self.writer.most)
                    self._weights_held(item.out, places, starts[part], own[part], first > 0)

    def _in_memory(self, item: Combination, names: dict[int, str]) -> list[int]:
        writer, graph = self.writer, self.writer.graph
        found = []
        for a in item.weights:
            op = graph.ops[a]
            if op[0] == "load" and op[1].where == "work" and writer.reads_identically(op[1]):
                found.append(op[1].start + op[2])
                continue
            scratch = graph.room(1, FLOAT)
            writer._store(FLOAT, writer.name(a, names), writer.address(scratch, 0))
            found.append(scratch.start)
        return found

    def _sums_held(
        self, out: Buffer, places: list[int], starts: list[int], weights: list[int]
    ) -> None:
        writer, T = self.writer, self.writer.float
        width = len(places) + len(places) % PAIR
        where = self._packed([[start + at for at in places] for start in starts], width)
        own, rows = self._list([writer.group * k for k in weights]), self._list(starts)
        before, head, back, end = (writer._label() for _ in range(4))
        zero, sums = writer.types.constant(0.0, FLOAT), []
        i, following = f"%i{head}", f"%n{head}"
        writer.lines += [f"  br label %{before}", f"{before}:", f"  br label %{head}", f"{head}:"]
        writer.lines.append(f"  {i} = phi i64 [ 0, %{before} ], [ {following}, %{back} ]")
        for j in range(len(places)):
            sums.append(f"%s{head}.{j}")
            writer.lines.append(
                f"  {sums[-1]} = phi {T} [ {zero}, %{before} ], [ %a{head}.{j}, %{back} ]"
            )
        weight = self._weight(self._listed(own, i))
        if writer.on_cpu:
            row = writer.line(f"getelementptr double, ptr %fixed, i64 {self._listed(rows, i)}")
            numbers = [self._fixed(row, at) for at in places]
        else:
            numbers = self._row(where, i, width, len(places))
        for j, (total, number) in enumerate(zip(sums, numbers, strict=True)):
            part = writer.line(f"fmul {FLAGS} {T} {weight}, {number}")
            writer.lines.append(f"  %a{head}.{j} = fadd {FLAGS} {T} {total}, {part}")
        self._again(i, following, back, head, end, len(weights))
        for j, at in enumerate(places):
            # the last sums are known behind the loop, which has been gone through once at least
            writer._store(FLOAT, f"%a{head}.{j}", writer.address(out, at))

    def _weights_held(
        self, out: Buffer, places: list[int], starts: list[int], weights: list[int], adds: bool
    ) -> None:
        writer, T = self.writer, self.writer.float
        width = len(starts) + len(starts) % PAIR
        where = self._packed([[start + at for start in starts] for at in places], width)
        held = [self._weight(str(writer.group * place)) for place in weights]
        into = self._list(places)
        before, head, back, end = (writer._label() for _ in range(4))
        i, following = f"%i{head}", f"%n{head}"
        writer.lines += [f"  br label %{before}", f"{before}:", f"  br label %{head}", f"{head}:"]
        writer.lines.append(f"  {i} = phi i64 [ 0, %{before} ], [ {following}, %{back} ]")
        place = self._listed(into, i)
        if writer.on_cpu:
            column = writer.line(f"getelementptr double, ptr %fixed, i64 {place}")
            numbers = [self._fixed(column, start) for start in starts]
        else:
            numbers = self._row(where, i, width, len(starts))
        total = writer.weighted(T, held, numbers)
        address = writer.address(out, 0, place)
        if adds:
            old = writer._load(FLOAT, address)
            total = writer.line(f"fadd {FLAGS} {T} {total}, {old}")
        writer._store(FLOAT, total, address)
        self._again(i, following, back, head, end, len(places))

    # --- parts --------------------------------------------------------------------------------
    def _again(self, i: str, following: str, back: str, head: str, end: str, count: int) -> None:
        # no new block may begin between these lines
        self.writer.lines += [
            f"  br label %{back}",
            f"{back}:",
            f"  {following} = add i64 {i}, 1",
            f"  %go{head} = icmp slt i64 {following}, {count}",
            f"  br i1 %go{head}, label %{head}, label %{end}",
            f"{end}:",
        ]

    def _packed(self, rows: list[list[int]], width: int) -> tuple[str, str, int]:
        """Where rows of fixed numbers lie, each filled up to a width: space, name and first."""
        places = [at for row in rows for at in row + row[-1:] * (width - len(row))]
        if self.writer.on_cpu:
            return "", "", 0
        near = self._fits(len(places))
        table = self.near if near else self.far
        first = len(table)
        table += places
        return ("addrspace(3)", "@shared", first) if near else ("addrspace(1)", "@far", first)

    def _row(self, where: tuple[str, str, int], row: str, width: int, count: int) -> list[str]:
        writer, T = self.writer, self.writer.float
        space, name, first = where
        base = writer.line(f"mul i64 {row}, {width}")
        base = writer.line(f"add i64 {base}, {first}")
        place = writer.line(f"getelementptr {T}, ptr {space} {name}, i64 {base}")
        names: list[str] = []
        align = PAIR * (4 if T == "float" else 8)
        for j in range(0, width, PAIR):
            at = writer.line(f"getelementptr {T}, ptr {space} {place}, i64 {j}")
            pair = writer.line(f"load <{PAIR} x {T}>, ptr {space} {at}, align {align}")
            names += [
                writer.line(f"extractelement <{PAIR} x {T}> {pair}, i32 {m}") for m in range(PAIR)
            ]
        return names[:count]

    def _fixed(self, base: str, at: int) -> str:
        writer = self.writer
        address = writer.line(f"getelementptr double, ptr {base}, i64 {at}")
        return writer.line(f"load {writer.float}, ptr {address}")

    def _weight(self, place: str) -> str:
        writer = self.writer
        work = "%work" if writer.clock is None else "%work.half"
        address = writer.line(f"getelementptr double, ptr {work}, i64 {place}")
        return writer.line(f"load {writer.float}, ptr {address}")

    def _list(self, places: list[int]) -> str:
        name = f"@list{len(self.lists)}"
        space = "" if self.writer.on_cpu else "addrspace(4) "
        numbers = ", ".join(f"i64 {place}" for place in places)
        kind = f"[{len(places)} x i64]"
        self.lists.append(f"{name} = internal {space}constant {kind} [{numbers}]\n")
        return name

    def _listed(self, name: str, index: str) -> str:
        writer = self.writer
        space = "" if writer.on_cpu else "addrspace(4) "
        address = writer.line(f"getelementptr i64, ptr {space}{name}, i64 {index}")
        return writer.line(f"load i64, ptr {space}{address}")
