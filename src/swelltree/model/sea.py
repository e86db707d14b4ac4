"""The sea around the bodies: what forces on the actual position of a body ask for.

Waves and current are added. How a current changes the waves (Doppler shift, steepening) is not
modelled.

Currents and wind of a compiled model: the velocity of the fluid at given points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from swelltree.describe.environment import water as described
from swelltree.describe.environment.water import Current, Water
from swelltree.describe.forces.signals import resolve
from swelltree.jit import Array, Numbers, namespace, pytree
from swelltree.waves.airy import Components, Kinematics, surface_and_motion

if TYPE_CHECKING:
    from swelltree.model.model import Model
    from swelltree.waves.sea import RealisedSea


LOWEST = 1.0  # m: below this height the wind is that of this height


@pytree()
class Profile:
    """A steady horizontal current by height, linear between rows and held beyond."""

    z: Array  # (k,) increasing, m
    velocity: Array  # (k, 2) m/s

    def flow(self, t: Array, points: Float[Array, "k 3"]) -> tuple[Array, Array]:
        """Velocity and acceleration Du/Dt of the water at the points, (k, 3) each."""
        xp = namespace(points, self.velocity)
        across = [xp.interp(points[:, 2], self.z, self.velocity[:, i]) for i in range(2)]
        velocity = xp.stack([*across, 0.0 * points[:, 2]], axis=-1)
        return velocity, 0.0 * velocity


@pytree()
class Turning:
    """A steady horizontal current whose speed and direction are linear between rows of height."""

    z: Array  # (k,) increasing, m
    speed: Array  # (k,) m/s
    beta: Array  # (k,) rad, without jumps

    def flow(self, t: Array, points: Float[Array, "k 3"]) -> tuple[Array, Array]:
        """Velocity and acceleration Du/Dt of the water at the points, (k, 3) each."""
        xp = namespace(points, self.speed)
        speed, beta = (xp.interp(points[:, 2], self.z, x) for x in (self.speed, self.beta))
        velocity = xp.stack([speed * xp.cos(beta), speed * xp.sin(beta), 0.0 * speed], axis=-1)
        return velocity, 0.0 * velocity


@pytree()
class PowerLaw:
    """U (1 + z / depth)^exponent below the surface, held above it, zero below `depth`."""

    velocity: Array  # (2,) at the still water, m/s
    exponent: Array
    depth: Array  # m

    def flow(self, t: Array, points: Float[Array, "k 3"]) -> tuple[Array, Array]:
        """Velocity and acceleration Du/Dt of the water at the points, (k, 3) each."""
        xp = namespace(points, self.velocity)
        # the slope at the bottom is infinite: cut off where the speed is a trifle
        part = xp.clip(1.0 + points[:, 2] / self.depth, 1e-9, 1.0)
        size = xp.where(part > 1e-9, part**self.exponent, 0.0)
        velocity = xp.stack([size * self.velocity[0], size * self.velocity[1], 0.0 * size], -1)
        return velocity, 0.0 * velocity


@pytree()
class Grid:
    """Velocities on a grid in time and space, linear between its points and held beyond them."""

    time: Array  # (t,) s
    x: Array  # (x,) m
    y: Array
    z: Array
    velocity: Array  # (t, x, y, z, 3) m/s

    def flow(self, t: Array, points: Float[Array, "k 3"]) -> tuple[Array, Array]:
        """Velocity and acceleration Du/Dt of the water at the points, (k, 3) each."""
        xp = namespace(points, self.velocity, t)
        axes = self.time, self.x, self.y, self.z
        at = t + 0.0 * points[:, 0], points[:, 0], points[:, 1], points[:, 2]
        numbers, weights, slopes = [], [], []
        for number, (axis, value) in enumerate(zip(axes, at, strict=True)):
            shape = [1] * 4
            shape[number] = min(len(axis), 2)
            for rows, row in zip((numbers, weights, slopes), _cell(axis, value), strict=True):
                rows.append(row.reshape(-1, *shape))
        corners = xp.asarray(self.velocity)[tuple(numbers)]

        def summed(factors: list[Array]) -> Array:
            weight = factors[0] * factors[1] * factors[2] * factors[3]
            return (corners * weight[..., None]).sum((1, 2, 3, 4))

        velocity = summed(weights)
        rates = [summed([*weights[:i], slopes[i], *weights[i + 1 :]]) for i in range(4)]
        # along a water particle: du/dt + (u . grad) u
        along = [velocity[:, i : i + 1] * rates[i + 1] for i in range(3)]
        return velocity, rates[0] + along[0] + along[1] + along[2]


def _cell(axis: Array, value: Float[Array, " k"]) -> tuple[Array, Array, Array]:
    """Indices of the adjacent points (k, 2), their weights, and slopes of the weights."""
    xp = namespace(axis, value)
    if len(axis) == 1:
        zero = xp.zeros((len(value), 1))
        return zero.astype(int), zero + 1.0, zero
    count = len(axis)
    first = xp.floor(xp.interp(value, axis, np.arange(float(count))))
    first = xp.clip(first, 0, count - 2).astype(int)
    low, high = xp.asarray(axis)[first], xp.asarray(axis)[first + 1]
    part = (value - low) / (high - low)
    inside = (part >= 0.0) & (part <= 1.0)
    rate = xp.where(inside, 1.0 / (high - low), 0.0)
    part = xp.clip(part, 0.0, 1.0)
    pairs = (first, first + 1), (1.0 - part, part), (-rate, rate)
    indices, weights, slopes = (xp.stack(pair, axis=-1) for pair in pairs)
    return indices, weights, slopes


@pytree("function")
class Field:
    """Water velocity given by a function."""

    function: Callable[
        [Array, Array, Array, Array], tuple[Array, Array, Array]
    ]  # (t, x, y, z) -> (u, v, w)

    def flow(self, t: Array, points: Float[Array, "k 3"]) -> tuple[Array, Array]:
        """Velocity and acceleration Du/Dt of the water at the points, (k, 3) each."""
        from swelltree.jit import jax, jnp

        def velocity(t: Array, x: Array) -> Array:
            return jnp.stack([jnp.asarray(c, float) for c in self.function(t, *x)])

        def one(x: Array) -> tuple[Array, Array]:
            now = jnp.asarray(t, float)
            u = velocity(now, x)
            # along a water particle: du/dt + (u . grad) u
            return jax.jvp(velocity, (now, x), (jnp.ones(()), u))

        return jax.vmap(one)(jnp.asarray(points))


@pytree()
class Wind:
    """Steady wind by height."""

    velocity: Array  # (2,) at the reference height, m/s
    height: Array  # m
    exponent: Array
    rho: Array  # kg/m^3

    def at(self, points: Float[Array, "k 3"]) -> Float[Array, "k 2"]:
        """Horizontal velocity of the air at the points."""
        xp = namespace(points, self.velocity)
        up = xp.maximum(points[:, 2], LOWEST) / self.height
        return (up**self.exponent)[:, None] * self.velocity


def _towards(speed: Numbers, beta: Numbers) -> np.ndarray:
    speed, beta = np.broadcast_arrays(np.asarray(speed, float), np.asarray(beta, float))
    return np.stack([speed * np.cos(beta), speed * np.sin(beta)], axis=-1)


def compile_current(
    current: Current | None, water: Water
) -> Profile | Turning | PowerLaw | Grid | Field | None:
    match current:
        case None:
            return None
        case described.UniformCurrent():
            return Profile(np.array([-1.0, 0.0]), _towards([current.speed] * 2, current.beta))
        case described.PowerLawCurrent():
            depth = water.depth if current.depth is None else current.depth
            top = _towards(current.speed, current.beta)
            return PowerLaw(top, np.array(current.exponent), np.array(float(depth)))
        case described.CurrentTable() if isinstance(current.beta, tuple):
            z, speed = -np.array(current.depth)[::-1], np.array(current.speed)[::-1]
            # from one direction to the next the shorter way round
            return Turning(z, speed, np.unwrap(np.array(current.beta)[::-1]))
        case described.CurrentTable():
            velocity = _towards(current.speed, current.beta)
            return Profile(-np.array(current.depth)[::-1], velocity[::-1])
        case described.CurrentGrid():
            time, x, y, z = map(np.array, (current.time, current.x, current.y, current.z))
            return Grid(time, x, y, z, current.velocity)
        case described.FlowField():
            return Field(resolve(current.function))
        case _:
            raise current.fail("has no compiled form. Give UniformCurrent(speed=...) or another.")


def compile_wind(wind: described.Wind | None) -> Wind | None:
    if wind is None:
        return None
    numbers = (wind.reference_height, wind.exponent, wind.rho)
    return Wind(_towards(wind.speed, wind.beta), *(np.array(x) for x in numbers))


@pytree("stretching")
class Sea:
    """Waves, currents and wind."""

    waves: RealisedSea | None = (
        None  # realised sea: components, stream function wave, grid; None: still water
    )
    stretching: str = "wheeler"  # of linear waves above the still water
    current: Profile | Turning | PowerLaw | Grid | Field | None = None
    wind: Wind | None = None  # currents.Wind


def surface_at(model: Model, t: Array, points: Array) -> Array:
    """Height of the free surface above the still water at points (k, 3) [m]."""
    from swelltree.waves.sea import elevation

    if model.sea.waves is None:
        return namespace(points).zeros(points.shape[0])
    return elevation(model.sea.waves, t, points[:, 0], points[:, 1])


def water_at(
    model: Model, t: Array, points: Array, follows: np.ndarray | None = None
) -> Kinematics:
    """Velocity, acceleration and dynamic pressure of the water at points (k, 3).

    Points above the surface get what stretching says there; who asks must know the surface.

    Args:
        model: with its sea.
        t: [s].
        points: [m].
        follows: (k,) whether a point belongs to something that is wet up to the actual surface;
            the others have linear theory up to the still water, without stretching.
    """
    if follows is not None and not follows.any():
        model = _unstretched(model)
    moving = waves_at(model, t, points)
    if follows is not None and follows.any() and not follows.all():
        linear, xp = waves_at(_unstretched(model), t, points), namespace(points)
        pairs = zip(moving, linear, strict=True)
        moving = Kinematics(
            *(xp.where(follows.reshape(-1, *(1,) * (x.ndim - 1)), x, y) for x, y in pairs)
        )
    if model.sea.current is None:
        return moving
    velocity, acceleration = model.sea.current.flow(t, points)
    return Kinematics(
        moving.velocity + velocity, moving.acceleration + acceleration, moving.pressure
    )


def surface_and_water_at(
    model: Model, t: Array, points: Array, follows: np.ndarray | None = None
) -> tuple[Array, Array, Array]:
    """Height of the surface, velocity and acceleration of the water at points (k, 3).

    As of `surface_at` and `water_at`; linear waves are summed once for all three.

    Args:
        model: with its sea.
        t: [s].
        points: [m].
        follows: as of `water_at`.
    """
    waves = model.sea.waves
    mixed = follows is not None and bool(follows.any()) and not bool(follows.all())
    if not isinstance(waves, Components) or mixed:
        flow = water_at(model, t, points, follows)
        return surface_at(model, t, points), flow.velocity, flow.acceleration
    sea = model.sea
    if follows is not None and not follows.any():
        sea = _unstretched(model).sea
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    eta, *flow = surface_and_motion(waves, t, x, y, z, model.water, sea.stretching)
    velocity, acceleration = flow
    if sea.current is not None:
        more = sea.current.flow(t, points)
        velocity, acceleration = velocity + more[0], acceleration + more[1]
    return eta, velocity, acceleration


def _unstretched(model: Model) -> Model:
    """The sea without stretching: linear up to the still water level."""
    return model.replace(sea=replace(model.sea, stretching="constant"))


def current_at(model: Model, t: Array, points: Array) -> Array:
    """Velocity of the current alone at points (k, 3) [m/s]."""
    if model.sea.current is None:
        return 0.0 * points
    return model.sea.current.flow(t, points)[0]


def waves_at(model: Model, t: Array, points: Array) -> Kinematics:
    """Velocity and acceleration of the waves without the current."""
    from swelltree.waves.sea import kinematics

    xp = namespace(points)
    sea = model.sea
    if sea.waves is None:
        still = xp.zeros(points.shape)
        return Kinematics(still, still, still[:, 0])
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    return kinematics(sea.waves, t, x, y, z, model.water, sea.stretching)
