r"""Linear waves: elevation and motion of the water as a sum of components.

A component is a plane wave :math:`\eta = \mathrm{Re}[a\,e^{i(k\cdot x - \omega t + \varphi)}]`.
The functions work with numpy and with jax.numpy, under jit, vmap and grad.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError, listed
from swelltree.describe.values import is_traced
from swelltree.jit import Array, namespace, pytree
from swelltree.waves.component_sums import PointSums, at_points, height, is_in_loops
from swelltree.waves.dispersion import AnyWater, depth_decay
from swelltree.waves.quick_trig import sin_cos
from swelltree.waves.ramp import ramp

STRETCHINGS = ("constant", "wheeler", "extrapolate")


@pytree()
class Components:
    """A sea as plane waves; all rows have one entry for each of them.

    Args:
        amplitude: a, not negative [m].
        omega: frequency [rad/s].
        wavenumber: k [1/m].
        beta: heading, towards, counter-clockwise from +x [rad].
        phase: at the origin at t = 0 [rad].
        ramp: time over which the sea grows from still water [s].
        repeat_period: after which the sea repeats itself [s]; infinite if it does not.
        residual: rms of what the components miss of a measured record, as a part of its rms.
        mean: level taken off a measured record [m].
        width: band of the spectrum that each component stands for [rad/s]; zero where it stands
            for itself, as a regular wave does.
        band: lowest and highest frequency that the description allows (2,) [rad/s]; whatever is
            drawn lies within. None: those of the components.
    """

    amplitude: Array
    omega: Array
    wavenumber: Array
    beta: Array
    phase: Array
    ramp: Array = 0.0
    repeat_period: Array = math.inf
    residual: Array = 0.0
    mean: Array = 0.0
    width: Array = 0.0
    band: Array = None

    def __len__(self) -> int:
        return len(self.amplitude)

    @property
    def complex_amplitude(self) -> Array:
        """A with eta = Re[A exp(-i omega t)] at the origin [m]."""
        xp = namespace(self.amplitude)
        return self.amplitude * xp.exp(1j * self.phase)

    @property
    def ends(self) -> tuple[float, float]:
        """Band limits: those of the description if given [rad/s]."""
        omega = np.asarray(self.omega)
        low, high = (omega.min(), omega.max()) if self.band is None else self.band
        return float(low), float(high)

    @property
    def is_known(self) -> bool:
        """Whether its values are concrete, not traced by JAX."""
        rows = (self.amplitude, self.omega, self.wavenumber, self.beta, self.phase)
        return not any(is_traced(row) for row in rows)

    def moment(self, n: int = 0) -> Array:
        """Spectral moment m_n = sum a^2 omega^n / 2 [m^2 (rad/s)^n]."""
        return (0.5 * self.amplitude**2 * self.omega**n).sum()

    @property
    def Hs(self) -> Array:
        """Significant wave height 4 sqrt(m0) [m]."""
        return 4 * self.moment(0) ** 0.5

    @property
    def Tz(self) -> Array:
        """Mean period between upward zero crossings, 2 pi sqrt(m0 / m2) [s]."""
        return 2 * np.pi * (self.moment(0) / self.moment(2)) ** 0.5


class Kinematics(NamedTuple):
    """Motion of the water.

    Args:
        velocity: (..., 3) [m/s].
        acceleration: (..., 3) [m/s^2].
        pressure: dynamic pressure, without -rho g z (...) [Pa].
    """

    velocity: Array
    acceleration: Array
    pressure: Array


def angles(waves: Components, t: Array, x: Array, y: Array) -> Array:
    """k.x - omega t + phase, with the components as last axis [rad]."""
    xp = namespace(waves.amplitude, t, x, y)
    t, x, y = (xp.asarray(value)[..., None] for value in (t, x, y))
    along = x * xp.cos(waves.beta) + y * xp.sin(waves.beta)
    return waves.wavenumber * along - waves.omega * t + waves.phase


def elevation(waves: Components, t: Array, x: Array = 0.0, y: Array = 0.0) -> Array:
    """Free surface [m] at times and places that broadcast with one another.

    Args:
        waves: the sea.
        t: [s].
        x: [m].
        y: [m].
    """
    if is_in_loops(waves, t, x, y):  # the surface does not ask for the depth
        sea = PointSums(waves, t, DEEP, "constant")
        return at_points(lambda x, y: (sea.elevation(x, y),), x, y)[0]
    theta = angles(waves, t, x, y)
    cos = np.cos(theta) if namespace(theta) is np else _sin_cos(theta)[1]
    return ramp(t, waves.ramp) * _summed(cos, waves.amplitude)


def kinematics(
    waves: Components,
    t: Array,
    x: Array,
    y: Array,
    z: Array,
    water: AnyWater,
    stretching: str = "constant",
) -> Kinematics:
    r"""Velocity, acceleration and dynamic pressure of the water.

    .. math::
        u = \frac{gk}{\omega} a C \cos\theta, \quad w = \frac{gk}{\omega} a S \sin\theta, \quad
        p = \rho g a C \cos\theta

    Accelerations are those at the fixed point. A ramp multiplies everything.

    Args:
        waves: the sea.
        t: [s].
        x: [m].
        y: [m].
        z: height above the still water, not below the bottom [m].
        water: rho, g and depth.
        stretching: what happens above the still water, where linear theory says nothing:
            "constant" keeps the value of z = 0; "wheeler" squeezes the profile under the actual
            surface; "extrapolate" continues the formulas.
    """
    xp = namespace(waves.amplitude, t, x, y, z, water.depth, water.g)
    if stretching not in STRETCHINGS:
        raise SwelltreeError(
            f"stretching '{stretching}' is not known. The choices are {listed(STRETCHINGS)}."
        )
    if is_in_loops(waves, t, x, y, z):
        sea = PointSums(waves, t, water, stretching)

        def point(x: Array, y: Array, z: Array) -> tuple[Array, ...]:
            eta = sea.elevation(x, y)
            return *sea.motion(eta, x, y, z), sea.pressure_head(eta, x, y, z)

        velocity, acceleration, head = at_points(point, x, y, z)
        return Kinematics(velocity, acceleration, water.rho * water.g * head)
    t, x, y, z = (xp.asarray(value) for value in (t, x, y, z))
    theta = angles(waves, t, x, y)
    a = waves.amplitude * ramp(t, waves.ramp)[..., None]
    sin, cos = _sin_cos(theta)
    eta = ramp(t, waves.ramp) * _summed(cos, waves.amplitude) if stretching == "wheeler" else 0.0
    z = height(z, eta, water.depth, stretching)
    C, S = depth_decay(waves.wavenumber, z[..., None], water.depth)
    gk = water.g * waves.wavenumber
    cos_C, sin_C = a * C * cos, a * C * sin
    cos_S, sin_S = a * S * cos, a * S * sin
    ahead = (xp.cos(waves.beta), xp.sin(waves.beta))
    velocity = [_summed(cos_C, gk / waves.omega * part) for part in ahead]
    acceleration = [_summed(sin_C, gk * part) for part in ahead]
    return Kinematics(
        xp.stack([*velocity, _summed(sin_S, gk / waves.omega)], -1),
        xp.stack([*acceleration, -_summed(cos_S, gk)], -1),
        water.rho * water.g * cos_C.sum(-1),
    )


MANY = 4096  # points times components above which library products pay
DEEP = Water()


def surface_and_motion(
    waves: Components,
    t: Array,
    x: Array,
    y: Array,
    z: Array,
    water: AnyWater,
    stretching: str = "constant",
) -> tuple[Array, Array, Array]:
    """Elevation (k,), velocity and acceleration (k, 3) at points (k,), as of `kinematics`."""
    if not is_in_loops(waves, t, x, y, z):
        flow = kinematics(waves, t, x, y, z, water, stretching)
        return elevation(waves, t, x, y), flow.velocity, flow.acceleration
    sea = PointSums(waves, t, water, stretching)

    def point(x: Array, y: Array, z: Array) -> tuple[Array, ...]:
        eta = sea.elevation(x, y)
        return eta, *sea.motion(eta, x, y, z)

    eta, velocity, acceleration = at_points(point, x, y, z)
    return eta, velocity, acceleration


def surface_and_head(
    waves: Components,
    t: Array,
    x: Array,
    y: Array,
    z: Array,
    water: AnyWater,
    stretching: str = "constant",
) -> tuple[Array, Array]:
    """Elevation and dynamic pressure head p / rho g [m], as of `kinematics`."""
    if not is_in_loops(waves, t, x, y, z):
        pressure = kinematics(waves, t, x, y, z, water, stretching).pressure
        return elevation(waves, t, x, y), pressure / (water.rho * water.g)
    sea = PointSums(waves, t, water, stretching)

    def point(x: Array, y: Array, z: Array) -> tuple[Array, ...]:
        eta = sea.elevation(x, y)
        return eta, sea.pressure_head(eta, x, y, z)

    eta, head = at_points(point, x, y, z)
    return eta, head


def _sin_cos(theta: Array) -> tuple[Array, Array]:
    """Sine and cosine; under JAX of many angles by polynomials."""
    xp = namespace(theta)
    if xp is np or theta.size < MANY:
        return xp.sin(theta), xp.cos(theta)
    return sin_cos(theta)


def _summed(x: Array, weights: Array) -> Array:
    """Sum over the components with weights."""
    return (weights * x).sum(-1) if x.size < MANY else x @ weights
