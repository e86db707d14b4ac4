r"""Direct-drive generator: force by control, electrical power by an efficiency map.

.. math:: P_e = \eta(|F|, |v|)\, (-F v) - R\, (F / K)^2
"""

from __future__ import annotations

from swelltree.effects.strokes.laws.base import Law, LawInputs, LawOutputs, generated
from swelltree.engine.arrays import Array, namespace, pytree


@pytree()
class Generator(Law):
    """One generator: maps of different generators may have different sizes."""

    damping: Array  # (1,)
    copper: Array  # (1,) R / K^2
    map_force: Array  # (m,)
    map_speed: Array  # (n,)
    map_efficiency: Array  # (m, n)

    def start(self) -> Array:
        return namespace(self.damping).zeros((0, 1))

    def outputs(self, inputs: LawInputs) -> LawOutputs:
        wanted = inputs.u - self.damping * inputs.v
        force = inputs.limited(wanted)
        power = -force * inputs.v
        copper = self.copper * force**2
        delivered = generated(power, self.efficiency(force, inputs.v)) - copper
        lost, beyond = power - delivered, inputs.beyond(wanted)
        shown = {"copper_loss": copper}
        return LawOutputs(force, 0.0 * power, delivered, lost, 0.0 * inputs.z, beyond, shown)

    def efficiency(self, force: Array, v: Array) -> Array:
        """Bilinear in the map, held beyond its edges."""
        xp = namespace(force, v)
        table = xp.asarray(self.map_efficiency)
        i, a = _cell(xp, self.map_force, xp.abs(force))
        j, b = _cell(xp, self.map_speed, xp.abs(v))
        low = (1.0 - b) * table[i, j] + b * table[i, j + 1]
        high = (1.0 - b) * table[i + 1, j] + b * table[i + 1, j + 1]
        return (1.0 - a) * low + a * high


def _cell(xp, grid: Array, value: Array) -> tuple[Array, Array]:
    """Number of the cell and the place in it, 0 to 1."""
    grid = xp.asarray(grid)
    i = xp.clip(xp.searchsorted(grid, value, side="right") - 1, 0, len(grid) - 2)
    return i, xp.clip((value - grid[i]) / (grid[i + 1] - grid[i]), 0.0, 1.0)
