r"""Airy waves and irregular seas as incident waves.

.. math:: \phi = \frac{g}{\omega} a \frac{\cosh k(z+h)}{\cosh kh} \sin\theta

continued above the still water as it stands. It does not satisfy the conditions on the actual
surface; the solver forces the perturbation with what is left. A short wave would grow without
measure on the crest of a long one, so components are cut off above a wavenumber.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.effects.weak_scatterer.incident.interface import Incident
from swelltree.engine.arrays import Array, pytree
from swelltree.engine.backend import jnp
from swelltree.system.errors import SwelltreeError, warn_user
from swelltree.waves.airy import Components
from swelltree.waves.dispersion import depth_decay
from swelltree.waves.ramp import ramp
from swelltree.waves.water import AnyWater

GROWTH = 1.0  # k times the height of crests, beyond which components are cut off: a factor e


@pytree("depth", "g")
class LinearWaves(Incident):
    """Plane waves of small steepness."""

    exact: ClassVar[bool] = False
    waves: Components
    depth: float
    g: float

    def potential(self, t: Array, x: Float[Array, " xyz"]) -> Array:
        """Sum of the components."""
        w = self.waves
        C, _ = depth_decay(w.wavenumber, x[2], self.depth)
        size = self.g / w.omega * w.amplitude * C
        return ramp(t, w.ramp) * (size * jnp.sin(self._angle(t, x))).sum()

    def elevation(self, t: Array, xy: Float[Array, " xy"]) -> Array:
        """Sum of the components."""
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
            f"{2.0 * math.pi * crest / GROWTH:.3g} m were cut off, as they would blow up on its "
            f"crests; they have {100.0 * lost:.2g} % of its energy."
        )
        rows = {n: np.asarray(getattr(waves, n))[keep] for n in _ROWS}
        waves = replace(waves, **rows)
    return LinearWaves(waves, float(water.depth), float(water.g))


_ROWS = ("amplitude", "omega", "wavenumber", "beta", "phase")
