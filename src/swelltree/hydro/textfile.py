"""Text files of other codes: numbers by line, and mistakes told with file and line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from swelltree.system.errors import SwelltreeError, shown, suggest

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?")


class TextFile:
    """The lines of a file, counted from one in messages."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = read_text(path).splitlines()

    def fail(self, index: int, expected: str) -> SwelltreeError:
        """The error about a line.

        Args:
            index: of the line, from zero; past the end when the file stops too early.
            expected: what should stand there.
        """
        if index >= len(self.lines):
            return SwelltreeError(
                f"'{self.path}' ends at line {len(self.lines)}: expected {expected}. "
                "Is the file whole?"
            )
        return SwelltreeError(
            f"'{self.path}' line {index + 1}: expected {expected}, "
            f"found {shown(self.lines[index].strip())}."
        )

    def numbers(self, index: int, expected: str, least: int = 1) -> list[float]:
        """The numbers a line starts with; text after them is a comment.

        Args:
            index: of the line, from zero.
            expected: what should stand there.
            least: fewest numbers allowed.
        """
        if index >= len(self.lines):
            raise self.fail(index, expected)
        found = leading_numbers(self.lines[index])
        if len(found) < least:
            raise self.fail(index, expected)
        return found

    def find(self, text: str, start: int = 0) -> int | None:
        """Index of the first line that holds a text, whatever its capitals."""
        wanted = text.lower()
        for index in range(start, len(self.lines)):
            if wanted in self.lines[index].lower():
                return index
        return None

    def table(self, columns: Iterable[int], expected: str) -> dict[int, np.ndarray]:
        """All rows of numbers, grouped by how many a row has; a heading is passed over.

        Args:
            columns: counts that are allowed.
            expected: what a row holds, for the message.
        """
        allowed = tuple(columns)
        rows: dict[int, list[str]] = {count: [] for count in allowed}
        places: dict[int, list[int]] = {count: [] for count in allowed}
        started = False
        for index, line in enumerate(self.lines):
            count = len(line.split())
            if not count or (not started and not is_number(line.split()[0])):
                continue
            if count not in rows:
                raise self.fail(index, expected)
            started = True
            rows[count].append(line)
            places[count].append(index)
        if not started:
            raise self.fail(len(self.lines), expected)
        return {n: self._parse(rows[n], places[n], n, expected) for n in allowed if rows[n]}

    def _parse(self, rows: list[str], places: list[int], count: int, expected: str) -> np.ndarray:
        try:
            text = " ".join(rows)
            if "D" in text or "d" in text:
                text = text.replace("D", "E").replace("d", "e")
            values = np.array(text.split(), dtype=float)
        except ValueError:
            for line, index in zip(rows, places, strict=True):
                if len(leading_numbers(line)) < count:
                    raise self.fail(index, expected) from None
            raise
        return values.reshape(len(rows), count)


def read_text(path: Path) -> str:
    """The text of a file, whatever its encoding."""
    try:
        return path.read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        hint = suggest(path.name, near) or " Check the path."
        raise SwelltreeError(
            f"hydro data '{path}' cannot be read: {error.strerror}.{hint}"
        ) from None


def is_number(text: str) -> bool:
    """Whether a word is a number, in Fortran's spelling too."""
    return NUMBER.fullmatch(text) is not None or text.lower().lstrip("+-") in ("nan", "inf")


def to_float(text: str) -> float:
    """A number in Fortran's or C's spelling."""
    return (
        float(text.replace("D", "E").replace("d", "e")) if NUMBER.fullmatch(text) else float(text)
    )


def leading_numbers(line: str) -> list[float]:
    """The numbers a line starts with."""
    found = []
    for word in line.replace(",", " ").split():
        if not is_number(word):
            break
        found.append(to_float(word))
    return found


def after_equals(line: str) -> list[float]:
    """Numbers behind the equals signs of a line."""
    return [to_float(m) for m in re.findall(r"=\s*([+-]?[\d.]+(?:[eEdD][+-]?\d+)?)", line)]
