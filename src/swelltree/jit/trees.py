"""`jax.tree` without its import: trees of arrays, flattened and rebuilt.

Where JAX is imported it does the work; else the same is done here for tuples, lists, dictionaries,
None and classes made by `arrays.pytree`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from swelltree.jit.arrays import Array, Tree, fields_of
from swelltree.jit.backend import jax
from swelltree.jit.lazy_import import is_imported


@runtime_checkable
class TreeDef(Protocol):
    """Structure of a tree, from here or from JAX."""

    @property
    def num_leaves(self) -> int: ...

    def unflatten(self, leaves: Iterable[Any], /) -> Tree: ...


class Structure(NamedTuple):
    """Structure of a tree; a tuple, which is quick to make and compare.

    Args:
        kind: class of a node; None: an array.
        about: keys of a dictionary, or the static fields of a class.
        parts: below the node.
        num_leaves: arrays below the node.
    """

    kind: type | None
    about: tuple[Any, ...]
    parts: tuple[Any, ...]
    num_leaves: int

    def unflatten(self, leaves: Iterable[Any], /) -> Tree:
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(f"{len(leaves)} arrays for a tree of {self.num_leaves}")
        return self._built(iter(leaves))

    def _built(self, leaves: Iterator[object]) -> Tree:
        if self.kind is None:
            return next(leaves)
        if self.kind is type(None):
            return None
        parts = [part._built(leaves) for part in self.parts]
        if self.kind is dict:
            return dict(zip(self.about, parts, strict=True))
        if self.kind in (tuple, list):
            return self.kind(parts)
        if hasattr(self.kind, "_fields"):
            return self.kind(*parts)
        data, static = fields_of(self.kind) or ((), ())
        named = dict(zip(static, self.about, strict=True)) | dict(zip(data, parts, strict=True))
        return self.kind(**named)


_ARRAY = Structure(None, (), (), 1)
_NONE = Structure(type(None), (), (), 0)


def flatten(tree: Tree) -> tuple[list[Array], TreeDef]:
    """Arrays of a tree as a flat list, and its structure."""
    if is_imported("jax"):
        return jax.tree.flatten(tree)
    leaves: list[Array] = []
    return leaves, _taken_apart(tree, leaves)


def _taken_apart(
    tree: Tree, leaves: list[Array], is_leaf: Callable[[Tree], bool] | None = None
) -> Structure:
    if is_leaf is not None and is_leaf(tree):
        leaves.append(tree)
        return _ARRAY
    if tree is None:
        return _NONE
    kind, about, before = type(tree), (), len(leaves)
    if kind is dict:
        about = tuple(sorted(tree))
        below = [tree[key] for key in about]
    elif kind in (tuple, list) or (isinstance(tree, tuple) and hasattr(kind, "_fields")):
        below = tree
    else:
        fields = None if kind is np.ndarray else fields_of(kind)
        if fields is None:
            leaves.append(tree)
            return _ARRAY
        data, static = fields
        about = tuple([getattr(tree, name) for name in static])
        below = [getattr(tree, name) for name in data]
    parts = tuple([_taken_apart(x, leaves, is_leaf) for x in below])
    return Structure(kind, about, parts, len(leaves) - before)


def in_words_of_jax(structure: TreeDef) -> TreeDef:
    """The structure as JAX's `flatten` gives it."""
    if not isinstance(structure, Structure):
        return structure
    return jax.tree.structure(structure.unflatten([0] * structure.num_leaves))


def leaves_of(tree: Tree, is_leaf: Callable[[Tree], bool] | None = None) -> list[Array]:
    """Arrays of a tree as a flat list; nodes for which `is_leaf` is true count as leaves."""
    if is_imported("jax"):
        return jax.tree.leaves(tree, is_leaf=is_leaf)
    leaves: list[Array] = []
    _taken_apart(tree, leaves, is_leaf)
    return leaves


def structure_of(tree: Tree) -> TreeDef:
    return flatten(tree)[1]


def mapped(
    function: Callable[..., Array],
    tree: Tree,
    *others: Tree,
    is_leaf: Callable[[Tree], bool] | None = None,
) -> Tree:
    """A tree of the results of a function of every array, and of those at its place in others."""
    if is_imported("jax"):
        return jax.tree.map(function, tree, *others, is_leaf=is_leaf)
    leaves: list[Any] = []
    structure = _taken_apart(tree, leaves, is_leaf)
    rows = [leaves]
    for other in others:
        more: list[Any] = []
        like = _taken_apart(other, more, is_leaf)
        if like != structure:
            raise ValueError("trees of different structure")
        rows.append(more)
    return structure.unflatten([function(*x) for x in zip(*rows, strict=True)])
