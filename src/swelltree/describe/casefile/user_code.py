"""Code that a case file names: found beside the case, and only when the case asks for it."""

import importlib.util
import sys
from pathlib import Path

from swelltree.describe.casefile.case import Case
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.forces.signals import PATH


def named_code(case: Case) -> list[str]:
    """All "module:name" references of a case."""
    parts = [case.system, *case.studies, *([] if case.hydro is None else [case.hydro])]
    return sorted({text for part in parts for text in _texts(part.table()) if PATH.fullmatch(text)})


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    rows = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for row in rows for text in _texts(row)]


def use_adjacent_code(case: Case, path: Path) -> None:
    """Let the modules that a case names be found beside it, after all that is installed.

    A case that names none leaves the path as it is, so that no file beside it can stand in for a
    package.

    Args:
        case: as read.
        path: of the case file.
    """
    names = named_code(case)
    if not names:
        return
    folder = path.resolve().parent
    for name in names:
        _refuse_hidden(name, folder)
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _refuse_hidden(name: str, folder: Path) -> None:
    """Reject a module of the case folder that is hidden by an installed one of the same name."""
    top = name.partition(":")[0].partition(".")[0]
    adjacent = [file for file in (folder / f"{top}.py", folder / top) if file.exists()]
    if not adjacent:
        return
    try:
        result = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return
    places = [] if result is None else [result.origin, *(result.submodule_search_locations or ())]
    where = [Path(place).resolve() for place in places if place not in (None, "built-in", "frozen")]
    if result is not None and not any(folder in place.parents for place in where):
        raise SwelltreeError(
            f"'{name}': '{adjacent[0].name}' beside the case is hidden by a module of that name "
            f"({where[0] if where else 'part of Python'}). Give yours another name."
        )
