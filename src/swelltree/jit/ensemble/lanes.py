"""Emits a graph for several cases, one in each lane of a SIMD register.

``void run(ptr fixed, ptr in, ptr lanes, ptr out, ptr work)``: `fixed` and `in` are shared, the
others hold a scalar for every lane. Uniform expressions are computed once. Divergent loops and
branches run under a mask, so that a result does not depend on the other lanes.
"""

from __future__ import annotations

from swelltree.jit.ensemble.products import UnrolledProducts, fits
from swelltree.jit.ensemble.uniform import Lanes
from swelltree.jit.functions.library import function_text
from swelltree.jit.graph import FLOAT, LONG, TRUTH, Buffer, Graph
from swelltree.jit.number_types import NOT_NEGATIVE, SINGLE, Types
from swelltree.jit.operations import Operations
from swelltree.jit.statements import (
    Choice,
    Combination,
    Loop,
)
from swelltree.jit.text import Writer

SHARED = {"fixed", "in"}
HELD, WIDE = 27, 8  # numbers of a product in the 32 registers of processors that have eight lanes


class LaneWriter(Writer):
    """Emits a function of several cases, one in each SIMD lane."""

    arguments = ("fixed", "in", "lanes", "out", "work")
    merges = True  # products of one matrix are written together
    inverts = True

    def __init__(self, graph: Graph, width: int) -> None:
        super().__init__(graph)
        self.wide = Operations(self.line, Types(width))
        self.types, self.width = self.wide.types, width
        self.lanes = self._lanes()
        self.mask: str | None = None  # lanes that are on their way; None: all
        self.slot: Buffer | None = None  # where the mask of the loop being written lies

    def _lanes(self) -> Lanes:
        return Lanes(self.graph, self.live)

    def _mask_slot(self) -> Buffer:
        return self.graph.room(1, LONG)

    def functions(self) -> str:
        single = function_text(self.operations.functions)
        return f"{single}\n{function_text(self.wide.functions, self.types)}"

    # --- regions ----------------------------------------------------------------------------
    def _loop(self, loop: Loop) -> None:
        if not self.lanes.is_masked(loop.body):
            super()._loop(loop)
            return
        outer, slot = (self.mask, self.slot), self._mask_slot()
        place = self._place(slot, 0)
        self._put_mask(self.mask or self.types.constant(True, TRUTH), place)
        head, end = self._label(), self._label()
        outer_end, self.end = self.end, end
        self.lines += [f"  br label %{head}", f"{head}:"]
        full = self.line(f"load {self.types.of(LONG)}, ptr {place}, align 8")
        zero = self.types.constant(0, LONG)
        self.mask = self.line(f"icmp ne {self.types.of(LONG)} {full}, {zero}")
        self.slot = slot
        self._region(loop.body, {})
        self.lines += [f"  br label %{head}", f"{end}:"]
        self.end, (self.mask, self.slot) = outer_end, outer

    def _put_mask(self, mask: str, place: str) -> None:
        full = self.line(f"sext {self.types.of(TRUTH)} {mask} to {self.types.of(LONG)}")
        self.lines.append(f"  store {self.types.of(LONG)} {full}, ptr {place}, align 8")

    def _any(self, mask: str) -> str:
        suffix = self.types.suffix_of("i1")
        of = self.types.of(TRUTH)
        return self.line(f"call i1 @llvm.vector.reduce.or.{suffix}({of} {mask})")

    def _leave(self, condition: int, names: dict[int, str]) -> None:
        if not self.lanes.varies(condition):
            super()._leave(condition, names)
            return
        assert self.slot is not None
        go = self.name(condition, names)
        self.mask = self._and(go)
        self._put_mask(self.mask, self._place(self.slot, 0))
        more = self._label()
        there = self._any(self.mask)
        self.lines += [f"  br i1 {there}, label %{more}, label %{self.end}", f"{more}:"]

    def _and(self, condition: str) -> str:
        if self.mask is None:
            return condition
        return self.line(f"and {self.types.of(TRUTH)} {self.mask}, {condition}")

    def _choice(self, choice: Choice, names: dict[int, str]) -> None:
        if not self.lanes.varies(choice.which):
            super()._choice(choice, names)
            return
        which, outer = self.name(choice.which, names), self.mask
        for k, branch in enumerate(choice.branches):
            number = self.types.constant(k, LONG)
            hit = self.line(f"icmp eq {self.types.of(LONG)} {which}, {number}")
            mask = self._and(hit)
            do, skip = self._label(), self._label()
            there = self._any(mask)
            self.lines += [f"  br i1 {there}, label %{do}, label %{skip}", f"{do}:"]
            self.mask = mask
            self._region(branch, {})
            self.lines += [f"  br label %{skip}", f"{skip}:"]
            self.mask = outer

    # --- memory -----------------------------------------------------------------------------
    def _place(self, buffer: Buffer, at: int, index: str | None = None) -> str:
        T = "double" if buffer.where in SHARED else self.types.of(FLOAT)
        base = self.line(f"getelementptr {T}, ptr %{buffer.where}, i64 {buffer.start + at}")
        return base if index is None else self.line(f"getelementptr {T}, ptr {base}, i64 {index}")

    def _places(self, buffer: Buffer, at: int, index: str) -> str:
        base, long = self._place(buffer, at), self.types.of(LONG)
        if buffer.where not in SHARED:
            index = self.line(f"mul {long} {index}, {self.types.constant(self.width, LONG)}")
            if self.lanes.buffer_varies(buffer):
                own = ", ".join(f"i64 {k}" for k in range(self.width))
                index = self.line(f"add {long} {index}, <{own}>")
        return self.line(f"getelementptr double, ptr {base}, {long} {index}")

    def _wide_load(self, kind: str, address: str) -> str:
        types = self.types
        if kind == FLOAT:
            return self.line(f"load {types.of(FLOAT)}, ptr {address}, align 8")
        full = self.line(f"load {types.of(LONG)}, ptr {address}, align 8")
        return full if kind == LONG else self._cut(kind, full)

    def _cut(self, kind: str, full: str) -> str:
        return self.line(f"trunc {self.types.of(LONG)} {full} to {self.types.of(kind)}")

    def _gathered(self, kind: str, addresses: str) -> str:
        """Masked gather: lanes that have left read nothing."""
        types, width = self.types, self.width
        T, one = (types.of(FLOAT), "f64") if kind == FLOAT else (types.of(LONG), "i64")
        mask = self.mask or types.constant(True, TRUTH)
        name = f"llvm.masked.gather.v{width}{one}.v{width}p0"
        value = self.line(
            f"call {T} @{name}(<{width} x ptr> align 8 {addresses}, {types.of(TRUTH)} {mask}, "
            f"{T} zeroinitializer)"
        )
        return value if kind in (FLOAT, LONG) else self._cut(kind, value)

    def _full(self, kind: str, name: str) -> tuple[str, str]:
        types = self.types
        if kind == FLOAT:
            return types.of(FLOAT), name
        if kind != LONG:
            how = "zext" if kind in NOT_NEGATIVE else "sext"
            name = self.line(f"{how} {types.of(kind)} {name} to {types.of(LONG)}")
        return types.of(LONG), name

    def _wide_store(self, kind: str, name: str, address: str, keeps_back: bool) -> None:
        T, name = self._full(kind, name)
        if keeps_back and self.mask is not None:
            old = self.line(f"load {T}, ptr {address}, align 8")
            name = self.line(f"select {self.types.of(TRUTH)} {self.mask}, {T} {name}, {T} {old}")
        self.lines.append(f"  store {T} {name}, ptr {address}, align 8")

    def _scattered(self, kind: str, name: str, addresses: str) -> None:
        T, name = self._full(kind, name)
        one = "f64" if kind == FLOAT else "i64"
        mask = self.mask or self.types.constant(True, TRUTH)
        called = f"llvm.masked.scatter.v{self.width}{one}.v{self.width}p0"
        self.lines.append(
            f"  call void @{called}({T} {name}, <{self.width} x ptr> align 8 {addresses}, "
            f"{self.types.of(TRUTH)} {mask})"
        )

    def value_for(self, buffer: Buffer, a: int, names: dict[int, str]) -> str:
        wide = self.lanes.buffer_varies(buffer)
        return (self._wide_name if wide else self.name)(a, names)

    def fetch(self, kind: str, buffer: Buffer, at: int, index: str | None, like: Buffer) -> str:
        place = self._place(buffer, at, index)
        if self.lanes.buffer_varies(buffer):
            return self._wide_load(kind, place)
        value, wide = self._load(kind, place), self.lanes.buffer_varies(like)
        return self._splatted(SINGLE.of(kind), value) if wide else value

    def put(
        self,
        buffer: Buffer,
        kind: str,
        value: str,
        at: int,
        index: str | None = None,
        divergent: bool = False,
    ) -> None:
        if divergent and index is not None:
            self._scattered(kind, value, self._places(buffer, at, index))
        elif self.lanes.buffer_varies(buffer):
            back = self.lanes.keeps_back(buffer, self.region)
            self._wide_store(kind, value, self._place(buffer, at, index), back)
        else:
            self._store(kind, value, self._place(buffer, at, index))

    def operations_for(self, buffer: Buffer) -> Operations:
        return self.wide if self.lanes.buffer_varies(buffer) else self.operations

    def is_divergent(self, a: int) -> bool:
        return self.lanes.varies(a)

    def _index_sum(self, index: str, j: str, divergent: bool) -> str:
        if divergent:
            j = self._splatted("i64", j)
        return self.line(f"add {self.types.of(LONG) if divergent else 'i64'} {index}, {j}")

    _copied, _reduction = Writer._copied_singly, Writer._reduction_singly
    _combination = Writer._combination_singly

    def _combinations(self, items: list[Combination], names: dict[int, str]) -> None:
        if not (self.merges and self.lanes.buffer_varies(items[0].out) and fits(items)):
            super()._combinations(items, names)
            return
        held = HELD if self.width >= WIDE else HELD // 2
        UnrolledProducts(self, items, names, held).write()

    # --- expressions ------------------------------------------------------------------------
    def _splatted(self, T: str, name: str) -> str:
        vector, zeros = f"<{self.width} x {T}>", f"<{self.width} x i32> zeroinitializer"
        one = self.line(f"insertelement {vector} poison, {T} {name}, i32 0")
        return self.line(f"shufflevector {vector} {one}, {vector} poison, {zeros}")

    def _wide_name(self, a: int, names: dict[int, str]) -> str:
        op, kind = self.graph.ops[a], self.graph.kinds[a]
        if op[0] == "is":
            return self.types.constant(op[1], kind)
        if self.lanes.varies(a):
            return self.name(a, names)
        wide = names.get(-a - 1)  # places of names: those in all lanes are negative
        if wide is None:
            wide = names[-a - 1] = self._splatted(SINGLE.of(kind), self.name(a, names))
        return wide

    def name(self, a: int, names: dict[int, str]) -> str:
        op = self.graph.ops[a]
        if a in names or op[0] == "is" or a in self.late or not self.lanes.varies(a):
            return super().name(a, names)
        place = self._place(*op[1:]) if op[0] == "load" else self._place(self.stored[a], 0)
        names[a] = self._wide_load(self.graph.kinds[a], place)
        return names[a]

    def address(self, buffer: Buffer, at: int, index: str | None = None) -> str:
        return self._place(buffer, at, index)

    def _expression(self, a: int, names: dict[int, str]) -> None:
        graph = self.graph
        op, kind = graph.ops[a], graph.kinds[a]
        if op[0] in ("is", "load") or not self.lanes.varies(a):
            super()._expression(a, names)
            return
        if op[0] == "load_at":
            index = self.name(op[3], names)
            if self.lanes.varies(op[3]):
                names[a] = self._gathered(kind, self._places(op[1], op[2], index))
            else:
                names[a] = self._wide_load(kind, self._place(op[1], op[2], index))
        else:
            args = [self._wide_name(b, names) for b in op[1:]]
            names[a] = self._operation(self.wide, a, args, names)
        if a in self.stored:
            self._wide_store(kind, names[a], self._place(self.stored[a], 0), False)
