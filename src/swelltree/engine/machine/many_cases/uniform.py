"""What is the same in all lanes of a program, and what is not.

Lanes are cases that run in parallel. A number that is made of shared arguments only is found once.
Loops and branches whose conditions differ from lane to lane go on under a mask: what they store is
kept back in lanes that have left, unless all that is ever stored and read there lies within.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from swelltree.engine.machine.graph import Buffer, Graph, Region
from swelltree.engine.machine.statements import (
    Adds,
    Choice,
    Combination,
    Leave,
    Reduction,
    Stores,
    arguments,
    inner_regions,
)

VARYING = frozenset({"lanes", "out"})  # memory with a number for each lane in any case


class Lanes:
    """Which expressions, memory and regions differ from lane to lane.

    Args:
        graph: of the program; it is complete.
        live: expressions that are needed.
        everywhere: memory with a number for each lane in any case.
    """

    def __init__(self, graph: Graph, live: set[int], everywhere: frozenset[str] = VARYING) -> None:
        self.graph, self.live, self.everywhere = graph, sorted(live), everywhere
        self.parent: dict[int, Region] = {}
        self.regions: list[Region] = []
        self._visit(graph.root)
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
        """What differs besides arguments."""

    # --- questions --------------------------------------------------------------------------
    def varies(self, a: int) -> bool:
        """Does an expression differ from lane to lane?"""
        return a in self.expressions

    def buffer_varies(self, buffer: Buffer) -> bool:
        """Has each lane numbers of its own there?"""
        return buffer.where in self.everywhere or id(buffer) in self.buffers

    def is_masked(self, region: Region) -> bool:
        """Do some lanes go through a loop or a branch, and others not?"""
        return id(region) in self.masked_regions

    def keeps_back(self, buffer: Buffer, region: Region) -> bool:
        """Must a store in a region leave other lanes as they are?"""
        span = self.span[id(buffer)]
        while region is not span:
            if self.is_masked(region):
                return True
            region = self.parent[id(region)]
        return False

    # --- how it is found --------------------------------------------------------------------
    def _visit(self, region: Region) -> None:
        self.regions.append(region)
        for item in region.items:
            for inner in inner_regions(item):
                self.parent[id(inner)] = region
                self._visit(inner)

    def _common(self, a: Region, b: Region) -> Region:
        while a is not b:
            if a.depth >= b.depth:
                a = self.parent[id(a)]
            else:
                b = self.parent[id(b)]
        return a

    def _accesses(self) -> Iterator[tuple[Buffer, Region]]:
        """Where memory is read and written."""
        ops, home = self.graph.ops, self.graph.home
        for a in self.live:
            op = ops[a]
            if op[0] == "load_at":
                yield op[1], home[a]
            for b in arguments(op):
                if ops[b][0] == "load":
                    yield ops[b][1], home[a]
        for region in self.regions:
            for item in region.items:
                if isinstance(item, int):
                    continue
                for b in item.numbers():  # type: ignore[attr-defined]
                    if ops[b][0] == "load":
                        yield ops[b][1], region
                for buffer in _memory(item):
                    yield buffer, region

    def _spread(self) -> bool:
        """One pass; returns whether more was found to differ between lanes."""
        before = len(self.expressions) + len(self.buffers) + len(self.masked_regions)
        for a in self.live:
            if a not in self.expressions and self._differs(self.graph.ops[a]):
                self.expressions.add(a)
        for region in self.regions:
            for item in region.items:
                if isinstance(item, Leave) and self.varies(item.condition):
                    self.masked_regions.add(id(region))
                elif isinstance(item, Choice) and self.varies(item.which):
                    self.masked_regions |= {id(branch) for branch in item.branches}
                elif isinstance(item, Stores | Adds | Combination | Reduction):
                    for buffer, differs in self._written(item):
                        if differs or self.keeps_back(buffer, region):
                            self.buffers.add(id(buffer))
        return len(self.expressions) + len(self.buffers) + len(self.masked_regions) > before

    def _differs(self, op: tuple[Any, ...]) -> bool:
        if op[0] in ("load", "load_at") and self.buffer_varies(op[1]):
            return True
        return any(b in self.expressions for b in arguments(op))

    def _written(
        self, item: Stores | Adds | Combination | Reduction
    ) -> Iterator[tuple[Buffer, bool]]:
        if isinstance(item, Combination | Reduction):
            rows = any(self.buffer_varies(buffer) for buffer, _ in item.rows)
            yield item.out, rows or any(self.varies(a) for a in item.numbers())
            return
        if isinstance(item, Adds):
            yield from ((buffer, self.varies(a)) for buffer, _, a in item.terms)
            return
        for buffer, _, a in item.single:
            yield buffer, self.varies(a)
        for buffer, _, index, a in item.moving:
            yield buffer, self.varies(index) or self.varies(a)
        for buffer, _, origin, _, _ in item.rows:
            yield buffer, self.buffer_varies(origin)
        for row in item.moving_rows:
            yield row.buffer, self.varies(row.behind) or self.buffer_varies(row.origin)


def _memory(item: Any) -> Iterator[Buffer]:
    if isinstance(item, Combination | Reduction):
        yield item.out
        yield from (buffer for buffer, _ in item.rows)
    elif isinstance(item, Adds):
        yield from (buffer for buffer, _, _ in item.terms)
    elif isinstance(item, Stores):
        yield from (x[0] for x in item.single)
        yield from (x[0] for x in item.moving)
        for x in item.rows:
            yield x[0]
            yield x[2]
        for row in item.moving_rows:
            yield row.buffer
            yield row.origin
