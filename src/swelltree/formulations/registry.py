"""Formulations by name."""

from __future__ import annotations

from swelltree.formulations.base import Formulation
from swelltree.formulations.composite_body import CompositeBody
from swelltree.formulations.lagrange import Lagrange
from swelltree.formulations.partial_velocity import PartialVelocity
from swelltree.formulations.partition import Partition
from swelltree.formulations.path_matrix import PathMatrix
from swelltree.system.errors import SwelltreeError, suggest

FORMULATIONS: dict[str, type[Formulation]] = {
    cls.name: cls for cls in (PathMatrix, PartialVelocity, CompositeBody, Partition, Lagrange)
}


def formulation(chosen: str | Formulation) -> Formulation:
    """The formulation of that name, or the object itself."""
    if isinstance(chosen, Formulation):
        return chosen
    if chosen not in FORMULATIONS:
        raise SwelltreeError(
            f"formulation '{chosen}' is not known.{suggest(chosen, FORMULATIONS)} "
            f"Choose one of {', '.join(FORMULATIONS)}."
        )
    return FORMULATIONS[chosen]()
