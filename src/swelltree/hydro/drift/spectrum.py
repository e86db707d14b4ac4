r"""Spectrum of the slow drift force, to compare the time domain with.

.. math:: S_F(\mu) = 8 \int_0^\infty S(\omega)\, S(\omega + \mu)\,
          |Q^-(\omega, \omega + \mu)|^2\, d\omega , \qquad
          \bar F = 2 \int_0^\infty S(\omega)\, D(\omega)\, d\omega

Pinkster (1980), with one-sided spectra: a pair of waves gives a line of amplitude
:math:`2 a_1 a_2 |Q|`, and :math:`a^2 = 2 S\,d\omega`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.drift.data import DriftTable
from swelltree.hydro.drift.loads import mean_drift_at, transfer_at
from swelltree.hydro.linear.hydro import hydro_table
from swelltree.jit import Array
from swelltree.model.model import Model
from swelltree.waves.spectra import density

if TYPE_CHECKING:
    from swelltree.describe.environment.spectra import Spectrum


class SlowForce(NamedTuple):
    """The slow drift force of a sea.

    Args:
        mean: (body, 6) [N, N m].
        spectrum: (mu, body, 6), one-sided [N^2 s, N^2 m^2 s].
    """

    mean: np.ndarray
    spectrum: np.ndarray


def slow_force_spectrum(
    model: Model, spectrum: Spectrum, mu: Array, beta: float = 0.0, count: int = 800
) -> SlowForce:
    """Mean and spectrum of the slow force in a long-crested sea.

    Args:
        model: compiled with drift "newman" or "qtf".
        spectrum: Jonswap(...) ...
        mu: difference frequencies [rad/s].
        beta: heading [rad].
        count: points of the integral over the frequencies of the data.
    """
    table = hydro_table(model)
    drift = None if table is None else table.drift
    if drift is None or drift.method == "mean":
        raise SwelltreeError(
            "the model has no slow forces. Compile with drift='newman' or drift='qtf'."
        )
    known = drift.mean or drift.difference
    assert known is not None
    band = known.omega
    width = (band[-1] - band[0]) / count
    omega = band[0] + width * (np.arange(count) + 0.5)
    S = density(spectrum, omega)[:, None]
    mean = 2.0 * width * (S * np.real(slow_pairs(drift, omega, omega, beta))).sum(0)
    rows = []
    for apart in np.asarray(mu, dtype=float):
        Q = slow_pairs(drift, omega, omega + apart, beta)
        both = S * density(spectrum, omega + apart)[:, None]
        rows.append(8.0 * width * (both * np.abs(Q) ** 2).sum(0))
    return SlowForce(mean.reshape(-1, 6), np.array(rows).reshape(len(rows), -1, 6))


def slow_pairs(drift: DriftTable, first: np.ndarray, second: np.ndarray, beta: float) -> np.ndarray:
    """Difference-frequency function of pairs of frequencies by the chosen method (p, 6N)."""
    omega = np.concatenate([first, second])
    heading = np.full(len(omega), beta)
    if drift.difference is not None:
        i = np.arange(len(first))
        return transfer_at(drift.difference, omega, heading, i, i + len(first))
    assert drift.mean is not None
    D1, D2 = np.split(mean_drift_at(drift.mean, omega, heading), 2)
    plus = np.sqrt(np.maximum(D1, 0.0) * np.maximum(D2, 0.0))
    return plus - np.sqrt(np.maximum(-D1, 0.0) * np.maximum(-D2, 0.0))
