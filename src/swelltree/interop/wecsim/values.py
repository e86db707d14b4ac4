"""Values of a MATLAB script, and the operations and functions of MATLAB that input scripts use.

A number is a matrix of one row and one column. Objects (`body(1)`, and structures inside them) are
numbered from one; each field knows the line that last set it. What is made counts towards a limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

MAX_ENTRIES = 1_000_000  # of a matrix
MAX_WORK = 10_000_000  # entries computed by a script
MAX_TEXT = 100_000  # characters
MAX_ITEMS = 10_000  # objects, cells and fields


class CannotRead(Exception):
    """A statement that cannot be read or executed."""


@dataclass
class Object:
    """A structure or an object with its constructor arguments."""

    created_by: str = ""
    arguments: tuple[Value, ...] = ()
    line: int = 0
    fields: dict[str, Value] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


@dataclass
class Objects:
    items: dict[int, Object] = field(default_factory=dict)


@dataclass(frozen=True)
class Unknown:
    """A value that a skipped line would have set."""

    why: str


# a matrix, a text, a cell, objects, or nothing that could be read
Value = np.ndarray | str | list | Objects | Unknown
Act = Callable[..., np.ndarray]


class Work:
    """Limits the work of a script before it is done."""

    def __init__(self) -> None:
        self.left = MAX_WORK

    def take(self, count: float) -> None:
        """Count entries about to be created."""
        if not count <= MAX_ENTRIES:
            raise CannotRead(f"a matrix of more than {MAX_ENTRIES} entries is too large")
        self.left -= int(count) + 1
        if self.left < 0:
            raise CannotRead("the script computes more than an input script needs")


# --- Values


def number(x: float) -> np.ndarray:
    return np.array([[float(x)]])


def matrix(value: Value) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Unknown):
        raise CannotRead(value.why)
    what = f"the text '{value[:30]}' is" if isinstance(value, str) else "objects and cells are"
    raise CannotRead(f"{what} not a number")


def scalar(value: Value) -> float:
    result = matrix(value)
    if result.size != 1:
        rows, columns = result.shape
        raise CannotRead(f"{rows} x {columns} values stand where one is expected")
    return float(result[0, 0])


def as_integer(value: Value) -> int:
    """An integer of moderate size."""
    result = scalar(value)
    if not (abs(result) <= 1e9 and result == int(result)):
        raise CannotRead(f"{result:g} is not a whole number")
    return int(result)


def is_true(value: Value) -> bool:
    """Truth value of a condition."""
    result = matrix(value)
    return bool(result.size) and bool(np.all(result != 0))


def length_of(value: Value | None) -> int:
    """Entries of a cell, letters of a text, objects, or entries of a matrix."""
    if isinstance(value, Objects):
        return max(value.items, default=0)
    return len(value) if isinstance(value, str | list) else getattr(value, "size", 0)


def _positions(value: Value, size: int) -> np.ndarray:
    """Zero-based indices; a colon selects the whole axis."""
    if isinstance(value, str) and value == ":":
        return np.arange(size)
    result = matrix(value).reshape(-1, order="F")
    if not ((result >= 1) & (result <= 1e9) & (result == np.floor(result))).all():
        raise CannotRead("an index is not a whole number from 1 on")
    return result.astype(int) - 1


def picked(value: Value, indices: tuple[Value, ...], work: Work) -> np.ndarray:
    result = matrix(value)
    if len(indices) == 1:
        chosen = _positions(indices[0], result.size)
        work.take(chosen.size)
        if chosen.max(initial=-1) >= result.size:
            raise CannotRead(f"an index is beyond the {result.size} values")
        row = result.reshape(-1, order="F")[chosen]
        column = result.shape[1] == 1 or (isinstance(indices[0], str) and result.shape[0] != 1)
        return row[:, None] if column else row[None, :]
    rows, columns = (_positions(i, n) for i, n in zip(indices, result.shape, strict=True))
    work.take(rows.size * columns.size)
    if any(k.max(initial=-1) >= n for k, n in zip((rows, columns), result.shape, strict=True)):
        raise CannotRead(f"an index is beyond the {result.shape[0]} x {result.shape[1]} values")
    return result[np.ix_(rows, columns)]


def placed(old: Value | None, indices: tuple[Value, ...], value: Value, work: Work) -> np.ndarray:
    """A matrix with some entries set, enlarged as needed."""
    result = np.zeros((0, 0)) if old is None else matrix(old)
    new = matrix(value)
    if len(indices) == 1 and min(result.shape) > 1:
        chosen = np.unravel_index(_positions(indices[0], result.size), result.shape, order="F")
        grown = result.copy()
        grown[chosen] = new.reshape(-1, order="F") if new.size > 1 else new[0, 0]
        return grown
    if len(indices) == 1:  # of a column or a row
        is_column = result.shape[1] == 1 and result.shape[0] > 1
        indices = (indices[0], number(1)) if is_column else (number(1), indices[0])
        result = result if result.size else np.zeros((1, 0))
    rows, columns = (_positions(i, n) for i, n in zip(indices, result.shape, strict=True))
    ends = rows.max(initial=-1) + 1, columns.max(initial=-1) + 1
    shape = np.maximum(result.shape, ends).tolist()
    work.take(shape[0] * shape[1])
    grown = np.zeros(shape)
    grown[: result.shape[0], : result.shape[1]] = result
    block = new.reshape(rows.size, columns.size, order="F") if new.size > 1 else new[0, 0]
    grown[np.ix_(rows, columns)] = block
    return grown


def joined(rows: list[list[Value]], work: Work) -> np.ndarray | str:
    """Concatenate rows of entries into a matrix or a text."""
    if rows and all(isinstance(entry, str) for row in rows for entry in row):
        text = "".join(str(entry) for row in rows for entry in row)
        if len(text) > MAX_TEXT or len(rows) > 1:
            raise CannotRead("a text is too long, or of several rows")
        return text
    built = []
    for row in rows:
        parts = [part for part in map(matrix, row) if part.size]
        if len({part.shape[0] for part in parts}) > 1:
            raise CannotRead("entries beside one another differ in their number of rows")
        work.take(sum(part.size for part in parts))
        built += [np.concatenate(parts, axis=1)] if parts else []
    if len({part.shape[1] for part in built}) > 1:
        raise CannotRead("rows of a matrix differ in length")
    work.take(sum(part.size for part in built))
    return np.concatenate(built, axis=0) if built else np.zeros((0, 0))


# --- Names and places


class Step(NamedTuple):
    """An index in brackets, or a field access."""

    sign: str
    indices: tuple[Value, ...] = ()
    field: str = ""


class Variables:
    """Variables by name; objects, fields and cells are created on assignment."""

    def __init__(self) -> None:
        self.variables: dict[str, Value] = {}
        self.work = Work()
        self.line = 0  # of the statement that sets them

    def put(self, name: str, steps: tuple[Step, ...], value: Value) -> None:
        """Assign a value, creating intermediate objects."""
        if name == "end":
            raise CannotRead("'end' is not a name")
        if len(self.variables) > MAX_ITEMS:
            raise CannotRead("the script has too many names")
        self.variables[name] = self._with(self.variables.get(name), steps, value)

    def _with(self, old: Value | None, steps: tuple[Step, ...], value: Value) -> Value:
        """Copy of a value with a nested assignment."""
        if not steps:
            return value
        old = None if isinstance(old, Unknown) else old
        first, second = steps[0], steps[1] if len(steps) > 1 else None
        if first.sign == ".":
            return self._with_field(old, 1, first.field, steps[1:], value)
        if first.sign == "{":
            return self._with_cell(old, position_of(first), steps[1:], value)
        to_field = second is not None and second.sign == "."
        if isinstance(old, Objects) or (old is None and (to_field or isinstance(value, Objects))):
            position = position_of(first)
            if second is not None and to_field:
                return self._with_field(old, position, second.field, steps[2:], value)
            if isinstance(value, Unknown):
                return old or value
            if second is not None or not isinstance(value, Objects):
                raise CannotRead("only objects can be combined with objects")
            return Objects((old.items if old else {}) | {position: only(value)})
        if second is not None:
            raise CannotRead("a matrix has no fields")
        return value if isinstance(value, Unknown) else placed(old, first.indices, value, self.work)

    def _with_field(
        self, old: Value | None, position: int, name: str, rest: tuple[Step, ...], value: Value
    ) -> Objects:
        if old is not None and not isinstance(old, Objects):
            raise CannotRead("fields belong to objects")
        items = dict(old.items) if isinstance(old, Objects) else {}
        item = items.setdefault(position, Object(line=self.line))
        if len(item.fields) > MAX_ITEMS:
            raise CannotRead("an object has too many fields")
        item.fields[name] = self._with(item.fields.get(name), rest, value)
        item.lines[name] = self.line
        return Objects(items)

    def _with_cell(
        self, old: Value | None, position: int, rest: tuple[Step, ...], value: Value
    ) -> list[Value]:
        cells = list(old) if isinstance(old, list) else []
        self.work.take(position)
        cells += [np.zeros((0, 0))] * (position - len(cells))
        cells[position - 1] = self._with(cells[position - 1], rest, value)
        return cells


def only(value: Value) -> Object:
    """The single object of an unindexed name."""
    if not isinstance(value, Objects) or 1 not in value.items:
        raise CannotRead("fields belong to objects")
    return value.items[1]


def position_of(step: Step) -> int:
    """One-based index of an object or cell."""
    result = as_integer(step.indices[-1]) if step.indices else 1
    if not 1 <= result <= MAX_ITEMS:
        raise CannotRead(f"an object or a cell cannot have the number {result}")
    return result


# --- Operations and functions; nothing else can be called


def _spaced(work: Work, *ends: Value) -> np.ndarray:
    """first:last or first:step:last."""
    values = [scalar(value) for value in ends]
    first, step, last = values if len(values) == 3 else (values[0], 1.0, values[-1])
    if not np.isfinite(values).all():
        raise CannotRead("a range has an end that is not finite")
    if step == 0 or (last - first) * step < 0:
        return np.zeros((1, 0))
    count = np.floor((last - first) / step * (1 + 4e-16) + 1e-10) + 1
    work.take(count)
    return (first + step * np.arange(int(count)))[None, :]


def _entrywise(act: Act) -> Act:
    """Entrywise operation with broadcasting."""

    def operation(work: Work, a: Value, *b: Value) -> np.ndarray:
        values = [matrix(a), *map(matrix, b)]
        try:
            shape = np.broadcast_shapes(*(x.shape for x in values))
        except ValueError:
            sizes = " and ".join(f"{x.shape[0]} x {x.shape[1]}" for x in values)
            raise CannotRead(f"{sizes} values do not fit") from None
        work.take(shape[0] * shape[1])
        return np.asarray(act(*values), dtype=float)

    return operation


def _product(work: Work, a: Value, b: Value) -> np.ndarray:
    """Matrix product; a number multiplies every entry."""
    a, b = matrix(a), matrix(b)
    if a.size == 1 or b.size == 1:
        return _entrywise(np.multiply)(work, a, b)
    work.take(a.shape[0] * b.shape[1])
    work.left -= a.size * b.shape[1] // 64
    work.take(0)
    return a @ b


_equal, _divide, _power = (_entrywise(act) for act in (np.equal, np.divide, np.power))
OPERATIONS: dict[str, Act] = {
    "+": _entrywise(np.add),
    "-": _entrywise(np.subtract),
    ".*": _entrywise(np.multiply),
    "./": _divide,
    ".^": _power,
    "*": _product,
    "<": _entrywise(np.less),
    ">": _entrywise(np.greater),
    "<=": _entrywise(np.less_equal),
    ">=": _entrywise(np.greater_equal),
    "&": _entrywise(np.logical_and),
    "|": _entrywise(np.logical_or),
    "&&": lambda work, a, b: number(is_true(a) and is_true(b)),
    "||": lambda work, a, b: number(is_true(a) or is_true(b)),
    "==": _equal,
    ":": _spaced,
    "~=": lambda work, a, b: 1.0 - _equal(work, a, b),
    "!=": lambda work, a, b: 1.0 - _equal(work, a, b),
    "/": lambda work, a, b: _divide(work, a, number(scalar(b))),
    "^": lambda work, a, b: _power(work, number(scalar(a)), number(scalar(b))),
}


def _filled(fill: float) -> Act:
    """zeros(...), ones(...) and nan(...)."""

    def function(work: Work, *sizes: Value) -> np.ndarray:
        rows = [as_integer(number(x)) for s in sizes for x in matrix(s).reshape(-1)] or [1]
        rows, columns = (max(n, 0) for n in (rows * 2 if len(rows) == 1 else rows))
        work.take(rows * columns)
        return np.full((rows, columns), fill)

    return function


def _eye(work: Work, *sizes: Value) -> np.ndarray:
    return np.eye(*_filled(0.0)(work, *sizes).shape)


def _over(act: Act, pair: Act | None = None) -> Act:
    """Reduction along a row or the columns; max and min also of two values."""

    def function(work: Work, a: Value, *b: Value) -> np.ndarray:
        if b and pair is not None:
            return _entrywise(pair)(work, a, *b)
        x = matrix(a)
        if b or not x.size:
            raise CannotRead("a sum, maximum or the like is of one matrix with entries")
        axis = 1 if x.shape[0] == 1 else 0
        result = act(x, axis=axis)
        return result if result.shape == x.shape else np.expand_dims(result, axis)

    return function


def _linspace(work: Work, first: Value, last: Value, count: Value | None = None) -> np.ndarray:
    size = 100 if count is None else max(as_integer(count), 1)
    work.take(size)
    return np.linspace(scalar(first), scalar(last), size)[None, :]


def _reshape(work: Work, value: Value, *sizes: Value) -> np.ndarray:
    shape = [
        as_integer(number(x)) if matrix(s).size else -1
        for s in sizes
        for x in (matrix(s).reshape(-1) if matrix(s).size else [-1])
    ]
    work.take(matrix(value).size)
    return matrix(value).reshape(shape, order="F")


def _repmat(work: Work, value: Value, *sizes: Value) -> np.ndarray:
    rows, columns = _filled(0.0)(work, *sizes).shape
    work.take(matrix(value).size * rows * columns)
    return np.tile(matrix(value), (rows, columns))


def meshgrid(work: Work, *values: Value) -> list[np.ndarray]:
    """Both results of [X, Y] = meshgrid(x, y)."""
    x, y = matrix(values[0]).reshape(-1), matrix(values[-1]).reshape(-1)
    work.take(2 * x.size * y.size)
    return list(np.meshgrid(x, y))


def _diag(work: Work, value: Value) -> np.ndarray:
    x = matrix(value)
    work.take(x.size**2 if 1 in x.shape else x.size)
    return np.diag(x.reshape(-1)) if 1 in x.shape else np.diag(x)[:, None]


def _shape(value: Value) -> tuple[int, ...]:
    return value.shape if isinstance(value, np.ndarray) else (1, length_of(value))


def _dot(work: Work, a: Value, b: Value) -> np.ndarray:
    return number(np.dot(matrix(a).reshape(-1), matrix(b).reshape(-1)))


def _same_text(work: Work, a: Value, b: Value) -> np.ndarray:
    return number(isinstance(a, str) and isinstance(b, str) and a == b)


CONSTANTS = {
    "pi": np.pi,
    "inf": np.inf,
    "Inf": np.inf,
    "nan": np.nan,
    "NaN": np.nan,
    "eps": 2.0**-52,
    "true": 1.0,
    "false": 0.0,
}
FUNCTIONS: dict[str, Act] = {
    **{
        name: _entrywise(getattr(np, name))
        for name in (
            *("sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "exp", "log", "log10", "log2"),
            *("abs", "floor", "ceil", "sign", "isnan", "deg2rad", "rad2deg", "hypot"),
        )
    },
    **{
        f"a{name}": _entrywise(getattr(np, f"arc{name}"))
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")
    },
    "fix": _entrywise(np.trunc),
    "round": _entrywise(lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5)),
    "sind": _entrywise(lambda x: np.sin(np.deg2rad(x))),
    "cosd": _entrywise(lambda x: np.cos(np.deg2rad(x))),
    "tand": _entrywise(lambda x: np.tan(np.deg2rad(x))),
    "mod": _entrywise(lambda a, b: np.where(b == 0, a, np.mod(a, np.where(b == 0, 1.0, b)))),
    "double": _entrywise(np.positive),
    "logical": _entrywise(lambda x: x != 0),
    "zeros": _filled(0.0),
    "ones": _filled(1.0),
    "nan": _filled(np.nan),
    "eye": _eye,
    "sum": _over(np.sum),
    "mean": _over(np.mean),
    "prod": _over(np.prod),
    "cumsum": _over(np.cumsum),
    "max": _over(np.max, np.maximum),
    "min": _over(np.min, np.minimum),
    "linspace": _linspace,
    "colon": _spaced,
    "reshape": _reshape,
    "repmat": _repmat,
    "diag": _diag,
    "dot": _dot,
    "strcmp": _same_text,
    "meshgrid": lambda work, *values: meshgrid(work, *values)[0],
    "size": lambda work, value: np.array([_shape(value)], dtype=float),
    "length": lambda work, value: number(max(_shape(value)) if min(_shape(value)) else 0),
    "numel": lambda work, value: number(length_of(value)),
    "isempty": lambda work, value: number(not length_of(value)),
    "norm": lambda work, value: number(np.sqrt((matrix(value) ** 2).sum())),
    "cross": lambda work, a, b: np.cross(matrix(a).reshape(3), matrix(b).reshape(3))[None, :],
    "transpose": lambda work, value: matrix(value).T,
}
