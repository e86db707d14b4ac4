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
            dim = effect.dims.get(name, ("",))[0]
            if effect.prefix or not dim:
                found[effect.prefix + name] = values
            elif name not in found:
                blocks = [(own.get(name), rows_of(other, dim, layout)) for other, own in parts]
                found[name] = joined_rows(blocks)
    return found


def rows_of(effect: Effect, dim: str, layout: Any) -> int:
    """How many rows of a shared dimension are an effect's; none where it has another prefix."""
    known = {} if effect.prefix else effect.coordinates(layout)
    return len(known[dim][1]) if dim in known else 0


def joined_rows(blocks: Sequence[tuple[Array | None, int]]) -> Array:
    """Blocks of rows below each other; rows that an effect does not tell are not a number.

    Short rows begin with their first entry, again and again: nodes of lines that are idle are at
    end A.

    Args:
        blocks: values or None, and the number of rows.
    """
    told = [values for values, _ in blocks if values is not None]
    if len(told) == 1 and sum(count for _, count in blocks) == told[0].shape[0]:
        return told[0]
    xp = namespace(*told)
    shape = tuple(max(sizes) for sizes in zip(*(x.shape[1:] for x in told), strict=True))
    rows = []
    for values, count in blocks:
        if values is None:
            rows.append(np.full((count, *shape), np.nan))
            continue
        short = shape[0] - values.shape[1] if shape else 0
        values = xp.asarray(values, dtype=float)
        if short:
            values = xp.concatenate([xp.repeat(values[:, :1], short, axis=1), values], axis=1)
        rows.append(values)
    return xp.concatenate(rows)
