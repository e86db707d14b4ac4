"""Numbers of a description by their path in the case file: "bodies.float.mass", "water.depth".

A path is read as the tables of the file are: the list, the name of the item (the place in the list
where parts have no name), then keys down to the number. What is not a real number (names,
choices, counts) and what shapes a hull has no path that can be set.
"""

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.spec import Description
from swelltree.describe.system import System
from swelltree.describe.values import NamedValues

Described = TypeVar("Described", bound=Description)
MESHED = {"hull": "shapes the hull, from which panels and hydrodynamic data are made"}


def is_path(path: str) -> bool:
    """Whether a name begins with a table of the system, as in "bodies.float.mass"."""
    return path.split(".")[0] in {field.name for field in dataclasses.fields(System)}


def number_paths(system: System) -> Iterator[str]:
    """Paths of all numbers and rows of numbers in the description, including hulls."""
    for field in dataclasses.fields(system):
        yield from _below(getattr(system, field.name), field.name)


def _below(value: object, path: str) -> Iterator[str]:
    if is_number(value):
        yield path
    elif not isinstance(value, str):
        for key, part in parts_of(value).items():
            yield from _below(part, f"{path}.{key}")


def is_number(value: object) -> bool:
    """Whether a value is a real number or a row or matrix of them; counts and flags are not."""
    if isinstance(value, tuple):
        return bool(value) and all(is_number(entry) for entry in value)
    return isinstance(value, float)


def _is_pairs(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and bool(value)
        and all(isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], str) for x in value)
    )


def parts_of(value: object) -> NamedValues:
    """Entries of a table or list, by key, name or index."""
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): part for key, part in value.items()}
    if not isinstance(value, tuple):
        return {}
    if _is_pairs(value):
        return dict(value)
    return {getattr(part, "name", None) or str(i): part for i, part in enumerate(value)}


def number_at(system: System, path: str) -> float | tuple:
    """Value of a path: a float or nested tuples of them."""
    value = _found(system, path)
    # a word such as "displacement" stands for a number
    return _checked(_found(system.resolved, path) if isinstance(value, str) else value, path)


def _found(system: System, path: str) -> object:
    value: object = system
    for key in path.split("."):
        value = _part(value, key, path)
    return value


def path_of(system: System, name: str) -> str | None:
    """The path of a number by item and quantity ("float.mass"); None if no item states it."""
    item, _, quantity = name.rpartition(".")
    for table in dataclasses.fields(system):
        rows = getattr(system, table.name)
        parts = rows if isinstance(rows, tuple) else ()
        if any(getattr(part, "name", None) == item for part in parts):
            path = f"{table.name}.{item}.{quantity}"
            try:
                number_at(system, path)
            except SwelltreeError:
                continue
            return path
    return None


def _part(value: object, key: str, path: str) -> object:
    parts = parts_of(value)
    if key in MESHED and parts.get(key) is not None:
        raise SwelltreeError(
            f"'{path}' {MESHED[key]}. Describe the changed system, make its data and compile it."
        )
    if key not in parts:
        known = suggest(key, parts) or (f" There is {listed(parts)}." if parts else "")
        raise SwelltreeError(f"'{path}': there is no '{key}' in the description.{known}")
    return parts[key]


def _checked(value: object, path: str) -> float | tuple:
    if isinstance(value, float | tuple) and is_number(value):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        raise SwelltreeError(
            f"'{path}' is a count, on which sizes depend. Compile the changed system."
        )
    if value is None or value == ():
        raise SwelltreeError(f"'{path}' is not given in the description. Give it a number there.")
    raise SwelltreeError(f"'{path}' is not a number. Compile the changed system.")


def with_numbers(system: System, values: NamedValues) -> System:
    """The system with other numbers, by path, checked again with all of them in place."""
    tree: dict[str, Any] = {}
    for path, value in values.items():
        number_at(system, path)
        *above, last = path.split(".")
        branch = tree
        for key in above:
            branch = branch.setdefault(key, {})
        branch[last] = value
    changed = _changed(system, tree)
    assert isinstance(changed, System)
    return changed


def _changed(value: object, new: Any) -> object:
    """The value with the numbers of a tree of keys replaced."""
    if not isinstance(new, dict):
        return new
    old = parts_of(value)
    parts = {key: _changed(old[key], below) for key, below in new.items()}
    if dataclasses.is_dataclass(value):
        # of two words for one quantity the other follows
        return value.replace(**parts)  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(value, dict):
        return {name: parts.get(str(name), part) for name, part in value.items()}
    rows = [(name, parts.get(name, part)) for name, part in old.items()]
    return tuple(rows) if _is_pairs(value) else tuple(part for _, part in rows)


def with_number_below(item: Described, path: str, value: Any) -> Described:
    """A sea with another number, checked again; counts and seeds too.

    Args:
        item: described.
        path: "sea.spectrum.Hs": the name of the table before the keys.
        value: the number.
    """
    keys = path.split(".")[1:]
    old = _below_item(item, path)
    if not keys or isinstance(old, bool) or not (isinstance(old, int) or is_number(old)):
        raise SwelltreeError(f"'{path}' is not a number. Describe the changed one.")
    if isinstance(old, int):
        if float(value) != int(value):
            raise SwelltreeError(f"'{path}': {value} is not a whole number. Give one.")
        value = int(value)
    for key in reversed(keys):
        value = {key: value}
    changed = _changed(item, value)
    assert isinstance(changed, type(item))
    return changed


def number_below(item: Description, path: str) -> float | tuple:
    """Value of a path within an item: "sea.spectrum.Hs"."""
    return _checked(_below_item(item, path), path)


def _below_item(item: Description, path: str) -> object:
    value: object = item
    for key in path.split(".")[1:]:
        value = _part(value, key, path)
    return value


def stated_unit(holder: object, keys: Sequence[str]) -> str:
    """Unit of a number below an item, from the docstrings; empty where they give none."""
    found = ""
    for key in keys:
        for cls in type(holder).__mro__ if isinstance(holder, Description) else ():
            about = re.search(rf"\n\s+{key}: (.*?)(?=\n\s+\w+: |\n\n|\Z)", cls.__doc__ or "", re.S)
            unit = about and re.search(r"\[([^\]]+)\]", about[1])
            if unit:
                found = " ".join(unit[1].split())
                break
        holder = parts_of(holder).get(key)
    return found
