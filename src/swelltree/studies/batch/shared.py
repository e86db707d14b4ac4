"""Which arrays of a model all cases of a batch share, and which are a case's own.

It follows from what the cases differ in, not from their numbers: a case has the same program, hence
the same result, whatever its neighbours are. Arrays that a sea makes are a case's own; so are those
that change where the numbers of the case do.
"""

from __future__ import annotations

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array, PerCase, Tree, flatten, leaves_of, structure_of
from swelltree.model.model import Model
from swelltree.studies.batch.cases import BatchCase, CaseMaker

ASIDE = 1.0 + 2.0**-10


class SeveralLayoutsError(Exception):
    """Cases whose arrays have several sizes, as those of seas with several numbers of waves."""


class OwnLeaves:
    """Distinguishes shared arrays from others.

    Args:
        maker: of the cases of the batch.
        example: one of its cases.
        model: of that case, if known.
    """

    def __init__(self, maker: CaseMaker, example: BatchCase, model: Model | None = None) -> None:
        model = maker.in_sea(example)[0] if model is None else model
        self.model, self.leaves = model, leaves_of(model)
        still = leaves_of(maker.numbers(example).stepped)
        varied = _varied(maker, example, still)
        shared = {id(x) for x, differs in zip(still, varied, strict=True) if not differs}
        self.differs = [id(x) not in shared for x in self.leaves]
        known = {id(x) for x in still}
        # steps of grids in time: as long as they are the same, all cases have the same times
        self.of_grids = [id(x) not in known and np.ndim(x) == 0 for x in self.leaves]

    def gathered(self, models: list[Model]) -> Tree:
        """All models as one, with an `Own` in place of each array that is a case's own."""
        rows, differs = self._rows(models)
        leaves = [
            PerCase([row[k] for row in rows]) if differs_here else self.leaves[k]
            for k, differs_here in enumerate(differs)
        ]
        return structure_of(self.model).unflatten(leaves)

    def own_of(self, models: list[Model]) -> list[bool]:
        """Of each array, whether it is a case's own."""
        return self._rows(models)[1]

    def _rows(self, models: list[Model]) -> tuple[list[list[Tree]], list[bool]]:
        """Arrays of all models, and which of them are a case's own."""
        rows, expected = [flatten(model) for model in models], structure_of(self.model)
        differs = list(self.differs)
        for leaves, form in rows:
            if form != expected or any(
                np.shape(x) != np.shape(y) for x, y in zip(leaves, self.leaves, strict=True)
            ):
                raise SeveralLayoutsError
            for k, (x, y) in enumerate(zip(leaves, self.leaves, strict=True)):
                # numbers may act on what they did not seem to act on
                differs[k] = differs[k] or not (x is y or np.array_equal(x, y, equal_nan=_gaps(x)))
        for k, of_grid in enumerate(self.of_grids):
            if of_grid and all(leaves[k] == self.leaves[k] for leaves, _ in rows):
                differs[k] = False
        return [leaves for leaves, _ in rows], differs


def _gaps(x: Array) -> bool:
    return np.asarray(x).dtype.kind in "fc"


def _varied(maker: CaseMaker, example: BatchCase, leaves: list[Tree]) -> list[bool]:
    """Which arrays of the model depend on the numbers of a case: those that change with them."""
    if not example.values:
        return [False] * len(leaves)
    try:
        adjacent = tuple((path, _adjacent(value)) for path, value in example.values)
        other = leaves_of(maker.numbers(BatchCase(None, adjacent)).stepped)
    except (SwelltreeError, TypeError, ValueError):  # there are no numbers near by
        return [True] * len(leaves)
    if len(other) != len(leaves):
        return [True] * len(leaves)
    return [
        np.shape(x) != np.shape(y) or not np.array_equal(x, y, equal_nan=_gaps(x))
        for x, y in zip(leaves, other, strict=True)
    ]


def _adjacent(value: object) -> Tree:
    value = np.asarray(value, dtype=float)
    return np.where(value == 0.0, 2.0**-10, value * ASIDE)
