"""Signatures of descriptions as a reader wants them: plain types, no machinery of checks."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from typing import Any


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
    """A type without what checks it; empty where nothing is said."""
    if hint is Any:
        return inspect.Parameter.empty
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        known = [_plain(part) for part in parts]
        if inspect.Parameter.empty in known:
            return inspect.Parameter.empty
        return typing.Union[tuple(known)]  # noqa: UP007
    return hint
