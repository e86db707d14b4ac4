"""Signals of time, compiled: constants, tables, harmonics, polynomials, user functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from swelltree.describe.forces import signals as described
from swelltree.jit import Array, Tree, namespace, pytree
from swelltree.multibody.rows import Drives

# --- Named body points and distances that a run reports


@pytree("points", "pairs", "body", "body_a", "body_b")
class Sensors:
    """Points (k of them) and pairs of points (d of them)."""

    point: Array  # (k, 3)
    point_a: Array  # (d, 3)
    point_b: Array  # (d, 3)
    points: tuple[str, ...]  # names
    pairs: tuple[str, ...]
    body: tuple[int, ...]
    body_a: tuple[int, ...]
    body_b: tuple[int, ...]


# --- Bends of a sampled signal: the few samples whose linear interpolation reproduces it closely

LEFT_OUT = 0.02  # of the range of a signal: what straight lines between bends may leave out


def nonlinearity(time: Float[np.ndarray, " n"], value: Float[np.ndarray, " n"]) -> np.ndarray:
    """Numbers of the samples that a polyline needs to stay within a fraction of the range.

    A stretch whose worst sample is too far from the chord is divided there (Douglas and Peucker
    1973). A slow swell keeps some ten samples a period, a pulse its feet and its tops, however
    many samples there are.
    """
    close = LEFT_OUT * float(np.ptp(value))
    stored = {0, len(time) - 1}
    stretches = [(0, len(time) - 1)]
    while stretches:
        first, last = stretches.pop()
        if last - first < 2:
            continue
        part = (time[first : last + 1] - time[first]) / (time[last] - time[first])
        chord = value[first] + part * (value[last] - value[first])
        off = np.abs(value[first : last + 1] - chord)
        worst = first + int(off.argmax())
        if off.max() > close:
            stored.add(worst)
            stretches += [(first, worst), (worst, last)]
    return np.array(sorted(stored))


Motion = tuple[Array, Array, Array]


@pytree()
class Constant:
    """Constant value."""

    value: Array

    def __call__(self, t: Array) -> Array:
        return self.value + 0.0 * t

    def motion(self, t: Array) -> Motion:
        return self(t), 0.0 * t, 0.0 * t


@pytree()
class Pieces:
    """Cubic pieces through a table (spline, monotone or straight), held at its ends."""

    knots: Array  # (k,) s
    coefficients: Array  # (4, k - 1), highest power first
    area: Array  # (k,) integral from the first knot on
    nonlinearity: Array  # (b,) s, breakpoints and other times that must not be stepped over

    def __call__(self, t: Array) -> Array:
        return self.motion(t)[0]

    def corners(self) -> Array:
        """Times where steps end [s]."""
        return self.nonlinearity

    def _piece(self, t: Array) -> tuple[Array, Array, Array]:
        """Number of the piece at times within the table, time into it and its coefficients."""
        xp = namespace(t, self.knots, self.coefficients)
        i = xp.clip(xp.searchsorted(self.knots, t, side="right") - 1, 0, len(self.knots) - 2)
        return i, t - xp.asarray(self.knots)[i], xp.asarray(self.coefficients)[:, i]

    def integral(self, t: Array) -> Array:
        """Integral of the value from the first breakpoint."""
        xp = namespace(t, self.knots, self.coefficients)
        inside_table = xp.clip(t, self.knots[0], self.knots[-1])
        i, x, c = self._piece(inside_table)
        inside = (((c[0] / 4.0 * x + c[1] / 3.0) * x + c[2] / 2.0) * x + c[3]) * x
        return xp.asarray(self.area)[i] + inside + (t - inside_table) * self(t)

    def motion(self, t: Array) -> Motion:
        """Value, rate and acceleration; constant beyond the ends."""
        xp = namespace(t, self.knots, self.coefficients)
        first, last = self.knots[0], self.knots[-1]
        inside = (t >= first) & (t <= last)
        _, x, c = self._piece(xp.where(inside, t, xp.where(t < first, first, last)))
        value = ((c[0] * x + c[1]) * x + c[2]) * x + c[3]
        rate = (3.0 * c[0] * x + 2.0 * c[1]) * x + c[2]
        acceleration = 6.0 * c[0] * x + 2.0 * c[1]
        return value, xp.where(inside, rate, 0.0), xp.where(inside, acceleration, 0.0)


@pytree()
class Harmonic:
    """offset + amplitude cos(omega t + phase)."""

    amplitude: Array
    omega: Array
    phase: Array
    offset: Array

    def __call__(self, t: Array) -> Array:
        xp = namespace(t, self.omega, self.phase)
        return self.offset + self.amplitude * xp.cos(self.omega * t + self.phase)

    def motion(self, t: Array) -> Motion:
        """Value, rate and acceleration."""
        xp = namespace(t, self.omega, self.phase)
        swing = self(t) - self.offset
        rate = -self.omega * self.amplitude * xp.sin(self.omega * t + self.phase)
        return self.offset + swing, rate, -(self.omega**2) * swing


@pytree()
class Sinusoids:
    """mean + sum of cos_k cos(omega_k t) + sin_k sin(omega_k t), grown over a ramp."""

    omega: Array  # (k,) rad/s
    cos: Array  # (k,)
    sin: Array  # (k,)
    mean: Array
    ramp: Array  # s; zero: there from the start

    def __call__(self, t: Array) -> Array:
        xp = namespace(t, self.cos, self.omega)
        phase = self.omega * t
        swing = (self.cos * xp.cos(phase) + self.sin * xp.sin(phase)).sum()
        grown = xp.clip(t / xp.maximum(self.ramp, 1e-12), 0.0, 1.0)
        return 0.5 * (1.0 - xp.cos(np.pi * grown)) * (self.mean + swing)


@pytree()
class Polynomial:
    """Powers of t, constant first."""

    coefficients: Array

    def __call__(self, t: Array) -> Array:
        return self.motion(t)[0]

    def motion(self, t: Array) -> Motion:
        """Value, rate and acceleration (Horner's rule and its derivatives)."""
        value = rate = acceleration = 0.0 * t
        for c in reversed(range(len(self.coefficients))):
            acceleration = acceleration * t + 2.0 * rate
            rate = rate * t + value
            value = value * t + self.coefficients[c]
        return value, rate, acceleration


@pytree()
class ZeroOrderHold:
    """A signal and a number beside it that is held from a time on, another one before.

    Means over a width about the time count a part of both, as steps of that length see them.
    """

    signal: Tree  # compiled, or None
    before: Array
    value: Array
    since: Array  # s
    width: Array  # s; zero: the value of an instant

    def __call__(self, t: Array) -> Array:
        xp = namespace(t, self.since, self.value)
        wide = self.width > 0.0
        share = xp.clip((t - self.since) / xp.where(wide, self.width, 1.0) + 0.5, 0.0, 1.0)
        share = xp.where(wide, share, xp.where(t >= self.since, 1.0, 0.0))
        signal = 0.0 if self.signal is None else self.signal(t)
        return signal + self.value * share + self.before * (1.0 - share)

    def corners(self) -> Array:
        """Breakpoints of the signal, where the held value changes [s]."""
        return getattr(self.signal, "corners", lambda: np.zeros(0))()

    @property
    def integral(self) -> Callable[[Array], Array] | None:
        """Integral; None if that of the signal is unknown."""
        steady = isinstance(self.signal, Constant | None)
        return self._integral if steady or hasattr(self.signal, "integral") else None

    def _integral(self, t: Array) -> Array:
        xp = namespace(t, self.since, self.value)
        after = t - self.since
        if isinstance(self.signal, Constant):
            signal = self.signal.value * after
        else:
            signal = 0.0 if self.signal is None else self.signal.integral(t)
        return signal + self.before * xp.minimum(after, 0.0) + self.value * xp.maximum(after, 0.0)


@pytree("function")
class UserFunction:
    """A user's JAX-traceable function of time."""

    function: Callable[[Array], Array]

    def __call__(self, t: Array) -> Array:
        return self.function(t)

    def motion(self, t: Array) -> Motion:
        """Value, rate and acceleration, by automatic differentiation."""
        from swelltree.jit import jax, jnp

        def value(time: Array) -> Array:
            return jnp.asarray(self.function(time), dtype=float)

        def rate(time: Array) -> Array:
            return jax.jvp(value, (time,), (jnp.ones_like(time),))[1]

        now = jnp.asarray(t, dtype=float)
        speed, acceleration = jax.jvp(rate, (now,), (jnp.ones_like(now),))
        return value(now), speed, acceleration


Signal = Constant | Pieces | Harmonic | Polynomial | UserFunction  # compiled


def compile_signal(signal: object) -> Signal:
    signal = described.resolve(signal)
    if isinstance(signal, described.Table):
        return _pieces(signal)
    if isinstance(signal, described.Harmonic):
        numbers = (signal.amplitude, signal.omega, signal.phase, signal.offset)
        return Harmonic(*(np.array(x, dtype=float) for x in numbers))
    if isinstance(signal, described.Polynomial):
        return Polynomial(np.array(signal.coefficients, dtype=float))
    if callable(signal):
        return UserFunction(signal)
    return Constant(np.array(signal, dtype=float))


def _pieces(table: described.Table) -> Pieces:
    from scipy.interpolate import CubicSpline, PchipInterpolator

    time, value = np.array(table.time, float), np.array(table.value, float)
    if table.interpolation == "linear":
        straight = np.diff(value) / np.diff(time)
        coefficients = np.stack([0.0 * straight, 0.0 * straight, straight, value[:-1]])
        corners = time
    else:
        through = CubicSpline if table.interpolation == "spline" else PchipInterpolator
        coefficients = through(time, value).c
        corners = time[nonlinearity(time, value)]
    x = np.diff(time)
    each = sum(c * x ** (4 - k) / (4 - k) for k, c in enumerate(coefficients))
    return Pieces(time, coefficients, np.append(0.0, np.cumsum(each)), corners)


def drives_at(drives: tuple[Signal, ...], t: Array) -> Drives:
    """Value, rate and acceleration of every prescribed coordinate at time t."""
    if not drives:
        none = namespace(t).zeros(0)
        return Drives(none, none, none)
    parts = [f.motion(t) for f in drives]
    xp = namespace(*(x for part in parts for x in part))
    value, rate, acceleration = (
        xp.stack([xp.asarray(part[i], dtype=float) for part in parts]) for i in range(3)
    )
    return Drives(value, rate, acceleration)


def held_drives(drives: tuple[Signal, ...], t: Array) -> Drives:
    """Prescribed coordinates at time t with zero rates."""
    if not drives:
        return drives_at(drives, t)
    values = [f(t) for f in drives]
    xp = namespace(*values)
    value = xp.stack([xp.asarray(x, dtype=float) for x in values])
    return Drives(value, 0.0 * value, 0.0 * value)
