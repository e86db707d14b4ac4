"""Functions by the names under which case files know them."""

import sys
from collections.abc import Callable

from swelltree.system.errors import SwelltreeError


def written_name(function: Callable[..., object]) -> str:
    """The text "module:name" under which a case file can name a function."""
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
