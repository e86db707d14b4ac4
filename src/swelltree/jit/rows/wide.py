"""Emits a graph for one case with loops over rows vectorised.

Where memory ends with the last row, the last pass takes the last full register: some rows are
computed twice, with the same results, and count once in sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from swelltree.jit.ensemble.lanes import LaneWriter
from swelltree.jit.ensemble.uniform import Lanes
from swelltree.jit.functions.library import function_text
from swelltree.jit.graph import FLOAT, LONG, Buffer, Graph, Region, Statement
from swelltree.jit.native import lane_width
from swelltree.jit.number_types import SINGLE
from swelltree.jit.operations import FLAGS
from swelltree.jit.statements import (
    Adds,
    Combination,
    Row,
    Rows,
    Stores,
    nested,
    statements,
)
from swelltree.jit.text import Writer


def text_of(graph: Graph) -> str:
    """LLVM IR of a program of one case."""
    width = lane_width()
    wide = list(_wide(graph.root, width))
    return (RowWriter(graph, width, wide) if wide else Writer(graph)).function()


def _wide(region: Region, width: int) -> Iterator[Rows]:
    for item in statements(region):
        few = isinstance(item, Rows) and 1 < item.width <= width
        if few and isinstance(item, Rows) and (item.excess or item.count >= item.width):
            yield item
            continue
        for inner in item.regions():
            yield from _wide(inner, width)


class RowLanes(Lanes):
    """Which expressions and buffers diverge between rows."""

    def __init__(self, graph: Graph, live: set[int], wide: list[Rows]) -> None:
        self.wide = wide
        self.within = {id(region) for rows in wide for region in nested(rows.body)}
        super().__init__(graph, live, frozenset())

    def _begin(self) -> None:
        self.expressions |= {rows.index for rows in self.wide}
        # elsewhere there is one of everything
        home = self.graph.home
        self.live = [a for a in self.live if id(home[a]) in self.within]
        self.regions = [region for region in self.regions if id(region) in self.within]

    def _written(self, item: Statement) -> Iterator[tuple[Buffer, bool]]:
        """Buffers used within a row only; others have a place for each row."""
        for buffer, differs in super()._written(item):
            if id(self.span[id(buffer)]) in self.within:
                yield buffer, differs


class RowWriter(LaneWriter):
    """Emits one function with vectorised loops over rows."""

    arguments = Writer.arguments
    _reduction = Writer._reduction
    merges, inverts = False, True

    def __init__(self, graph: Graph, width: int, wide: list[Rows]) -> None:
        self.loops = {id(rows): rows for rows in wide}
        super().__init__(graph, width)
        self.most = width  # rows in parallel in any loop
        self.row: Rows | None = None  # loop that is being written
        self.first = ""  # number of the first of the rows that go together
        self.starts: dict[int, int] = {}  # of memory with a number for each lane
        self.slots: list[Buffer] = []
        varying = [buffer for a, buffer in self.stored.items() if self.lanes.varies(a)]
        self.many = {id(buffer) for buffer in varying}

    def _lanes(self) -> Lanes:
        return RowLanes(self.graph, self.live, list(self.loops.values()))

    def _mask_slot(self) -> Buffer:
        slot = super()._mask_slot()
        self.slots.append(slot)
        self.many.add(id(slot))
        return slot

    def functions(self) -> str:
        more = [x for width, x in self.on_several.items() if width != self.most and x.functions]
        return "\n".join(
            [super().functions(), *(function_text(x.functions, x.types) for x in more)]
        )

    # --- loops ------------------------------------------------------------------------------
    def _rows(self, rows: Rows) -> None:
        if id(rows) not in self.loops:
            super()._rows(rows)
            return
        wide = self.wide
        if rows.width != self.width:
            self.wide = self.several(rows.width)
        self.types, self.width = self.wide.types, rows.width
        if rows.count <= rows.width and not _terms(rows):
            self._pass(rows, "0", [])
        else:
            self._passes(rows)
        self.wide, self.types, self.width = wide, wide.types, wide.types.width

    def _passes(self, rows: Rows) -> None:
        kinds = [self.graph.kinds[a] for _, _, a in _terms(rows)]
        sums = [(self.types.of(kind), self.types.constant(0, kind)) for kind in kinds]
        totals = self.accumulated(
            rows.count, self.width, sums, lambda k, names: self._pass(rows, k, names)
        )
        for (buffer, at, a), total in zip(_terms(rows), totals, strict=True):
            self._add_lanes(self.graph.kinds[a], total, self.address(buffer, at))

    def _pass(self, rows: Rows, k: str, sums: list[str]) -> list[str]:
        """Emit `width` rows from row k on; gives the names of the sums, added to those before."""
        long, width, last = self.types.of(LONG), self.width, rows.count - self.width
        self.first, partial = k, rows.count % width > 0
        if partial and not rows.excess:
            within = self.line(f"icmp slt i64 {k}, {last}")
            self.first = self.line(f"select i1 {within}, i64 {k}, i64 {last}")
        own = ", ".join(f"i64 {m}" for m in range(width))
        index = self.line(f"add {long} {self._splatted('i64', self.first)}, <{own}>")
        if rows.index in self.stored:
            self._wide_store(LONG, index, self._place(self.stored[rows.index], 0), False)
        outer, self.region, self.row = self.region, rows.body, rows
        names = {rows.index: index}
        self._items(rows.body, names)
        new = None  # rows that count
        if sums and partial and rows.excess:
            new = self.line(f"icmp slt {long} {index}, {self.types.constant(rows.count, LONG)}")
        elif sums and partial:
            new = self.line(f"icmp sge {long} {index}, {self._splatted('i64', k)}")
        totals = []
        for (_, _, a), before in zip(_terms(rows), sums, strict=True):
            kind, term = self.graph.kinds[a], self._wide_name(a, names)
            if new is not None:
                zero = self.types.constant(0, kind)
                term = self.wide.chosen(new, self.types.of(kind), term, zero)
            totals.append(self.wide.write("add", kind, kind, [before, term]))
        self.region, self.row = outer, None
        return totals

    def _adds(self, adds: Adds, names: dict[int, str]) -> None:
        if self.row is None or self.region is not self.row.body:  # else with the loop
            super()._adds(adds, names)

    def _add_lanes(self, kind: str, lanes: str, place: str) -> None:
        T = self.types.of(kind)
        if kind == FLOAT:
            name = f"llvm.vector.reduce.fadd.{self.types.suffix}"
            total = self.line(f"call reassoc {FLAGS} double @{name}(double 0.0, {T} {lanes})")
        else:
            one = "i64" if kind == LONG else "i32"
            name = f"llvm.vector.reduce.add.{self.types.suffix_of(one)}"
            total = self.line(f"call {one} @{name}({T} {lanes})")
        both = [self._load(kind, place), total]
        self._store(kind, self.operations.write("add", kind, kind, both), place)

    # --- memory -----------------------------------------------------------------------------
    def _is_many(self, buffer: Buffer) -> bool:
        return self.lanes.buffer_varies(buffer) or id(buffer) in self.many

    def _place(self, buffer: Buffer, at: int, index: str | None = None) -> str:
        if not self._is_many(buffer):
            return Writer.address(self, buffer, at, index)
        if id(buffer) not in self.starts:
            self.starts[id(buffer)] = self.graph.room(self.most * buffer.size, FLOAT).start
        start, T = self.starts[id(buffer)] + self.width * at, self.types.of(FLOAT)
        base = self.line(f"getelementptr double, ptr %work, i64 {start}")
        return base if index is None else self.line(f"getelementptr {T}, ptr {base}, i64 {index}")

    def _places(self, buffer: Buffer, at: int, index: str) -> str:
        base, long = self._place(buffer, at), self.types.of(LONG)
        if self._is_many(buffer):
            index = self.line(f"mul {long} {index}, {self.types.constant(self.width, LONG)}")
            own = ", ".join(f"i64 {k}" for k in range(self.width))
            index = self.line(f"add {long} {index}, <{own}>")
        return self.line(f"getelementptr double, ptr {base}, {long} {index}")

    def _stores(self, stores: Stores, names: dict[int, str]) -> None:
        if self.row is None:
            Writer._stores(self, stores, names)
            return
        # results of rows have places of their own; all is read before any of it is written
        results = [(b, k, a, i) for b, k, a, i in stores.written if self._is_result(b, i)]
        values = [self._wide_name(a, names) for _, _, a, _ in results]
        rest = [x for x in stores.written if not self._is_result(x[0], x[3])]
        super()._stores(Stores(rest, stores.rows), names)
        for (buffer, at, a, index), value in zip(results, values, strict=True):
            assert index is not None
            kind = self.graph.kinds[a]
            if self._is_adjacent(index):
                place = self._adjacent(buffer, at, index, names)
                self._wide_store(kind, value, place, False)
            else:
                places = self._places(buffer, at, self.name(index, names))
                self._scattered(kind, value, places)

    def _copied(self, row: Row, names: dict[int, str]) -> None:
        (Writer._copied if self.row is None else Writer._copied_singly)(self, row, names)

    def _is_result(self, buffer: Buffer, index: int | None) -> bool:
        return index is not None and self.lanes.varies(index) and not self._is_many(buffer)

    def _combination(self, item: Combination, names: dict[int, str]) -> None:
        if self.lanes.buffer_varies(item.out):
            super()._combination(item, names)
        else:
            Writer._combination(self, item, names)

    # --- expressions ------------------------------------------------------------------------
    def _expression(self, a: int, names: dict[int, str]) -> None:
        op, kind = self.graph.ops[a], self.graph.kinds[a]
        if op[0] == "row":
            return
        adjacent = op[0] == "load_at" and self._is_adjacent(op[3]) and not self._is_many(op[1])
        few = op[0] == "load_at" and self._is_far_apart(op[3]) and not self._is_many(op[1])
        if not adjacent and not few:
            super()._expression(a, names)
            return
        if few:
            names[a] = self._one_by_one(kind, op, names)
        else:
            names[a] = self._wide_load(kind, self._adjacent(op[1], op[2], op[3], names))
        if a in self.stored:
            self._wide_store(kind, names[a], self._place(self.stored[a], 0), False)

    def _one_by_one(self, kind: str, op: tuple[Any, ...], names: dict[int, str]) -> str:
        assert self.row is not None
        _, buffer, at, index = op
        step, more = self._steps(index)
        T, full = FLOAT if kind == FLOAT else LONG, "zeroinitializer"
        vector, one = self.types.of(T), SINGLE.of(T)
        for k in range(self.row.count):
            place = self._place(buffer, at + k * step)
            for a in more:
                name = self.name(a, names)
                place = self.line(f"getelementptr double, ptr {place}, i64 {name}")
            number = self.line(f"load {one}, ptr {place}")
            full = self.line(f"insertelement {vector} {full}, {one} {number}, i32 {k}")
        return full if kind in (FLOAT, LONG) else self._cut(kind, full)

    def _is_far_apart(self, index: int) -> bool:
        row = self.row
        return row is not None and row.count <= row.width and bool(self._steps(index)[0])

    def _steps(self, index: int) -> tuple[int, list[int]]:
        """Constant stride of rows in an index, zero if there is none, and other terms."""
        graph, row = self.graph, self.row
        assert row is not None
        op, more = graph.ops[index], list[int]()
        if op[0] == "add":
            varying = [a for a in op[1:] if self.lanes.varies(a)]
            if len(varying) != 1:
                return 0, []
            more = [a for a in op[1:] if a not in varying]
            op = graph.ops[varying[0]]
        if op[0] != "mul" or row.index not in op[1:]:
            return 0, []
        other = op[2] if op[1] == row.index else op[1]
        return int(graph.value(other) or 0), more

    def _adjacent(self, buffer: Buffer, at: int, index: int, names: dict[int, str]) -> str:
        place = self._place(buffer, at, self.first)
        for more in self._offset(index):
            place = self.line(f"getelementptr double, ptr {place}, i64 {self.name(more, names)}")
        return place

    def _is_adjacent(self, index: int) -> bool:
        return self.row is not None and (index == self.row.index or bool(self._offset(index)))

    def _offset(self, index: int) -> list[int]:
        op = self.graph.ops[index]
        if self.row is None or op[0] != "add" or self.row.index not in op[1:]:
            return []
        other = op[2] if op[1] == self.row.index else op[1]
        return [] if self.lanes.varies(other) else [other]


def _terms(rows: Rows) -> list[tuple[Buffer, int, int]]:
    return [term for item in rows.body.items if isinstance(item, Adds) for term in item.terms]
