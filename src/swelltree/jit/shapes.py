"""`jax.eval_shape` with a cache on disk, which needs no import of JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from swelltree.jit.arrays import Tree
from swelltree.jit.backend import jax
from swelltree.jit.entries import Aval, Outline, entry_of, read_outline, write_outline
from swelltree.jit.trees import flatten

CACHE_SIZE = 64  # functions and shapes of arguments
_known: dict[Any, Tree] = {}


def shapes_of(function: Callable[..., Any], *args: Any) -> Tree:
    """The results with `Aval` in place of arrays, as `jax.eval_shape` without its import.

    Args:
        function: as for `jax.jit`.
        args: trees of arrays.
    """
    leaves, structure = flatten(args)
    kinds = tuple((np.shape(x), np.asarray(x).dtype.name) for x in leaves)
    key = function, structure, kinds
    if key not in _known:
        while len(_known) >= CACHE_SIZE:
            _known.pop(next(iter(_known)))
        _known[key] = _found(function, args, kinds)
    return _known[key]


def _found(function: Callable[..., Any], args: tuple[Any, ...], kinds: Any) -> Tree:
    entry = entry_of((function,), args, b"", ("shapes", kinds))
    outline = None if entry is None else read_outline(entry)
    if outline is None:
        results, tree = flatten(jax.eval_shape(function, *args))
        avals = [Aval(tuple(x.shape), np.dtype(x.dtype)) for x in results]
        outline = Outline([], tree, avals)
        if entry is not None:
            write_outline(entry, outline)
    return outline.tree.unflatten(outline.avals)
