"""Radiation fits of this process, for models that are compiled again with other numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from swelltree.hydro.data.cache import content_key
from swelltree.hydro.linear.data import Table
from swelltree.hydro.linear.excitation import interpolated, travelled
from swelltree.hydro.linear.hydro import without_radiation
from swelltree.hydro.radiation.fit import MissedFitWarning, RadiationModel, fit_radiation
from swelltree.jit import Array
from swelltree.model.capabilities import internal_at_rest, present
from swelltree.model.model import Model
from swelltree.model.solved import total_loads
from swelltree.mooring.dynamic.lines import with_static_lines
from swelltree.multibody.inertia import dense_inertia, world_inertia
from swelltree.multibody.kinematics import (
    Motion,
    dof_coordinates,
    dof_rates,
    forward,
    joint_frames,
    moved_positions,
    tree_blocks,
    velocity_matrix,
)
from swelltree.waves.dispersion import dispersion

# --- How far the motions of a described system with fitted radiation are from those with the data

STEP = 1e-4  # of the differences, m, rad and per second
BETWEEN = 8  # points in every interval of the data
REFINED = 3  # times that peaks of the motion are resolved better
MOVES = 1e-3  # of the largest motion, each times the root of its inertia: less is not judged


class MotionError(NamedTuple):
    """The largest difference of a motion from that with the data, and where it is.

    Args:
        size: over the largest motion of the same degree of freedom.
        dof: joint__Dof.
        omega: [rad/s].
    """

    size: float
    dof: str
    omega: float


class SmallMotions:
    """Linear motions of a model about its start, in numpy.

    Args:
        model: with its start assembled.
        table: the data, at the frequencies that count.
        free: tree velocities that loops and locks leave free (n, f).
    """

    def __init__(self, model: Model, table: Table, free: np.ndarray) -> None:
        self.P, self.M, self.C, self.K = _matrices(model, free)
        self.labels = [model.layout.dof_labels[k] for k in np.abs(free).argmax(axis=0)]
        self.table, self.water = table, model.water
        self.rows = table.omega
        self.A, self.B = self.projected(table.added_mass), self.projected(table.radiation_damping)
        self.force = table.excitation
        self.omega = _between(self.rows)
        y = self._amplitudes(self.omega)
        for _ in range(REFINED):
            self.omega = np.union1d(self.omega, _near_peaks(self.omega, y))
            y = self._amplitudes(self.omega)
        self.y = y
        self.size = np.abs(y).max(axis=(0, 1), initial=0.0)
        inertia = np.sqrt(np.abs(np.diag(self.M + self.A.mean(axis=0))))
        moving = self.size * inertia
        self.judged = moving > MOVES * moving.max(initial=0.0)

    def projected(self, matrices: np.ndarray) -> np.ndarray:
        return self.P.T @ matrices @ self.P

    def _impedance(
        self, omega: np.ndarray, A: np.ndarray | None = None, B: np.ndarray | None = None
    ) -> np.ndarray:
        A = interpolated(self.rows, self.A, omega) if A is None else A
        B = interpolated(self.rows, self.B, omega) if B is None else B
        w = omega[:, None, None]
        return -(w**2) * (self.M + A) - 1j * w * (self.C + B) + self.K

    def _forces(self, omega: np.ndarray) -> Complex[np.ndarray, "w f d"]:
        k = np.asarray(dispersion(omega, self.water.depth, self.water.g))
        direction = self.table.direction
        pairs = (x.ravel() for x in np.meshgrid(k, direction, indexing="ij"))
        F = interpolated(self.rows, self.force, omega)
        F = F * travelled(self.table.place, *pairs).reshape(F.shape)
        force = np.swapaxes(F @ self.P, 1, 2)
        if self.force.any():
            return force
        # data without excitation: a unit force on every motion
        return np.broadcast_to(np.eye(self.P.shape[1], dtype=complex), (omega.size, *self.M.shape))

    def _amplitudes(
        self, omega: np.ndarray, A: np.ndarray | None = None, B: np.ndarray | None = None
    ) -> np.ndarray:
        Z = self._impedance(omega, A, B)
        return np.swapaxes(np.linalg.solve(Z, self._forces(omega)), 1, 2)

    def error(self, added_mass: np.ndarray, damping: np.ndarray) -> MotionError:
        """Of added mass and damping of the free velocities, at `omega` (w, f, f)."""
        if not self.judged.any():
            return MotionError(0.0, "", 0.0)
        gap = np.abs(self._amplitudes(self.omega, added_mass, damping) - self.y).max(axis=1)
        gap = np.where(self.judged, gap / self.size.clip(min=1e-300), 0.0)
        row, dof = np.unravel_index(int(gap.argmax()), gap.shape)
        return MotionError(float(gap[row, dof]), self.labels[dof], float(self.omega[row]))

    def importance(self, scale: np.ndarray, motion: np.ndarray) -> Float[np.ndarray, " r"]:
        """Motion error per misfit of scaled K at the frequencies of the data, over its rms (r,).

        Args:
            scale: of the fitted velocities.
            motion: fitted velocities per velocity of all bodies (m, 6N).
        """
        S = scale[:, None] * (motion @ self.P)
        inverse = np.linalg.inv(self._impedance(self.omega))
        left = np.linalg.norm(inverse @ S.T, axis=-1) / self.size.clip(min=1e-300)
        right = np.linalg.norm(self.y @ S.T, axis=-1).max(axis=1)
        size = self.omega * left[:, self.judged].max(axis=1) * right
        near = np.abs(self.omega[:, None] - self.rows).argmin(axis=1)
        result = np.array([size[near == k].max() for k in range(self.rows.size)])
        return result / np.sqrt((result**2).mean())


def _matrices(
    model: Model, free: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """P, and M, C, K without radiation, by differences of all loads about the start."""
    still = without_radiation(with_static_lines(model))
    internal = internal_at_rest(still)
    still = present(still, internal)
    q, angles = np.asarray(model.start.q), np.asarray(model.start.angles)
    n = model.layout.n_tree

    def force(step: np.ndarray, rate: np.ndarray) -> np.ndarray:
        pose = forward(still, moved_positions(still.layout, q, step))
        frames = joint_frames(still, pose)
        P = velocity_matrix(*tree_blocks(still, pose, frames))
        v = (P @ rate).reshape(-1, 6)
        coordinate = dof_coordinates(still, frames, angles)
        motion = Motion(pose, v, frames, coordinate, dof_rates(still, pose, frames, v))
        wrench = np.asarray(total_loads(still, np.zeros(()), motion, internal).wrench)
        return free.T @ (P.T @ wrench.reshape(-1))

    none = np.zeros(n)
    K, C = np.empty((2, free.shape[1], free.shape[1]))
    for j, direction in enumerate(free.T):
        d = STEP * direction
        K[:, j] = -(force(d, none) - force(-d, none)) / (2.0 * STEP)
        C[:, j] = -(force(none, d) - force(none, -d)) / (2.0 * STEP)
    pose = forward(still, q)
    P = velocity_matrix(*tree_blocks(still, pose, joint_frames(still, pose))) @ free
    dry = still.replace(added_mass=None)
    M = P.T @ dense_inertia(dry, world_inertia(dry, pose)) @ P
    return P, M, C, K


def _between(rows: np.ndarray) -> np.ndarray:
    """The frequencies with additional ones between them."""
    part = np.arange(BETWEEN) / BETWEEN
    return np.append((rows[:-1, None] + np.diff(rows)[:, None] * part).ravel(), rows[-1])


def _near_peaks(omega: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Frequencies near every maximum of a motion."""

    def adjacent() -> Iterator[np.ndarray]:
        size = np.abs(y).reshape(omega.size, -1)
        top = (size[1:-1] >= size[:-2]) & (size[1:-1] >= size[2:])
        for k in np.flatnonzero(top.any(axis=1)) + 1:
            yield np.linspace(omega[k - 1], omega[k + 1], 7)

    return np.concatenate([*adjacent(), omega[:1]])


MAX_FITS = 16
Said = list[tuple[Warning | str, type[Warning]]]
_RECENT: dict[str, tuple[RadiationModel, Said]] = {}


def recent_fit(
    omega: Array, A: Array, B: Array, A_inf: Array, **options: Any
) -> tuple[RadiationModel, Said]:
    """As `fit_radiation`, and what it warns of: of several fits, that of the one used is said.

    A misfit of K is not: what is asked for is the error of the motion.
    """
    key = content_key(omega, A, B, A_inf, options)
    if key not in _RECENT:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            built = fit_radiation(omega, A, B, A_inf, **options)
        while len(_RECENT) >= MAX_FITS:
            _RECENT.pop(next(iter(_RECENT)))
        said = [(one.message, one.category) for one in heard]
        _RECENT[key] = (built, [x for x in said if not issubclass(x[1], MissedFitWarning)])
    return _RECENT[key]
