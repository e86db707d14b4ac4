"""Emits a graph for one case per GPU thread, in groups of the size of a warp.

The same text runs on the CPU, thread after thread, for tests. With float32, what `Clock`
selects (time) stay float64.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from swelltree.jit.ensemble.kernels import TRIPLE, entry_text
from swelltree.jit.ensemble.long_products import LongProducts
from swelltree.jit.ensemble.products import UnrolledProducts, fits
from swelltree.jit.ensemble.uniform import Clock
from swelltree.jit.functions.library import function_text, short_function_text
from swelltree.jit.graph import FLOAT, Buffer, Graph, Region
from swelltree.jit.number_types import SINGLE, Types
from swelltree.jit.operations import Operations
from swelltree.jit.statements import Combination, arguments, nested, statements
from swelltree.jit.text import Writer

# --- Sums of rows whose numbers are used where they are found: registers hand them on, not memory


class PassedOn:
    """Which combinations stay in registers, and which need memory."""

    def __init__(self, graph: Graph, live: set[int]) -> None:
        self.graph = graph
        self.home: dict[int, Region] = {}  # by the memory of a sum: its region
        self.in_memory: set[int] = set()  # of those sums that are read otherwise
        regions = list(nested(graph.root))
        for region in regions:
            for item in statements(region):
                if isinstance(item, Combination):
                    self.home[id(item.out)] = region
        self.loads: dict[tuple[int, int], list[int]] = defaultdict(list)
        for a in sorted(live):
            op = graph.ops[a]
            if op[0] == "load":
                self.loads[id(op[1]), op[2]].append(a)
            elif op[0] == "load_at":
                self.in_memory.add(id(op[1]))
            self._used(arguments(op), graph.home[a])
        for region in regions:
            for item in statements(region):
                self._used(item.numbers(), region)
                self.in_memory |= {id(buffer) for buffer in item.reads()}

    def _used(self, numbers: Any, region: Region) -> None:
        for a in numbers:
            op = self.graph.ops[a]
            if op[0] == "load" and self.home.get(id(op[1])) is not region:
                self.in_memory.add(id(op[1]))

    def is_sum(self, buffer: Buffer) -> bool:
        return id(buffer) in self.home

    def needs_memory(self, buffer: Buffer) -> bool:
        """Is a combination read outside of its region?"""
        return id(buffer) in self.in_memory

    def expressions(self, buffer: Buffer, at: int) -> list[int]:
        return self.loads.get((id(buffer), at), [])


GROUP = 32  # threads of a warp
CONSTANTS = 8000  # numbers: the memory of constants has 64 kB
SLOTS = "held"  # their name; each has a slot of eight bytes
HELD = 60  # numbers of a product that registers hold: they have room for twice as many
LONG_NAME = -(10**11)  # names of float64 among others come before this one
SHARED = {"fixed", "in"}
PLACES = ("lanes", "out", "work")
HALF = ".half"  # behind the names of places: of float32


class ThreadWriter(Writer):
    """Emits the function of one case per GPU thread.

    Args:
        graph: of the program.
        float: type of floats, "double" or "float".
        on_cpu: the text is for this processor, not for another.
    """

    arguments = ("fixed", "in", "lanes", "out", "work")
    present = "fixed"  # others are found from what LLVM knows to be none
    inverts = True
    group, most = GROUP, HELD

    def __init__(self, graph: Graph, float: str = "double", on_cpu: bool = False) -> None:
        super().__init__(graph)
        self.types, self.float, self.on_cpu = Types(1, float), float, on_cpu
        self.operations = Operations(self.line, self.types)
        self.constant: set[str] = set()  # addresses of what is never written
        self.passed_on = PassedOn(graph, self.live)
        self.long_products = LongProducts(self)
        self.constants: dict[int, int] = {}  # places of fixed numbers in the memory of constants
        self.clock: Clock | None = None
        if float == "float":
            self.clock = Clock(graph, self.live, self.stored)
            self.long = Operations(self.line, SINGLE)
            self.arguments = (*self.arguments, *(f"{name}{HALF}" for name in PLACES))

    def functions(self) -> str:
        short = self.operations.short_functions
        names = self.operations.functions | short
        if self.clock is not None:
            names |= self.long.functions
        return f"{function_text(names, libm=self.on_cpu)}\n{short_function_text(short)}"

    def function(self) -> str:
        one = super().function().replace("define void @run(", "define internal void @one(")
        # within the kernel it is known that all memory is that of the device
        one = (
            one.replace(") nounwind {\nentry:", ") alwaysinline nounwind {\nentry:") + "!0 = !{}\n"
        )
        lists = self.long_products.globals()
        rows = ["fixed", "in", *(f"p.{name}" for name in PLACES)]
        sizes = [f"n.{name}" for name in PLACES]
        group = [f"  %group = udiv i64 %thread, {GROUP}", f"  %lane = urem i64 %thread, {GROUP}"]
        lines = [*group, *_placed(self.clock is not None)]
        if self.on_cpu:
            return lists + one + entry_text(rows, [*sizes, "n.threads"], lines, True)
        count = max(len(self.constants), 1)
        constants = (
            f"@held = addrspace(4) externally_initialized global [{count} x double] "
            "zeroinitializer\n"
        )
        kernel = entry_text(rows, sizes, lines, False, self.long_products.filling())
        return f'target triple = "{TRIPLE}"\n{constants}{lists}{one}{kernel}'

    def memory(self) -> dict[str, tuple[int, ...]]:
        """Indices of the fixed scalars that global variables of the kernel hold, by name."""
        long = self.long_products
        held = {SLOTS: tuple(self.constants), "near": tuple(long.near), "far": tuple(long.far)}
        return {name: places for name, places in held.items() if places}

    def _nowhere(self) -> str:
        # another one each time: what is known of one does not hold for the next
        return f"inttoptr (i64 {1 + self.count % 251} to ptr)"

    # --- memory -----------------------------------------------------------------------------
    def address(self, buffer: Buffer, at: int, index: str | None = None) -> str:
        if buffer.where == "fixed" and index is None and not self.on_cpu:
            slot = self._constant(buffer.start + at)
            if slot is not None:
                return f"addrspace(4) getelementptr (double, ptr addrspace(4) @held, i64 {slot})"
        place, stride, where = buffer.start + at, 1, buffer.where
        if buffer.where not in SHARED:
            place, stride = GROUP * place, GROUP
            if self.clock is not None and buffer.kind == FLOAT and not self.clock.holds(buffer):
                where += HALF
        base = self.line(f"getelementptr double, ptr %{where}, i64 {place}")
        if index is not None:
            if stride > 1:
                index = self.line(f"mul i64 {index}, {stride}")
            base = self.line(f"getelementptr double, ptr {base}, i64 {index}")
        if buffer.where in SHARED or buffer.where == "lanes":
            self.constant.add(base)
        return base

    def _constant(self, place: int) -> int | None:
        """Index of a fixed scalar in constant memory; None where it is full."""
        if place not in self.constants and len(self.constants) >= CONSTANTS:
            return None
        return self.constants.setdefault(place, len(self.constants))

    def _load(self, kind: str, address: str) -> str:
        # stores need not be waited for
        mark = ", !invariant.load !0" if address in self.constant else ""
        return super()._load(kind, address + mark)

    _copied, _reduction = Writer._copied_singly, Writer._reduction_singly
    _combination = Writer._combination_singly

    # --- float64 among float32 -------------------------------------------------------------
    def value_for(self, buffer: Buffer, a: int, names: dict[int, str]) -> str:
        long = self.clock is not None and self.clock.holds(buffer)
        return self._long_name(a, names) if long else self.name(a, names)

    def fetch(self, kind: str, buffer: Buffer, at: int, index: str | None, like: Buffer) -> str:
        address = self.address(buffer, at, index)
        if self.clock is not None and self.clock.holds(like):
            return self._long_load(buffer, address)
        return self._short_load(buffer, address, kind)

    def put(
        self,
        buffer: Buffer,
        kind: str,
        value: str,
        at: int,
        index: str | None = None,
        divergent: bool = False,
    ) -> None:
        self._put(buffer, kind, value, self.address(buffer, at, index))

    def _put(self, buffer: Buffer, kind: str, value: str, address: str) -> None:
        if self.clock is not None and self.clock.holds(buffer):
            self.lines.append(f"  store double {value}, ptr {address}")
        else:
            self._store(kind, value, address)

    def _short_load(self, buffer: Buffer, address: str, kind: str) -> str:
        if self.clock is not None and self.clock.holds(buffer):
            return self._rounded(self.line(f"load double, ptr {address}"))
        return self._load(kind, address)

    def _long_load(self, buffer: Buffer, address: str) -> str:
        assert self.clock is not None
        if self.clock.holds(buffer):
            return self.line(f"load double, ptr {address}")
        first = self._lengthened(self._load(FLOAT, address))
        if buffer.where not in SHARED:
            return first
        # the rest of it is in the other half
        rest = self.line(f"getelementptr float, ptr {address}, i64 1")
        space = "addrspace(4) " if address.startswith("addrspace(4)") else ""
        rest = self._lengthened(self.line(f"load float, ptr {space}{rest}"))
        return self.line(f"fadd double {first}, {rest}")

    def reads_identically(self, buffer: Buffer) -> bool:
        """Is a buffer in memory, with the float type of all others?"""
        return not (
            self.passed_on.is_sum(buffer) or (self.clock is not None and self.clock.holds(buffer))
        )

    def _lengthened(self, name: str) -> str:
        return self.line(f"fpext float {name} to double")

    def _rounded(self, name: str) -> str:
        return self.line(f"fptrunc double {name} to float")

    def _is_long(self, a: int) -> bool:
        return self.clock is not None and a in self.clock.long

    def _long_name(self, a: int, names: dict[int, str]) -> str:
        key, op = LONG_NAME - a, self.graph.ops[a]
        if op[0] == "is":
            return SINGLE.constant(op[1], FLOAT)
        if key not in names:
            if op[0] == "load":
                names[key] = self._long_load(op[1], self.address(op[1], op[2]))
            elif not self._is_long(a):
                names[key] = self._lengthened(self.name(a, names))
            elif a in self.late:
                self._expression(a, names)
            else:
                address = self.address(self.stored[a], 0)
                names[key] = self.line(f"load double, ptr {address}")
        return names[key]

    def _is_named(self, a: int, names: dict[int, str]) -> bool:
        return a in names or LONG_NAME - a in names

    def _expression(self, a: int, names: dict[int, str]) -> None:
        clock, op = self.clock, self.graph.ops[a]
        if clock is None or op[0] in ("is", "load", "row") or not clock.has_part_in(a):
            super()._expression(a, names)
            return
        kinds, is_long = self.graph.kinds, a in clock.long
        kind = kinds[a]
        if op[0] == "load_at":
            address = self.address(op[1], op[2], self.name(op[3], names))
            if is_long:
                name = self._long_load(op[1], address)
            else:  # each thread reads another one
                name = self._short_load(op[1], address, kind)
        else:
            args = [(self._long_name if kinds[b] == FLOAT else self.name)(b, names) for b in op[1:]]
            name = self.long.write(op[0], kind, kinds[op[1]], args)
        names[LONG_NAME - a if is_long else a] = name
        if a in self.stored:
            self._put(self.stored[a], kind, name, self.address(self.stored[a], 0))

    def _combinations(self, items: list[Combination], names: dict[int, str]) -> None:
        if self.long_products.suits(items[0]):
            for item in items:
                self.long_products.write(item, names)
            return
        if not fits(items):
            super()._combinations(items, names)
            return

        few = items[0].count * len(items) <= HELD

        def store(buffer: Buffer, at: int, name: str) -> None:
            if few:
                for a in self.passed_on.expressions(buffer, at):
                    names[a] = name
            if not few or self.passed_on.needs_memory(buffer):
                self._store(FLOAT, name, self.address(buffer, at))

        UnrolledProducts(self, items, names, HELD, store).write()

    def name(self, a: int, names: dict[int, str]) -> str:
        op = self.graph.ops[a]
        if op[0] == "is":
            return self.types.constant(op[1], self.graph.kinds[a])
        if a not in names and self.clock is not None:
            if op[0] == "load":
                kind = self.graph.kinds[a]
                names[a] = self._short_load(op[1], self.address(op[1], op[2]), kind)
            elif self._is_long(a):
                names[a] = self._rounded(self._long_name(a, names))
        return super().name(a, names)


def _placed(short: bool) -> list[str]:
    """Addresses of a thread's memory, and its function."""
    lines = []
    for name in PLACES:
        lines += [
            f"  %{name}.g = mul i64 %group, %n.{name}",
            f"  %{name}.a = mul i64 %{name}.g, {GROUP}",
            f"  %{name}.b = add i64 %{name}.a, %lane",
            f"  %{name} = getelementptr double, ptr %p.{name}, i64 %{name}.b",
        ]
        if short:
            lines += [
                f"  %{name}.c = getelementptr double, ptr %p.{name}, i64 %{name}.a",
                f"  %{name}{HALF} = getelementptr float, ptr %{name}.c, i64 %lane",
            ]
    names = ("fixed", "in", *PLACES, *(f"{name}{HALF}" for name in PLACES if short))
    return [*lines, f"  call void @one({', '.join(f'ptr %{name}' for name in names)})"]
