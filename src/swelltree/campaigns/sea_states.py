r"""What the sea states of a campaign are, in the words of IEC TS 62600-100.

.. math:: H_{m0} = 4\sqrt{m_0}, \qquad T_e = \frac{m_{-1}}{m_0}, \qquad
          J = \rho g \int c_g(\omega) S(\omega)\, d\omega

from the waves of the run themselves, so that their power is that of the sea that was simulated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.campaigns.table import CaseTable, in_sea, of_model
from swelltree.system.named_values import NamedValues
from swelltree.system.waters.seas import Sea
from swelltree.waves.airy import Components
from swelltree.waves.sea import RealisedSea, realise

ABOUT = {
    "Hm0": {"units": "m", "long_name": "spectral estimate of the significant wave height"},
    "Te": {"units": "s", "long_name": "energy period"},
    "J": {"units": "W/m", "long_name": "omnidirectional wave power"},
}


def sea_quantities(
    waves: RealisedSea | None, rho: float, g: float, depth: float
) -> tuple[float, float, float]:
    """Hm0 [m], Te [s] and J [W/m] of a realised sea; gaps where it has no plane waves."""
    if not isinstance(waves, Components) or not np.any(waves.amplitude):
        return np.nan, np.nan, np.nan
    omega, k = np.asarray(waves.omega), np.asarray(waves.wavenumber)
    energy = 0.5 * np.asarray(waves.amplitude) ** 2
    m0 = energy.sum()
    period = 2.0 * np.pi * (energy / omega).sum() / m0
    kd = np.minimum(2.0 * k * depth, 700.0) if np.isfinite(depth) else np.full(len(k), 700.0)
    group = 0.5 * omega / k * (1.0 + kd / np.sinh(kd))
    return 4.0 * np.sqrt(m0), period, rho * g * (energy * group).sum()


def sea_states(table: CaseTable, sea: Sea | None, water: Any, g: float) -> NamedValues:
    """Quantities of the sea of each case; seeds of one state share them.

    Args:
        table: the cases.
        sea: of the base.
        water: rho and depth.
        g: gravity [m/s^2].
    """
    if sea is None:
        return {}
    names = [name for name in table.columns if not of_model(name) and name != "seed"]
    rows = np.stack([table.columns[name] for name in names], axis=1) if names else None
    if rows is None:
        first, inverse = np.array([0]), np.zeros(len(table), int)
    else:
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    quantities = []
    for k in first:
        where = {name: x for name, x in table.row(int(k)).items() if not of_model(name)}
        waves = realise(in_sea(sea, where) or sea, water)
        quantities.append(sea_quantities(waves, float(water.rho), g, float(water.depth)))
    values = np.array(quantities)[inverse.ravel()]
    return {
        name: {"values": values[:, i].tolist(), "attrs": ABOUT[name]}
        for i, name in enumerate(ABOUT)
    }
