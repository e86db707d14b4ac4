"""The model as it is now: what follows from internal states, such as the rope that is out."""

from __future__ import annotations

from typing import Any

from swelltree.model.model import Model


def present(model: Model, internal: Any) -> Model:
    """The model with its masses, added masses and locked freedoms of these internal states."""
    for effect in model.effects:
        model = effect.present(model, internal)
    return model
