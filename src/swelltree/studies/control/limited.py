"""Quantities of driven elements that can be limited: force, stroke, their rates, power.

Periodic series of strokes, rates and forces of the driven elements, and their derivatives.

All studies of optimal control see the system through a `Response`: the coefficients of stroke x,
rate v and force F of every element, and how they change with the unknowns z.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class Response:
    """Series (c coefficients: mean, cosines, sines) at some z."""

    stroke: np.ndarray  # (c, p)
    rate: np.ndarray  # (c, p)
    force: np.ndarray  # (c, p)
    d_stroke: np.ndarray  # (c, p, z)
    d_rate: np.ndarray  # (c, p, z)
    d_force: np.ndarray  # (c, p, z)
    # second derivatives of sum(w_x x + w_v v + w_F F): (w_x, w_v, w_F) -> (z, z); None: linear
    curvature: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray] | None = None


def harmonics_of(coefficients: np.ndarray) -> int:
    """Number of harmonics of a series."""
    return (len(coefficients) - 1) // 2


def values_at(omega: float, times: np.ndarray, harmonics: int) -> np.ndarray:
    """Read-only rows (times, 2N + 1) that map coefficients to values."""
    return _values_at(omega, times.tobytes(), harmonics)


@functools.lru_cache(maxsize=16)
def _values_at(omega: float, raw: bytes, harmonics: int) -> np.ndarray:
    times = np.frombuffer(raw)
    phase = np.outer(times, omega * np.arange(1, harmonics + 1))
    return np.concatenate([np.ones((len(times), 1)), np.cos(phase), np.sin(phase)], axis=1)


def times_series(x: np.ndarray, change: np.ndarray) -> np.ndarray:
    """x @ change, fast if every unknown is one coefficient."""
    if np.count_nonzero(change) == change.shape[1]:
        place = change.argmax(axis=0)
        if (change[place, np.arange(change.shape[1])] == 1.0).all():
            return x[:, place]
    return x @ change


def rate_of(omega: float, coefficients: np.ndarray) -> np.ndarray:
    n = harmonics_of(coefficients)
    k = omega * np.arange(1, n + 1).reshape(-1, *(1,) * (coefficients.ndim - 1))
    cos, sin = coefficients[1 : n + 1], coefficients[n + 1 :]
    return np.concatenate([0.0 * coefficients[:1], k * sin, -k * cos])


def weights(harmonics: int) -> np.ndarray:
    """Mean of the product of two series = sum of weights times the coefficients."""
    return np.where(np.arange(2 * harmonics + 1) == 0, 1.0, 0.5)


def sampled(coefficients: np.ndarray, count: int) -> np.ndarray:
    """Values at `count` equidistant times, by FFT; count > 2N."""
    n = harmonics_of(coefficients)
    hat = np.zeros((count // 2 + 1, *coefficients.shape[1:]), dtype=complex)
    hat[0] = coefficients[0] * count
    hat[1 : n + 1] = 0.5 * count * (coefficients[1 : n + 1] - 1j * coefficients[n + 1 :])
    return np.fft.irfft(hat, n=count, axis=0)


def projected(values: np.ndarray) -> np.ndarray:
    """Coefficients of values at an odd or even number of equidistant times, Nyquist dropped."""
    count = len(values)
    hat = np.fft.rfft(values, axis=0) / count
    n = (count - 1) // 2
    return np.concatenate([hat[:1].real, 2.0 * hat[1 : n + 1].real, -2.0 * hat[1 : n + 1].imag])


class AtRest(NamedTuple):
    """Driven elements in still water."""

    stroke: np.ndarray  # (p,) [m, rad]
    compliance: np.ndarray  # (p, p) mean stroke per mean force of the unknowns
    force: np.ndarray  # (p,)
    force_rows: np.ndarray  # (p, p) mean force per mean force of the unknowns


@dataclass
class Weights:
    """Weights of series of the elements in a Lagrangian, (c, p) each, and their contribution."""

    stroke: np.ndarray
    rate: np.ndarray
    force: np.ndarray
    hessian: np.ndarray  # (z, z)


class At(NamedTuple):
    """Evaluation points of a quantity: one element of a response, at some times of a period."""

    omega: float
    response: Response
    port: int
    rows: np.ndarray  # (times, c): turn coefficients of a series into values


class Limited(ABC):
    """A limited quantity."""

    units: tuple[str, str]  # of elements that slide, and that turn
    is_product = False  # of two series: neither linear in the unknowns nor convex
    needed_at_rest = ""  # end of a message: what to do when still water breaks the limit already

    @abstractmethod
    def sampled(self, omega: float, response: Response, port: int, count: int) -> np.ndarray:
        """Values at equidistant times of a period."""

    @abstractmethod
    def values(self, at: At) -> np.ndarray:
        """Values at the times."""

    @abstractmethod
    def jacobian(self, at: At) -> np.ndarray:
        """Derivatives of the values with respect to the unknowns (times, z)."""

    @abstractmethod
    def weigh(self, at: At, multiplier: np.ndarray, weights: Weights) -> None:
        """Add the values times multipliers to the weights of a Lagrangian."""

    def source(self, response: Response) -> np.ndarray | None:
        """Object that the Jacobian depends on, for caching."""
        return None

    def at_rest(self, rest: AtRest, port: int) -> tuple[np.ndarray, float] | None:
        """Slopes by the mean force of the unknowns and value in still water; None: always zero."""
        return None


class _Series(Limited):
    """A quantity that is a series."""

    @abstractmethod
    def series(self, response: Response) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and their derivatives."""

    @abstractmethod
    def weights_of(self, weights: Weights) -> np.ndarray:
        """Weights of that series."""

    def turned(self, omega: float, coefficients: np.ndarray) -> np.ndarray:
        """Coefficients of the quantity from those of the series."""
        return coefficients

    def adjoint(self, omega: float, coefficients: np.ndarray) -> np.ndarray:
        """Weights of the series from those of the quantity."""
        return coefficients

    def source(self, response: Response) -> np.ndarray | None:
        return self.series(response)[1]

    def sampled(self, omega: float, response: Response, port: int, count: int) -> np.ndarray:
        return sampled(self.turned(omega, self.series(response)[0][:, port]), count)

    def values(self, at: At) -> np.ndarray:
        return at.rows @ self.turned(at.omega, self.series(at.response)[0][:, at.port])

    def jacobian(self, at: At) -> np.ndarray:
        change = self.series(at.response)[1][:, at.port]
        return times_series(at.rows, self.turned(at.omega, change))

    def weigh(self, at: At, multiplier: np.ndarray, weights: Weights) -> None:
        self.weights_of(weights)[:, at.port] += self.adjoint(at.omega, at.rows.T @ multiplier)


class Force(_Series):
    units = ("N", "N m")
    needed_at_rest = "Raise force_max above that."

    def series(self, response: Response) -> tuple[np.ndarray, np.ndarray]:
        return response.force, response.d_force

    def weights_of(self, weights: Weights) -> np.ndarray:
        return weights.force

    def at_rest(self, rest: AtRest, port: int) -> tuple[np.ndarray, float] | None:
        return rest.force_rows[port], float(rest.force[port])


class ForceRate(Force):
    """Time derivative of the force; zero in still water."""

    units = ("N/s", "N m/s")
    needed_at_rest = ""

    def turned(self, omega: float, coefficients: np.ndarray) -> np.ndarray:
        return rate_of(omega, coefficients)

    def adjoint(self, omega: float, coefficients: np.ndarray) -> np.ndarray:
        return -rate_of(omega, coefficients)

    def at_rest(self, rest: AtRest, port: int) -> tuple[np.ndarray, float] | None:
        return None


class Stroke(_Series):
    units = ("m", "rad")
    needed_at_rest = "Raise stroke_max above that, or move the equilibrium of the PTO."

    def series(self, response: Response) -> tuple[np.ndarray, np.ndarray]:
        return response.stroke, response.d_stroke

    def weights_of(self, weights: Weights) -> np.ndarray:
        return weights.stroke

    def at_rest(self, rest: AtRest, port: int) -> tuple[np.ndarray, float] | None:
        return rest.compliance[port], float(rest.stroke[port])


class Velocity(_Series):
    """Rate of the stroke or angle; zero in still water."""

    units = ("m/s", "rad/s")

    def series(self, response: Response) -> tuple[np.ndarray, np.ndarray]:
        return response.rate, response.d_rate

    def weights_of(self, weights: Weights) -> np.ndarray:
        return weights.rate


class Power(Limited):
    """Power absorbed by an element: minus the product of force and rate."""

    units = ("W", "W")
    is_product = True

    def sampled(self, omega: float, response: Response, port: int, count: int) -> np.ndarray:
        force, rate = response.force[:, port], response.rate[:, port]
        return -sampled(force, count) * sampled(rate, count)

    def values(self, at: At) -> np.ndarray:
        F, v = self._factors(at)
        return -F * v

    def jacobian(self, at: At) -> np.ndarray:
        (F, v), (dF, dv) = self._factors(at), self._changes(at)
        return -F[:, None] * dv - v[:, None] * dF

    def weigh(self, at: At, multiplier: np.ndarray, weights: Weights) -> None:
        (F, v), (dF, dv) = self._factors(at), self._changes(at)
        weights.force[:, at.port] -= at.rows.T @ (multiplier * v)
        weights.rate[:, at.port] -= at.rows.T @ (multiplier * F)
        cross = dF.T @ (multiplier[:, None] * dv)
        weights.hessian -= cross + cross.T

    def _factors(self, at: At) -> tuple[np.ndarray, np.ndarray]:
        return at.rows @ at.response.force[:, at.port], at.rows @ at.response.rate[:, at.port]

    def _changes(self, at: At) -> tuple[np.ndarray, np.ndarray]:
        return at.rows @ at.response.d_force[:, at.port], at.rows @ at.response.d_rate[:, at.port]


FORCE, STROKE, FORCE_RATE, POWER = Force(), Stroke(), ForceRate(), Power()
VELOCITY = Velocity()
