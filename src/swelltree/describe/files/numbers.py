"""Numbers from external files: one way to read them, and one message when they are not numbers.

Every reader passes through here. What is not a finite number of sensible size is rejected with the
place it stands at, which the reader gives by its function `fail`; arrays are sized before memory is
taken for them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from swelltree.describe.errors import SwelltreeError, shown

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?", re.ASCII)
ODD_NUMBERS = ("nan", "inf", "infinity")  # words that other programs write for broken numbers
MAX_NUMBER = 1e60  # beyond, products of a few numbers overflow; no quantity at sea comes near it
MOST_BYTES = 4 * 2**30  # of one array of a file
_NOT_IN_NUMBERS = re.compile(r"[^0-9eEdD+\-.\s]", re.ASCII)

Fail = Callable[[str], SwelltreeError]


def is_number(text: str) -> bool:
    """Whether a word is a number, in Fortran notation too, or an invalid one such as NaN."""
    return NUMBER.fullmatch(text) is not None or text.lower().lstrip("+-") in ODD_NUMBERS


def to_number(value: object, what: str, fail: Fail) -> float:
    """A word or value as a finite number.

    Args:
        value: a word in Fortran's or C's spelling, or a plain number.
        what: it is, for the message.
        fail: makes the error from a text, adding file and line.
    """
    if isinstance(value, str):
        word = value.strip()
        if NUMBER.fullmatch(word) is None:
            raise fail(f"{what} {shown(value)} is not a {_kind(word)}. Fix it.")
        number = float(word.replace("D", "E").replace("d", "e"))
    elif isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    else:
        raise fail(f"{what} {shown(value)} is not a number. Fix it.")
    if not abs(number) <= MAX_NUMBER:
        raise fail(f"{what} {shown(value)} is not a finite number of sensible size. Fix it.")
    return number


def _kind(word: str) -> str:
    return "finite number" if is_number(word) else "number"


def to_integer(value: object, what: str, fail: Fail, least: int = 0, most: int = 10**9) -> int:
    """A word or value as a whole number within limits.

    Args:
        value: a word, or a plain number.
        what: it is, for the message.
        fail: makes the error from a text, adding file and line.
        least: minimum allowed.
        most: largest that is allowed.
    """
    number = to_number(value, what, fail)
    if number != int(number):
        raise fail(f"{what} {shown(value)} is not a whole number. Fix it.")
    if not least <= number <= most:
        raise fail(f"{what} {int(number)} is not between {least} and {most}. Fix it.")
    return int(number)


def to_positive(value: object, what: str, fail: Fail) -> float:
    """A word or value as a positive number."""
    number = to_number(value, what, fail)
    if not number > 0.0:
        raise fail(f"{what} {number:g} is not positive. Fix it.")
    return number


def to_table(
    rows: Sequence[str], columns: int, fail: Callable[[int, str], SwelltreeError], what: str
) -> np.ndarray:
    """Rows of words as an array of finite numbers.

    Args:
        rows: text of each row.
        columns: words in a row.
        fail: makes the error from the index of a row and a text.
        what: a row holds, for the message.
    """
    text = " ".join(rows)
    if not _NOT_IN_NUMBERS.search(text):
        try:
            values = np.array(re.sub("[dD]", "e", text).split(), dtype=float)
        except ValueError:
            values = np.zeros(0)
        if values.size == columns * len(rows) and (np.abs(values) <= MAX_NUMBER).all():
            return values.reshape(len(rows), columns)
    # something is wrong: find the row
    table = np.zeros((len(rows), columns))
    for k, row in enumerate(rows):
        words = row.split()
        if len(words) != columns:
            raise fail(k, f"expected {what}, found {shown(row.strip())}.")
        table[k] = [
            to_number(word, f"in {what},", lambda text, k=k: fail(k, text)) for word in words
        ]
    return table


def check_size(shape: Sequence[int], what: str, fail: Fail, item: int = 8) -> None:
    """Reject an array that no memory would hold, before it is made.

    Args:
        shape: of the array.
        what: it holds.
        fail: makes the error from a text.
        item: bytes of one number.
    """
    if math.prod(int(n) for n in shape) * item > MOST_BYTES:
        sizes = " x ".join(str(n) for n in shape)
        raise fail(
            f"{what} would take {sizes} numbers, more than {MOST_BYTES >> 30} GiB. "
            "Check the counts in the file."
        )
