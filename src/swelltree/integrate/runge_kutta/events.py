"""Events: moments at which the equations change, found in time and not stepped over.

An event is a value g(t, y) that falls through zero: it was positive at the start of a step and
is not at its end. Such a step is not taken. The time is enclosed between a point before the
event and one behind it, by the secant rule with doubled steps from the nearer end (so that both
ends close in), until the enclosure is shorter than `TOLERANCE`; then the step is taken and
`Problem.switch` changes y. Equations are smooth within every step that is taken.

A value that is not positive is asleep: it must first rise above zero.
"""

from __future__ import annotations

from swelltree.jit import Array, jnp

TOLERANCE = 1e-10  # s, relative above one second


def falls(before: Array, after: Array) -> Array:
    """Which values fall through zero, (k,)."""
    return (before > 0.0) & (after <= 0.0)


def width(t: Array) -> Array:
    """Time tolerance of event location [s]."""
    return TOLERANCE * jnp.maximum(1.0, jnp.abs(t))


def next_try(t: Array, before: Array, crossing: Array, excess: Array) -> Array:
    """Step to try next towards a known crossing; infinite where none is known [s].

    Args:
        t: now [s].
        before: values now (k,).
        crossing: a time behind the event, infinite if none is known [s].
        excess: values there (k,).
    """
    known = jnp.isfinite(crossing)
    gap = jnp.where(known, crossing - t, 1.0)
    falling = falls(before, excess)
    part = before / jnp.where(falling, before - excess, 1.0)
    part = jnp.min(jnp.where(falling, part, 1.0), initial=1.0)
    part = jnp.where(part < 0.5, jnp.minimum(2.0 * part, 0.5), jnp.maximum(2.0 * part - 1.0, 0.5))
    least = 0.4 * width(t)
    step = jnp.where(gap <= width(t), gap, jnp.clip(part * gap, least, gap - least))
    return jnp.where(known, step, jnp.inf)
