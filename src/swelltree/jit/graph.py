"""The intermediate representation: scalar expressions in nested regions, hash-consed and folded.

An expression is its index in the lists of a `Graph`. It has a kind (float64, three kinds of
integers, bool) and a home: the outermost region (function, loop body or branch) in which all of its
arguments are known, so that loop invariants are hoisted. Zeros, ones and equal operands are folded;
a product with a known zero is zero whatever the other factor, and x - x is zero: NaN and infinity
are not seen there. Loops, branches and stores are `Statement`s of a region.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swelltree.jit.arrays import Array
from swelltree.jit.traced_types import DType


def _is(graph: Graph, a: int, value: float) -> bool:
    op = graph.ops[a]
    return op[0] == "is" and op[1] == value


def _add(graph: Graph, kind: str, a: int, b: int) -> int | None:
    if _is(graph, a, 0):
        return b
    if _is(graph, b, 0):
        return a
    if graph.ops[b][0] == "neg":
        return graph.op("sub", a, graph.ops[b][1])
    if graph.ops[a][0] == "neg":
        return graph.op("sub", b, graph.ops[a][1])
    return None if a <= b else graph.op("add", b, a)


def _sub(graph: Graph, kind: str, a: int, b: int) -> int | None:
    if _is(graph, b, 0):
        return a
    if a == b:
        return graph.constant(0, kind)
    if _is(graph, a, 0):
        return graph.op("neg", b)
    return graph.op("add", a, graph.ops[b][1]) if graph.ops[b][0] == "neg" else None


def _neg(graph: Graph, kind: str, a: int) -> int | None:
    op = graph.ops[a]
    if op[0] == "neg":
        return op[1]
    return graph.op("sub", op[2], op[1]) if op[0] == "sub" else None


def _mul(graph: Graph, kind: str, a: int, b: int) -> int | None:
    for x, y in ((a, b), (b, a)):
        op = graph.ops[x]
        if op[0] == "is":
            if op[1] == 0:
                return graph.constant(0, kind)
            if op[1] == 1:
                return y
            if op[1] == -1:
                return graph.op("neg", y)
        elif op[0] == "neg":
            return graph.op("neg", graph.op("mul", op[1], y))
    return None if a <= b else graph.op("mul", b, a)


def _div(graph: Graph, kind: str, a: int, b: int) -> int | None:
    if _is(graph, b, 1):
        return a
    if kind != "f8":
        return None
    if _is(graph, a, 0):
        return graph.zero
    value = graph.value(b)
    if value and math.isfinite(value) and abs(math.frexp(value)[0]) == 0.5:
        inverse = 1.0 / value  # a power of two: exact, unless it is out of range
        return graph.op("mul", a, graph.constant(inverse)) if abs(inverse) > 1e-300 else None
    return None


def _pow(graph: Graph, kind: str, a: int, b: int) -> int | None:
    value = graph.value(b)
    if value == 0.0:
        return graph.one
    if value == 1.0:
        return a
    return graph.op("mul", a, a) if value == 2.0 else None


def _where(graph: Graph, kind: str, c: int, a: int, b: int) -> int | None:
    if a == b:
        return a
    value = graph.value(c)
    if value is not None:
        return a if value else b
    if kind == "b1":
        if _is(graph, a, True) and _is(graph, b, False):
            return c
        if _is(graph, a, False) and _is(graph, b, True):
            return graph.op("not", c)
    return None


def _same(graph: Graph, kind: str, a: int, b: int) -> int | None:
    return a if a == b else None


def _logical(decides: bool, graph: Graph, kind: str, a: int, b: int) -> int | None:
    """And, or: one of both values decides."""
    if kind != "b1":
        return None
    for x, y in ((a, b), (b, a)):
        value = graph.value(x)
        if value is not None:
            return x if value == decides else y
    return a if a == b else None


def _not(graph: Graph, kind: str, a: int) -> int | None:
    return graph.ops[a][1] if kind == "b1" and graph.ops[a][0] == "not" else None


def _convert(graph: Graph, kind: str, a: int) -> int | None:
    return a if graph.kinds[a] == kind else None


RULES: dict[str, Callable[..., int | None]] = {
    "add": _add,
    "sub": _sub,
    "neg": _neg,
    "mul": _mul,
    "div": _div,
    "pow": _pow,
    "where": _where,
    "max": _same,
    "min": _same,
    "and": functools.partial(_logical, False),
    "or": functools.partial(_logical, True),
    "not": _not,
    "convert": _convert,
}


# --- Values of operations on numbers that are known beforehand

TYPES = {"f8": np.float64, "i4": np.int32, "i8": np.int64, "u4": np.uint32, "b1": np.bool_}


def _quotient(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return a / b
    if b == 0:
        return ~a.dtype.type(0)  # all bits, as XLA has it
    full = abs(int(a)) // abs(int(b))
    return np.int64(full if (a < 0) == (b < 0) else -full).astype(a.dtype)


def _remainder(a: Array, b: Array) -> Array:
    return np.fmod(a, b) if a.dtype.kind == "f" or b else a


def _shifted_left(x: Array, y: Array) -> int:
    return x << y if 0 <= y < 8 * x.itemsize else x.dtype.type(0)


def _shifted_right(x: Array, y: Array) -> int:
    return x >> (y if 0 <= y < 8 * x.itemsize else x.dtype.type(8 * x.itemsize - 1))


def _pushed_right(x: Array, y: Array) -> int:
    if not 0 <= y < 8 * x.itemsize:
        return x.dtype.type(0)
    unsigned = np.dtype(f"u{x.itemsize}")
    return (x.astype(unsigned) >> y.astype(unsigned)).astype(x.dtype)


VALUES: dict[str, Callable[..., float | None]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _quotient,
    "rem": _remainder,
    "neg": lambda a: -a,
    "abs": np.abs,
    "max": np.maximum,
    "min": np.minimum,
    "pow": lambda a, b: a**b,
    "atan2": np.arctan2,
    "nextafter": np.nextafter,
    "shift_left": _shifted_left,
    "shift_right_arithmetic": _shifted_right,
    "shift_right_logical": _pushed_right,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: ~a,
    "where": lambda c, a, b: a if c else b,
    "finite": np.isfinite,
    "sign": np.sign,
    "round_even": np.rint,
    # the float below one half: what is rounded by the addition must not reach the next integer
    "round_away": lambda x: np.trunc(x + np.copysign(np.nextafter(0.5, 0.0), x)),
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
}
for _name in ("sqrt", "sin", "cos", "tan", "exp", "exp2", "log", "tanh", "sinh", "cosh"):
    VALUES[_name] = getattr(np, _name)
for _name in ("log1p", "expm1", "floor", "ceil", "cbrt"):
    VALUES[_name] = getattr(np, _name)


def folded(name: str, kind: str, kinds: list[str], values: list[float]) -> float | None:
    """Value of an operation on constants; None if it is not folded."""
    if name == "convert":
        return _converted(values[0], kind)
    if name not in VALUES:
        return None
    exact = [TYPES[k](v) for k, v in zip(kinds, values, strict=True)]
    with np.errstate(all="ignore"):
        return TYPES[kind](VALUES[name](*exact)).item()


def _converted(value: float, kind: str) -> float:
    """XLA's conversions: integers saturate, NaN becomes zero."""
    if kind == "f8":
        return float(value)
    if kind == "b1":
        return value != 0
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        bounds = np.iinfo(TYPES[kind])
        low, high = int(bounds.min), int(bounds.max)
        if math.isinf(value):
            return high if value > 0 else low
        return min(max(int(value), low), high)
    return int(np.int64(value).astype(TYPES[kind]))


FLOAT, SHORT, LONG, UNSIGNED, TRUTH = "f8", "i4", "i8", "u4", "b1"
KINDS = {"float64": FLOAT, "int32": SHORT, "int64": LONG, "bool": TRUTH, "uint32": UNSIGNED}
MAX_EXPRESSIONS = 45_000  # expressions of one graph: XLA compiles larger programs sooner (measured)
COMPARISONS = {"lt", "le", "gt", "ge", "eq", "ne"}


class UnsupportedOperationError(Exception):
    """What has no native code; XLA runs it."""


@dataclass(eq=False)
class Buffer:
    """Consecutive scalars in memory, eight bytes each.

    Args:
        where: "fixed", "in", "out" or "work".
        start: place of the first number there.
        size: how many.
        kind: of the numbers.
    """

    where: str
    start: int
    size: int
    kind: str


# memory that is written, with the expressions and the memory that its new values depend on
Written = tuple[Buffer, tuple[int, ...], tuple[Buffer, ...]]


@dataclass
class Statement:
    """What happens in a region besides expressions: see `statements`."""

    def numbers(self) -> list[int]:
        return []

    def regions(self) -> list[Region]:
        return []

    def reads(self) -> list[Buffer]:
        """Memory that is read, loads of operands excluded."""
        return []

    def writes(self) -> Iterator[Written]:
        return iter(())


@dataclass
class Region:
    """Expressions and statements in the order of execution."""

    depth: int
    items: list[int | Statement] = field(default_factory=list)


class Graph:
    """Hash-consed expressions in an order in which they can be computed."""

    def __init__(self, most: int = MAX_EXPRESSIONS) -> None:
        self.most = most
        self.ops: list[tuple[Any, ...]] = []
        self.kinds: list[str] = []
        self.home: list[Region] = []
        self.known: dict[tuple[Hashable, ...], int] = {}
        self.root = Region(0)
        self.stack = [self.root]
        self.work = 0  # numbers of working memory
        # matrices of fixed arguments that are wanted column by column: (start, shape) -> where
        self.transposes: dict[tuple[int, tuple[int, ...]], Buffer] = {}
        self.zero, self.one = self.constant(0.0), self.constant(1.0)
        self.false, self.true = self.constant(False, TRUTH), self.constant(True, TRUTH)

    @property
    def here(self) -> Region:
        return self.stack[-1]

    @contextmanager
    def inside(self) -> Iterator[Region]:
        region = Region(self.here.depth + 1)
        self.stack.append(region)
        try:
            yield region
        finally:
            self.stack.pop()

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Write to the root region, before all loops and branches."""
        inner, self.stack = self.stack, self.stack[:1]
        try:
            yield
        finally:
            self.stack = inner

    def state(self, statement: Statement) -> None:
        self.here.items.append(statement)

    def room(self, size: int, kind: str) -> Buffer:
        buffer = Buffer("work", self.work, size, kind)
        self.work += size
        return buffer

    def transpose_of(self, buffer: Buffer, start: int, shape: tuple[int, ...]) -> Buffer:
        """A transposed matrix of fixed arguments; its place is assigned at the end."""
        key = (buffer.start + start, shape)
        size = int(np.prod(shape, dtype=int))
        return self.transposes.setdefault(key, Buffer("fixed", -1, size, buffer.kind))

    def _put(self, key: tuple[Hashable, ...], op: tuple[Any, ...], kind: str, home: Region) -> int:
        number = self.known.get(key)
        if number is None:
            number = len(self.ops)
            if number > self.most:
                raise UnsupportedOperationError(f"more than {self.most} operations")
            self.known[key] = number
            self.ops.append(op)
            self.kinds.append(kind)
            self.home.append(home)
            home.items.append(number)
        return number

    def constant(self, value: float, kind: str = FLOAT) -> int:
        """A constant; zeros of both signs and NaN are distinguished by their bits."""
        if kind == FLOAT:
            value = float(value)
            key = ("is", kind, value.hex())
        else:
            value = bool(value) if kind == TRUTH else int(value)
            key = ("is", kind, value)
        return self._put(key, ("is", value), kind, self.root)

    def value(self, a: int) -> Any:
        op = self.ops[a]
        return op[1] if op[0] == "is" else None

    def load(self, buffer: Buffer, version: int, at: int, home: Region) -> int:
        """Load a scalar of a buffer, valid within its home region."""
        key = ("load", id(buffer), version, at)
        return self._put(key, ("load", buffer, at), buffer.kind, home)

    def load_at(self, buffer: Buffer, version: int, at: int, index: int, home: Region) -> int:
        """Load the scalar `index` (a LONG) behind a place of a buffer."""
        place = self.value(index)
        if place is not None:
            return self.load(buffer, version, at + place, home)
        key = ("load_at", id(buffer), version, at, index)
        inner = self.home[index] if self.home[index].depth > home.depth else home
        return self._put(key, ("load_at", buffer, at, index), buffer.kind, inner)

    def row_number(self, region: Region) -> int:
        """Induction variable of a loop over rows."""
        return self._put(("row", id(region)), ("row",), LONG, region)

    def op(self, name: str, *args: int) -> int:
        """A simplified operation; its kind is that of its last operand, or bool."""
        kind = TRUTH if name in COMPARISONS or name == "finite" else self.kinds[args[-1]]
        return self.typed(name, kind, *args)

    def typed(self, name: str, kind: str, *args: int) -> int:
        ops = self.ops
        known = all(ops[a][0] == "is" for a in args)
        if known:
            value = folded(name, kind, [self.kinds[a] for a in args], [ops[a][1] for a in args])
            if value is not None:
                return self.constant(value, kind)
        else:
            rule = RULES.get(name)
            simple = None if rule is None else rule(self, kind, *args)
            if simple is not None:
                return simple
        home = self.home[args[0]]
        for a in args[1:]:
            if self.home[a].depth > home.depth:
                home = self.home[a]
        return self._put((name, kind, *args), (name, *args), kind, home)


@functools.lru_cache(maxsize=256)
def kind_of(dtype: DType) -> str:
    """Kind of a type; raises where it is not supported."""
    try:
        name = np.dtype(dtype).name
    except TypeError:  # a type of JAX's own, such as that of random keys
        name = str(dtype)
    if name not in KINDS:
        raise UnsupportedOperationError(f"numbers of type {name}")
    return KINDS[name]
