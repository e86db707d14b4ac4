"""Largest, smallest and mean values of channels between samples, kept step by step.

The mean is that of the trapezoidal rule over the steps, which need not be of equal length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swelltree.jit import Array, Shaped, jax, jnp, mapped, namespace

SUFFIXES = ("_max", "_min", "_mean")


class Extremes(NamedTuple):
    """Extremes of channels since the last sample; {name: array} each but the last two."""

    largest: dict[str, Array]
    smallest: dict[str, Array]
    integral: dict[str, Array]
    latest: dict[str, Array]  # values at the end of the last step
    span: Array  # s, since the last sample
    any_known: Array  # False: nothing is known yet


def nothing_known(channels: dict[str, Shaped]) -> Extremes:
    """Before the first values of channels of these shapes."""
    zero = {name: np.zeros(x.shape) for name, x in channels.items()}
    return Extremes(zero, zero, zero, zero, np.zeros(()), np.zeros((), bool))


def known_now(channels: dict[str, Array]) -> Extremes:
    """Extremes just after a sample."""
    now = {name: namespace(x).asarray(x, dtype=float) for name, x in channels.items()}
    zero = mapped(lambda x: np.zeros(x.shape), now)
    return Extremes(now, now, zero, now, np.zeros(()), np.ones((), bool))


def with_step(known: Extremes, channels: dict[str, Array], step: Array) -> Extremes:
    """With the values at the end of one more step.

    Args:
        known: so far.
        channels: values at the end of the step.
        step: its length [s].
    """
    fresh = known_now(channels)
    now = fresh.latest
    each = jax.tree.map
    longer = Extremes(
        each(jnp.maximum, known.largest, now),
        each(jnp.minimum, known.smallest, now),
        each(lambda i, a, b: i + 0.5 * step * (a + b), known.integral, known.latest, now),
        now,
        known.span + step,
        known.any_known,
    )
    return each(lambda a, b: jnp.where(known.any_known, a, b), longer, fresh)


def as_channels(known: Extremes) -> dict[str, Array]:
    """Channels `<name>_max`, `<name>_min` and `<name>_mean`."""
    xp = namespace(known.span, *known.latest.values())
    full = known.span > 0.0
    span = xp.where(full, known.span, 1.0)
    out = {}
    for name, latest in known.latest.items():
        mean = xp.where(full, known.integral[name] / span, latest)
        values = known.largest[name], known.smallest[name], mean
        out |= {f"{name}{suffix}": x for suffix, x in zip(SUFFIXES, values, strict=True)}
    return out
