"""Quantities of driven elements that can be limited: force, stroke, rate of the force, power."""

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
    """Weights of series of the elements in a Lagrangian, (c, p) each, and what they add to it."""

    stroke: np.ndarray
    rate: np.ndarray
    force: np.ndarray
    hessian: np.ndarray  # (z, z)


class Limited(ABC):
    """What a limit is put on. `rows` (times, c) turn coefficients of a series into values."""

    units: tuple[str, str]  # of elements that slide, and that turn
    is_product = False  # of two series: neither linear in the unknowns nor convex
    needed_at_rest = ""  # a sentence's end: what to do when still water breaks the limit already

    @abstractmethod
    def sampled(self, omega: float, response: Response, port: int, count: int) -> np.ndarray:
        """Values at equidistant times of a period."""

    @abstractmethod
    def values(self, omega: float, response: Response, port: int, rows: np.ndarray) -> np.ndarray:
        """Values at the times of the rows."""

    @abstractmethod
    def slopes(self, omega: float, response: Response, port: int, rows: np.ndarray) -> np.ndarray:
        """Derivatives of the values by the unknowns (times, z)."""

    @abstractmethod
    def weigh(
        self,
        omega: float,
        response: Response,
        port: int,
        rows: np.ndarray,
        multiplier: np.ndarray,
        weights: Weights,
    ) -> None:
        """Add the values times multipliers to the weights of a Lagrangian."""

    def source(self, response: Response) -> np.ndarray | None:
        """What the slopes are made of: where it is the same object they are the same."""
        return None

    def at_rest(self, rest: AtRest, port: int) -> tuple[np.ndarray, float] | None:
        """Slopes by the mean force of the unknowns and value in still water; None: always zero."""
        return None


class _Series(Limited):
    """A quantity that is a series itself."""

    @abstractmethod
    def series(self, response: Response) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and their derivatives."""

    def turned(self, omega: float, coefficients: np.ndarray) -> np.ndarray:
        """Coefficients of the quantity from those of the series."""
        return coefficients

    def source(self, response: Response) -> np.ndarray | None:
        return self.series(response)[1]

    def sampled(self, omega: float, response: Response, port: int, count: int) -> np.ndarray:
        return sampled(self.turned(omega, self.series(response)[0][:, port]), count)

    def values(self, omega: float, response: Response, port: int, rows: np.ndarray) -> np.ndarray:
        return rows @ self.turned(omega, self.series(response)[0][:, port])

    def slopes(self, omega: float, response: Response, port: int, rows: np.ndarray) -> np.ndarray:
        return times_series(rows, self.turned(omega, self.series(response)[1][:, port]))


class Force(_Series):
    """Force or moment of an element."""

    units = ("N", "N m")
    needed_at_rest = "Raise force_max above that."

    def series(self, response: Response) -> tuple[np.ndarray, np.ndarray]:
        return response.force, response.d_force

    def weigh(
        self,
        omega: float,
        response: Response,
        port: int,
        rows: np.ndarray,
        multiplier: np.ndarray,
        weights: Weights,
    ) -> None:
        weights.force[:, port] += rows.T @ multiplier

    def at_rest(self, rest: AtRest, port: int) -> tuple[np.ndarray, float] | None:
        return rest.force_rows[port], float(rest.force[port])


class ForceRate(_Series):
    """Time derivative of the force."""

    units = ("N/s", "N m/s")

    def series(self, response: Response) -> tuple[np.ndarray, np.ndarray]:
        return response.force, response.d_force

    def turned(self, omega: float, coefficients: np.ndarray) -> np.ndarray:
        return rate_of(omega, coefficients)

    def weigh(
        self,
        omega: float,
        response: Response,
        port: int,
        rows: np.ndarray,
        multiplier: np.ndarray,
        weights: Weights,
    ) -> None:
        # adjoint of the derivative of a series
        weights.force[:, port] -= rate_of(omega, rows.T @ multiplier)


class Stroke(_Series):
    """Stroke or angle of an element."""

    units = ("m", "rad")
    needed_at_rest = "Raise stroke_max above that, or move the rest of the PTO."

    def series(self, response: Response) -> tuple[np.ndarray, np.ndarray]:
        return response.stroke, response.d_stroke

    def weigh(
        self,
        omega: float,
        response: Response,
        port: int,
        rows: np.ndarray,
        multiplier: np.ndarray,
        weights: Weights,
    ) -> None:
        weights.stroke[:, port] += rows.T @ multiplier

    def at_rest(self, rest: AtRest, port: int) -> tuple[np.ndarray, float] | None:
        return rest.compliance[port], float(rest.stroke[port])


class Power(Limited):
    """Power that an element takes: minus the product of force and rate."""

    units = ("W", "W")
    is_product = True

    def sampled(self, omega: float, response: Response, port: int, count: int) -> np.ndarray:
        force, rate = response.force[:, port], response.rate[:, port]
        return -sampled(force, count) * sampled(rate, count)

    def values(self, omega: float, response: Response, port: int, rows: np.ndarray) -> np.ndarray:
        return -(rows @ response.force[:, port]) * (rows @ response.rate[:, port])

    def slopes(self, omega: float, response: Response, port: int, rows: np.ndarray) -> np.ndarray:
        F, v = rows @ response.force[:, port], rows @ response.rate[:, port]
        d_force, d_rate = response.d_force[:, port], response.d_rate[:, port]
        return -F[:, None] * (rows @ d_rate) - v[:, None] * (rows @ d_force)

    def weigh(
        self,
        omega: float,
        response: Response,
        port: int,
        rows: np.ndarray,
        multiplier: np.ndarray,
        weights: Weights,
    ) -> None:
        F, v = rows @ response.force[:, port], rows @ response.rate[:, port]
        weights.force[:, port] -= rows.T @ (multiplier * v)
        weights.rate[:, port] -= rows.T @ (multiplier * F)
        dF, dv = rows @ response.d_force[:, port], rows @ response.d_rate[:, port]
        cross = dF.T @ (multiplier[:, None] * dv)
        weights.hessian -= cross + cross.T


FORCE, STROKE, FORCE_RATE, POWER = Force(), Stroke(), ForceRate(), Power()
