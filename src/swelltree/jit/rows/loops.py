"""Long arrays stay arrays: operations on their rows are fused into loops.

Rows are counted along the first axes, whose lengths the caller names. Consecutive operations on as
many rows share one loop while no row needs what another computes; what is needed elsewhere is
stored, and the loop ends. Slices, transposes and broadcasts only change offsets.

Memory is column-major over rows, so that a SIMD register takes one column of several rows. Axes of
nearly equal length (nodes, segments) share a pitch, so that a shift by one row is one offset
everywhere. Padding rows hold anything and are never read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.jit.graph import FLOAT, LONG, Buffer, Graph, Region
from swelltree.jit.native import lane_width
from swelltree.jit.number_types import Types
from swelltree.jit.operations import Operations
from swelltree.jit.statements import Reduction, Rows, Stores
from swelltree.jit.values import (
    UNROLL_LIMIT,
    Retained,
    Stored,
    Value,
    View,
    constant_values,
    in_memory,
    stored,
    value_ids,
    view_of,
)

if TYPE_CHECKING:
    from swelltree.jit.text import Writer

AXES = 3  # first axes, at most, that count rows
LONGEST = 128  # numbers of a row that is read number by number; longer ones stay in memory
TYPES = {"f8": np.float64, "i4": np.int32, "u4": np.uint32, "b1": np.bool_, LONG: np.int64}

Axes = Mapping[tuple[int, ...], int]  # lengths of first axes -> pitch of the last of them
Moved = Callable[[np.ndarray], np.ndarray]  # numbers moved about, as numpy moves them


def first_axes(shape: tuple[int, ...], named: Axes) -> int | None:
    """Number of leading axes that count rows."""
    for k in range(1, AXES + 1):
        if shape[:k] in named and len(shape) >= k:
            return k
    return None


@dataclass(eq=False)
class RowLoop:
    """A loop over rows, open as long as its body grows."""

    parent: Region
    region: Region
    count: int
    width: int  # rows at once
    index: int  # expression of the number of the row
    open: bool = True  # to be put into its parent yet


@dataclass(eq=False)
class Looped(Retained):
    """An array whose rows are computed in a loop."""

    loops: RowLoops
    loop: RowLoop
    row: np.ndarray  # expressions of one row, in the shape of the axes behind
    shape: tuple[int, ...]
    kind: str
    kept: View | None = None

    def view(self) -> View:
        """Store the array in the layout of loops; its loop ends."""
        if self.kept is None:
            self.kept = self.loops.stored_by(self)
        return self.kept

    def memory(self, graph: Graph) -> Stored:
        return self.view().memory(graph)


@dataclass(eq=False)
class RowLoops:
    """The loops over rows of one program.

    Args:
        graph: of the program.
        named: lengths of the first axes of arrays of rows, with the pitch of the last of them.
        table: makes memory of a constant.
    """

    graph: Graph
    named: Axes
    table: Callable[[np.ndarray], Value] | None
    open: dict[tuple[int, int], RowLoop] = field(default_factory=dict)
    tables: dict[Any, Stored] = field(default_factory=dict)
    copies: dict[Any, View] = field(default_factory=dict)
    pauses: int = 0

    def __post_init__(self) -> None:
        self.width = lane_width() if self.named else 1

    # --- which arrays, and how they lie -----------------------------------------------------
    def axes(self, shape: tuple[int, ...]) -> int | None:
        """Number of leading axes that count rows; None where an array has none."""
        return None if self.pauses else first_axes(shape, self.named)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Within the body of one row everything is scalar."""
        self.pauses += 1
        try:
            yield
        finally:
            self.pauses -= 1

    @contextmanager
    def abreast(self, count: int | None) -> Iterator[bool]:
        """Count a short leading axis, such as that of lines, as rows too."""
        before = self.named
        several = count is not None and self.width > 1 and not self.pauses
        if several and count is not None:
            self.named = {(count,): count} | dict(before)
        try:
            yield several
        finally:
            self.named = before

    def count(self, shape: tuple[int, ...]) -> int:
        """Rows of an array with some leading axes, padding included."""
        return int(np.prod(shape[:-1], dtype=int)) * self.named[shape]

    def rows(self, shape: tuple[int, ...]) -> np.ndarray:
        """Row number of every row, in row-major order."""
        lines, pitch = int(np.prod(shape[:-1], dtype=int)), self.named[shape]
        return (pitch * np.arange(lines)[:, None] + np.arange(shape[-1])).reshape(-1)

    def layout(self, shape: tuple[int, ...]) -> tuple[np.ndarray, int]:
        """Offsets of an array in the layout of loops, and its size."""
        count = self.axes(shape)
        assert count is not None
        stride = self._stride(self.count(shape[:count]))
        width = int(np.prod(shape[count:], dtype=int))
        offsets = self.rows(shape[:count])[:, None] + stride * np.arange(width)[None]
        return offsets.reshape(shape), stride * width

    def _stride(self, count: int) -> int:
        """Distance of columns: whole registers, and one more."""
        return (-(-count // self.width) + 1) * self.width

    def room(self, shape: tuple[int, ...], kind: str, home: Region) -> View:
        offsets, size = self.layout(shape)
        x = stored(self.graph.room(size, kind), 0, (size,), home)
        return View(x.buffer, offsets, home, x.version, lay_out=self.in_order)

    # --- loops ------------------------------------------------------------------------------
    def loop(self, count: int) -> RowLoop:
        """The open loop over so many rows in the current region."""
        key = (id(self.graph.here), count)
        if key not in self.open:
            self.open[key] = self._new(count, self._lanes_for(count), self.graph.here)
        return self.open[key]

    def _lanes_for(self, count: int) -> int:
        """Rows per iteration: the SIMD width, or less for few rows."""
        return min(self.width, 1 << max(count - 1, 1).bit_length())

    def _new(self, count: int, width: int, parent: Region) -> RowLoop:
        region = Region(parent.depth + 1)
        return RowLoop(parent, region, count, width, self.graph.row_number(region))

    def close(self, loop: RowLoop) -> None:
        if not loop.open:
            return
        loop.open = False
        self.open.pop((id(loop.parent), loop.count), None)
        loop.parent.items.append(Rows(loop.region, loop.index, loop.count, loop.width, True))

    # --- single rows ------------------------------------------------------------------------
    def place(self, index: int, offsets: np.ndarray) -> int | None:
        """Expression of the offset of a row from the first; None where it is zero."""
        graph, change = self.graph, offsets - offsets[0]
        if not change.any():
            return None
        step = int(change[1]) if len(change) > 1 else 0
        if np.array_equal(change, step * np.arange(len(change))):
            return graph.op("mul", index, graph.constant(step, LONG))
        table = self._known(change.astype(np.int64))
        return graph.load_at(table.buffer, table.version, table.start, index, table.home)

    def _known(self, value: np.ndarray) -> Stored:
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in self.tables:
            if self.table is not None:
                self.tables[key] = self.table(value)
            else:
                flat = [self.graph.constant(v, LONG) for v in value.reshape(-1).tolist()]
                rows = np.array(flat, dtype=int).reshape(value.shape)
                self.tables[key] = in_memory(self.graph, rows, LONG)
        return self.tables[key]

    def at(self, x: View, index: int, count: int) -> np.ndarray:
        """Expressions of one row, by its number, of an array of `count` rows in memory."""
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

    def at_number(self, x: Stored | View, index: int, axis: int = 0) -> Value:
        """One row along an axis, by an expression of its number; a long row stays in memory."""
        graph, count = self.graph, x.shape[axis]
        shape = (*x.shape[:axis], *x.shape[axis + 1 :])
        short = x.size // max(count, 1) <= LONGEST and self.axes(shape) is None
        if isinstance(x, Stored):
            step = int(np.prod(x.shape[axis + 1 :], dtype=int))
            base = graph.op("mul", index, graph.constant(step, LONG))
            first = x.start + np.arange(x.size).reshape(x.shape).take(0, axis)
        else:
            rows = np.moveaxis(x.offsets, axis, 0).reshape(count, -1)
            change = rows - rows[:1]
            if short or not (change == change[:, :1]).all():
                moved = x.moved(lambda a: np.moveaxis(a, axis, 0))
                return self.at(view_of(graph, moved), index, count).reshape(shape)
            place = self.place(index, rows[:, 0])
            first, base = x.offsets.take(0, axis), x.base
            if place is not None:
                base = place if base is None else graph.op("add", base, place)
        row = View(x.buffer, np.asarray(first), x.home, x.version, base, lay_out=self.in_order)
        return row.value_ids(graph) if short else row

    def row_by_row(
        self,
        x: View,
        count: int,
        buffer: Buffer,
        where: np.ndarray,
        home: Region,
        name: str = "",
    ) -> None:
        """Copy rows sequentially to places (row, element), or combine them with what is there."""
        loop, last = self._new(count, 1, home), Stores()
        before = None
        if name:
            sums = view_of(self.graph, stored(buffer, 0, (buffer.size,), loop.region))
            before = self.at(sums.with_offsets(where), loop.index, count)
        together = (where - where[:1] == (where - where[:1])[:, :1]).all()
        for k, a in enumerate(self.at(x, loop.index, count).tolist()):
            place = self.place(loop.index, where[:, 0] if together else where[:, k])
            new = a if before is None else self.graph.op(name, int(before[k]), a)
            last.written.append((buffer, int(where[0, k]), new, place))
        loop.region.items.append(last)
        loop.open = False
        home.items.append(Rows(loop.region, loop.index, count, 1))

    # --- rows in loops ----------------------------------------------------------------------
    def row(self, loop: RowLoop, x: Value, count: int) -> np.ndarray:
        """Expressions of the row of an array, of which `count` axes count rows, in a loop."""
        if isinstance(x, Looped):
            if x.loop is loop and loop.open:
                return x.row
            x = x.view()
        behind = tuple(x.shape[count:])
        if isinstance(x, np.ndarray):
            flat = x.reshape(int(np.prod(x.shape[:count], dtype=int)), -1)
            if (flat == flat[:1]).all():
                return flat[0].reshape(behind)
            x = self._from_numbers(x)
        view = view_of(self.graph, x, self.in_order)
        rows = self.rows(x.shape[:count])
        row = self._side_by_side(loop, view, rows)
        if row is None:
            row = self._side_by_side(loop, self.laid_out(view), rows)
            assert row is not None
        return row.reshape(behind)

    def _side_by_side(self, loop: RowLoop, x: View, rows: np.ndarray) -> np.ndarray | None:
        """Expressions of a row that one vector load per element can read; else None."""
        graph = self.graph
        offsets = x.offsets.reshape(len(rows), -1)
        special = None if x.special is None else x.special.reshape(len(rows), -1)
        out = []
        for k in range(offsets.shape[1]):
            if special is not None and (special[:, k] == special[0, k]).all():
                out.append(graph.constant(special[0, k], x.kind))
                continue
            first = int(offsets[0, k])
            if (offsets[:, k] == first).all():
                if x.base is None:
                    out.append(graph.load(x.buffer, x.version, first, x.home))
                else:
                    out.append(graph.load_at(x.buffer, x.version, first, x.base, x.home))
                continue
            start = first - int(rows[0])
            # registers read further than the last row: only working memory has room there
            if not (offsets[:, k] - rows == start).all() or x.buffer.where != "work":
                far = self._far_apart(loop, x, offsets[:, k])
                if far is None:
                    return None
                out.append(far)
                continue
            index = loop.index if x.base is None else graph.op("add", x.base, loop.index)
            out.append(graph.load_at(x.buffer, x.version, start, index, x.home))
        return np.array(out, dtype=int)

    def _far_apart(self, loop: RowLoop, x: View, offsets: np.ndarray) -> int | None:
        """An element of a few rows at a constant stride, loaded lane by lane."""
        step = int(offsets[1] - offsets[0]) if len(offsets) > 1 else 0
        if len(offsets) > loop.width or loop.count != len(offsets):
            return None
        if not np.array_equal(offsets - offsets[0], step * np.arange(len(offsets))):
            return None
        graph = self.graph
        index = graph.op("mul", loop.index, graph.constant(step, LONG))
        index = index if x.base is None else graph.op("add", x.base, index)
        return graph.load_at(x.buffer, x.version, int(offsets[0]), index, x.home)

    def _from_numbers(self, x: np.ndarray) -> View:
        graph, kind = self.graph, self.graph.kinds[int(x.flat[0])]
        offsets, size = self.layout(x.shape)
        known = constant_values(graph, x)
        if known is not None:
            full = np.zeros(size, TYPES[kind])
            full[offsets.reshape(-1)] = known.reshape(-1)
            source = self._known(full)
            return View(source.buffer, source.start + offsets, source.home, source.version)
        flat = x.reshape(-1).tolist()
        home = max((graph.home[a] for a in flat), key=lambda r: r.depth)
        out = self.room(x.shape, kind, home)
        singles = zip(out.offsets.reshape(-1).tolist(), flat, strict=True)
        home.items.append(Stores([(out.buffer, at, a, None) for at, a in singles]))
        return out

    def laid_out(self, x: View) -> View:
        """A copy in the layout of loops, made where the array is defined."""
        home = x.home
        if x.base is not None and self.graph.home[x.base].depth > home.depth:
            home = self.graph.home[x.base]
        key = (id(x.buffer), x.version, x.base, x.offsets.shape, x.offsets.tobytes())
        if key not in self.copies:
            out = self.room(x.shape, x.kind, home)
            count = self.axes(x.shape)
            assert count is not None
            rows = int(np.prod(x.shape[:count], dtype=int))
            self.row_by_row(x, rows, out.buffer, out.offsets.reshape(rows, -1), home)
            self.copies[key] = out
        return self.copies[key]

    def in_order(self, x: View) -> Stored:
        """A copy in row-major order."""
        graph = self.graph
        buffer = graph.room(x.size, x.kind)
        count = self.axes(x.shape) or len(x.shape)
        rows = int(np.prod(x.shape[:count], dtype=int))
        self.row_by_row(x, rows, buffer, np.arange(x.size).reshape(rows, -1), graph.here)
        return stored(buffer, 0, x.shape, graph.here)

    def stored_by(self, x: Looped) -> View:
        """Store an array in its loop, which ends."""
        out = self.room(x.shape, x.kind, x.loop.parent)
        self._put(x, out.buffer, out.offsets)
        self.close(x.loop)
        return out

    def _put(self, x: Looped, buffer: Buffer, offsets: np.ndarray) -> None:
        count = self.axes(x.shape)
        assert count is not None
        first = int(self.rows(x.shape[:count])[0])
        starts = offsets.reshape(-1, x.row.size)[0] - first
        pairs = zip(starts.tolist(), x.row.reshape(-1).tolist(), strict=True)
        x.loop.region.items.append(Stores([(buffer, at, a, x.loop.index) for at, a in pairs]))

    # --- rows that a sweep carries on -------------------------------------------------------
    def own_loop(self, values: list[Value], slots: list[Buffer], first: int) -> RowLoop | None:
        """The only loop that computes values and reads what they replace; None if there is none."""
        found = {id(x.loop): x.loop for x in values if isinstance(x, Looped)}
        if len(found) != 1 or not all(isinstance(x, Looped) for x in values):
            return None
        (loop,) = found.values()
        graph, own = self.graph, {id(buffer) for buffer in slots}
        if not loop.open or loop.parent is not graph.here:
            return None
        for a in range(first, len(graph.ops)):
            op = graph.ops[a]
            reads = op[0] in ("load", "load_at") and id(op[1]) in own
            if reads and (graph.home[a] is not loop.region or op[0] == "load"):
                return None
        return loop

    def put_in_slots(self, values: list[Looped], slots: list[Buffer]) -> None:
        """Store rows in slots that their loop has read before."""
        for x, buffer in zip(values, slots, strict=True):
            self._put(x, buffer, self.layout(x.shape)[0])

    def series_of(self, x: Looped, at: int, length: int) -> View:
        """Store the rows of every iteration of a scan, one column after another."""
        graph, lanes = self.graph, x.loop.width * -(-x.loop.count // x.loop.width)
        size = lanes * x.row.size
        buffer = graph.room(length * size, x.kind)
        place = graph.op("mul", at, graph.constant(size, LONG))
        index = graph.op("add", place, x.loop.index)
        row = x.row.reshape(-1).tolist()
        x.loop.region.items.append(
            Stores([(buffer, lanes * k, a, index) for k, a in enumerate(row)])
        )
        inner = np.arange(x.loop.count)[:, None] + lanes * np.arange(x.row.size)[None]
        offsets = size * np.arange(length)[:, None, None] + inner[None]
        home = graph.stack[-2]
        version = stored(buffer, 0, (buffer.size,), home).version
        full = offsets.reshape((length, *x.shape))
        return View(buffer, full, home, version, lay_out=self.in_order)

    # --- arrays -----------------------------------------------------------------------------
    def computed(
        self, shape: tuple[int, ...], kind: str, one: Callable[..., np.ndarray], values: list[Value]
    ) -> Value | None:
        """An array whose rows are computed from those of operands; None if all are constants."""
        count = self.axes(shape)
        if count is None or not int(np.prod(shape, dtype=int)):
            return None
        rows = int(np.prod(shape[:count], dtype=int))
        values = [self._repeated(x, shape) for x in values]
        full = [x for x in values if tuple(x.shape) == shape]
        if all(isinstance(x, np.ndarray) for x in values):
            if all((x.reshape(rows, -1) == x.reshape(rows, -1)[:1]).all() for x in full):
                first = [
                    x.reshape(rows, -1)[0].reshape(shape[count:]) if tuple(x.shape) == shape else x
                    for x in values
                ]
                return np.broadcast_to(one(*first), shape)
            if all(constant_values(self.graph, x) is not None for x in full):
                return None
        single = {
            k: value_ids(self.graph, x) for k, x in enumerate(values) if tuple(x.shape) != shape
        }
        wide = [x for k, x in enumerate(values) if k not in single]
        loop, found = self.together(shape, wide)
        rest = iter(found)
        args = [single[k] if k in single else next(rest) for k in range(len(values))]
        return Looped(self, loop, np.asarray(one(*args)), shape, kind)

    def together(
        self, shape: tuple[int, ...], values: list[Value]
    ) -> tuple[RowLoop, list[np.ndarray]]:
        """The loop over the rows of arrays with the same leading axes, and a row of each."""
        count = self.axes(shape)
        assert count is not None
        rows = self.count(shape[:count])
        # whatever must be in memory is there before the loop is chosen: that may end another
        here = self.open.get((id(self.graph.here), rows))
        ready = [x.view() if isinstance(x, Looped) and x.loop is not here else x for x in values]
        loop = self.loop(rows)
        return loop, [self.row(loop, x, count) for x in ready]

    def _repeated(self, x: Value, shape: tuple[int, ...]) -> Value:
        """Broadcast along axes of length one."""
        if tuple(x.shape) in ((), shape):
            return x
        if isinstance(x, np.ndarray):
            return np.broadcast_to(x, shape)
        return self.moved(x, lambda a: np.broadcast_to(a, shape))

    def moved(self, x: Value, move: Moved) -> Value:
        """Move elements of an array; nothing is computed."""
        if not isinstance(x, Retained | Stored):
            x = in_memory(self.graph, x, self.graph.kinds[int(value_ids(self.graph, x).flat[0])])
        if isinstance(x, Looped):
            row = self._row_moved(x, move)
            if row is not None:
                return row
            x = x.view()
        return view_of(self.graph, x, self.in_order).moved(move)

    def _row_moved(self, x: Looped, move: Moved) -> Looped | None:
        before = self.axes(x.shape)
        after = move(np.arange(x.size).reshape(x.shape))
        count = self.axes(after.shape)
        if not x.loop.open or before is None or count is None:
            return None
        if not np.array_equal(self.rows(after.shape[:count]), self.rows(x.shape[:before])):
            return None
        number = np.arange(x.size // x.row.size)[:, None]
        inside = after.reshape(len(number), -1) - x.row.size * number
        if not (inside == inside[:1]).all() or not ((inside >= 0) & (inside < x.row.size)).all():
            return None
        row = x.row.reshape(-1)[inside[0]].reshape(after.shape[count:])
        return Looped(self, x.loop, row, tuple(after.shape), x.kind)

    def gathered(
        self, shape: tuple[int, ...], kind: str, parts: list[tuple[Value, np.ndarray]]
    ) -> Value:
        """An array assembled from parts and the places of their elements, in sequence."""
        out = self.room(shape, kind, self.graph.here)
        order = list(parts)
        # registers write places beyond the last row too: one array may be stored so, the first
        first = self._first_part(order, out)
        if first is not None:
            x, where = order.pop(first)
            self._put(x, out.buffer, out.offsets.reshape(-1)[where])
            self.close(x.loop)
        for x, where in order:
            self._copied(x, out.buffer, out.offsets.reshape(-1)[where])
        return out.simplest()

    def _first_part(self, parts: list[tuple[Value, np.ndarray]], out: View) -> int | None:
        """A part that its own loop can store, padding included; None if there is none."""
        inner, stride = self.axes(out.shape), self._stride
        assert inner is not None
        for k, (x, where) in enumerate(parts):
            mine = isinstance(x, Looped) and x.loop.open and x.loop.parent is self.graph.here
            if not mine or self.count(out.shape[:inner]) != x.loop.count:
                continue
            rows = self.rows(x.shape[: self.axes(x.shape)])
            starts = out.offsets.reshape(-1)[where].reshape(len(rows), -1) - rows[:, None]
            near = starts[0] % stride(x.loop.count) < self.width
            over = any(np.intersect1d(where, other).size for _, other in parts[:k])
            if (starts == starts[:1]).all() and near.all() and not over:
                return k
        return None

    def _copied(self, x: Value, buffer: Buffer, where: np.ndarray) -> None:
        graph = self.graph
        if not where.size:
            return
        same = isinstance(x, np.ndarray) and x.size > UNROLL_LIMIT and (x == x.flat[0]).all()
        if not same and (x.size <= UNROLL_LIMIT or isinstance(x, np.ndarray)):
            flat = value_ids(graph, x).reshape(-1).tolist()
            pairs = zip(where.reshape(-1).tolist(), flat, strict=True)
            graph.state(Stores([(buffer, at, a, None) for at, a in pairs]))
            return
        if same:
            one = in_memory(graph, x.reshape(-1)[:1].reshape(()), graph.kinds[int(x.flat[0])])
            x = view_of(graph, one).moved(lambda a: np.broadcast_to(a, where.shape))
        if isinstance(x, Looped):
            x = x.view()
        view = view_of(graph, x)
        count = self.axes(view.shape) or len(view.shape)
        rows = int(np.prod(view.shape[:count], dtype=int))
        self.row_by_row(view, rows, buffer, where.reshape(rows, -1), graph.here)

    # --- what loops carry on ----------------------------------------------------------------
    def slot(self, shape: tuple[int, ...], kind: str) -> Buffer:
        """Memory of a loop-carried array, in the layout of loops where it has rows."""
        size = int(np.prod(shape, dtype=int))
        if self.axes(shape) is not None and size:
            size = self.layout(shape)[1]
        return self.graph.room(size, kind)

    def in_slot(self, buffer: Buffer, shape: tuple[int, ...], home: Region) -> Value:
        """The array in a slot, with a new version."""
        if self.axes(shape) is None or not int(np.prod(shape, dtype=int)):
            return stored(buffer, 0, shape, home)
        x = stored(buffer, 0, (buffer.size,), home)
        offsets = self.layout(shape)[0]
        return View(buffer, offsets, home, x.version, lay_out=self.in_order).simplest()

    def for_slot(self, x: Value, shape: tuple[int, ...]) -> Value:
        if self.axes(shape) is None or not int(np.prod(shape, dtype=int)):
            return x
        if isinstance(x, Looped):
            x = x.view()
        elif isinstance(x, np.ndarray):
            x = self._numbers_here(x)
        view = view_of(self.graph, x, self.in_order)
        offsets, size = self.layout(shape)
        start = int(view.offsets.reshape(-1)[0] - offsets.reshape(-1)[0])
        lies = view.base is None and np.array_equal(view.offsets, offsets + start)
        if not lies or view.special is not None or view.buffer.where != "work":
            out = self.room(shape, view.kind, self.graph.here)
            self._copied(view, out.buffer, out.offsets)
            view, start = out, 0
        return Stored(view.buffer, start, (size,), view.home, view.version)

    def _numbers_here(self, x: np.ndarray) -> View:
        graph = self.graph
        out = self.room(x.shape, graph.kinds[int(x.flat[0])], graph.here)
        self._copied(x, out.buffer, out.offsets)
        return out


# --- Reductions of contiguous numbers to one, in LLVM's language


def write_reduction(writer: Writer, item: Reduction) -> None:
    """Emit the reduction of rows of memory, each to one scalar."""
    for k, (buffer, start) in enumerate(item.rows):
        total = _reduced(writer, item, buffer, start)
        address = writer.address(item.out, k)
        writer.lines.append(f"  store double {total}, ptr {address}")


def _reduced(writer: Writer, item: Reduction, buffer: Buffer, start: int) -> str:
    line, width = writer.line, item.width
    several = writer.several(width)
    T, full = several.types.of(FLOAT), item.count // width
    total, left = "", item.count - width * full
    for k in range(full + (left > 0)):
        address = writer.address(buffer, start + width * k)
        part = line(f"load {T}, ptr {address}, align 8")
        if k == full:  # what lies behind the row is left out
            own = ", ".join(f"i1 {'true' if m < left else 'false'}" for m in range(width))
            empty = several.types.constant(item.empty)
            part = line(f"select <{width} x i1> <{own}>, {T} {part}, {T} {empty}")
        total = several.write(item.name, FLOAT, FLOAT, [total, part]) if total else part
    while width > 1:
        half = width // 2
        of, T = Types(width).of(FLOAT), Types(half).of(FLOAT)
        parts = []
        for first in (0, half):
            places = ", ".join(f"i32 {first + m}" for m in range(half))
            parts.append(
                line(f"shufflevector {of} {total}, {of} poison, <{half} x i32> <{places}>")
            )
        if half == 1:
            parts = [line(f"extractelement <1 x double> {x}, i32 0") for x in parts]
        operations: Operations = writer.several(half) if half > 1 else writer.operations
        total = operations.write(item.name, FLOAT, FLOAT, parts)
        width = half
    return total
