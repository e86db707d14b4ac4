"""Expressions of single numbers: simplified as they are made, each kept once, differentiable.

A number of an expression is its place in the lists of a `Graph`. Zeros, ones and equal parts
disappear on the way, so that a program for moving bodies in space shrinks to what a model
really needs of it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

MOST = 60_000  # expressions of one graph
CONSTANT, GIVEN, MOVING = 0, 1, 2  # known now; known before the unknowns are; depends on them

# numpy for every operation
TEXT = {
    "add": "{0}+{1}",
    "sub": "{0}-{1}",
    "mul": "{0}*{1}",
    "div": "{0}/{1}",
    "neg": "-{0}",
    "pow": "{0}**{1}",
    "max": "np.maximum({0},{1})",
    "min": "np.minimum({0},{1})",
    "where": "np.where({0},{1},{2})",
    "lt": "{0}<{1}",
    "le": "{0}<={1}",
    "gt": "{0}>{1}",
    "ge": "{0}>={1}",
    "eq": "{0}=={1}",
    "ne": "{0}!={1}",
    "and": "np.logical_and({0},{1})",
    "or": "np.logical_or({0},{1})",
    "not": "np.logical_not({0})",
    "atan2": "np.arctan2({0},{1})",
    "asin": "np.arcsin({0})",
    "acos": "np.arccos({0})",
    "atan": "np.arctan({0})",
    "still": "{0}",  # the value, without its slopes
}
for _name in ("abs", "sign", "sqrt", "sin", "cos", "tan", "exp", "log", "tanh", "sinh", "cosh"):
    TEXT[_name] = f"np.{_name}({{0}})"
for _name in ("log1p", "expm1", "floor", "ceil", "cbrt"):
    TEXT[_name] = f"np.{_name}({{0}})"
FLAT = {"sign", "floor", "ceil", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"}
FLAT |= {"still"}


class TooLargeError(Exception):
    """The graph has more expressions than are worth it."""


class Graph:
    """Expressions in the order in which they can be computed."""

    def __init__(self) -> None:
        self.ops: list[tuple[Any, ...]] = []  # operation and places, or ("in", name), ("is", value)
        self.level: list[int] = []
        self.known: dict[tuple[Any, ...], int] = {}
        self.zero, self.one = self.constant(0.0), self.constant(1.0)

    def _put(self, key: tuple[Any, ...], level: int) -> int:
        number = self.known.get(key)
        if number is None:
            number = len(self.ops)
            if number > MOST:
                raise TooLargeError(f"more than {MOST} operations")
            self.known[key] = number
            self.ops.append(key)
            self.level.append(level)
        return number

    def constant(self, value: float) -> int:
        """A number known now."""
        return self._put(("is", float(value)), CONSTANT)

    def value(self, a: int) -> float | None:
        """Of a constant."""
        return self.ops[a][1] if self.ops[a][0] == "is" else None

    def input(self, name: str, level: int) -> int:
        """A number that comes from outside."""
        return self._put(("in", name), level)

    # --- arithmetic ---------------------------------------------------------------------
    def op(self, name: str, *args: int) -> int:
        """An operation, simplified."""
        special = getattr(self, f"_{name}", None)
        if special is not None:
            folded = special(*args)
            if folded is not None:
                return folded
        values = [self.value(a) for a in args]
        if None not in values:
            with np.errstate(all="ignore"):
                text = TEXT[name].format(*(f"x[{i}]" for i in range(len(args))))
                exact = [np.float64(v) for v in values]
                return self.constant(float(eval(text, {"np": np, "x": exact})))
        return self._put((name, *args), max(self.level[a] for a in args))

    def _add(self, a: int, b: int) -> int | None:
        if a == self.zero:
            return b
        if b == self.zero:
            return a
        if self.ops[b][0] == "neg":
            return self.op("sub", a, self.ops[b][1])
        if self.ops[a][0] == "neg":
            return self.op("sub", b, self.ops[a][1])
        return None if a <= b else self.op("add", b, a)

    def _sub(self, a: int, b: int) -> int | None:
        if b == self.zero:
            return a
        if a == b:
            return self.zero
        if a == self.zero:
            return self.op("neg", b)
        return self.op("add", a, self.ops[b][1]) if self.ops[b][0] == "neg" else None

    def _neg(self, a: int) -> int | None:
        kind = self.ops[a][0]
        if kind == "neg":
            return self.ops[a][1]
        if kind == "is":
            return self.constant(0.0 - self.ops[a][1])
        return self.op("sub", self.ops[a][2], self.ops[a][1]) if kind == "sub" else None

    def _mul(self, a: int, b: int) -> int | None:
        if self.zero in (a, b):
            return self.zero
        for x, y in ((a, b), (b, a)):
            value = self.value(x)
            if value == 1.0:
                return y
            if value == -1.0:
                return self.op("neg", y)
            if self.ops[x][0] == "neg":
                return self.op("neg", self.op("mul", self.ops[x][1], y))
        return None if a <= b else self.op("mul", b, a)

    def _div(self, a: int, b: int) -> int | None:
        if a == self.zero:
            return self.zero
        value = self.value(b)
        if value == 1.0:
            return a
        if value:
            return (
                self.op("mul", a, self.constant(1.0 / value))
                if math.frexp(value)[0] == 0.5
                else None
            )
        return None

    def _pow(self, a: int, b: int) -> int | None:
        value = self.value(b)
        if value == 0.0:
            return self.one
        if value == 1.0:
            return a
        return self.op("mul", a, a) if value == 2.0 else None

    def _where(self, c: int, a: int, b: int) -> int | None:
        if a == b:
            return a
        value = self.value(c)
        return None if value is None else (a if value else b)

    def _max(self, a: int, b: int) -> int | None:
        return a if a == b else None

    _min = _max

    def _still(self, a: int) -> int | None:
        return a if self.level[a] < MOVING else None

    # --- derivatives --------------------------------------------------------------------
    def partials(self, a: int) -> list[tuple[int, int]]:
        """Arguments of an expression, not a choice, and its derivatives in them."""
        name, *x = self.ops[a]
        if name in ("is", "in") or name in FLAT:
            return []
        op, one = self.op, self.one
        if name == "add":
            return [(x[0], one), (x[1], one)]
        if name == "sub":
            return [(x[0], one), (x[1], op("neg", one))]
        if name == "mul":
            return [(x[0], x[1]), (x[1], x[0])]
        if name == "div":
            return [(x[0], op("div", one, x[1])), (x[1], op("neg", op("div", a, x[1])))]
        if name == "pow":
            p = self.value(x[1])
            if p is None:
                raise NotImplementedError("pow")
            slope = op("mul", x[1], op("pow", x[0], self.constant(p - 1.0)))
            return [(x[0], slope)]
        if name in ("max", "min"):
            # where both are equal each has its half, as in JAX
            first = op("gt" if name == "max" else "lt", x[0], x[1])
            equal = op("eq", x[0], x[1])
            half = self.constant(0.5)
            return [
                (x[0], op("where", equal, half, op("where", first, one, self.zero))),
                (x[1], op("where", equal, half, op("where", first, self.zero, one))),
            ]
        if name == "atan2":
            size = op("add", op("mul", x[0], x[0]), op("mul", x[1], x[1]))
            return [(x[0], op("div", x[1], size)), (x[1], op("neg", op("div", x[0], size)))]
        return [(x[0], self._slope(name, x[0], a))]

    def _slope(self, name: str, x: int, y: int) -> int:
        """Derivative of y = name(x)."""
        op, one = self.op, self.one
        if name == "neg":
            return op("neg", one)
        if name == "abs":
            return op("where", op("ge", x, self.zero), one, op("neg", one))
        if name == "sqrt":
            return op("div", self.constant(0.5), y)
        if name == "sin":
            return op("cos", x)
        if name == "cos":
            return op("neg", op("sin", x))
        if name in ("exp", "sinh", "cosh"):
            return {"exp": y, "sinh": op("cosh", x), "cosh": op("sinh", x)}[name]
        if name == "expm1":
            return op("add", y, one)
        if name == "log":
            return op("div", one, x)
        if name == "log1p":
            return op("div", one, op("add", x, one))
        if name == "tan":
            return op("add", one, op("mul", y, y))
        if name == "tanh":
            return op("sub", one, op("mul", y, y))
        if name == "atan":
            return op("div", one, op("add", one, op("mul", x, x)))
        if name in ("asin", "acos"):
            slope = op("div", one, op("sqrt", op("sub", one, op("mul", x, x))))
            return slope if name == "asin" else op("neg", slope)
        raise NotImplementedError(name)

    def alive(self, wanted: Any) -> list[int]:
        """Expressions on which others depend, in order."""
        visited, todo = set(), list(wanted)
        while todo:
            a = todo.pop()
            if a not in visited:
                visited.add(a)
                if self.ops[a][0] not in ("is", "in"):
                    todo.extend(self.ops[a][1:])
        return sorted(visited)

    def forward(self, wanted: list[int], inputs: list[int]) -> list[dict[int, int]]:
        """Derivatives of expressions in inputs, those that are not zero: {input number: place}."""
        derivative: dict[int, dict[int, int]] = {x: {j: self.one} for j, x in enumerate(inputs)}
        for a in self.alive(wanted):
            if a in derivative or self.level[a] < MOVING:
                continue
            if self.ops[a][0] == "where":
                derivative[a] = self._chosen(a, derivative)
                continue
            slope: dict[int, int] = {}
            for x, d in self.partials(a):
                for j, inner in derivative.get(x, {}).items():
                    part = self.op("mul", d, inner)
                    slope[j] = self.op("add", slope[j], part) if j in slope else part
            derivative[a] = {j: s for j, s in slope.items() if s != self.zero}
        return [derivative.get(a, {}) for a in wanted]

    def _chosen(self, a: int, derivative: dict[int, dict[int, int]]) -> dict[int, int]:
        """Derivatives of a `where`: chosen, not multiplied, as the other branch may have none."""
        _, which, x, y = self.ops[a]
        first, second = derivative.get(x, {}), derivative.get(y, {})
        chosen = {
            j: self.op("where", which, first.get(j, self.zero), second.get(j, self.zero))
            for j in sorted(first.keys() | second.keys())
        }
        return {j: s for j, s in chosen.items() if s != self.zero}

    def _shares(self, a: int, weight: int) -> list[tuple[int, int]]:
        """Arguments of an expression and weight times its derivatives in them."""
        if self.ops[a][0] != "where":
            return [(x, self.op("mul", weight, d)) for x, d in self.partials(a)]
        _, which, x, y = self.ops[a]
        return [
            (x, self.op("where", which, weight, self.zero)),
            (y, self.op("where", which, self.zero, weight)),
        ]

    def backward(self, total: int, inputs: list[int]) -> list[int]:
        """Derivatives of one expression in all inputs."""
        adjoint: dict[int, int] = {total: self.one}
        for a in reversed(self.alive([total])):
            if a not in adjoint or self.level[a] < MOVING:
                continue
            for x, part in self._shares(a, adjoint[a]):
                if self.level[x] == MOVING:
                    adjoint[x] = self.op("add", adjoint[x], part) if x in adjoint else part
        return [adjoint.get(x, self.zero) for x in inputs]
