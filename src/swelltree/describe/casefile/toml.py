"""Writing TOML: one table per item, its parts in line, so that a case file reads like a list.

The JSON schema of descriptions serves editors that check a case file while one types.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from swelltree.describe.errors import SwelltreeError, shown
from swelltree.describe.files.atomic import plain_text
from swelltree.describe.spec import Description, help_of_arguments
from swelltree.describe.values import NamedValues


def to_text(document: NamedValues) -> str:
    """A document as TOML text: tables on the first two levels, lists of tables as [[...]]."""
    return "\n\n".join(_section(document, "")).strip() + "\n"


def _section(table: NamedValues, path: str) -> list[str]:
    """TOML lines of a table: values first, then lists of tables."""
    lists = {key: value for key, value in table.items() if _is_list_of_tables(value)}
    tables = {key: value for key, value in table.items() if isinstance(value, dict)}
    plain = [
        f"{_key(key)} = {_value(value)}"
        for key, value in table.items()
        if key not in lists and key not in tables
    ]
    blocks = (
        ["\n".join([f"[{path}]", *plain])]
        if path and plain
        else ["\n".join(plain)]
        if plain
        else []
    )
    for key, value in tables.items():
        blocks += _section(value, f"{path}.{_key(key)}".lstrip("."))
    for key, rows in lists.items():
        head = f"[[{f'{path}.{_key(key)}'.lstrip('.')}]]"
        blocks += [
            "\n".join([head, *(f"{_key(name)} = {_value(row[name])}" for name in row)])
            for row in rows
        ]
    return blocks


def _is_list_of_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _key(key: str) -> str:
    return (
        key
        if key.replace("_", "").replace("-", "").isalnum() and key.isascii()
        else json.dumps(key)
    )


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list():
            return f"[{', '.join(_value(entry) for entry in value)}]"
        case dict():
            return (
                "{ "
                + ", ".join(f"{_key(key)} = {_value(entry)}" for key, entry in value.items())
                + " }"
            )
        case _:
            raise TypeError(f"TOML has no {type(value).__name__}")


# --- TOML of others, looked through before it is read

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


class SchemaOf:
    """Gives an annotated field a schema that is made only when someone asks for it.

    Args:
        make: returns the schema.
    """

    def __init__(self, make: Callable[[], NamedValues]) -> None:
        self.make = make

    def __get_pydantic_json_schema__(self, core_schema: object, handler: object) -> NamedValues:
        return self.make()


def choice_schema(classes: Mapping[str, type[Description]]) -> NamedValues:
    """Schema of an item whose class is chosen by `type`."""
    return {"oneOf": [class_schema(cls) for cls in classes.values()]}


def class_schema(cls: type[Description]) -> NamedValues:
    """Schema of one class, with its `type` as a constant."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(cls).json_schema()
    # TOML has no null: a field is left out instead
    texts = help_of_arguments(cls)
    properties = {key: _without_null(value) for key, value in schema["properties"].items()}
    for key in {*properties} & {*texts}:
        properties[key] = {"description": texts[key], **properties[key]}
    required = schema.get("required", [])
    if cls.type:
        properties = {"type": {"const": cls.type}, **properties}
        required = ["type", *required]
    return {
        "title": schema["title"],
        "description": (cls.__doc__ or "").split("\n")[0],
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _without_null(schema: NamedValues) -> NamedValues:
    choices = [choice for choice in schema.get("anyOf", []) if choice != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default", "title")}
    default = (
        {"default": schema["default"]}
        if schema.get("default") not in (None, [], float("inf"))
        else {}
    )
    return {
        **rest,
        **default,
        **(choices[0] if len(choices) == 1 else {"anyOf": choices} if choices else {}),
    }
