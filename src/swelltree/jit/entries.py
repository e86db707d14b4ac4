"""Programs on disk, found before anything is traced.

An entry is named by the content of the function, structure, shapes and pattern of its arguments,
the text of this package, the versions of the libraries, LLVM and the processor. It states the
memory layout of a program and which object code it is, or why there is none, so that what cannot
be lowered is not tried again. Functions of the user have no entry: what they read while they are
traced cannot be known.
"""

from __future__ import annotations

import functools
import importlib
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from swelltree.jit import cache
from swelltree.jit.arrays import Tree, fields_of
from swelltree.jit.backend import cache_folder
from swelltree.jit.fingerprint import Contents, hashed, versions
from swelltree.jit.graph import UnsupportedOperationError
from swelltree.jit.native import compiler
from swelltree.jit.traced_types import DType, Shaped
from swelltree.jit.trees import TreeDef, flatten, structure_of

OURS = "swelltree."  # modules whose classes results may be made of
Place = tuple[int, tuple[int, ...], DType]  # where an array begins, its shape and type
Read = frozenset[tuple[int, int, int]]  # start of an array, offset in it, stride of the offsets


@dataclass
class Layout:
    """Memory layout of a program; units are scalars of eight bytes.

    Args:
        code: name of its object code on disk; empty for ensembles, whose targets compile `text`.
        text: LLVM IR of an ensemble.
        tables: large constants, behind the fixed arguments.
        transposed: (start, shape) of matrices whose transposes follow these.
        outs: places of the results, of ensembles the state first.
        sizes: of what is per case, of the results, and of working memory.
        words: nesting of the results, where it can be described; of ensembles without the state.
        steady: which results are the same at all points.
        per_case: places of what is per case, the state last.
        read: what an ensemble reads of arrays that are per case.
        constants: by name of constant memory of a GPU kernel, offsets of the fixed scalars in it.
    """

    code: str
    text: str
    tables: np.ndarray
    transposed: list[tuple[int, tuple[int, ...]]]
    outs: list[Place]
    sizes: tuple[int, int, int]
    words: object = None
    steady: list[bool] = field(default_factory=list)
    per_case: list[Place] = field(default_factory=list)
    read: Read = frozenset()
    constants: dict[str, tuple[int, ...]] = field(default_factory=dict)
    native: bytes = field(default=b"", repr=False)  # object code, which has an entry of its own

    def to_bytes(self) -> bytes:
        """A header in JSON, then the text and the tables."""
        text = zlib.compress(self.text.encode(), 1)
        header = {
            "code": self.code,
            "text": len(text),
            "transposed": self.transposed,
            "outs": [(at, shape, dtype.name) for at, shape, dtype in self.outs],
            "sizes": self.sizes,
            "words": self.words,
            "steady": self.steady,
            "per_case": [(at, shape, dtype.name) for at, shape, dtype in self.per_case],
            "read": sorted(self.read),
            "constants": self.constants,
        }
        return json.dumps(header).encode() + b"\n" + text + self.tables.tobytes()

    @classmethod
    def from_bytes(cls, header: dict[str, Any], rest: bytes) -> Layout:
        size = header.pop("text")

        def as_places(found: list[Any]) -> list[Place]:
            return [(at, tuple(shape), np.dtype(kind)) for at, shape, kind in found]

        return cls(
            header["code"],
            zlib.decompress(rest[:size]).decode(),
            np.frombuffer(rest[size:], np.float64),
            [(at, tuple(shape)) for at, shape in header["transposed"]],
            as_places(header["outs"]),
            tuple(header["sizes"]),
            header["words"],
            header["steady"],
            as_places(header["per_case"]),
            frozenset((a, b, c) for a, b, c in header["read"]),
            {name: tuple(offsets) for name, offsets in header["constants"].items()},
        )


class Entry(NamedTuple):
    name: str
    folder: Path | None

    def beside(self, *parts: str) -> Entry:
        return Entry(hashed(*parts, self.name), self.folder)

    def read(self) -> Layout | str | None:
        """Its layout, a reason why there is none, or None: nothing is known."""
        content = cache.read(self.folder, self.name)
        if content is None:
            return None
        head, _, rest = content.partition(b"\n")
        header = json.loads(head)
        if "refused" in header:
            return str(header["refused"])
        layout = Layout.from_bytes(header, rest)
        layout.native = (cache.read(self.folder, layout.code) if layout.code else b"") or b""
        return layout if layout.native or not layout.code else None

    def write(self, layout: Layout) -> None:
        """Keep what was found by tracing."""
        cache.write(self.folder, self.name, layout.to_bytes())

    def refuse(self, reason: str) -> None:
        """Keep why there is no program."""
        cache.write(self.folder, self.name, json.dumps({"refused": reason}).encode() + b"\n")


def known_or_lowered(
    entry: Entry | None,
    lower: Callable[[], Layout],
    is_usable: Callable[[Layout], bool] = lambda layout: True,
) -> Layout | str:
    """The layout of a program from the disk, or made now; or why there is none.

    Args:
        entry: of the program; None where it has none.
        lower: traces and lowers it.
        is_usable: whether a layout says all that is needed to run it without tracing.
    """
    found = None if entry is None else entry.read()
    if isinstance(found, str) or (found is not None and is_usable(found)):
        return found
    try:
        layout = lower()
    except UnsupportedOperationError as error:
        if not error.lasts:
            raise
        if entry is not None:
            entry.refuse(str(error))
        return str(error)
    if entry is not None and is_usable(layout):
        entry.write(layout)
    return layout


# --- names ------------------------------------------------------------------------------------
class _ArrayStub(str):
    """What stands for an array in arguments that are hashed: its index, shape and type."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @classmethod
    def of(cls, index: int, array: Shaped) -> _ArrayStub:
        result = cls(f"number {index}")
        result.shape = np.shape(array)
        is_typed = hasattr(array, "dtype")  # arrays that are being traced have no values
        result.dtype = np.dtype(array.dtype) if is_typed else np.asarray(array).dtype
        return result


def entry_of(
    functions: tuple[Callable[..., Tree] | None, ...],
    args: tuple[Tree, ...],
    pattern: bytes,
    kinds: object,
) -> Entry | None:
    """The entry of a program; None where something cannot be named by its content.

    Args:
        functions: the one that is to be traced, and what gives the structure of its results.
        args: arguments of both.
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
    return Entry(hashed("program 2", *_surroundings(), *parts), folder)


def _without_arrays(tree: Tree) -> Tree:
    leaves, form = flatten(tree)
    return form.unflatten([_ArrayStub.of(k, x) for k, x in enumerate(leaves)])


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


# --- nesting of results -----------------------------------------------------------------------
def words_of(tree: TreeDef) -> object:
    """A structure as JSON; None where it has parts that cannot be named."""
    return _words(tree.unflatten(list(range(tree.num_leaves))))


def structure_of_words(words: object) -> TreeDef:
    return structure_of(_built(words))


def _words(tree: Tree) -> object:
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


class Outline(NamedTuple):
    """What tracing gives besides the program.

    Args:
        used: which arrays of the first argument it needs.
        tree: of its results.
        avals: shapes and types of its results.
    """

    used: list[bool]
    tree: TreeDef
    avals: list[Aval]


class Aval(NamedTuple):
    shape: tuple[int, ...]
    dtype: DType


def read_outline(entry: Entry) -> Outline | None:
    """From the disk; None where nothing is known."""
    content = cache.read(entry.folder, entry.name)
    if content is None:
        return None
    found = json.loads(content)
    avals = [Aval(tuple(shape), np.dtype(kind)) for shape, kind in found["avals"]]
    return Outline(found["used"], structure_of_words(found["tree"]), avals)


def write_outline(entry: Entry, outline: Outline) -> bool:
    """Keep what tracing gave; False where the nesting of the results cannot be described."""
    words = words_of(outline.tree)
    if words is None:
        return False
    avals = [(list(x.shape), np.dtype(x.dtype).name) for x in outline.avals]
    content = {"used": outline.used, "tree": words, "avals": avals}
    cache.write(entry.folder, entry.name, json.dumps(content).encode())
    return True
