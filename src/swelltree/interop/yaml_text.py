"""The small part of YAML that mooring files use: maps, lists, numbers and texts.

Maps and lists are marked by their indent or written in brackets; comments begin with #. Anchors,
tags and texts over several lines are rejected.
"""

from __future__ import annotations

import re

from swelltree.describe.errors import SwelltreeError, error_in_file
from swelltree.describe.values import NamedValues

_COMMENT = re.compile(r"""(?:^|\s)#(?=(?:[^"']|"[^"]*"|'[^']*')*$).*""")
_KEY = re.compile(r"""^("[^"]*"|'[^']*'|[^\s\[\]{}"',#&*!|>][^:]*?)\s*:(?:\s+(.*))?$""")

DEEPEST = 60  # brackets or dashes on one line


class _Lines:
    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.rows: list[tuple[int, int, str]] = []  # number, indent, text
        for number, raw in enumerate(text.splitlines(), 1):
            line = _COMMENT.sub("", raw.replace("\t", "    ")).rstrip()
            if line.strip() and line.strip() not in ("---", "..."):
                self.rows.append((number, len(line) - len(line.lstrip()), line.strip()))
        self.place = 0

    def fail(self, text: str) -> SwelltreeError:
        number = self.rows[min(self.place, len(self.rows) - 1)][0] if self.rows else 1
        return error_in_file(f"{self.source}, line {number}: {text}")


def read_yaml(text: str, source: str) -> object:
    """Parse a text.

    Args:
        text: of the file.
        source: what messages call it.
    """
    lines = _Lines(text, source)
    if not lines.rows:
        return {}
    for number, _, row in lines.rows:
        if max(row.count("["), row.count("{"), row.count("- ")) > DEEPEST:
            raise SwelltreeError(
                f"{source}, line {number}: more than {DEEPEST} brackets or dashes on one line. "
                "Fix it."
            )
    try:
        value = _block(lines, lines.rows[0][1])
    except RecursionError:
        raise lines.fail("lists and maps are nested too deeply. Fix it.") from None
    if lines.place < len(lines.rows):
        raise lines.fail("the indentation matches no line above. Align it.")
    return value


def _block(lines: _Lines, indent: int) -> object:
    """A map or list whose rows begin at one indent."""
    return (_list if lines.rows[lines.place][2].startswith("-") else _map)(lines, indent)


def _list(lines: _Lines, indent: int) -> list[object]:
    items: list[object] = []
    while lines.place < len(lines.rows):
        number, at, text = lines.rows[lines.place]
        if at != indent or not re.match(r"-(\s|$)", text):
            break
        rest = text[1:].lstrip()
        if not rest:
            lines.place += 1
            items.append(_nested(lines, indent))
        elif _KEY.match(rest):
            # the map begins on the row of the dash
            inner = at + len(text) - len(rest)
            lines.rows[lines.place] = (number, inner, rest)
            items.append(_map(lines, inner))
        else:
            items.append(_inline(lines, rest))
            lines.place += 1
    return items


def _map(lines: _Lines, indent: int) -> NamedValues:
    items: NamedValues = {}
    while lines.place < len(lines.rows):
        _, at, text = lines.rows[lines.place]
        if at != indent or text.startswith("- "):
            break
        match = _KEY.match(text)
        if match is None:
            raise lines.fail(f"'{text}' is not 'key: value'. Write it so.")
        key, value = match[1].strip("\"'"), match[2]
        if value:
            items[key] = _inline(lines, value)
            lines.place += 1
        else:
            lines.place += 1
            items[key] = _nested(lines, indent)
    return items


def _nested(lines: _Lines, indent: int) -> object:
    """What stands below a key or a dash; a list may stand at the indent of its key."""
    if lines.place >= len(lines.rows):
        return None
    _, at, text = lines.rows[lines.place]
    if at > indent or (at == indent and re.match(r"-(\s|$)", text)):
        return _block(lines, at)
    return None


def _inline(lines: _Lines, text: str) -> object:
    """A value on one row, or none; brackets may go on over several rows."""
    if not text:
        return None
    while text[0] in "[{" and text.count(text[0]) > text.count("]" if text[0] == "[" else "}"):
        if lines.place + 1 >= len(lines.rows):
            raise lines.fail(f"'{text}' is not closed. Close the bracket.")
        text += " " + lines.rows.pop(lines.place + 1)[2]
    if text[0] == "[" and text[-1] == "]":
        return [_inline(lines, part) for part in _split(text[1:-1])]
    if text[0] == "{" and text[-1] == "}":
        pairs = [part.partition(":") for part in _split(text[1:-1])]
        return {key.strip(" \"'"): _inline(lines, value.strip()) for key, _, value in pairs}
    if text[0] in "&*!|>[{":
        raise lines.fail(f"'{text}' is YAML that is not read here. Write plain values.")
    return _scalar(text)


def _split(text: str) -> list[str]:
    """Parts between commas outside of brackets."""
    parts, depth, word = [], 0, ""
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            parts.append(word)
            word = ""
        else:
            word += letter
    return [part.strip() for part in [*parts, word] if part.strip()]


def _scalar(text: str) -> object:
    if text[0] in "\"'" and text[-1] == text[0]:
        return text[1:-1]
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.lower() in ("null", "~"):
        return None
    try:
        return float(text) if not re.fullmatch(r"[-+]?\d+", text) else int(text)
    except ValueError:
        return text
