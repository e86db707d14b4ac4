"""Primitives of JAX on arrays of expressions: what moves numbers about only moves places."""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.spatial.in_numpy import NotKnownError, Writer, _rules
from swelltree.spatial.numpy_rules import out_of
from swelltree.spatial.scalar_graph import TEXT, Graph

EACH = {name: name for name in TEXT if name != "where"} | {"add_any": "add"}
MOVES = {
    "broadcast_in_dim",
    "reshape",
    "transpose",
    "squeeze",
    "expand_dims",
    "slice",
    "dynamic_slice",
    "gather",
    "concatenate",
    "stack",
    "pad",
    "rev",
    "split",
}
SAME = {"convert_element_type", "stop_gradient", "copy", "copy_p", "optimization_barrier"}
PLACES = {"gather": 1, "dynamic_slice": 1}  # from this argument on: places, known numbers


def _each(graph: Graph, name: str, *arrays: np.ndarray) -> np.ndarray:
    shape = np.broadcast_shapes(*(x.shape for x in arrays))
    flat = [np.broadcast_to(x, shape).reshape(-1).tolist() for x in arrays]
    op = graph.op
    return np.array([op(name, *x) for x in zip(*flat, strict=True)], dtype=int).reshape(shape)


def _sum(graph: Graph, places: list[int]) -> int:
    total = graph.zero
    for a in places:
        total = graph.op("add", total, a)
    return total


def _dot(graph: Graph, eqn: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    (cx, cy), (bx, by) = eqn.params["dimension_numbers"]
    fx = [d for d in range(x.ndim) if d not in (*cx, *bx)]
    fy = [d for d in range(y.ndim) if d not in (*cy, *by)]
    batch = [x.shape[d] for d in bx]
    shape = (*batch, *(x.shape[d] for d in fx), *(y.shape[d] for d in fy))
    inner = int(np.prod([x.shape[d] for d in cx], dtype=int))
    count = int(np.prod(batch, dtype=int))
    left = x.transpose([*bx, *fx, *cx]).reshape(count, -1, inner) if x.size else None
    right = y.transpose([*by, *fy, *cy]).reshape(count, -1, inner) if y.size else None
    if left is None or right is None:
        return np.full(shape, graph.zero)
    out = [
        _sum(graph, [graph.op("mul", a, b) for a, b in zip(p, q, strict=True)])
        for P, Q in zip(left.tolist(), right.tolist(), strict=True)
        for p in P
        for q in Q
    ]
    return np.array(out, dtype=int).reshape(shape)


def _numbers(graph: Graph, x: np.ndarray) -> np.ndarray | None:
    """Values of places that are all known."""
    values = [graph.value(a) for a in x.reshape(-1).tolist()]
    if None in values:
        return None
    return np.array(values, dtype=float).reshape(x.shape)


def _moved(graph: Graph, eqn: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The rule of numpy on the places themselves."""
    writer = Writer()
    refs = []
    first = PLACES.get(eqn.primitive.name, len(arrays))
    for i, (x, var) in enumerate(zip(arrays, eqn.invars, strict=True)):
        if i >= first:
            values = _numbers(graph, x)
            if values is None:
                raise NotKnownError(eqn.primitive.name)
            refs.append(writer.constant(values.astype(var.aval.dtype)))
        else:
            refs.append(writer.constant(x.astype(float)))
    found = _rules()[eqn.primitive.name](writer, eqn, *refs)
    found = found if isinstance(found, list) else [found]
    return [np.array(x.known(), dtype=float).astype(int) for x in found]


def _folded(graph: Graph, eqn: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Anything of numbers known now."""
    writer, refs = Writer(), []
    for x, var in zip(arrays, eqn.invars, strict=True):
        values = _numbers(graph, x)
        if values is None:
            raise NotKnownError(eqn.primitive.name)
        refs.append(writer.constant(values.astype(var.aval.dtype)))
    if eqn.primitive.name not in _rules():
        raise NotKnownError(eqn.primitive.name)
    found = _rules()[eqn.primitive.name](writer, eqn, *refs)
    found = found if isinstance(found, list) else [found]
    return [placed(graph, x.known()) for x in found]


def placed(graph: Graph, value: Any) -> np.ndarray:
    """Places of known numbers."""
    value = np.asarray(value)
    flat = [graph.constant(float(v)) for v in value.reshape(-1).tolist()]
    return np.array(flat, dtype=int).reshape(value.shape)


def applied(graph: Graph, eqn: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """One equation of a traced program on arrays of places."""
    name = eqn.primitive.name
    if name in EACH:
        if name in ("and", "or", "not") and eqn.invars[0].aval.dtype != bool:
            raise NotKnownError(name)
        if name == "div" and eqn.outvars[0].aval.dtype.kind != "f":
            return _folded(graph, eqn, arrays)
        return [_each(graph, EACH[name], *arrays)]
    if name in MOVES:
        return _moved(graph, eqn, arrays)
    if name == "convert_element_type" and out_of(eqn)[1].kind in "iu":
        return _folded(graph, eqn, arrays)
    if name in SAME:
        return list(arrays)
    if name == "select_n" and len(arrays) == 3 and eqn.invars[0].aval.dtype == bool:
        return [_each(graph, "where", arrays[0], arrays[2], arrays[1])]
    if name == "clamp":
        low, x, high = arrays
        return [_each(graph, "min", _each(graph, "max", x, low), high)]
    if name == "integer_pow":
        return [_power(graph, arrays[0], int(eqn.params["y"]))]
    if name == "square":
        return [_each(graph, "mul", arrays[0], arrays[0])]
    if name == "rsqrt":
        root = _each(graph, "sqrt", arrays[0])
        return [_each(graph, "div", np.full(root.shape, graph.one), root)]
    if name == "dot_general":
        return [_dot(graph, eqn, *arrays)]
    if name in ("reduce_sum", "reduce_max", "reduce_min"):
        return [_reduced(graph, name, eqn, arrays[0])]
    if name == "argmax":
        return [_first_largest(graph, eqn, arrays[0])]
    return _folded(graph, eqn, arrays)


def _first_largest(graph: Graph, eqn: Any, x: np.ndarray) -> np.ndarray:
    """Place of the largest along one axis, by comparing one after another."""
    (axis,) = eqn.params["axes"]
    rows = np.moveaxis(x, int(axis), 0)
    best, at = np.asarray(rows[0]), np.full(rows.shape[1:], graph.zero)
    for k in range(1, len(rows)):
        row = np.asarray(rows[k])
        larger = _each(graph, "gt", row, best)
        best = _each(graph, "where", larger, row, best)
        at = _each(graph, "where", larger, np.full(at.shape, graph.constant(float(k))), at)
    return at


def _power(graph: Graph, x: np.ndarray, y: int) -> np.ndarray:
    power = np.full(x.shape, graph.one)
    for _ in range(abs(y)):
        power = _each(graph, "mul", power, x)
    return power if y >= 0 else _each(graph, "div", np.full(x.shape, graph.one), power)


def _reduced(graph: Graph, name: str, eqn: Any, x: np.ndarray) -> np.ndarray:
    axes = [int(d) for d in eqn.params["axes"]]
    kept = [d for d in range(x.ndim) if d not in axes]
    shape = tuple(x.shape[d] for d in kept)
    if not x.size:
        if name != "reduce_sum":
            raise NotKnownError(name)
        return np.full(shape, graph.zero)
    rows = x.transpose([*kept, *axes]).reshape(int(np.prod(shape, dtype=int)), -1).tolist()
    if name == "reduce_sum":
        out = [_sum(graph, row) for row in rows]
    else:
        out = []
        for row in rows:
            best = row[0]
            for a in row[1:]:
                best = graph.op(name[-3:], best, a)
            out.append(best)
    return np.array(out, dtype=int).reshape(shape)
