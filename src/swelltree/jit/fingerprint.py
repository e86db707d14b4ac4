"""Fingerprint of things by their content: numbers, functions, classes, the text of modules.

Arrays and numbers count by their values, functions of the user by their code, their defaults, what
they close over, the globals they read, and the text of the files that their modules import from
outside the installed packages. Installed packages count by name and version, swelltree by the text
of its files. What a function reads while it runs (a file, the time) cannot be seen from here.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib.metadata
import re
import sys
import sysconfig
import threading
import types
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np

from swelltree.jit.backend import is_jax
from swelltree.jit.cache import hashed

PACKAGE = Path(__file__).resolve().parents[1]
_parser = threading.Lock()  # Python's own counts its depth in one place for all threads
PLAIN = (type(None), bool, int, float, complex, str, bytes, slice, range, type(Ellipsis))


def versions() -> list[str]:
    """Versions of Python, this package (its text) and the packages that compute."""
    packages = ("jax", "jaxlib", "numpy", "scipy", "llvmlite")
    return [sys.version, _own_text(), *(f"{name} {installed_version(name)}" for name in packages)]


def installed_version(package: str) -> str:
    """Version of an installed package; `importlib.metadata.version` imports all of `email`."""
    reported = importlib.metadata.distribution(package).read_text("METADATA") or ""
    line = re.search(r"^Version: *(\S+)", reported, re.MULTILINE)
    return importlib.metadata.version(package) if line is None else line[1]


def content_key(*parts: object) -> str:
    contents = Contents()
    return hashed(*(contents.of(part) for part in parts))


class Contents:
    """Hashes of objects by content, recursively.

    `unsure` is set if the user's own code was met: what it reads while it runs cannot be seen.

    Args:
        all_code: functions of installed packages and of this one count by their code too, not by
            their names alone.
    """

    def __init__(self, all_code: bool = False) -> None:
        self.all_code, self.unsure = all_code, False
        # by id, with the objects, so that no id comes twice
        self._known: dict[int, tuple[str, object]] = {}

    def of(self, thing: object) -> str:
        if isinstance(thing, PLAIN):
            return hashed(type(thing).__name__, repr(thing))
        if isinstance(thing, np.ndarray | np.generic) or is_jax(thing):
            return self._array(np.asarray(thing))
        if getattr(type(thing), "without_content", False):
            return ""
        if id(thing) not in self._known:
            self._known[id(thing)] = ("around in a circle", thing)
            kind = type(thing)
            result = hashed(kind.__module__, kind.__qualname__, *self._parts(thing))
            self._known[id(thing)] = (result, thing)
        return self._known[id(thing)][0]

    def _array(self, array: np.ndarray) -> str:
        if array.dtype == object:
            return hashed(str(array.shape), *(self.of(entry) for entry in array.reshape(-1)))
        return hashed(str(array.dtype), str(array.shape), array.tobytes())

    def _parts(self, thing: object) -> Iterator[str | bytes]:
        if isinstance(thing, tuple | list):
            yield from map(self.of, thing)
        elif isinstance(thing, dict | types.MappingProxyType):
            yield from sorted(hashed(self.of(key), self.of(thing[key])) for key in thing)
        elif isinstance(thing, set | frozenset):
            yield from sorted(map(self.of, thing))
        elif isinstance(thing, types.ModuleType):
            yield from _texts(thing.__name__)
        elif isinstance(thing, type):
            yield from self._of_class(thing)
        elif isinstance(thing, types.CodeType):
            yield from (thing.co_code, self.of(thing.co_consts))
            yield from (*thing.co_names, *thing.co_varnames)
        elif isinstance(thing, types.FunctionType):
            yield from self._of_function(thing)
        elif isinstance(thing, types.MethodType):
            yield from (self.of(thing.__func__), self.of(thing.__self__))
        elif isinstance(thing, functools.partial):  # not its attributes, which JAX looks for
            yield from map(self.of, (thing.func, thing.args, thing.keywords))
        else:
            yield self.of(type(thing))
            yield from self._of_instance(thing)

    def _of_instance(self, thing: object) -> Iterator[str]:
        """Fields of a dataclass; a wrapped function; else what a copy would be made of."""
        if dataclasses.is_dataclass(thing):
            for field in dataclasses.fields(thing):
                yield from (field.name, self.of(getattr(thing, field.name)))
        elif hasattr(thing, "__wrapped__"):
            yield self.of(getattr(thing, "__wrapped__", None))
        else:
            try:
                built = thing.__reduce_ex__(2)
            except Exception:  # a thing without content of its own: a lock, a stream
                self.unsure = True
                built = str(getattr(thing, "__name__", ""))
            # how to make it, from what, and its state; then what a list or table of it holds
            yield from [self.of(built)] if isinstance(built, str) else map(self.of, built[:3])
            for more in [] if isinstance(built, str) else built[3:5]:
                yield self.of(None if more is None else list(more))

    def _of_class(self, cls: type) -> Iterator[str]:
        yield from (cls.__module__, cls.__qualname__)
        if _is_users(cls.__module__):
            self.unsure = True
            yield from _texts(cls.__module__)
            for name, member in sorted(vars(cls).items()):
                function = getattr(member, "fget", None) or getattr(member, "__func__", member)
                if isinstance(function, types.FunctionType):
                    yield from (name, self.of(function))

    def _of_function(self, function: types.FunctionType) -> Iterator[str]:
        """Bindings of any function; of the user's also code and globals."""
        yield from (function.__module__ or "", function.__qualname__)
        if self.all_code or _is_users(function.__module__):
            yield self.of(function.__code__)
        yield from (self.of(function.__defaults__), self.of(function.__kwdefaults__))
        for cell in function.__closure__ or ():
            try:
                yield self.of(cell.cell_contents)
            except ValueError:  # not filled yet
                yield "empty"
        yield from _texts(function.__module__)
        if _is_users(function.__module__):
            self.unsure = True
            for name in sorted(_names(function.__code__)):
                if name in function.__globals__:
                    yield from (name, self.of(function.__globals__[name]))


def _names(code: types.CodeType) -> set[str]:
    inner = (_names(x) for x in code.co_consts if isinstance(x, types.CodeType))
    return set(code.co_names).union(*inner)


def _texts(name: str | None) -> list[str]:
    if not _is_users(name):
        top = sys.modules.get((name or "").partition(".")[0])
        return [str(getattr(top, "__version__", ""))]
    return [part for pair in sorted(_sources(str(name)).items()) for part in pair]


def _sources(name: str) -> dict[str, str]:
    result: dict[str, str] = {}
    waiting = [name]
    while waiting:
        module = waiting.pop()
        file = _file(module)
        if module in result or file is None or not _is_users(module):
            continue
        text = file.read_text(errors="replace")
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        waiting += _imports(text, package)
        # a script may be changed to resume; its functions count by their code
        result[module] = "" if module == "__main__" else text
    return result


def _imports(text: str, package: str) -> list[str]:
    """Modules that a source text imports, at its top or inside functions."""
    try:
        with _parser:
            tree = ast.parse(text)
    except SyntaxError:
        return []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # one dot is the package itself, each further one a package around it
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            source = ".".join(part for part in (base, node.module) if part)
            # what is imported from a package may be a module of it
            names += [source, *(f"{source}.{alias.name}" for alias in node.names)] if source else []
    return [name for name in names if _file(name) is not None]


def _file(module: str) -> Path | None:
    known = sys.modules.get(module)
    origin = getattr(known, "__file__", None)
    if known is None:
        origin = _origin(module)
    path = None if origin is None else Path(origin)
    return path if path is not None and path.suffix == ".py" and path.is_file() else None


def _origin(module: str) -> str | None:
    """File of a module that is not imported; its packages are not imported either."""
    name, places, spec = "", None, None
    for part in module.split("."):
        name = f"{name}.{part}".lstrip(".")
        if spec is not None and places is None:
            return None  # within a module that is no package
        finders = (getattr(finder, "find_spec", None) for finder in sys.meta_path)
        specs = (find(name, places, None) for find in finders if find is not None)
        spec = next((found for found in specs if found is not None), None)
        if spec is None:
            return None
        places = spec.submodule_search_locations
    return None if spec is None else spec.origin


@functools.cache
def _is_installed(place: Path) -> bool:
    """Is a folder of Python's path one into which packages were installed?"""
    ready = (sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib"))
    return (
        any(Path(folder).resolve() in (place, *place.parents) for folder in ready)
        or any(part in ("site-packages", "dist-packages") for part in place.parts)
        or next(place.glob("*.dist-info"), None) is not None
    )


def _place(module: str, path: Path) -> Path:
    inside = module.count(".") + (path.name == "__init__.py")
    return path.parents[min(inside, len(path.parents) - 1)]


def _is_users(module: str | None) -> bool:
    """Is a module neither installed, nor part of Python, nor of swelltree?"""
    if module is None or module in sys.builtin_module_names:
        return False
    if module == "__main__":
        return True
    path = _file(module)
    if path is None:
        return module not in sys.modules  # made on the fly, as tests and notebooks do
    path = path.resolve()
    return PACKAGE not in path.parents and not _is_installed(_place(module, path))


@functools.cache
def _own_text() -> str:
    digest = sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
