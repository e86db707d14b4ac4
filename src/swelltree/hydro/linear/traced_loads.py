r"""Excitation of a sea whose numbers JAX is tracing: derivatives by height, period and heading.

The same sum as `hydro.wave_loads` in JAX functions. Sizes cannot depend on traced frequencies, so
the grid resolves the highest frequency of the data. Nothing can be rejected while it is traced: a
sea of which more than a trifle lies outside the data gets loads that are not numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.data import LEFT_OUT, Table, WaveLoads
from swelltree.hydro.linear.headings import basis, headings_of, within
from swelltree.jit import Array, is_traced, jax, jnp
from swelltree.waves.ramp import ramped

if TYPE_CHECKING:
    from swelltree.waves.airy import Components


BLOCK = 512  # times that are summed together


def refuse_traced_table(table: Table) -> None:
    """Reject models whose data are traced too."""
    if is_traced(table):
        raise SwelltreeError(
            "a sea is given to a model whose hydro data are traced. Let the function close over "
            "the model, and change its parameters by model.with_values(...)."
        )


def spline(x: np.ndarray, y: np.ndarray, at: Array) -> Array:
    """Cubic spline through real data along the first axis, at traced points."""
    from scipy.interpolate import CubicSpline, PPoly

    if len(x) >= 4:
        curve = CubicSpline(x, y)
    else:
        slope = np.diff(y, axis=0) / np.diff(x).reshape(-1, *(1,) * (y.ndim - 1))
        curve = PPoly(np.stack([slope, y[:-1]]), x)
    at = jnp.clip(at, x[0], x[-1])
    i = jnp.clip(jnp.searchsorted(jnp.asarray(x), at, side="right") - 1, 0, len(x) - 2)
    past = (at - jnp.asarray(x)[i]).reshape(-1, *(1,) * (y.ndim - 1))
    total = 0.0
    for row in curve.c:
        total = total * past + jnp.asarray(row)[i]
    return total


def excitation_of(table: Table, waves: Components) -> Array:
    """Excitation of each component with its amplitude and phase at the origin (c, 6N)."""
    x, y = np.asarray(table.omega), np.asarray(table.excitation)
    omega, beta = jnp.asarray(waves.omega), jnp.asarray(waves.beta)
    force = spline(x, np.real(y), omega) + 1j * spline(x, np.imag(y), omega)
    headings = headings_of(np.asarray(table.direction))
    weights = basis(headings, within(headings, beta)) @ headings.to_curve
    k = jnp.asarray(waves.wavenumber)
    ahead = jnp.stack([jnp.cos(beta), jnp.sin(beta)], axis=1)
    way = jnp.exp(1j * k[:, None] * (ahead @ np.asarray(table.place).T))
    inside = (omega >= x[0] * (1 - 1e-9)) & (omega <= x[-1] * (1 + 1e-9))
    amplitude = jnp.where(inside, waves.amplitude, 0.0)
    left_out = jnp.where(inside, 0.0, waves.amplitude**2).sum()
    bad = left_out > LEFT_OUT * (jnp.asarray(waves.amplitude) ** 2).sum()
    total = jnp.einsum("cd,cdm->cm", weights, force) * way
    total = total * (amplitude * jnp.exp(1j * jnp.asarray(waves.phase)))[:, None]
    return jnp.where(bad, jnp.nan, total)


def traced_loads(table: Table, waves: Components, step: float, count: int) -> WaveLoads:
    """Excitation on the grid, ramp included."""
    F, omega = excitation_of(table, waves), jnp.asarray(waves.omega)
    both = jnp.concatenate([F, -1j * omega[:, None] * F], axis=1)

    def block(t: Array) -> Array:
        return jnp.real(jnp.exp(-1j * t[:, None] * omega) @ both)

    t = step * np.arange(count)
    rows = jax.lax.map(block, jnp.asarray(np.pad(t, (0, -count % BLOCK)).reshape(-1, BLOCK)))
    force, rate = jnp.split(rows.reshape(-1, both.shape[1])[:count], 2, axis=1)
    loads = ramped(t, float(waves.ramp), force, rate)
    return WaveLoads(np.array(step), *loads, np.zeros(()))
