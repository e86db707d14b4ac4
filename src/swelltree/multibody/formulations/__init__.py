"""How body equations become solvable equations: five independent ways that agree."""

from __future__ import annotations

from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.multibody.formulations.base import Formulation, State
from swelltree.multibody.formulations.composite_body import CompositeBody
from swelltree.multibody.formulations.lagrange import Lagrange
from swelltree.multibody.formulations.partial_velocity import PartialVelocity
from swelltree.multibody.formulations.partition import Partition
from swelltree.multibody.formulations.path_matrix import PathMatrix

FORMULATIONS: dict[str, type[Formulation]] = {
    cls.name: cls for cls in (PathMatrix, PartialVelocity, CompositeBody, Partition, Lagrange)
}


def formulation(chosen: str | Formulation) -> Formulation:
    """The formulation with that name."""
    if isinstance(chosen, Formulation):
        return chosen
    if chosen not in FORMULATIONS:
        raise SwelltreeError(
            f"formulation '{chosen}' is not known.{suggest(chosen, FORMULATIONS)} "
            f"Choose one of {', '.join(FORMULATIONS)}."
        )
    return FORMULATIONS[chosen]()


__all__ = ["FORMULATIONS", "Formulation", "State", "formulation"]
