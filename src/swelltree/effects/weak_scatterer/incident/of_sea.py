"""From a realised sea to an incident wave, checked against tank and mode."""

from __future__ import annotations

import math

import numpy as np

from swelltree.effects.weak_scatterer.incident.gridded import grid_frequency, gridded_waves
from swelltree.effects.weak_scatterer.incident.interface import Incident
from swelltree.effects.weak_scatterer.incident.linear import linear_waves
from swelltree.effects.weak_scatterer.incident.steep import steep_wave
from swelltree.effects.weak_scatterer.motion.scene import Scene
from swelltree.engine.backend import is_traced
from swelltree.model.model import Model
from swelltree.system.errors import SwelltreeError, warn_user
from swelltree.waves.airy import Components
from swelltree.waves.dispersion import dispersion
from swelltree.waves.gridded import GridWaves
from swelltree.waves.sea import RealisedSea
from swelltree.waves.stream_function import StreamWave, highest

HALF_PLANE = 1e-9  # sine of a heading that is along x
COARSE, TOO_COARSE = 6.0, 3.0  # lengths of a wave over the spacing: less is warned of, rejected
PART, LARGE_PART = 0.05, 0.2  # of the energy of a sea, in such waves


def main_frequency(waves: RealisedSea) -> float:
    """Frequency that half of the energy lies below [rad/s]."""
    if isinstance(waves, GridWaves):
        return grid_frequency(waves)
    omega = np.atleast_1d(np.asarray(waves.omega))
    if isinstance(waves, StreamWave):
        return float(omega[0])
    # components of equal energy have no largest one
    energy = np.asarray(waves.amplitude, float) ** 2
    order = np.argsort(omega)
    at = np.searchsorted(np.cumsum(energy[order]), 0.5 * energy.sum())
    return float(omega[order[min(at, len(omega) - 1)]])


def incident_of(
    name: str, waves: RealisedSea, model: Model, scene: Scene, radius: float
) -> Incident:
    """The incident wave of a realised sea.

    Args:
        name: of the weak scatterer, for messages.
        waves: realised.
        model: whose water it is.
        scene: mode and symmetry.
        radius: of the tank [m].
    """
    item = f"force '{name}'"
    if is_traced(waves):
        raise SwelltreeError(
            f"{item}: the sea has numbers that are traced (jit, grad, vmap), which weak scatterers "
            "do not know. Use differences of whole runs."
        )
    if not isinstance(waves, Components) and not scene.wavy:
        what = "a sea on a grid" if isinstance(waves, GridWaves) else "a stream function wave"
        raise SwelltreeError(
            f"{item}: {what} rises above the mean surface that this mode computes with. Use "
            "RegularWave or mode='weak_scatterer'."
        )
    if isinstance(waves, GridWaves):
        omega = main_frequency(waves)
        k = float(dispersion(omega, float(model.water.depth), float(model.water.g)))
        _check_length(item, 2.0 * math.pi / k, radius)
        tank = (scene.tank_center, radius, scene.boundary.mirrors.symmetric)
        return gridded_waves(item, waves, float(model.water.g), *tank)
    if scene.boundary.mirrors.symmetric:
        _check_heading(item, waves)
    _check_length(item, _main_length(waves), radius)
    if isinstance(waves, StreamWave):
        return steep_wave(waves, model.water)
    _check_steepness(item, waves, scene)
    return linear_waves(waves, model.water)


def _check_heading(item: str, waves: Components | StreamWave) -> None:
    beta = np.atleast_1d(np.asarray(waves.beta))
    off = np.abs(np.sin(beta)) > HALF_PLANE
    if off.any():
        raise SwelltreeError(
            f"{item}: a wave has the heading {float(beta[off][0]):.4g} rad, which the plane of "
            "symmetry y = 0 does not allow. Give waves along x or symmetric=False."
        )


def _main_length(waves: Components | StreamWave) -> float:
    """Length of the wave with most of the energy [m]."""
    omega = main_frequency(waves)
    k = np.atleast_1d(np.asarray(waves.wavenumber))
    at = int(np.argmin(np.abs(np.atleast_1d(np.asarray(waves.omega)) - omega)))
    return 2.0 * math.pi / float(k[at])


def _check_length(item: str, length: float, radius: float) -> None:
    """The wave with most of the energy must fit the tank, whose beach would reflect it."""
    if radius < length:
        raise SwelltreeError(
            f"{item}: radius {radius:g} m is shorter than the wavelength {length:.4g} m, so that "
            f"its beach would reflect. Give a radius of at least {1.5 * length:.3g} m."
        )


def check_spacing(name: str, waves: RealisedSea, model: Model, spacing: float) -> None:
    """Every component that matters must be long beside the spacing of the free surface.

    Waves of fewer than six spacings are damped and slowed by the mesh, those of fewer than three
    are not radiated at all.

    Args:
        name: of the weak scatterer, for messages.
        waves: realised.
        model: whose water it is.
        spacing: of the free surface over the bodies [m].
    """
    if isinstance(waves, GridWaves):
        omega, energy = np.array([grid_frequency(waves)]), np.ones(1)
    elif isinstance(waves, StreamWave):
        omega, energy = np.array([main_frequency(waves)]), np.ones(1)
    else:
        omega, energy = np.asarray(waves.omega, float), np.asarray(waves.amplitude, float) ** 2
    if not energy.sum() > 0.0:
        return
    k = np.asarray(dispersion(omega, float(model.water.depth), float(model.water.g)))
    length = 2.0 * math.pi / k
    # the length that a twentieth of the energy is shorter than
    order = np.argsort(length)
    at = order[np.searchsorted(np.cumsum(energy[order]), PART * energy.sum())]
    shortest = float(length[at])
    for limit, largest in ((TOO_COARSE, LARGE_PART), (COARSE, PART)):
        part = float(energy[length < limit * spacing].sum() / energy.sum())
        if part <= largest:
            continue
        what = (
            f"force '{name}': waves of {shortest:.3g} m are {shortest / spacing:.2g} times the "
            f"spacing {spacing:.3g} m of the free surface, and {100 * part:.2g} % of the energy of "
            f"the sea is in waves shorter than {limit:g} spacings"
        )
        give = f"Give a spacing of at most {shortest / 8:.2g} m"
        if limit == TOO_COARSE:
            raise SwelltreeError(f"{what}: the mesh does not carry them. {give}.")
        warn_user(f"{what}: their radiation comes out too small. {give}, or cut the spectrum.")
        return


def _check_steepness(item: str, waves: Components, scene: Scene) -> None:
    """A linear wave beyond the highest steady one is not a wave."""
    if len(waves.amplitude) > 1:
        return
    length = 2.0 * math.pi / float(np.asarray(waves.wavenumber)[0])
    top, height = highest(length, scene.depth), 2.0 * float(np.asarray(waves.amplitude)[0])
    if scene.wavy and height > top:
        raise SwelltreeError(
            f"{item}: the wave is too steep: {height:.4g} m high and {length:.4g} m long, where "
            f"{top:.4g} m would break. Lower it or lengthen it."
        )
