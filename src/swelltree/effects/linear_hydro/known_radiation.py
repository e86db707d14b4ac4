"""Radiation of a periodic motion, known beforehand at an instant."""

from __future__ import annotations

from typing import ClassVar

from swelltree.engine.arrays import Array, namespace, pytree
from swelltree.model.effect import Effect, Loads, Now
from swelltree.model.model import Model


@pytree("names")
class KnownRadiation(Effect):
    """Radiation wrench of every body, as numbers."""

    kind: ClassVar[str] = "periodic"
    radiation: Array  # (N, 6)
    names: tuple[str, ...] = ("periodic radiation",)

    def loads(self, model: Model, now: Now) -> Loads:
        """The wrench, counted as work."""
        xp = namespace(now.motion.v)
        wrench = xp.asarray(self.radiation)
        power = (wrench * now.motion.v).sum().reshape(1)
        return Loads(wrench, 0.0 * power, power, {"radiation": wrench})
