r"""The periodic equations with driven elements: their motion under given forces, and derivatives.

At a node the actuator forces u are further unknowns beside w = (y, y', y''), and strokes and rates
of the driven elements further values. JAX gives first and second derivatives there; series, memory
and sums over nodes are plain matrix products (`periodic_nodes`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from swelltree.integrate.fourier import basis
from swelltree.jit import Array, Points, Tree
from swelltree.model.signals import Constant
from swelltree.multibody.formulations import Formulation
from swelltree.spatial.linalg import Factor
from swelltree.spatial.rotations import compact
from swelltree.studies.control.actuators import Ports, port_motion, with_signals
from swelltree.studies.periodic.nodes import (
    Nodes,
    derivative,
    differentiated,
    mean_products,
    points_of,
    series_jacobian,
)
from swelltree.studies.periodic.problem import Period, node, sizes, state_at

Place = tuple[int, ...]  # numbers of elements on strokes
SERIES_LIMIT = 3  # unknowns of a node up to which it pays to work with series
SLOW = 0.02  # of the step before: steps that shrink less need a new Jacobian


def driven_node(
    how: Formulation, place: Place, period: Period, t: Array, w: Array
) -> tuple[Tree, ...]:
    """Residual without radiation, body velocities, P, strokes (not from zero) and rates."""
    u = sum(sizes(how, period))
    p = len(place)
    y, y_rate, y_second, a = w[:u], w[u : 2 * u], w[2 * u : 3 * u], w[3 * u :]
    nothing = np.zeros(p)
    ports = Ports(("",) * p, place, nothing, nothing, nothing, (False,) * p)
    model = with_signals(period.model, ports, [Constant(a[i]) for i in range(p)])
    driven = replace(period, model=model)
    with compact():
        r, v, P = node(how, driven, t, y, y_rate, y_second)
        n = period.rest.s.shape[0]
        state, _ = state_at(how, driven, y[:n], y_rate[:n])
        x, rate = port_motion(ports, model, how.kinematics(model, t, state).motion)
    return r, v, P, x, rate


@dataclass
class Solved:
    """A periodic motion for given actuator series, with the terms of its derivatives."""

    Y: np.ndarray  # (c, u)
    a: np.ndarray  # (nodes, p)
    values: tuple[np.ndarray, ...]
    jacobians: tuple[np.ndarray, ...]
    memory_force: np.ndarray  # (nodes, 6N)
    factor: Factor  # of the Jacobian


class DrivenNodes(Nodes):
    """The periodic problem with driven elements."""

    def __init__(self, how: Formulation, period: Period, ports: Ports, stored: np.ndarray) -> None:
        super().__init__(how, period)
        self.ports = ports
        self.p = len(ports)
        self.keep = np.ones((self.p, self.c), bool)
        self.keep[:, 0] = stored
        self.keep = self.keep.reshape(-1)
        # strokes and rates may be products of series: twice the harmonics
        out = min(2 * period.basis.harmonics, (self.count - 1) // 2)
        self.wide = basis(2 * np.pi / self.omega, out, self.count)

    @functools.cached_property
    def points(self) -> Points:
        return points_of(driven_node, self.how, self.ports.place)

    @property
    def inputs_size(self) -> int:
        return 3 * self.u + self.p

    # --- the motion under a given u -----------------------------------------------------
    def series(self, z: np.ndarray) -> np.ndarray:
        """u at the nodes of the unknowns z, (nodes, p)."""
        full = np.zeros(self.p * self.c)
        full[self.keep] = z
        return self.B[0] @ full.reshape(self.p, self.c).T

    def off(self, Y: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Residual (c u,)."""
        values, mu = self.at(np.concatenate([self.inputs(Y), a], axis=1))
        return self.residual(Y, values, mu).reshape(-1)

    def solved(self, Y: np.ndarray, a: np.ndarray) -> tuple[Solved, np.ndarray]:
        """Solution at a motion, and its residual (c u,)."""
        values, jacobians, mu = self.with_jacobians(np.concatenate([self.inputs(Y), a], axis=1))
        factor = Factor(self.jacobian(values, jacobians, mu))
        solved = Solved(Y, a, values, jacobians, mu, factor)
        return solved, self.residual(Y, values, mu).reshape(-1)

    def solve(
        self,
        a: np.ndarray,
        Y: np.ndarray,
        factor: Factor | None = None,
        tol: float = 1e-11,
        max_iterations: int = 40,
    ) -> Solved | None:
        """Newton with a natural monotonicity test; None when it fails.

        Args:
            a: actuators at the nodes.
            Y: where to begin.
            factor: Jacobian of a motion nearby; it serves as long as steps shrink quickly.
            tol: length of the last step.
            max_iterations: most steps.
        """
        R, last = None, np.inf
        for _ in range(max_iterations):
            fresh = factor is None
            if factor is None:
                there, R = self.solved(Y, a)
                factor = there.factor
            elif R is None:
                R = self.off(Y, a)
            step = -factor.solve(R).reshape(Y.shape)
            size = float(np.abs(step).max())
            if not np.isfinite(size):
                if fresh:
                    return None
                factor = R = None
                continue
            scale = max(1.0, float(np.abs(Y).max()))
            if size <= tol * scale or (size <= 1e-9 * scale and size > 0.3 * last):
                return self.solved(Y + step, a)[0]
            last = size
            part = 1.0
            while True:
                tried = Y + part * step
                R = self.off(tried, a)
                ahead = float(np.abs(factor.solve(R)).max())
                if np.isfinite(ahead) and (ahead < (1 - 0.25 * part) * size or size < 1e-9 * scale):
                    Y = tried
                    if ahead > SLOW * size and ahead > 1e-9 * scale:
                        factor = None
                    break
                part *= 0.5
                if not fresh:
                    factor = None  # once more from here, with its own Jacobian
                    break
                if part < 1e-3:
                    return None
        return None

    # --- derivatives ---------------------------------------------------------------------
    def sensitivity(self, solved: Solved) -> np.ndarray:
        """Derivatives of Y with respect to the unknowns, (c, u, z)."""
        rho = self.node_jacobians(solved.jacobians, solved.memory_force)
        u, c, p = self.u, self.c, self.p
        Jz = np.zeros((u, p, c, c))
        for e, i in np.ndindex(u, p):
            Jz[e, i] = series_jacobian(self.basis, rho[:, e, 3 * u + i : 3 * u + i + 1])
        for e in self.period.unbalanced:
            e = np.asarray(e)
            Jz[:, :, 0] -= np.einsum("a,bpc,b->apc", e, Jz[:, :, 0], e)
        # unknowns run element by element
        Jz = Jz.transpose(2, 0, 1, 3).reshape(c * u, p * c)[:, self.keep]
        return -solved.factor.solve(Jz).reshape(c, u, -1)

    @functools.cached_property
    def own_series(self) -> np.ndarray:
        """Coefficients of u per unknown, (c, p, z)."""
        unit = np.zeros((self.c, self.p, self.p, self.c))
        for i in range(self.p):
            unit[:, i, i] = np.eye(self.c)
        return unit.reshape(self.c, self.p, -1)[..., self.keep]

    def inputs_change(self, S: np.ndarray, used: np.ndarray) -> np.ndarray:
        """Derivatives of some of w at the nodes with respect to the unknowns, (nodes, used, z)."""
        out = np.empty((self.count, len(used), S.shape[2]))
        for m, j in enumerate(used):
            if j < 3 * self.u:
                k, f = divmod(int(j), self.u)
                out[:, m] = self.B[k] @ S[:, f]
            else:
                out[:, m] = self.B[0] @ self.own_series[:, int(j) - 3 * self.u]
        return out

    def directions_stay(self, solved: Solved) -> bool:
        """Whether body velocities are constant combinations of the rates."""
        stay = self.steady.all(solved.values[2]) and self.steady.all(solved.jacobians[1])
        return stay and not self.steady.any(solved.jacobians[2])

    def straight(self, solved: Solved) -> bool:
        """Whether strokes and rates are linear in the unknowns."""
        return self.steady.all(solved.jacobians[3]) and self.steady.all(solved.jacobians[4])

    def project(self, solved: Solved) -> np.ndarray:
        """Projection of strokes and rates at the nodes to their series."""
        return self.basis.project if self.straight(solved) else self.wide.project

    def series_change(self, solved: Solved, S: np.ndarray, which: int) -> np.ndarray:
        """Derivatives of the series of strokes (3) or rates (4) with respect to the unknowns."""
        G, u = solved.jacobians[which], self.u
        if not self.straight(solved):
            used = np.flatnonzero(G.any(axis=(0, 1)))
            moved = G[:, :, used] @ self.inputs_change(S, used)
            return np.tensordot(self.wide.project, moved, 1)
        out = np.zeros((self.c, self.p, S.shape[2]))
        for i, j in zip(*np.nonzero(G[0]), strict=True):
            if j < 3 * u:
                rows, columns, numbers = derivative(self.basis, int(j) // u)
                out[rows, i] += (G[0, i, j] * numbers)[:, None] * S[columns, j % u]
            else:
                out[:, i] += G[0, i, j] * self.own_series[:, int(j) - 3 * u]
        return out

    def curvature(
        self, solved: Solved, S: np.ndarray, of_x: np.ndarray, of_rate: np.ndarray
    ) -> np.ndarray:
        """Second derivatives in z of sums of strokes and rates at nodes, weighted (nodes, p)."""
        u = self.u
        jacobians, values = solved.jacobians, solved.values
        slope = np.einsum("jp,jpw->jw", of_x, jacobians[3]) + np.einsum(
            "jp,jpw->jw", of_rate, jacobians[4]
        )
        in_Y = sum(self.B[k].T @ slope[:, k * u : (k + 1) * u] for k in range(3))
        lam = -solved.factor.solve(np.reshape(in_Y, -1), transposed=True).reshape(self.c, u)
        for e in self.period.unbalanced:
            e = np.asarray(e)
            lam[0] -= (e @ lam[0]) * e
        at = self.basis.project.T @ lam  # (nodes, u)
        nu, of_P = np.zeros_like(values[1]), np.zeros_like(values[2])
        if self.remembers and not self.directions_stay(solved):
            across = np.einsum("jbn,jn->jb", values[2], at[:, : self.n])
            nu = self.convolved(across, adjoint=True)
            of_P = -solved.memory_force[:, :, None] * at[:, None, : self.n]
        w = np.concatenate([self.inputs(solved.Y), solved.a], axis=1)
        weight = (at, nu, of_P, of_x, of_rate)
        H = self.second(w, weight)
        used = np.flatnonzero(H.any(axis=(0, 1)))
        z = S.shape[2]
        if not len(used):
            return np.zeros((z, z))
        if len(used) <= SERIES_LIMIT:
            total = self._few_nonlinearities(S, H, used)
        else:
            W = self.inputs_change(S, used)
            HW = H[:, used[:, None], used] @ W
            total = W.reshape(-1, z).T @ HW.reshape(-1, z)
        if self.remembers and self.steady.any(jacobians[2]):
            A = np.einsum("jbnw,jn->jbw", jacobians[2], at[:, : self.n])
            every = self.inputs_change(S, np.arange(w.shape[1]))
            left = (A @ every).reshape(-1, z)
            right = self.convolved(jacobians[1] @ every).reshape(-1, z)
            cross = left.T @ right
            total = total + cross + cross.T
        return total

    def _few_nonlinearities(self, S: np.ndarray, H: np.ndarray, used: np.ndarray) -> np.ndarray:
        """Second derivatives in z from those in a few of w, series by series."""
        change = []
        for j in used:
            k, f = divmod(int(j), self.u)
            if j < 3 * self.u:
                change.append(differentiated(self.basis, S[:, f], k))
            else:
                change.append(self.own_series[:, int(j) - 3 * self.u])
        total = np.zeros((S.shape[2], S.shape[2]))
        for m, i in enumerate(used):
            for n, j in enumerate(used[: m + 1]):
                if H[:, i, j].any():
                    means = self.count * mean_products(self.basis, H[:, i, j])
                    part = change[m].T @ (means @ change[n])
                    total += part if m == n else part + part.T
        return total

    def second(self, w: np.ndarray, weight: tuple[np.ndarray, ...]) -> np.ndarray:
        """Second derivatives at the nodes of a weighted sum of everything, (nodes, w, w)."""
        return self.points.second(self.bare, self.time, w, weight=weight)
