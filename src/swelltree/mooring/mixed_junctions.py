"""Junctions where lines of several theories meet: each becomes a body without turns.

Every theory knows how to pull at a body. A junction of one theory alone stays a free point of
that theory.
"""

from __future__ import annotations

from swelltree.describe import WORLD, Body, System
from swelltree.describe.joints.kinds import SubsetJoint
from swelltree.describe.mooring.line import Junction, LineEnd, OnJunction
from swelltree.describe.mooring.seabed import SeabedContact
from swelltree.mooring.dynamic.arrays import seabed_of

MOVES = ("Surge", "Sway", "Heave")


def with_mixed_junctions(system: System) -> System:
    """The system with a body in the place of every junction where theories meet."""
    mixed = {j.name: j for j in system.junctions if len(_theories(system, j)) > 1}
    if not mixed:
        return system

    def end(value: LineEnd) -> LineEnd:
        if isinstance(value, OnJunction) and value.junction in mixed:
            return bodies[value.junction].at()
        return value

    bodies = {name: _body(system, junction) for name, junction in mixed.items()}
    joints = [SubsetJoint(f"{name}_free", WORLD, body, MOVES) for name, body in bodies.items()]
    # as every junction of dynamic lines, they do not sink into the ground
    touching = [name for name, j in mixed.items() if "dynamic" in _theories(system, j)]
    touching = touching if seabed_of(system) is not None else []
    contacts = [SeabedContact(f"{name}_ground", name, at=[(0.0, 0.0, 0.0)]) for name in touching]
    return system.replace(
        bodies=(*system.bodies, *bodies.values()),
        joints=(*system.joints, *joints),
        lines=tuple(line.replace(A=end(line.A), B=end(line.B)) for line in system.lines),
        junctions=tuple(j for j in system.junctions if j.name not in mixed),
        contacts=(*system.contacts, *contacts),
    )


def _theories(system: System, junction: Junction) -> set[str]:
    """Models of the lines that end at a junction."""
    at = OnJunction(junction.name)
    return {line.model for line in system.lines if at in (line.A, line.B)}


def _body(system: System, junction: Junction) -> Body:
    """A point mass with the numbers of a junction."""
    theories = " and ".join(f"'{name}'" for name in sorted(_theories(system, junction)))
    if not junction.mass > 0:
        raise junction.fail(
            f"lines of the models {theories} meet at it, where it moves as a body, but it has no "
            "mass. Give it one, or all lines there the same model."
        )
    if junction.drag_area > 0:
        raise junction.fail(
            f"lines of the models {theories} meet at it, where it moves as a body, which takes no "
            "drag_area. Describe a Body with BodyDrag instead, or give all lines there the same "
            "model."
        )
    added = system.water.rho * junction.volume * junction.added_mass
    return Body(
        junction.name,
        mass=junction.mass,
        position=junction.position,
        displaced_volume=junction.volume or None,
        added_mass=dict.fromkeys(MOVES, added) if added > 0 else (),
    )
