"""Rule of sort: odd-even transposition, for short rows."""

from __future__ import annotations

import numpy as np

from swelltree.jit.graph import FLOAT, TRUTH, Graph, UnsupportedOperationError
from swelltree.jit.lowering import Lowering, rule
from swelltree.jit.rules.elementwise import each
from swelltree.jit.traced_types import Equation
from swelltree.jit.values import Value, value_ids

MAX_SORTED = 32  # numbers of a row: exchanges grow with their square


@rule("sort")
def _sorted(flat: Lowering, eqn: Equation, *values: Value) -> list[np.ndarray]:
    """Rows in the order of the first of them, of equal ones in that of the next.

    Neighbours change places in as many rounds as there are numbers, every other pair in each; equal
    ones never do, so that their order stays.
    """
    graph, keys = flat.graph, int(eqn.params["num_keys"])
    axis = int(eqn.params["dimension"])
    arrays = [np.moveaxis(value_ids(graph, x), axis, 0).copy() for x in values]
    count = len(arrays[0])
    if count > MAX_SORTED:
        raise UnsupportedOperationError(f"{count} numbers put in order, more than {MAX_SORTED}")
    for turn in range(count):
        for k in range(turn % 2, count - 1, 2):
            pairs = [(np.array(x[k]), np.array(x[k + 1])) for x in arrays]
            change = _before(graph, [(b, a) for a, b in pairs[:keys]])
            for x, (a, b) in zip(arrays, pairs, strict=True):
                x[k] = each(graph, "where", change, b, a)
                x[k + 1] = each(graph, "where", change, a, b)
    return [np.moveaxis(x, 0, axis) for x in arrays]


def _before(graph: Graph, pairs: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Order of sorting: zeros of both signs are equal, NaN is last."""
    (a, b), *rest = pairs
    kind = graph.kinds[int(a.reshape(-1)[0])] if a.size else FLOAT
    if kind == TRUTH:
        less, same = each(graph, "and", each(graph, "not", a), b), each(graph, "eq", a, b)
    else:
        less, same = each(graph, "lt", a, b), each(graph, "eq", a, b)
    if kind == FLOAT:
        strange_a, strange_b = each(graph, "ne", a, a), each(graph, "ne", b, b)
        number = each(graph, "not", strange_a)
        less = each(graph, "or", less, each(graph, "and", number, strange_b))
        same = each(graph, "or", same, each(graph, "and", strange_a, strange_b))
    if not rest:
        return less
    return each(graph, "or", less, each(graph, "and", same, _before(graph, rest)))
