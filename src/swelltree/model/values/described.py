"""The description a model was compiled from, kept for those who look at results.

It is not part of the mechanics: two models that differ in nothing else share their compiled
programs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from swelltree.describe import System
from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array
from swelltree.model.checks.afloat import Afloat

if TYPE_CHECKING:
    from swelltree.model.model import Model


class Described:
    """The described system behind a model; drawing and case are made when first asked for.

    Args:
        system: as described.
        drawing: where the system is not at hand.
        case: likewise.
        data: source and hash of the hydrodynamic data.
        afloat: bodies that float together (`swelltree.model.checks.afloat`).
        notes: what compile noticed, for the user.
        specified: the system as it was given to compile.
        again: compiles a changed one with the same data and options.
        traced: numbers of the description that JAX is tracing, by path.
    """

    without_content = True  # for fingerprints (`engine.contents`)

    def __init__(
        self,
        system: System | None = None,
        drawing: str = "",
        case: str = "",
        data: dict[str, str] | None = None,
        afloat: tuple[Afloat, ...] = (),
        notes: tuple[str, ...] = (),
        specified: System | None = None,
        again: Callable[[System], Model] | None = None,
        traced: dict[str, Array] | None = None,
    ) -> None:
        self.system = system
        self._drawing = drawing
        self._case = case
        self.data = data or {}
        self.afloat = afloat
        self.notes = notes
        self.specified = specified
        self.again = again
        self.traced = traced or {}

    def noted(self, *notes: str) -> Described:
        """The same with more notes."""
        return self._with(notes=(*self.notes, *notes))

    def with_traced(self, values: dict[str, Array]) -> Described:
        """The same with numbers that JAX is tracing."""
        return self._with(traced=values)

    def knowing(
        self, specified: System | None, again: Callable[[System], Model] | None
    ) -> Described:
        """The same in a process that was given the description and how to compile it."""
        return self._with(specified=specified, again=again)

    def _with(self, **changes: object) -> Described:
        other = object.__new__(Described)
        vars(other).update(vars(self) | changes)
        return other

    @functools.cached_property
    def compiled(self) -> Model:
        """The model of the given system, as it was compiled."""
        assert self.again is not None
        assert self.specified is not None
        return self.again(self.specified)

    def keep(self, model: Model) -> None:
        """Set the model of the given system, so that it need not be compiled again."""
        vars(self)["compiled"] = model

    @property
    def drawing(self) -> str:
        """Shapes, joints and springs as JSON (`swelltree.describe.drawing`)."""
        if not self._drawing and self.system is not None:
            from swelltree.describe.drawing import drawing_text

            self._drawing = drawing_text(self.system)
        return self._drawing

    @property
    def case(self) -> str:
        """The description as the text of a case file; why not, where it holds functions."""
        if not self._case and self.system is not None:
            try:
                self._case = self.system.to_toml()
            except SwelltreeError as error:
                self._case = f"# this system has no text: {error}\n"
        return self._case

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Described)

    def __hash__(self) -> int:
        return 0

    def __reduce__(self) -> tuple[type[Described], tuple[object, ...]]:
        # functions in a description cannot travel to another process; its drawing can
        return Described, (None, self.drawing, self.case, self.data, self.afloat, self.notes)
