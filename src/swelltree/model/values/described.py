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
from swelltree.describe.paths import with_numbers
from swelltree.describe.values import NamedValues
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
        direct: paths of the numbers that feed one entry of one array and nothing else, by item
            and quantity.
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
        direct: dict[str, str] | None = None,
    ) -> None:
        self._system = system
        self._drawing = drawing
        self._case = case
        self.data = data or {}
        self.afloat = afloat
        self.notes = notes
        self._specified = specified
        self.again = again
        self.traced = traced or {}
        self.direct = direct or {}
        self._changed: NamedValues = {}  # direct numbers set since compilation, by path

    def noted(self, *notes: str) -> Described:
        return self._with(notes=(*self.notes, *notes))

    def with_traced(self, values: dict[str, Array]) -> Described:
        return self._with(traced=values)

    def knowing(
        self, specified: System | None, again: Callable[[System], Model] | None
    ) -> Described:
        return self._with(_specified=specified, again=again, _changed={})

    def recording(self, direct: dict[str, str]) -> Described:
        return self._with(direct=direct)

    def with_direct(self, values: NamedValues, change: Callable[[Model], Model]) -> Described:
        """The same with other direct numbers.

        Args:
            values: by path.
            change: sets them in a model.
        """
        known = vars(self).keys() & {"compiled", "bare"}
        models: NamedValues = {key: change(vars(self)[key]) for key in known}
        if self._system is not None:
            models |= {"_drawing": "", "_case": ""}
        return self._with(_changed=self._changed | values, **models)

    def _with(self, **changes: object) -> Described:
        other = object.__new__(Described)
        kept = {key: x for key, x in vars(self).items() if key not in ("system", "specified")}
        vars(other).update(kept | changes)
        return other

    @functools.cached_property
    def system(self) -> System | None:
        """The described system with all numbers that follow from others."""
        return None if self._system is None else with_numbers(self._system, self._changed)

    @functools.cached_property
    def specified(self) -> System | None:
        """The system as it was given to compile."""
        return None if self._specified is None else with_numbers(self._specified, self._changed)

    @functools.cached_property
    def compiled(self) -> Model:
        """The model of the given system, as it was compiled."""
        assert self.again is not None
        assert self.specified is not None
        return self.again(self.specified)

    @functools.cached_property
    def bare(self) -> Model:
        """The model of the given system without radiation memory."""
        assert isinstance(self.again, functools.partial)
        return self.again(self.specified, radiation="none")

    def keep(self, **models: Model) -> None:
        """Set models of the given system, so that they need not be compiled again."""
        vars(self).update(models)

    @property
    def drawing(self) -> str:
        """Shapes, joints and springs as JSON (`swelltree.describe.drawing`)."""
        if not self._drawing and self.system is not None:
            from swelltree.describe.drawing import drawing_text

            self._drawing = drawing_text(self.system)
        return self._drawing

    @property
    def case(self) -> str:
        """Description as the text of a case file; the reason if it contains functions."""
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
        known = self.drawing, self.case, self.data, self.afloat, self.notes
        return Described, (None, *known, None, None, None, self.direct)
