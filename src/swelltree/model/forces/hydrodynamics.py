"""Wrenches of hydrodynamics: buoyancy, damping, radiation memory, excitation, drift.

The inertial part, added mass at infinite frequency, is in the mass matrix of
every formulation. All terms are booked as work in the energy budget.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.model.drift_turning import drift_now
from swelltree.model.effect import Loads
from swelltree.model.forces.hydro_frame import in_axes, mean_yaw, out_of_axes, unturned
from swelltree.model.hydrodynamics import (
    Convolution,
    Hydro,
    Memory,
    Past,
    WaveLoads,
    displacement,
    on_grid,
)
from swelltree.model.kinematics import Motion
from swelltree.model.moving_waves import excitation_now
from swelltree.spatial.arrays import Array, namespace
from swelltree.spatial.products import apply
from swelltree.spatial.vectors import matvec

TERMS = ("hydrostatics", "hydrodynamic damping", "radiation", "excitation", "drift")


def hydrodynamics(hydro: Hydro, t: Array, motion: Motion, inner: Any) -> Loads:
    """Linear hydrodynamic wrench of every body.

    Args:
        hydro: the data.
        t: [s].
        motion: of the bodies.
        inner: radiation memory and, where the frame follows it, mean yaw.
    """
    xp = namespace(motion.pose.p)
    shape = motion.v.shape
    chi, psi = inner.radiation, mean_yaw(inner)
    v = in_axes(psi, motion.v).reshape(-1)
    xi = displacement(hydro.mean, unturned(psi, hydro.mean, motion.pose)).reshape(-1)
    static = hydro.buoyancy - apply(hydro.stiffness, xi).reshape(shape)
    damping = -apply(hydro.damping, v).reshape(shape)
    radiation = xp.zeros(shape)
    if isinstance(hydro.memory, Memory):
        radiation = -apply(hydro.memory.C, chi).reshape(shape)
    elif hydro.memory is not None:
        radiation = -convolved(hydro.memory, t, v, chi).reshape(shape)
    excitation = xp.zeros(shape)
    if isinstance(hydro.waves, WaveLoads):
        excitation = wave_force(hydro.waves, t).reshape(shape)
    elif hydro.waves is not None:
        excitation = excitation_now(hydro.waves, t, motion.pose.p[:, :2], psi)
    drift = xp.zeros(shape)
    if isinstance(hydro.drift, WaveLoads):
        drift = wave_force(hydro.drift, t).reshape(shape)
    elif hydro.drift is not None:
        drift = drift_now(hydro.drift, t, psi)
    parts = (static, damping, radiation, excitation, drift)
    static, damping, radiation, excitation, drift = (out_of_axes(psi, x) for x in parts)
    parts = xp.stack([static, damping, radiation, excitation, drift])
    power = (parts * motion.v).sum((1, 2))
    channels = {"excitation": excitation, "radiation": radiation, "hydrostatics": static}
    if hydro.drift is not None:
        channels["drift"] = drift
    return Loads(parts.sum(0), xp.zeros(len(TERMS)), power, channels)


def memory_rate(hydro: Hydro, motion: Motion, inner: Any) -> Any:
    """Rate of the radiation memory; a record of past velocities rests during a step."""
    chi = inner.radiation
    if isinstance(hydro.memory, Memory):
        v = in_axes(mean_yaw(inner), motion.v).reshape(-1)
        return apply(hydro.memory.A, chi) + apply(hydro.memory.B, v)
    return Past(0.0 * chi.velocity, 0.0 * chi.time)


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


def wave_force(waves: WaveLoads, t: Array) -> Array:
    """Excitation at time t by cubic Hermite interpolation on the grid."""
    return on_grid(t, waves.step, waves.force, waves.rate)
