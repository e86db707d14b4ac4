"""Divergence analysis: which expressions, memory and regions differ from lane to lane.

Stores in divergent regions are masked, unless all uses of the memory lie within. `Clock` finds the
expressions that stay float64 in float32 programs: those of time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from swelltree.jit.graph import FLOAT, Buffer, Graph, Region, Statement
from swelltree.jit.statements import (
    Adds,
    Choice,
    Leave,
    OfRows,
    Stores,
    arguments,
    nested,
    statements,
)

VARYING = frozenset({"lanes", "out"})  # memory with a number for each lane in any case


class Lanes:
    """What diverges between lanes; memory `everywhere` has a number for each in any case."""

    def __init__(self, graph: Graph, live: set[int], everywhere: frozenset[str] = VARYING) -> None:
        self.graph, self.live, self.everywhere = graph, sorted(live), everywhere
        self.parent: dict[int, Region] = {}
        self.regions = list(nested(graph.root))
        for region in self.regions:
            for item in statements(region):
                self.parent |= {id(inner): region for inner in item.regions()}
        self.span: dict[int, Region] = {}  # of a buffer: the region in which all of its life is
        for buffer, region in self._accesses():
            known = self.span.get(id(buffer))
            self.span[id(buffer)] = region if known is None else self._common(known, region)
        self.expressions: set[int] = set()
        self.buffers: set[int] = set()
        self.masked_regions: set[int] = set()
        self._begin()
        while self._spread():
            pass

    def _begin(self) -> None:
        """Set what diverges besides arguments."""

    # --- questions --------------------------------------------------------------------------
    def varies(self, a: int) -> bool:
        return a in self.expressions

    def buffer_varies(self, buffer: Buffer) -> bool:
        return buffer.where in self.everywhere or id(buffer) in self.buffers

    def is_masked(self, region: Region) -> bool:
        """Do only some lanes execute a loop or a branch?"""
        return id(region) in self.masked_regions

    def keeps_back(self, buffer: Buffer, region: Region) -> bool:
        """Must a store in a region be masked?"""
        span = self.span[id(buffer)]
        while region is not span:
            if self.is_masked(region):
                return True
            region = self.parent[id(region)]
        return False

    # --- how it is found --------------------------------------------------------------------
    def _common(self, a: Region, b: Region) -> Region:
        while a is not b:
            if a.depth >= b.depth:
                a = self.parent[id(a)]
            else:
                b = self.parent[id(b)]
        return a

    def _accesses(self) -> Iterator[tuple[Buffer, Region]]:
        ops, home = self.graph.ops, self.graph.home
        for a in self.live:
            op = ops[a]
            if op[0] == "load_at":
                yield op[1], home[a]
            for b in arguments(op):
                if ops[b][0] == "load":
                    yield ops[b][1], home[a]
        for region in self.regions:
            for item in statements(region):
                for b in item.numbers():
                    if ops[b][0] == "load":
                        yield ops[b][1], region
                for buffer in (*item.reads(), *(x[0] for x in item.writes())):
                    yield buffer, region

    def _spread(self) -> bool:
        """One pass of the fixed-point iteration; returns whether anything was added."""
        before = len(self.expressions) + len(self.buffers) + len(self.masked_regions)
        for a in self.live:
            if a not in self.expressions and self._differs(self.graph.ops[a]):
                self.expressions.add(a)
        for region in self.regions:
            for item in statements(region):
                if isinstance(item, Leave) and self.varies(item.condition):
                    self.masked_regions.add(id(region))
                elif isinstance(item, Choice) and self.varies(item.which):
                    self.masked_regions |= {id(branch) for branch in item.branches}
                for buffer, differs in self._written(item):
                    if differs or self.keeps_back(buffer, region):
                        self.buffers.add(id(buffer))
        return len(self.expressions) + len(self.buffers) + len(self.masked_regions) > before

    def _differs(self, op: tuple[Any, ...]) -> bool:
        if op[0] in ("load", "load_at") and self.buffer_varies(op[1]):
            return True
        return any(b in self.expressions for b in arguments(op))

    def _written(self, item: Statement) -> Iterator[tuple[Buffer, bool]]:
        """Memory that a statement writes, and whether its values differ from lane to lane."""
        for buffer, numbers, memory in item.writes():
            yield buffer, any(map(self.varies, numbers)) or any(map(self.buffer_varies, memory))


# --- Time in programs whose floats have four bytes: it is kept in eight

TIMES = "in"  # memory of times, and of what else is given anew


class Clock(Lanes):
    """Which expressions and buffers stay float64 in a float32 program."""

    def __init__(self, graph: Graph, live: set[int], stored: dict[int, Buffer]) -> None:
        super().__init__(graph, live)
        self.timed: set[int] = set()  # expressions that times are in
        self.timed_buffers: set[int] = set()
        while self._pass_on():
            pass
        # and what these are made of
        self.long: set[int] = set()
        todo = [a for a in self.timed if graph.kinds[a] == FLOAT]
        for a in self.timed:
            todo += self._floats(a)
        todo += [a for buffer, a in self._stored() if self.holds(buffer)]
        while todo:
            a = todo.pop()
            if a not in self.long and graph.kinds[a] == FLOAT and not self.varies(a):
                self.long.add(a)
                todo += self._floats(a)
        self.timed_buffers |= {id(buffer) for a, buffer in stored.items() if a in self.long}

    def holds(self, buffer: Buffer) -> bool:
        return buffer.kind == FLOAT and buffer.where == "work" and id(buffer) in self.timed_buffers

    def has_part_in(self, a: int) -> bool:
        """Is an expression float64, or computed from float64 only?"""
        op = self.graph.ops[a]
        if a in self.long or (op[0] == "load_at" and self.holds(op[1])):
            return True
        known = [b for b in self._floats(a) if self.graph.ops[b][0] != "is"]
        full = self.graph.kinds[a] != FLOAT
        return full and bool(known) and all(b in self.long for b in known)

    # --- how it is found --------------------------------------------------------------------
    def _begin(self) -> None:
        for region in self.regions:
            for item in statements(region):
                if isinstance(item, OfRows):
                    rows = {id(buffer) for buffer in item.reads() if buffer.where == "work"}
                    self.buffers |= {id(item.out), *rows}
                elif isinstance(item, Adds):
                    self.buffers |= {id(buffer) for buffer, _, _ in item.terms}

    def _floats(self, a: int) -> list[int]:
        return [b for b in arguments(self.graph.ops[a]) if self.graph.kinds[b] == FLOAT]

    def _stored(self) -> list[tuple[Buffer, int]]:
        found = []
        for region in self.regions:
            for item in region.items:
                if isinstance(item, Stores):
                    found += [(buffer, a) for buffer, _, a, _ in item.written]
        return found

    def _pass_on(self) -> bool:
        """One pass of the fixed-point iteration; returns whether anything was added."""
        before = len(self.timed) + len(self.timed_buffers)
        for a in self.live:
            op = self.graph.ops[a]
            if a in self.timed or self.varies(a):
                continue
            read = op[0] in ("load", "load_at") and self._has_times(op[1])
            if read or any(b in self.timed for b in arguments(op)):
                self.timed.add(a)
        for buffer, a in self._stored():
            if a in self.timed and not self.buffer_varies(buffer):
                self.timed_buffers.add(id(buffer))
        for region in self.regions:
            for item in statements(region):
                if isinstance(item, Stores):
                    for buffer, _, memory in item.writes():
                        if any(map(self._has_times, memory)) and not self.buffer_varies(buffer):
                            self.timed_buffers.add(id(buffer))
        return len(self.timed) + len(self.timed_buffers) > before

    def _has_times(self, buffer: Buffer) -> bool:
        return buffer.where == TIMES or id(buffer) in self.timed_buffers
