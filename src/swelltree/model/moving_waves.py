r"""Excitation at the actual place and heading of a body.

.. math:: F_i(t) = r(t)\, T_i \sum_c \mathrm{Re}\left[ \hat F_i(\omega_c, \beta_c - \psi_i)
          \, a_c\, e^{i (k_c \cdot x_i - \omega_c t + \varphi_c)} \right]

with x_i the place of body i now and psi_i its mean yaw. Between the headings of the data the
excitation (with its phase at the body) is interpolated linearly, as elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.model.headings import around_the_circle
from swelltree.model.hydrodynamics import Table
from swelltree.model.sea_state import excitation_at, in_band, interpolated
from swelltree.spatial.arrays import Array, namespace, pytree
from swelltree.waves.airy import Components
from swelltree.waves.ramp import ramp


@pytree("follows_place")
class MovingWaves:
    """A sea of c components and its excitation at d headings."""

    waves: Components
    first: Array  # rad, heading from which the others count
    heading: Array  # (d,) rad from the first, increasing
    force: Array  # (d, c, 6N) complex, crest at the body
    mean_place: Array  # (N, 2) m
    follows_place: bool  # phase by the actual place, not the mean one


def moving_waves(table: Table, waves: Components, follows_place: bool) -> MovingWaves:
    """Excitation of every component at all headings of the data."""
    inside = in_band(table, waves)
    excitation_at(
        table, np.asarray(waves.omega)[inside], np.asarray(waves.beta)[inside]
    )  # covered?
    parts = {name: np.asarray(getattr(waves, name))[inside] for name in PER_COMPONENT}
    kept = Components(**parts, ramp=waves.ramp)
    force = interpolated(np.asarray(table.omega), np.asarray(table.excitation), parts["omega"])
    first, heading, force = around_the_circle(np.asarray(table.direction), force)
    place = np.asarray(table.place).reshape(-1, 6, 2)[:, 0]
    force = np.moveaxis(force, 1, 0)
    return MovingWaves(kept, np.array(first), heading, force, place, follows_place)


PER_COMPONENT = ("amplitude", "omega", "wavenumber", "beta", "phase")


def excitation_now(own: MovingWaves, t: Array, place: Array, psi: Array | None) -> Array:
    """Excitation of every body in the axes of its frame, (N, 6).

    Args:
        own: the sea.
        t: [s].
        place: x and y of the bodies (N, 2) [m].
        psi: mean yaw of the bodies (N,) [rad], None: zero.
    """
    xp = namespace(t, place)
    waves, (d, c, _) = own.waves, own.force.shape
    x = place if own.follows_place else own.mean_place
    n = own.mean_place.shape[0]
    along = x[:, :1] * xp.cos(waves.beta) + x[:, 1:] * xp.sin(waves.beta)
    phase = waves.wavenumber * along - waves.omega * t + waves.phase
    wave = waves.amplitude * xp.exp(1j * phase)  # (N, c)
    force = xp.asarray(own.force).reshape(d, c, n, 6)
    turn = xp.zeros((n, 1)) if psi is None else psi[:, None]
    wanted = (waves.beta - turn - own.first + 1e-9) % (2 * np.pi) - 1e-9
    if d == 1:
        at = xp.moveaxis(force[0], 1, 0)
    else:
        # weight of every heading: one inside its neighbours falling linearly to zero
        weight = hat_weights(xp, own.heading, xp.clip(wanted, 0.0, own.heading[-1]))
        at = (xp.moveaxis(weight, -1, 0)[..., None] * xp.moveaxis(force, 2, 1)).sum(0)
    total = xp.real(at * wave[..., None]).sum(1)
    return ramp(t, waves.ramp) * total


def hat_weights(xp: Any, nodes: Array, at: Array) -> Array:
    """Weights (..., d) of linear interpolation between increasing nodes (d,)."""
    nodes = xp.asarray(nodes)
    below = xp.concatenate([nodes[:1] - 1.0, nodes[:-1]])
    above = xp.concatenate([nodes[1:], nodes[-1:] + 1.0])
    x = at[..., None]
    rising, falling = (x - below) / (nodes - below), (above - x) / (above - nodes)
    return xp.clip(xp.minimum(rising, falling), 0.0, 1.0)
