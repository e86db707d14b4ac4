"""Elements on strokes for small motions: unit wrenches, force slopes at equilibrium, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.effects.strokes.strokes import pair_wrench
from swelltree.engine.arrays import Array
from swelltree.model.effect import LinearElements, Now
from swelltree.model.model import Model

if TYPE_CHECKING:
    from swelltree.effects.strokes.stroke_forces import StrokeForces


def linear_elements(forces: StrokeForces, model: Model, now: Now) -> LinearElements:
    """All elements at equilibrium."""
    count = len(forces.names)
    units = [pair_wrench(model, forces.strokes, now.motion, unit) for unit in np.eye(count)]
    stops: Array = np.isfinite([forces.stops.lower, forces.stops.upper]).any(axis=0)
    whole = [not (forces.tension_only[i] or stops[i]) for i in range(count)]
    return LinearElements(
        forces.names,
        np.array(units, float).reshape(count, -1),
        tuple(whole),
    )


def notes_of(forces: StrokeForces) -> tuple[str, ...]:
    """One message for every element that has no linear law of its own."""
    notes = []
    for law, part in zip(forces.laws, forces.slices(), strict=True):
        for k, i in enumerate(range(part.start, part.stop)):
            if not law.is_linear(k):
                notes.append(f"{forces.words(i)}: {law.linear}.")
    return tuple(notes)
