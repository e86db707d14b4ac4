"""Excitation of hydro data at a state of rest, for linear models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from swelltree.effects.linear_hydro.data import Table
from swelltree.effects.linear_hydro.in_sea import excitation_at, in_band


@dataclass(frozen=True)
class DataExcitation:
    """Force of plane waves on all bodies by the data."""

    table: Table
    yaw: Any  # (N,) of the bodies from where the data hold; None: fixed axes

    def __call__(self, omega: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Per metre of a crest at the origin, exp(-iwt), world axes, (c, 6N)."""
        return excitation_at(
            self.table, omega, beta, yaw=None if self.yaw is None else np.asarray(self.yaw)
        )

    def in_band(self, waves: Any) -> np.ndarray:
        """Which components of a sea the data cover, (c,) bool."""
        return in_band(self.table, waves)

    def wet(self) -> np.ndarray:
        """Which bodies the sea acts on, (N,) bool."""
        size = np.abs(np.asarray(self.table.excitation)).max(axis=(0, 1), initial=0.0)
        return size.reshape(-1, 6).max(axis=1) > 0
