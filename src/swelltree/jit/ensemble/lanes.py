"""Emits a graph for several cases, one in each lane of a SIMD register.

``void run(ptr fixed, ptr in, ptr lanes, ptr out, ptr work)``: `fixed` and `in` are shared, the
others hold a scalar for every lane. Uniform expressions are computed once. Divergent loops and
branches run under a mask, so that a result does not depend on the other lanes.
"""

from __future__ import annotations

import functools

from swelltree.jit.ensemble.products import Lines, fits, write_products
from swelltree.jit.ensemble.uniform import Lanes
from swelltree.jit.functions.library import function_text
from swelltree.jit.graph import FLOAT, LONG, TRUTH, Buffer, Graph
from swelltree.jit.number_types import NOT_NEGATIVE, SINGLE, Types
from swelltree.jit.operations import Operations
from swelltree.jit.statements import (
    Adds,
    Choice,
    Combination,
    Loop,
    MovedRow,
    Reduction,
    Stores,
)
from swelltree.jit.text import Writer

SHARED = {"fixed", "in"}
HELD, WIDE = 27, 8  # numbers of a product in the 32 registers of processors that have eight lanes


class LaneWriter(Writer):
    """Lines of one function of several cases.

    Args:
        graph: of the program.
        width: cases in parallel (SIMD lanes).
    """

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
        """Numbers of places that differ; none is read in lanes that have left."""
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

    def _stores(self, stores: Stores, names: dict[int, str]) -> None:
        lanes, kinds = self.lanes, self.graph.kinds
        into = [lanes.buffer_varies(x[0]) for x in stores.single]
        singles = [
            (self._wide_name if wide else self.name)(a, names)
            for (_, _, a), wide in zip(stores.single, into, strict=True)
        ]
        moving = []
        for buffer, _, index, a in stores.moving:
            wide = lanes.buffer_varies(buffer)
            value = (self._wide_name if wide else self.name)(a, names)
            moving.append((self.name(index, names), value, wide))
        for buffer, at, origin, start, count in stores.rows:
            self._copied(MovedRow(buffer, at, None, origin, start, count), names)
        for row in stores.moving_rows:
            self._copied(row, names)
        for (buffer, at, a), name, wide in zip(stores.single, singles, into, strict=True):
            place = self._place(buffer, at)
            if wide:
                back = lanes.keeps_back(buffer, self.region)
                self._wide_store(kinds[a], name, place, back)
            else:
                self._store(kinds[a], name, place)
        for (buffer, at, i, a), (index, name, wide) in zip(stores.moving, moving, strict=True):
            if lanes.varies(i):
                self._scattered(kinds[a], name, self._places(buffer, at, index))
            elif wide:
                back = lanes.keeps_back(buffer, self.region)
                self._wide_store(kinds[a], name, self._place(buffer, at, index), back)
            else:
                self._store(kinds[a], name, self._place(buffer, at, index))

    def _copied(self, row: MovedRow, names: dict[int, str]) -> None:
        buffer, at, index, origin, start, count = row
        lanes, types = self.lanes, self.types
        behind = None if index is None else self.name(index, names)
        wide, back = lanes.buffer_varies(buffer), lanes.keeps_back(buffer, self.region)
        kind = FLOAT if buffer.kind == FLOAT else LONG

        def one(j: str | None, k: int) -> None:
            value, further = self._copy_of(kind, origin, start + k, j, wide), behind
            if index is not None and lanes.varies(index):
                long = types.of(LONG)
                if j is not None:
                    further = self.line(f"add {long} {behind}, {self._splatted('i64', j)}")
                self._scattered(kind, value, self._places(buffer, at + k, str(further)))
                return
            if j is not None:
                further = j if behind is None else self.line(f"add i64 {behind}, {j}")
            self._stored_at(kind, value, self._place(buffer, at + k, further), wide, back)

        self.repeated(count, one)

    def _copy_of(self, kind: str, buffer: Buffer, at: int, index: str | None, wide: bool) -> str:
        place = self._place(buffer, at, index)
        if self.lanes.buffer_varies(buffer):
            return self._wide_load(kind, place)
        value = self._load(kind, place)
        return self._splatted(SINGLE.of(kind), value) if wide else value

    def _stored_at(self, kind: str, name: str, place: str, wide: bool, back: bool) -> None:
        if wide:
            self._wide_store(kind, name, place, back)
        else:
            self._store(kind, name, place)

    def _reduction(self, item: Reduction) -> None:
        wide = self.lanes.buffer_varies(item.out)
        back = self.lanes.keeps_back(item.out, self.region)
        operations = self.wide if wide else self.operations
        for k, (buffer, start) in enumerate(item.rows):
            values = [
                self._copy_of(FLOAT, buffer, start + j, None, wide) for j in range(item.count)
            ]
            total = operations.joined(item.name, values)
            self._stored_at(FLOAT, total, self._place(item.out, k), wide, back)

    def _combinations(self, items: list[Combination], names: dict[int, str]) -> None:
        lanes = self.lanes
        if not (self.merges and lanes.buffer_varies(items[0].out) and fits(items)):
            super()._combinations(items, names)
            return

        def row(buffer: Buffer, at: int) -> str:
            place = self._place(buffer, at)
            if lanes.buffer_varies(buffer):
                return self._wide_load(FLOAT, place)
            return self._splatted("double", self._load(FLOAT, place))

        def store(name: str, buffer: Buffer, at: int) -> None:
            back = lanes.keeps_back(buffer, self.region)
            self._wide_store(FLOAT, name, self._place(buffer, at), back)

        weight = functools.partial(self._wide_name, names=names)
        held = HELD if self.width >= WIDE else HELD // 2
        T = self.types.of(FLOAT)
        write_products(items, Lines(T, self.line, weight, row, store, held))

    def _adds(self, adds: Adds, names: dict[int, str]) -> None:
        for buffer, at, a in adds.terms:
            if not self.lanes.buffer_varies(buffer):
                super()._adds(Adds([(buffer, at, a)]), names)
                continue
            kind, term, place = (
                self.graph.kinds[a],
                self._wide_name(a, names),
                self._place(buffer, at),
            )
            total = self.wide.write("add", kind, kind, [self._wide_load(kind, place), term])
            self._wide_store(kind, total, place, self.lanes.keeps_back(buffer, self.region))

    def _combination(self, item: Combination, names: dict[int, str]) -> None:
        lanes = self.lanes
        wide = lanes.buffer_varies(item.out)
        weights = [(self._wide_name if wide else self.name)(a, names) for a in item.weights]
        back = lanes.keeps_back(item.out, self.region)
        T = self.types.of(FLOAT) if wide else "double"

        def row(buffer: Buffer, place: str) -> str:
            if lanes.buffer_varies(buffer):
                return self._wide_load(FLOAT, place)
            number = self._load(FLOAT, place)
            return self._splatted("double", number) if wide else number

        def one(j: str | None, at: int) -> None:
            rows = (row(buffer, self._place(buffer, start + at, j)) for buffer, start in item.rows)
            total = self.weighted(T, weights, rows)
            into = self._place(item.out, at, j)
            if wide:
                self._wide_store(FLOAT, total, into, back)
            else:
                self._store(FLOAT, total, into)

        self.repeated(item.count, one)

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
