r"""Excitation at the actual place and heading of a body.

.. math:: F_i(t) = r(t)\, T_i \sum_c \mathrm{Re}\left[ \hat F_i(\omega_c, \beta_c - \psi_i)
          \, a_c\, e^{i (k_c \cdot x_i - \omega_c t + \varphi_c)} \right]

with x_i the place of body i now and psi_i its mean yaw. Between the headings of the data the
excitation (with its phase at the body) follows the curve of `headings`, as elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.effects.linear_hydro.data import Table, WaveForce
from swelltree.effects.linear_hydro.excitation import excitation_at, in_band, interpolated
from swelltree.effects.linear_hydro.headings import Headings, basis, headings_of, within
from swelltree.engine.arrays import Array, namespace, pytree
from swelltree.waves.airy import Components
from swelltree.waves.ramp import ramp


@pytree("follows_place")
class MovingWaves(WaveForce):
    """A sea of c components and its excitation as curves over the heading."""

    waves: Components
    headings: Headings
    curve: Array  # (k, c, 6N) complex coefficients, crest at the body
    mean_place: Array  # (N, 2) m
    follows_place: bool  # phase by the actual place, not the mean one

    def acting(self, t: Array, place: Array, psi: Array | None) -> Array:
        xp = namespace(t, place)
        waves, (k, c, _) = self.waves, self.curve.shape
        x = place if self.follows_place else self.mean_place
        n = self.mean_place.shape[0]
        along = x[:, :1] * xp.cos(waves.beta) + x[:, 1:] * xp.sin(waves.beta)
        phase = waves.wavenumber * along - waves.omega * t + waves.phase
        wave = waves.amplitude * xp.exp(1j * phase)  # (N, c)
        curve = xp.asarray(self.curve).reshape(k, c, n, 6)
        turn = xp.zeros((n, 1)) if psi is None else psi[:, None]
        shape = basis(self.headings, within(self.headings, waves.beta - turn))  # (N, c, k)
        at = (xp.moveaxis(shape, -1, 0)[..., None] * xp.moveaxis(curve, 2, 1)).sum(0)
        total = xp.real(at * wave[..., None]).sum(1)
        return ramp(t, waves.ramp) * total

    def scaled(self, fraction: Array) -> MovingWaves:
        return replace(self, curve=fraction * self.curve)


def moving_waves(table: Table, waves: Components, follows_place: bool) -> MovingWaves:
    """Excitation of every component at all headings of the data."""
    inside = in_band(table, waves)
    parts = {name: np.asarray(getattr(waves, name)) for name in PER_COMPONENT}
    size, omega = parts["amplitude"][inside], parts["omega"][inside]
    heading, k = parts["beta"][inside], parts["wavenumber"][inside]
    excitation_at(table, omega, heading, k, size)  # covered?
    # the few outside the data stay as waves without height: another seed has another few
    kept = Components(**parts | {"amplitude": parts["amplitude"] * inside}, ramp=waves.ramp)
    known = np.asarray(table.omega)
    at = np.clip(parts["omega"], known[0], known[-1])
    force = interpolated(known, np.asarray(table.excitation), at)
    headings = headings_of(np.asarray(table.direction))
    place = np.asarray(table.place).reshape(-1, 6, 2)[:, 0]
    curve = np.tensordot(headings.to_curve, force, (1, 1))
    return MovingWaves(kept, headings, curve, place, follows_place)


PER_COMPONENT = ("amplitude", "omega", "wavenumber", "beta", "phase")
