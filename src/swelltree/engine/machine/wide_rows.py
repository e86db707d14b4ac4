"""A graph as a function of one case, the rows of its `Each` side by side in registers.

As many rows as a register holds go through a body together; the last pass takes the last rows,
some of them for a second time, which gives the same results and counts once in sums.
"""

from __future__ import annotations

from swelltree.engine.machine.graph import FLOAT, LONG, Buffer, Graph, Region
from swelltree.engine.machine.many_cases.lanes import LaneWriter
from swelltree.engine.machine.many_cases.uniform import Lanes
from swelltree.engine.machine.native import lane_width
from swelltree.engine.machine.operations import FLAGS
from swelltree.engine.machine.statements import (
    Combination,
    Each,
    Loop,
    Reduction,
    Rows,
    Stores,
    inner_regions,
)
from swelltree.engine.machine.text import Writer


def text_of(graph: Graph) -> str:
    """The whole text of a program of one case."""
    width = lane_width()
    # arrays that are computed in loops of their own have their own vectors
    wide = [] if _has_rows(graph.root) else _wide(graph.root, width)
    return (RowWriter(graph, width, wide) if wide else Writer(graph)).function()


def _has_rows(region: Region) -> bool:
    """Is there a loop over the rows of whole arrays?"""
    return any(
        isinstance(item, Rows | Reduction) or any(map(_has_rows, inner_regions(item)))
        for item in region.items
    )


def _wide(region: Region, width: int) -> list[Each]:
    """The outermost of those with as many rows as go together."""
    found: list[Each] = []
    for item in region.items:
        if isinstance(item, Each) and item.count >= width:
            found.append(item)
            continue
        for inner in inner_regions(item):
            found += _wide(inner, width)
    return found


class RowLanes(Lanes):
    """What differs from row to row.

    Args:
        graph: of the program.
        live: expressions that are needed.
        wide: whose rows go together.
    """

    def __init__(self, graph: Graph, live: set[int], wide: list[Each]) -> None:
        self.wide = wide
        # how a loop counts and what it keeps is written otherwise
        self.apart = {id(item) for each in wide for item in (each.leave, each.last)}
        super().__init__(graph, live, frozenset())

    def _begin(self) -> None:
        self.buffers |= {id(each.counter) for each in self.wide}

    def _counts(self, item: object) -> bool:
        return id(item) not in self.apart


class RowWriter(LaneWriter):
    """Lines of one function.

    Args:
        graph: of the program.
        width: rows side by side.
        wide: whose rows go together.
    """

    arguments = Writer.arguments
    merges = inverts = False

    def __init__(self, graph: Graph, width: int, wide: list[Each]) -> None:
        self.each = {id(each): each for each in wide}
        super().__init__(graph, width)
        self.row: Each | None = None  # that is being written
        self.first = ""  # number of the first of the rows that go together
        self.starts: dict[int, int] = {}  # of memory with a number for each lane
        self.slots: list[Buffer] = []
        varying = [buffer for a, buffer in self.kept.items() if self.lanes.varies(a)]
        self.many = {id(buffer) for buffer in varying}

    def _mark(self, region: Region) -> None:
        super()._mark(region)
        for each in self.each.values():
            if each.body is region:  # a sum may have taken its terms apart
                for _, _, a in (*each.rows, *each.sums):
                    self._need(a)
                    self._used(a, region)

    def _lanes(self) -> Lanes:
        return RowLanes(self.graph, self.live, list(self.each.values()))

    def _mask_slot(self) -> Buffer:
        slot = super()._mask_slot()
        self.slots.append(slot)
        self.many.add(id(slot))
        return slot

    # --- regions ----------------------------------------------------------------------------
    def _loop(self, loop: Loop) -> None:
        if id(loop) not in self.each:
            super()._loop(loop)
            return
        each = self.each[id(loop)]
        long, width, last = self.types.of(LONG), self.width, each.count - self.width
        sums = self._zeros(each)
        before, head, back, end = (self._label() for _ in range(4))
        k, following, go = f"%j{self.count}", f"%k{self.count}", f"%go{self.count}"
        self.lines += [f"  br label %{before}", f"{before}:", f"  br label %{head}", f"{head}:"]
        self.lines.append(f"  {k} = phi i64 [ 0, %{before} ], [ {following}, %{back} ]")
        within = self.line(f"icmp slt i64 {k}, {last}")
        self.first = self.line(f"select i1 {within}, i64 {k}, i64 {last}")
        own = ", ".join(f"i64 {j}" for j in range(width))
        index = self.line(f"add {long} {self._splatted('i64', self.first)}, <{own}>")
        self._wide_store(LONG, index, self._place(each.counter, 0), False)
        self.row = each
        names = {each.index: index}
        outer, self.region = self.region, loop.body
        self._items(self._body(each), names)
        self._kept_rows(each, names)
        new = None
        if each.count % width:
            new = self.line(f"icmp sge {long} {index}, {self._splatted('i64', k)}")
        self._added(each, names, sums, new)
        self.region, self.row = outer, None
        self.lines += [f"  br label %{back}", f"{back}:"]
        self.lines.append(f"  {following} = add i64 {k}, {width}")
        self.lines.append(f"  {go} = icmp slt i64 {following}, {each.count}")
        self.lines += [f"  br i1 {go}, label %{head}, label %{end}", f"{end}:"]
        self._totals(each, sums)

    def _body(self, each: Each) -> Region:
        """The region without its counting and its stores."""
        own = set(each.last.numbers()) | {each.leave.condition, each.index}
        own -= {a for _, _, a in (*each.rows, *each.sums)}
        kept = [
            item
            for item in each.body.items
            if item is not each.leave
            and item is not each.last
            and not (isinstance(item, int) and item in own and self.uses.get(item, 0) <= 1)
        ]
        return Region(each.body.depth, kept)

    def _kept_rows(self, each: Each, names: dict[int, str]) -> None:
        """Results of some rows go to memory, side by side where a row is a single number."""
        sizes: dict[int, int] = {}
        for buffer, _, _ in each.rows:
            sizes[id(buffer)] = sizes.get(id(buffer), 0) + 1
        for buffer, at, a in each.rows:
            size, kind = sizes[id(buffer)], self.graph.kinds[a]
            value = self._wide_name(a, names)
            if size == 1:
                self._wide_store(kind, value, self._place(buffer, at, self.first), False)
                continue
            index, long = names[each.index], self.types.of(LONG)
            far = self.line(f"mul {long} {index}, {self.types.constant(size, LONG)}")
            self._scattered(kind, value, self._places(buffer, at, far))

    def _zeros(self, each: Each) -> list[Buffer]:
        """Memory of sums for each lane."""
        found = []
        for _, _, a in each.sums:
            kind = self.graph.kinds[a]
            slot = self.graph.room(1, kind)
            self.slots.append(slot)
            self.many.add(id(slot))
            zero = self.types.constant(0, kind)
            self._wide_store(kind, zero, self._place(slot, 0), False)
            found.append(slot)
        return found

    def _added(
        self, each: Each, names: dict[int, str], sums: list[Buffer], new: str | None
    ) -> None:
        """Terms are added to the sums of their lanes; not those of rows that were there before."""
        for (_, _, a), slot in zip(each.sums, sums, strict=True):
            kind = self.graph.kinds[a]
            T, place, term = self.types.of(kind), self._place(slot, 0), self._wide_name(a, names)
            if new is not None:
                term = self.wide.chosen(new, T, term, self.types.constant(0, kind))
            before = self._wide_load(kind, place)
            self._wide_store(kind, self.wide.write("add", kind, kind, [before, term]), place, False)

    def _totals(self, each: Each, sums: list[Buffer]) -> None:
        """Sums over the lanes."""
        for (buffer, at, a), slot in zip(each.sums, sums, strict=True):
            kind = self.graph.kinds[a]
            T, lanes = self.types.of(kind), self._wide_load(kind, self._place(slot, 0))
            suffix = (
                self.types.suffix
                if kind == FLOAT
                else self.types.suffix_of("i64" if kind == LONG else "i32")
            )
            if kind == FLOAT:
                name = f"llvm.vector.reduce.fadd.{suffix}"
                total = self.line(f"call reassoc {FLAGS} double @{name}(double 0.0, {T} {lanes})")
            else:
                one = "i64" if kind == LONG else "i32"
                total = self.line(f"call {one} @llvm.vector.reduce.add.{suffix}({T} {lanes})")
            self._store(kind, total, self.address(buffer, at))

    # --- memory -----------------------------------------------------------------------------
    def _is_many(self, buffer: Buffer) -> bool:
        """Has each lane numbers of its own there?"""
        return self.lanes.buffer_varies(buffer) or id(buffer) in self.many

    def _place(self, buffer: Buffer, at: int, index: str | None = None) -> str:
        if not self._is_many(buffer):
            return Writer.address(self, buffer, at, index)
        if id(buffer) not in self.starts:
            self.starts[id(buffer)] = self.graph.room(self.width * buffer.size, FLOAT).start
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
        else:
            super()._stores(stores, names)

    def _combination(self, item: Combination, names: dict[int, str]) -> None:
        if self.lanes.buffer_varies(item.out):
            super()._combination(item, names)
        else:
            Writer._combination(self, item, names)

    # --- expressions ------------------------------------------------------------------------
    def _expression(self, a: int, names: dict[int, str]) -> None:
        op, kind = self.graph.ops[a], self.graph.kinds[a]
        beside = op[0] == "load_at" and self._is_beside(op[3]) and not self._is_many(op[1])
        if not beside:
            super()._expression(a, names)
            return
        place = self._place(op[1], op[2], self.first)
        for more in self._offset(op[3]):
            place = self.line(f"getelementptr double, ptr {place}, i64 {self.name(more, names)}")
        names[a] = self._wide_load(kind, place)
        if a in self.kept:
            self._wide_store(kind, names[a], self._place(self.kept[a], 0), False)

    def _is_beside(self, index: int) -> bool:
        """Do places of rows that go together lie side by side?"""
        return self.row is not None and (index == self.row.index or bool(self._offset(index)))

    def _offset(self, index: int) -> list[int]:
        """What is added to the number of the row, the same for all of them."""
        op = self.graph.ops[index]
        if self.row is None or op[0] != "add" or self.row.index not in op[1:]:
            return []
        other = op[2] if op[1] == self.row.index else op[1]
        return [] if self.lanes.varies(other) else [other]
