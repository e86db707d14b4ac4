"""Time in programs whose floats have four bytes: it is kept in eight.

After an hour a float32 resolves time to a quarter of a millisecond, and 0.2 s
from the next by none of the last samples: steps would be counted wrong, and none would have the
length that its matrices were made for. So what is found from times and shared numbers alone (time,
steps and their count, places between points of a grid) has eight bytes, and is rounded where
numbers of a case come in.
"""

from __future__ import annotations

from swelltree.engine.machine.graph import FLOAT, Buffer, Graph, Region
from swelltree.engine.machine.many_cases.uniform import Lanes
from swelltree.engine.machine.statements import (
    Adds,
    Combination,
    Reduction,
    Stores,
    arguments,
    inner_regions,
)

TIMES = "in"  # memory of times, and of what else is given anew


class Clock(Lanes):
    """Which expressions and which memory have eight bytes among floats of four.

    Args:
        graph: of the program; it is complete.
        live: expressions that are needed.
        kept: memory of expressions that are used in deeper regions.
    """

    def __init__(self, graph: Graph, live: set[int], kept: dict[int, Buffer]) -> None:
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
        self.timed_buffers |= {id(buffer) for a, buffer in kept.items() if a in self.long}

    def holds(self, buffer: Buffer) -> bool:
        """Has memory room for float64?"""
        return buffer.kind == FLOAT and buffer.where == "work" and id(buffer) in self.timed_buffers

    def has_part_in(self, a: int) -> bool:
        """Is an expression such a float, or found from such floats only?"""
        op = self.graph.ops[a]
        if a in self.long or (op[0] == "load_at" and self.holds(op[1])):
            return True
        known = [b for b in self._floats(a) if self.graph.ops[b][0] != "is"]
        whole = self.graph.kinds[a] != FLOAT
        return whole and bool(known) and all(b in self.long for b in known)

    # --- how it is found --------------------------------------------------------------------
    def _begin(self) -> None:
        """Memory that is gone through row by row has float32."""
        self._rowwise(self.graph.root)

    def _rowwise(self, region: Region) -> None:
        for item in region.items:
            if isinstance(item, Combination | Reduction):
                rows = {id(buffer) for buffer, _ in item.rows if buffer.where == "work"}
                self.buffers |= {id(item.out), *rows}
            elif isinstance(item, Adds):
                self.buffers |= {id(buffer) for buffer, _, _ in item.terms}
            for inner in inner_regions(item):
                self._rowwise(inner)

    def _floats(self, a: int) -> list[int]:
        return [b for b in arguments(self.graph.ops[a]) if self.graph.kinds[b] == FLOAT]

    def _stored(self) -> list[tuple[Buffer, int]]:
        """Numbers that go to memory."""
        found = []
        for region in self.regions:
            for item in region.items:
                if isinstance(item, Stores):
                    found += [(buffer, a) for buffer, _, a in item.single]
                    found += [(buffer, a) for buffer, _, _, a in item.moving]
        return found

    def _pass_on(self) -> bool:
        """One pass; returns whether more times were found."""
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
            for item in region.items:
                if isinstance(item, Stores):
                    copies = [(row[0], row[2]) for row in item.rows]
                    copies += [(row.buffer, row.origin) for row in item.moving_rows]
                    for buffer, origin in copies:
                        if self._has_times(origin) and not self.buffer_varies(buffer):
                            self.timed_buffers.add(id(buffer))
        return len(self.timed) + len(self.timed_buffers) > before

    def _has_times(self, buffer: Buffer) -> bool:
        return buffer.where == TIMES or id(buffer) in self.timed_buffers
