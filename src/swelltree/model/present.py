"""The model as it is now: what follows from internal states, such as the rope that is out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.model.model import Model

if TYPE_CHECKING:
    from swelltree.model.internal_state import InternalState


def present(model: Model, internal: InternalState) -> Model:
    """The model with its masses, added masses and locked DOFs of these internal states."""
    for effect in model.effects:
        model = effect.present(model, internal)
    return model
