r"""Excitation of a sea as the waves it is made of, summed for a block of time where it is needed.

.. math:: F(t) = r(t)\, \mathrm{Re} \sum_l F_l\, e^{-i\omega_l t}

A sea of an hour has some hundred numbers here and a million on a grid in time: many seas fit into
the memory of a GPU, which sums them block by block.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.hydro.linear.data import Table, WaveForce, WaveLoads
from swelltree.hydro.linear.excitation import excitation_at, in_band
from swelltree.jit import Array, jax, jnp, pytree
from swelltree.waves.ramp import ramped

if TYPE_CHECKING:
    from swelltree.waves.airy import Components


AT_ONCE = 2  # rows that are summed together: a component is read once for them


@pytree()
class WaveSums(WaveForce):
    """Forces of all components of a sea."""

    step: Array  # s, of the grid on which they are summed
    omega: Array  # (l,) rad/s
    real: Array  # (l, 6N)
    imag: Array  # (l, 6N)
    ramp: Array  # s

    def acting(self, t: Array, place: Array, psi: Array | None) -> Array:
        return self.loads(t, 1).force[0].reshape(-1, 6)

    def scaled(self, fraction: Array) -> WaveSums:
        return replace(self, real=fraction * self.real, imag=fraction * self.imag)

    @property
    def follows_bodies(self) -> bool:
        return False

    def loads(self, begin: Array, count: int) -> WaveLoads:
        """Loads on a grid of some rows from a time on.

        Args:
            begin: time of the first row [s].
            count: rows.
        """
        omega, real, imag = map(jnp.asarray, (self.omega, self.real, self.imag))
        none = jnp.zeros((AT_ONCE, real.shape[1]))

        def rows(j: Array) -> tuple[Array, Array]:
            t = begin + self.step * (j + np.arange(AT_ONCE))

            def more(l: Array, sums: tuple[Array, Array]) -> tuple[Array, Array]:  # noqa: E741
                c, s = (f(omega[l] * t)[:, None] for f in (jnp.cos, jnp.sin))
                force = sums[0] + (real[l] * c + imag[l] * s)
                return force, sums[1] + omega[l] * (imag[l] * c - real[l] * s)

            force, rate = jax.lax.fori_loop(0, len(omega), more, (none, none))
            return ramped(t, self.ramp, force, rate)

        blocks = -(-count // AT_ONCE)
        force, rate = jax.lax.map(rows, AT_ONCE * jnp.arange(blocks, dtype=float))
        shape = (blocks * AT_ONCE, real.shape[1])
        return WaveLoads(self.step, force.reshape(shape), rate.reshape(shape), begin)


def wave_sums(table: Table, waves: Components, step: float) -> WaveSums:
    """The components of a sea with their forces; those outside the data have none.

    Args:
        table: the data.
        waves: realised components.
        step: of the grid [s].
    """
    inside = in_band(table, waves)
    omega, beta, k = (np.asarray(x) for x in (waves.omega, waves.beta, waves.wavenumber))
    amplitude = np.asarray(waves.complex_amplitude)
    F = np.zeros((len(omega), table.excitation.shape[-1]), complex)
    some = excitation_at(table, omega[inside], beta[inside], k[inside], amplitude[inside])
    F[inside] = some * amplitude[inside, None]
    return WaveSums(
        np.array(step), omega, np.real(F).copy(), np.imag(F).copy(), np.array(float(waves.ramp))
    )
