"""Dynamic lines as static catenaries, which every smooth study can take."""

from __future__ import annotations

from dataclasses import fields
from typing import ClassVar

from swelltree.effects.lines.dynamic.lines import DynamicLines
from swelltree.effects.lines.quasi_static.build import build_lines
from swelltree.effects.lines.quasi_static.lines import STATIC_FIELDS, QuasiStaticLines
from swelltree.engine.arrays import pytree
from swelltree.model.layout import Layout
from swelltree.model.model import Model
from swelltree.system import System


@pytree(*STATIC_FIELDS)
class StaticLines(QuasiStaticLines):
    """What stands for dynamic lines, in their place among the effects."""

    kind: ClassVar[str] = DynamicLines.kind


def static_lines(system: System, layout: Layout) -> StaticLines | None:
    """The dynamic lines of a system as catenaries, None if there are none.

    Releases are left out, and a seabed grid has its depth at the origin.
    """
    built = build_lines(system, layout, "dynamic")
    if built is None:
        return None
    return StaticLines(**{field.name: getattr(built, field.name) for field in fields(built)})


def with_static_lines(model: Model) -> Model:
    """The model with what stands for effects that have unknowns of their own."""
    for effect in model.effects:
        if effect.has_unknowns:
            stand_in, note = effect.smooth()
            kept = tuple(stand_in if other is effect else other for other in model.effects)
            kept = tuple(other for other in kept if other is not None)
            model = model.replace(effects=kept).noted(note)
    return model
