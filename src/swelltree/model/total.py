"""All effects together: the wrench of every body, energies and powers by element."""

from __future__ import annotations

from typing import Any

from swelltree.engine.arrays import Array, namespace
from swelltree.model.effect import Loads, Now
from swelltree.model.internal_state import AT_REST
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model


def element_names(model: Model) -> tuple[str, ...]:
    """Names of the terms of the energy budget."""
    return tuple(name for effect in model.effects for name in effect.names)


def total_loads(model: Model, t: Array, motion: Motion, internal: Any = AT_REST) -> Loads:
    """Sum of all effects; the elements are those of `element_names`.

    Args:
        model: compiled.
        t: [s].
        motion: of all bodies.
        inner: states of radiation memory and elements.
    """
    now = Now(t, motion, internal)
    parts = [
        (effect.prefix, effect.loads(model, now).booked(motion.v, len(effect.names)))
        for effect in model.effects
    ]
    xp = namespace(motion.pose.p)
    return Loads(
        sum(part.wrench for _, part in parts),
        xp.concatenate([part.potential for _, part in parts]),
        xp.concatenate([part.power for _, part in parts]),
        {prefix + name: x for prefix, part in parts for name, x in part.channels.items()},
    )
