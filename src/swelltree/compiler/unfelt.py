"""Current and wind that nothing in a system feels."""

from __future__ import annotations

from swelltree.model.model import Model
from swelltree.system import System
from swelltree.system.errors import warn_user

CURE = {
    "current": "QuadraticDrag, BodyDrag, MorisonMember or dynamic lines",
    "wind": "WindDrag or a Rotor",
}


def unfelt_notes(system: System, model: Model) -> list[str]:
    """A warning and a note for each that is described but acts on nothing.

    Users' own effects may ask for anything, so that nothing is said beside them.
    """
    if any(not type(effect).__module__.startswith("swelltree.") for effect in model.effects):
        return []
    felt = {
        "current": any(effect.feels_current for effect in model.effects),
        "wind": any(effect.feels_wind for effect in model.effects),
    }
    notes = []
    for name, cure in CURE.items():
        given = getattr(system, name)
        still = given is None or getattr(given, "speed", 1.0) == 0.0
        if still or felt[name]:
            continue
        notes.append(
            f"the system has a {name}, but no element feels it: it changes nothing. Describe what "
            f"it acts on ({cure}), or leave the {name} out."
        )
        warn_user(notes[-1])
    return notes
