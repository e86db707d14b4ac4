"""Excitation of plane waves by the data: at any frequency and heading, for bodies at rest."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swelltree.effects.linear_hydro.data import LEFT_OUT, NEGLIGIBLE, Table
from swelltree.effects.linear_hydro.frame import turned_six
from swelltree.effects.linear_hydro.headings import heading_weights, tell_coarse
from swelltree.engine.arrays import Array
from swelltree.spatial.cubic_spline import CubicSpline
from swelltree.system.errors import SwelltreeError, warn_user
from swelltree.waves.dispersion import dispersion

if TYPE_CHECKING:
    from swelltree.waves.airy import Components
    from swelltree.waves.water import WaterNumbers


SPLINES: deque[tuple[np.ndarray, np.ndarray, tuple[CubicSpline, ...]]] = deque(
    maxlen=8
)  # arrays and their splines


def interpolated(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Values along the first axis by a cubic spline through the data (real or complex)."""
    if len(x) < 4:
        i = np.clip(np.searchsorted(x, at) - 1, 0, len(x) - 2)
        part = ((at - x[i]) / (x[i + 1] - x[i])).reshape(-1, *(1,) * (y.ndim - 1))
        return (1 - part) * y[i] + part * y[i + 1]
    splines = _splines(x, y)
    return splines[0](at) + 1j * splines[-1](at) if np.iscomplexobj(y) else splines[0](at)


def _splines(x: np.ndarray, y: np.ndarray) -> tuple[CubicSpline, ...]:
    """Splines of the real and imaginary parts; those of the last few arrays are kept."""
    for own_x, own_y, result in SPLINES:
        if own_y is y and own_x is x:
            return result
    parts = (np.real(y), np.imag(y)) if np.iscomplexobj(y) else (y,)
    result = tuple(CubicSpline(x, part) for part in parts)
    SPLINES.append((x, y, result))
    return result


def travelled(place: np.ndarray, k: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Phase factor exp(i k.x) of waves at the places (p, 2), relative to the origin (c, p)."""
    along = np.stack([np.cos(beta), np.sin(beta)], axis=1) @ place.T
    return np.exp(1j * np.asarray(k)[:, None] * along)


def excitation_at(
    table: Table,
    omega: np.ndarray,
    beta: np.ndarray,
    k: np.ndarray,
    amplitude: Array = 1.0,
    yaw: np.ndarray | None = None,
) -> np.ndarray:
    """Excitation per metre of a crest at the origin, at pairs of frequency and heading, (c, 6N).

    Args:
        table: the data.
        omega: of each wave [rad/s].
        beta: of each wave [rad].
        k: wavenumber of each wave [rad/m].
        amplitude: of each wave where it is known [m]: a warning about headings that are too far
            apart then looks where the waves are.
        yaw: of every body from where the data hold, (N,): its data turn with it.
    """
    way = travelled(table.place, k, beta)
    force = interpolated(np.asarray(table.omega), np.asarray(table.excitation), omega)
    size = np.abs(amplitude) * np.ones(len(omega))
    # with the crest at each body it changes slowly and can be interpolated
    if yaw is None:
        weights = heading_weights(table.direction, beta)
        tell_coarse(table.direction, size[:, None, None] * force, beta, "hydro data")
        return np.einsum("cd,cdm->cm", weights, force) * way
    for i, psi in enumerate(yaw):
        tell_coarse(table.direction, size[:, None, None] * force, beta - psi, "hydro data")
        weights = heading_weights(table.direction, beta - psi)
        body = slice(6 * i, 6 * i + 6)
        six = np.einsum("cd,cdm->cm", weights, force[:, :, body])
        way[:, body] *= turned_six(np.full(len(omega), psi), six)
    return way


def in_band(table: Table, waves: Components) -> np.ndarray:
    """Which components the data cover; the others are left out, and rejected where they matter."""
    low, high = float(table.omega[0]), float(table.omega[-1])
    inside, part = covered_by(low, high, waves)
    if part > NEGLIGIBLE:
        warn_user(
            f"hydro data reach from omega = {low:.4g} to {high:.4g} rad/s: {100 * part:.2g} % of "
            f"the energy of the sea lies outside and is left out. Give omega_max={high:.4g} for "
            "the sea, or data up to its end."
        )
    return inside


def covered_by(low: float, high: float, waves: Components) -> tuple[np.ndarray, float]:
    """Which components lie between two frequencies [rad/s], and the part of the energy beside them.

    An error where that is more than a sea can lose.
    """
    omega = np.asarray(waves.omega)
    inside = (omega >= low * (1 - 1e-9)) & (omega <= high * (1 + 1e-9))
    energy = np.asarray(waves.amplitude) ** 2
    part = float(energy[~inside].sum() / max(float(energy.sum()), 1e-300))
    if part > LEFT_OUT:
        worst = omega[~inside][energy[~inside].argmax()]
        cut = f"omega_max={high:.4g}" if worst > high else f"omega_min={low:.4g}"
        raise SwelltreeError(
            f"hydro data reach from omega = {low:.4g} to {high:.4g} rad/s but {100 * part:.3g} % "
            f"of the energy of the wave lies outside, most at {worst:.4g} rad/s. Run run_bem(..., "
            f"omega=...) up to there, give {cut} for the sea, or change the wave."
        )
    return inside, part


@dataclass(frozen=True)
class DataExcitation:
    """Force of plane waves on all bodies by the data."""

    table: Table
    water: WaterNumbers  # waves.water.WaterNumbers
    yaw: Array | None  # (N,) of the bodies from where the data hold; None: fixed axes

    def __call__(self, omega: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Per metre of a crest at the origin, exp(-iwt), world axes, (c, 6N)."""
        k = dispersion(omega, float(self.water.depth), float(self.water.g))
        yaw = None if self.yaw is None else np.asarray(self.yaw)
        return excitation_at(self.table, omega, beta, np.asarray(k), yaw=yaw)

    def in_band(self, waves: Components) -> np.ndarray:
        """Which components of a sea the data cover, (c,) bool."""
        return in_band(self.table, waves)

    def wet(self) -> np.ndarray:
        """Which bodies the sea acts on, (N,) bool."""
        size = np.abs(np.asarray(self.table.excitation)).max(axis=(0, 1), initial=0.0)
        return size.reshape(-1, 6).max(axis=1) > 0
