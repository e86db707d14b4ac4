"""Channels of one instant by name: the variables of a result, then labels of their dimensions.

``"absorbed_power.pto"``, ``"joint_coordinate.hinge__rz"``, ``"position.float.Heave"``; of the
displacement the first word may be left out: ``"float.Heave"``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.model.model import Model
from swelltree.results.channels import labels_of
from swelltree.results.dataset import coordinates
from swelltree.system.errors import SwelltreeError, listed, shown, suggest


@dataclass(frozen=True)
class Vocabulary:
    """Dimensions of every variable, and labels along them."""

    dims: dict[str, tuple[str, ...]]
    labels: dict[str, tuple[str, ...]]

    def value(self, named: dict[str, np.ndarray], name: object) -> float | np.ndarray:
        """What a name says of the channels of an instant; a number where it chooses one.

        Args:
            named: values by variable.
            name: as in the module's docstring.
        """
        variable, chosen = self._variable(name)
        values, dims = np.asarray(named[variable]), self.dims[variable]
        for label, dim in zip(chosen, dims, strict=False):
            values = values[self._place(str(name), label, dim, values.shape[0])]
        if len(chosen) > len(dims):
            raise SwelltreeError(
                f"'{name}': '{variable}' has no more to choose from after "
                f"{listed(dims) if dims else 'its name'}. Leave out '{chosen[len(dims)]}'."
            )
        return float(values) if values.ndim == 0 else values.copy()

    def single(self) -> Iterator[str]:
        """Names of all channels that are one number, where their dimensions have labels."""
        for name, dims in self.dims.items():
            if all(dim in self.labels for dim in dims):
                for chosen in itertools.product(*(self.labels[dim] for dim in dims)):
                    yield ".".join((name, *chosen))

    def _variable(self, name: object) -> tuple[str, list[str]]:
        if not isinstance(name, str):
            raise SwelltreeError(f"channel {shown(name)} is not a name. Give e.g. 'float.Heave'.")
        first, *rest = name.split(".")
        if first in self.dims:
            return first, rest
        if first in self.labels.get("body", ()):
            return "displacement", [first, *rest]
        known = (*self.dims, *self.labels.get("body", ()))
        raise SwelltreeError(
            f"'{first}' is neither a channel nor a body.{suggest(first, known)} "
            f"There is {listed(sorted(self.dims))}."
        )

    def _place(self, name: str, label: str, dim: str, size: int) -> int:
        known = self.labels.get(dim)
        if known is not None and label in known:
            return known.index(label)
        if known is None and label.isdecimal() and int(label) < size:
            return int(label)
        if known is None:
            raise SwelltreeError(f"'{name}': along {dim} give a number from 0 to {size - 1}.")
        raise SwelltreeError(
            f"'{name}': there is no {dim} '{label}'.{suggest(label, known)} It is {listed(known)}."
        )


def vocabulary(
    model: Model, channels: dict[str, Array], more: dict[str, tuple[str, ...]]
) -> Vocabulary:
    """The vocabulary of a model.

    Args:
        model: that is stepped.
        channels: raw, of any instant.
        more: dimensions of variables beside them.
    """
    dims = {label.name: label.dims for label in labels_of(model, channels).values()} | more
    labels = {
        name: tuple(str(x) for x in values)
        for name, (of, values, _) in coordinates(model).items()
        if of == (name,)
    }
    return Vocabulary(dims, labels)
