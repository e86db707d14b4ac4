"""Systems of lines alone, between fixed points and junctions.

The equations of a system always have a body. Where none is described, a body that is welded to
the world stands in; nothing hangs on it, and results leave it out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.describe import WORLD, Body, System, Weld
from swelltree.describe.errors import SwelltreeError

if TYPE_CHECKING:
    from swelltree.model.model import Model


def with_a_body(system: System) -> System:
    """The system, with a fixed body added if it has none."""
    if system.bodies:
        return system
    taken = {item.name for item in (*system.lines, *system.junctions, *system.sensors)}
    taken |= {item.name for item in (*system.winches, *system.operations)}
    name = next(name for k in range(len(taken) + 1) if (name := f"held{k or ''}") not in taken)
    body = Body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
    return system.replace(bodies=(body,), joints=(Weld(f"{name} weld", WORLD, body),))


def refuse_lines_alone(model: Model, study: str) -> None:
    """Reject systems of lines without bodies in a study of body motions."""
    if not model.layout.described:
        raise SwelltreeError(
            f"{study}: the system has only lines, and no body that moves with the waves. Use "
            "equilibrium(...), or simulate(...) with lines of model='dynamic'."
        )
