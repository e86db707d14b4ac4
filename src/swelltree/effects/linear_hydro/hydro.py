"""Wrenches of hydrodynamics: buoyancy, damping, radiation memory, excitation, drift.

The inertial part, added mass at infinite frequency, is in the mass matrix of
every formulation. All terms are booked as work in the energy budget.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from swelltree.effects.linear_hydro.data import (
    Convolution,
    Memory,
    Past,
    Table,
    WaveLoads,
    displacement,
    on_grid,
)
from swelltree.effects.linear_hydro.drift_turning import drift_now
from swelltree.effects.linear_hydro.frame import in_axes, mean_yaw, out_of_axes, unturned
from swelltree.effects.linear_hydro.moving_waves import excitation_now
from swelltree.engine.arrays import Array, namespace, pytree
from swelltree.model.effect import Effect, Loads, Now
from swelltree.model.kinematics import Pose
from swelltree.model.model import Model
from swelltree.spatial.products import apply
from swelltree.spatial.vectors import matvec


@pytree("names")
class Hydro(Effect):
    """Linear hydrodynamics of all bodies, from data."""

    mean: Pose
    buoyancy: Array  # (N, 6) in the mean pose
    stiffness: Array  # (6N, 6N) of buoyancy alone
    damping: Array  # (6N, 6N)
    memory: Memory | Convolution | None
    waves: Any  # WaveLoads, moving_waves.MovingWaves or None
    table: Table | None
    reach: Array = np.inf  # (N,) m, from the mean waterline to top or keel; infinite: not known
    drift: Any = None  # second-order loads: WaveLoads, drift_turning.TurningLoads or None

    kind: ClassVar[str] = "hydro"
    is_linear_hydro: ClassVar[bool] = True
    names: tuple[str, ...] = (
        "hydrostatics",
        "hydrodynamic damping",
        "radiation",
        "excitation",
        "drift",
    )

    def in_still_water(self) -> Hydro:
        """The same with excitation and drift of no size."""
        return replace(self, waves=_flat(self.waves), drift=_flat(self.drift))

    def loads(self, model: Model, now: Now) -> Loads:
        t, motion, internal = now.t, now.motion, now.internal
        xp = namespace(motion.pose.p)
        shape = motion.v.shape
        chi, psi = internal.radiation, mean_yaw(internal)
        v = in_axes(psi, motion.v).reshape(-1)
        xi = displacement(self.mean, unturned(psi, self.mean, motion.pose)).reshape(-1)
        static = self.buoyancy - apply(self.stiffness, xi).reshape(shape)
        damping = -apply(self.damping, v).reshape(shape)
        radiation = xp.zeros(shape)
        if isinstance(self.memory, Memory):
            radiation = -apply(self.memory.C, chi).reshape(shape)
        elif self.memory is not None:
            radiation = -convolved(self.memory, t, v, chi).reshape(shape)
        excitation = xp.zeros(shape)
        if isinstance(self.waves, WaveLoads):
            excitation = wave_force(self.waves, t).reshape(shape)
        elif self.waves is not None:
            excitation = excitation_now(self.waves, t, motion.pose.p[:, :2], psi)
        drift = xp.zeros(shape)
        if isinstance(self.drift, WaveLoads):
            drift = wave_force(self.drift, t).reshape(shape)
        elif self.drift is not None:
            drift = drift_now(self.drift, t, psi)
        parts = (static, damping, radiation, excitation, drift)
        static, damping, radiation, excitation, drift = (out_of_axes(psi, x) for x in parts)
        parts = xp.stack([static, damping, radiation, excitation, drift])
        power = (parts * motion.v).sum((1, 2))
        channels = {"excitation": excitation, "radiation": radiation, "hydrostatics": static}
        if self.drift is not None:
            channels["drift"] = drift
        return Loads(parts.sum(0), xp.zeros(len(self.names)), power, channels)

    def bends(self, off_stops: frozenset[str] = frozenset()) -> str:
        return ""

    def radiation_start(self) -> Any:
        if isinstance(self.memory, Memory):
            return np.zeros(self.memory.A.shape[0])
        if self.memory is None:
            return None
        length = self.memory.kernel.shape[0] // 2 - 1
        return Past(np.zeros((length, len(self.memory.live))), np.zeros(()))

    def radiation_rate(self, now: Now) -> Any:
        chi = now.internal.radiation
        if isinstance(self.memory, Memory):
            v = in_axes(mean_yaw(now.internal), now.motion.v).reshape(-1)
            return apply(self.memory.A, chi) + apply(self.memory.B, v)
        # a record of past velocities rests during a step
        return Past(0.0 * chi.velocity, 0.0 * chi.time)


def _flat(loads: Any) -> Any:
    """Loads in time as large as in a sea of height zero."""
    if isinstance(loads, WaveLoads):
        return replace(loads, force=0.0 * loads.force, rate=0.0 * loads.rate)
    return loads


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
