"""Arrays in any nesting, taken apart and put together: `jax.tree` without its import.

Where JAX is imported it does the work and its own structures are used; else the same is done here
for tuples, lists, dictionaries, None and classes made by `arrays.pytree`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from swelltree.engine.arrays import Tree, fields_of
from swelltree.engine.backend import jax
from swelltree.engine.late import is_imported


@dataclass(frozen=True)
class Structure:
    """What is left of a tree without its arrays.

    Args:
        kind: class of a node; None: an array.
        about: keys of a dictionary, or the static fields of a class.
        parts: below the node.
        num_leaves: arrays below the node.
    """

    kind: type | None
    about: Any
    parts: tuple[Structure, ...]
    num_leaves: int

    def unflatten(self, leaves: list[Any]) -> Any:
        """The tree with these arrays."""
        if len(leaves) != self.num_leaves:
            raise ValueError(f"{len(leaves)} arrays for a tree of {self.num_leaves}")
        return self._made(iter(leaves))

    def _made(self, leaves: Any) -> Any:
        if self.kind is None:
            return next(leaves)
        if self.kind is type(None):
            return None
        parts = [part._made(leaves) for part in self.parts]
        if self.kind is dict:
            return dict(zip(self.about, parts, strict=True))
        if self.kind in (tuple, list):
            return self.kind(parts)
        if hasattr(self.kind, "_fields"):
            return self.kind(*parts)
        data, static = fields_of(self.kind) or ((), ())
        named = dict(zip(static, self.about, strict=True)) | dict(zip(data, parts, strict=True))
        return self.kind(**named)


_ARRAY = Structure(None, None, (), 1)
_NONE = Structure(type(None), None, (), 0)


def flatten(tree: Tree) -> tuple[list[Any], Any]:
    """Arrays of a tree one by one, and its structure."""
    if is_imported("jax"):
        return jax.tree.flatten(tree)
    leaves: list[Any] = []
    return leaves, _taken_apart(tree, leaves)


def _taken_apart(
    tree: Tree, leaves: list[Any], is_leaf: Callable[[Any], bool] | None = None
) -> Structure:
    """Structure of a tree, whose arrays are added to the leaves."""
    if is_leaf is not None and is_leaf(tree):
        leaves.append(tree)
        return _ARRAY
    if tree is None:
        return _NONE
    kind, about = type(tree), None
    if kind is dict:
        about = tuple(sorted(tree))
        below = [tree[key] for key in about]
    elif kind in (tuple, list) or (isinstance(tree, tuple) and hasattr(kind, "_fields")):
        below = tree
    else:
        fields = fields_of(kind)
        if fields is None:
            leaves.append(tree)
            return _ARRAY
        data, static = fields
        about = tuple(getattr(tree, name) for name in static)
        below = [getattr(tree, name) for name in data]
    parts = tuple(_taken_apart(x, leaves, is_leaf) for x in below)
    return Structure(kind, about, parts, sum(part.num_leaves for part in parts))


def in_words_of_jax(structure: Any) -> Any:
    """The same structure as `flatten` gives it once JAX is imported."""
    if not isinstance(structure, Structure):
        return structure
    return jax.tree.structure(structure.unflatten([0] * structure.num_leaves))


def leaves_of(tree: Tree, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Arrays of a tree one by one, and whole nodes of which `is_leaf` says that they count so."""
    if is_imported("jax"):
        return jax.tree.leaves(tree, is_leaf=is_leaf)
    leaves: list[Any] = []
    _taken_apart(tree, leaves, is_leaf)
    return leaves


def structure_of(tree: Tree) -> Any:
    """Structure of a tree."""
    return flatten(tree)[1]


def mapped(
    function: Callable[..., Any],
    tree: Tree,
    *others: Tree,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Tree:
    """A tree of the results of a function of every array, and of those at its place in others.

    Args:
        function: of arrays.
        tree: of arrays.
        others: trees of the same structure.
        is_leaf: says of whole nodes that they count as arrays.
    """
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
