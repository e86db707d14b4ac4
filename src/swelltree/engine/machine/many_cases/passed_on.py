"""Sums of rows whose numbers are used where they are found: registers hand them on, not memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from swelltree.engine.machine.graph import Buffer, Graph, Region
from swelltree.engine.machine.statements import (
    Combination,
    Reduction,
    Stores,
    arguments,
    inner_regions,
)


class PassedOn:
    """Which numbers are the sums of rows, and which sums need not go to memory.

    Args:
        graph: of the program.
        live: expressions that are needed.
    """

    def __init__(self, graph: Graph, live: set[int]) -> None:
        self.graph = graph
        self.home: dict[int, Region] = {}  # by the memory of a sum: its region
        self.in_memory: set[int] = set()  # of those sums that are read otherwise
        regions = list(_regions(graph.root))
        for region in regions:
            for item in region.items:
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
            for item in region.items:
                if not isinstance(item, int):
                    self._used(item.numbers(), region)  # type: ignore[attr-defined]
                    self.in_memory |= {id(buffer) for buffer in _read(item)}

    def _used(self, numbers: Any, region: Region) -> None:
        for a in numbers:
            op = self.graph.ops[a]
            if op[0] == "load" and self.home.get(id(op[1])) is not region:
                self.in_memory.add(id(op[1]))

    def is_sum(self, buffer: Buffer) -> bool:
        """Is it the memory of a sum?"""
        return id(buffer) in self.home

    def needs_memory(self, buffer: Buffer) -> bool:
        """Is a sum read elsewhere than where it is found?"""
        return id(buffer) in self.in_memory

    def expressions(self, buffer: Buffer, at: int) -> list[int]:
        """Those that stand for a number of a sum."""
        return self.loads.get((id(buffer), at), [])


def _regions(region: Region) -> Iterator[Region]:
    yield region
    for item in region.items:
        for inner in inner_regions(item):
            yield from _regions(inner)


def _read(item: Any) -> Iterator[Buffer]:
    """Memory that a statement reads."""
    if isinstance(item, Combination | Reduction):
        yield from (buffer for buffer, _ in item.rows)
    elif isinstance(item, Stores):
        yield from (x[2] for x in item.rows)
        yield from (row.origin for row in item.moving_rows)
