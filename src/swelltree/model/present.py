"""The model as it is now: what follows from inner states, such as the rope that is out."""

from __future__ import annotations

from typing import Any

from swelltree.model.forces.hydro_frame import in_frame
from swelltree.model.model import Model


def present(model: Model, inner: Any) -> Model:
    """The model with its masses, added masses and locked freedoms of these inner states."""
    model = in_frame(model, inner)
    for group in model.effects:
        model = group.present(model, inner)
    return model
