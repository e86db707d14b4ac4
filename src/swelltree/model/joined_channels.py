"""Channels of several effects under one name: rows of one array, effect after effect.

Quasi-static, dynamic and multibody lines of one system all have a `fairlead_tension`. The rows are
in the order of the effects, as those of the coordinate are (`Effect.coordinates`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from swelltree.engine.arrays import Array, namespace
from swelltree.model.effect import Effect


def joined_channels(
    parts: Sequence[tuple[Effect, dict[str, Array]]], layout: Any
) -> dict[str, Array]:
    """All channels by their full names.

    Args:
        parts: effects and their channels.
        layout: of the model.
    """
    found: dict[str, Array] = {}
    for effect, channels in parts:
        for name, values in channels.items():
            dims = effect.dims.get(name, ())
            if effect.prefix or not dims:
                found[effect.prefix + name] = values
            elif name not in found:
                blocks = [(other, own.get(name)) for other, own in parts]
                found[name] = joined_rows(blocks, dims, layout)
    return found


def joined_rows(
    blocks: Sequence[tuple[Effect, Array | None]], dims: tuple[str, ...], layout: Any
) -> Array:
    """Rows of several effects below each other; what an effect does not tell is not a number.

    Short rows begin with idle entries: points of lines at end A, all else zero.

    Args:
        blocks: effects, and their values or None.
        dims: of the values.
        layout: of the model.
    """
    rows = [(values, _rows_of(effect, dims[0], layout)) for effect, values in blocks]
    told = [values for values, _ in rows if values is not None]
    if sum(count > 0 for _, count in rows) == 1:
        return told[0]
    xp = namespace(*told)
    shape = list(told[0].shape[1:])
    if len(dims) > 1:
        sizes = (effect.row_sizes.get(dims[1], 0) for effect, _ in blocks)
        shape[0] = max(shape[0], *sizes)
    whole = []
    for values, count in rows:
        if values is None:
            whole.append(np.full((count, *shape), np.nan))
            continue
        values = xp.asarray(values, dtype=float)
        if shape and shape[0] > values.shape[1]:
            first = values[:, :1] if values.ndim > 2 else 0.0 * values[:, :1]
            idle = xp.repeat(first, shape[0] - values.shape[1], axis=1)
            values = xp.concatenate([idle, values], axis=1)
        whole.append(values)
    return xp.concatenate(whole)


def _rows_of(effect: Effect, dim: str, layout: Any) -> int:
    """How many rows of a shared dimension are an effect's; none where it has another prefix."""
    known = {} if effect.prefix else effect.coordinates(layout)
    return len(known[dim][1]) if dim in known else 0
