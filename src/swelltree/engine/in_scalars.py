"""Programs of JAX written out number by number, for a batch of small problems.

A function of a few unknowns that is evaluated at many nodes is traced once. What does not depend
on the unknowns is computed beforehand; the rest becomes expressions of single numbers, in which
everything that is zero, one or equal to something else has gone, and whose derivatives are taken
here. Each expression is one line of numpy for all nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import is_ as _is
from typing import Any

import numpy as np

from swelltree.engine.backend import jax
from swelltree.engine.in_numpy import KEPT, Staged
from swelltree.engine.numpy_writer import NotKnownError
from swelltree.engine.scalar_graph import GIVEN, MOVING, TEXT, Graph, TooLargeError
from swelltree.engine.scalar_split import Split

UNKNOWNS = 40  # whose slopes are worth writing out
LINES = 3000  # of one program; longer ones are left to whole arrays
NOT_HERE = (NotKnownError, NotImplementedError, TooLargeError)


@dataclass(frozen=True)
class Output:
    """One array of results: places, and the rows that depend on the unknowns."""

    shape: tuple[int, ...]
    places: np.ndarray  # flat
    moving: np.ndarray  # numbers of rows
    axes: tuple[int, ...]  # the batch first


class Lines:
    """Expressions as two functions: beforehand, and with the unknowns."""

    def __init__(self, graph: Graph, arrays: list[np.ndarray]) -> None:
        self.outputs = []
        level = np.array(graph.level)
        for x in arrays:
            flat = np.asarray(x, dtype=int).reshape(-1)
            moving = np.flatnonzero(level[flat] == MOVING)
            self.outputs.append(Output(x.shape, flat, moving, (x.ndim, *range(x.ndim))))
        wanted = [int(a) for out in self.outputs for a in out.places]
        order = graph.alive(wanted)
        later = [a for a in order if graph.level[a] == MOVING]
        if len(later) > LINES:
            raise TooLargeError(f"more than {LINES} operations")
        used = {x for a in later if graph.ops[a][0] != "in" for x in graph.ops[a][1:]} | set(wanted)
        self.kept = [a for a in order if graph.level[a] == GIVEN and a in used]
        self.names = [graph.ops[a][1] for a in order if graph.ops[a][0] == "in"]
        first = [a for a in order if graph.level[a] == GIVEN and graph.ops[a][0] != "in"]
        inputs = {a: graph.ops[a][1] for a in order if graph.ops[a][0] == "in"}

        def name(a: int) -> str:
            if graph.ops[a][0] == "is":
                value = graph.ops[a][1]
                return f"({value!r})" if np.isfinite(value) else f"float('{value}')"
            return inputs.get(a, f"x{a}")

        def line(a: int) -> str:
            op, *args = graph.ops[a]
            return f" x{a}=" + TEXT[op].format(*(name(x) for x in args))

        given = [n for n in self.names if n[0] == "g"]
        self.given = [tuple(int(k) for k in n[1:].split("_")) for n in given]
        text = [f"def before({''.join(n + ',' for n in given)}):", *map(line, first)]
        text += [f" return ({''.join(name(a) + ',' for a in self.kept)})"]
        text += [f"def base({''.join(name(a) + ',' for a in self.kept)}):"]
        rest = [out.places.tolist() for out in self.outputs]
        parts = [
            "[" + "".join((name(a) if graph.level[a] != MOVING else "0.0") + "," for a in row) + "]"
            for row in rest
        ]
        text += [f" return ({''.join(p + ',' for p in parts)})"]
        moving = [n for n in self.names if n[0] != "g"]
        self.moving = moving
        taken = [*(name(a) for a in self.kept), *moving]
        text += [f"def after(o,{''.join(n + ',' for n in taken)}):"]
        text += [line(a) for a in later if graph.ops[a][0] != "in"]
        for k, out in enumerate(self.outputs):
            text += [f" o[{k}][{i}]={name(int(out.places[i]))}" for i in out.moving.tolist()]
        text += [" return o"]
        space: dict[str, Any] = {"np": np}
        exec(compile("\n".join(text), "<scalars>", "exec"), space)
        self.before, self.base, self.after = space["before"], space["base"], space["after"]


class Bound:
    """Lines with all that is known beforehand."""

    def __init__(
        self, lines: Lines, given: list[np.ndarray], along: list[bool], count: int
    ) -> None:
        self.lines, self.count = lines, count
        rows = [
            x.reshape(-1, count) if a else x.reshape(-1) for x, a in zip(given, along, strict=True)
        ]
        with np.errstate(all="ignore"):
            self.kept = lines.before(*(rows[i][j] for i, j in lines.given))
        self.base = []
        for row in lines.base(*self.kept):
            base = np.empty((len(row), count))
            for i, value in enumerate(row):
                base[i] = value
            self.base.append(base)
        self.still = [self._shown(out, b) for out, b in zip(lines.outputs, self.base, strict=True)]

    def _shown(self, out: Output, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(*out.shape, self.count).transpose(out.axes)

    def __call__(self, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        """Results, the batch first; those that never change are the same objects every time."""
        lines = self.lines
        o = [
            b.copy() if out.moving.size else b
            for out, b in zip(lines.outputs, self.base, strict=True)
        ]
        with np.errstate(all="ignore"):
            lines.after(o, *self.kept, *(inputs[n] for n in lines.moving))
        return [
            self._shown(out, rows) if out.moving.size else still
            for out, rows, still in zip(lines.outputs, o, self.still, strict=True)
        ]


class Programs:
    """Values, slopes and second derivatives for one pattern of zeros and ones."""

    def __init__(self, split: Split, given: list[np.ndarray]) -> None:
        self.graph = Graph()
        self.unknown, self.outs = split.expressions(self.graph, given)
        self.lines: dict[str, Lines] = {}
        self.long: set[str] = set()

    def made(self, kind: str) -> Lines:
        """Lines for "values", "jacobians" or "second"."""
        if kind not in self.lines:
            self.lines[kind] = Lines(self.graph, getattr(self, f"_{kind}")())
        return self.lines[kind]

    def made_or_none(self, kind: str) -> Lines | None:
        """The same, None where it is too long."""
        if kind in self.long:
            return None
        try:
            return self.made(kind)
        except NOT_HERE:
            self.long.add(kind)
            return None

    def _values(self) -> list[np.ndarray]:
        return self.outs

    def _jacobians(self) -> list[np.ndarray]:
        graph, n = self.graph, len(self.unknown)
        out = list(self.outs)
        for x in self.outs:
            places = x.reshape(-1).tolist()
            rows = np.full((len(places), n), graph.zero)
            for i, slope in enumerate(graph.forward(places, self.unknown)):
                for j, a in slope.items():
                    rows[i, j] = a
            out.append(rows.reshape(*x.shape, n))
        return out

    def _second(self) -> list[np.ndarray]:
        graph, n = self.graph, len(self.unknown)
        total, number = graph.zero, 0
        for x in self.outs:
            for a in x.reshape(-1).tolist():
                if graph.level[a] == MOVING:
                    weight = graph.input(f"q{number}", MOVING)
                    total = graph.op("add", total, graph.op("mul", weight, a))
                number += 1
        first = graph.backward(total, self.unknown)
        rows = np.full((n, n), graph.zero)
        for i, slope in enumerate(graph.forward(first, self.unknown)):
            for j, a in slope.items():
                rows[i, j] = a
        return [rows]


class Prepared:
    """A function at given nodes: only the unknowns are missing."""

    def __init__(
        self, programs: Programs, given: list[np.ndarray], along: list[bool], count: int
    ) -> None:
        self.programs, self.given, self.along, self.count = programs, given, along, count
        self.bound: dict[str, Bound] = {}

    def _bound(self, kind: str) -> Bound:
        if kind not in self.bound:
            lines = self.programs.made(kind)
            self.bound[kind] = Bound(lines, self.given, self.along, self.count)
        return self.bound[kind]

    def values(self, w: np.ndarray) -> tuple[np.ndarray, ...]:
        """Results at w (nodes, k)."""
        return tuple(self._bound("values")(_rows("w", w)))

    def jacobians(self, w: np.ndarray) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        """Results and their derivatives in w."""
        values = self._bound("jacobians")(_rows("w", w))
        half = len(values) // 2
        return tuple(values[:half]), tuple(values[half:])

    def second(self, w: np.ndarray, weight: tuple[np.ndarray, ...]) -> np.ndarray | None:
        """Second derivatives (nodes, k, k) of the sum of weights times results; None: too long."""
        if self.programs.made_or_none("second") is None:
            return None
        flat = np.concatenate([x.reshape(self.count, -1) for x in weight], axis=1)
        return self._bound("second")(_rows("w", w) | _rows("q", flat))[0]


def _rows(letter: str, x: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{letter}{j}": row for j, row in enumerate(np.ascontiguousarray(x.T))}


class InScalars:
    """A function (tree, t, w) -> tuple of arrays, for batches of t and w."""

    def __init__(self, function: Staged) -> None:
        self.function = function
        self.splits: dict[Any, Split | None] = {}
        self.programs: dict[Any, Programs | None] = {}
        self.reasons: dict[Any, str] = {}  # why some cannot be written so
        self.last: tuple[Any, Any, Any, Any] = (None, (), None, None)

    def at(self, tree: Any, t: np.ndarray, size: int) -> Prepared | None:
        """The function at nodes t with so many unknowns; None where it cannot be written so."""
        if size > UNKNOWNS:
            return None
        key, leaves = self._key(tree, size)
        if self.last[0] == key and self.last[2] is t and all(map(_is, self.last[1], leaves)):
            return self.last[3]
        if key not in self.splits:
            while len(self.splits) >= KEPT:
                self.splits.pop(next(iter(self.splits)))
            self.splits[key] = self._split(key, tree, size)
        split = self.splits[key]
        prepared = None
        if split is not None:
            given = split.given(leaves, t)
            prepared = self._prepared(key, split, given, len(t))
        self.last = (key, leaves, t, prepared)
        return prepared

    def why_not(self, tree: Any, size: int) -> str:
        """What keeps the function from being written so; empty where it is only too large."""
        return self.reasons.get(self._key(tree, size)[0], "")

    @staticmethod
    def _key(tree: Any, size: int) -> tuple[Any, Any]:
        leaves, structure = jax.tree.flatten(tree)
        kinds = tuple((np.shape(x), np.asarray(x).dtype) for x in leaves)
        return (structure, size, kinds), leaves

    def _split(self, key: Any, tree: Any, size: int) -> Split | None:
        try:
            return Split(self.function.closed(tree, np.zeros(()), np.zeros(size))[0])
        except NOT_HERE as error:
            self.reasons[key] = str(error)
            return None

    def _prepared(self, key: Any, split: Split, given: list[np.ndarray], count: int) -> Any:
        pattern = (key, split.pattern(given))
        if pattern not in self.programs:
            while len(self.programs) >= KEPT:
                self.programs.pop(next(iter(self.programs)))
            try:
                made = Programs(split, given)
                for kind in ("values", "jacobians"):
                    made.made(kind)
            except NOT_HERE as error:
                self.reasons[key] = str(error)
                made = self.splits[key] = None
            self.programs[pattern] = made
        programs = self.programs[pattern]
        if programs is None:
            return None
        return Prepared(programs, given, [split.level[k] == 1 for k in split.kept], count)
