"""Emits a graph for one case as LLVM IR.

``void run(ptr fixed, ptr in, ptr out, ptr work)``: four arrays of scalars of eight bytes. An
expression that is used in a deeper region than its own is spilled to working memory. Names in the
text are numbered; nothing in it comes from outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from swelltree.jit.functions.library import function_text
from swelltree.jit.graph import FLOAT, LONG, Buffer, Graph, Region
from swelltree.jit.number_types import NOT_NEGATIVE, SINGLE, Types
from swelltree.jit.operations import FLAGS, Operations
from swelltree.jit.rows.loops import write_reduction
from swelltree.jit.statements import (
    Adds,
    Choice,
    Combination,
    Leave,
    Loop,
    Reduction,
    Row,
    Rows,
    Stores,
    arguments,
)

WIDTHS = (8, 4, 2, 1)  # numbers in one register
PART = 300  # lines of one block
CHAINS = 4  # partial sums in parallel
UNROLL_LIMIT = 8  # numbers that are copied individually
INVERSE = -(10**9)  # names of inverse numbers come before this one


class Writer:
    arguments = ("fixed", "in", "out", "work")
    float = "double"  # type of one
    present = "out"  # memory that there is, which LLVM does not know
    inverts = False  # divisors of several numbers are inverted once

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lines: list[str] = []
        self.operations = Operations(self.line)
        self.on_several: dict[int, Operations] = {}
        self.count = 0
        self.stored: dict[int, Buffer] = {}  # working memory of numbers used in deeper regions
        self.live: set[int] = set()
        self.region = graph.root  # that is being written
        self.part = PART  # lines after which a new block begins
        self.end = ""  # label behind the loop that is being written
        self.uses: dict[int, int] = {}
        self._mark(graph.root)
        self.late: set[int] = set()  # written where they are used
        self._defer(graph.root)
        self.divisors = self._divisors() if self.inverts else set[tuple[int, int]]()

    # --- which are needed, and where ----------------------------------------------------------
    def _mark(self, region: Region) -> None:
        for item in region.items:
            if isinstance(item, int):
                continue
            for a in item.numbers():
                self._need(a)
                self._used(a, region)
            for inner in item.regions():
                self._mark(inner)

    def _need(self, a: int) -> None:
        todo = [a]
        while todo:
            a = todo.pop()
            if a in self.live:
                continue
            self.live.add(a)
            for b in arguments(self.graph.ops[a]):
                self._used(b, self.graph.home[a])
                todo.append(b)

    def _used(self, a: int, region: Region) -> None:
        graph = self.graph
        self.uses[a] = self.uses.get(a, 0) + 1
        if graph.ops[a][0] in ("is", "load") or graph.home[a] is region or a in self.stored:
            return
        self.stored[a] = graph.room(1, graph.kinds[a])

    def _defer(self, region: Region) -> None:
        """Mark expressions that are emitted at their use.

        Products that are used once: fewer registers, and contraction to FMA. Sums that are weights
        of a row, too.
        """
        ops, pending, weights = self.graph.ops, set[int](), set[int]()
        for item in region.items:
            if isinstance(item, int):
                if item not in self.live:
                    continue
                pending -= (found := pending.intersection(arguments(ops[item])))
                self.late |= found
                once = self.uses.get(item) == 1 and item not in self.stored
                if ops[item][0] == "mul" and once:
                    pending.add(item)
                if ops[item][0] in ("mul", "add", "sub") and once:
                    weights.add(item)
                continue
            if isinstance(item, Combination):  # its memory is new: nothing else changes
                self.late |= weights.intersection(item.weights)
                continue
            pending, weights = set(), set()  # memory may change
            for inner in item.regions():
                self._defer(inner)

    def _divisors(self) -> set[tuple[int, int]]:
        """(region, expression) of divisors that are used more than once."""
        graph, found = self.graph, Counter[tuple[int, int]]()
        for a in self.live:
            if graph.ops[a][0] == "div" and graph.kinds[a] == FLOAT:
                found[id(graph.home[a]), graph.ops[a][2]] += 1
        return {place for place, count in found.items() if count > 1}

    # --- lines ------------------------------------------------------------------------------
    def line(self, text: str) -> str:
        if len(self.lines) >= self.part:
            self._parted()
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def _parted(self) -> None:
        """Begin another basic block: LLVM's time is quadratic in its length.

        The branch is always taken, which LLVM must not know, or it would merge the blocks.
        """
        self.part = len(self.lines) + PART
        there = self.line(f"icmp ne ptr %{self.present}, {self._nowhere()}")
        more = self._label()
        self.lines += [f"  br i1 {there}, label %{more}, label %never", f"{more}:"]

    def _nowhere(self) -> str:
        return "null"

    def functions(self) -> str:
        several = [function_text(x.functions, x.types) for x in self.on_several.values()]
        return "\n".join([function_text(self.operations.functions), *several])

    def several(self, width: int) -> Operations:
        if width not in self.on_several:
            self.on_several[width] = Operations(self.line, Types(width))
        return self.on_several[width]

    def function(self) -> str:
        self._region(self.graph.root, {})
        body = "\n".join(self.lines)
        arguments = ", ".join(f"ptr noalias %{name}" for name in self.arguments)
        return (
            f"{self.functions()}\ndefine void @run({arguments}) nounwind {{\n"
            f"entry:\n{body}\n  ret void\nnever:\n  ret void\n}}\n"
        )

    def _region(self, region: Region, names: dict[int, str]) -> None:
        outer, self.region = self.region, region
        self._items(region, names)
        self.region = outer

    def _items(self, region: Region, names: dict[int, str]) -> None:
        done: set[int] = set()  # statements that went with an earlier one
        for k, item in enumerate(region.items):
            if isinstance(item, int):
                if item in self.live and item not in self.late:
                    self._expression(item, names)
            elif id(item) in done:
                continue
            elif isinstance(item, Stores):
                self._stores(item, names)
            elif isinstance(item, Leave):
                self._leave(item.condition, names)
            elif isinstance(item, Rows):
                self._rows(item)
            elif isinstance(item, Adds):
                self._adds(item, names)
            elif isinstance(item, Reduction):
                self._reduction(item)
            elif isinstance(item, Loop):
                self._loop(item)
            elif isinstance(item, Combination):
                group = self._together(region, k)
                done |= {id(x) for x in group}
                self._combinations(group, names)
            else:
                assert isinstance(item, Choice)
                self._choice(item, names)

    def _reduction(self, item: Reduction) -> None:
        write_reduction(self, item)

    def _label(self) -> str:
        self.count += 1
        return f"L{self.count}"

    def _loop(self, loop: Loop) -> None:
        head, end = self._label(), self._label()
        outer, self.end = self.end, end
        self.lines += [f"  br label %{head}", f"{head}:"]
        self._region(loop.body, {})
        self.lines += [f"  br label %{head}", f"{end}:"]
        self.end = outer

    def _rows(self, rows: Rows) -> None:
        def row(j: str) -> None:
            if rows.index in self.stored:
                self._store(LONG, j, self.address(self.stored[rows.index], 0))
            self._region(rows.body, {rows.index: j})

        self.counted(rows.count, row)

    def _leave(self, condition: int, names: dict[int, str]) -> None:
        more, go = self._label(), self.name(condition, names)
        self.lines += [f"  br i1 {go}, label %{more}, label %{self.end}", f"{more}:"]

    def _choice(self, choice: Choice, names: dict[int, str]) -> None:
        which = self.name(choice.which, names)
        labels = [self._label() for _ in choice.branches]
        end = self._label()
        cases = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels[:-1]))
        self.lines.append(f"  switch i64 {which}, label %{labels[-1]} [{cases}]")
        for label, branch in zip(labels, choice.branches, strict=True):
            self.lines.append(f"{label}:")
            self._region(branch, {})
            self.lines.append(f"  br label %{end}")
        self.lines.append(f"{end}:")

    def repeated(self, count: int, one: Callable[[str | None, int], None]) -> None:
        """Emit `one` for each of some indices: unrolled, or once in a loop."""
        if count <= UNROLL_LIMIT:
            for k in range(count):
                one(None, k)
        else:
            self.counted(count, lambda j: one(j, 0))

    def counted(self, count: int, one: Callable[[str], None]) -> None:
        """Emit `one` once, in a loop with the name of its counter."""

        def body(j: str, _: list[str]) -> list[str]:
            one(j)
            return []

        self.accumulated(count, 1, [], body)

    def accumulated(
        self,
        count: int,
        step: int,
        sums: list[tuple[str, str]],
        body: Callable[[str, list[str]], list[str]],
    ) -> list[str]:
        """Emit a loop that carries values in registers; gives their names behind it.

        Args:
            count: end of the counter.
            step: of the counter.
            sums: type and first value of each.
            body: from the names of the counter and of the values, the names of the next values.
        """
        before, head, back, end = (self._label() for _ in range(4))
        number, lines = self.count, self.lines
        j, following, go = f"%j{number}", f"%k{number}", f"%go{number}"
        lines += [f"  br label %{before}", f"{before}:", f"  br label %{head}", f"{head}:"]
        lines.append(f"  {j} = phi i64 [ 0, %{before} ], [ {following}, %{back} ]")
        top, names = len(lines), [f"%s{number}.{m}" for m in range(len(sums))]
        found = body(j, names)
        lines[top:top] = [
            f"  {name} = phi {T} [ {first}, %{before} ], [ {value}, %{back} ]"
            for name, (T, first), value in zip(names, sums, found, strict=True)
        ]
        lines += [f"  br label %{back}", f"{back}:", f"  {following} = add i64 {j}, {step}"]
        lines.append(f"  {go} = icmp slt i64 {following}, {count}")
        lines += [f"  br i1 {go}, label %{head}, label %{end}", f"{end}:"]
        return found

    # --- memory -----------------------------------------------------------------------------
    def address(self, buffer: Buffer, at: int, index: str | None = None) -> str:
        place = buffer.start + at
        base = self.line(f"getelementptr double, ptr %{buffer.where}, i64 {place}")
        return (
            base if index is None else self.line(f"getelementptr double, ptr {base}, i64 {index}")
        )

    def _load(self, kind: str, address: str) -> str:
        if kind == FLOAT:
            return self.line(f"load {self.float}, ptr {address}")
        full = self.line(f"load i64, ptr {address}")
        if kind == LONG:
            return full
        return self.line(f"trunc i64 {full} to {SINGLE.of(kind)}")

    def _store(self, kind: str, name: str, address: str) -> None:
        if kind == FLOAT:
            self.lines.append(f"  store {self.float} {name}, ptr {address}")
            return
        if kind != LONG:
            how = "zext" if kind in NOT_NEGATIVE else "sext"
            name = self.line(f"{how} {SINGLE.of(kind)} {name} to i64")
        self.lines.append(f"  store i64 {name}, ptr {address}")

    # what follows is the same for one case, lanes and threads: they differ in these four
    def value_for(self, buffer: Buffer, a: int, names: dict[int, str]) -> str:
        """Name of an expression in the type that a buffer holds."""
        return self.name(a, names)

    def fetch(self, kind: str, buffer: Buffer, at: int, index: str | None, like: Buffer) -> str:
        """A scalar of a buffer, in the type that another one holds."""
        return self._load(kind, self.address(buffer, at, index))

    def put(
        self,
        buffer: Buffer,
        kind: str,
        value: str,
        at: int,
        index: str | None = None,
        divergent: bool = False,
    ) -> None:
        """Store a scalar; a divergent index differs from lane to lane."""
        self._store(kind, value, self.address(buffer, at, index))

    def operations_for(self, buffer: Buffer) -> Operations:
        """Operations in the type that a buffer holds."""
        return self.operations

    def is_divergent(self, a: int) -> bool:
        return False

    def _stores(self, stores: Stores, names: dict[int, str]) -> None:
        # all is read before the first is written
        numbers = [
            (None if i is None else self.name(i, names), self.value_for(b, a, names))
            for b, _, a, i in stores.written
        ]
        for row in stores.rows:
            if row.offset is not None:
                self.name(row.offset, names)
        for row in stores.rows:
            self._copied(row, names)
        for (buffer, at, a, i), (index, value) in zip(stores.written, numbers, strict=True):
            divergent = i is not None and self.is_divergent(i)
            self.put(buffer, self.graph.kinds[a], value, at, index, divergent)

    def _copied(self, row: Row, names: dict[int, str]) -> None:
        """Contiguous copy to a place that may be computed."""
        if not row.size:
            return
        index = None if row.offset is None else self.name(row.offset, names)
        to, source = self.address(row.buffer, row.at, index), self.address(row.origin, row.start)
        size = f"i64 {8 * row.size}, i1 false"
        self.lines.append(f"  call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, {size})")

    def _copied_singly(self, row: Row, names: dict[int, str]) -> None:
        buffer, at, origin, start, count, index = row
        behind = None if index is None else self.name(index, names)
        divergent = index is not None and self.is_divergent(index)
        kind = FLOAT if buffer.kind == FLOAT else LONG

        def one(j: str | None, k: int) -> None:
            value, further = self.fetch(kind, origin, start + k, j, buffer), behind
            if j is not None:
                further = j if behind is None else self._index_sum(behind, j, divergent)
            self.put(buffer, kind, value, at + k, further, divergent)

        self.repeated(count, one)

    def _index_sum(self, index: str, j: str, divergent: bool) -> str:
        return self.line(f"add i64 {index}, {j}")

    def _reduction_singly(self, item: Reduction) -> None:
        for k, (buffer, start) in enumerate(item.rows):
            values = [
                self.fetch(FLOAT, buffer, start + j, None, item.out) for j in range(item.count)
            ]
            total = self.operations_for(item.out).joined(item.name, values)
            self.put(item.out, FLOAT, total, k)

    def _combination_singly(self, item: Combination, names: dict[int, str]) -> None:
        weights = [self.value_for(item.out, a, names) for a in item.weights]
        T = self.operations_for(item.out).F

        def one(j: str | None, at: int) -> None:
            rows = (
                self.fetch(FLOAT, buffer, start + at, j, item.out) for buffer, start in item.rows
            )
            self.put(item.out, FLOAT, self.weighted(T, weights, rows), at, j)

        self.repeated(item.count, one)

    def _together(self, region: Region, first: int) -> list[Combination]:
        item = region.items[first]
        assert isinstance(item, Combination)
        group = [item]
        for other in region.items[first + 1 :]:
            if isinstance(other, int):
                if other not in self.live or self.graph.ops[other][0] in ("is", "load"):
                    continue
                break
            if not isinstance(other, Combination) or other.rows != item.rows:
                break
            if self.operations_for(other.out) is not self.operations_for(item.out):
                break  # one differs from lane to lane, the other does not
            group.append(other)
        return group

    def _combinations(self, items: list[Combination], names: dict[int, str]) -> None:
        for item in items:
            self._combination(item, names)

    def _adds(self, adds: Adds, names: dict[int, str]) -> None:
        for buffer, at, a in adds.terms:
            kind, term = self.graph.kinds[a], self.value_for(buffer, a, names)
            both = [self.fetch(kind, buffer, at, None, buffer), term]
            total = self.operations_for(buffer).write("add", kind, kind, both)
            self.put(buffer, kind, total, at)

    def _combination(self, item: Combination, names: dict[int, str]) -> None:
        """Weighted sum of rows, vectorised over its elements, with independent partial sums."""
        weights = [self.name(a, names) for a in item.weights]

        def some(width: int, at: int, index: str | None = None) -> None:
            vector = f"<{width} x double>" if width > 1 else "double"
            rows = (
                self.line(f"load {vector}, ptr {self.address(buffer, start + at, index)}, align 8")
                for buffer, start in item.rows
            )
            total = self.weighted(vector, [self._splat(width, w) for w in weights], rows)
            address = self.address(item.out, at, index)
            self.lines.append(f"  store {vector} {total}, ptr {address}, align 8")

        def full(j: str | None, k: int) -> None:
            index = None if j is None else self.line(f"mul i64 {j}, {WIDTHS[0]}")
            some(WIDTHS[0], WIDTHS[0] * k, index)

        registers = item.count // WIDTHS[0]
        self.repeated(registers, full)
        at = WIDTHS[0] * registers
        while at < item.count:
            width = next(w for w in WIDTHS if w <= item.count - at)
            some(width, at)
            at += width

    def weighted(self, T: str, weights: list[str], rows: Iterable[str]) -> str:
        """Weighted sum of values of a type, in `CHAINS` independent partial sums."""
        sums: list[str] = []
        for k, (weight, row) in enumerate(zip(weights, rows, strict=True)):
            part = self.line(f"fmul {FLAGS} {T} {weight}, {row}")
            if k < CHAINS:
                sums.append(part)
            else:
                sums[k % CHAINS] = self.line(f"fadd {FLAGS} {T} {sums[k % CHAINS]}, {part}")
        total = sums[0]
        for other in sums[1:]:
            total = self.line(f"fadd {FLAGS} {T} {total}, {other}")
        return total

    def _splat(self, width: int, name: str) -> str:
        if width == 1:
            return name
        vector = f"<{width} x double>"
        one = self.line(f"insertelement {vector} poison, double {name}, i32 0")
        zeros = f"<{width} x i32> zeroinitializer"
        return self.line(f"shufflevector {vector} {one}, {vector} poison, {zeros}")

    # --- expressions ------------------------------------------------------------------------
    def name(self, a: int, names: dict[int, str]) -> str:
        """Name of an expression in this region; loaded if it was spilled in another."""
        if a in names:
            return names[a]
        graph, op = self.graph, self.graph.ops[a]
        if op[0] == "is":
            return SINGLE.constant(op[1], graph.kinds[a])
        if op[0] == "load":
            name = self._load(graph.kinds[a], self.address(op[1], op[2]))
        elif a in self.late:
            self._late_expressions(a, names)
            return names[a]
        else:
            name = self._load(graph.kinds[a], self.address(self.stored[a], 0))
        names[a] = name
        return name

    def _late_expressions(self, a: int, names: dict[int, str]) -> None:
        """Emit a deferred expression and the deferred operands beneath it."""
        todo = [a]
        while todo:
            beneath = arguments(self.graph.ops[todo[-1]])
            waiting = [b for b in beneath if b in self.late and not self._is_named(b, names)]
            if waiting:
                todo += waiting
                continue
            b = todo.pop()
            if not self._is_named(b, names):
                self._expression(b, names)

    def _is_named(self, a: int, names: dict[int, str]) -> bool:
        return a in names

    def _expression(self, a: int, names: dict[int, str]) -> None:
        op, kind = self.graph.ops[a], self.graph.kinds[a]
        if op[0] in ("is", "load", "row"):  # where they are used
            return
        if op[0] == "load_at":
            index = self.name(op[3], names)
            names[a] = self._load(kind, self.address(op[1], op[2], index))
        else:
            args = [self.name(b, names) for b in op[1:]]
            names[a] = self._operation(self.operations, a, args, names)
        if a in self.stored:
            self._store(kind, names[a], self.address(self.stored[a], 0))

    def _operation(
        self, operations: Operations, a: int, args: list[str], names: dict[int, str]
    ) -> str:
        op, kind, of = (
            self.graph.ops[a],
            self.graph.kinds[a],
            self.graph.kinds[self.graph.ops[a][1]],
        )
        if op[0] != "div" or (id(self.region), op[2]) not in self.divisors:
            return operations.write(op[0], kind, of, args)
        key = INVERSE * operations.types.width - op[2]
        if key not in names:
            one = operations.types.constant(1.0, FLOAT)
            names[key] = operations.write("div", FLOAT, FLOAT, [one, args[1]])
        return operations.write("mul", FLOAT, FLOAT, [args[0], names[key]])
