"""Wrenches of linear hydrodynamics: buoyancy, damping, radiation memory, excitation.

The inertial part, added mass at infinite frequency, is in the mass matrix of
every formulation. All terms are booked as work in the energy budget.
"""

from __future__ import annotations

from typing import Any

from swelltree.model.forces.loads import Loads
from swelltree.model.hydrodynamics import Hydro, WaveLoads, displacement
from swelltree.model.kinematics import Motion
from swelltree.spatial.arrays import Array, namespace
from swelltree.spatial.linalg import apply

TERMS = ("hydrostatics", "hydrodynamic damping", "radiation", "excitation")


def hydrodynamics(hydro: Hydro, t: Array, motion: Motion, chi: Any) -> Loads:
    """Linear hydrodynamic wrench of every body; chi is the state of the radiation memory."""
    xp = namespace(motion.pose.p)
    shape = motion.v.shape
    v = motion.v.reshape(-1)
    xi = displacement(hydro.mean, motion.pose).reshape(-1)
    static = hydro.buoyancy - apply(hydro.stiffness, xi).reshape(shape)
    damping = -apply(hydro.damping, v).reshape(shape)
    radiation = xp.zeros(shape)
    if hydro.memory is not None:
        radiation = -apply(hydro.memory.C, chi).reshape(shape)
    excitation = xp.zeros(shape)
    if hydro.waves is not None:
        excitation = wave_force(hydro.waves, t).reshape(shape)
    parts = xp.stack([static, damping, radiation, excitation])
    power = (parts * motion.v).sum((1, 2))
    channels = {"excitation": excitation, "radiation": radiation, "hydrostatics": static}
    return Loads(parts.sum(0), xp.zeros(len(TERMS)), power, channels)


def memory_rate(hydro: Hydro, motion: Motion, chi: Array) -> Array:
    """Rate of the radiation memory."""
    assert hydro.memory is not None
    return apply(hydro.memory.A, chi) + apply(hydro.memory.B, motion.v.reshape(-1))


def wave_force(waves: WaveLoads, t: Array) -> Array:
    """Excitation at time t by cubic Hermite interpolation on the grid."""
    xp = namespace(t)
    force, rate = xp.asarray(waves.force), xp.asarray(waves.rate)
    x = t / waves.step
    i = xp.clip(xp.floor(x).astype(int), 0, force.shape[0] - 2)
    x = x - i
    h00, h10 = (1.0 + 2.0 * x) * (1.0 - x) ** 2, x * (1.0 - x) ** 2
    h01, h11 = x * x * (3.0 - 2.0 * x), x * x * (x - 1.0)
    left = h00 * force[i] + h10 * waves.step * rate[i]
    return left + h01 * force[i + 1] + h11 * waves.step * rate[i + 1]
