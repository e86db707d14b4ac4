"""Text of a MoorDyn file to sections of rows, each row with its number in the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from swelltree.describe.errors import SwelltreeError, error_in_file
from swelltree.describe.files.numbers import to_integer, to_number

MOST_SEGMENTS = 100_000  # of one line or rod

# words of a heading, longest first, and the name of the section here
HEADINGS = (
    ("line dictionary", "line types"),
    ("line types", "line types"),
    ("line type", "line types"),
    ("rod dictionary", "rod types"),
    ("rod types", "rod types"),
    ("rod type", "rod types"),
    ("syrope", "syrope ic"),
    ("external load", "external loads"),
    ("solver options", "options"),
    ("options", "options"),
    ("failure", "failure"),
    ("control", "control"),
    ("outputs", "outputs"),
    ("output", "outputs"),
    ("body list", "bodies"),
    ("bodies", "bodies"),
    ("rod list", "rods"),
    ("rod properties", "rods"),
    ("rods", "rods"),
    ("connection properties", "points"),
    ("node properties", "points"),
    ("point properties", "points"),
    ("point list", "points"),
    ("points", "points"),
    ("line properties", "lines"),
    ("line list", "lines"),
    ("lines", "lines"),
)
WITHOUT_TITLES = ("options", "outputs")  # the others begin with a row of names and one of units


@dataclass(frozen=True)
class TextRow:
    """Words of one line of the file."""

    number: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """A section: the names of its columns and its rows."""

    name: str
    titles: tuple[str, ...]
    rows: tuple[TextRow, ...]


@dataclass(frozen=True)
class Place:
    """Where in a file something stands, for messages."""

    path: Path
    section: str

    def fail(self, row: TextRow | int, text: str) -> SwelltreeError:
        """The error to raise about a row."""
        number = row if isinstance(row, int) else row.number
        return error_in_file(f"{self.path.name}, section '{self.section}', line {number}: {text}")

    def number(self, row: TextRow, index: int, what: str) -> float:
        """A word as a number."""
        return to_number(self.word(row, index, what), what, lambda text: self.fail(row, text))

    def numbers(self, row: TextRow, first: int, count: int, what: str) -> tuple[float, ...]:
        """Several words as numbers."""
        return tuple(self.number(row, first + k, what) for k in range(count))

    def count(self, row: TextRow, index: int, what: str) -> int:
        """A word as a whole number."""
        value = self.number(row, index, what)
        if value != int(value) or value < 0:
            raise self.fail(row, f"{what} {value} is not a whole number. Give 0, 1, 2 ...")
        return to_integer(value, what, lambda text: self.fail(row, text), 0, MOST_SEGMENTS)

    def word(self, row: TextRow, index: int, what: str) -> str:
        """A word, which must be there."""
        if index >= len(row.words):
            raise self.fail(
                row, f"{what} is missing: there are {len(row.words)} columns. Fill every column."
            )
        return row.words[index]

    def bars(self, row: TextRow, index: int, counts: Sequence[int], what: str) -> tuple[float, ...]:
        """Numbers joined by bars, a|b|c."""
        parts = self.word(row, index, what).split("|")
        if len(parts) not in counts:
            able = " or ".join(str(n) for n in counts)
            raise self.fail(row, f"{what} has {len(parts)} values between bars. Give {able}.")
        cells = TextRow(row.number, tuple(parts))
        return tuple(self.number(cells, k, what) for k in range(len(parts)))


def read_sections(text: str) -> list[Section]:
    """All sections in their order; what stands before the first is left out."""
    sections: list[tuple[str, list[TextRow]]] = []
    ended = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.count("---") > 0:
            name = _heading(line)
            ended = name is None
            if name is not None:
                sections.append((name, []))
        elif sections and not ended and line.strip():
            sections[-1][1].append(TextRow(number, tuple(line.split())))
    return [_section(name, rows) for name, rows in sections]


def _heading(line: str) -> str | None:
    words = " ".join(re.sub(r"[-=]", " ", line).lower().split())
    if "input file" in words:
        return None
    return next((name for key, name in HEADINGS if key in words), None)


def _section(name: str, rows: list[TextRow]) -> Section:
    titles: tuple[str, ...] = ()
    if name not in WITHOUT_TITLES:
        titles = tuple(word.lower() for word in rows[0].words) if rows else ()
        rows = rows[2:]
    stored = [TextRow(row.number, _uncommented(row.words)) for row in rows]
    return Section(name, titles, tuple(row for row in stored if row.words))


def _uncommented(words: tuple[str, ...]) -> tuple[str, ...]:
    """Words before a comment."""
    stored: list[str] = []
    for word in words:
        head = re.split(r"[!#%]", word, maxsplit=1)[0]
        if head:
            stored.append(head)
        if head != word:
            break
    return tuple(stored)
