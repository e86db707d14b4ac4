"""The words of a MATLAB script: numbers, names, texts and signs, each with its line.

Two signs need their neighbours: a quote closes a matrix (transposed) or opens a text, and a blank
inside brackets may part two entries. The first is settled here, the second where words are carried
out, which is why every word knows whether a blank stands before it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_WORDS = 200_000
CLOSES = {"(": ")", "[": "]", "{": "}"}
# the point of 2.*x belongs to the product
WORD = re.compile(
    r"""(?P<number>(?:\d+(?:\.(?![*/\\^'])\d*)?|\.\d+)(?:[eEdD][+-]?\d+)?)
    |(?P<name>[A-Za-z]\w*)
    |(?P<sign>\.\^'|[=~!<>]=|&&|\|\||\.[*/\\^']|[-+*/\\^<>=&|~!@?()\[\]{},;:.'])""",
    re.ASCII | re.VERBOSE,
)
TEXTS = {quote: re.compile(f"{quote}((?:[^{quote}]|{quote}{quote})*+){quote}") for quote in "'\""}


class Word(NamedTuple):
    """A token: number, name, text, sign, line (end of line), end (of the script) or bad."""

    kind: str
    text: str
    line: int
    blank: bool  # before it


def words_of(text: str, first: int = 1) -> list[Word]:
    """All tokens of a script; invalid characters have the kind bad."""
    result: list[Word] = []
    stack: list[str] = []  # open brackets
    hidden = 0  # depth of block comments
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    joined = False  # by ... with the line before
    for k, line in enumerate(lines, first):
        if line.strip() == "%{":
            hidden += 1
        elif line.strip() == "%}" and hidden:
            hidden -= 1
        elif not hidden:
            joined = _cut(line, k, result, stack, joined)
        if not joined:
            result.append(Word("line", "\n", k, True))
    return [*result[:MAX_WORDS], Word("end", "", len(lines), True)]


def _cut(line: str, k: int, result: list[Word], stack: list[str], blank: bool) -> bool:
    """Append the tokens of one line; true if it continues on the next."""
    at = 0
    while at < len(line):
        char = line[at]
        if char in " \t\f\v\xa0":
            blank, at = True, at + 1
            continue
        if char == "%" or line.startswith("...", at):
            return char != "%"
        if char == '"' or (char == "'" and not _transposes(result, stack, blank)):
            match = TEXTS[char].match(line, at)
            kind, text = ("text", match[1].replace(2 * char, char)) if match else ("bad", line[at:])
        else:
            match = WORD.match(line, at)
            kind, text = (str(match.lastgroup), match[0]) if match else ("bad", char)
        result.append(Word(kind, text, k, blank))
        if kind == "sign" and text in CLOSES:
            stack.append(text)
        elif kind == "sign" and text in ")]}" and stack:
            stack.pop()
        at, blank = match.end() if match else at + len(text), False
    return False


def _transposes(result: list[Word], stack: list[str], blank: bool) -> bool:
    if not result or (blank and stack and stack[-1] in "[{"):
        return False
    kind, text, *_ = result[-1]
    if kind == "sign":
        return text in (")", "]", "}", "'", ".'")
    return kind in ("number", "name", "text")
