r"""The energy budget: what was gained, what was stored, what did the work.

.. math:: r(t) = K(t) + V(t) - K(0) - V(0) - \sum_e W_e(t)

The residual r is zero but for the error of the time stepping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxtyping import Float

from swelltree.engine.arrays import Array, namespace

if TYPE_CHECKING:
    import xarray as xr


def energy_residual(
    kinetic: Float[Array, "time body"],
    potential: Float[Array, "time element"],
    work: Float[Array, "time term"],
) -> Float[Array, " time"]:
    """Residual of the energy balance since the first sample [J].

    Args:
        kinetic: kinetic energy of each body [J].
        potential: stored energy of each element [J].
        work: work of the rest of each element and of each prescribed motion [J].
    """
    balance = kinetic.sum(1) + potential.sum(1) - work.sum(1)
    return balance - balance[:1]


def energy_moved(
    kinetic: Float[Array, "time body"],
    potential: Float[Array, "time element"],
    work: Float[Array, "time term"],
) -> Array:
    """Size of the energy that moved [J], to judge the residual by; arguments as above.

    The largest of kinetic energy, change of all stored energy, and work of one element. Stored
    energies are summed first: weight and buoyancy of a floating body nearly cancel.
    """
    xp = namespace(kinetic, potential, work)
    stored = potential.sum(1)
    terms = kinetic.sum(1), stored - stored[:1], work
    return xp.max(xp.stack([xp.abs(term).max(initial=0.0) for term in terms]))


def energy_scale(dataset: xr.Dataset) -> float:
    """The same of a result [J]."""
    names = ("kinetic_energy", "potential_energy", "work")
    return float(energy_moved(*(dataset[name].values for name in names)))
