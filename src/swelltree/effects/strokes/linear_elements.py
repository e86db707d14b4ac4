"""Elements on strokes for small motions: unit wrenches, the slope of their force at rest, notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.effects.strokes.strokes import pair_wrench
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax, jnp
from swelltree.engine.machine.points import point_program
from swelltree.model.effect import LinearElements, Now
from swelltree.model.model import Model

if TYPE_CHECKING:
    from swelltree.effects.strokes.stroke_forces import StrokeForces


def linear_elements(forces: StrokeForces, model: Model, now: Now) -> LinearElements:
    """All elements at a state of rest."""
    count = len(forces.names)
    units = [pair_wrench(model, forces.strokes, now.motion, unit) for unit in np.eye(count)]
    stops: Array = np.isfinite([forces.stops.lower, forces.stops.upper]).any(axis=0)
    whole = [
        not (forces.law_of(i)[0].states or forces.tension_only[i] or stops[i]) for i in range(count)
    ]
    return LinearElements(
        forces.names,
        np.array(units, float).reshape(count, -1),
        np.asarray(forces.stiffness, float),
        np.asarray(DAMPING(forces, model, now), float),
        tuple(whole),
    )


def damping_at_rest(forces: StrokeForces, model: Model, now: Now) -> Array:
    """Damping of every element, -dF/dv where its stroke rests, (e,) [N s/m, N m s/rad]."""
    out = []
    for law, inputs in zip(forces.laws, forces.inputs(model, now), strict=True):

        def force(v: Array, law=law, inputs=inputs) -> Array:
            return law.outputs(replace(inputs, v=v)).force

        # a machine's force depends on its own rate only
        rest = jnp.zeros_like(jnp.asarray(inputs.v))
        out.append(-jax.jvp(force, (rest,), (jnp.ones_like(rest),))[1])
    return jnp.concatenate(out)


DAMPING = point_program(damping_at_rest, fixed=3)


def notes_of(forces: StrokeForces) -> tuple[str, ...]:
    """One sentence for every element that has no linear law of its own."""
    notes = []
    for law, part in zip(forces.laws, forces.slices(), strict=True):
        for k, i in enumerate(range(part.start, part.stop)):
            if not law.is_linear(k):
                notes.append(f"{forces.words(i)}: {law.linear}.")
    return tuple(notes)
