"""Which bodies weak scatterers have, and whether something else carries them too; without JAX."""

from __future__ import annotations

from collections.abc import Iterable

from swelltree.system import System
from swelltree.system.forces.weak_scatterer import WeakScatterer


def described_scatterer(system: System) -> WeakScatterer | None:
    """The one that is described, None if none is."""
    described = [force for force in system.forces if isinstance(force, WeakScatterer)]
    if len(described) > 1:
        raise described[1].fail(
            f"'{described[0].name}' is a weak scatterer too. Put the bodies of both into one tank."
        )
    return described[0] if described else None


def described_bodies(system: System) -> tuple[str, ...]:
    """Names of its bodies: each has a hull, and nothing else that gives it buoyancy."""
    water = described_scatterer(system)
    if water is None:
        return ()
    names = water.bodies or tuple(body.name for body in system.bodies if body.hull is not None)
    if not names:
        raise water.fail("no body has a hull. Give one to a body.")
    for name in names:
        body = system.body(name)
        if body.hull is None:
            raise water.fail(f"body '{name}' has no hull. Give it one, or leave it out of bodies.")
        if body.added_mass:
            raise water.fail(
                f"body '{name}' has added_mass, which the water finds by itself. Leave it out."
            )
        for force in system.forces:
            if force.carries == name:
                raise water.fail(
                    f"body '{name}' has the immersion '{force.name}' too, which would carry it "
                    "twice. Leave one of them out."
                )
    return names


def refuse_carried_twice(system: System, others: dict[str, Iterable[str]]) -> None:
    """Reject bodies that get their water from elsewhere as well.

    Args:
        system: described.
        others: {what it is: names of bodies}.
    """
    names = described_bodies(system)
    for what, known in others.items():
        for name in set(known) & set(names):
            water = described_scatterer(system)
            assert water is not None
            raise water.fail(f"body '{name}' has {what} too. Give it to one of them.")
