"""Other numbers of what is stepped: of the description, of the model, of the sea."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.engine.trees import flatten
from swelltree.model.model import Model
from swelltree.system.describe import Description
from swelltree.system.errors import SwelltreeError, shown
from swelltree.system.paths import with_number_below

if TYPE_CHECKING:
    from swelltree.waves.sea import AnySea


SEA = "sea."


def read_changes(values: Array) -> tuple[dict[str, Array], dict[str, Array]]:
    """Numbers of the model and numbers of the sea, as given by the user."""
    if not isinstance(values, Mapping):
        raise SwelltreeError(
            f"change: {shown(values)} is not a table of names. "
            "Give e.g. {'ptos.pto.damping': 2e4}."
        )
    for name, value in values.items():
        try:
            fine = np.isfinite(np.asarray(value, float)).all()
        except (TypeError, ValueError):
            fine = False
        if not isinstance(name, str) or not fine:
            raise SwelltreeError(f"change: '{name}': {shown(value)} is not finite. Give a number.")
    of_sea = {name: x for name, x in values.items() if name.startswith(SEA)}
    return {name: x for name, x in values.items() if name not in of_sea}, of_sea


def changed_sea(sea: AnySea | None, values: dict[str, Array]) -> AnySea | None:
    """The sea with other numbers, by path: "sea.spectrum.Hs", "sea.seed"."""
    for name, value in values.items():
        if not isinstance(sea, Description):
            raise SwelltreeError(
                f"change: '{name}', but there is no sea. Give stepper(model, sea)."
            )
        sea = with_number_below(sea, name, value)
    return sea


def check_same_layout(before: Model, after: Model, names: Iterable[str]) -> None:
    """Refuse what changes sizes or the tree: compiled programs would not fit any more."""
    old, form = flatten(before)
    new, other = flatten(after)
    if form != other or any(np.shape(a) != np.shape(b) for a, b in zip(old, new, strict=True)):
        what = ", ".join(f"'{name}'" for name in names)
        raise SwelltreeError(
            f"change: {what} changes sizes, not numbers alone. Make a new stepper of the changed "
            "model or sea."
        )
