"""One object of the script, read by current names; it records which fields were read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar, overload

import numpy as np

from swelltree.interop.wecsim.findings import Findings
from swelltree.interop.wecsim.values import Object, Objects, Unknown, Value
from swelltree.interop.wecsim.words import OLD, SILENT

MOST_FIELDS = 2_000
T = TypeVar("T")


class Assignments:
    """The fields of an object of the script.

    Args:
        kind: "body", "pto" ...
        number: from one; zero for the only one of its kind.
        item: as the script left it; an empty one for defaults alone.
        file: name of the script, for places.
        findings: takes what cannot be used.
    """

    def __init__(self, kind: str, number: int, item: Object, file: str, findings: Findings) -> None:
        self.kind = kind
        self.label = f"{kind}({number})" if number else kind
        self.item = item
        self.file = file
        self.findings = findings
        old = OLD.get(kind, {})
        self._fields: dict[str, tuple[Value, int, str]] = {}
        for path, value, line in _leaves(item, ""):
            self._fields[_renamed(path, old)] = (value, line, path)
        self._asked: set[str] = set()

    def place(self, name: str = "") -> str:
        """File and line of a field, or of the object."""
        line = self._fields[name][1] if name in self._fields else self.item.line
        return f"{self.file}:{line}" if line else self.file

    def has(self, name: str) -> bool:
        """Whether the script sets a field."""
        return name in self._fields

    def raw(self, name: str) -> Value | None:
        """The value of a field, None where the script sets none."""
        self._asked.add(name)
        if name not in self._fields:
            return None
        value = self._fields[name][0]
        if isinstance(value, Unknown):
            return None  # its line is reported as not read
        return value

    @overload
    def numbers(self, name: str, *sizes: int) -> list[float] | None: ...

    @overload
    def numbers(self, name: str, *sizes: int, default: T) -> list[float] | T: ...

    def numbers(self, name: str, *sizes: int, default: object = None) -> object:
        """Finite numbers in one row, whose count is one of the sizes (any if none are given)."""
        value = self.raw(name)
        if value is None:
            return default
        if isinstance(value, np.ndarray) and np.isfinite(value).all() and value.size:
            if not sizes or value.size in sizes:
                return [float(x) for x in value.reshape(-1, order="F")]
            requested = " or ".join(map(str, sizes))
            result = f"has {value.size} numbers, expected {requested}"
        else:
            result = "is not made of finite numbers"
        self.refuse(name, result)
        return default

    @overload
    def number(self, name: str) -> float | None: ...

    @overload
    def number(self, name: str, default: T) -> float | T: ...

    def number(self, name: str, default: object = None) -> object:
        """One number."""
        result = self.numbers(name, 1)
        return default if result is None else result[0]

    def first(self, name: str, default: float) -> float:
        """The first of one or more numbers."""
        result = self.numbers(name)
        return default if result is None else result[0]

    def matrix(self, name: str) -> np.ndarray | None:
        """A 6 x 6 matrix; six numbers are its diagonal. None where it is not given or zero."""
        value = self.raw(name)
        if value is None:
            return None
        if isinstance(value, np.ndarray) and np.isfinite(value).all():
            if value.shape == (6, 6):
                return value if value.any() else None
            if value.size == 6:
                return np.diag(value.reshape(-1)) if value.any() else None
        self.refuse(name, "is not a 6 x 6 matrix of finite numbers")
        return None

    def text(self, name: str, default: str = "") -> str:
        """A text."""
        value = self.raw(name)
        return value.strip() if isinstance(value, str) else default

    def is_on(self, name: str) -> bool:
        """'on', or a number that is not zero."""
        value = self.raw(name)
        if isinstance(value, str):
            return value.lower() == "on"
        return isinstance(value, np.ndarray) and bool(value.size) and bool(value.any())

    def first_text(self, k: int = 0) -> str:
        """An argument of the constructor that is a text."""
        result = self.item.arguments[k] if k < len(self.item.arguments) else ""
        return result.strip() if isinstance(result, str) else ""

    def refuse(self, name: str, what: str) -> None:
        """A field whose value cannot be used."""
        shown = self._fields[name][2] if name in self._fields else name
        self.findings.leave(self.place(name), f"{self.label}.{shown} {what}; it is left out.")

    def leave(self, name: str, sentence: str) -> None:
        """A field that is read but has no counterpart."""
        self._asked.add(name)
        self.findings.leave(self.place(name), f"{self.label}.{name}: {sentence}")

    def use_all(self) -> None:
        """Mark every field as read."""
        self._asked |= set(self._fields)

    def use_requested(self, other: Assignments) -> None:
        """Count what was asked of another as asked of this."""
        self._asked |= other._asked

    def warn_unused(self) -> None:
        """Fields that were not read and that do more than control WEC-Sim."""
        silent = SILENT.get(self.kind, ())
        for name in self._fields:
            heads = {name.rsplit(".", k)[0] for k in range(name.count(".") + 1)}
            if name not in self._asked and not heads & {*silent, *self._asked}:
                shown = self._fields[name][2]
                self.findings.leave(
                    self.place(name), f"{self.label}.{shown} is not translated and left out."
                )


def _leaves(item: Object, before: str) -> Iterator[tuple[str, Value, int]]:
    """Fields of an object and of the structures in it, with dots."""
    waiting = [(item, before)]
    count = 0
    while waiting:
        here, head = waiting.pop(0)
        for name, value in here.fields.items():
            count += 1
            if count > MOST_FIELDS:
                return
            line = here.lines.get(name, here.line)
            if not isinstance(value, Objects):
                yield f"{head}{name}", value, line
            elif head.count(".") < 6:
                many = len(value.items) > 1
                for number, part in value.items.items():
                    waiting.append((part, f"{head}{name}{f'({number})' if many else ''}."))


def _renamed(path: str, old: dict[str, str]) -> str:
    """The name of today."""
    if path in old:
        return old[path]
    head, dot, rest = path.partition(".")
    return f"{old[head]}.{rest}" if dot and head in old else path
