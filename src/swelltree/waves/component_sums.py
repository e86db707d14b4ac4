"""Linear waves at points of a traced program: sums over components in loops.

An array of points times components would be as many equations in native code. Here one loop body
serves all components at a point, and one all points.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.jit import Array, each, each_sum, known, namespace
from swelltree.waves.dispersion import AnyWater, is_deep
from swelltree.waves.quick_trig import sin_cos
from swelltree.waves.ramp import ramp

if TYPE_CHECKING:
    from swelltree.waves.airy import Components

SMALLEST = 1e-300
LOOP_LIMIT = 8  # components from which on a loop over them is shorter


def is_in_loops(waves: Components, t: Array, *place: Array) -> bool:
    """Whether to sum in loops: at a point, or points in a row, at one time, in a traced program."""
    if np.ndim(t) or max(map(np.ndim, place)) > 1 or namespace(waves.amplitude, t, *place) is np:
        return False
    return len(waves) >= LOOP_LIMIT


def height(z: Array, eta: Array, depth: Array, stretching: str) -> Array:
    """Height at which linear theory is evaluated for a point at z below a surface at eta [m]."""
    if stretching == "wheeler":
        # maps the bottom to itself and the actual surface to z = 0
        z = z - eta if is_deep(depth) else (z - eta) / (1 + eta / depth)
    return z if stretching == "extrapolate" else namespace(z, eta).minimum(z, 0.0)


class _Parts(NamedTuple):
    """Numbers of each component that do not depend on the point and the time, (component,)."""

    k: Array
    omega: Array
    phase: Array
    along: tuple[Array, Array]  # k in x and y [1/m]
    ahead: tuple[Array, Array]
    amplitude: Array  # [m]
    head: Array  # amplitude divided by 1 + exp(-2 k h) [m]
    push: Array  # of the acceleration, divided by the same [m/s^2]
    flow: Array  # of the velocity, divided by the same [m/s]
    echo: Array  # exp(-2 k h), zero in deep water


class PointSums:
    """A sea at one time, evaluated at points.

    Args:
        waves: its components.
        t: [s].
        water: g and depth.
        stretching: as of `airy.kinematics`.
    """

    def __init__(self, waves: Components, t: Array, water: AnyWater, stretching: str) -> None:
        self.t, self.water, self.stretching = t, water, stretching
        self.start, self.parts = ramp(t, waves.ramp), _parts(waves, water)

    def elevation(self, x: Array, y: Array) -> Array:
        """Height of the surface above a point [m]."""
        terms = each_sum(lambda c: c.amplitude * sin_cos(self._angle(c, x, y))[1], self.parts)
        return self.start * terms

    def motion(self, eta: Array, x: Array, y: Array, z: Array) -> tuple[Array, Array]:
        """Velocity and acceleration (3,) at a point below a surface elevation."""
        z = height(z, eta, self.water.depth, self.stretching)

        def component(c: _Parts) -> tuple[Array, Array]:
            xp = namespace(c.k)
            sine, cosine = sin_cos(self._angle(c, x, y))
            C, S = self._decay(c, z)
            ahead, pushed = C * c.flow * cosine, C * c.push * sine
            return (
                xp.stack([ahead * c.ahead[0], ahead * c.ahead[1], S * c.flow * sine]),
                xp.stack([pushed * c.ahead[0], pushed * c.ahead[1], -S * c.push * cosine]),
            )

        velocity, acceleration = each_sum(component, self.parts)
        return self.start * velocity, self.start * acceleration

    def pressure_head(self, eta: Array, x: Array, y: Array, z: Array) -> Array:
        """Dynamic pressure p / rho g at a point under a surface of some height [m]."""
        z = height(z, eta, self.water.depth, self.stretching)

        def component(c: _Parts) -> Array:
            return self._decay(c, z)[0] * c.head * sin_cos(self._angle(c, x, y))[1]

        return self.start * each_sum(component, self.parts)

    def _angle(self, c: _Parts, x: Array, y: Array) -> Array:
        return c.along[0] * x + c.along[1] * y + (c.phase - c.omega * self.t)

    def _decay(self, c: _Parts, z: Array) -> tuple[Array, Array]:
        """`depth_decay` times 1 + exp(-2 k h), with one exponential."""
        xp = namespace(c.k)
        down = xp.exp(c.k * z)
        mirror = 0.0 if is_deep(self.water.depth) else c.echo / xp.maximum(down, SMALLEST)
        return down + mirror, down - mirror


def _parts(waves: Components, water: AnyWater) -> _Parts:
    """In a loop of its own: native code runs it once for all times."""

    def component(omega: Array, k: Array, beta: Array, phase: Array, a: Array) -> _Parts:
        xp = namespace(beta)
        ahead = xp.cos(beta), xp.sin(beta)
        echo = 0.0 * k if is_deep(water.depth) else xp.exp(-2.0 * k * water.depth)
        head = a / (1.0 + echo)
        push = water.g * k * head
        along = k * ahead[0], k * ahead[1]
        return _Parts(k, omega, phase, along, ahead, a, head, push, push / omega, echo)

    return each(component, waves.omega, waves.wavenumber, waves.beta, waves.phase, waves.amplitude)


def at_points(function: Callable[..., tuple[Array, ...]], *place: Array) -> tuple[Array, ...]:
    """Results of a function of the coordinates of a point, for one point or for a row of points."""
    xp = namespace(*place)
    place = tuple(map(xp.asarray, place))
    if not max(map(np.ndim, place)):
        return function(*place)
    return each(function, *xp.broadcast_arrays(*place))


# --- Random numbers by counting: each depends on its key alone, never on what was drawn before

PHASE, JITTER, AMPLITUDE, HEADING = range(4)


def case_number(case: int | str) -> int:
    """Integer of a case; names are hashed."""
    if isinstance(case, str):
        return int.from_bytes(hashlib.blake2b(case.encode(), digest_size=8).digest(), "little")
    return int(case) % 2**64


def uniforms(seed: Array, case: int | str, count: int, train: int = 0) -> Array:
    """Numbers in [0, 1), four for each component: for phase, jitter, amplitude, heading.

    Philox gives one block of four numbers per count, so component i always owns block i of the
    key (seed, case) and of the train.

    Args:
        seed: of the sea; one that JAX is tracing is drawn by calling back.
        case: number or name of the run.
        count: how many components.
        train: number of the wave train in a sea of several.

    Returns:
        (count, 4)
    """
    if not known(seed):
        return _called_back(seed, case, count, train)
    generator = np.random.Philox(
        key=np.array([seed, case_number(case)], np.uint64),
        counter=np.array([0, 0, 0, train], np.uint64),
    )
    raw = generator.random_raw(4 * count).reshape(count, 4)
    return (raw >> np.uint64(11)) * 2.0**-53


def uniforms_of_many(seeds: Sequence[int], cases: Sequence[int | str], count: int) -> np.ndarray:
    """`uniforms` for many seeds and runs, (seed, count, 4), by one generator."""
    generator = np.random.Philox(key=np.zeros(2, np.uint64))
    state = generator.state
    raw = np.empty((len(seeds), 4 * count), np.uint64)
    for k, (seed, case) in enumerate(zip(seeds, cases, strict=True)):
        state["state"]["key"] = np.array([seed, case_number(case)], np.uint64)
        generator.state = state
        raw[k] = generator.random_raw(4 * count)
    return ((raw >> np.uint64(11)) * 2.0**-53).reshape(len(seeds), count, 4)


def _called_back(seed: Array, case: int | str, count: int, train: int) -> Array:
    """`uniforms` inside compiled programs."""
    from swelltree.jit import jax

    shape = jax.ShapeDtypeStruct((count, 4), float)
    return jax.pure_callback(
        lambda specified: uniforms(int(specified), case, count, train),
        shape,
        seed,
        vmap_method="sequential",
    )
