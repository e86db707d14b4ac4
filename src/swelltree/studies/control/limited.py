"""Quantities of driven elements that can be limited: force, stroke, their rates, power."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from swelltree.studies.control.series import Response, rate_of, sampled, times_series


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
