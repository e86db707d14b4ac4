"""What is known of a traced function: found on disk, where it is, without tracing it."""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import json
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from swelltree.jit import cache
from swelltree.jit.arrays import Tree, fields_of
from swelltree.jit.entries import Entry
from swelltree.jit.traced_types import ClosedProgram, DType
from swelltree.jit.trees import TreeDef, structure_of

OURS = "swelltree."


class Shaped(NamedTuple):
    """Shape and type of an array."""

    shape: tuple[int, ...]
    dtype: DType


@dataclass
class Traced:
    """A function for arguments of some shapes.

    Args:
        trace: gives its program; asked once.
        used: which arrays of the first argument it needs.
        tree: of its results.
        avals: shapes and types of its results.
        given: shapes and types of the arrays of the other arguments.
        weights: how many of these are weights, before the last.
        entry: its place on disk; None where it has none.
        number: of its own.
    """

    trace: Callable[[], ClosedProgram]
    used: list[bool]
    tree: TreeDef | None
    avals: list[Shaped]
    specified: list[Shaped]
    weights: int = 0
    entry: Entry | None = None
    number: int = field(default_factory=functools.partial(next, itertools.count()))

    @functools.cached_property
    def closed(self) -> ClosedProgram:
        return self.trace()


class Outline(NamedTuple):
    """What tracing gives besides the program itself; see `Traced`."""

    used: list[bool]
    tree: TreeDef
    avals: list[Shaped]


def read_outline(entry: Entry) -> Outline | None:
    """From the disk; None where nothing is known."""
    content = cache.read(entry.folder, entry.name)
    if content is None:
        return None
    reported = json.loads(content)
    avals = [Shaped(tuple(shape), np.dtype(kind)) for shape, kind in reported["avals"]]
    example = _built(reported["tree"])
    return Outline(reported["used"], structure_of(example), avals)


def write_outline(entry: Entry, outline: Outline) -> bool:
    """Keep what tracing gave; False where the nesting of the results cannot be written."""
    words = _words(outline.tree.unflatten(list(range(outline.tree.num_leaves))))
    if words is None:
        return False
    avals = [(list(x.shape), np.dtype(x.dtype).name) for x in outline.avals]
    reported = {"used": outline.used, "tree": words, "avals": avals}
    cache.write(entry.folder, entry.name, json.dumps(reported).encode())
    return True


def _words(tree: Tree) -> object:
    """A tree of numbers in words; None where it has parts that cannot be named."""
    if isinstance(tree, int):
        return tree
    kind, below = type(tree), tree
    if tree is None:
        word, below = "none", ()
    elif kind is dict and all(isinstance(key, str) for key in tree):
        word, below = ["dict", *tree], tree.values()
    elif kind in (tuple, list):
        word = kind.__name__
    elif kind.__module__.startswith(OURS) and "." not in kind.__qualname__:
        word = f"{kind.__module__}:{kind.__qualname__}"
        if not isinstance(tree, tuple):
            fields = fields_of(kind)
            if fields is None or fields[1]:
                return None
            below = [getattr(tree, name) for name in fields[0]]
    else:
        return None
    parts = [_words(part) for part in below]
    return None if any(part is None for part in parts) else [word, parts]


def _built(words: Any) -> Tree:
    if isinstance(words, int):
        return words
    word, parts = words
    parts = [_built(part) for part in parts]
    if word == "none":
        return None
    if isinstance(word, list):
        return dict(zip(word[1:], parts, strict=True))
    if word in ("tuple", "list"):
        return parts if word == "list" else tuple(parts)
    module, _, name = word.partition(":")
    cls = getattr(importlib.import_module(module), name)
    if issubclass(cls, tuple):
        return cls(*parts)
    names, _ = fields_of(cls) or ((), ())
    return cls(**dict(zip(names, parts, strict=True)))


# --- Which engine ran the programs of a study, and why it was not native code where it was not

BY_LLVM = "LLVM"


class Ran:
    """Engines of the programs that ran: "LLVM", or "XLA: ..." with the reason."""

    def __init__(self) -> None:
        self.engines: dict[str, None] = {}  # each once, in order

    @property
    def engine(self) -> str:
        """The first that is not native code, or that; empty where nothing ran."""
        others = [engine for engine in self.engines if engine != BY_LLVM]
        return others[0] if others else next(iter(self.engines), "")


_noting: ContextVar[tuple[Ran, ...]] = ContextVar("noting", default=())


def note(engine: str) -> None:
    """A program ran by this engine."""
    if engine:
        for ran in _noting.get():
            ran.engines[engine] = None


@contextlib.contextmanager
def noted(apart: bool = False) -> Iterator[Ran]:
    """Note what runs in here.

    Args:
        apart: it does not count for whoever notes around it.
    """
    ran = Ran()
    token = _noting.set((ran,) if apart else (*_noting.get(), ran))
    try:
        yield ran
    finally:
        _noting.reset(token)
