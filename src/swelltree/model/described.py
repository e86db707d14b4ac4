"""The description a model was compiled from, kept for those who look at results.

It is no part of the mechanics: two models that differ in nothing else share their compiled
programs.
"""

from __future__ import annotations

from typing import Any

from swelltree.system import System


class Described:
    """The described system behind a model; its drawing is made when first asked for."""

    def __init__(self, system: System | None = None, drawing: str = "") -> None:
        self.system = system
        self._drawing = drawing

    @property
    def drawing(self) -> str:
        """Shapes, joints and springs as JSON (`swelltree.system.drawing`)."""
        if not self._drawing and self.system is not None:
            from swelltree.system.drawing import drawing_text

            self._drawing = drawing_text(self.system)
        return self._drawing

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Described)

    def __hash__(self) -> int:
        return 0

    def __reduce__(self) -> Any:
        # functions in a description cannot travel to another process; its drawing can
        return Described, (None, self.drawing)
