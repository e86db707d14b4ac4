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
    """Emits long products and collects the tables they need."""

    def __init__(self, writer: ThreadWriter) -> None:
        self.writer = writer
        # places of fixed numbers in the order of use: what threads share, and what is far away
        self.near: list[int] = []
        self.far: list[int] = []
        self.lists: list[str] = []  # text of lists of places

    def _fits(self, count: int) -> bool:
        """Do so many scalars fit into shared memory?"""
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
        """Copy the coefficients to shared memory, a part by each thread of a block."""
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

        def body(i: str, sums: list[str]) -> list[str]:
            weight = self._weight(self._listed(own, i))
            numbers = self._coefficients(where, i, width, rows, places)
            found = []
            for total, x in zip(sums, numbers, strict=True):
                term = writer.line(f"fmul {FLAGS} {T} {weight}, {x}")
                found.append(writer.line(f"fadd {FLAGS} {T} {total}, {term}"))
            return found

        zero = [(T, writer.types.constant(0.0, FLOAT))] * len(places)
        totals = writer.accumulated(len(weights), 1, zero, body)
        for total, at in zip(totals, places, strict=True):
            # defined behind the loop, which runs once at least
            writer._store(FLOAT, total, writer.address(out, at))

    def _weights_held(
        self, out: Buffer, places: list[int], starts: list[int], weights: list[int], adds: bool
    ) -> None:
        writer, T = self.writer, self.writer.float
        width = len(starts) + len(starts) % PAIR
        where = self._packed([[start + at for start in starts] for at in places], width)
        held = [self._weight(str(writer.group * place)) for place in weights]
        into = self._list(places)

        def one(i: str) -> None:
            total = writer.weighted(T, held, self._coefficients(where, i, width, into, starts))
            address = writer.address(out, 0, self._listed(into, i))
            if adds:
                old = writer._load(FLOAT, address)
                total = writer.line(f"fadd {FLAGS} {T} {total}, {old}")
            writer._store(FLOAT, total, address)

        writer.counted(len(places), one)

    # --- parts --------------------------------------------------------------------------------
    def _packed(self, rows: list[list[int]], width: int) -> tuple[str, str, int]:
        """Address space, name and first index of rows of coefficients, padded to a width."""
        places = [at for row in rows for at in row + row[-1:] * (width - len(row))]
        if self.writer.on_cpu:
            return "", "", 0
        near = self._fits(len(places))
        table = self.near if near else self.far
        first = len(table)
        table += places
        return ("addrspace(3)", "@shared", first) if near else ("addrspace(1)", "@far", first)

    def _coefficients(
        self, where: tuple[str, str, int], row: str, width: int, starts: str, places: list[int]
    ) -> list[str]:
        """One row of coefficients; on the CPU from where the matrix is, its rows at `starts`."""
        writer, T = self.writer, self.writer.float
        if writer.on_cpu:
            base = writer.line(f"getelementptr double, ptr %fixed, i64 {self._listed(starts, row)}")
            return [self._fixed(base, at) for at in places]
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
        return names[: len(places)]

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
