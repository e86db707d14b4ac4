"""Power take-offs whose law the user writes."""

from dataclasses import field
from typing import ClassVar

from swelltree.describe.forces.own_effects import Parameters
from swelltree.describe.forces.signals import Function, Signal
from swelltree.describe.pto.base import Pto
from swelltree.describe.spec import description
from swelltree.describe.values import NamedValues


@description
class OwnLaw(Pto):
    """A power take-off with a law of your own: a class made with `swelltree.pto_law`.

    Args:
        law: the class, or "module:name".
        parameters: its fields: numbers.
        force: u [N, N m], a signal that the law sees; a controller may drive it instead.
    """

    type: ClassVar[str] = "own_law"
    law: Function = field(kw_only=True)
    parameters: Parameters = field(default=(), kw_only=True)
    force: Signal | None = field(default=None, kw_only=True)

    def table(self) -> NamedValues:
        """This item as a TOML table."""
        table = super().table()
        if self.parameters:
            table["parameters"] = dict(self.parameters)
        return table
