"""What all descriptions share: frozen, checked when made, equal by value, changed by `replace`.

`@description` makes a pydantic dataclass whose mistakes are reported as one message
(`SwelltreeError`); a class derived from `Description` writes itself as a TOML table.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect as inspect
import re
import sys
import types
import typing
from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

from pydantic import BeforeValidator, ConfigDict, ValidationError
from pydantic.dataclasses import dataclass as pydantic_dataclass

from swelltree.describe.errors import SwelltreeError, shown, suggest
from swelltree.describe.values import NamedValues, row_of

# --- Functions by the names under which case files know them


def written_name(function: Callable[..., object]) -> str:
    """The text "module:name" by which a case file refers to a function."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not module or not name or "<" in name:
        what = "a lambda" if name and "<lambda>" in name else f"{name or function!r}"
        raise SwelltreeError(
            f"function {what} cannot be written to a case file: nothing can import it. "
            "Define it with 'def' at the top of a module."
        )
    if module == "__main__":
        raise SwelltreeError(
            f"function '{name}' belongs to the running script and cannot be written to a case "
            "file. "
            "Move it to a module of its own and import it from there."
        )
    result: object = sys.modules.get(module)
    for part in name.split("."):
        result = getattr(result, part, None)
    if result is not function:
        raise SwelltreeError(
            f"function '{module}:{name}' is not the one found under that name, so a case file "
            "cannot hold it. "
            "Define it with 'def' at the top of a module."
        )
    return f"{module}:{name}"


T = TypeVar("T")
CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

# words of other programs, and the word used here
SYNONYMS = {
    "parent": "base",
    "child": "follower",
    "from_": "a",
    "to": "b",
    "cog": "com",
    "length": "rest_length",
}


class Description:
    kind: ClassVar[str] = "item"  # the word in messages: body, joint, force ...
    type: ClassVar[str] = ""  # the value of `type` in a case file, if there is a choice

    @property
    def label(self) -> str:
        """Name in messages: body 'float'."""
        return _label(type(self), getattr(self, "name", None))

    def fail(self, text: str) -> SwelltreeError:
        return SwelltreeError(f"{self.label}: {text}")

    def replace(self, **changes: object) -> Self:
        """A copy with some fields changed, checked again."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # pyright: ignore
        return type(self)(**{**values, **changes})

    def table(self) -> NamedValues:
        """This item as a TOML table of plain values, without defaults."""
        fields = {field.name: field.default for field in dataclasses.fields(self)}  # pyright: ignore
        specified = {name: getattr(self, name) for name in fields}
        table = {
            name: plain(value) for name, value in specified.items() if differs(value, fields[name])
        }
        if self.type:
            table = {
                **{k: table.pop(k) for k in ("name",) if k in table},
                "type": self.type,
                **table,
            }
        return table


def differs(value: object, default: object) -> bool:
    """Whether a value differs from the default and must be written."""
    return type(value) is not type(default) or value != default


def plain(value: object) -> object:
    """A described value in TOML types."""
    if isinstance(value, Description):
        return value.table()
    if isinstance(value, tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    return written_name(value) if callable(value) else value


def within(cls: type[T], table: dict[object, object]) -> T:
    """Build a part of an item from its table; errors name the item's field."""
    try:
        return cls(**{str(key): value for key, value in table.items()})
    except SwelltreeError as error:
        raise ValueError(str(error).partition(": ")[2]) from None


def parts_of(cls: type, example: str) -> BeforeValidator:
    """Reader of a list of parts of an item: descriptions of one kind, or their tables.

    Args:
        cls: what they are.
        example: how to give one, for the message.
    """

    def read(value: object) -> object:
        rows = row_of(value)
        if rows is None:
            raise ValueError(f"{shown(value)} is not a list. Give {example} in brackets.")
        built = tuple(within(cls, row) if isinstance(row, dict) else row for row in rows)
        for row in built:
            if not isinstance(row, cls):
                raise ValueError(f"holds {shown(row)}. Give {example}.")
        return built

    return BeforeValidator(read)


def short_repr(self: object) -> str:
    """`repr`: the call that creates this item, without defaults."""
    parts: list[str] = []
    for field in dataclasses.fields(self):  # pyright: ignore
        value, default = getattr(self, field.name), field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        if differs(value, default):
            parts.append(repr(value) if field.name == "name" else f"{field.name}={value!r}")
    return f"{type(self).__name__}({', '.join(parts)})"


class Readable:
    """Signature of a class without validators, made on demand."""

    def __get__(self, instance: object, owner: type) -> inspect.Signature:
        return plain_signature(owner)


class InheritedHelp:
    """Docstring of a class with the arguments of its base classes, in the order of its fields."""

    def __init__(self, text: str) -> None:
        self.text = inspect.cleandoc(text)

    def __get__(self, instance: object, owner: type) -> str:
        rows: dict[str, str] = {}
        for cls in reversed(owner.__mro__):
            rows |= help_of_arguments(cls) if cls is not owner else _arguments_in(self.text)
        fields = [field.name for field in dataclasses.fields(owner)]
        head, _, own = self.text.partition("Args:\n")
        after = own.partition("\n\n")[2]
        lines = "".join(f"    {name}: {rows[name]}\n" for name in fields if name in rows)
        args = f"Args:\n{lines}" if lines else ""
        return "\n\n".join(part.rstrip() for part in (head, args, after) if part)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def description(cls: type[T]) -> type[T]:
    """Class decorator: a frozen, validated description."""
    built = pydantic_dataclass(frozen=True, config=CONFIG, repr=False)(cls)
    if built.__repr__ is object.__repr__:
        built.__repr__ = short_repr
    checked: Callable[..., None] = built.__init__

    @functools.wraps(checked)
    def init(self: T, *args: object, **kwargs: object) -> None:
        try:
            checked(self, *args, **kwargs)
        except ValidationError as error:
            name = kwargs.get("name", args[0] if args else None)
            raise SwelltreeError(_sentence(built, name, error)) from None

    built.__init__ = init  # pyright: ignore[reportAttributeAccessIssue]
    # read only where somebody asks, in a notebook or in the docs
    built.__signature__ = Readable()  # pyright: ignore[reportAttributeAccessIssue]
    built.__doc__ = InheritedHelp(cls.__doc__ or "")  # pyright: ignore[reportAttributeAccessIssue]
    return cast(type[T], built)


def _label(cls: type, name: object) -> str:
    has_name = any(field.name == "name" for field in dataclasses.fields(cls))
    word = getattr(cls, "kind", cls.__name__)
    return f"{word} '{name}'" if has_name and isinstance(name, str) else word


def _article(word: str) -> str:
    return "an" if word[:1] in "aeiou" else "a"


def _sentence(cls: type, name: object, error: ValidationError) -> str:
    """First validation error of pydantic as a message of this package."""
    mistake = error.errors()[0]
    # positional arguments come as numbers: turn them into field names
    fields = [field.name for field in dataclasses.fields(cls) if field.init]
    positional = [
        field.name for field in dataclasses.fields(cls) if field.init and not field.kw_only
    ]
    where = mistake["loc"][0] if mistake["loc"] else ""
    if isinstance(where, int) and where < len(positional):
        where = positional[where]
    label, what = _label(cls, name), getattr(cls, "type", "") or getattr(cls, "kind", cls.__name__)
    match mistake["type"]:
        case "missing" | "missing_argument":
            return f"{label}: '{where}' is missing. Give it; {_article(what)} {what} needs it."
        case "unexpected_keyword_argument":
            synonym = SYNONYMS.get(str(where), "")
            hint = f" Did you mean '{synonym}'?" if synonym in fields else suggest(where, fields)
            return f"{label}: {_article(what)} {what} has no '{where}'." + (
                hint or f" It has {', '.join(fields)}."
            )
        case "unexpected_positional_argument":
            most = len(positional)
            return f"{label}: at most {most} values can be given without a name. Name the others."
        case "multiple_argument_values":
            return f"{label}: '{where}' is given twice. Give it once."
        case "value_error":
            return f"{label}: {where} {mistake['ctx']['error']}"  # pyright: ignore
        case _:
            return f"{label}: {where} {shown(mistake['input'])} cannot be used ({mistake['msg']})."


# --- Signatures of descriptions as a reader wants them: plain types, no machinery of checks


def help_of_arguments(item: object) -> dict[str, str]:
    """Help text of each argument in the docstring of a function or class."""
    return _arguments_in(inspect.getdoc(item) or "")


def _arguments_in(text: str) -> dict[str, str]:
    _, _, block = text.partition("Args:\n")
    block = inspect.cleandoc(block.partition("\n\n")[0])
    rows = [row.partition(":") for row in re.split(r"\n(?=\w+:)", block)]
    return {name.strip(): " ".join(text.split()) for name, _, text in rows if text}


def plain_signature(cls: type) -> inspect.Signature:
    """The arguments of a description with plain types.

    Args:
        cls: a dataclass.
    """
    hints = typing.get_type_hints(cls)  # without the extras of Annotated
    kinds = inspect.Parameter
    rows = []
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        kind = kinds.KEYWORD_ONLY if field.kw_only else kinds.POSITIONAL_OR_KEYWORD
        rows.append(
            kinds(
                field.name,
                kind,
                default=kinds.empty if default is dataclasses.MISSING else default,
                annotation=_plain(hints[field.name]),
            )
        )
    return inspect.Signature(sorted(rows, key=lambda row: row.kind))


def _plain(hint: object) -> object:
    """Type as text without validators."""
    if hint is Any:
        return inspect.Parameter.empty
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        known = [_plain(part) for part in parts]
        if inspect.Parameter.empty in known:
            return inspect.Parameter.empty
        return typing.Union[tuple(known)]  # noqa: UP007
    return hint
