"""From a realised sea to an incident wave, checked against tank and mode."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.hydro.weak_scatterer.incident.gridded import grid_frequency, gridded_waves
from swelltree.hydro.weak_scatterer.incident.interface import Incident
from swelltree.hydro.weak_scatterer.motion.scene import Scene
from swelltree.jit import Array, is_traced, jnp, pytree
from swelltree.model.model import Model
from swelltree.waves.airy import Components
from swelltree.waves.dispersion import AnyWater, depth_decay, dispersion
from swelltree.waves.gridded import GridWaves
from swelltree.waves.ramp import ramp
from swelltree.waves.sea import RealisedSea
from swelltree.waves.stream_function import StreamWave, highest

# --- Airy waves and irregular seas as incident waves

GROWTH = 1.0  # k times the height of crests, beyond which components are cut off: a factor e


@pytree("depth", "g")
class LinearWaves(Incident):
    """Plane waves of small steepness."""

    exact: ClassVar[bool] = False
    waves: Components
    depth: float
    g: float

    def potential(self, t: Array, x: Float[Array, " xyz"]) -> Array:
        w = self.waves
        C, _ = depth_decay(w.wavenumber, x[2], self.depth)
        size = self.g / w.omega * w.amplitude * C
        return ramp(t, w.ramp) * (size * jnp.sin(self._angle(t, x))).sum()

    def elevation(self, t: Array, xy: Float[Array, " xy"]) -> Array:
        w = self.waves
        return ramp(t, w.ramp) * (w.amplitude * jnp.cos(self._angle(t, xy))).sum()

    def grown(self, t: Array) -> LinearWaves:
        """With the amplitudes of this time and no ramp."""
        now = ramp(jnp.asarray(t), self.waves.ramp) * self.waves.amplitude
        return replace(self, waves=replace(self.waves, amplitude=now, ramp=0.0))

    def _angle(self, t: Array, x: Array) -> Array:
        w = self.waves
        along = x[0] * jnp.cos(w.beta) + x[1] * jnp.sin(w.beta)
        return w.wavenumber * along - w.omega * t + w.phase


def linear_waves(waves: Components, water: AnyWater) -> LinearWaves:
    """An Airy wave or an irregular sea, short components cut off where they would blow up.

    The crests of a sea are taken as high as its significant height, that of one wave as its
    amplitude; components with k times this above `GROWTH` are left out, and a warning says so.

    Args:
        waves: the sea as plane waves.
        water: depth and g.
    """
    a, k = np.asarray(waves.amplitude), np.asarray(waves.wavenumber)
    crest = float(a[0] if len(a) == 1 else waves.Hs)
    keep = (k * crest <= GROWTH) & (np.asarray(waves.omega) > 0.0)
    if not keep.any() and crest > 0.0:
        raise SwelltreeError(
            f"sea: all its waves are too steep for weak scatterers: crests of {crest:.3g} m on "
            f"lengths of {2.0 * math.pi / k.min():.3g} m or less. Lower the waves."
        )
    if not keep.all():
        lost = (a[~keep] ** 2).sum() / max((a**2).sum(), 1e-300)
        warn_user(
            f"sea: {int((~keep).sum())} of {len(a)} components shorter than "
            f"{2.0 * math.pi * crest / GROWTH:.3g} m were cut off, as they would be too large on "
            f"its crests; they have {100.0 * lost:.2g} % of its energy."
        )
        rows = {n: np.asarray(getattr(waves, n))[keep] for n in _ROWS}
        waves = replace(waves, **rows)
    return LinearWaves(waves, float(water.depth), float(water.g))


_ROWS = ("amplitude", "omega", "wavenumber", "beta", "phase")


# --- The stream function wave of `waves/` as an incident wave


@pytree("depth", "g")
class SteepWave(Incident):
    """A regular wave of any steepness short of breaking."""

    wave: StreamWave
    depth: float
    g: float

    def potential(self, t: Array, x: Float[Array, " xyz"]) -> Array:
        """Fourier series, and Bernoulli's constant times the time."""
        w = self.wave
        j = self._orders()
        C, _ = depth_decay(j * w.wavenumber, x[2], self.depth)
        series = (w.coefficients * C * jnp.sin(j * self._angle(t, x))).sum()
        constant = w.bernoulli - 0.5 * w.speed**2
        size = jnp.sqrt(self.g / w.wavenumber**3)
        return ramp(t, w.ramp) * size * series - constant * _ramped_time(t, w.ramp)

    def elevation(self, t: Array, xy: Float[Array, " xy"]) -> Array:
        w = self.wave
        return ramp(t, w.ramp) * (w.harmonics * jnp.cos(self._orders() * self._angle(t, xy))).sum()

    def _orders(self) -> Array:
        return jnp.arange(1.0, len(self.wave.harmonics) + 1.0)

    def _angle(self, t: Array, x: Array) -> Array:
        w = self.wave
        along = x[0] * jnp.cos(w.beta) + x[1] * jnp.sin(w.beta)
        return w.wavenumber * along - w.omega * t + w.phase


def _ramped_time(t: Array, duration: Array) -> Array:
    """Integral of the ramp from zero [s]."""
    full = jnp.where(duration > 0.0, duration, 1.0)
    inside = jnp.clip(t, 0.0, full)
    grown = 0.5 * (inside - full / math.pi * jnp.sin(math.pi * inside / full))
    return jnp.where(duration > 0.0, grown + jnp.maximum(t - full, 0.0), t)


def steep_wave(wave: StreamWave, water: AnyWater) -> SteepWave:
    """A solved stream function wave as an incident wave."""
    return SteepWave(wave, float(water.depth), float(water.g))


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
            f"{item}: the sea has traced parameters (jit, grad, vmap), which weak scatterers do "
            "not support. Use differences of whole runs."
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
        warn_user(f"{what}: their radiation is too small. {give}, or cut the spectrum.")
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
