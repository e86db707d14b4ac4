"""Second derivatives: the partials of `derivatives`, differentiated once more in the graph.

Loops and functions with custom derivatives are left to JAX (`NotHereError`).
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from swelltree.jit.backend import jax
from swelltree.jit.derivatives import Differentiating, Partials, traced_derivative
from swelltree.jit.graph import FLOAT, UnsupportedOperationError
from swelltree.jit.statements import arguments
from swelltree.jit.traced_types import ClosedProgram
from swelltree.jit.values import Value, value_ids

FLAT = {"sign", "floor", "ceil", "round_even", "round_away", "same", "convert"}
SMOOTH_FUNCTIONS = {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp"}
SMOOTH_FUNCTIONS |= {"exp2", "log", "log1p", "expm1", "sqrt", "cbrt", "abs", "max", "min", "pow"}
SMOOTH_FUNCTIONS |= {"atan2"}


class NotHereError(UnsupportedOperationError):
    """Second derivatives that are left to JAX."""

    lasts = False


class Twice:
    """Derivatives of expressions of a graph in the unknowns of its program."""

    def __init__(self, flat: Differentiating) -> None:
        if flat.has_custom:
            raise NotHereError("functions with derivatives of their own")
        self.flat, self.graph = flat, flat.graph
        self.partials: dict[int, Partials] = dict(flat.partials)
        self.rules: dict[Hashable, ClosedProgram] = {}

    def of(self, requested: list[int]) -> list[Partials]:
        for a in self._beneath(requested):
            partials = self._one(a)
            if partials:
                self.partials[a] = partials
        return [self.partials.get(a, {}) for a in requested]

    def _beneath(self, requested: list[int]) -> list[int]:
        """Operands, recursively, whose derivatives are not known yet, in order."""
        found: set[int] = set()
        todo = list(requested)
        while todo:
            a = todo.pop()
            if a in found or a in self.partials or self.graph.kinds[a] != FLOAT:
                continue
            found.add(a)
            todo.extend(arguments(self.graph.ops[a]))
        return sorted(found)

    def _one(self, a: int) -> Partials:
        graph, flat = self.graph, self.flat
        name, *x = graph.ops[a]
        if name == "load" or name == "load_at":
            if x[0].where == "work":
                raise NotHereError("derivatives that lie in memory")
            return {}
        if name == "is" or name in FLAT:
            return {}
        s = [self.partials.get(b, {}) for b in x]
        if not any(s):
            return {}
        one, minus = graph.one, graph.constant(-1.0)
        if name in ("add", "sub"):
            return flat.combined([(one, s[0]), (one if name == "add" else minus, s[1])])
        if name == "neg":
            return flat.combined([(minus, s[0])])
        if name == "mul":
            return flat.combined([(x[1], s[0]), (x[0], s[1])])
        if name == "div":
            by = graph.op("div", one, x[1])
            return flat.combined([(by, s[0]), (graph.op("neg", graph.op("mul", a, by)), s[1])])
        if name == "where":
            zero = graph.zero
            chosen = {
                j: graph.op("where", x[0], s[1].get(j, zero), s[2].get(j, zero))
                for j in sorted(s[1].keys() | s[2].keys())
            }
            return {j: b for j, b in chosen.items() if b != zero}
        if name not in SMOOTH_FUNCTIONS:
            raise NotHereError(f"derivatives of '{name}'")
        return flat.combined([(self._partial(name, k, x), s[k]) for k in range(len(x)) if s[k]])

    def _partial(self, name: str, k: int, x: list[int]) -> int:
        if (name, k) not in self.rules:
            types = [np.dtype(float)] * len(x)
            self.rules[name, k] = traced_derivative(getattr(jax.lax, name), k, types)
        inputs: list[Value] = [np.array(b) for b in x]
        (d,) = self.flat.plain.closed(self.rules[name, k], inputs)
        return int(value_ids(self.graph, d))


def second_derivatives(
    flat: Differentiating, outs: list[np.ndarray], weights: list[np.ndarray], size: int
) -> np.ndarray:
    """Expressions (n, n) of the second derivatives of the weighted sum of results."""
    graph = flat.graph
    pairs = [
        pair
        for x, q in zip(outs, weights, strict=True)
        for pair in zip(q.reshape(-1).tolist(), x.reshape(-1).tolist(), strict=True)
    ]
    total = flat.combined((q, flat.of(a)) for q, a in pairs)
    rows = np.full((size, size), graph.zero)
    first = sorted(total)
    for j, partials in zip(first, Twice(flat).of([total[j] for j in first]), strict=True):
        for k, a in partials.items():
            rows[j, k] = a
    return rows
