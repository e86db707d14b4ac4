"""Rule of the primitive `each`: a vectorised loop over rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.jit.graph import LONG, TRUTH, Buffer, Graph, UnsupportedOperationError, kind_of
from swelltree.jit.lowering import Lowering, rule
from swelltree.jit.native import lane_width
from swelltree.jit.rows.loops import Looped
from swelltree.jit.rules.loops import slots_of
from swelltree.jit.statements import Adds, Number, Rows, Stores
from swelltree.jit.traced_types import ClosedProgram, Equation
from swelltree.jit.values import (
    Stored,
    Value,
    View,
    constants,
    in_memory,
    stored,
    value_ids,
)


@rule("each")
def _each(flat: Lowering, eqn: Equation, *values: Value) -> list[Value]:
    """A loop over rows with accumulated sums.

    What depends on fixed arguments alone is hoisted before all loops.
    """
    graph, p = flat.graph, eqn.params
    body, axes, length, summed = p["jaxpr"], p["axes"], int(p["length"]), p["summed"]
    outs = [var.aval for var in eqn.outvars]
    if not length:
        return [constants(graph, np.zeros(x.shape, x.dtype)) for x in outs]
    # a body knows of no loop around it that still grows
    values = tuple(x.view() if isinstance(x, Looped) else x for x in values)
    if length == 1:
        return _single(flat, body, axes, summed, values)
    if len(graph.stack) > 1 and all(_is_fixed(graph, x) for x in values):
        with graph.outside():
            return _looped(flat, eqn, values)
    return _looped(flat, eqn, values)


def _is_fixed(graph: Graph, x: Value) -> bool:
    if isinstance(x, Stored):
        return x.home is graph.root
    if isinstance(x, np.ndarray):
        return all(graph.home[a] is graph.root for a in x.reshape(-1).tolist())
    return isinstance(x, View) and x.home is graph.root and x.base is None


def _looped(flat: Lowering, eqn: Equation, values: tuple[Value, ...]) -> list[Value]:
    graph, p = flat.graph, eqn.params
    body, axes, length, summed = p["jaxpr"], p["axes"], int(p["length"]), p["summed"]
    outs = [var.aval for var in eqn.outvars]
    kinds = [kind_of(x.dtype) for x in outs]
    if any(s and kind == TRUTH for s, kind in zip(summed, kinds, strict=True)):
        raise UnsupportedOperationError("sums of truths over rows")
    inputs = [
        x if axis is None or isinstance(x, View) else in_memory(graph, x, kind_of(var.aval.dtype))
        for x, axis, var in zip(values, axes, eqn.invars, strict=True)
    ]
    slots = slots_of(graph, outs)
    graph.state(
        Stores([zero for b, s in zip(slots, summed, strict=True) if s for zero in _zeros(flat, b)])
    )
    with graph.inside() as region, flat.rows.paused():
        index = graph.row_number(region)
        row = [
            x if axis is None else flat.rows.at_number(x, index, axis)
            for x, axis in zip(inputs, axes, strict=True)
        ]
        retained, sums = Stores(), Adds([])
        for slot, x, s in zip(slots, flat.closed(body, row), summed, strict=True):
            new = value_ids(graph, x).reshape(-1).tolist()
            if s:
                sums.terms += [(slot, j, a) for j, a in enumerate(new)]
            else:
                at = graph.op("mul", index, graph.constant(len(new), LONG))
                retained.written += [(slot, j, a, at) for j, a in enumerate(new)]
        graph.state(retained)
        graph.state(sums)
    graph.state(Rows(region, index, length, lane_width()))
    return [stored(slot, 0, x.shape, graph.here) for slot, x in zip(slots, outs, strict=True)]


def _zeros(flat: Lowering, buffer: Buffer) -> list[Number]:
    zero = flat.graph.constant(0, buffer.kind)
    return [(buffer, k, zero, None) for k in range(buffer.size)]


def _single(
    flat: Lowering, body: ClosedProgram, axes: Any, summed: Any, values: tuple[Value, ...]
) -> list[Value]:
    graph = flat.graph
    row = []
    for x, axis in zip(values, axes, strict=True):
        if isinstance(x, Stored) and axis is not None:  # an axis of one row may stand anywhere
            x = x.part(0, (*x.shape[:axis], *x.shape[axis + 1 :]))
        elif isinstance(x, View) and axis is not None:
            x = x.moved(lambda a, axis=axis: a.take(0, axis))
        elif axis is not None:
            x = np.asarray(value_ids(graph, x).take(0, axis))
        row.append(x)
    found = flat.closed(body, row)
    return [x if s else value_ids(graph, x)[None] for x, s in zip(found, summed, strict=True)]
