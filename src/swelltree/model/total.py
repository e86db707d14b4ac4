"""All effects together: the wrench of every body, energies and powers by element, channels.

Several effects may have rows of one channel: quasi-static, dynamic and multibody lines of one
system all have a `fairlead_tension`. The rows are in the order of the effects, as those of the
coordinate are (`Effect.coordinates`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from swelltree.engine.arrays import Array, namespace
from swelltree.model.effect import Effect, Loads, Now
from swelltree.model.internal_state import AT_REST, InternalState
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model

if TYPE_CHECKING:
    from swelltree.model.layout import Layout


def element_names(model: Model) -> tuple[str, ...]:
    """Names of the terms of the energy budget."""
    return tuple(name for effect in model.effects for name in effect.names)


def solved_terms(model: Model) -> tuple[str, ...]:
    """Terms of effects that have unknowns, computed by the scheme that solves for them."""
    return tuple(name for effect in model.effects for name in effect.solved_terms)


def total_loads(
    model: Model,
    t: Array,
    motion: Motion,
    internal: InternalState = AT_REST,
    solved: Loads | None = None,
) -> Loads:
    """Sum of all effects; the elements are those of `element_names`.

    Args:
        model: compiled.
        t: [s].
        motion: of all bodies.
        internal: states of radiation memory and elements.
        solved: loads of the effect that has unknowns, where a scheme has solved for them.
    """
    now = Now(t, motion, internal, solved=solved)
    parts = [
        (effect, effect.loads(model, now).booked(motion.v, len(effect.names)))
        for effect in model.effects
    ]
    xp = namespace(motion.pose.p)
    return Loads(
        sum(part.wrench for _, part in parts),
        xp.concatenate([part.potential for _, part in parts]),
        xp.concatenate([part.power for _, part in parts]),
        joined_channels([(effect, part.channels) for effect, part in parts], model.layout),
    )


def joined_channels(
    parts: Sequence[tuple[Effect, dict[str, Array]]], layout: Layout
) -> dict[str, Array]:
    """All channels by their full names.

    Args:
        parts: effects and their channels.
        layout: of the model.
    """
    result: dict[str, Array] = {}
    for effect, channels in parts:
        for name, values in channels.items():
            dims = effect.dims.get(name, ())
            if effect.prefix or not dims:
                result[effect.prefix + name] = values
            elif name not in result:
                blocks = [(e, None if e.prefix else of_effect.get(name)) for e, of_effect in parts]
                result[name] = joined_rows(blocks, dims, layout)
    return result


def joined_rows(
    blocks: Sequence[tuple[Effect, Array | None]], dims: tuple[str, ...], layout: Layout
) -> Array:
    """Rows of several effects below each other; what an effect does not give is NaN.

    Short rows begin with idle entries: points of lines at end A, all else zero.

    Args:
        blocks: effects, and their values or None.
        dims: of the values.
        layout: of the model.
    """
    rows = [(values, _rows_of(effect, dims[0], layout)) for effect, values in blocks]
    known = [values for values, _ in rows if values is not None]
    if sum(count > 0 for _, count in rows) == 1:
        return known[0]
    xp = namespace(*known)
    shape = list(known[0].shape[1:])
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


def _rows_of(effect: Effect, dim: str, layout: Layout) -> int:
    """How many rows of a shared dimension are an effect's; none where it has another prefix."""
    known = {} if effect.prefix else effect.coordinates(layout)
    return len(known[dim][1]) if dim in known else 0
