"""Modules that are imported at their first use."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
import threading
from collections.abc import Callable, Iterable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Late(ModuleType):
    """Stands for a module, which is imported when something of it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self.__name__), name)
        self.__dict__[name] = value
        return value


def is_imported(name: str) -> bool:
    """Is a module there, with all that was to be done after its import?

    While a thread is still importing it, it is not there for the others.
    """
    module = sys.modules.get(name)
    return module is not None and not getattr(module.__spec__, "_initializing", False)


def after_import(name: str, function: Callable[[], Any]) -> None:
    """Call a function as soon as somebody has imported a module; now, if it is there already."""
    if name in sys.modules:
        function()
    else:
        sys.meta_path.insert(0, _Waiting(name, function))


class _Waiting(importlib.abc.MetaPathFinder):
    """Finds one module as others do, and calls a function when it is loaded."""

    def __init__(self, name: str, function: Callable[[], object]) -> None:
        self.name, self.function = name, function
        self.asking = threading.local()  # whether this thread is on its way through here

    def find_spec(
        self, fullname: str, path: Iterable[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's own specification: one may ask for it and import nothing."""
        if fullname != self.name or getattr(self.asking, "others", False):
            return None
        self.asking.others = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self.asking.others = False
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def loaded(module: ModuleType) -> None:
            load(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                self.function()

        spec.loader.exec_module = loaded
        return spec
