"""Power take-offs in linear studies: the slope of their force at rest, and what that leaves out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.model.forces.controllers import pto_group
from swelltree.model.forces.laws.damper import Damper
from swelltree.model.forces.loads import Now
from swelltree.model.inner import inner_at_rest
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array
from swelltree.spatial.engine import jax, jnp


def pto_names(model: Model) -> tuple[str, ...]:
    """Names of the PTOs that are machines."""
    group = pto_group(model)
    return () if group is None else group.names


def pto_slopes(model: Model, t: Array, motion: Motion) -> Array:
    """Damping of every machine at rest, -dF/dv (e,) [N s/m, N m s/rad]."""
    group = pto_group(model)
    if group is None:
        return jnp.zeros(0)
    now = Now(t, motion, inner_at_rest(model))
    out = []
    for law, seen in zip(group.laws, group.seen(model, now), strict=True):

        def force(v: Array, law=law, seen=seen) -> Array:
            return law.answer(replace(seen, v=v)).force

        # a machine's force depends on its own rate only
        rest = jnp.zeros_like(jnp.asarray(seen.v))
        out.append(-jax.jvp(force, (rest,), (jnp.ones_like(rest),))[1])
    return jnp.concatenate(out)


def linear_notes(model: Model) -> list[str]:
    """One sentence for every machine that has no linear law of its own."""
    group = pto_group(model)
    if group is None:
        return []
    notes = []
    for law, own in zip(group.laws, group.slices(), strict=True):
        for i, name in enumerate(group.names[own]):
            smooth = isinstance(law, Damper) and not np.asarray(law.friction)[i]
            if law.linear and not smooth:
                notes.append(f"pto '{name}': {law.linear}.")
    return notes
