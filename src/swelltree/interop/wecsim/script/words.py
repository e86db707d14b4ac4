"""The words of a MATLAB script: numbers, names, texts and signs, each with its line.

Two signs need their neighbours: a quote closes a matrix (transposed) or opens a text, and a blank
inside brackets may part two entries. The first is settled here, the second by the parser, which is
why every word knows whether a blank stands before it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# the point of 2.*x belongs to the product
NUMBER = re.compile(r"(?:\d+(?:\.(?![*/\\^'])\d*)?|\.\d+)(?:[eEdD][+-]?\d+)?", re.ASCII)
NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
SIGNS = (
    *("...", ".^'", "==", "~=", "!=", "<=", ">=", "&&", "||", ".*", "./", ".\\", ".^", ".'"),
    *("+", "-", "*", "/", "\\", "^", "<", ">", "=", "&", "|", "~", "!", "@", "?"),
    *("(", ")", "[", "]", "{", "}", ",", ";", ":", "."),
)
OPENS, CLOSES = "([{", ")]}"


class Word(NamedTuple):
    """One word: number, name, text, sign, line (its end), end (of the script) or bad."""

    kind: str
    text: str
    line: int
    blank: bool  # before it


def words_of(text: str) -> list[Word]:
    """All words of a script; anything else comes as one of the kind bad."""
    result: list[Word] = []
    stack: list[str] = []  # open brackets
    hidden = 0  # depth of block comments
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    joined = False  # by ... with the line before
    for number, line in enumerate(lines, 1):
        alone = line.strip()
        if alone == "%{":
            hidden += 1
        elif alone == "%}" and hidden:
            hidden -= 1
        elif not hidden:
            joined = _words_of_line(line, number, result, stack, joined)
        if not joined:
            result.append(Word("line", "\n", number, True))
    result.append(Word("end", "", len(lines), True))
    return result


def _words_of_line(
    line: str, number: int, result: list[Word], stack: list[str], blank: bool
) -> bool:
    """Add the words of one line; true where it goes on in the next."""
    at, size = 0, len(line)
    while at < size:
        char = line[at]
        if char in " \t\f\v\xa0":
            blank, at = True, at + 1
            continue
        if char == "%" or line.startswith("...", at):
            return char != "%"
        kind, text = _word_at(line, at, char, result, stack, blank)
        result.append(Word(kind, text, number, blank))
        if kind == "sign" and text in OPENS:
            stack.append(text)
        elif kind == "sign" and text in CLOSES and stack:
            stack.pop()
        at, blank = at + _length(line, at, kind, text), False
    return False


def _word_at(
    line: str, at: int, char: str, result: list[Word], stack: list[str], blank: bool
) -> tuple[str, str]:
    if char == '"' or (char == "'" and not _transposes(result, stack, blank)):
        return _text_at(line, at, char)
    if char == "'":
        return "sign", "'"
    number = NUMBER.match(line, at)
    if number is not None:
        return "number", number.group()
    name = NAME.match(line, at)
    if name is not None:
        return "name", name.group()
    for sign in SIGNS:
        if line.startswith(sign, at):
            return "sign", sign
    return "bad", char


def _length(line: str, at: int, kind: str, text: str) -> int:
    """How many characters a word takes in the line; quotes in a text are doubled there."""
    if kind == "text":
        return len(text) + text.count(line[at]) + 2
    return len(text)


def _transposes(result: list[Word], stack: list[str], blank: bool) -> bool:
    """Whether a quote here belongs to what stands before it."""
    last = result[-1] if result else None
    if last is None or (blank and stack and stack[-1] in "[{"):
        return False
    if last.kind == "sign":
        return last.text in (*CLOSES, "'", ".'")
    return last.kind in ("number", "name", "text")


def _text_at(line: str, at: int, quote: str) -> tuple[str, str]:
    """The text that a quote opens."""
    parts, start = [], at + 1
    while True:
        end = line.find(quote, start)
        if end < 0:
            return "bad", line[at:]
        if line[end + 1 : end + 2] != quote:
            return "text", "".join([*parts, line[start:end]])
        parts.append(line[start : end + 1])
        start = end + 2
