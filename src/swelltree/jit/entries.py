"""Programs on disk, found before anything is traced.

An entry is named by the content of the function, structure, shapes and pattern of its arguments,
the text of this package, the versions of the libraries, LLVM and the processor. It holds the
layout of a program and which object code it is, or why there is none, so that what cannot
be lowered is not tried again. Functions of the user have no entry: what they read while they are
traced cannot be known.

Entries are pickled: they lie beside object code, and like it are read from the folder of the
user's alone (`cache`).
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from swelltree.jit import cache
from swelltree.jit.arrays import Tree
from swelltree.jit.backend import cache_folder, jax
from swelltree.jit.cache import hashed
from swelltree.jit.fingerprint import Contents, versions
from swelltree.jit.graph import UnsupportedOperationError
from swelltree.jit.native import compiler
from swelltree.jit.traced_types import DType
from swelltree.jit.trees import flatten, mapped

Place = tuple[int, tuple[int, ...], DType]  # where an array begins, its shape and type
Read = frozenset[tuple[int, int, int]]  # start of an array, offset in it, stride of the offsets


@dataclass
class Layout:
    """Memory layout of a program; units are scalars of eight bytes.

    Args:
        code: name of its object code on disk; empty for ensembles, whose targets compile `text`.
        text: LLVM IR of an ensemble, compressed.
        tables: large constants, behind the fixed arguments.
        transposed: (start, shape) of matrices whose transposes follow these.
        outs: places of the results, of ensembles the state first.
        sizes: of what is per case, of the results, and of working memory.
        results: their nesting, with the index of each array in its place; of ensembles without the
            state.
        steady: which results are the same at all points.
        per_case: places of what is per case, the state last.
        read: what an ensemble reads of arrays that are per case.
        constants: by name of constant memory of a GPU kernel, offsets of the fixed scalars in it.
        native: object code, which has an entry of its own.
    """

    code: str
    text: bytes
    tables: np.ndarray
    transposed: list[tuple[int, tuple[int, ...]]]
    outs: list[Place]
    sizes: tuple[int, int, int]
    results: Tree
    steady: list[bool] = field(default_factory=list)
    per_case: list[Place] = field(default_factory=list)
    read: Read = frozenset()
    constants: dict[str, tuple[int, ...]] = field(default_factory=dict)
    native: bytes = field(default=b"", repr=False)


class Entry(NamedTuple):
    name: str
    folder: Path | None

    def read(self) -> Any:
        """What was kept; None: nothing is known."""
        content = cache.read(self.folder, self.name)
        return None if content is None else pickle.loads(content)

    def write(self, thing: object) -> None:
        """Keep something, unless it has parts that another process cannot name."""
        try:
            content = pickle.dumps(thing)
        except (pickle.PicklingError, AttributeError, TypeError):
            return
        cache.write(self.folder, self.name, content)


def known_or_lowered(entry: Entry | None, lower: Callable[[], Layout]) -> Layout | str:
    """The layout of a program from the disk, or made now; or why there is none."""
    found = None if entry is None else entry.read()
    if isinstance(found, Layout) and found.code:
        found.native = cache.read(cache.private_folder(cache_folder()), found.code) or b""
        found = found if found.native else None
    if found is not None:
        return found
    try:
        found = lower()
    except UnsupportedOperationError as error:
        found = str(error)
    if entry is not None:
        entry.write(found if isinstance(found, str) else replace(found, native=b""))
    return found


# --- names ------------------------------------------------------------------------------------
def entry_of(
    functions: tuple[Callable[..., Tree] | None, ...],
    args: tuple[Tree, ...],
    pattern: bytes,
    kinds: object,
) -> Entry | None:
    """The entry of a program; None where something cannot be named by its content.

    Args:
        functions: those that are traced or shape the program.
        args: arguments of these.
        pattern: what the program takes for granted of the values of fixed arguments.
        kinds: shapes and types of all arguments.
    """
    folder = cache.private_folder(cache_folder())
    if folder is None:
        return None
    contents = Contents(all_code=True)
    parts = contents.of(functions), contents.of(_without_arrays(args)), str(kinds), pattern
    if contents.unsure:
        return None
    return Entry(hashed("program 3", *_surroundings(), *parts), folder)


def _without_arrays(tree: Tree) -> Tree:
    _, form = flatten(tree)
    return form.unflatten([f"number {k}" for k in range(form.num_leaves)])


def users_code(tree: Tree) -> str:
    """Fingerprint of the functions and classes of the user's own in a tree; empty without any.

    What they read (globals, what they close over, fields) counts, the arrays of the tree do not.
    """
    contents = Contents()
    found = contents.of(_without_arrays(tree))
    return found if contents.unsure else ""


@functools.cache
def _surroundings() -> tuple[str, ...]:
    return *versions(), *compiler()


# --- shapes of results, traced once and found on disk from then on ---
MAX_SHAPES = 64  # functions and shapes of arguments
_known: dict[Any, Tree] = {}


class Aval(NamedTuple):
    """Shape and type of an array."""

    shape: tuple[int, ...]
    dtype: DType


def shapes_of(function: Callable[..., Any], *args: Any) -> Tree:
    """The results with `Aval` in place of arrays, as `jax.eval_shape` without its import."""
    leaves, structure = flatten(args)
    kinds = tuple((np.shape(x), np.asarray(x).dtype.name) for x in leaves)
    key = function, structure, kinds
    if key not in _known:
        while len(_known) >= MAX_SHAPES:
            _known.pop(next(iter(_known)))
        _known[key] = _found(function, args, kinds)
    return _known[key]


def _found(function: Callable[..., Any], args: tuple[Any, ...], kinds: Any) -> Tree:
    entry = entry_of((function,), args, b"", ("shapes", kinds))
    known = None if entry is None else entry.read()
    if known is None:
        shapes = jax.eval_shape(function, *args)
        known = mapped(lambda x: Aval(tuple(x.shape), np.dtype(x.dtype)), shapes)
        if entry is not None:
            entry.write(known)
    return known
