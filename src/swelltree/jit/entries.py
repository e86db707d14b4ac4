"""Programs found on disk before anything is traced.

A program is named by the content of its function, by the structure, shapes and pattern of its
arguments, by the text of this package, the versions of those that compute, LLVM and the processor.
An entry states how its memory is laid out and which object code it is; or why there is none, so
that what cannot be flattened is not tried again. Functions of the user's own are not looked for
here: what they read while they are traced cannot be known.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from swelltree.jit import cache
from swelltree.jit.arrays import Tree
from swelltree.jit.backend import cache_folder
from swelltree.jit.fingerprint import Contents, hashed, versions
from swelltree.jit.native import compiler
from swelltree.jit.traced_types import DType, Shaped
from swelltree.jit.trees import flatten

Outputs = list[tuple[int, tuple[int, ...], DType]]


@dataclass(frozen=True)
class Layout:
    """How the memory of a program is laid out; see `program.Compiled`.

    Args:
        code: name of the object code on disk.
        tables: large constants.
        turns: matrices that follow transposed.
        outs: place, shape and type of the results.
        size: numbers of all results.
        work: of working memory.
        names: of the results, where they are a dictionary of arrays; else None.
        steady: which results are the same at all points, of programs of many.
    """

    code: str
    tables: np.ndarray
    turns: list[tuple[int, tuple[int, ...]]]
    outs: Outputs
    size: int
    work: int
    names: list[str] | None
    steady: list[bool] = field(default_factory=list)


class Entry:
    """The place of one program on disk.

    Args:
        name: of the entry.
        folder: of all entries; None: nothing is kept.
    """

    def __init__(self, name: str, folder: Path | None) -> None:
        self.name, self.folder = name, folder

    def content(self) -> tuple[dict[str, Tree], bytes] | str | None:
        """Header of the entry and the bytes behind it, a refusal, or None: nothing is known."""
        content = cache.read(self.folder, self.name)
        if content is None:
            return None
        head, _, rest = content.partition(b"\n")
        reported = json.loads(head)
        return str(reported["refused"]) if "refused" in reported else (reported, rest)

    def read(self) -> tuple[Layout, bytes] | str | None:
        """Layout and object code, a reason why there are none, or None: nothing is known."""
        found = self.content()
        if found is None or isinstance(found, str):
            return found
        reported, tables = found
        code = cache.read(self.folder, reported["code"])
        if code is None:
            return None
        turns = [(at, tuple(shape)) for at, shape in reported["turns"]]
        outs = [(at, tuple(shape), np.dtype(kind)) for at, shape, kind in reported["outs"]]
        layout = Layout(
            reported["code"],
            np.frombuffer(tables, dtype=np.float64),
            turns,
            outs,
            reported["size"],
            reported["work"],
            reported["names"],
            reported["steady"],
        )
        return layout, code

    def write(self, layout: Layout) -> None:
        reported = {
            "code": layout.code,
            "turns": layout.turns,
            "outs": [(at, shape, dtype.name) for at, shape, dtype in layout.outs],
            "size": layout.size,
            "work": layout.work,
            "names": layout.names,
            "steady": layout.steady,
        }
        head = json.dumps(reported).encode() + b"\n"
        cache.write(self.folder, self.name, head + layout.tables.tobytes())

    def refuse(self, reason: str) -> None:
        cache.write(self.folder, self.name, json.dumps({"refused": reason}).encode() + b"\n")


class _Unnumbered(str):
    """The place of a number among arguments; of its shape, which classes may look at."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @classmethod
    def like(cls, place: int, number: Shaped) -> _Unnumbered:
        result = cls(f"number {place}")
        known = hasattr(number, "dtype")  # arrays that are being traced have no numbers
        result.shape = np.shape(number)
        result.dtype = np.dtype(number.dtype) if known else np.asarray(number).dtype
        return result


def entry_of(
    functions: tuple[Callable[..., Tree] | None, ...],
    args: tuple[Tree, ...],
    pattern: bytes,
    kinds: object,
) -> Entry | None:
    """The place of the program of functions; None where something cannot be named by its content.

    Args:
        functions: the one that is to be traced, and what gives the structure of its results.
        args: arguments of both.
        pattern: what shapes the program of the numbers of fixed arguments.
        kinds: shapes and types of all arguments, as a flat list.
    """
    folder = cache.private_folder(cache_folder())
    if folder is None:
        return None
    contents = Contents(all_code=True)
    parts = contents.of(functions), contents.of(_without_numbers(args)), str(kinds), pattern
    if contents.unsure:
        return None
    return Entry(hashed("program 1", *_surroundings(), *parts), folder)


def _without_numbers(tree: Tree) -> Tree:
    leaves, form = flatten(tree)
    return form.unflatten([_Unnumbered.like(k, x) for k, x in enumerate(leaves)])


def users_code(tree: Tree) -> str:
    """Fingerprint of the functions and classes of the user's own in a tree; empty without any.

    What they read (globals, what they close over, fields) counts, the arrays of the tree do not.
    """
    contents = Contents()
    found = contents.of(_without_numbers(tree))
    return found if contents.unsure else ""


@functools.cache
def _surroundings() -> tuple[str, ...]:
    return *versions(), *compiler()


def names_of(tree: Tree) -> list[str] | None:
    """Names of results that are a dictionary of arrays; else None."""
    example = tree.unflatten(list(range(tree.num_leaves)))
    if not isinstance(example, dict) or list(example.values()) != list(range(len(example))):
        return None
    return list(example) if all(isinstance(name, str) for name in example) else None
