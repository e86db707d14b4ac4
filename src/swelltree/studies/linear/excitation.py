"""What excites a linear model: which waves, and their forces by hydro data and by effects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.data import Table
from swelltree.hydro.linear.excitation import DataExcitation, in_band
from swelltree.hydro.linear.hydro import hydro_table, linear_hydro
from swelltree.hydro.morison.drag import DragPieces
from swelltree.jit import Array
from swelltree.model.model import Model
from swelltree.studies.linear.drag import DragSolver, Waves
from swelltree.studies.linear.linear_model import OperatingPoint
from swelltree.studies.linear.wave_forces import group_excitation
from swelltree.studies.options import linear_waves
from swelltree.waves.sea import AnySea


@dataclass(frozen=True)
class Excitation:
    """Force of plane waves on all bodies at the equilibrium."""

    at: OperatingPoint
    by_data: DataExcitation | None
    drag: tuple[DragPieces, ...]  # whose excitation is left out here

    def __call__(self, omega: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Per metre of a crest at the origin, exp(-iwt), at pairs of frequency and heading (c, 6N).

        Args:
            omega: of each wave [rad/s].
            beta: of each wave [rad].
        """
        at = self.at
        force = group_excitation(at.model, at.formulation, at.state, omega, beta)
        if self.drag:
            waves = Waves(omega, beta, np.ones(len(omega)))
            force = force - DragSolver(at.model, self.drag, waves, None).small().force
        return force if self.by_data is None else force + self.by_data(omega, beta)

    def wet(self) -> np.ndarray:
        """Which bodies the sea acts on by hydro data, (N,) bool."""
        model = self.at.model
        if self.by_data is None:
            return np.full(model.layout.n_bodies, linear_hydro(model) is not None)
        return self.by_data.wet()


def table_of(model: Model) -> Table:
    """The hydro data, which must be there."""
    table = hydro_table(model)
    if table is None:
        raise SwelltreeError(
            "rao: the model has no hydro data. Compile with compile(system, hydro=...)."
        )
    return table


def has_table(model: Model) -> bool:
    return hydro_table(model) is not None


def waves_of(model: Model, sea: AnySea, case: int | str) -> Waves:
    """Components of a sea that the data cover."""
    waves = linear_waves("response", model, sea, case)
    inside = in_band(table_of(model), waves) if has_table(model) else slice(None)
    width = np.broadcast_to(waves.width, np.shape(waves.omega))
    columns = (waves.omega, waves.beta, waves.amplitude, width)
    return Waves(*(np.asarray(x)[inside] for x in columns))


def requested(model: Model, omega: Array, wave_direction: Array) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies and headings asked for, or those of the data."""
    if not has_table(model):
        if omega is None:
            raise SwelltreeError(
                "rao: there are no hydro data to take frequencies from. Give omega."
            )
        beta = 0.0 if wave_direction is None else wave_direction
        return np.atleast_1d(np.asarray(omega, float)), np.atleast_1d(np.asarray(beta, float))
    table = table_of(model)
    w = np.atleast_1d(np.asarray(table.omega if omega is None else omega, dtype=float))
    beta = table.direction if wave_direction is None else wave_direction
    beta = np.atleast_1d(np.asarray(beta, dtype=float))
    if (w < table.omega[0] * (1 - 1e-9)).any() or (w > table.omega[-1] * (1 + 1e-9)).any():
        raise SwelltreeError(
            f"hydro data reach from omega = {table.omega[0]:.4g} to {table.omega[-1]:.4g} rad/s "
            f"but {w.min():.4g} to {w.max():.4g} is asked for. Compute data there."
        )
    return w, beta
