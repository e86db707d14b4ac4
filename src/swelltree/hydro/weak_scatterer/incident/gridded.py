r"""A sea on a grid, of CFD or of a nonlinear wave model, as an incident wave.

Grids hold velocities and the dynamic pressure, not a potential. All that the solver asks of one is
its derivatives, which follow from these: the velocity itself, its derivatives by those of the cubic
interpolation, and by Bernoulli

.. math:: \phi_t = -p/\rho - \tfrac12 |u|^2 + \dot r\,\phi .

While a ramp r lasts the wave grows everywhere at once, which takes a pressure of its own: the last
term, with the potential that the velocities are integrated to. Without it the rate of the potential
and the accelerations would be those of two different flows.

What the grid leaves of the conditions on its surface (all of it in a linear sea, else the error of
the interpolation) forces the perturbation, as with Airy waves.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from scipy.integrate import cumulative_trapezoid

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.incident.interface import Flow, Incident
from swelltree.jit import Array, jax, jnp, pytree
from swelltree.waves.gridded import GridWaves, interpolated
from swelltree.waves.ramp import ramp

EDGE = 1e-6  # of the spacing: how far a tank may reach beyond a grid


@pytree("g")
class GriddedWaves(Incident):
    """Interpolated from a grid.

    Args:
        waves: elevation, head and velocities on the grid.
        phi: potential on the grid (time, x, y, z) [m^2/s]; None: there is no ramp.
        factor: of all of them beside the ramp.
        ramp: [s].
        g: [m/s^2].
    """

    exact: ClassVar[bool] = False
    waves: GridWaves
    phi: Float[Array, "time x y z"] | None
    factor: Array | float
    ramp: Array | float
    g: float

    def elevation(self, t: Array, xy: Float[Array, " xy"]) -> Array:
        at = interpolated(self.waves, jnp.asarray(self.waves.elevation), (t, xy[0], xy[1]))
        return self._size(t) * at

    def flow(self, t: Array, points: Float[Array, "point xyz"]) -> Flow:
        """Velocity, its derivatives, and what Bernoulli says of the pressure."""

        def velocity(tx: Array) -> tuple[Array, Array]:
            u = self._size(tx[0]) * interpolated(self.waves, self.waves.velocity, tuple(tx))
            return u, u

        def one(x: Array) -> tuple[Array, Array, Array]:
            tx = jnp.concatenate([jnp.asarray(t, x.dtype)[None], x])
            by, u = jax.jacfwd(velocity, has_aux=True)(tx)
            head = self._size(tx[0]) * interpolated(self.waves, self.waves.head, tuple(tx))
            return -self.g * head - 0.5 * (u * u).sum() + self._growing(tx), u, by

        rate, u, by = jax.vmap(one)(points)
        gradient = by[..., 1:]
        # of a potential, but for the error of the interpolation
        return Flow(rate, u, by[..., 0], 0.5 * (gradient + jnp.swapaxes(gradient, 1, 2)))

    def grown(self, t: Array) -> GriddedWaves:
        """With the heights of this time and no ramp."""
        return replace(self, phi=None, factor=self._size(jnp.asarray(t)), ramp=jnp.zeros(()))

    def _size(self, t: Array) -> Array:
        return self.factor * ramp(t, self.ramp)

    def _growing(self, tx: Array) -> Array:
        """Rate of the potential because the wave grows."""
        if self.phi is None:
            return jnp.zeros(())
        rate = jax.jvp(self._size, (tx[0],), (jnp.ones(()),))[1]
        return rate * interpolated(self.waves, self.phi, tuple(tx))


def gridded_waves(
    item: str, waves: GridWaves, g: float, center: np.ndarray, radius: float, symmetric: bool
) -> GriddedWaves:
    """A sea on a grid that can be one for a tank.

    Args:
        item: beginning of messages.
        waves: realised.
        g: [m/s^2].
        center: x and y of the tank [m].
        radius: of the tank [m].
        symmetric: only y >= 0 is computed.
    """
    if waves.velocity is None:
        raise SwelltreeError(
            f"{item}: the sea on a grid has no velocities u, v, w, which the flow around bodies "
            "is made from. Add them."
        )
    if not waves.cubic:
        raise SwelltreeError(
            f"{item}: the sea on a grid is interpolated linearly, so that its velocities have no "
            "derivatives. Give GriddedSea(..., interpolation='cubic')."
        )
    shape = np.shape(waves.head)
    low = np.asarray(waves.origin, float)
    high = low + np.asarray(waves.spacing) * (np.array(shape) - 1)
    for axis, name in ((1, "x"), (2, "y")):
        slack = EDGE * float(waves.spacing[axis])
        inside = low[axis] - slack, high[axis] + slack
        ends = center[axis - 1] - radius, center[axis - 1] + radius
        if shape[axis] > 1 and not inside[0] <= ends[0] <= ends[1] <= inside[1]:
            raise SwelltreeError(
                f"{item}: the sea on a grid reaches from {name} = {low[axis]:.4g} m to "
                f"{high[axis]:.4g} m, the tank from {ends[0]:.4g} m to {ends[1]:.4g} m. Give a "
                "larger grid, or a smaller radius."
            )
    crest = float(np.max(waves.elevation))
    if high[3] < crest:
        raise SwelltreeError(
            f"{item}: the sea on a grid ends at z = {high[3]:.4g} m, below its crests of "
            f"{crest:.4g} m. Continue the field above the surface."
        )
    sideways = float(np.abs(np.asarray(waves.velocity)[..., 1]).max())
    if symmetric and (shape[2] > 1 or sideways > 0.0):
        raise SwelltreeError(
            f"{item}: the sea on a grid varies along y or flows there, which the plane of symmetry "
            "y = 0 does not allow. Give a field without y, or symmetric=False."
        )
    phi = grid_potential(waves) if float(waves.ramp) > 0.0 else None
    return GriddedWaves(waves, phi, 1.0, waves.ramp, g)


def grid_potential(waves: GridWaves) -> Float[np.ndarray, "time x y z"]:
    """Potential of the velocities: along x and y at the lowest level, from there upwards [m^2/s].

    Its mean at the lowest level is zero.
    """
    u, v, w = np.moveaxis(np.asarray(waves.velocity, float), -1, 0)
    _, dx, dy, dz = (float(step) for step in waves.spacing)
    low = cumulative_trapezoid(u[:, :, :1, :1], dx=dx, axis=1, initial=0)
    low = low + cumulative_trapezoid(v[..., :1], dx=dy, axis=2, initial=0)
    low = low - low.mean(axis=(1, 2), keepdims=True)
    return low + cumulative_trapezoid(w, dx=dz, axis=3, initial=0)


def grid_frequency(waves: GridWaves) -> float:
    """Frequency with most of the energy of the elevation, between those that the grid resolves."""
    rows = np.asarray(waves.elevation).reshape(np.shape(waves.elevation)[0], -1)
    rows = rows - rows.mean(0)
    power = (np.abs(np.fft.rfft(rows, axis=0)) ** 2).sum(1)
    step = 2.0 * math.pi / (len(rows) * float(waves.spacing[0]))
    if len(power) < 3 or not power[1:].any():
        return step
    peak = 1 + int(np.argmax(power[1:]))
    near = np.arange(max(1, peak - 1), min(len(power), peak + 2))
    return step * float((near * power[near]).sum() / power[near].sum())
