"""Programs with arrays over nodes for many cases: in lanes of registers, and in threads.

Loops over rows stay loops: each place of an array holds a number for every case, and one row is
computed for all of them at a time (`machine.rows.loops` with a width of one).
"""

from __future__ import annotations

from swelltree.jit.ensemble.lanes import LaneWriter
from swelltree.jit.ensemble.threads import ThreadWriter
from swelltree.jit.graph import FLOAT, LONG, Buffer
from swelltree.jit.number_types import SINGLE
from swelltree.jit.operations import Operations
from swelltree.jit.statements import MovedRow, Reduction, Stores

CHAINS = 4  # partial results that do not wait for one another


def brought_together(operations: Operations, name: str, values: list[str]) -> str:
    """One number of many, by an operation of two."""
    parts = values[:CHAINS]
    for k, value in enumerate(values[CHAINS:]):
        parts[k % CHAINS] = operations.write(name, FLOAT, FLOAT, [parts[k % CHAINS], value])
    total = parts[0]
    for part in parts[1:]:
        total = operations.write(name, FLOAT, FLOAT, [total, part])
    return total


class LaneRowWriter(LaneWriter):
    """Lines of a function of several cases in SIMD lanes, with loops over rows."""

    def _reduction(self, item: Reduction) -> None:
        wide = self.lanes.buffer_varies(item.out)
        back = self.lanes.keeps_back(item.out, self.region)
        for k, (buffer, start) in enumerate(item.rows):
            values = [
                self._copy_of(FLOAT, buffer, start + j, None, wide) for j in range(item.count)
            ]
            total = brought_together(self.wide if wide else self.operations, item.name, values)
            self._stored_at(FLOAT, total, self._place(item.out, k), wide, back)

    def _copy_of(self, kind: str, buffer: Buffer, at: int, index: str | None, wide: bool) -> str:
        """A number in memory, in all lanes where they are wanted."""
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

    def _stores(self, stores: Stores, names: dict[int, str]) -> None:
        if stores.moving_rows:
            self._read(stores, names)
            for row in stores.moving_rows:
                self._moved_row(row, names)
        super()._stores(Stores(stores.single, stores.moving, stores.rows), names)

    def _read(self, stores: Stores, names: dict[int, str]) -> None:
        """All numbers are read before the first is written."""
        for buffer, _, a in stores.single:
            (self._wide_name if self.lanes.buffer_varies(buffer) else self.name)(a, names)
        for buffer, _, index, a in stores.moving:
            self.name(index, names)
            (self._wide_name if self.lanes.buffer_varies(buffer) else self.name)(a, names)

    def _moved_row(self, row: MovedRow, names: dict[int, str]) -> None:
        """A row of memory into another, behind a place that is computed."""
        buffer, at, index, origin, start, count = row
        lanes, behind = self.lanes, self.name(index, names)
        wide, apart = lanes.buffer_varies(buffer), lanes.varies(index)
        back = lanes.keeps_back(buffer, self.region)
        kind, long = FLOAT if buffer.kind == FLOAT else LONG, self.types.of(LONG)

        def one(j: str | None, k: int) -> None:
            value, further = self._copy_of(kind, origin, start + k, j, wide), behind
            if apart:
                if j is not None:
                    further = self.line(f"add {long} {behind}, {self._splatted('i64', j)}")
                self._scattered(kind, value, self._places(buffer, at + k, further))
                return
            if j is not None:
                further = self.line(f"add i64 {behind}, {j}")
            self._stored_at(kind, value, self._place(buffer, at + k, further), wide, back)

        self.repeated(count, one)


class ThreadRowWriter(ThreadWriter):
    """Lines of the function of one case among many, with loops over rows."""

    def _reduction(self, item: Reduction) -> None:
        for k, (buffer, start) in enumerate(item.rows):
            values = [self._load(FLOAT, self.address(buffer, start + j)) for j in range(item.count)]
            total = brought_together(self.operations, item.name, values)
            self._store(FLOAT, total, self.address(item.out, k))

    def _stores(self, stores: Stores, names: dict[int, str]) -> None:
        if stores.moving_rows:
            self._read(stores, names)
            for row in stores.moving_rows:
                self._moved_row(row, names)
        super()._stores(Stores(stores.single, stores.moving, stores.rows), names)

    def _moved_row(self, row: MovedRow, names: dict[int, str]) -> None:
        """A row of memory into another, behind a place that is computed."""
        buffer, at, index, origin, start, count = row
        behind = self.name(index, names)
        kind = FLOAT if buffer.kind == FLOAT else LONG

        def one(j: str | None, k: int) -> None:
            value = self._load(kind, self.address(origin, start + k, j))
            further = behind if j is None else self.line(f"add i64 {behind}, {j}")
            self._store(kind, value, self.address(buffer, at + k, further))

        self.repeated(count, one)
