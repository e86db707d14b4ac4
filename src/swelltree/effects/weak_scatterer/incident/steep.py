r"""The stream function wave of `waves/` as an incident wave.

.. math::
    \phi = \sqrt{g/k^3} \sum_j B_j \frac{\cosh jk(z+h)}{\cosh jkh} \sin j\theta
           - (R - \tfrac12 c^2)\, t

Fenton (1988); the last term makes the pressure zero on the surface. A ramp multiplies potential and
elevation; during it the wave is not exact, and its residual of the conditions is not a forcing.
"""

from __future__ import annotations

import math

from jaxtyping import Float

from swelltree.effects.weak_scatterer.incident.interface import Incident
from swelltree.engine.arrays import Array, pytree
from swelltree.engine.backend import jnp
from swelltree.waves.dispersion import depth_decay
from swelltree.waves.ramp import ramp
from swelltree.waves.stream_function import StreamWave
from swelltree.waves.water import AnyWater


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
        """Cosine series."""
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
    whole = jnp.where(duration > 0.0, duration, 1.0)
    inside = jnp.clip(t, 0.0, whole)
    grown = 0.5 * (inside - whole / math.pi * jnp.sin(math.pi * inside / whole))
    return jnp.where(duration > 0.0, grown + jnp.maximum(t - whole, 0.0), t)


def steep_wave(wave: StreamWave, water: AnyWater) -> SteepWave:
    """A solved stream function wave as an incident wave."""
    return SteepWave(wave, float(water.depth), float(water.g))
