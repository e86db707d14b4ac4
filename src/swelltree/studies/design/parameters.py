r"""Which arrays of a run named numbers feed, and by how much: the chain rule through compilation.

A number of the description is followed by compiling the changed description, one of the sea by
realising the changed sea, one of the compiled model by setting it: in numpy, without a step in
time. The derivatives of all arrays are central differences of fourth order of that map,

.. math:: f' = \frac{8 (f_1 - f_{-1}) - (f_2 - f_{-2})}{12 h} + O(h^4)

and right to about ten digits, because the map is smooth arithmetic. The fit of the radiation
memory to the hydrodynamic data is held: it chooses orders and weights and is not smooth.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.paths import number_below, parts_of, with_number_below, with_numbers
from swelltree.describe.spec import Description
from swelltree.describe.system import System
from swelltree.hydro.linear.hydro import linear_hydro
from swelltree.hydro.linear.radiation import fitted_memory, with_radiation_memory
from swelltree.jit import Tree
from swelltree.model.model import Model
from swelltree.model.values.by_path import merged
from swelltree.model.values.parameters import is_described
from swelltree.waves.sea import AnySea

SEA = "sea"  # first word of the names of numbers of the sea


@dataclass(frozen=True)
class Design:
    """A compiled model and its sea, whose numbers are known by name.

    Args:
        model: compiled.
        sea: described or realised, or None.
    """

    model: Model
    sea: AnySea | None

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
        """The same with other numbers; the fit of its radiation stays."""
        paths = {name: x for name, x in values.items() if is_described(self.model, name)}
        of_sea = {name: x for name, x in values.items() if _is_of_sea(name)}
        others = {k: x for k, x in values.items() if k not in paths and k not in of_sea}
        model, sea = self.model, self.sea
        if paths:
            changed = self._compiled(paths)
            model = merged(model, self._base, changed, paths)
        if others:
            model = model.with_values(others)
        for name, x in of_sea.items():
            assert isinstance(sea, Description)
            sea = with_number_below(sea, name, x.tolist())
        return Design(model, sea)

    @functools.cached_property
    def _base(self) -> Model:
        return self._compiled({})

    @functools.cached_property
    def _bare(self) -> Model | None:
        """The model without memory, where that is fitted; None where nothing is fitted."""
        again = self.model.described.again
        if fitted_memory(self.model) is None or not isinstance(again, functools.partial):
            return None
        return again(self.model.described.specified, radiation="none")

    def _compiled(self, paths: Mapping[str, np.ndarray]) -> Model:
        described = self.model.described
        self.model.value("water.g")  # a model that does not know its description says so
        assert described.again is not None
        assert described.specified is not None
        system = with_numbers(described.specified, {k: _rows(x) for k, x in paths.items()})
        if self._bare is None:
            return described.again(system)
        assert isinstance(described.again, functools.partial)
        new = described.again(system, radiation="none")
        hydro = linear_hydro(self.model)
        assert hydro is not None
        new = with_radiation_memory(new, hydro.memory)
        # added mass of resonances above the band belongs to the fit
        above = np.asarray(self.model.added_mass) - np.asarray(self._bare.added_mass)
        return new.replace(
            added_mass=np.asarray(new.added_mass) + above, users_code=self.model.users_code
        )


def _is_of_sea(name: str) -> bool:
    return name.partition(".")[0] == SEA


def _rows(x: np.ndarray) -> Tree:
    """Rows of numbers as descriptions keep them."""

    def tuples(rows: Tree) -> Tree:
        return tuple(map(tuples, rows)) if isinstance(rows, list) else rows

    return tuples(np.asarray(x, float).tolist())


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
    return _stated_unit(holder, keys)


def _stated_unit(holder: object, keys: Sequence[str]) -> str:
    """From the text of the class that holds the number."""
    found = ""
    for key in keys:
        for cls in type(holder).__mro__ if isinstance(holder, Description) else ():
            about = re.search(rf"\n\s+{key}: (.*?)(?=\n\s+\w+: |\n\n|\Z)", cls.__doc__ or "", re.S)
            unit = about and re.search(r"\[([^\]]+)\]", about[1])
            if unit:
                found = " ".join(unit[1].split())
                break
        holder = parts_of(holder).get(key)
    return found
