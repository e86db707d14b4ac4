"""What was found for a tree of arrays, to be found again for the same tree."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from swelltree.jit import Array, Tree, flatten, is_tracer

MAX_COMPARED = 64  # numbers: such arrays are compared, larger ones must be the same object


def _same(a: Array, b: Array) -> bool:
    if a is b:
        return True
    if np.shape(a) != np.shape(b) or np.size(a) > MAX_COMPARED:
        return False
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))


class Remembered:
    """Cache of findings for a few trees; arrays must not change in place."""

    def __init__(self, most: int = 8) -> None:
        self.most = most
        self.entries: list[tuple[object, list[Array], dict[Hashable, Any]]] = []

    def about(self, tree: Tree) -> dict[Hashable, Any]:
        """Findings for a tree; empty for a new one."""
        leaves, structure = flatten(tree)
        if any(map(is_tracer, leaves)):
            return {}
        for known, values, notes in reversed(self.entries):
            if known == structure and all(map(_same, values, leaves)):
                return notes
        notes: dict[Hashable, Any] = {}
        self.entries = [*self.entries[-self.most + 1 :], (structure, leaves, notes)]
        return notes
