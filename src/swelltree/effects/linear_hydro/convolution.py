"""Radiation memory as a convolution with past velocities."""

from __future__ import annotations

import numpy as np

from swelltree.effects.linear_hydro.data import Convolution, Past
from swelltree.engine.arrays import Array, namespace
from swelltree.spatial.vectors import matvec


def convolved(memory: Convolution, t: Array, v: Array, past: Past) -> Array:
    r"""Memory force of the kernel by the trapezoidal rule.

    .. math:: \int_0^\infty K(\tau)\, v(t - \tau)\, d\tau

    The nodes are now and the past steps; at the stages of a Runge-Kutta step
    the first interval is a part of a step.
    """
    xp = namespace(v)
    live = np.array(memory.live)
    length = past.velocity.shape[0]
    h = memory.step
    part = (t - past.time) / h
    first = xp.round(2.0 * part).astype(int)
    K = xp.asarray(memory.kernel)[first + 2 * np.arange(length)]
    weight = xp.where(np.arange(length) == 0, 0.5 * (1.0 + part), 1.0) * h
    force = (K * past.velocity[:, None, :] * weight[:, None, None]).sum((0, 2))
    force = force + 0.5 * part * h * matvec(xp.asarray(memory.kernel)[0], v[live])
    place = (np.arange(v.shape[0])[:, None] == live[None, :]).astype(float)
    return (place * force[None, :]).sum(1)


def remembered(memory: Convolution, t: Array, v: Array, past: Past) -> Past:
    """The record after a step: the newest velocity first."""
    xp = namespace(v)
    newest = v[np.array(memory.live)][None]
    return Past(xp.concatenate([newest, past.velocity[:-1]]), t + 0.0 * past.time)
