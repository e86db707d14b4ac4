"""Forces on strokes in linear studies: their slope at rest, and what that leaves out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.effects.strokes.laws.damper import FrictionDamper
from swelltree.effects.strokes.stroke_forces import stroke_forces
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax, jnp
from swelltree.model.effect import Now
from swelltree.model.internal_state import internal_at_rest
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model


def stroke_damping(model: Model, t: Array, motion: Motion) -> Array:
    """Damping of every element on a stroke at rest, -dF/dv (e,) [N s/m, N m s/rad]."""
    own = stroke_forces(model)
    if not own.names:
        return jnp.zeros(0)
    now = Now(t, motion, internal_at_rest(model))
    out = []
    for law, inputs in zip(own.laws, own.inputs(model, now), strict=True):

        def force(v: Array, law=law, inputs=inputs) -> Array:
            return law.outputs(replace(inputs, v=v)).force

        # a machine's force depends on its own rate only
        rest = jnp.zeros_like(jnp.asarray(inputs.v))
        out.append(-jax.jvp(force, (rest,), (jnp.ones_like(rest),))[1])
    return jnp.concatenate(out)


def linear_notes(model: Model) -> list[str]:
    """One sentence for every element that has no linear law of its own."""
    own = stroke_forces(model)
    notes = []
    for law, part in zip(own.laws, own.slices(), strict=True):
        for k, i in enumerate(range(part.start, part.stop)):
            smooth = isinstance(law, FrictionDamper) and not np.asarray(law.friction)[k]
            if law.linear and not smooth:
                notes.append(f"{own.words(i)}: {law.linear}.")
    return notes
