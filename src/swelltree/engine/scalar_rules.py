"""Primitives of JAX on arrays of expressions: what moves numbers about only moves places."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from swelltree.engine.backend import jax
from swelltree.engine.numpy_rules import out_of
from swelltree.engine.numpy_writer import RULES, NotKnownError, Writer
from swelltree.engine.scalar_graph import MOVING, TEXT, Graph

EACH = {name: name for name in TEXT if name not in ("where", "still")}
EACH |= {"add_any": "add", "stop_gradient": "still"}
KINDS = {"float64", "int32", "int64", "bool"}  # what single numbers stand for
WHOLE = {"add", "sub", "mul", "neg", "max", "min", "abs", "sign", "integer_pow", "square"}
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
SAME = {"copy", "copy_p", "optimization_barrier"}
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
    # places are numbers, whatever stands there
    outs = [SimpleNamespace(aval=jax.ShapeDtypeStruct(v.aval.shape, float)) for v in eqn.outvars]
    same = SimpleNamespace(primitive=eqn.primitive, params=eqn.params, outvars=outs)
    found = RULES[eqn.primitive.name](writer, same, *refs)
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
    if eqn.primitive.name not in RULES:
        raise NotKnownError(eqn.primitive.name)
    outs = RULES[eqn.primitive.name](writer, eqn, *refs)
    outs = outs if isinstance(outs, list) else [outs]
    return [placed(graph, x.known()) for x in outs]


def placed(graph: Graph, value: Any) -> np.ndarray:
    """Places of known numbers."""
    value = np.asarray(value)
    if value.dtype.kind not in "fiub":
        raise NotKnownError(f"constants of {value.dtype}")
    flat = [graph.constant(float(v)) for v in value.reshape(-1).tolist()]
    return np.array(flat, dtype=int).reshape(value.shape)


def applied(graph: Graph, eqn: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """One equation of a traced program on arrays of places."""
    name = eqn.primitive.name
    others = {str(var.aval.dtype) for var in (*eqn.invars, *eqn.outvars)} - KINDS
    if others:
        raise NotKnownError(f"{name} of {min(others)}")
    if name in EACH:
        if name in ("and", "or", "not") and eqn.invars[0].aval.dtype != bool:
            raise NotKnownError(name)
        if out_of(eqn)[1].kind == "i" and name not in WHOLE:
            return _folded(graph, eqn, arrays)
        return [_each(graph, EACH[name], *arrays)]
    if name in MOVES:
        return _moved(graph, eqn, arrays)
    if name == "convert_element_type":
        return _converted(graph, eqn, arrays)
    if name in SAME:
        return list(arrays)
    if name == "select_n" and len(arrays) == 3 and eqn.invars[0].aval.dtype == bool:
        return [_each(graph, "where", arrays[0], arrays[2], arrays[1])]
    if name == "clamp":
        return [_clamped(graph, *arrays)]
    if name == "integer_pow":
        return [_power(graph, arrays[0], int(eqn.params["y"]))]
    if name == "square":
        return [_each(graph, "mul", arrays[0], arrays[0])]
    if name == "rsqrt":
        root = _each(graph, "sqrt", arrays[0])
        return [_each(graph, "div", np.full(root.shape, graph.one), root)]
    if name == "dot_general":
        return [_dot(graph, eqn, *arrays)]
    if name in ("reduce_sum", "reduce_max", "reduce_min") and out_of(eqn)[1].kind != "b":
        return [_reduced(graph, name, eqn, arrays[0])]
    if name == "argmax":
        return [_first_largest(graph, eqn, arrays[0])]
    return _folded(graph, eqn, arrays)


def _converted(graph: Graph, eqn: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Another type: truth becomes the numbers one and zero, numbers become truth."""
    (x,) = arrays
    old, new = eqn.invars[0].aval.dtype, out_of(eqn)[1]
    if new.kind == "b" and old.kind != "b":
        return [_each(graph, "ne", x, np.full(x.shape, graph.zero))]
    if old.kind == "b" and new.kind != "b":
        one, zero = np.full(x.shape, graph.one), np.full(x.shape, graph.zero)
        return [_each(graph, "where", x, one, zero)]
    if old.kind == "f" and new.kind == "i":
        return _folded(graph, eqn, arrays)
    return [x]


def _clamped(graph: Graph, low: np.ndarray, x: np.ndarray, high: np.ndarray) -> np.ndarray:
    """x between two ends; at an end it has no slope, as in JAX."""
    if any(graph.level[a] == MOVING for a in (*low.reshape(-1), *high.reshape(-1))):
        raise NotKnownError("clamp")
    inside = _each(graph, "and", _each(graph, "gt", x, low), _each(graph, "lt", x, high))
    cut = _each(graph, "min", _each(graph, "max", x, low), high)
    return _each(graph, "where", inside, x, _each(graph, "still", cut))


def _largest(graph: Graph, name: str, row: list[int]) -> int:
    """Largest or smallest of some; equal ones share the slope, as in JAX."""
    best = row[0]
    for a in row[1:]:
        best = graph.op(name, best, a)
    if len(row) < 3 or graph.level[best] != MOVING:
        return best
    level = graph.op("still", best)
    equal = [graph.op("eq", a, level) for a in row]
    parts = [graph.op("where", e, a, graph.zero) for e, a in zip(equal, row, strict=True)]
    count = _sum(graph, [graph.op("where", e, graph.one, graph.zero) for e in equal])
    return graph.op("div", _sum(graph, parts), count)


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
        out = [_largest(graph, name[-3:], row) for row in rows]
    return np.array(out, dtype=int).reshape(shape)
