"""Events that the two-step scheme lets happen between its steps, in tree coordinates.

They are those of the smooth solvers: an element of a cable that is too long is split, one that is
too short is merged. The scheme knows no formulation; it is handed this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from swelltree.integrate.complementarity.state import SchemeOptions
from swelltree.jit import Array
from swelltree.model.capabilities import HasEvents, HasWinches, having
from swelltree.model.internal_state import InternalState
from swelltree.model.model import Model
from swelltree.multibody.formulations.base import Phase, State
from swelltree.multibody.formulations.equations import event_values, switched
from swelltree.multibody.formulations.path_matrix import PathMatrix

TREE = PathMatrix()


@dataclass(frozen=True)
class TreeEvents:
    """Events of a model at the end of a step; `Form.events`."""

    def values(
        self, model: Model, t: Array, q: Array, s: Array, work: Array, internal: InternalState
    ) -> Array:
        """Values below zero are events that happen now."""
        return event_values(model, TREE, t, _phase(model, q, s, work, internal))

    def switched(
        self,
        model: Model,
        t: Array,
        q: Array,
        s: Array,
        work: Array,
        internal: InternalState,
        hit: Array,
    ) -> tuple[Array, Array, Array, dict[str, Array]]:
        """Coordinates, velocities, work and states of effects after the events."""
        after = switched(model, TREE, t, _phase(model, q, s, work, internal), hit)
        return after.state.q, after.state.s, after.work, after.internal.elements


def _phase(model: Model, q: Array, s: Array, work: Array, internal: InternalState) -> Phase:
    return Phase(State(q, s, TREE.start(model).chart), work, internal)


def with_events(model: Model, form: SchemeOptions) -> SchemeOptions:
    """The form with the events of the model, where it has some."""
    winds = any(isinstance(e, HasWinches) and e.event_count for e in having(model, HasEvents))
    return replace(form, events=TreeEvents()) if winds else form
