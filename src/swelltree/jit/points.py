"""A function at one point or at many: values, Jacobians and second derivatives.

The function is traced once for all of these. Its first arguments hold values that rarely change:
those that are used are loaded from memory, their zeros and ones are built in. The last argument are
the unknowns. At many points one native loop goes from point to point; what is the same at all of
them is computed before it, and a program serves any number of points.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from swelltree.jit.arrays import Array, Tree
from swelltree.jit.backend import jax, jaxpr_as_fun, jnp
from swelltree.jit.derivatives import Differentiating, NotHereError, second_derivatives
from swelltree.jit.engine import BY_LLVM, note
from swelltree.jit.entries import Layout, Place
from swelltree.jit.graph import LONG, Buffer, Graph, Region, kind_of
from swelltree.jit.lowering import Lowering, count_numbers
from swelltree.jit.program import (
    INSIDE,
    FixedDriver,
    KernelBuilder,
    Kind,
    Loaded,
    check_size,
    dtype_of,
    kinds_of,
    numbered,
    taken,
)
from swelltree.jit.statements import Leave, Loop, Stores
from swelltree.jit.traced_types import ClosedProgram, DType
from swelltree.jit.trees import flatten, leaves_of, mapped, structure_of
from swelltree.jit.values import Value, stored, value_ids

VALUES, JACOBIANS, SECOND = "values", "jacobians", "second"
Aval = tuple[tuple[int, ...], DType]  # shape and type of an array


class Points(FixedDriver):
    """A function ``f(*fixed, *others, unknowns)`` at points.

    Args:
        function: arguments and results are trees of arrays; the unknowns are one array (n,).
        many: all arguments that are not fixed have an axis of points before their own.
        share: results that are the same at all points are the same objects from call to call,
            which must not be changed.
        fixed: as of `FixedDriver`.
    """

    def __init__(
        self,
        function: Callable[..., Tree],
        many: bool = False,
        share: bool = False,
        fixed: int = 1,
    ) -> None:
        super().__init__(function, fixed)
        self.many, self.share = many, share
        self.reason = ""  # why the last call ran by XLA; empty: it did not

    def values(self, *args: Tree) -> Tree:
        return self._run(VALUES, args)

    def jacobians(self, *args: Tree) -> tuple[Tree, Tree]:
        """Results, and their derivatives in the unknowns, which have the last axis."""
        return self._run(JACOBIANS, args)

    def second(self, *args: Tree, weight: Tree) -> Tree:
        """Second derivatives (..., n, n) of the sum of all results times their weights."""
        return self._run(SECOND, (*args[:-1], weight, args[-1]))

    __call__ = values

    @property
    def engine(self) -> str:
        """What ran the last call, and why it was not LLVM where it was not."""
        return f"XLA: {self.reason}" if self.reason else BY_LLVM

    # --- by JAX -------------------------------------------------------------------------------
    @functools.cached_property
    def of_kinds(self) -> dict[str, Callable[..., Tree]]:
        return {how: jax.jit(self._of_kind(how)) for how in (VALUES, JACOBIANS, SECOND)}

    def _slope(self, *args: Tree) -> Tree:
        """Derivatives of the weighted sum of all results."""
        *specified, weight, unknowns = args

        def total(unknowns: Tree) -> Array:
            # by its traced program, which JAX differentiates sooner than Python
            args = *specified, unknowns
            traced = self._traced(self.by_xla, args)
            outs = jaxpr_as_fun(traced.jaxpr)(*jax.tree.leaves(args))
            pairs = zip(jax.tree.leaves(weight), outs, strict=True)
            return sum(jnp.sum(a * b) for a, b in pairs)

        return jax.grad(total)(unknowns)

    def _of_kind(self, how: str) -> Callable[..., Tree]:
        def one(*args: Tree) -> Tree:
            if how == VALUES:
                return self.function(*args)
            *specified, unknowns = args
            if how == SECOND:
                return jax.jacfwd(functools.partial(self._slope, *specified))(unknowns)

            def twice(x: Array) -> Tree:
                y = self.function(*specified, x)
                return y, y

            jacobians, values = jax.jacfwd(twice, has_aux=True)(unknowns)
            return values, jacobians

        if not self.many:
            return one
        n = self.fixed
        return lambda *args: jax.vmap(functools.partial(one, *args[:n]))(*args[n:])

    # --- by LLVM ------------------------------------------------------------------------------
    def _run(self, how: str, args: tuple[Tree, ...]) -> Tree:
        program, numbers, leaves = self.find(args, how)
        self.reason = program if isinstance(program, str) else ""
        if self.reason != INSIDE:
            note(self.engine)
        if isinstance(program, str):
            built = self.of_kinds[how](*args)
            return built if program == INSIDE else mapped(np.asarray, built)
        leaves = [np.asarray(x) for x in leaves]
        count = len(leaves[-1]) if self.many else 1
        widths = [math.prod(x.shape[int(self.many) :]) for x in leaves]
        into, at = np.empty((count, sum(widths))), 0
        for x, width in zip(leaves, widths, strict=True):
            x = x if x.dtype == np.float64 else x.astype(np.int64).view(np.float64)
            into[:, at : at + width] = x.reshape(count, width)
            at += width
        _, n_out, n_work = program.layout.sizes
        out, work = np.zeros((count, n_out)), np.empty(n_work)
        head = np.array([count], dtype=np.int64).view(np.float64)
        rows = np.concatenate([head, into.reshape(-1)])
        program.native(program.fixed(numbers), rows, out, work)
        return program.tree.unflatten(self._arrays(program, numbers, out))

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

    def kinds(self, leaves: list[Array]) -> tuple[Kind, ...]:
        kinds = kinds_of(leaves)
        return tuple((shape[1:], dtype) for shape, dtype in kinds) if self.many else kinds

    def _traced(self, function: Any, args: tuple[Tree, ...], many: bool = False) -> Any:
        """The traced function of one point."""
        skip = len(leaves_of(args[: self.fixed])) if many else math.inf
        leaves, tree = flatten(args)
        like = [
            jax.ShapeDtypeStruct(np.shape(x)[int(k >= skip) :], dtype_of(x))
            for k, x in enumerate(leaves)
        ]
        return function.trace(*tree.unflatten(like))

    def lowered(self, how: str, args: tuple[Tree, ...], leaves: list[Array]) -> Layout:
        if how != SECOND:
            return self._looped(how, self._traced(self.by_xla, args, self.many), args, leaves)
        *specified, weight, unknowns = args
        traced = self._traced(self.by_xla, (*specified, unknowns), self.many)
        try:
            return self._looped(how, traced, args, leaves, len(leaves_of(weight)))
        except NotHereError:  # JAX takes the first derivatives of the whole
            traced = self._traced(jax.jit(self._slope), args, self.many)
            return self._looped(how, traced, args, leaves)

    def _looped(
        self, how: str, traced: Any, args: tuple[Tree, ...], leaves: list[Array], weights: int = 0
    ) -> Layout:
        """Layout with object code: a loop over the points."""
        closed = traced.jaxpr
        check_size(count_numbers(closed.jaxpr))
        builder = KernelBuilder()
        graph = builder.graph
        fixed = [builder.argument("fixed", x, True) for x in leaves_of(args[: self.fixed])]
        head = Buffer("in", 0, 1, LONG)
        end = int(value_ids(graph, stored(head, 0, (), graph.root)))
        counter = graph.room(1, LONG)
        graph.state(Stores([(counter, 0, graph.constant(0, LONG), None)]))
        shapes = [np.shape(x)[int(self.many) :] for x in leaves]
        like = [(shape, np.dtype(dtype_of(x))) for shape, x in zip(shapes, leaves, strict=True)]
        with graph.inside() as region:
            i = int(value_ids(graph, stored(counter, 0, (), region)))
            graph.state(Leave(graph.op("lt", i, end)))
            specified = list(_specified(graph, like, i, region))
            outs = _differentiated(how, builder, closed, [*fixed, *specified], weights)
            n = 0 if how == VALUES else math.prod(shapes[-1])
            avals = [
                (tuple(var.aval.shape), np.dtype(var.aval.dtype)) for var in closed.jaxpr.outvars
            ]
            where, size = _places_of(how, [((n,), np.dtype(float))] if weights else avals, n)
            last = _stores(graph, i, outs, where, size)
            following = graph.op("add", i, graph.constant(1, LONG))
            last.written.append((counter, 0, following, None))
            graph.state(last)
        graph.state(Loop(region))
        steady = [all(graph.home[a] is graph.root for a in x.reshape(-1).tolist()) for x in outs]
        results, tree = 0, structure_of(traced.out_info)
        if how != SECOND:
            results = numbered(tree)
        if how == JACOBIANS:
            results = results, numbered(tree, tree.num_leaves)
        return builder.layout(where, size, results, steady=steady, quick=True)


def _specified(graph: Graph, like: list[Aval], i: int, region: Region) -> Iterator[np.ndarray]:
    """Arguments of point i, which lie one after another in its row."""
    row = sum(math.prod(shape) for shape, _ in like)
    first, at = graph.op("mul", i, graph.constant(row, LONG)), 1
    for shape, dtype in like:
        buffer = Buffer("in", at, math.prod(shape), kind_of(dtype))
        array = stored(buffer, 0, shape, region)
        numbers = [
            graph.load_at(buffer, array.version, k, first, region) for k in range(array.size)
        ]
        yield np.array(numbers, dtype=int).reshape(shape)
        at += array.size


def _differentiated(
    how: str, builder: KernelBuilder, closed: ClosedProgram, inputs: list[Value], weights: int
) -> list[np.ndarray]:
    """Results of one point: values, their partials in the last argument, or both."""
    graph = builder.graph
    if how == VALUES:
        flat = Lowering(graph, builder.table)
        return [value_ids(graph, x) for x in flat.run(closed.jaxpr, closed.consts, inputs)]
    unknown = inputs[-1].reshape(-1).tolist()
    flat = Differentiating(graph, builder.table, unknown)
    of_results = inputs[-1 - weights : -1]
    inputs = [*inputs[: len(inputs) - 1 - weights], inputs[-1]]
    outs = [value_ids(graph, x) for x in flat.run(closed.jaxpr, closed.consts, inputs)]
    if weights:
        return [second_derivatives(flat, outs, of_results, len(unknown))]
    partials = []
    for x in outs:
        rows = np.full((x.size, len(unknown)), graph.zero)
        for k, a in enumerate(x.reshape(-1).tolist()):
            for j, slope in flat.of(a).items():
                rows[k, j] = slope
        partials.append(rows.reshape(*x.shape, len(unknown)))
    return partials if how == SECOND else [*outs, *partials]


def _places_of(how: str, avals: list[Aval], n: int) -> tuple[list[Place], int]:
    """Where results lie, with shapes and types, and how many numbers there are."""
    partials: list[Aval] = [((*shape, n), np.dtype(float)) for shape, _ in avals]
    shapes = {VALUES: avals, JACOBIANS: avals + partials, SECOND: partials}[how]
    found, at = [], 0
    for shape, dtype in shapes:
        found.append((at, shape, dtype))
        at += math.prod(shape)
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
                last.written.append((row, start + k, a, first))
    return last
