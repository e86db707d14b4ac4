r"""What optimal control asks for: the power to be had, and the limits to be kept.

.. math::
    \max \; \overline{P_e(t)}, \qquad P = -F v, \qquad
    P_e = \eta P \;(P > 0), \quad P / \eta \;(P < 0), \quad - R F^2

The change from generating to motoring is rounded over a small part of the typical power.
Limits hold at all times: on a coarse grid first, and then wherever a very fine grid shows them
broken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from swelltree.integrate.programming import Point, Program
from swelltree.studies.control.limited import (
    At,
    Limited,
    Response,
    Weights,
    harmonics_of,
    times_series,
    values_at,
    weights,
)

LEAK = 2e-4  # of a limit: largest violation between the times at which it is held
FINE = 128  # times per shortest period at which violations are looked for
NEIGHBOURS = 4  # times on the fine grid from a violation to further rows
COARSE = 5  # times per shortest period to begin with
ROUNDED = 3e-3  # of the typical power: width of the change from generating to motoring
GIVE = 5e-4  # of the typical power, below zero: where a PTO that never motors is held


@dataclass(frozen=True)
class Limit:
    """One two-sided limit of one element."""

    quantity: Limited
    name: str  # the argument as the user wrote it
    port: int
    low: float
    high: float
    scale: float


@dataclass(frozen=True)
class Goal:
    """PTO losses and limits."""

    efficiency: float
    copper: np.ndarray  # (p,) R [W/N^2]
    limits: tuple[Limit, ...]

    @property
    def limits_power(self) -> bool:
        """Whether the power of an element is limited."""
        return any(limit.quantity.is_product for limit in self.limits)


def electrical(goal: Goal, P: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Electrical power of absorbed power and force."""
    eta = goal.efficiency
    return np.where(P > 0, eta * P, P / eta) - goal.copper * F**2


class ControlProgram(Program):
    """Goal and response as a program for `minimise`, scaled."""

    def __init__(
        self,
        respond: Callable[[np.ndarray], Response | None],
        goal: Goal,
        omega: float,
        harmonics: int,
        force_scale: np.ndarray,
        power_scale: float,
        *,
        convex: bool,
        points: int | None = None,
    ) -> None:
        self.respond = respond
        self.goal = goal
        self.omega = omega
        self.period = 2 * np.pi / omega
        self.force_scale = force_scale
        self.power_scale = power_scale
        self.convex = convex
        self.rounded = ROUNDED
        self.give = GIVE
        self.fixed = points is not None
        self.farthest = np.inf  # largest unknown with which a search goes on
        self.last: ControlPoint | None = None
        self.products: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        self.requested = goal.limits  # each once, however many rows it has by now
        count = max(COARSE * harmonics, 24) if points is None else points
        grid = self.period * np.arange(count) / count
        self.times = [grid for _ in goal.limits]
        self._ends()

    def jacobian(self, number: int, rows: np.ndarray, response: Response) -> np.ndarray:
        """Derivatives of one limit, scaled; cached while its source is unchanged."""
        limit = self.goal.limits[number]
        source, last = limit.quantity.source(response), self.products.get(number)
        if source is None or last is None or last[0] is not rows or last[1] is not source:
            jacobian = limit.quantity.jacobian(At(self.omega, response, limit.port, rows))
            product = jacobian / limit.scale * self.force_scale
            if source is None:
                return product
            last = self.products[number] = (rows, source, product)
        return last[2]

    def adopt(self, other: ControlProgram) -> None:
        """Use the limits and times of another program."""
        self.goal = replace(self.goal, limits=other.goal.limits)
        self.times = list(other.times)
        self._ends()

    def exchange(self, respond: Callable[[np.ndarray], Response | None]) -> None:
        """Use another response with the same limits."""
        self.respond = respond
        self.last = None
        self.products.clear()

    def loosen(self, rounded: float, give: float) -> None:
        """Smoothing of PTO losses and margin below zero power, both in typical power."""
        self.rounded, self.give = rounded, give
        self.last = None
        self._ends()

    def lowest(self, limit: Limit) -> float:
        """Lower side of a limit, scaled. Force and rate vanish together where power is zero."""
        low = limit.low / limit.scale
        return min(low, -self.give) if limit.quantity.is_product else low

    def _ends(self) -> None:
        pairs = list(zip(self.goal.limits, self.times, strict=True))
        self.low = np.concatenate([np.full(len(t), self.lowest(x)) for x, t in pairs] or [[]])
        self.high = np.concatenate([np.full(len(t), x.high / x.scale) for x, t in pairs] or [[]])

    def at(self, z: np.ndarray) -> Point | None:
        """The program at scaled unknowns, cached."""
        last = self.last
        same = last is not None and last.goal is self.goal and np.array_equal(last.z, z)
        if not same:
            response = self.respond(self.force_scale * z)
            last = None if response is None else ControlPoint(self, response, z)
            self.last = last
        return last

    def is_lost(self, z: np.ndarray) -> bool:
        return bool(np.abs(z).max() > self.farthest)

    def refine(self, point: Point) -> int:
        """Add times at which a limit is violated."""
        if self.fixed or not isinstance(point, ControlPoint):
            return 0
        added = 0
        for limit in self.requested:
            value = fine_values(self.omega, point.response, limit) / limit.scale
            t = self.period * np.arange(len(value)) / len(value)
            over = np.maximum(value - limit.high / limit.scale, self.lowest(limit) - value)
            peak = (over >= np.roll(over, 1)) & (over > np.roll(over, -1)) & (over > LEAK)
            if limit.quantity.is_product:
                # the peak of a product will move: its neighbours are held as well
                peak = peak | np.roll(peak, NEIGHBOURS) | np.roll(peak, -NEIGHBOURS)
            if peak.any():
                # new rows go to the end of all, to keep the multipliers in place
                self.goal = replace(self.goal, limits=(*self.goal.limits, limit))
                self.times.append(t[peak])
                added += int(peak.sum())
        self._ends()
        return added


def fine_values(omega: float, response: Response, limit: Limit) -> np.ndarray:
    """Values of a limited quantity on the fine grid."""
    n = harmonics_of(response.force)
    return limit.quantity.sampled(omega, response, limit.port, FINE * n)


class ControlPoint(Point):
    """The program evaluated at one response."""

    def __init__(self, program: ControlProgram, response: Response, z: np.ndarray) -> None:
        self.program = program
        self.z = z
        self.response = response
        self.goal, self.times = program.goal, list(program.times)

    # --- cost: mean of phi(F, v) = -P_e ------------------------------------------------
    @cached_property
    def _samples(self) -> tuple[np.ndarray | None, np.ndarray]:
        """Matrix from coefficients to samples (None: identity), and weights."""
        n = harmonics_of(self.response.force)
        if self.goal.efficiency == 1.0:
            return None, weights(n)
        count = 8 * n
        t = self.program.period * np.arange(count) / count
        return values_at(self.program.omega, t, n), np.full(count, 1.0 / count)

    def _at_samples(self, x: np.ndarray) -> np.ndarray:
        rows = self._samples[0]
        return x if rows is None else np.tensordot(rows, x, 1)

    @cached_property
    def _phi(self) -> dict[str, np.ndarray]:
        """phi and its derivatives at the samples, (samples, p)."""
        F, v = self._at_samples(self.response.force), self._at_samples(self.response.rate)
        R, eta = self.goal.copper, self.goal.efficiency
        if eta == 1.0:
            one = np.ones_like(F)
            return {
                "value": F * v + R * F**2,
                "F": v + 2 * R * F,
                "v": F,
                "FF": 2 * R * one,
                "Fv": one,
                "vv": 0.0 * one,
            }
        # -P_e = -a P + b sqrt(P^2 + e^2) with P = -F v
        a, b = 0.5 * (eta + 1 / eta), 0.5 * (1 / eta - eta)
        width = self.program.rounded * self.program.power_scale
        P = -F * v
        root = np.sqrt(P**2 + width**2)
        slope = -a + b * P / root
        bend = b * width**2 / root**3
        return {
            "value": -a * P + b * (root - width) + R * F**2,
            "F": -slope * v + 2 * R * F,
            "v": -slope * F,
            "FF": bend * v**2 + 2 * R,
            "Fv": bend * F * v - slope,
            "vv": bend * F**2,
        }

    @cached_property
    def cost(self) -> float:
        """Minus the mean power, scaled."""
        mean = self._samples[1] @ self._phi["value"].sum(axis=1)
        return float(mean) / self.program.power_scale

    def _to_coefficients(self, x: np.ndarray) -> np.ndarray:
        """Weights of coefficients from weights of samples, (c, p)."""
        rows, weight = self._samples
        x = weight[:, None] * x
        return x if rows is None else rows.T @ x

    @cached_property
    def gradient(self) -> np.ndarray:
        w_F = self._to_coefficients(self._phi["F"])
        w_v = self._to_coefficients(self._phi["v"])
        out = np.tensordot(w_F, self.response.d_force, 2)
        out = out + np.tensordot(w_v, self.response.d_rate, 2)
        return out * self.program.force_scale / self.program.power_scale

    # --- rows ---------------------------------------------------------------------------
    def _values(self, coefficients: np.ndarray, times: np.ndarray) -> np.ndarray:
        n = harmonics_of(coefficients)
        return np.tensordot(values_at(self.program.omega, times, n), coefficients, 1)

    def _row_parts(self) -> Iterator[tuple[Limit, np.ndarray]]:
        for limit, times in zip(self.goal.limits, self.times, strict=True):
            n = harmonics_of(self.response.force)
            yield limit, values_at(self.program.omega, times, n)

    @cached_property
    def rows(self) -> np.ndarray:
        out, r, omega = [np.zeros(0)], self.response, self.program.omega
        for limit, A in self._row_parts():
            out.append(limit.quantity.values(At(omega, r, limit.port, A)) / limit.scale)
        return np.concatenate(out)

    @cached_property
    def jacobian(self) -> np.ndarray:
        r = self.response
        out = [self.program.jacobian(k, A, r) for k, (_, A) in enumerate(self._row_parts())]
        if len(out) == 1:
            return out[0]
        return np.concatenate([np.zeros((0, r.d_force.shape[2])), *out])

    def hessian(self, multiplier: np.ndarray) -> np.ndarray:
        """Of cost plus multipliers times rows."""
        r, program, phi = self.response, self.program, self._phi
        weight = self._samples[1]
        H = np.zeros((r.d_force.shape[2], r.d_force.shape[2]))
        dF, dv = self._at_samples(r.d_force), self._at_samples(r.d_rate)
        n_z = r.d_force.shape[2]
        dF, dv = dF.reshape(-1, n_z), dv.reshape(-1, n_z)

        def times(name: str) -> np.ndarray:
            return (weight[:, None] * phi[name]).reshape(-1, 1)

        cross = times_series((times("Fv") * dv).T, dF).T
        H += cross + cross.T
        if np.any(phi["FF"]):
            H += dF.T @ (times("FF") * dF)
        if np.any(phi["vv"]):
            H += dv.T @ (times("vv") * dv)
        H /= program.power_scale
        w_F = self._to_coefficients(phi["F"]) / program.power_scale
        w_v = self._to_coefficients(phi["v"]) / program.power_scale
        lagrangian = Weights(np.zeros_like(w_F), w_v, w_F, H)
        if not program.convex:
            first = 0
            for limit, A in self._row_parts():
                last = first + len(A)
                mu = multiplier[first:last] / limit.scale
                first = last
                if mu.any():
                    limit.quantity.weigh(At(program.omega, r, limit.port, A), mu, lagrangian)
            if r.curvature is not None:
                H += r.curvature(lagrangian.stroke, lagrangian.rate, lagrangian.force)
        return H * np.outer(program.force_scale, program.force_scale)
