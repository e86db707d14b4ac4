"""What results in the frequency domain share: motions, powers, labels.

Motions are displacements as runs have them (`results.displacement`): in the axes of the heading of
each body at the equilibrium, so that roll and pitch are about the vessel's own axes.
"""

from __future__ import annotations

import numpy as np

from swelltree.effects.strokes.stroke_forces import stroke_forces
from swelltree.model.layout import DOFS
from swelltree.model.model import Model
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.system.named_values import NamedValues
from swelltree.waves.dispersion import dispersion, group_speed

HEADING = "heading axes of the body: world axes turned about z by its yaw at the equilibrium"
WORLD = "world axes, at the reference point of the body"


def body_motion(linear: LinearModel, y: np.ndarray) -> np.ndarray:
    """Displacements of the bodies (..., body, dof) of free directions (..., f), described order."""
    return described_order(linear, y @ linear.to_displacements.T)


def described_order(linear: LinearModel, X: np.ndarray) -> np.ndarray:
    """Rows of six of all bodies (..., 6N) as (..., body, dof), in the order of the description."""
    layout = linear.at.model.layout
    order = [layout.bodies.index(name) for name in layout.described]
    return X.reshape(*X.shape[:-1], layout.n_bodies, 6)[..., order, :]


def damper_power(linear: LinearModel, w: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Mean power taken by every damper per square metre of amplitude, (..., e).

    Dampers are all elements on strokes, by the slopes of their forces at rest, with what
    controllers give.
    """
    moved = y @ linear.to_strokes.T
    rate = -1j * w.reshape(-1, *(1,) * (moved.ndim - 1)) * moved
    return -0.5 * np.real(linear.element_forces(w, y) * np.conj(rate))


def pto_rows(linear: LinearModel) -> list[int]:
    """Which of the elements are power take-offs."""
    forces = stroke_forces(linear.at.model)
    names = [forces.names[k] for k in forces.ptos]
    return [k for k, name in enumerate(linear.elements.names) if name in names]


def wave_power(model: Model, w: np.ndarray, a: np.ndarray) -> float:
    """Power of waves per metre of crest [W/m]."""
    water = model.water
    speed = group_speed(w, dispersion(w, water.depth, water.g), water.depth)
    return float((0.5 * water.rho * water.g * a**2 * speed).sum())


def labels_of(linear: LinearModel) -> NamedValues:
    """Coordinates of results: bodies, headings, dofs, joint coordinates, elements, PTOs."""
    layout = linear.at.model.layout
    order = [layout.bodies.index(name) for name in layout.described]
    about = {"units": "rad", "long_name": "yaw of the body at the equilibrium", "frame": "world"}
    return {
        "body": list(layout.described),
        "dof": list(DOFS),
        "coordinate": list(layout.dof_labels),
        "heading": ("body", np.asarray(linear.at.heading)[order], about),
        "element": list(linear.elements.names),
        "pto": [linear.elements.names[k] for k in pto_rows(linear)],
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
        "report": " ".join([*model.report, *linear.notes, *linear.internal.notes()]),
    }
