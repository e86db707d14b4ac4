"""TOML of others, looked through before it is read.

Python's reader recurses into nested brackets, takes memory by the square of the length of a dotted
key, and raises errors without a line for integers of thousands of digits. One pass over the text
finds all three, with their line, before anything is made of it.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from swelltree.system.errors import SwelltreeError, shown
from swelltree.system.files.plain_files import plain_text
from swelltree.system.named_values import NamedValues

MAX_FILE = 16 * 2**20  # bytes
MAX_DEPTH = 32  # brackets within brackets
MAX_PARTS = 8  # of a dotted key; ours have four
MAX_DOTS = 100_000  # in the keys of a file
MAX_DIGITS = 19  # of an integer, which has 64 bits

# a part of a key: a word or a quoted text
_PART = r"""(?:[A-Za-z0-9_-]++|"(?:\\.|[^"\\\n])*+"|'[^'\n]*+')"""
_TOKEN = re.compile(
    rf"""(?P<chain>(?:{_PART}[ \t]*+\.[ \t]*+){{{MAX_PARTS}}})
    |(?P<skip>\#[^\n]*+
        |\"\"\"(?:\\.|[^\\])*?\"\"\" | '''.*?'''
        |"(?:\\.|[^"\\\n])*+" | '[^'\n]*+'
        |[+-]?\d[\d_]*+\.\d[\d_]*+(?:[eE][+-]?\d++)?
        |[^\[\]{{}}"'\#.\nA-Za-z0-9_+-]++)
    |(?P<digits>[+-]?(?:\d[\d_]*+|0x[0-9A-Fa-f_]++|0o[0-7_]++|0b[01_]++)(?![A-Za-z0-9_.-]))
    |(?P<word>[A-Za-z0-9_+-]++)
    |(?P<dot>\.)|(?P<opens>[\[{{])|(?P<closes>[\]}}])|(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def read_toml_file(path: Path) -> str:
    """The text of a file.

    Raises:
        OSError: where it cannot be read, or is larger than any description.
        UnicodeDecodeError: where it is not UTF-8.
    """
    return plain_text(path, MAX_FILE)


def parse_toml(text: str, source: str) -> NamedValues:
    """A text of TOML as tables.

    Args:
        text: of a file.
        source: its name, for messages.
    """
    _look_through(text, source)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SwelltreeError(f"{source}: not valid TOML: {error}. Fix that line.") from None


def _look_through(text: str, source: str) -> None:
    depth = dots = 0
    for token in _TOKEN.finditer(text):
        why = ""
        match token.lastgroup:
            case "opens":
                depth += 1
                if depth > MAX_DEPTH:
                    why = f"more than {MAX_DEPTH} brackets stand within one another"
            case "closes":
                depth = max(depth - 1, 0)
            case "dot":
                dots += 1
                if dots > MAX_DOTS:
                    why = f"the keys up to here have more than {MAX_DOTS} dots"
            case "chain":
                why = f"a key has more than {MAX_PARTS} parts: {shown(token.group())}"
            case "digits":
                if _is_long(token.group()):
                    why = f"{shown(token.group())} is not an integer of 64 bits"
        if why:
            line = text.count("\n", 0, token.start()) + 1
            raise SwelltreeError(f"{source}, line {line}: {why}. Check that line.")


def _is_long(digits: str) -> bool:
    """Is an integer beyond 64 bits?"""
    plain = digits.lstrip("+-").replace("_", "")
    if len(plain) < MAX_DIGITS:
        return False
    if len(plain) > 80:  # no integer of 64 bits, in any base
        return True
    try:
        value = int(digits.replace("_", ""), 0)
    except ValueError:  # zeros in front: reported by the reader
        return False
    return not -(2**63) <= value < 2**64  # seeds have no sign


def line_of(text: str, table: str, number: int) -> int | None:
    """Line of the n-th [[table]] of a text, counted from zero; None where it is written otherwise.

    Args:
        text: of a file.
        table: its name.
        number: which of them.
    """
    heads = re.compile(rf"^[ \t]*\[\[[ \t]*{re.escape(table)}[ \t]*\]\]", re.MULTILINE)
    for k, head in enumerate(heads.finditer(text)):
        if k == number:
            return text.count("\n", 0, head.start()) + 1
    return None
