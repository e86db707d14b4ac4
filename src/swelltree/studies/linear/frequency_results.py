"""What results in the frequency domain share: motions, powers, labels."""

from __future__ import annotations

import numpy as np

from swelltree.model.layout import DOFS
from swelltree.model.model import Model
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.system.named_values import NamedValues
from swelltree.waves.dispersion import dispersion, group_speed


def body_motion(linear: LinearModel, y: np.ndarray) -> np.ndarray:
    """Motion of the bodies (..., body, dof) of free directions (..., f), in described order."""
    layout = linear.at.model.layout
    order = [layout.bodies.index(name) for name in layout.described]
    X = y @ linear.to_bodies.T
    return X.reshape(*y.shape[:-1], layout.n_bodies, 6)[..., order, :]


def damper_power(linear: LinearModel, w: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Mean power taken by every damper per square metre of amplitude, (..., e).

    Dampers are all elements on strokes, by the slope of their force at rest.
    """
    moved = y @ linear.to_strokes.T
    rate = w.reshape(-1, *(1,) * (moved.ndim - 1)) * np.abs(moved)
    return 0.5 * linear.elements.damping * rate**2


def wave_power(model: Model, w: np.ndarray, a: np.ndarray) -> float:
    """Power of waves per metre of crest [W/m]."""
    water = model.water
    speed = group_speed(w, dispersion(w, water.depth, water.g), water.depth)
    return float((0.5 * water.rho * water.g * a**2 * speed).sum())


def labels_of(linear: LinearModel) -> dict[str, list[str]]:
    """Coordinates of results: bodies, dofs, joint coordinates, elements."""
    layout = linear.at.model.layout
    return {
        "body": list(layout.described),
        "dof": list(DOFS),
        "coordinate": list(layout.dof_labels),
        "element": list(linear.elements.names),
    }


def water_attributes(linear: LinearModel) -> NamedValues:
    """Convention, water and notes."""
    model = linear.at.model
    return {
        "time_convention": "exp(-iwt)",
        "rho": model.water.rho,
        "g": model.water.g,
        "water_depth": model.water.depth,
        "drawing": model.described.drawing,
        "report": " ".join([*model.report, *linear.notes]),
    }
