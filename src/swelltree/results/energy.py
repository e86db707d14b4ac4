r"""The energy budget: what was gained, what was stored, what did the work.

.. math:: r(t) = K(t) + V(t) - K(0) - V(0) - \sum_e W_e(t)

The residual r is zero but for the error of the time stepping.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float


def energy_residual(
    kinetic: Float[np.ndarray, "time body"],
    potential: Float[np.ndarray, "time element"],
    work: Float[np.ndarray, "time term"],
) -> Float[np.ndarray, " time"]:
    """Energy that came from nowhere since the first sample [J].

    Args:
        kinetic: kinetic energy of each body [J].
        potential: stored energy of each element [J].
        work: work of the rest of each element and of each prescribed motion [J].
    """
    balance = kinetic.sum(1) + potential.sum(1) - work.sum(1)
    return balance - balance[:1]


def energy_scale(dataset: Any) -> float:
    """Size of the energy that moved in a run [J], to judge the residual by.

    The largest of kinetic energy, change of all stored energy, and work of one element. Stored
    energies are summed first: weight and buoyancy of a floating body nearly cancel.
    """
    stored = dataset["potential_energy"].sum("element").values
    kinetic = dataset["kinetic_energy"].sum("body").values
    terms = [kinetic, stored - stored[:1], dataset["work"].values]
    return float(max(np.abs(term).max(initial=0.0) for term in terms))
