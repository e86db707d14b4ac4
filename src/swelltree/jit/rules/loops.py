"""Rules of while, scan and cond: loops and branches that carry their state in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from swelltree.jit.arrays import Array
from swelltree.jit.backend import jax, traced
from swelltree.jit.graph import LONG, Buffer, Graph, UnsupportedOperationError, kind_of
from swelltree.jit.lowering import Lowering, rule
from swelltree.jit.rules.elementwise import each
from swelltree.jit.rules.sums import joined
from swelltree.jit.statements import Choice, Leave, Loop, Row, Stores
from swelltree.jit.traced_types import (
    DType,
    Equation,
    Shaped,
    TracedProgram,
    Variable,
)
from swelltree.jit.values import (
    UNROLL_LIMIT,
    Retained,
    Stored,
    Updated,
    Value,
    View,
    constant_values,
    constants,
    in_memory,
    stored,
    stores,
    value_ids,
)

MOST_ABREAST = 8  # rows of a sweep that go in parallel


def slots_of(graph: Graph, avals: Sequence[Shaped]) -> list[Buffer]:
    sizes = [int(np.prod(a.shape, dtype=int)) for a in avals]
    return [graph.room(n, kind_of(a.dtype)) for n, a in zip(sizes, avals, strict=True)]


def _carried(flat: Lowering, avals: Sequence[Shaped]) -> list[Buffer]:
    return [flat.rows.slot(tuple(a.shape), kind_of(a.dtype)) for a in avals]


def _put(flat: Lowering, slots: list[Buffer], values: list[Value]) -> None:
    last = Stores()
    for buffer, x in zip(slots, values, strict=True):
        stores(flat.graph, buffer, flat.rows.for_slot(x, tuple(x.shape)), last)
    flat.graph.state(last)


def _carry_on(
    flat: Lowering, slots: list[Buffer], carried: list[Stored | View], values: list[Value]
) -> Stores:
    """Store loop-carried values at the end of an iteration; of `Updated` arrays the window only."""
    graph = flat.graph
    last, own = Stores(), {id(x.buffer) for x in carried}
    for buffer, before, x in zip(slots, carried, values, strict=True):
        if isinstance(x, Updated) and x.base.version == before.version:
            at, new = x.base.start, x.new
            if isinstance(new, Stored):
                last.rows.append(Row(buffer, at, new.buffer, new.start, new.size, x.index))
            else:
                last.written += [(buffer, at + k, a, x.index) for k, a in enumerate(new.tolist())]
            continue
        if not isinstance(x, Updated):
            x = flat.rows.for_slot(x, tuple(x.shape))
        if isinstance(x, Stored):
            if x.buffer is buffer and x.version == before.version and x.start == 0:
                continue  # as it was
            if id(x.buffer) in own:  # will be overwritten meanwhile: read first
                x = _set_aside(graph, x) if x.size > UNROLL_LIMIT else value_ids(graph, x)
        stores(graph, buffer, x, last)
    return last


def _set_aside(graph: Graph, x: Stored) -> Stored:
    copy = graph.room(x.size, x.kind)
    graph.state(Stores(rows=[Row(copy, 0, x.buffer, x.start, x.size)]))
    return stored(copy, 0, x.shape, graph.here)


def _unchanged(body: TracedProgram, first: int) -> list[bool]:
    return [out is into for out, into in zip(body.outvars, body.invars[first:], strict=False)]


def _where_going(graph: Graph, go: np.ndarray, new: Value, old: Value) -> np.ndarray:
    """Under `vmap`, cases that have left the loop keep their values."""
    ahead, before = value_ids(graph, new), value_ids(graph, old)
    going = go.reshape(*go.shape, *(1,) * (ahead.ndim - go.ndim))
    return each(graph, "where", np.broadcast_to(going, ahead.shape), ahead, before)


@rule("while")
def _while(flat: Lowering, eqn: Equation, *values: Value) -> list[Value]:
    graph, p = flat.graph, eqn.params
    cond, body = p["cond_jaxpr"], p["body_jaxpr"]
    nc, nb = p["cond_nconsts"], p["body_nconsts"]
    of_cond, of_body, init = values[:nc], values[nc : nc + nb], list(values[nc + nb :])
    fixed = _unchanged(body.jaxpr, nb)
    moving = [k for k, same in enumerate(fixed) if not same]
    slots = _carried(flat, [eqn.outvars[k].aval for k in moving])
    _put(flat, slots, [init[k] for k in moving])
    with graph.inside() as region:
        carry = list(init)
        for k, buffer in zip(moving, slots, strict=True):
            carry[k] = flat.rows.in_slot(buffer, tuple(eqn.outvars[k].aval.shape), region)
        go = value_ids(graph, flat.closed(cond, [*of_cond, *carry])[0])
        graph.state(Leave(joined(graph, "or", go.reshape(-1).tolist()) if go.size else graph.false))
        new = flat.closed(body, [*of_body, *carry])
        before, after = [carry[k] for k in moving], [new[k] for k in moving]
        if go.ndim:
            after = [_where_going(graph, go, *pair) for pair in zip(after, before, strict=True)]
        graph.state(_carry_on(flat, slots, before, after))
    graph.state(Loop(region))
    for k, buffer in zip(moving, slots, strict=True):
        init[k] = flat.rows.in_slot(buffer, tuple(eqn.outvars[k].aval.shape), graph.here)
    return init


@rule("scan")
def _scan(flat: Lowering, eqn: Equation, *values: Value) -> list[Value]:
    with flat.rows.abreast(_adjacent(eqn)) as several:
        return _swept(flat, eqn, several, *values)


def _adjacent(eqn: Equation) -> int | None:
    """Length of a leading axis that all loop-carried arrays of a scan share, such as lines."""
    p = eqn.params
    n, m = _sizes(p)
    body = p["jaxpr"].jaxpr
    shapes = [tuple(var.aval.shape) for var in eqn.outvars[:m]]
    shapes += [tuple(var.aval.shape)[1:] for var in eqn.outvars[m:]]
    counts = {shape[:1] for shape in shapes}
    if len(counts) != 1 or counts == {()} or len(eqn.invars) == n + m or not m:
        return None
    if any(var.aval.dtype != np.float64 for var in body.outvars):
        return None
    ((count,),) = counts
    return count if 1 < count <= MOST_ABREAST else None


def _swept(flat: Lowering, eqn: Equation, several: bool, *values: Value) -> list[Value]:
    graph, p = flat.graph, eqn.params
    (n, m), length = _sizes(p), int(p["length"])
    body = p["jaxpr"]
    consts, init, rows = values[:n], list(values[n : n + m]), values[n + m :]
    of_rows, outs = eqn.invars[n + m :], eqn.outvars
    if not length:
        return init + [constants(graph, np.zeros(v.aval.shape, v.aval.dtype)) for v in outs[m:]]
    fixed = _unchanged(body.jaxpr, n)[:m]
    moving = [k for k, same in enumerate(fixed) if not same]
    slots = _carried(flat, [outs[k].aval for k in moving])
    counter = graph.room(1, LONG)
    tables = [_table(graph, x, v.aval.dtype) for x, v in zip(rows, of_rows, strict=True)]
    zero = np.array(graph.constant(0, LONG))
    _put(flat, [*slots, counter], [*(init[k] for k in moving), zero])
    with graph.inside() as region:
        first = len(graph.ops)
        carry = list(init)
        for k, buffer in zip(moving, slots, strict=True):
            carry[k] = flat.rows.in_slot(buffer, tuple(outs[k].aval.shape), region)
        count = stored(counter, 0, (), region)
        i = int(value_ids(graph, count))
        end = graph.constant(length, LONG)
        graph.state(Leave(graph.op("lt", i, end)))
        at = graph.op("sub", graph.constant(length - 1, LONG), i) if p["reverse"] else i
        now = [flat.rows.at_number(x, at) for x in tables]
        new = flat.closed(body, [*consts, *carry, *now])
        changed, retained = [new[k] for k in moving], new[m:]
        loop = flat.rows.own_loop([*changed, *retained], slots, first) if several else None
        if loop is not None:
            results = [flat.rows.series_of(x, at, length) for x in retained]
            flat.rows.put_in_slots(changed, slots)
            flat.rows.close(loop)
            last = Stores()
        else:
            last = _carry_on(flat, slots, [carry[k] for k in moving], changed)
            results = _rows_stored(flat, outs[m:], retained, at, last)
        next_i = graph.op("add", i, graph.constant(1, LONG))
        last.written.append((counter, 0, next_i, None))
        graph.state(last)
    graph.state(Loop(region))
    for k, buffer in zip(moving, slots, strict=True):
        init[k] = flat.rows.in_slot(buffer, tuple(outs[k].aval.shape), graph.here)
    return init + [
        stored(x, 0, var.aval.shape, graph.here) if isinstance(x, Buffer) else x
        for x, var in zip(results, outs[m:], strict=True)
    ]


def _rows_stored(
    flat: Lowering, outs: Sequence[Variable], values: list[Value], at: int, last: Stores
) -> list[Buffer]:
    """Memory of the stacked results of a loop; `last` stores those of this iteration."""
    graph = flat.graph
    results = slots_of(graph, [var.aval for var in outs])
    for buffer, x in zip(results, values, strict=True):
        if isinstance(x, Retained) and x.size > UNROLL_LIMIT:
            row = x.memory(graph)
            first = graph.op("mul", at, graph.constant(row.size, LONG))
            last.rows.append(Row(buffer, 0, row.buffer, row.start, row.size, first))
            continue
        flat_x = value_ids(graph, x).reshape(-1).tolist()
        first = graph.op("mul", at, graph.constant(len(flat_x), LONG))
        last.written += [(buffer, k, a, first) for k, a in enumerate(flat_x)]
    return results


def _sizes(params: dict[str, Any]) -> tuple[int, int]:
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = params["ft_in"].unpack()  # JAX 0.11 and later
    return len(consts), len(carry)


def _table(graph: Graph, x: Value, dtype: DType) -> Stored | View:
    return x if isinstance(x, View) else in_memory(graph, x, kind_of(dtype))


@rule("cond")
def _cond(flat: Lowering, eqn: Equation, which: Value, *values: Value) -> list[Value]:
    graph, branches = flat.graph, eqn.params["branches"]
    which = value_ids(graph, which)
    known = constant_values(graph, which)
    most = len(branches) - 1
    if known is not None:
        return flat.closed(branches[int(np.clip(int(known), 0, most))], list(values))
    slots = _carried(flat, [var.aval for var in eqn.outvars])
    regions = []
    for branch in branches:
        with graph.inside() as region:
            outs = flat.closed(branch, list(values))
            _put(flat, slots, outs)
        regions.append(region)
    index = graph.typed("convert", LONG, int(which))
    index = graph.op("max", index, graph.constant(0, LONG))
    index = graph.op("min", index, graph.constant(most, LONG))
    graph.state(Choice(index, regions))
    return [
        flat.rows.in_slot(buffer, tuple(var.aval.shape), graph.here)
        for buffer, var in zip(slots, eqn.outvars, strict=True)
    ]


@rule("platform_index")
def _platform(flat: Lowering, eqn: Equation) -> np.ndarray:
    for k, platforms in enumerate(eqn.params["platforms"]):
        if platforms is None or "cpu" in platforms:
            return np.array(flat.graph.constant(k, kind_of(eqn.outvars[0].aval.dtype)))
    raise UnsupportedOperationError("a way of computing that is not for CPUs")


@rule("custom_linear_solve", "linear_solve")
def _solved(flat: Lowering, eqn: Equation, *values: Value) -> list[Value]:
    """The solver that was given; derivatives were taken before."""
    lengths, jaxprs = eqn.params["const_lengths"], eqn.params["jaxprs"]
    first = lengths.matvec + lengths.vecmat
    own = list(values[first : first + lengths.solve])
    total = sum(lengths)
    return flat.closed(jaxprs.solve, [*own, *values[total:]])


@rule("call_hi_primitive")
def _expanded(flat: Lowering, eqn: Equation, *values: Value) -> list[Value]:
    full = eqn.params["_prim"]

    def smaller(*args: Array) -> list[Array]:
        return jax.tree.leaves(full.expand(*jax.tree.unflatten(full.in_tree, args)))

    shapes = [jax.ShapeDtypeStruct(var.aval.shape, var.aval.dtype) for var in eqn.invars]
    return flat.closed(traced(smaller, *shapes), list(values))
