"""Forces that change their sign over a small velocity: found from smoother ones, step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from swelltree.effects.strokes.stroke_forces import StrokeForces, stroke_forces
from swelltree.engine.arrays import Tree
from swelltree.model.model import Model
from swelltree.solvers.solution import Code
from swelltree.studies.periodic.solve import PeriodicSolution

WIDEST = 30.0  # times the velocities of the model: where the search for its motion begins
RATIO, LEAST = 2.0, 1.02  # of two widths in turn, and when no further one is tried
FIELDS = ("smoothing_velocity", "friction_velocity")
HARD = ("clutch_damping",)  # forces that are smooth where these are small


def smoother(model: Model, factor: float) -> Model:
    """The model with these velocities so many times larger."""
    forces = model.effect(StrokeForces)
    if forces is None:
        return model
    laws = []
    law: Tree
    for law in forces.laws:
        wide = {x: factor * np.asarray(getattr(law, x)) for x in FIELDS if hasattr(law, x)}
        wide |= {x: np.asarray(getattr(law, x)) / factor for x in HARD if hasattr(law, x)}
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


def has_clutch(model: Model) -> bool:
    """Does a clutch engage over a small slip?"""
    return any(hasattr(law, field) for law in stroke_forces(model).laws for field in HARD)


def continued(
    search: Callable[[Model, np.ndarray], PeriodicSolution], model: Model, Y: np.ndarray
) -> PeriodicSolution:
    """The motion of a model found from that with smoother forces, in ratios that adapt.

    Args:
        search: for the motion of a model from coefficients.
        model: with sharp forces.
        Y: coefficients to begin from.
    """
    factor, ratio = WIDEST, RATIO
    solution = search(smoother(model, factor), Y)
    while solution.code is Code.SUCCESS and factor > 1.0:
        narrower = max(1.0, factor / ratio)
        found = search(smoother(model, narrower), solution.Y)
        if found.code is Code.SUCCESS:
            solution, factor, ratio = found, narrower, min(RATIO, ratio**1.5)
        else:
            ratio = np.sqrt(ratio)
            if ratio < LEAST:
                return found
    return solution


def advice(model: Model) -> str:
    """What would make the forces smoother, as a part of a message."""
    names = sharp_forces(model)
    forces = stroke_forces(model)
    for law, part in zip(forces.laws, forces.slices(), strict=True):
        for k, value in enumerate(np.atleast_1d(getattr(law, "clutch_damping", []))):
            names.append(
                f"the slip of {forces.words(part.start + k)} by a smaller clutch_damping "
                f"({value:g} N m s/rad)"
            )
    return f", raise {' and '.join(names)}," if names else ""
