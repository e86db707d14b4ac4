"""Forces that change their sign over a small velocity: found from smoother ones, step by step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.effects.strokes.stroke_forces import StrokeForces, stroke_forces
from swelltree.engine.arrays import Tree
from swelltree.model.model import Model

STEPS = (30.0, 15.0, 8.0, 4.0, 2.0, 1.4, 1.0)  # times the velocities of the model
FIELDS = ("smoothing_velocity", "friction_velocity")


def smoother(model: Model, factor: float) -> Model:
    """The model with these velocities so many times larger."""
    forces = model.effect(StrokeForces)
    if forces is None:
        return model
    laws = []
    law: Tree
    for law in forces.laws:
        wide = {x: factor * np.asarray(getattr(law, x)) for x in FIELDS if hasattr(law, x)}
        laws.append(replace(law, **wide) if wide else law)
    return model.with_effect(replace(forces, laws=tuple(laws)))


def sharp_forces(model: Model) -> list[str]:
    """Velocities over which forces change their sign, in words."""
    forces, names = stroke_forces(model), []
    for law, part in zip(forces.laws, forces.slices(), strict=True):
        for field in FIELDS:
            for k, value in enumerate(np.atleast_1d(getattr(law, field, []))):
                if field == "smoothing_velocity" or float(getattr(law, "friction", [0.0])[k]):
                    names.append(f"{field} of {forces.words(part.start + k)} ({value:g} m/s)")
    return names


def advice(model: Model) -> str:
    """What would make the forces smoother, as a part of a sentence."""
    names = sharp_forces(model)
    return f", raise {' and '.join(names)}," if names else ""
