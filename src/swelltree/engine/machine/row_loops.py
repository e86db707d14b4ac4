"""Long arrays stay arrays: their rows are computed in loops.

Arrays over nodes, points or samples would be many numbers. Rows of such an array are those along
its first axes up to one of a length that was named (`RowLoops.lengths`). An operation on rows is
written once, in the body of a loop over them; operations on as many rows share a loop as long as
none needs rows of another kind. What is needed elsewhere is stored by the loop, which then ends.
Everything that only moves numbers about (slices, transposed or repeated axes) moves places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swelltree.engine.machine.graph import LONG, Buffer, Graph, Region
from swelltree.engine.machine.statements import Leave, Loop, Stores
from swelltree.engine.machine.values import (
    FEW,
    Kept,
    Stored,
    Value,
    View,
    in_memory,
    numbers,
    places,
    stored,
    view_of,
)

AXES = 4  # first axes, one of which has a length that was named

Moved = Callable[[np.ndarray], np.ndarray]  # numbers moved about, as numpy moves them


def first_axes(shape: tuple[int, ...], lengths: frozenset[int]) -> int | None:
    """How many first axes count rows: up to one of a length that was named."""
    for k, n in enumerate(shape[:AXES]):
        if n in lengths:
            return k + 1
    return None


@dataclass(eq=False)
class RowLoop:
    """A loop over rows, open as long as its body grows.

    Args:
        parent: region in which it stands.
        region: its body.
        count: of rows.
        counter: where the number of the row lies.
        index: expression of that number.
        open: whether it is still to be put into its parent.
    """

    parent: Region
    region: Region
    count: int
    counter: Buffer
    index: int
    open: bool = True


@dataclass(eq=False)
class Looped(Kept):
    """An array whose rows are computed in a loop.

    Args:
        loops: of the program.
        loop: the one that computes it.
        row: expressions of one row, in the shape of the axes behind.
        shape: of the whole array.
        kind: of its numbers.
    """

    loops: RowLoops
    loop: RowLoop
    row: np.ndarray
    shape: tuple[int, ...]
    kind: str
    kept: Stored | None = None

    def memory(self, graph: Graph) -> Stored:
        """The array in memory; its loop ends."""
        if self.kept is None:
            buffer = graph.room(self.size, self.kind)
            rows = np.arange(self.size).reshape(self.loop.count, -1)
            self.loops.put(self.loop, self.row, buffer, rows)
            self.loops.close(self.loop)
            self.kept = stored(buffer, 0, self.shape, self.loop.parent)
        return self.kept


@dataclass(eq=False)
class RowLoops:
    """Loops over rows in one program.

    Args:
        graph: of the program.
        lengths: of axes that make an array one of rows.
        table: makes memory of a constant.
    """

    graph: Graph
    lengths: frozenset[int]
    table: Callable[[np.ndarray], Value] | None
    open: dict[tuple[int, int], RowLoop] = field(default_factory=dict)
    tables: dict[Any, Stored] = field(default_factory=dict)

    # --- which arrays -----------------------------------------------------------------------
    def axes(self, shape: tuple[int, ...]) -> int | None:
        """How many first axes of an array count its rows; None where it has none."""
        return first_axes(shape, self.lengths)

    # --- loops ------------------------------------------------------------------------------
    def loop(self, count: int) -> RowLoop:
        """A loop over so many rows in the region that is being written."""
        graph = self.graph
        key = (id(graph.here), count)
        found = self.open.get(key)
        if found is None:
            parent, counter = graph.here, graph.room(1, LONG)
            region = Region(parent.depth + 1)
            index = int(places(graph, stored(counter, 0, (), region)))
            found = RowLoop(parent, region, count, counter, index)
            go = graph.op("lt", index, graph.constant(count, LONG))
            region.items.append(Leave(go))
            self.open[key] = found
        return found

    def close(self, loop: RowLoop) -> None:
        """Let a loop happen, here and now."""
        if not loop.open:
            return
        loop.open = False
        del self.open[(id(loop.parent), loop.count)]
        graph, counter = self.graph, loop.counter
        following = graph.op("add", loop.index, graph.constant(1, LONG))
        loop.region.items.append(Stores([(counter, 0, following)]))
        loop.parent.items.append(Stores([(counter, 0, graph.constant(0, LONG))]))
        loop.parent.items.append(Loop(loop.region))

    # --- rows -------------------------------------------------------------------------------
    def place(self, index: int, offsets: np.ndarray) -> int | None:
        """Expression of the offset of a row from that of the first; None where it is the same."""
        graph, change = self.graph, offsets - offsets[0]
        if not change.any():
            return None
        step = int(change[1]) if len(change) > 1 else 0
        if np.array_equal(change, step * np.arange(len(change))):
            return graph.op("mul", index, graph.constant(step, LONG))
        table = self._known(change.astype(np.int64))
        return graph.load_at(table.buffer, table.version, table.start, index, table.home)

    def _known(self, value: np.ndarray) -> Stored:
        """A constant in memory."""
        if self.table is None:
            flat = [self.graph.constant(v, LONG) for v in value.reshape(-1).tolist()]
            return in_memory(self.graph, np.array(flat, dtype=int).reshape(value.shape), LONG)
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in self.tables:
            self.tables[key] = self.table(value)
        return self.tables[key]

    def row(self, loop: RowLoop, x: Value, count: int) -> np.ndarray:
        """Expressions of the row of an array at the index of a loop, in the shape of one row.

        Args:
            loop: over as many rows.
            x: the array.
            count: of its first axes, which count the rows.
        """
        if isinstance(x, Looped):
            if x.loop is loop and loop.open:
                return x.row
            x = x.memory(self.graph)
        behind = tuple(x.shape[count:])
        if isinstance(x, np.ndarray):
            flat = x.reshape(loop.count, -1)
            if (flat == flat[:1]).all():
                return flat[0].reshape(behind)
            value = numbers(self.graph, x)
            if value is None:
                x = in_memory(self.graph, x, self.graph.kinds[flat[0, 0]])
            else:
                kind = self.graph.kinds[flat[0, 0]]
                types = {"f8": np.float64, "i4": np.int32, "u4": np.uint32, "b1": np.bool_}
                x = self._known(value.astype(types.get(kind, np.int64)))
        return self.at(view_of(self.graph, x), loop.index, loop.count).reshape(behind)

    def at(self, x: View, index: int, count: int) -> np.ndarray:
        """Expressions of one of so many rows of an array in memory, the number of which is given."""
        graph = self.graph
        offsets = x.offsets.reshape(count, -1)
        special = None if x.special is None else x.special.reshape(count, -1)
        together = (offsets - offsets[:1] == (offsets - offsets[:1])[:, :1]).all()
        out = []
        for k in range(offsets.shape[1]):
            if special is not None and (special[:, k] == special[0, k]).all():
                out.append(graph.constant(special[0, k], x.kind))
                continue
            place = self.place(index, offsets[:, 0] if together else offsets[:, k])
            if x.base is not None:
                place = x.base if place is None else graph.op("add", x.base, place)
            first = int(offsets[0, k])
            if place is None:
                out.append(graph.load(x.buffer, x.version, first, x.home))
            else:
                out.append(graph.load_at(x.buffer, x.version, first, place, x.home))
        return np.array(out, dtype=int)

    def put(
        self,
        loop: RowLoop,
        row: np.ndarray,
        buffer: Buffer,
        offsets: np.ndarray,
        base: int | None = None,
    ) -> None:
        """Let a loop store a row.

        Args:
            loop: that computes it.
            row: its expressions.
            buffer: where it goes.
            offsets: places there (row, number of a row).
            base: expression of a place that is added to all.
        """
        graph, last = self.graph, Stores()
        together = (offsets - offsets[:1] == (offsets - offsets[:1])[:, :1]).all()
        for k, a in enumerate(row.reshape(-1).tolist()):
            place = self.place(loop.index, offsets[:, 0] if together else offsets[:, k])
            if base is not None:
                place = base if place is None else graph.op("add", base, place)
            first = int(offsets[0, k])
            if place is None:
                last.single.append((buffer, first, a))
            else:
                last.moving.append((buffer, first, place, a))
        loop.region.items.append(last)

    # --- arrays -----------------------------------------------------------------------------
    def computed(
        self, shape: tuple[int, ...], kind: str, one: Callable[..., np.ndarray], values: list[Value]
    ) -> Value | None:
        """An array whose rows are computed from those of others of its shape, or from numbers.

        Args:
            shape: of the array.
            kind: of its numbers.
            one: gives a row from rows.
            values: the others; None is given back where all are numbers that are known.
        """
        count = self.axes(shape)
        if count is None or not int(np.prod(shape, dtype=int)):
            return None
        rows = int(np.prod(shape[:count], dtype=int))
        values = [self._repeated(x, shape) for x in values]
        whole = [x for x in values if tuple(x.shape) == shape]
        if all(isinstance(x, np.ndarray) for x in values):
            same = all((x.reshape(rows, -1) == x.reshape(rows, -1)[:1]).all() for x in whole)
            if same:
                first = [
                    x.reshape(rows, -1)[0].reshape(shape[count:]) if tuple(x.shape) == shape else x
                    for x in values
                ]
                return np.broadcast_to(one(*first), shape)
            if all(numbers(self.graph, x) is not None for x in whole):
                return None
        graph = self.graph
        scalars = {k: places(graph, x) for k, x in enumerate(values) if tuple(x.shape) != shape}
        # whatever must be in memory is there before the loop is chosen: that may end another
        ready = [x if k in scalars else self.ready(x, rows) for k, x in enumerate(values)]
        loop = self.loop(rows)
        args = [scalars[k] if k in scalars else self.row(loop, x, count) for k, x in enumerate(ready)]
        return Looped(self, loop, np.asarray(one(*args)), shape, kind)

    def _repeated(self, x: Value, shape: tuple[int, ...]) -> Value:
        """An array of as many axes, along some of which it is the same, in a shape."""
        if tuple(x.shape) in ((), shape):
            return x
        if isinstance(x, np.ndarray):
            return np.broadcast_to(x, shape)
        return self.moved(x, lambda a: np.broadcast_to(a, shape))

    def ready(self, x: Value, rows: int) -> Value:
        """An array that can be read in the open loop over so many rows."""
        if isinstance(x, Looped):
            here = self.open.get((id(self.graph.here), rows))
            if x.loop is not here:
                return x.memory(self.graph)
        return x

    def moved(self, x: Value, move: Moved) -> Value:
        """An array whose numbers are moved about: no number is computed."""
        if not isinstance(x, Kept | Stored):
            x = in_memory(self.graph, x, self.graph.kinds[int(places(self.graph, x).flat[0])])
        if isinstance(x, Looped):
            row = self._row_moved(x, move)
            if row is not None:
                return row
            x = x.memory(self.graph)
        return view_of(self.graph, x, self.laid_out).moved(move)

    def laid_out(self, x: View) -> Stored:
        """The numbers of a view side by side, in new memory."""
        where = np.arange(x.size).reshape(x.shape)
        return self.gathered(x.shape, x.kind, [(x, where)])

    def _row_moved(self, x: Looped, move: Moved) -> Looped | None:
        """The same where every row stays one."""
        width = x.row.size
        after = move(np.arange(x.size).reshape(x.shape))
        count = self.axes(after.shape)
        if count is None or int(np.prod(after.shape[:count], dtype=int)) != x.loop.count:
            return None
        inside = after.reshape(x.loop.count, -1) - width * np.arange(x.loop.count)[:, None]
        if not (inside == inside[:1]).all() or not ((inside >= 0) & (inside < width)).all():
            return None
        row = x.row.reshape(-1)[inside[0]].reshape(after.shape[count:])
        return Looped(self, x.loop, row, tuple(after.shape), x.kind)

    def gathered(
        self, shape: tuple[int, ...], kind: str, parts: list[tuple[Value, np.ndarray]]
    ) -> Stored:
        """A new array that is put together from others, later ones over earlier ones.

        Args:
            shape: of the array.
            kind: of its numbers.
            parts: arrays, and the places of all their numbers.
        """
        buffer = self.graph.room(int(np.prod(shape, dtype=int)), kind)
        for x, where in parts:
            self.copied(x, buffer, where)
        return stored(buffer, 0, shape, self.graph.here)

    def copied(
        self, x: Value, buffer: Buffer, where: np.ndarray, base: int | None = None
    ) -> None:
        """Let an array be stored at places, now."""
        graph = self.graph
        if not where.size:
            return
        if isinstance(x, Looped) and x.loop.open and x.loop.parent is graph.here:
            self.put(x.loop, x.row, buffer, where.reshape(x.loop.count, -1), base)
            self.close(x.loop)
            return
        count = self.axes(tuple(x.shape))
        if x.size <= FEW or count is None:
            flat, last = places(graph, x).reshape(-1).tolist(), Stores()
            for a, at in zip(flat, where.reshape(-1).tolist(), strict=True):
                if base is None:
                    last.single.append((buffer, at, a))
                else:
                    last.moving.append((buffer, at, base, a))
            graph.state(last)
            return
        rows = int(np.prod(x.shape[:count], dtype=int))
        x = self.ready(x, rows)
        loop = self.loop(rows)
        self.put(loop, self.row(loop, x, count), buffer, where.reshape(rows, -1), base)
        self.close(loop)
