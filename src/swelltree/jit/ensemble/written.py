"""Programs of many cases as they are written, and their place on disk.

An entry holds the text of a program and where its numbers lie; another, beside it, how its results
are nested. Both are named before anything is traced (`machine.entries`).
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from swelltree.jit import cache
from swelltree.jit.arrays import Tree
from swelltree.jit.ensemble.columns import Read, columns_read
from swelltree.jit.entries import Entry
from swelltree.jit.fingerprint import hashed
from swelltree.jit.trace_cache import Outline, Shaped, read_outline, write_outline
from swelltree.jit.traced_types import DType
from swelltree.jit.trees import TreeDef, structure_of

Place = tuple[int, tuple[int, ...], DType]  # where an array begins, its shape and type


class Text(NamedTuple):
    """A program in LLVM's language.

    Args:
        text: of it.
        read: what it reads of a case's own tables.
        constants: by the name of memory of its own, places of the fixed numbers that are put there.
    """

    text: str
    read: Read
    constants: dict[str, tuple[int, ...]] = {}  # noqa: RUF012


@dataclass
class GeneratedKernel:
    """Text of a program of many cases, and where its numbers lie.

    Args:
        text: in LLVM's language.
        read: as of `Text`.
        constants: the same.
        tables: large constants, behind the fixed numbers.
        turns: matrices that follow transposed.
        per_case: places of what is a case's own, the state last.
        outs: places of the results, the state first.
        sizes: numbers of a case's own, of the results and of working memory.
        tree: of the results.
    """

    text: str
    read: Read
    constants: dict[str, tuple[int, ...]]
    tables: list[np.ndarray]
    turns: list[tuple[int, tuple[int, ...]]]
    per_case: list[Place]
    outs: list[Place]
    sizes: tuple[int, int, int]
    tree: TreeDef
    loaded: dict[str, Any] = field(default_factory=dict)  # what ran it keeps here

    def columns(self, *tables: int) -> tuple[int, ...]:
        """Columns that are read of any of some tables, by their numbers in `own`; one at least."""
        found = set()
        for k in tables:
            start, shape, _ = self.per_case[k]
            found |= set(columns_read(self.read, start, shape[-1]))
        return tuple(sorted(found)) or (0,)


def read_program(entry: Entry, state: Tree) -> GeneratedKernel | str | None:
    """A program from the disk, a reason why there is none, or None: nothing is known.

    Args:
        entry: its place.
        state: of one case, which results begin with.
    """
    found = entry.content()
    if found is None or isinstance(found, str):
        return found
    reported, rest = found
    results = read_outline(_of_results(entry))
    if results is None:
        return None
    text = zlib.decompress(rest[: reported["packed"]]).decode()
    return GeneratedKernel(
        text,
        frozenset((a, b, c) for a, b, c in reported["read"]),
        {name: tuple(places) for name, places in reported["constants"].items()},
        [np.frombuffer(rest[reported["packed"] :], np.float64)],
        [(at, tuple(shape)) for at, shape in reported["turns"]],
        _places(reported["per_case"]),
        _places(reported["outs"]),
        tuple(reported["sizes"]),
        structure_of((state, results.tree.unflatten(range(len(results.avals))))),
    )


def write_program(entry: Entry, program: GeneratedKernel) -> None:
    """Keep a program that was traced and written."""
    example = program.tree.unflatten(range(program.tree.num_leaves))[1]
    results = structure_of(example)
    shapes = [Shaped(shape, dtype) for _, shape, dtype in program.outs[-results.num_leaves :]]
    if not results.num_leaves or not write_outline(
        _of_results(entry), Outline([], results, shapes)
    ):
        return
    packed = zlib.compress(program.text.encode(), 1)
    reported = {
        "packed": len(packed),
        "read": sorted(program.read),
        "constants": program.constants,
        "turns": program.turns,
        "per_case": [(at, shape, dtype.name) for at, shape, dtype in program.per_case],
        "outs": [(at, shape, dtype.name) for at, shape, dtype in program.outs],
        "sizes": program.sizes,
    }
    tables = np.concatenate([np.zeros(0), *program.tables]).tobytes()
    head = json.dumps(reported).encode() + b"\n"
    cache.write(entry.folder, entry.name, head + packed + tables)


def _of_results(entry: Entry) -> Entry:
    return Entry(hashed(entry.name, "results"), entry.folder)


def _places(reported: list[Any]) -> list[Place]:
    return [(at, tuple(shape), np.dtype(kind)) for at, shape, kind in reported]
