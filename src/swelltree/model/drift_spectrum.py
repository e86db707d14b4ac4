r"""Spectrum of the slow drift force, to compare the time domain with.

.. math:: S_F(\mu) = 8 \int_0^\infty S(\omega)\, S(\omega + \mu)\,
          |Q^-(\omega, \omega + \mu)|^2\, d\omega , \qquad
          \bar F = 2 \int_0^\infty S(\omega)\, D(\omega)\, d\omega

Pinkster (1980), eqs. VI-9 and VI-10 in our one-sided spectra: a pair of waves gives a line of
amplitude 2 a_1 a_2 |Q|, and a^2 = 2 S d_omega.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.model.drift import mean_drift_at, transfer_at
from swelltree.model.hydrodynamics import Table
from swelltree.system.errors import SwelltreeError
from swelltree.waves.spectra import density


def slow_pairs(table: Table, first: np.ndarray, second: np.ndarray, beta: float) -> np.ndarray:
    """Difference-frequency function of pairs of frequencies by the model's method (p, 6N)."""
    drift = table.drift
    if drift is None:
        raise SwelltreeError(
            "the model has no second-order loads. Compile with drift='newman' or 'qtf'."
        )
    omega = np.concatenate([first, second])
    heading = np.full(len(omega), beta)
    if drift.method == "qtf":
        i = np.arange(len(first))
        return transfer_at(drift.difference, omega, heading, i, i + len(first))
    D = mean_drift_at(drift.mean, omega, heading)
    D1, D2 = D[: len(first)], D[len(first) :]
    plus = np.sqrt(np.maximum(D1, 0.0) * np.maximum(D2, 0.0))
    return plus - np.sqrt(np.maximum(-D1, 0.0) * np.maximum(-D2, 0.0))


def slow_force_spectrum(
    table: Table, spectrum: Any, mu: Any, beta: float = 0.0, count: int = 800
) -> tuple[np.ndarray, np.ndarray]:
    """Mean (6N,) and spectrum (mu, 6N) of the slow force in a long-crested sea.

    Args:
        table: `model.hydro.table` of a model with drift "newman" or "qtf".
        spectrum: Jonswap(...) ...
        mu: difference frequencies [rad/s].
        beta: heading [rad].
        count: points of the integral over the frequencies of the data.
    """
    drift = table.drift
    if drift is None or drift.method == "mean":
        raise SwelltreeError(
            "the model has no slow forces. Compile with drift='newman' or drift='qtf'."
        )
    band = (drift.mean or drift.difference).omega
    width = (band[-1] - band[0]) / count
    omega = band[0] + width * (np.arange(count) + 0.5)
    S = density(spectrum, omega)
    mean = 2.0 * width * (S[:, None] * np.real(slow_pairs(table, omega, omega, beta))).sum(0)
    rows = []
    for apart in np.asarray(mu, dtype=float):
        Q = slow_pairs(table, omega, omega + apart, beta)
        both = S * density(spectrum, omega + apart)
        rows.append(8.0 * width * (both[:, None] * np.abs(Q) ** 2).sum(0))
    return mean, np.array(rows)
