"""Rows of the tables of a mooring file, before they are put into a system, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from swelltree.describe.errors import SwelltreeError, error_in_file
from swelltree.describe.files.numbers import to_integer, to_number

MAX_SEGMENTS = 100_000  # of one line or rod
Triple = tuple[float, float, float]
ZERO: Triple = (0.0, 0.0, 0.0)
# words of older files and other programs
WORDS = {
    **dict.fromkeys(("fix", "anchor", "anch"), "fixed"),
    **dict.fromkeys(("vessel", "ves", "fairlead", "fair", "cpld"), "coupled"),
    **dict.fromkeys(("connect", "con", "connection", "point"), "free"),
    **dict.fromkeys(("vesselpinned", "vespin", "cpldpin"), "coupledpinned"),
}


def three(values: Iterable[float]) -> Triple:
    x, y, z = (float(value) for value in values)
    return x, y, z


def attachment(word: str) -> str | None:
    """Attachment in this package's spelling, None if unknown."""
    word = word.lower()
    word = WORDS.get(word, word)
    if word in ("fixed", "coupled", "free", "pinned", "coupledpinned"):
        return word
    if re.fullmatch(r"pinned\d+", word):
        return "pinned"
    match = re.fullmatch(r"(?:body|b|turbine|t)(\d+)(pinned|pin)?", word)
    return None if match is None else f"body{match[1]}" + ("pinned" if match[2] else "")


def rod_end(text: str) -> tuple[str, str] | None:
    """ID of a rod and its end "A" or "B" from a text such as "R1A"; None for points."""
    match = re.fullmatch(r"R(?:OD)?(\d+)([AB])", text.upper())
    return None if match is None else (match[1], match[2])


@dataclass(frozen=True)
class Row:
    """A row of a table; `line` is its number in the file, for messages."""

    id: str
    line: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True)
class PointRow(Row):
    """A point where lines end."""

    attachment: str
    position: Triple
    mass: float = 0.0
    volume: float = 0.0
    drag_area: float = 0.0
    added_mass: float = 0.0
    force: Triple = ZERO


@dataclass(frozen=True)
class BodyRow(Row):
    """A body with six degrees of freedom."""

    attachment: str
    position: Triple
    rotation_deg: Triple = ZERO
    mass: float = 0.0
    com: Triple = ZERO
    inertia: Triple = ZERO
    volume: float = 0.0
    drag_area: tuple[float, ...] = (0.0,) * 6
    added_mass: Triple = ZERO


@dataclass(frozen=True)
class RodType(Row):
    """Properties of a rod type."""

    diameter: float
    mass_per_length: float
    Cd: float = 0.0
    Ca: float = 0.0
    Cd_end: float = 0.0
    Ca_end: float = 0.0


@dataclass(frozen=True)
class RodRow(Row):
    """A rod; without segments it has zero length and `b` is its direction."""

    type: str
    attachment: str
    a: Triple
    b: Triple
    segments: int


@dataclass(frozen=True)
class LineRow(Row):
    """A line."""

    type: str
    A: str
    B: str
    length: float
    segments: int | None = None


@dataclass(frozen=True)
class FailureRow(Row):
    """Lines released from a point at a time or tension; zero: never."""

    point: str
    lines: tuple[str, ...]
    time: float
    tension: float


@dataclass(frozen=True)
class LoadRow(Row):
    """Constant force, linear and quadratic damping of an object such as "body1"."""

    object: str
    force: Triple
    linear: tuple[float, ...]
    quadratic: tuple[float, ...]
    axes: str = "-"


class TextRow(NamedTuple):
    """Words of one numbered line of the file."""

    number: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """Location in a file, for messages."""

    path: Path
    section: str

    def fail(self, row: TextRow | Row | int, text: str) -> SwelltreeError:
        number = getattr(row, "line", getattr(row, "number", row))
        return error_in_file(f"{self.path.name}, section '{self.section}', line {number}: {text}")

    def number(self, row: TextRow, index: int, what: str) -> float:
        return to_number(self.word(row, index, what), what, lambda text: self.fail(row, text))

    def numbers(self, row: TextRow, first: int, count: int, what: str) -> tuple[float, ...]:
        return tuple(self.number(row, first + k, what) for k in range(count))

    def count(self, row: TextRow, index: int, what: str) -> int:
        value = self.number(row, index, what)
        if value != int(value) or value < 0:
            raise self.fail(row, f"{what} {value} is not a whole number. Give 0, 1, 2 ...")
        return to_integer(value, what, lambda text: self.fail(row, text), 0, MAX_SEGMENTS)

    def word(self, row: TextRow, index: int, what: str) -> str:
        if index >= len(row.words):
            raise self.fail(
                row, f"{what} is missing: there are {len(row.words)} columns. Fill every column."
            )
        return row.words[index]

    def bars(self, row: TextRow, index: int, counts: Sequence[int], what: str) -> tuple[float, ...]:
        """Numbers separated by bars, a|b|c."""
        parts = self.word(row, index, what).split("|")
        if len(parts) not in counts:
            able = " or ".join(str(n) for n in counts)
            raise self.fail(row, f"{what} has {len(parts)} values between bars. Give {able}.")
        cells = TextRow(row.number, tuple(parts))
        return tuple(self.number(cells, k, what) for k in range(len(parts)))
