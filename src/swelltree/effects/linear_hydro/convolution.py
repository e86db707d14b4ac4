"""Radiation memory as a convolution with past velocities."""

from __future__ import annotations

import numpy as np

from swelltree.effects.linear_hydro.data import RadiationMemory
from swelltree.engine.arrays import Array, namespace, pytree
from swelltree.spatial.vectors import matvec


@pytree()
class Past:
    """Velocities at the last L steps, the newest first, and the time of the newest."""

    velocity: Array  # (L, m)
    time: Array  # s


@pytree("live")
class Convolution(RadiationMemory):
    """Radiation memory as a convolution with the kernel, on a fixed step."""

    kernel: Array  # (2L + 2, m, m) K at multiples of half a step
    step: Array  # s
    live: tuple[int, ...]  # which of the 6N velocities radiate

    @property
    def kept_step(self) -> float:
        return float(self.step)

    @property
    def records(self) -> bool:
        return True

    def start(self) -> Past:
        length = self.kernel.shape[0] // 2 - 1
        return Past(np.zeros((length, len(self.live))), np.zeros(()))

    def force_at(self, t: Array, v: Array, chi: Past) -> Array:
        r"""Memory force of the kernel by the trapezoidal rule.

        .. math:: \int_0^\infty K(\tau)\, v(t - \tau)\, d\tau

        The nodes are now and the past steps; at the stages of a Runge-Kutta step
        the first interval is a part of a step.
        """
        xp = namespace(v)
        live = np.array(self.live)
        length = chi.velocity.shape[0]
        h = self.step
        part = (t - chi.time) / h
        first = xp.round(2.0 * part).astype(int)
        K = xp.asarray(self.kernel)[first + 2 * np.arange(length)]
        weight = xp.where(np.arange(length) == 0, 0.5 * (1.0 + part), 1.0) * h
        force = (K * chi.velocity[:, None, :] * weight[:, None, None]).sum((0, 2))
        force = force + 0.5 * part * h * matvec(xp.asarray(self.kernel)[0], v[live])
        place = (np.arange(v.shape[0])[:, None] == live[None, :]).astype(float)
        return (place * force[None, :]).sum(1)

    def rate(self, chi: Past, v: Array) -> Past:
        """A record of past velocities rests during a step."""
        return Past(0.0 * chi.velocity, 0.0 * chi.time)

    def after_step(self, t: Array, v: Array, chi: Past) -> Past:
        """The newest velocity first."""
        xp = namespace(v)
        newest = v[np.array(self.live)][None]
        return Past(xp.concatenate([newest, chi.velocity[:-1]]), t + 0.0 * chi.time)
