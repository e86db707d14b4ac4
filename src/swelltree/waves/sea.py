"""One call for every sea: solve it once, then ask for its surface and motion anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

import numpy as np

from swelltree.describe.environment.seas import GriddedSea, Sea, SeaOf, StreamFunctionWave
from swelltree.jit import Array
from swelltree.waves import airy, gridded, local, stream_function
from swelltree.waves.airy import Components, Kinematics
from swelltree.waves.components import components
from swelltree.waves.dispersion import AnyWater
from swelltree.waves.gridded import GridWaves, grid_waves
from swelltree.waves.local import LocalWaves
from swelltree.waves.ramp import ramp
from swelltree.waves.spectral_lines import real_sum
from swelltree.waves.stream_function import StreamWave, stream_wave

RealisedSea = Components | StreamWave | GridWaves
AnySea = Sea | RealisedSea  # described or realised
EVEN = 64  # times from which on it pays to find out whether they are evenly spaced


@overload
def realise(sea: StreamFunctionWave, water: AnyWater, case: int | str = 0) -> StreamWave: ...
@overload
def realise(sea: GriddedSea, water: AnyWater, case: int | str = 0) -> GridWaves: ...
@overload
def realise(sea: Sea, water: AnyWater, case: int | str = 0) -> RealisedSea: ...
def realise(sea: Sea, water: AnyWater, case: int | str = 0) -> RealisedSea:
    """A sea ready for use: components, the solution of a steep wave, or a field on a grid.

    Args:
        sea: its description.
        water: rho, g and depth.
        case: number or name of the run.
    """
    if isinstance(sea, StreamFunctionWave):
        return stream_wave(sea, water)
    if isinstance(sea, GriddedSea):
        return grid_waves(sea, water)
    if isinstance(sea, SeaOf) and any(isinstance(part, StreamFunctionWave) for part in sea.trains):
        raise sea.fail(
            "a stream function wave is not linear and cannot be added to other trains. "
            "Use it alone, or RegularWave(...)."
        )
    return components(sea, water, case)


def elevation(waves: RealisedSea, t: Array, x: Array = 0.0, y: Array = 0.0) -> Array:
    """Free surface of a realised sea [m]; times and places broadcast.

    Args:
        waves: from `realise` or `components`.
        t: [s].
        x: [m].
        y: [m].
    """
    if isinstance(waves, StreamWave):
        return stream_function.elevation(waves, t, x, y)
    if isinstance(waves, GridWaves):
        return gridded.elevation(waves, t, x, y)
    return airy.elevation(waves, t, x, y)


def elevation_record(waves: RealisedSea, times: np.ndarray) -> np.ndarray:
    """Free surface at the origin, sample by sample [m]; times that are evenly spaced are quick.

    Args:
        waves: from `realise` or `components`, with known numbers.
        times: [s].
    """
    if not isinstance(waves, Components) or len(times) < EVEN:
        return np.asarray(elevation(waves, times))
    first, step = times[0], (times[-1] - times[0]) / (len(times) - 1)
    even = first + step * np.arange(len(times))
    if np.abs(times - even).max() > 4 * np.spacing(np.abs(times).max()):
        return np.asarray(elevation(waves, times))
    omega = np.asarray(waves.omega)
    lines = np.asarray(waves.complex_amplitude) * np.exp(-1j * omega * first)
    surface = real_sum(omega, lines[:, None], step, len(times))[:, 0]
    return np.asarray(ramp(times, waves.ramp)) * surface


def kinematics(
    waves: RealisedSea,
    t: Array,
    x: Array,
    y: Array,
    z: Array,
    water: AnyWater,
    stretching: str = "constant",
) -> Kinematics:
    """Velocity, acceleration and dynamic pressure of a realised sea.

    Args:
        waves: from `realise` or `components`.
        t: [s].
        x: [m].
        y: [m].
        z: height above the still water [m].
        water: the same as for `realise`.
        stretching: of linear waves above the still water; a steep wave knows its own surface.
    """
    if isinstance(waves, StreamWave):
        return stream_function.kinematics(waves, t, x, y, z, water)
    if isinstance(waves, GridWaves):
        return gridded.kinematics(waves, t, x, y, z, water)
    return airy.kinematics(waves, t, x, y, z, water, stretching)


def surface_about(
    waves: RealisedSea | LocalWaves,
    t: Array,
    centre: Array,
    water: AnyWater,
    stretching: str = "wheeler",
) -> Callable[[Array, Array, Array], tuple[Array, Array]]:
    """Elevation and dynamic pressure head p / rho g [m] as a function of x, y and z near a body.

    Args:
        waves: a realised sea, or one of `local_waves`.
        t: one time [s].
        centre: place of the body (3,) [m].
        water: the same as for `realise`.
        stretching: of linear waves above the still water.
    """
    if isinstance(waves, LocalWaves):
        return local.surface_about(waves, t, centre, water, stretching)

    def at(x: Array, y: Array, z: Array) -> tuple[Array, Array]:
        return _surface_head(waves, t, x, y, z, water, stretching)

    return at


def _surface_head(
    waves: RealisedSea, t: Array, x: Array, y: Array, z: Array, water: AnyWater, stretching: str
) -> tuple[Array, Array]:
    """Elevation and pressure head of a sea that is not expanded."""
    if isinstance(waves, Components):
        return airy.surface_and_head(waves, t, x, y, z, water, stretching)
    eta = elevation(waves, t, x, y)
    if isinstance(waves, GridWaves):
        return eta, gridded.head(waves, t, x, y, z)
    p = stream_function.pressure(waves, t, x, y, z, water)
    return eta, p / (water.rho * water.g)
