"""What the numbers of a campaign's cases depend on, as one hash.

The model counts by its content, functions of the user by their code (`engine.contents`). Arrays are
rounded to seven digits and the fit of the radiation memory counts by its sizes, so that a store is
known again on a machine whose libraries round in another way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.engine.contents import Contents, hashed
from swelltree.engine.trees import leaves_of
from swelltree.model.model import Model
from swelltree.model.values.described import Described

NOISE = 1e-13  # of the largest number of an array: nothing but rounding


class Rounded(Contents):
    """Hashes of objects whose arrays count by seven digits."""

    def _array(self, array: np.ndarray) -> str:
        if array.dtype.kind not in "fc" or not array.size:
            return super()._array(array)
        size = np.abs(np.where(np.isfinite(array), array, 0.0))
        array = np.where(np.isfinite(array) & (size <= NOISE * size.max()), 0.0, array)
        with np.errstate(over="ignore"):  # numbers that mean "no limit" become infinite
            short = array.astype(np.complex64 if array.dtype.kind == "c" else np.float32)
        return super()._array(np.asarray(short + 0.0))  # no zero below zero


def campaign_key(model: Model, *others: object) -> str:
    """Hash of a model and of all else that the numbers of its cases depend on.

    Args:
        model: from `compile`.
        others: the sea, options.
    """
    contents = Rounded()
    parts = [_sizes_of_memory(model), model.replace(described=Described()), *others]
    hydro = model.hydro
    if hydro is not None and hydro.memory is not None:
        parts[1] = model.with_effect(replace(hydro, memory=None)).replace(described=Described())
    return hashed(*(contents.of(part) for part in parts))[:32]


def _sizes_of_memory(model: Model) -> list[object]:
    """What the water remembers, by its kind and the sizes of its arrays."""
    hydro = model.hydro
    if hydro is None or hydro.memory is None:
        return []
    sizes = [np.shape(leaf) for leaf in leaves_of(hydro.memory)]
    return [type(hydro.memory).__name__, hydro.memory.kept_step, *sizes]
