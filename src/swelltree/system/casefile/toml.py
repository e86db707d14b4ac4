"""Writing TOML: one table per item, its parts in line, so that a case file reads like a list."""

import json

from swelltree.system.named_values import NamedValues


def to_text(document: NamedValues) -> str:
    """A document as TOML text: tables on the first two levels, lists of tables as [[...]]."""
    return "\n\n".join(_section(document, "")).strip() + "\n"


def _section(table: NamedValues, path: str) -> list[str]:
    """The blocks of a table: its own values first, then its lists of tables."""
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
