"""A function at one point or at many: values, Jacobians and second derivatives.

The function is traced once for all of these. Its first argument holds values that rarely change:
those that are used are loaded from memory, their zeros and ones are built in. The last argument are
the unknowns. At many points one native loop goes from point to point; what is the same at all of
them is computed before it, and a program serves any number of points.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swelltree.jit.arrays import Array, Tree
from swelltree.jit.backend import is_tracer, jax, jaxpr_as_fun, jnp
from swelltree.jit.derivatives import Differentiating
from swelltree.jit.engine import BY_LLVM, note
from swelltree.jit.entries import (
    Aval,
    Entry,
    Layout,
    Outline,
    Place,
    entry_of,
    known_or_lowered,
    read_outline,
    write_outline,
)
from swelltree.jit.graph import LONG, Buffer, Graph, Region, UnsupportedOperationError, kind_of
from swelltree.jit.lowering import Lowering, count_numbers, needed
from swelltree.jit.program import (
    CACHE_SIZE,
    KernelBuilder,
    Key,
    Loaded,
    check_size,
    packed,
    patterns_of,
    same_objects,
    switched_off,
    taken,
)
from swelltree.jit.second_derivatives import NotHereError, second_derivatives
from swelltree.jit.statements import Leave, Loop, Stores
from swelltree.jit.traced_types import ClosedProgram, DType, TracedProgram
from swelltree.jit.trees import TreeDef, flatten, leaves_of, mapped
from swelltree.jit.values import Value, stored, value_ids

VALUES, JACOBIANS, SECOND = "values", "jacobians", "second"


@dataclass
class Traced:
    """A function for arguments of some shapes.

    Args:
        trace: gives its program; asked once.
        used: as of `Outline`.
        tree: as of `Outline`; None: the one array of `avals`.
        avals: as of `Outline`.
        specified: shapes and types of the arrays of the other arguments.
        weights: how many of these are weights, before the last.
        entry: on disk; None where it has none.
        number: identifies it in this process.
    """

    trace: Callable[[], ClosedProgram]
    used: list[bool]
    tree: TreeDef | None
    avals: list[Aval]
    specified: list[Aval]
    weights: int = 0
    entry: Entry | None = None
    number: int = field(default_factory=functools.partial(next, itertools.count()))

    @functools.cached_property
    def closed(self) -> ClosedProgram:
        return self.trace()


class Points:
    """A function ``f(fixed, *others, unknowns)`` at points.

    Args:
        function: arguments and results are trees of arrays; the unknowns are one array (n,).
        many: all arguments but the first have an axis of points before their own.
        share: results that are the same at all points are the same objects from call to call,
            which must not be changed.
    """

    def __init__(
        self, function: Callable[..., Tree], many: bool = False, share: bool = False
    ) -> None:
        self.function, self.many, self.share = function, many, share
        self.traces: dict[Hashable, Traced] = {}
        self.programs: dict[Hashable, Loaded | UnsupportedOperationError] = {}
        # of the last fixed arguments
        self.patterns: dict[Hashable, tuple[list[Array], Key, np.ndarray]] = {}
        self.last: dict[str, Any] = {}  # what was found for the last arguments
        self.reason = ""  # why the last call ran by XLA; empty: it did not

    def values(self, fixed: Tree, *others: Array) -> Tree:
        return self._run(VALUES, fixed, others)

    def jacobians(self, fixed: Tree, *others: Array) -> tuple[Tree, Tree]:
        """Results, and their derivatives in the unknowns, which have the last axis."""
        return self._run(JACOBIANS, fixed, others)

    def second(self, fixed: Tree, *others: Array, weight: Array) -> Tree:
        """Second derivatives (..., n, n) of the sum of all results times their weights."""
        *specified, unknowns = others
        return self._run(SECOND, fixed, ((*specified, weight), unknowns))

    def __call__(self, fixed: Tree, *others: Array) -> Tree:
        return self.values(fixed, *others)

    @property
    def engine(self) -> str:
        """What ran the last call, and why it was not LLVM where it was not."""
        return f"XLA: {self.reason}" if self.reason else BY_LLVM

    # --- by JAX -------------------------------------------------------------------------------
    @functools.cached_property
    def by_xla(self) -> dict[str, Callable[..., Tree]]:
        return {kind: jax.jit(self._of_kind(kind)) for kind in (VALUES, JACOBIANS, SECOND)}

    def _single(self, kind: str) -> Callable[..., Tree]:
        if kind != SECOND:
            return self.function

        def slope(fixed: Tree, others: Tree, unknowns: Tree) -> Tree:
            *specified, weight = others

            def total(unknowns: Tree) -> Array:
                outs = self._staged(fixed, *specified, unknowns)
                pairs = zip(jax.tree.leaves(weight), jax.tree.leaves(outs), strict=True)
                return sum(jnp.sum(a * b) for a, b in pairs)

            return jax.grad(total)(unknowns)

        return slope

    def _staged(self, fixed: Tree, *others: Array) -> Tree:
        """The function by its traced program, which JAX differentiates sooner than Python."""
        traced = self._traced(VALUES, fixed, others)
        leaves = jax.tree.leaves((fixed, *others))
        return jax.tree.unflatten(traced.tree, jaxpr_as_fun(traced.closed)(*leaves))

    def _of_kind(self, kind: str) -> Callable[..., Tree]:
        def one(fixed: Tree, *others: Array) -> Tree:
            if kind == VALUES:
                return self.function(fixed, *others)
            *specified, unknowns = others
            function = functools.partial(self._single(kind), fixed, *specified)
            if kind == SECOND:
                return jax.jacfwd(function)(unknowns)

            def twice(x: Array) -> Tree:
                y = function(x)
                return y, y

            jacobians, values = jax.jacfwd(twice, has_aux=True)(unknowns)
            return values, jacobians

        if not self.many:
            return one
        return lambda fixed, *others: jax.vmap(functools.partial(one, fixed))(*others)

    # --- by LLVM ------------------------------------------------------------------------------
    def _run(self, kind: str, fixed: Tree, others: tuple[Array, ...]) -> Tree:
        program, traced, numbers = self._program(kind, fixed, others)
        self.reason = program if isinstance(program, str) else ""
        if self.reason != INSIDE:
            note(self.engine)
        if isinstance(program, str):
            built = self.by_xla[kind](fixed, *others)
            return built if program == INSIDE else mapped(np.asarray, built)
        leaves = [np.asarray(x) for x in leaves_of(others)]
        count = len(leaves[-1]) if self.many else 1
        into = np.empty((count, sum(_size(x.shape) for x in traced.specified)))
        at = 0
        for x, like in zip(leaves, traced.specified, strict=True):
            size = _size(like.shape)
            x = x if x.dtype == np.float64 else x.astype(np.int64).view(np.float64)
            into[:, at : at + size] = x.reshape(count, size)
            at += size
        _, n_out, n_work = program.layout.sizes
        out, work = np.zeros((count, n_out)), np.empty(n_work)
        head = np.array([count], dtype=np.int64).view(np.float64)
        rows = np.concatenate([head, into.reshape(-1)])
        program.native(program.fixed(numbers), rows, out, work)
        arrays = self._arrays(program, numbers, out)
        if kind == SECOND:
            return arrays[0]
        half = len(traced.avals)
        values = traced.tree.unflatten(arrays[:half])
        if kind == VALUES:
            return values
        return values, traced.tree.unflatten(arrays[half:])

    def _arrays(self, program: Loaded, fixed: np.ndarray, out: np.ndarray) -> list[np.ndarray]:
        """Results; those that are the same at all points are the same objects, where asked for."""
        layout = program.layout
        if not self.share:
            return [taken(out, place, self.many) for place in layout.outs]
        known, count, shared = program.shared
        if known is not fixed or count != len(out):
            shared = {}
            program.shared = fixed, len(out), shared
        arrays = []
        for k, (place, steady) in enumerate(zip(layout.outs, layout.steady, strict=True)):
            x = shared.get(k)
            if x is None:
                x = taken(out, place, self.many)
                if steady:
                    shared[k] = x = x.copy()  # else all of this call's results stay in memory
                    x.flags.writeable = False
            arrays.append(x)
        return arrays

    def _program(self, kind: str, fixed: Tree, others: tuple[Array, ...]) -> tuple[Any, Any, Any]:
        """Native code or why there is none, the traced function, numbers of the fixed argument."""
        rest, rest_structure = flatten(others)
        like = (rest_structure, tuple(map(self._kind, rest)), switched_off())
        before = self.last.get(kind)
        if before is not None and before[0] == like and before[1] is fixed:
            return before[4]
        leaves, structure = flatten(fixed)
        if before is not None and before[0] == like:
            same = before[2] == structure and same_objects(before[3], leaves)
            if same:
                return before[4]
        if any(map(is_tracer, (*leaves, *rest))):
            return INSIDE, None, None
        if like[2]:
            return like[2], None, None
        found = self._found(kind, fixed, others, leaves)
        self.last[kind] = like, fixed, structure, leaves, found
        return found

    def _kind(self, x: Array) -> tuple[Hashable, Hashable]:
        shape = np.shape(x)
        return shape[1:] if self.many else shape, x.dtype if hasattr(x, "dtype") else type(x)

    def _found(
        self, kind: str, fixed: Tree, others: tuple[Array, ...], leaves: list[Array]
    ) -> tuple[Any, Any, Any]:
        try:
            if kind != SECOND:
                return self._built(kind, self._traced(kind, fixed, others, self.many), leaves)
            try:
                return self._built(kind, self._weighted(fixed, others), leaves)
            except NotHereError:  # JAX takes the first derivatives of the whole
                return self._built(kind, self._traced(kind, fixed, others, self.many), leaves)
        except UnsupportedOperationError as error:
            return str(error), None, None

    def _built(self, kind: str, traced: Traced, leaves: list[Array]) -> tuple[Any, Any, Any]:
        """The program of a traced function; an error where there is none is remembered."""
        key, numbers = self._pattern(kind, leaves, traced)
        if key not in self.programs:
            _make_room(self.programs)
            self.programs[key] = self._known_or_compiled(kind, traced, leaves, key[-1])
        program = self.programs[key]
        if isinstance(program, UnsupportedOperationError):
            raise program
        return program, traced, numbers

    def _known_or_compiled(
        self, kind: str, traced: Traced, leaves: list[Array], pattern: Key
    ) -> Loaded | UnsupportedOperationError:
        """The program from the disk, or made now; or why there is none."""
        entry = None
        if traced.entry is not None:
            entry = traced.entry.beside("points 2", kind, *pattern.parts)
        try:
            layout = known_or_lowered(entry, lambda: self._lowered(kind, traced, leaves))
        except NotHereError as error:
            return error
        return UnsupportedOperationError(layout) if isinstance(layout, str) else Loaded(layout)

    def _weighted(self, fixed: Tree, others: tuple[Array, ...]) -> Traced:
        (*specified, weight), unknowns = others
        base = self._traced(VALUES, fixed, (*specified, unknowns), self.many)
        key = (SECOND, base.number)
        if key not in self.traces:
            like = [
                Aval(np.shape(x)[1:] if self.many else np.shape(x), np.dtype(float))
                for x in leaves_of(weight)
            ]
            _make_room(self.traces)
            *inputs, last = base.specified
            specified, slope = [*inputs, *like, last], Aval(last.shape, np.dtype(float))
            entry = base.entry
            if entry is not None:
                entry = entry.beside("weighted 2", str(specified))
            self.traces[key] = Traced(
                lambda: base.closed, base.used, None, [slope], specified, len(like), entry
            )
        return self.traces[key]

    def _traced(self, kind: str, fixed: Tree, others: Tree, points: bool = False) -> Traced:
        leaves, structure = flatten((fixed, *others))
        skip = len(leaves_of(fixed))
        shapes = [np.shape(x)[int(points and k >= skip) :] for k, x in enumerate(leaves)]
        types = [x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype for x in leaves]
        what = VALUES if kind == JACOBIANS else kind
        key = (what, structure, tuple(shapes), tuple(types))
        if key not in self.traces:
            like = list(map(Aval, shapes, types))
            _make_room(self.traces)
            entry = entry_of((self.function,), (fixed, *others), b"", ("outline", what, like))
            trace = functools.partial(self._outline, kind, structure, like, skip)
            outline = None if entry is None else read_outline(entry)
            known = outline is not None
            closed, outline = (None, outline) if known else trace()
            if not known and entry is not None and not write_outline(entry, outline):
                entry = None
            again = (lambda: trace()[0]) if closed is None else (lambda: closed)
            self.traces[key] = Traced(again, *outline, like[skip:], entry=entry)
        return self.traces[key]

    def _outline(
        self, kind: str, structure: TreeDef, like: list[Aval], skip: int
    ) -> tuple[ClosedProgram, Outline]:
        one = self._single(kind)
        make: Any = jax.make_jaxpr(lambda *x: one(*structure.unflatten(x)), return_shape=True)
        closed, out = make(*(jax.ShapeDtypeStruct(*x) for x in like))
        results, tree = jax.tree.flatten(out)
        avals = [Aval(tuple(x.shape), np.dtype(x.dtype)) for x in results]
        return closed, Outline(_used(closed.jaxpr)[:skip], tree, avals)

    def _pattern(
        self, kind: str, leaves: list[Array], traced: Traced
    ) -> tuple[tuple[int, str, Key], np.ndarray]:
        used = [x for x, u in zip(leaves, traced.used, strict=True) if u]
        before = self.patterns.get(traced.number)
        if before is None or not same_objects(before[0], used):
            arrays = [np.asarray(x) for x in used]
            for x in arrays:
                kind_of(x.dtype)
            pattern = Key(patterns_of(arrays))
            before = used, pattern, packed(arrays)
            _make_room(self.patterns)
            self.patterns[traced.number] = before
        return (traced.number, kind, before[1]), before[2]

    def _lowered(self, kind: str, traced: Traced, leaves: list[Array]) -> Layout:
        """Layout with object code, by tracing: a loop over the points."""
        check_size(count_numbers(traced.closed.jaxpr))
        builder = KernelBuilder()
        graph = builder.graph
        fixed: list[Value] = [
            builder.argument("fixed", x, True) if u else stored(NOWHERE, 0, np.shape(x), graph.root)
            for x, u in zip(leaves, traced.used, strict=True)
        ]
        head = Buffer("in", 0, 1, LONG)
        end = int(value_ids(graph, stored(head, 0, (), graph.root)))
        counter = graph.room(1, LONG)
        graph.state(Stores([(counter, 0, graph.constant(0, LONG))]))
        with graph.inside() as region:
            i = int(value_ids(graph, stored(counter, 0, (), region)))
            graph.state(Leave(graph.op("lt", i, end)))
            specified = self._specified(graph, traced, i, region)
            outs = self._flattened(kind, builder, traced, [*fixed, *specified])
            where, size = _places_of(self._shapes(kind, traced))
            last = _stores(graph, i, outs, where, size)
            last.single.append((counter, 0, graph.op("add", i, graph.constant(1, LONG))))
            graph.state(last)
        graph.state(Loop(region))
        steady = [all(graph.home[a] is graph.root for a in x.reshape(-1).tolist()) for x in outs]
        return builder.layout(where, size, steady=steady, quick=True)

    def _specified(self, graph: Graph, traced: Traced, i: int, region: Region) -> list[np.ndarray]:
        row = sum(_size(x.shape) for x in traced.specified)
        first = graph.op("mul", i, graph.constant(row, LONG))
        at, out = 1, []
        for x in traced.specified:
            buffer = Buffer("in", at, _size(x.shape), kind_of(x.dtype))
            array = stored(buffer, 0, x.shape, region)
            numbers = [
                graph.load_at(buffer, array.version, k, first, region) for k in range(array.size)
            ]
            out.append(np.array(numbers, dtype=int).reshape(x.shape))
            at += array.size
        return out

    def _flattened(
        self, kind: str, builder: KernelBuilder, traced: Traced, inputs: list[Value]
    ) -> list[np.ndarray]:
        graph, closed = builder.graph, traced.closed
        if kind == VALUES:
            flat = Lowering(graph, builder.table)
            return [value_ids(graph, x) for x in flat.run(closed.jaxpr, closed.consts, inputs)]
        unknown = inputs[-1].reshape(-1).tolist()
        flat = Differentiating(graph, builder.table, unknown)
        if traced.weights:
            weights = inputs[-1 - traced.weights : -1]
            inputs = [*inputs[: -1 - traced.weights], inputs[-1]]
            outs = [value_ids(graph, x) for x in flat.run(closed.jaxpr, closed.consts, inputs)]
            return [second_derivatives(flat, outs, weights, len(unknown))]
        outs = [value_ids(graph, x) for x in flat.run(closed.jaxpr, closed.consts, inputs)]
        partials = []
        for x in outs:
            rows = np.full((x.size, len(unknown)), graph.zero)
            for k, a in enumerate(x.reshape(-1).tolist()):
                for j, slope in flat.of(a).items():
                    rows[k, j] = slope
            partials.append(rows.reshape(*x.shape, len(unknown)))
        return partials if kind == SECOND else [*outs, *partials]

    def _shapes(self, kind: str, traced: Traced) -> list[tuple[tuple[int, ...], DType]]:
        values = [(tuple(x.shape), np.dtype(x.dtype)) for x in traced.avals]
        if kind == VALUES:
            return values
        n = _size(traced.specified[-1].shape)
        partials = [((*shape, n), np.dtype(float)) for shape, _ in values]
        return partials if kind == SECOND else values + partials


def point_program(
    function: Callable[..., Tree], fixed: int = 1, many: bool = False
) -> Callable[..., Tree]:
    """The same function as a program, its results arrays of numpy.

    Args:
        function: as for `jax.jit`; arguments and results are trees of arrays.
        fixed: so many first arguments rarely change. Their arrays must not be changed in place.
        many: all other arguments have an axis of points before their own, and so have the results.
    """
    points = Points(lambda first, *others: function(*first, *others), many)

    @functools.wraps(function)
    def program(*args: Tree) -> Tree:
        return points.values(args[:fixed], *args[fixed:])

    program.points = points  # type: ignore[attr-defined]
    return program


INSIDE = "inside another program"
NOWHERE = Buffer("nowhere", 0, 0, "f8")


def _places_of(
    shapes: list[tuple[tuple[int, ...], DType]],
) -> tuple[list[Place], int]:
    """Where arrays of results lie, with shapes and types, and how many numbers there are."""
    found, at = [], 0
    for shape, dtype in shapes:
        found.append((at, shape, dtype))
        at += _size(shape)
    return found, at


def _stores(
    graph: Graph,
    i: int,
    outs: list[np.ndarray],
    where: list[Place],
    size: int,
) -> Stores:
    """Results of point i go to their row; it is zero before."""
    last, first = Stores(), graph.op("mul", i, graph.constant(size, LONG))
    for x, (start, _, dtype) in zip(outs, where, strict=True):
        row = Buffer("out", 0, size, kind_of(dtype))
        for k, a in enumerate(x.reshape(-1).tolist()):
            if graph.value(a) != 0:
                last.moving.append((row, start + k, first, a))
    return last


def _size(shape: tuple[int, ...]) -> int:
    return math.prod(shape)


def _make_room(known: dict[Hashable, Tree]) -> None:
    while len(known) >= CACHE_SIZE:
        known.pop(next(iter(known)))


def _used(jaxpr: TracedProgram) -> list[bool]:
    requested = {var for var in jaxpr.outvars if not hasattr(var, "val")}
    requested |= {var for eqn in needed(jaxpr) for var in eqn.invars if not hasattr(var, "val")}
    return [var in requested for var in jaxpr.invars]
