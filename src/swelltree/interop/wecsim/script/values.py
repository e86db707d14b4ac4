"""Values of a script: matrices, texts, cells and objects; with limits on what they may take.

A number is a matrix of one row and one column. Objects (`body(1)`, and structures inside them) are
numbered from one; each field knows the line that last set it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swelltree.interop.wecsim.script.tree import CannotRead

MAX_ENTRIES = 1_000_000  # entries of a matrix
MOST_WORK = 10_000_000  # entries computed by a script
MOST_ITEMS = 10_000  # of objects, cells and fields
LONGEST = 100_000  # characters of a text


@dataclass
class Object:
    """A structure or an object of a class, with what its constructor was given."""

    created_by: str = ""
    arguments: tuple[Value, ...] = ()
    line: int = 0
    fields: dict[str, Value] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


@dataclass
class Objects:
    """Objects by their number, from one."""

    items: dict[int, Object] = field(default_factory=dict)


@dataclass(frozen=True)
class Unknown:
    """What a line that was not read would have set."""

    why: str


# a matrix, a text, a cell, objects, or nothing that could be read
Value = np.ndarray | str | list[Any] | Objects | Unknown


Act = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Work:
    """Counts what a script computes, and rejects more than is allowed before it is computed."""

    def __init__(self) -> None:
        self.left = MOST_WORK

    def take(self, count: float) -> None:
        """Entries that are about to be made."""
        if not count <= MAX_ENTRIES:
            raise CannotRead(f"a matrix of more than {MAX_ENTRIES} entries is too large")
        self.left -= int(count) + 1
        if self.left < 0:
            raise CannotRead("the script computes more than an input script needs")


OfTwo = Callable[[Value, Value, Work], np.ndarray]


def matrix(value: Value | float) -> np.ndarray:
    """A value as a matrix."""
    if isinstance(value, Unknown):
        raise CannotRead(value.why)
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Objects | list):
        raise CannotRead("objects and cells are not numbers")
    if isinstance(value, str):
        raise CannotRead(f"the text '{value[:30]}' is not a number")
    return np.array([[float(value)]])


def scalar(value: Value | float) -> float:
    """A value that is one number."""
    result = matrix(value)
    if result.size != 1:
        raise CannotRead(
            f"{result.shape[0]} x {result.shape[1]} values stand where one is expected"
        )
    return float(result[0, 0])


def as_integer(value: Value | float) -> int:
    """A whole number of moderate size."""
    result = scalar(value)
    if not (abs(result) <= 1e9 and result == int(result)):
        raise CannotRead(f"{result:g} is not a whole number")
    return int(result)


def is_true(value: Value | float) -> bool:
    """What a condition says."""
    result = matrix(value)
    return bool(result.size) and bool(np.all(result != 0))


def numbers_of(value: Value | float, size: int) -> list[int]:
    """Indices, counted from zero; a colon stands for all of an axis of this size."""
    if isinstance(value, str) and value == ":":
        return list(range(size))
    result = matrix(value).reshape(-1, order="F")
    if not all(1 <= x <= 1e9 and x == int(x) for x in result):
        raise CannotRead("an index is not a whole number from 1 on")
    return [int(x) - 1 for x in result]


def picked(value: Value | float, indices: tuple[Value, ...], work: Work) -> np.ndarray | str:
    """Entries of a matrix or letters of a text."""
    if isinstance(value, str):
        (index,) = indices if len(indices) == 1 else (indices[-1],)
        chosen = numbers_of(index, len(value))
        if any(k >= len(value) for k in chosen):
            raise CannotRead("an index is beyond the end of a text")
        return "".join(value[k] for k in chosen)
    result = matrix(value)
    if len(indices) == 1:
        chosen = numbers_of(indices[0], result.size)
        if any(k >= result.size for k in chosen):
            raise CannotRead(f"an index is beyond the {result.size} values")
        row = result.reshape(-1, order="F")[chosen]
        column = result.shape[1] == 1 or (isinstance(indices[0], str) and result.shape[0] != 1)
        return row[:, None] if column else row[None, :]
    if len(indices) != 2:
        raise CannotRead("matrices have two indices")
    rows, columns = (numbers_of(i, n) for i, n in zip(indices, result.shape, strict=True))
    if any(k >= result.shape[0] for k in rows) or any(k >= result.shape[1] for k in columns):
        raise CannotRead(f"an index is beyond the {result.shape[0]} x {result.shape[1]} values")
    work.take(len(rows) * len(columns))
    return result[np.ix_(rows, columns)]


def placed(
    old: Value | None, indices: tuple[Value, ...], value: Value | float, work: Work
) -> np.ndarray:
    """A matrix with some entries set; it grows where they lie beyond its end."""
    result = np.zeros((0, 0)) if old is None or isinstance(old, Unknown) else matrix(old)
    new = matrix(value)
    if len(indices) == 1:
        if min(result.shape) > 1:
            rows, columns = np.unravel_index(
                [min(k, result.size) for k in numbers_of(indices[0], result.size)],
                (result.shape[0], result.shape[1] + 1),
                order="F",
            )
            if max(columns, default=0) >= result.shape[1]:
                raise CannotRead(f"an index is beyond the {result.size} values")
            grown = result.copy()
            grown[rows, columns] = _fitted(new, len(rows))
            return grown
        chosen = numbers_of(indices[0], result.size)
        size = max([result.size, *(k + 1 for k in chosen)])
        work.take(size)
        row = np.zeros(size)
        row[: result.size] = result.reshape(-1)
        row[chosen] = _fitted(new, len(chosen))
        return row[:, None] if result.shape[1] == 1 and result.shape[0] > 1 else row[None, :]
    if len(indices) != 2:
        raise CannotRead("matrices have two indices")
    rows, columns = (numbers_of(i, n) for i, n in zip(indices, result.shape, strict=True))
    shape = [max([n, *(k + 1 for k in ks)]) for n, ks in zip(result.shape, (rows, columns))]  # noqa: B905
    work.take(shape[0] * shape[1])
    grown = np.zeros(shape)
    grown[: result.shape[0], : result.shape[1]] = result
    try:
        grown[np.ix_(rows, columns)] = new if new.size > 1 else new[0, 0]
    except (ValueError, IndexError):
        raise CannotRead("the values do not match the indices they are assigned to") from None
    return grown


def _fitted(new: np.ndarray, count: int) -> np.ndarray:
    if new.size not in (1, count):
        raise CannotRead(f"{new.size} values do not fit {count} places")
    return np.broadcast_to(new.reshape(-1, order="F"), count) if new.size == 1 else new.reshape(-1)


def joined(rows: list[list[Value]], work: Work) -> np.ndarray | str:
    """Rows of entries as one matrix or one text."""
    texts = [[entry for entry in row if isinstance(entry, str)] for row in rows]
    if any(texts) and all(len(a) == len(b) for a, b in zip(texts, rows, strict=True)):
        if len(rows) > 1 and len({sum(map(len, row)) for row in texts}) > 1:
            raise CannotRead("rows of texts differ in length")
        text = "".join(entry for row in texts for entry in row)
        if len(text) > LONGEST:
            raise CannotRead("a text is too long")
        return text
    built = []
    for row in rows:
        parts = [part for part in map(matrix, row) if part.size]
        if not parts:
            continue
        if len({part.shape[0] for part in parts}) > 1:
            raise CannotRead("entries beside one another differ in their number of rows")
        work.take(sum(part.size for part in parts))
        built.append(np.concatenate(parts, axis=1))
    if len({part.shape[1] for part in built}) > 1:
        raise CannotRead("rows of a matrix differ in length")
    work.take(sum(part.size for part in built))
    return np.concatenate(built, axis=0) if built else np.zeros((0, 0))


def spaced(first: float, step: float, last: float, work: Work) -> np.ndarray:
    """first:step:last."""
    if not np.isfinite([first, step, last]).all():
        raise CannotRead("a range has an end that is not finite")
    if step == 0 or (last - first) * step < 0:
        return np.zeros((1, 0))
    count = np.floor((last - first) / step * (1 + 4e-16) + 1e-10) + 1
    work.take(count)
    return (first + step * np.arange(int(count)))[None, :]


def elementwise(a: Value, b: Value, act: Act, work: Work) -> np.ndarray:
    """An operation entry by entry; one row, one column or one number stands for many."""
    a, b = matrix(a), matrix(b)
    try:
        shape = np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise CannotRead(
            f"{a.shape[0]} x {a.shape[1]} and {b.shape[0]} x {b.shape[1]} values do not fit"
        ) from None
    work.take(shape[0] * shape[1])
    return np.asarray(act(a, b), dtype=float)


def product(a: Value, b: Value, work: Work) -> np.ndarray:
    """Matrix product; a number multiplies every entry."""
    a, b = matrix(a), matrix(b)
    if a.size == 1 or b.size == 1:
        return elementwise(a, b, np.multiply, work)
    if a.shape[1] != b.shape[0]:
        raise CannotRead(
            f"{a.shape[0]} x {a.shape[1]} and {b.shape[0]} x {b.shape[1]} values do not multiply"
        )
    work.take(a.shape[0] * b.shape[1])
    work.left -= a.size * b.shape[1] // 64
    work.take(0)
    return a @ b


def equal(a: Value, b: Value, work: Work) -> np.ndarray:
    """a == b; two texts of one length letter by letter, as MATLAB does."""
    if isinstance(a, str) and isinstance(b, str):
        if len(a) != len(b):
            raise CannotRead("texts of different length are compared with ==")
        return np.array([[float(x == y) for x, y in zip(a, b, strict=True)]])
    return elementwise(a, b, np.equal, work)


def divided(a: Value, b: Value, work: Work) -> np.ndarray:
    """a / b for a number b."""
    if matrix(b).size != 1:
        raise CannotRead("division by a matrix is not supported")
    return elementwise(a, b, np.divide, work)


def raised(a: Value, b: Value, work: Work) -> np.ndarray:
    """a ^ b of two numbers."""
    if matrix(a).size != 1 or matrix(b).size != 1:
        raise CannotRead("powers of matrices are not carried out; .^ acts on every entry")
    return elementwise(a, b, np.power, work)


def entrywise(act: Act) -> OfTwo:
    """An operation of two values, entry by entry."""
    return functools.partial(_entrywise, act)


def _entrywise(act: Act, a: Value, b: Value, work: Work) -> np.ndarray:
    return elementwise(a, b, act, work)


TWO: dict[str, OfTwo] = {
    "+": entrywise(np.add),
    "-": entrywise(np.subtract),
    ".*": entrywise(np.multiply),
    "./": entrywise(np.divide),
    ".^": entrywise(np.power),
    "<": entrywise(np.less),
    ">": entrywise(np.greater),
    "<=": entrywise(np.less_equal),
    ">=": entrywise(np.greater_equal),
    "&": entrywise(np.logical_and),
    "|": entrywise(np.logical_or),
    "*": product,
    "/": divided,
    "^": raised,
    "==": equal,
    "~=": lambda a, b, work: 1.0 - equal(a, b, work),
    "!=": lambda a, b, work: 1.0 - equal(a, b, work),
}
