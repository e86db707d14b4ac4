"""Text files of other codes: numbers by line, and mistakes reported with file and line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swelltree.describe.errors import SwelltreeError, error_in_file, shown, suggest
from swelltree.describe.files.atomic import plain_bytes
from swelltree.describe.files.numbers import (
    NUMBER,
    Fail,
    is_number,
    to_integer,
    to_number,
    to_table,
)


@dataclass(frozen=True)
class Rows:
    """Rows of numbers with their line indices."""

    file: TextFile
    values: np.ndarray
    lines: np.ndarray

    def __len__(self) -> int:
        return len(self.lines)

    def fail(self, row: int, text: str) -> SwelltreeError:
        return self.file.wrong(int(self.lines[row]), text)

    def picked(self, which: np.ndarray) -> Rows:
        return Rows(self.file, self.values[which], self.lines[which])

    def indices(self, column: int, what: str, most: int) -> np.ndarray:
        """A column of numbers counted from one, as indices from zero.

        Args:
            column: of the rows.
            what: it holds.
            most: largest number allowed.
        """
        numbers = self.values[:, column]
        wrong = (numbers != np.floor(numbers)) | (numbers < 1) | (numbers > most)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.fail(
                row, f"{what} {numbers[row]:g} is not one of 1 to {most}. Fix it or recompute."
            )
        return numbers.astype(int) - 1

    def unrepeated(self, *keys: np.ndarray, what: str) -> None:
        """Reject rows that say the same thing twice.

        Args:
            keys: columns that together may come once only.
            what: they are.
        """
        table = np.column_stack(keys)
        order = np.lexsort(table.T[::-1])
        same = (table[order[1:]] == table[order[:-1]]).all(axis=1)
        if same.any():
            k = int(np.argmax(same))
            first, second = sorted((int(order[k]), int(order[k + 1])))
            raise self.fail(
                second,
                f"{what} stands on line {self.lines[first] + 1} already. Keep one of the rows.",
            )


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
        return self.wrong(index, f"expected {expected}, found {shown(self.lines[index].strip())}.")

    def wrong(self, index: int, text: str) -> SwelltreeError:
        """The error that says a text about a line.

        Args:
            index: of the line, from zero.
            text: what is wrong there.
        """
        return error_in_file(f"'{self.path}' line {index + 1}: {text}")

    def at(self, index: int) -> Fail:
        """Factory of errors about a line, for functions that read numbers."""
        return lambda text: self.wrong(index, text)

    def numbers(self, index: int, expected: str, least: int = 1) -> list[float]:
        """The numbers a line starts with; text after them is a comment.

        Args:
            index: of the line, from zero.
            expected: what should stand there.
            least: minimum number of values.
        """
        if index >= len(self.lines):
            raise self.fail(index, expected)
        leading = leading_numbers(self.lines[index], self.at(index))
        if len(leading) < least:
            raise self.fail(index, expected)
        return leading

    def count(self, index: int, expected: str, least: int = 0) -> int:
        """A count, given by the first number of a line; never more than the lines that follow.

        Args:
            index: of the line, from zero.
            expected: what is counted.
            least: minimum.
        """
        number = self.numbers(index, expected)[0]
        return to_integer(number, expected, self.at(index), least, max(len(self.lines), 1))

    def find(self, text: str, start: int = 0) -> int | None:
        """Index of the first line that contains a text, case-insensitive."""
        requested = text.lower()
        for index in range(start, len(self.lines)):
            if requested in self.lines[index].lower():
                return index
        return None

    def table(self, columns: Iterable[int], expected: str) -> dict[int, Rows]:
        """All rows of numbers, grouped by how many a row has; a heading is passed over.

        Args:
            columns: counts that are allowed.
            expected: what a row holds, for the message.
        """
        allowed = tuple(columns)
        places: dict[int, list[int]] = {count: [] for count in allowed}
        started = False
        for index, line in enumerate(self.lines):
            count = len(line.split())
            if not count or (not started and not is_number(line.split()[0])):
                if index > 0 and count:
                    raise self.fail(index, expected)
                continue
            if count not in places:
                raise self.fail(index, expected)
            started = True
            places[count].append(index)
        if not started:
            raise self.fail(len(self.lines), expected)
        return {n: self.rows(places[n], n, expected) for n in allowed if places[n]}

    def rows(self, places: list[int], columns: int, expected: str) -> Rows:
        """Some lines as rows of numbers.

        Args:
            places: indices of the lines.
            columns: numbers on each.
            expected: what a row holds, for the message.
        """
        values = to_table(
            [self.lines[k] for k in places],
            columns,
            lambda row, text: self.wrong(places[row], text),
            expected,
        )
        return Rows(self, values, np.array(places, dtype=int))


def read_text(path: Path) -> str:
    try:
        return plain_bytes(path).decode("utf-8", errors="replace")
    except OSError as error:
        near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        hint = suggest(path.name, near) or " Check the path."
        raise SwelltreeError(
            f"hydro data '{path}' cannot be read: {error.strerror}.{hint}"
        ) from None


def leading_numbers(line: str, fail: Fail) -> list[float]:
    """The numbers a line starts with; NaN and the like are rejected.

    Args:
        line: its text.
        fail: makes the error about the line.
    """
    numbers = []
    for word in line.replace(",", " ").split():
        if not is_number(word):
            break
        numbers.append(to_number(word, "the value", fail))
    return numbers


def after_equals(line: str, fail: Fail) -> list[float]:
    """Numbers after the equals signs of a line."""
    words = re.findall(r"=\s*(\S+)", line)
    return [to_number(word, "the value", fail) for word in words]


__all__ = [
    "NUMBER",
    "Rows",
    "TextFile",
    "after_equals",
    "is_number",
    "leading_numbers",
    "read_text",
]
