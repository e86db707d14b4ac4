"""The numbers of a run by name: those of its model and of its sea."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.paths import number_below, stated_unit, with_number_below
from swelltree.describe.spec import Description
from swelltree.describe.system import System
from swelltree.model.model import Model
from swelltree.model.values.parameters import is_described
from swelltree.waves.sea import AnySea

SEA = "sea"  # first word of the names of numbers of the sea


@dataclass(frozen=True)
class Design:
    """A compiled model and its sea, whose numbers are known by name.

    Args:
        model: compiled.
        sea: described or realised, or None.
        memo: models of changed descriptions, which designs in other seas share.
    """

    model: Model
    sea: AnySea | None
    memo: dict[tuple, Model] = field(default_factory=dict, compare=False, repr=False)

    def in_sea(self, sea: AnySea | None) -> Design:
        return replace(self, sea=sea)

    def value(self, name: str) -> np.ndarray:
        """The number or row of numbers of that name."""
        if not _is_of_sea(name):
            return np.asarray(self.model.value(name), float)
        if not isinstance(self.sea, Description):
            raise SwelltreeError(
                f"'{name}': there is no described sea. Give one, e.g. RegularWave(...)."
            )
        return np.asarray(number_below(self.sea, name), float)

    def at(self, values: Mapping[str, np.ndarray]) -> Design:
        of_model = {name: x for name, x in values.items() if not _is_of_sea(name)}
        model, sea = self.model, self.sea
        if of_model:
            key = tuple((name, np.asarray(x).tobytes()) for name, x in sorted(of_model.items()))
            if key not in self.memo:
                self.memo[key] = model.with_values(of_model)
            model = self.memo[key]
        for name, x in values.items():
            if name not in of_model:
                assert isinstance(sea, Description)
                sea = with_number_below(sea, name, x.tolist())
        return Design(model, sea)


def _is_of_sea(name: str) -> bool:
    return name.partition(".")[0] == SEA


def labels_of(name: str, shape: tuple[int, ...]) -> list[str]:
    """Names of the single numbers of a parameter: "bodies.float.com[2]"."""
    if not shape:
        return [name]
    return [f"{name}[{', '.join(map(str, index))}]" for index in np.ndindex(shape)]


def unit_of(design: Design, name: str) -> str:
    """Unit of a number, as its description states it; empty where it does not."""
    keys = name.split(".")
    holder: object = design.sea if _is_of_sea(name) else design.model.described.specified
    keys = keys[1:] if _is_of_sea(name) else keys
    if isinstance(holder, System) and not is_described(design.model, name):
        parts = (*holder.bodies, *holder.joints, *holder.forces, *holder.ptos, *holder.lines)
        holder = next((part for part in parts if part.name == name.rpartition(".")[0]), None)
        keys = keys[-1:]
    return stated_unit(holder, keys)
